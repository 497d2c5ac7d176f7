/* The means of the result's rows, for rungs that do not make them on their way: the best rung of
 * rowmeans, on the output they have just queued. */
#include "ops/rowmeans/rowmeans.h"
#include "ops/stencil/stencil.h"

static rung_status means_task(const rung_task *task, rowmeans_problem *problem, rung_task *means,
                              const rung_row **row) {
  const stencil_problem *p = task->problem;
  rung_status status = rowmeans_problem_of(task->error, p->rows, p->columns, p->dtype, problem);
  if (status != RUNG_OK) return status;
  *means = *task;
  means->problem = problem;
  means->block = 0;
  means->arrays[ROWMEANS_IN] = task->arrays[STENCIL_OUT];
  means->arrays[ROWMEANS_MEANS] = task->arrays[STENCIL_MEANS];
  return rung_choose(&rowmeans_operation, means, (rung_types)RUNG_ALIKE(p->dtype), NULL, row,
                     task->error);
}

size_t stencil_means_bytes(const rung_task *task) {
  rowmeans_problem problem;
  rung_task means;
  const rung_row *row;
  if (task->arrays[STENCIL_MEANS].count == 0) return 0;
  if (means_task(task, &problem, &means, &row) != RUNG_OK || row->scratch_bytes == NULL) return 0;
  return row->scratch_bytes(&means);
}

rung_status stencil_means(const rung_task *task, size_t offset) {
  rowmeans_problem problem;
  rung_task means;
  const rung_row *row;
  if (task->arrays[STENCIL_MEANS].count == 0) return RUNG_OK;
  const rung_status status = means_task(task, &problem, &means, &row);
  if (status != RUNG_OK) return status;
  means.scratch = task->scratch == NULL ? NULL : (char *)task->scratch + offset;
  return rung_row_launch(row, task->device)(&means);
}
