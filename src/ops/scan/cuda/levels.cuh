/* The aggregates of lines in global memory, level by level (scan_aggregates()), between a launch
 * that leaves totals of tiles and one that needs what comes before them. */
#ifndef RUNG_SCAN_CUDA_LEVELS_CUH
#define RUNG_SCAN_CUDA_LEVELS_CUH

#include "ops/scan/cuda/tile.cuh"

/* A block a line: every family becomes its K, whose last is the next level's aggregate. The last
 * tile's total is not there and not needed. */
template <typename S>
static __global__ void scan_families_kernel(int64_t lines, int64_t tiles,
                                            typename S::value *numbers, int64_t pitch) {
  rung_take_turn();
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    typename S::value *level = numbers + line * pitch;
    for (int64_t count = tiles, there = tiles - 1; there > 0; there /= SCAN_FAMILY) {
      const int64_t rounded = (there + SCAN_FAMILY - 1) / SCAN_FAMILY * SCAN_FAMILY;
      typename S::value *next = level + count;
      for (int64_t i = threadIdx.x; i < rounded; i += blockDim.x) {
        const typename S::value k = scan_warp<S>(i < there ? level[i] : S::identity());
        if (i < there) level[i] = k;
        if (i < there && i % SCAN_FAMILY == SCAN_FAMILY - 1) next[i / SCAN_FAMILY] = k;
      }
      __syncthreads();
      level = next;
      count /= SCAN_FAMILY;
    }
  }
}

/* What comes before a tile, from the families' prefixes, at most one load a level, and from `all`,
 * which comes before all tiles. */
template <typename S>
__device__ __forceinline__ typename S::value scan_before(const typename S::value *numbers,
                                                         int64_t tiles, int64_t tile,
                                                         typename S::value all) {
  typename S::value e[SCAN_LEVELS];
#pragma unroll
  for (int k = 0; k < SCAN_LEVELS; ++k) {
    e[k] = tile % SCAN_FAMILY != 0 ? numbers[tile - 1] : S::identity();
    numbers += tiles;
    tiles /= SCAN_FAMILY;
    tile /= SCAN_FAMILY;
  }
#pragma unroll
  for (int k = SCAN_LEVELS - 1; k >= 0; --k) all = S::combine(all, e[k]);
  return all;
}

#endif
