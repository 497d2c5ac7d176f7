/* Folds by one warp and by one block, and a tile of 32768 elements by one block: in the canonical
 * order (core/sum.h) where the source is a sum of floats. */
#ifndef RUNG_REDUCE_CUDA_FOLD_CUH
#define RUNG_REDUCE_CUDA_FOLD_CUH

#include "ops/reduce/cuda/levels.cuh"
#include "ops/reduce/cuda/sum.cuh"

/* Of all threads of a warp; the result is thread 0's. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_fold_warp(typename S::partial value) {
#pragma unroll
  for (int s = 16; s > 0; s /= 2) value = S::join(value, __shfl_down_sync(0xffffffffu, value, s));
  return value;
}

/* Of all threads of a block of whole warps; `shared` is 32 partial results, free again after the
 * block's next barrier. The result is thread 0's. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_fold_block(typename S::partial value,
                                                                 typename S::partial *shared) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = reduce_fold_warp<S>(value);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  if (warp > 0) return value;
  return reduce_fold_warp<S>(lane < blockDim.x / 32 ? shared[lane] : S::none());
}

/* ---- one line ----------------------------------------------------------------------------------
 */

/* Shared memory that a tile by a block takes. */
template <typename S>
static size_t reduce_tile_shared() {
  return (S::ordered ? RUNG_SUM_LANES : 32) * sizeof(typename S::partial);
}

/* A tile of 0 ... RUNG_SUM_TILE elements without gaps, V at a load: those are aligned to V of them.
 * All threads of a block of whole warps call; the result is thread 0's; `shared` is free again
 * after the block's next barrier. */
template <typename S, int V>
__device__ typename S::partial reduce_tile(const typename S::in *tile, int count, int64_t turn,
                                           typename S::partial *shared) {
  if constexpr (S::ordered) {
    return reduce_tile_by_block<typename S::in, V>(tile, count, shared);
  } else {
    typedef reduce_chunk<typename S::in, V> chunk;
    enum { LOADS = 4 }; /* under way at a time */
    const int step = (int)blockDim.x * V;
    typename S::partial value = S::none();
    int first = (int)threadIdx.x * V;
    for (; first + (LOADS - 1) * step + V <= count; first += LOADS * step) {
      chunk chunks[LOADS];
#pragma unroll
      for (int r = 0; r < LOADS; ++r) chunks[r] = *(const chunk *)(tile + first + r * step);
#pragma unroll
      for (int r = 0; r < LOADS; ++r) {
#pragma unroll
        for (int c = 0; c < V; ++c) value = S::join(value, S::take(chunks[r].at[c], turn));
      }
    }
    for (; first + V <= count; first += step) {
      const chunk one = *(const chunk *)(tile + first);
#pragma unroll
      for (int c = 0; c < V; ++c) value = S::join(value, S::take(one.at[c], turn));
    }
    const int rest = count / V * V + (int)threadIdx.x;
    if (rest < count) value = S::join(value, S::take(tile[rest], turn));
    return reduce_fold_block<S>(value, shared);
  }
}

/* ---- lines side by side ------------------------------------------------------------------------
 */

/* How a block's threads share lines that lie side by side: `group` neighbours (a power of two, at
 * most a warp) take an element of as many lines at a time, and `parties` (a power of two) such
 * groups share a line's lanes. Threads beyond have nothing to do. */
struct reduce_sharing {
  int group, parties;
  int64_t strips; /* groups of lines in all the lines side by side */
};

static inline reduce_sharing reduce_sharing_of(int64_t inner, int threads) {
  reduce_sharing s = {reduce_group(inner), 1, 0};
  while (2 * s.parties * s.group <= threads) s.parties *= 2;
  s.strips = (inner + s.group - 1) / s.group;
  return s;
}

/* One lane of a line's tile: the elements lane, lane + 2048 ... of it. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_lane(const typename S::in *tile, int64_t step,
                                                           int count, int lane, int64_t turn) {
  if (lane >= count) return S::none();
  typename S::partial value = S::take(tile[lane * step], turn);
#pragma unroll 4
  for (int k = lane + RUNG_SUM_LANES; k < count; k += RUNG_SUM_LANES)
    value = S::join(value, S::take(tile[k * step], turn));
  return value;
}

/* What folding by halves makes of the lanes party, party + parties ...: depth first, the lanes in
 * the order of their reversed bits, so that no more than a partial result a halving is held. */
template <typename S>
__device__ typename S::partial reduce_lanes(const typename S::in *tile, int64_t step, int count,
                                            int party, int parties, int64_t turn) {
  enum { HALVINGS = 11 };
  static_assert(RUNG_SUM_LANES == 1 << HALVINGS, "a halving for every bit of a lane's number");
  typename S::partial held[HALVINGS], value = S::none();
  int bits = 0; /* of the number of a lane among the party's; lanes without elements left out */
  while (parties << bits < count && parties << bits < RUNG_SUM_LANES) ++bits;
#pragma unroll
  for (int b = 0; b < HALVINGS; ++b) held[b] = S::none();
  for (int j = 0; j < 1 << bits; ++j) {
    const int lane = bits == 0 ? 0 : (int)(__brev((unsigned)j) >> (32 - bits));
    value = reduce_lane<S>(tile, step, count, party + parties * lane, turn);
    bool rising = true;
#pragma unroll
    for (int b = 0; b < HALVINGS; ++b) {
      if (rising && (j >> b & 1))
        value = S::join(held[b], value);
      else if (rising) {
        held[b] = value;
        rising = false;
      }
    }
  }
  return value;
}

/* A tile of lines side by side, whose elements lie `step` apart: `tile` is the thread's own line,
 * `live` says whether it has one. All threads of the block call; `shared` is a partial result a
 * thread, free again after the block's next barrier. The results are those of party 0. */
template <typename S>
__device__ typename S::partial reduce_tile_across(const typename S::in *tile, int64_t step,
                                                  int count, bool live,
                                                  const reduce_sharing &sharing, int64_t turn,
                                                  typename S::partial *shared) {
  const int thread = (int)threadIdx.x, party = thread / sharing.group;
  typename S::partial value = S::none();
  if (live && party < sharing.parties)
    value = reduce_lanes<S>(tile, step, count, party, sharing.parties, turn);
  shared[thread] = value;
  __syncthreads();
  for (int s = sharing.parties / 2; s > 0; s /= 2) {
    if (party < s) shared[thread] = S::join(shared[thread], shared[thread + s * sharing.group]);
    __syncthreads();
  }
  return shared[thread];
}

/* ---- block sizes -------------------------------------------------------------------------------
 */

#define REDUCE_MOST_WARPS 16

/* Whole warps, at least one and at most 16. Where the caller does not say, a block has no more
 * threads than find something to load. */
static inline int reduce_threads(const rung_task *task, int64_t loads) {
  const int64_t useful = (loads + 31) / 32;
  int64_t warps = task->block == 0 ? REDUCE_MOST_WARPS : task->block / 32;
  if (task->block == 0 && warps > useful) warps = useful;
  return 32 * (int)(warps < 1 ? 1 : warps > REDUCE_MOST_WARPS ? REDUCE_MOST_WARPS : warps);
}

#endif
