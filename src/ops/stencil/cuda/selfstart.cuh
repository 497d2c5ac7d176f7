/* Rows that compute their own start on the device, in the copy of the grid that the first step does
 * not write. */
#ifndef RUNG_STENCIL_SELFSTART_CUH
#define RUNG_STENCIL_SELFSTART_CUH

#include "ops/stencil/cuda/stencil.cuh"

template <typename T>
static __global__ void selfstart_rows(stencil_start start, int64_t rows, int64_t columns, T *grid,
                                      int64_t stride) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int64_t i = blockIdx.y; i < rows; i += gridDim.y)
    grid[i * stride + j] = (T)stencil_own_start(start, i, j, columns);
}

/* Queues the start, if it is the rows' own, and gives the task whose input it is. */
template <typename T>
static rung_status selfstart(const rung_task *task, rung_task *begun) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *out = &task->arrays[STENCIL_OUT];
  *begun = *task;
  if (!p->start.own) return RUNG_OK;
  rung_view *in = &begun->arrays[STENCIL_IN];
  *in = *out;
  if (p->steps % 2 == 1) { /* the first step writes the output */
    in->data = (char *)task->scratch;
    in->stride[0] = p->columns;
  }
  const dim3 grid((unsigned)((p->columns + 255) / 256), stencil_grid_rows(p->rows));
  RUNG_LAUNCH(task, selfstart_rows<T>, grid, 256, 0, p->start, p->rows, p->columns, (T *)in->data,
              in->stride[0]);
  return RUNG_OK;
}

#endif
