/* Which block is the last to finish: a part of backend/gpu.h, which kernels include. */
#ifndef RUNG_BACKEND_LAST_H
#define RUNG_BACKEND_LAST_H

/* Counts the block in, once its threads have stored their partial results. True in all of them
 * where it was the last of `parts`, and then they see the others' results. The counter begins at
 * zero, and the last one leaves it so. */
static __device__ inline bool rung_is_last(unsigned *counter, int64_t parts) {
  __shared__ bool last;
  const unsigned most = (unsigned)(parts - 1);
  __syncthreads();
  if (threadIdx.x == 0) last = rung_count_in(counter, most) == most;
  __syncthreads();
  return last;
}

#endif
