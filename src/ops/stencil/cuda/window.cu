/* Rung `window`: a thread walks along a run of columns with the taps in registers; every output
 * costs one new load instead of 2r+1. */
#include "ops/stencil/cuda/stencil.cuh"

enum { RUN = 8 }; /* columns a thread makes */

/* old, fresh: (rows, columns), rows `stride` elements apart. */
template <typename T, int R>
__global__ void __launch_bounds__(1024)
    window_step(stencil_numbers<T> s, const T *__restrict__ old, int64_t old_stride,
                T *__restrict__ fresh, int64_t fresh_stride) {
  const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * RUN;
  if (first >= s.columns) return;
  for (int64_t i = blockIdx.y; i < s.rows; i += gridDim.y) {
    const T *row = old + i * old_stride;
    T *out = fresh + i * fresh_stride;
    T window[2 * R + 1];
#pragma unroll
    for (int k = 0; k < 2 * R; k++) window[k] = stencil_at(s, row, first + k - R);
#pragma unroll
    for (int u = 0; u < RUN; u++) {
      const int64_t j = first + u;
      if (j >= s.columns) break;
      window[2 * R] = stencil_at(s, row, j + R);
      out[j] = j < s.fixed ? window[R]
                           : stencil_textbook::sum(s, 2 * R + 1, [&](int k) { return window[k]; });
#pragma unroll
      for (int k = 0; k < 2 * R; k++) window[k] = window[k + 1];
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
        RUNG_LAUNCH(task, (window_step<T, R>), grid, block, 0, s, old, old_stride, fresh,
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

extern "C" rung_status RUNG_ENTRY(stencil_window)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run<float>(task)
                                                                     : run<double>(task);
}
