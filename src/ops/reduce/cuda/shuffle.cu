/* Warps fold in registers: a thread hands its value to another by a shuffle, five times, and only
 * one value a warp goes through shared memory. One barrier where there were as many as halvings. */
#include "ops/reduce/cuda/fold.cuh"

template <typename S>
static __global__ void reduce_shuffle_kernel(reduce_level<S> level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part<S> part = reduce_part_of(level, job, 2 * (int64_t)blockDim.x);
    const typename S::partial value = reduce_fold_block<S>(reduce_two(level, part), shared);
    if (threadIdx.x == 0) reduce_put(level.end, value, level.out, part.at);
    __syncthreads();
  }
}

REDUCE_RELAUNCHED(reduce_shuffle_rung, reduce_shuffle_kernel, 2);

extern "C" rung_status RUNG_ENTRY(reduce_shuffle)(const rung_task *task) {
  return reduce_by_source<reduce_shuffle_rung>(task);
}
