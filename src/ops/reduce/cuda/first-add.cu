/* Half of a block's threads were idle from the first halving on. Now every thread joins two
 * elements as it loads them: half the blocks for the same line, and twice the loads under way. */
#include "ops/reduce/cuda/levels.cuh"

template <typename S>
static __global__ void reduce_first_add_kernel(reduce_level<S> level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part<S> part = reduce_part_of(level, job, 2 * (int64_t)blockDim.x);
    shared[thread] = reduce_two(level, part);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (thread < s) shared[thread] = S::join(shared[thread], shared[thread + s]);
      __syncthreads();
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_RELAUNCHED(reduce_first_add_rung, reduce_first_add_kernel, 2);

extern "C" rung_status RUNG_ENTRY(reduce_first_add)(const rung_task *task) {
  return reduce_by_source<reduce_first_add_rung>(task);
}
