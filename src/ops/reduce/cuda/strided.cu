/* The same pairs as `modulo`, but the first threads do the work: no remainder, and a warp is at
 * work whole or not at all. Its threads now reach into shared memory 2, 4, 8 ... elements apart,
 * and more and more of them ask the same bank. */
#include "ops/reduce/cuda/levels.cuh"

template <typename S>
static __global__ void reduce_strided_kernel(reduce_level<S> level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part<S> part = reduce_part_of(level, job, blockDim.x);
    shared[thread] = reduce_one(level, part);
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      const unsigned at = 2 * s * thread;
      if (at < blockDim.x) shared[at] = S::join(shared[at], shared[at + s]);
      __syncthreads();
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_RELAUNCHED(reduce_strided_rung, reduce_strided_kernel, 1);

extern "C" rung_status RUNG_ENTRY(reduce_strided)(const rung_task *task) {
  return reduce_by_source<reduce_strided_rung>(task);
}
