/* Pairs of tiles by one number, so that blocks get shares of a triangle that are alike. */
#ifndef RUNG_PAIRS_CUDA_TRIANGLE_CUH
#define RUNG_PAIRS_CUDA_TRIANGLE_CUH

#include "backend/gpu.h"

/* How many pairs of tiles there are: of one set those (r, l) with r <= l < ls, else all of rs * ls.
 * Less than 2^62. */
static inline __host__ __device__ int64_t pairs_tiles(int64_t rs, int64_t ls, bool cross) {
  return cross ? rs * ls : ls % 2 == 0 ? ls / 2 * (ls + 1) : (ls + 1) / 2 * ls;
}

/* Pair number `at`. The root in double may be a little off: it is put right. */
static __device__ __forceinline__ void pairs_tile_at(int64_t at, int64_t rs, bool cross, int64_t *r,
                                                     int64_t *l) {
  if (cross) {
    *l = at / rs;
    *r = at - *l * rs;
    return;
  }
  int64_t row = (int64_t)((sqrt(8.0 * (double)at + 1.0) - 1.0) * 0.5);
  while (pairs_tiles(0, row, false) > at) --row;
  while (pairs_tiles(0, row + 1, false) <= at) ++row;
  *l = row;
  *r = at - pairs_tiles(0, row, false);
}

#endif
