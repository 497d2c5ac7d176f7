/* The textbook: one running sum a row, from left to right. Every addition waits for the one
 * before, and nothing may be reordered, so no vector unit can help; the rounding errors add up
 * with the row's length. */
#include "backend/cpu/isa.h"
#include "ops/rowmeans/rowmeans.h"

static float mean_f32(const float *row, int64_t columns) {
  float sum = row[0];
  for (int64_t j = 1; j < columns; ++j) sum += row[j];
  return (float)((double)sum / (double)columns);
}

static double mean_f64(const double *row, int64_t columns) {
  double sum = row[0];
  for (int64_t j = 1; j < columns; ++j) sum += row[j];
  return sum / (double)columns;
}

rung_status RUNG_ENTRY(rowmeans_serial)(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  const rung_view *in = &task->arrays[ROWMEANS_IN], *means = &task->arrays[ROWMEANS_MEANS];
  for (int64_t i = 0; i < problem->rows; ++i) {
    const int64_t row = i * in->stride[0], mean = i * means->stride[0];
    if (problem->dtype == RUNG_F32)
      ((float *)means->data)[mean] = mean_f32((const float *)in->data + row, problem->columns);
    else
      ((double *)means->data)[mean] = mean_f64((const double *)in->data + row, problem->columns);
  }
  return RUNG_OK;
}
