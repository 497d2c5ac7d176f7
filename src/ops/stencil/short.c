/* How many rows a block of `short-rows` takes. */
#include "ops/stencil/cuda/cuda.h"

/* As many as its threads have elements for, its shared memory room, and no more than keep all
 * multiprocessors busy. */
int stencil_short_rows_of(const stencil_problem *problem, const rung_device *device) {
  const int64_t row =
      2 * (int64_t)rung_dtype_bytes(problem->dtype) * (problem->columns + 2 * problem->radius);
  const int64_t even = (problem->rows + device->processors - 1) / device->processors;
  int64_t rows = STENCIL_SHORT_COLUMNS / problem->columns;
  if (rows > STENCIL_SHORT_SHARED / row) rows = STENCIL_SHORT_SHARED / row;
  return (int)(rows < even ? rows : even);
}
