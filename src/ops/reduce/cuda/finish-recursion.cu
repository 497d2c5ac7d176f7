/* Finishes by recursion: the partial results are an array like any other, and summing it is what
 * this very function does; each call has its own part of the scratch. It ends when a line is one
 * block. (It is how `shuffle` and the rungs below it finish, by a name that says so.) */
#include "ops/reduce/cuda/shuffle.cuh"

extern "C" rung_status RUNG_ENTRY(reduce_finish_recursion)(const rung_task *task) {
  return reduce_all_levels(task, reduce_shuffle_part(task), RUNG_ENTRY(reduce_shuffle_level));
}
