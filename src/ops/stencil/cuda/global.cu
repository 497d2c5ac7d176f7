/* Rung `global`: a thread an element, a launch a step, the grid in two copies; every tap is read
 * from global memory behind an `if`, and every sum is divided. */
#include "ops/stencil/cuda/stencil.cuh"

/* old, fresh: (rows, columns), rows `stride` elements apart. blockIdx.y walks the rows. */
template <typename T, int R>
__global__ void __launch_bounds__(1024)
    global_step(stencil_numbers<T> s, const T *__restrict__ old, int64_t old_stride,
                T *__restrict__ fresh, int64_t fresh_stride) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= s.columns) return;
  for (int64_t i = blockIdx.y; i < s.rows; i += gridDim.y) {
    const T *row = old + i * old_stride;
    T value = row[j];
    if (j >= s.fixed)
      value = stencil_textbook::sum(
          s, 2 * R + 1, [&](int k) { return k == R ? value : stencil_at(s, row, j + k - R); });
    fresh[i * fresh_stride + j] = value;
  }
}

template <typename T, int R>
static rung_status run_radius(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const stencil_numbers<T> s = stencil_numbers_of<T>(p, false);
  const int block = task->block ? task->block : 256;
  const dim3 grid((unsigned)((p->columns + block - 1) / block), stencil_grid_rows(p->rows));
  return stencil_steps<T>(
      task, [&](const T *old, int64_t old_stride, T *fresh, int64_t fresh_stride) -> rung_status {
        RUNG_LAUNCH(task, (global_step<T, R>), grid, block, 0, s, old, old_stride, fresh,
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

extern "C" rung_status RUNG_ENTRY(stencil_global)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run<float>(task)
                                                                     : run<double>(task);
}
