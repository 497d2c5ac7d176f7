/* Half of a block's threads were idle from the first halving on. Now every thread combines two
 * elements as it loads them: half the blocks for the same line, and twice the loads under way. */
#include "ops/reduce/cuda/textbook.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_first_add(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, 2 * (int64_t)blockDim.x);
    shared[thread] = reduce_two<S>(level, part);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (thread < s) shared[thread] = S::combine(shared[thread], shared[thread + s]);
      __syncthreads();
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_TEXTBOOK_LAUNCH(first_add)

extern "C" rung_status RUNG_ENTRY(reduce_first_add)(const rung_task *task) {
  return reduce_all_levels(task, 2 * reduce_block(task), reduce_first_add_launch);
}
