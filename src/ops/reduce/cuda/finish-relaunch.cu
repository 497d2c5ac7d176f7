/* Finishes in a loop: the same kernel is launched on the partial results until a line is one
 * block, from one buffer into another and back. The host does not wait between the launches; the
 * stream keeps them in order. */
#include "ops/reduce/cuda/shuffle.cuh"

extern "C" rung_status RUNG_ENTRY(reduce_finish_relaunch)(const rung_task *task) {
  const int64_t part = reduce_shuffle_part(task);
  reduce_operator op = reduce_operator_of((const reduce_problem *)task->problem);
  const rung_dtype partial = reduce_partial_of(op);
  reduce_level level = reduce_level_of(task);
  char *to = (char *)task->scratch;
  reduce_cut(task, &level, part, to);
  rung_status status = RUNG_ENTRY(reduce_shuffle_level)(task, level, op);
  char *free = to + level.outer * level.out_outer * (int64_t)rung_dtype_bytes(partial);
  op = reduce_operator_next(op);
  while (status == RUNG_OK && !level.end.last) {
    level = reduce_next(level, partial);
    reduce_cut(task, &level, part, free);
    status = RUNG_ENTRY(reduce_shuffle_level)(task, level, op);
    char *read = to;
    to = free;
    free = read;
  }
  return status;
}
