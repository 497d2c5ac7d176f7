/* The canonical order: 2048 running sums instead of one, which the vector units add side by side,
 * folded by halves at the end of each tile. One thread then waits for memory, not for additions,
 * and the error no longer grows with the row. */
#include "backend/cpu/isa.h"
#include "ops/rowmeans/cpu/fold.h"
#include "ops/rowmeans/rowmeans.h"

rung_status RUNG_ENTRY(rowmeans_lanes)(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  const rung_view *in = &task->arrays[ROWMEANS_IN], *means = &task->arrays[ROWMEANS_MEANS];
  const int64_t columns = problem->columns;
  for (int64_t i = 0; i < problem->rows; ++i) {
    const int64_t row = i * in->stride[0], mean = i * means->stride[0];
    if (problem->dtype == RUNG_F32)
      ((float *)means->data)[mean] =
          rowmeans_mean_f32(rowmeans_sum_f32((const float *)in->data + row, columns), columns);
    else
      ((double *)means->data)[mean] =
          rowmeans_mean_f64(rowmeans_sum_f64((const double *)in->data + row, columns), columns);
  }
  return RUNG_OK;
}
