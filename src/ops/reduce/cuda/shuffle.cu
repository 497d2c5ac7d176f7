/* Warps fold in registers: a thread hands its value to another by a shuffle, five times, and only
 * one value a warp goes through shared memory. One barrier where there were as many as halvings. */
#include "ops/reduce/cuda/shuffle.cuh"

extern "C" rung_status RUNG_ENTRY(reduce_shuffle)(const rung_task *task) {
  return reduce_all_levels(task, reduce_shuffle_part(task), reduce_shuffle_launch);
}
