/* The same pairs as `modulo`, but the first threads do the work: no remainder, and a warp is at
 * work whole or not at all. Its threads now reach into shared memory 2, 4, 8 ... elements apart,
 * and more and more of them ask the same bank. */
#include "ops/reduce/cuda/textbook.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_strided(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, blockDim.x);
    shared[thread] = reduce_one<S>(level, part);
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      const unsigned at = 2 * s * thread;
      if (at < blockDim.x) shared[at] = S::combine(shared[at], shared[at + s]);
      __syncthreads();
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_TEXTBOOK_LAUNCH(strided)

extern "C" rung_status RUNG_ENTRY(reduce_strided)(const rung_task *task) {
  return reduce_all_levels(task, reduce_block(task), reduce_strided_launch);
}
