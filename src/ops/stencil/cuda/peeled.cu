/* Rung `peeled`: the row's ends are handled apart, so that the loop over its inside has no `if`. */
#include "ops/stencil/cuda/peeled.cuh"

extern "C" rung_status RUNG_ENTRY(stencil_peeled)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32
             ? peeled_steps<stencil_textbook, float>(task, false)
             : peeled_steps<stencil_textbook, double>(task, false);
}
