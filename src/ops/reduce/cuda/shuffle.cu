/* Warps fold in registers: a thread hands its value to another by a shuffle, five times, and only
 * one value a warp goes through shared memory. One barrier where there were as many as halvings. */
#include "ops/reduce/cuda/shuffle.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_shuffle(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x)
    reduce_shuffle_job<S>(level, job, shared);
}

REDUCE_TEXTBOOK_LAUNCH(shuffle)

extern "C" rung_status RUNG_ENTRY(reduce_shuffle_level)(const rung_task *task,
                                                        const reduce_level &level,
                                                        reduce_operator op) {
  return reduce_shuffle_launch(task, level, op);
}

extern "C" rung_status RUNG_ENTRY(reduce_shuffle)(const rung_task *task) {
  return reduce_all_levels(task, reduce_shuffle_part(task), reduce_shuffle_launch);
}
