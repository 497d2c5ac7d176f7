/* The textbook's first: every thread loads an element, then at distances 1, 2, 4 ... every thread
 * whose number is a multiple of twice the distance takes in its neighbour's. All warps stay in the
 * game to the end, with ever fewer of their threads at work, and the remainder costs a division a
 * step. */
#include "ops/reduce/cuda/textbook.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_modulo(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, blockDim.x);
    shared[thread] = reduce_one<S>(level, part);
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      if (thread % (2 * s) == 0) shared[thread] = S::combine(shared[thread], shared[thread + s]);
      __syncthreads();
    }
    if (thread == 0) reduce_put(level.end, shared[0], level.out, part.at);
    __syncthreads();
  }
}

REDUCE_TEXTBOOK_LAUNCH(modulo)

extern "C" rung_status RUNG_ENTRY(reduce_modulo)(const rung_task *task) {
  return reduce_all_levels(task, reduce_block(task), reduce_modulo_launch);
}
