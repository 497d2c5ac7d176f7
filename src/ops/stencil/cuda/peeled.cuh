/* A step whose loop has no `if`: columns that have all their taps inside the row are made in runs,
 * by pairs; the few at the ends by threads of their own. The order of arithmetic is a parameter. */
#ifndef RUNG_STENCIL_PEELED_CUH
#define RUNG_STENCIL_PEELED_CUH

#include "ops/stencil/cuda/stencil.cuh"

/* Columns a thread makes: a sector of 32 bytes, so that neighbour threads share none. */
template <typename T>
struct peeled_run_of {
  enum { columns = 32 / sizeof(T) };
};

/* Where the inside lies: whole runs from `low`; [0, low) and [high, columns) are
 * the ends. `low` is even, so that pairs are aligned where rows are. */
struct peeled_inside {
  int64_t low, high;
};

static inline peeled_inside peeled_inside_of(const stencil_problem *p, int64_t run) {
  const int64_t reach = (p->radius + 1) / 2 * 2; /* a pair beyond the outermost tap */
  int64_t low = p->fixed > reach ? (p->fixed + 1) / 2 * 2 : reach;
  const int64_t room = p->columns - reach - low;
  peeled_inside inside;
  if (room < run) {
    inside.low = inside.high = p->columns;
  } else {
    inside.low = low;
    inside.high = low + room / run * run;
  }
  return inside;
}

/* One thread's run of one row, from column j. */
template <typename Order, typename T, int R, bool Aligned>
static __device__ inline void peeled_run(const stencil_numbers<T> &s, const T *row, T *out,
                                         int64_t j) {
  constexpr int E = (R + 1) / 2 * 2, run = peeled_run_of<T>::columns;
  T window[run + 2 * E];
#pragma unroll
  for (int k = 0; k < run + 2 * E; k += 2) {
    if (Aligned) {
      stencil_load_pair(row + j + k - E, window + k);
    } else {
      window[k] = row[j + k - E];
      window[k + 1] = row[j + k - E + 1];
    }
  }
#pragma unroll
  for (int u = 0; u < run; u += 2) {
    T made[2];
#pragma unroll
    for (int v = 0; v < 2; v++)
      made[v] = Order::sum(s, 2 * R + 1, [&](int k) { return window[E - R + u + v + k]; });
    if (Aligned && Order::divides) { /* nvcc splits one whose numbers come out of a call */
      const typename stencil_pair<T>::type pair = {made[0], made[1]};
      rung_store_whole(out + j + u, pair);
    } else if (Aligned) {
      stencil_store_pair(out + j + u, made);
    } else {
      out[j + u] = made[0];
      out[j + u + 1] = made[1];
    }
  }
}

/* old, fresh: (rows, columns), rows `stride` elements apart. Blocks 0 ... `blocks` - 1 of a row
 * make its inside, the last one its ends. */
template <typename Order, typename T, int R, bool Aligned>
static __global__ void __launch_bounds__(1024)
    peeled_step(stencil_numbers<T> s, peeled_inside inside, unsigned blocks,
                const T *__restrict__ old, int64_t old_stride, T *__restrict__ fresh,
                int64_t fresh_stride) {
  for (int64_t i = blockIdx.y; i < s.rows; i += gridDim.y) {
    const T *row = old + i * old_stride;
    T *out = fresh + i * fresh_stride;
    if (blockIdx.x < blocks) {
      const int64_t run = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
      const int64_t j = inside.low + run * peeled_run_of<T>::columns;
      if (j < inside.high) peeled_run<Order, T, R, Aligned>(s, row, out, j);
      continue;
    }
    const int64_t ends = inside.low + (s.columns - inside.high);
    for (int64_t e = threadIdx.x; e < ends; e += blockDim.x) {
      const int64_t j = e < inside.low ? e : inside.high + (e - inside.low);
      T value = row[j];
      if (j >= s.fixed)
        value = Order::sum(s, 2 * R + 1, [&](int k) { return stencil_at(s, row, j + k - R); });
      out[j] = value;
    }
  }
}

template <typename Order, typename T, int R>
static rung_status peeled_radius(const rung_task *task, bool scaled) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const stencil_numbers<T> s = stencil_numbers_of<T>(p, scaled);
  const peeled_inside inside = peeled_inside_of(p, peeled_run_of<T>::columns);
  const int block = task->block ? task->block : 64;
  const int64_t width = (int64_t)block * peeled_run_of<T>::columns;
  const unsigned blocks = (unsigned)((inside.high - inside.low + width - 1) / width);
  const dim3 grid(blocks + 1, stencil_grid_rows(p->rows));
  return stencil_steps<T>(
      task, [&](const T *old, int64_t old_stride, T *fresh, int64_t fresh_stride) -> rung_status {
        if (stencil_pairs_aligned(old, old_stride) && stencil_pairs_aligned(fresh, fresh_stride))
          RUNG_LAUNCH(task, (peeled_step<Order, T, R, true>), grid, block, 0, s, inside, blocks,
                      old, old_stride, fresh, fresh_stride);
        else
          RUNG_LAUNCH(task, (peeled_step<Order, T, R, false>), grid, block, 0, s, inside, blocks,
                      old, old_stride, fresh, fresh_stride);
        return RUNG_OK;
      });
}

template <typename Order, typename T>
static rung_status peeled_steps(const rung_task *task, bool scaled) {
#define PEELED_RADIUS(r) return peeled_radius<Order, T, r>(task, scaled)
  STENCIL_BY_RADIUS(((const stencil_problem *)task->problem)->radius, PEELED_RADIUS)
#undef PEELED_RADIUS
}

#endif
