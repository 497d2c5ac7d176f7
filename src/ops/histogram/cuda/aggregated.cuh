/* Equal slots of a warp found, and counted by one lane for all of them. */
#ifndef RUNG_HISTOGRAM_CUDA_AGGREGATED_CUH
#define RUNG_HISTOGRAM_CUDA_AGGREGATED_CUH

#include "ops/histogram/cuda/bins.cuh"

/* The lanes of the calling warp that exist: the last one of a block may lack some. */
static __device__ __forceinline__ unsigned histogram_lanes() {
  const unsigned left = blockDim.x - threadIdx.x / 32 * 32;
  return left < 32 ? (1u << left) - 1 : 0xffffffffu;
}

/* How many lanes have the caller's slot, for one of them; 0 for the others. All lanes come here
 * together. */
static __device__ __forceinline__ unsigned histogram_peers(unsigned slot) {
  const unsigned peers = __match_any_sync(histogram_lanes(), slot);
  return threadIdx.x % 32 == (unsigned)__ffs((int)peers) - 1 ? (unsigned)__popc(peers) : 0;
}

#endif
