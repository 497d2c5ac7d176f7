/* Tiles that do not come out even among blocks are cut along k, and a chain goes on where another
 * block has left it. For blocks of warps that multiply, each for itself, and one that brings. */
#ifndef RUNG_MATMUL_CUDA_SHARE_CUH
#define RUNG_MATMUL_CUDA_SHARE_CUH

#include "ops/matmul/cuda/feed.cuh"
#include "ops/matmul/share.h"

/* The first `cut` tiles are one row of panels, of which each block has as many as the next; the
 * others are dealt out whole. */
struct matmul_share {
  int64_t cut;       /* tiles */
  int panels;        /* of a tile */
  char *chains;      /* for each block and warp, those that it left */
  unsigned *tickets; /* the blocks' numbers are counted here; behind it a mark for each of those */
};

/* Panels `from` to `to` of a tile. */
struct matmul_part {
  int64_t tile;
  int from, to;
};

/* What one block does, in its order; in shared memory, for all registers are taken. Of its part of
 * the row it takes the last tile first, for of that one it has the beginning, and its first tile
 * last: by then the block before it has long made that one's beginning. */
struct matmul_turns {
  int number;      /* of the block */
  int first, last; /* tiles of the row */
  int from, to;    /* the panels of `first` begin there, those of `last` end there */

  __device__ inline void begin(const matmul_share &share, int block) {
    const int64_t row = share.cut * share.panels, blocks = gridDim.x;
    const int64_t begin = row * block / blocks, end = row * (block + 1) / blocks;
    number = block;
    first = (int)(begin / share.panels);
    from = (int)(begin % share.panels);
    last = (int)((end - 1) / share.panels);
    to = (int)(end - (int64_t)last * share.panels);
  }
  /* What comes in turn `turn`; past the last tile there is no more. */
  __device__ inline matmul_part at(const matmul_share &share, int turn) const {
    const int tile = last - turn;
    if (tile >= first) return {tile, tile == first ? from : 0, tile == last ? to : share.panels};
    return {share.cut + number + (int64_t)(first - tile - 1) * gridDim.x, 0, share.panels};
  }
};

/* By one thread: the block's number, in the order in which blocks begin, for one is to wait for
 * another. The last of them leaves the counter at zero. */
static __device__ inline int matmul_ticket(const matmul_share &share) {
  return (int)rung_count_in(share.tickets, gridDim.x - 1);
}

/* Where warp `warp` of block `block` leaves COUNT chains a lane, and the mark that they are there.
 */
template <int WARPS, int COUNT, typename T>
static __device__ inline matmul_quad<T> *matmul_left_at(const matmul_share &share, int block,
                                                        int warp) {
  return reinterpret_cast<matmul_quad<T> *>(share.chains) +
         ((int64_t)block * WARPS + warp) * (COUNT / matmul_quad<T>::WIDTH * 32) + threadIdx.x % 32;
}
template <int WARPS>
static __device__ inline unsigned *matmul_mark_of(const matmul_share &share, int block, int warp) {
  return share.tickets + 1 + block * WARPS + warp;
}

/* A warp leaves its lanes' chains, chain(0) to chain(COUNT - 1), for the block that has the rest of
 * the tile. */
template <int WARPS, int COUNT, typename T, typename Chain>
static __device__ inline void matmul_leave_chains(const matmul_share &share, int block, int warp,
                                                  Chain chain) {
  constexpr int WIDTH = matmul_quad<T>::WIDTH;
  matmul_quad<T> *to = matmul_left_at<WARPS, COUNT, T>(share, block, warp);
#pragma unroll
  for (int i = 0; i < COUNT; i += WIDTH) {
    matmul_quad<T> quad;
#pragma unroll
    for (int e = 0; e < WIDTH; e++) quad.at[e] = chain(i + e);
    to[i / WIDTH * 32] = quad;
  }
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) rung_store_release(matmul_mark_of<WARPS>(share, block, warp), 1u);
}

/* Takes up those that the block before has left. That one began before this one, and began with
 * them, waiting for nobody. */
template <int WARPS, int COUNT, typename T, typename Chain>
static __device__ inline void matmul_take_chains(const matmul_share &share, int block, int warp,
                                                 Chain chain) {
  constexpr int WIDTH = matmul_quad<T>::WIDTH;
  unsigned *mark = matmul_mark_of<WARPS>(share, block - 1, warp);
  while (rung_load_acquire(mark) == 0) continue;
  __syncwarp();
  if (threadIdx.x % 32 == 0) *mark = 0;
  const matmul_quad<T> *from = matmul_left_at<WARPS, COUNT, T>(share, block - 1, warp);
#pragma unroll
  for (int i = 0; i < COUNT; i += WIDTH) {
    const matmul_quad<T> quad = from[i / WIDTH * 32];
#pragma unroll
    for (int e = 0; e < WIDTH; e++) chain(i + e) = quad.at[e];
  }
}

/* Of the first `cut` tiles; chains from byte `at` of scratch on. */
static inline matmul_share matmul_share_of(const rung_task *task, int64_t cut, int depth,
                                           size_t at) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  return {cut, (int)((p->k + depth - 1) / depth), static_cast<char *>(task->scratch) + at,
          static_cast<unsigned *>(task->zeros)};
}

#endif
