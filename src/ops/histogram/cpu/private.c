/* Private tables, by one thread: slots of a strip of elements at a time, a vector's worth of
 * arithmetic, then the increments alone, which go to several tables in turn, so that an element in
 * its neighbour's bin does not wait. */
#include "backend/cpu/isa.h"
#include "ops/histogram/cpu/tables.h"

rung_status RUNG_ENTRY(histogram_private)(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const rung_view *in = &task->arrays[HISTOGRAM_IN];
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  char *scratch = (char *)task->scratch;
  const histogram_tables tables = {
      .problem = problem,
      .given = histogram_given_of(task, scratch),
      .shape = histogram_private_of(problem, 1),
      .counts = (uint32_t *)(scratch + histogram_guide_bytes(problem)),
  };
  for (int64_t i = 0; i < problem->rows; ++i) {
    const histogram_row row = histogram_row_of(task, i);
    histogram_do_row(&tables, problem->columns > 0 ? in->data + i * in->stride[0] * size : NULL,
                     &row);
  }
  return RUNG_OK;
}
