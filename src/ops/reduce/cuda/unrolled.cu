/* From 64 elements on only one warp folds, and it needs no barrier of the block: its last six
 * halvings are written out, with the warp's own barrier between them. (The textbook leaves even
 * that out and trusts that a warp runs in step, which since compute capability 7.0 it need not.) */
#include "ops/reduce/cuda/textbook.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_unrolled(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, 2 * (int64_t)blockDim.x);
    shared[thread] = reduce_two<S>(level, part);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
      if (thread < s) shared[thread] = S::combine(shared[thread], shared[thread + s]);
      __syncthreads();
    }
    if (thread < 32) {
#pragma unroll
      for (unsigned s = 32; s > 0; s /= 2) {
        if (thread < s && s < blockDim.x)
          shared[thread] = S::combine(shared[thread], shared[thread + s]);
        __syncwarp();
      }
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_TEXTBOOK_LAUNCH(unrolled)

extern "C" rung_status RUNG_ENTRY(reduce_unrolled)(const rung_task *task) {
  return reduce_all_levels(task, 2 * reduce_block(task), reduce_unrolled_launch);
}
