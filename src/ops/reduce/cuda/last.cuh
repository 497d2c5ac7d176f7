/* Which block is the last to finish. */
#ifndef RUNG_REDUCE_CUDA_LAST_CUH
#define RUNG_REDUCE_CUDA_LAST_CUH

#include "backend/gpu.h"

/* Counts the block in, once its partial results are stored by the first `writers` threads. True in
 * all its threads where it was the last of `parts`. The counter begins at zero, and the last one
 * leaves it so. */
static __device__ bool reduce_is_last(unsigned *counter, int64_t parts, unsigned writers) {
  __shared__ bool last;
  const unsigned most = (unsigned)(parts - 1);
  if (threadIdx.x < writers) __threadfence(); /* the results before the count */
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(counter, most) == most;
  __syncthreads();
  const bool is_last = last;
  __syncthreads();              /* `last` is free for the next part */
  if (is_last) __threadfence(); /* the count before the others' results */
  return is_last;
}

#endif
