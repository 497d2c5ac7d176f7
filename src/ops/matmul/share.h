/* Tiles that are cut along k so that each block has as much to do: how many there are. For the host
 * and for kernels' launches. */
#ifndef RUNG_MATMUL_SHARE_H
#define RUNG_MATMUL_SHARE_H

#include <stddef.h>
#include <stdint.h>

/* A chain that is left and taken up costs a block as much as so many of its tile's steps. */
enum { MATMUL_SHARE_STEPS = 96 };

/* Of `tiles` of k steps each, how many of the first are cut among `blocks`: at least one for each
 * block and less than two, so that no block waits; or none, where they come out even or it does not
 * pay, as a step takes `slower` times as long. */
static inline int64_t matmul_cut_tiles(int64_t tiles, int64_t blocks, int64_t k, double slower) {
  if (tiles <= blocks || tiles % blocks == 0) return 0;
  const double whole = (double)(tiles / blocks + 1), turns = (double)tiles / (double)blocks;
  if ((whole - turns * slower) * (double)k <= (double)MATMUL_SHARE_STEPS) return 0;
  return blocks + tiles % blocks;
}

/* Bytes of zeros: the blocks' counter, and a mark for each of their warps. */
static inline size_t matmul_share_zeros(int64_t blocks, int warps) {
  return (1 + (size_t)blocks * (size_t)warps) * sizeof(unsigned);
}

#endif
