/* The means of the result's rows, for rungs that do not make them on their way: the best rung of
 * reduce, on the output they have just queued. */
#include "ops/reduce/reduce.h"
#include "ops/stencil/stencil.h"

_Static_assert(sizeof(reduce_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a step");

rung_status stencil_means(const rung_task *task, rung_step *step) {
  const stencil_problem *p = task->problem;
  if (task->arrays[STENCIL_MEANS].count == 0) return RUNG_OK;
  const rung_status status =
      reduce_problem_of(task->error, RUNG_MEAN, p->dtype, REDUCE_LINES, p->rows, p->columns, 1,
                        (reduce_problem *)step->problem.bytes);
  if (status != RUNG_OK) return status;
  step->task.arrays[REDUCE_IN] = task->arrays[STENCIL_OUT];
  step->task.arrays[REDUCE_OUT] = task->arrays[STENCIL_MEANS];
  return rung_choose(&reduce_operation, &step->task, p->dtype, NULL, &step->row, task->error);
}
