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

/* Launches that kernel on a level: shuffle.cu's, whose kernels the rungs share that launch nothing
 * else. */
extern "C" rung_status RUNG_ENTRY(reduce_shuffle_level)(const rung_task *task,
                                                        const reduce_level &level,
                                                        reduce_operator op);

static inline int64_t reduce_shuffle_part(const rung_task *task) {
  return 2 * reduce_block(task);
}

#endif
