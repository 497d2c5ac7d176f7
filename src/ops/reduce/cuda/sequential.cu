/* Folds by halves: a thread takes in the element half a block on, then a quarter ... Neighbouring
 * threads read neighbouring elements, so no bank of shared memory is asked twice at once. */
#include "ops/reduce/cuda/textbook.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_sequential(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, blockDim.x);
    shared[thread] = reduce_one<S>(level, part);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (thread < s) shared[thread] = S::combine(shared[thread], shared[thread + s]);
      __syncthreads();
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_TEXTBOOK_LAUNCH(sequential)

extern "C" rung_status RUNG_ENTRY(reduce_sequential)(const rung_task *task) {
  return reduce_all_levels(task, reduce_block(task), reduce_sequential_launch);
}
