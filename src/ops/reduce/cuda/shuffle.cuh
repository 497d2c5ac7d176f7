/* The block kernel of `shuffle`, and of the rungs that differ in how they finish only. */
#ifndef RUNG_REDUCE_CUDA_SHUFFLE_CUH
#define RUNG_REDUCE_CUDA_SHUFFLE_CUH

#include "ops/reduce/cuda/fold.cuh"
#include "ops/reduce/cuda/textbook.cuh"

/* One job: a block folds a part of a line, two elements a thread, to one partial result. `shared`
 * is 32 of them, free again when it returns. */
template <typename S>
__device__ __forceinline__ void reduce_shuffle_job(const reduce_level &level, int64_t job,
                                                   typename S::partial *shared) {
  const reduce_part part = reduce_part_of(level, job, 2 * (int64_t)blockDim.x);
  const typename S::partial value = reduce_fold_block<S>(reduce_two<S>(level, part), shared);
  if (threadIdx.x == 0) reduce_put(level.end, value, level.out, part.at);
  __syncthreads();
}

template <typename S>
static __global__ void reduce_shuffle(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x)
    reduce_shuffle_job<S>(level, job, shared);
}

REDUCE_TEXTBOOK_LAUNCH(shuffle)

static inline int64_t reduce_shuffle_part(const rung_task *task) {
  return 2 * reduce_block(task);
}

#endif
