/* Rung `pairs`: the window takes two columns at a time: one float2 (double2) load and one store
 * where there were two. */
#include "ops/stencil/cuda/stencil.cuh"

enum { RUN = 8 }; /* columns a thread makes: an even number */

/* Two neighbouring columns from j, an even number; `aligned`: rows start on a pair's boundary. */
template <typename T>
__device__ inline void load_pair(const stencil_numbers<T> &s, bool aligned, const T *row, int64_t j,
                                 T to[2]) {
  if (aligned && j >= 0 && j + 1 < s.columns) {
    stencil_load_pair(row + j, to);
  } else {
    to[0] = stencil_at(s, row, j);
    to[1] = stencil_at(s, row, j + 1);
  }
}

template <typename T>
__device__ inline void store_pair(int64_t columns, bool aligned, T *row, int64_t j,
                                  const T from[2]) {
  if (aligned && j + 1 < columns) {
    stencil_store_pair(row + j, from);
  } else {
    row[j] = from[0];
    if (j + 1 < columns) row[j + 1] = from[1];
  }
}

/* old, fresh: (rows, columns), rows `stride` elements apart. The window reaches from column j - E
 * to j + E + 1, E the radius rounded up to even, so that it is filled by whole pairs. */
template <typename T, int R>
__global__ void __launch_bounds__(1024)
    pairs_step(stencil_numbers<T> s, bool aligned, const T *__restrict__ old, int64_t old_stride,
               T *__restrict__ fresh, int64_t fresh_stride) {
  constexpr int E = (R + 1) / 2 * 2;
  const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * RUN;
  if (first >= s.columns) return;
  for (int64_t i = blockIdx.y; i < s.rows; i += gridDim.y) {
    const T *row = old + i * old_stride;
    T *out = fresh + i * fresh_stride;
    T window[2 * E + 2];
#pragma unroll
    for (int k = 0; k < 2 * E; k += 2) load_pair(s, aligned, row, first + k - E, window + k);
#pragma unroll
    for (int u = 0; u < RUN; u += 2) {
      const int64_t j = first + u;
      if (j >= s.columns) break;
      load_pair(s, aligned, row, j + E, window + 2 * E);
      T made[2];
#pragma unroll
      for (int v = 0; v < 2; v++)
        made[v] = j + v < s.fixed ? window[E + v] : stencil_textbook::sum(s, 2 * R + 1, [&](int k) {
          return window[E - R + v + k];
        });
      store_pair(s.columns, aligned, out, j, made);
#pragma unroll
      for (int k = 0; k < 2 * E; k++) window[k] = window[k + 2];
    }
  }
}

template <typename T, int R>
static rung_status run_radius(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const stencil_numbers<T> s = stencil_numbers_of<T>(p, false);
  const int block = task->block ? task->block : 64;
  const int64_t width = (int64_t)block * RUN;
  const dim3 grid((unsigned)((p->columns + width - 1) / width), stencil_grid_rows(p->rows));
  return stencil_steps<T>(
      task, [&](const T *old, int64_t old_stride, T *fresh, int64_t fresh_stride) -> rung_status {
        const bool aligned =
            stencil_pairs_aligned(old, old_stride) && stencil_pairs_aligned(fresh, fresh_stride);
        RUNG_LAUNCH(task, (pairs_step<T, R>), grid, block, 0, s, aligned, old, old_stride, fresh,
                    fresh_stride);
        return RUNG_OK;
      });
}

template <typename T>
static rung_status run(const rung_task *task) {
#define RUN_RADIUS(r) return run_radius<T, r>(task)
  STENCIL_BY_RADIUS(((const stencil_problem *)task->problem)->radius, RUN_RADIUS)
#undef RUN_RADIUS
}

extern "C" rung_status RUNG_ENTRY(stencil_pairs)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run<float>(task)
                                                                     : run<double>(task);
}
