/* Folds by one warp and by one block, and a tile of 32768 elements by one block: in the canonical
 * order (core/sum.h) where the operator is a sum of floats. */
#ifndef RUNG_REDUCE_CUDA_FOLD_CUH
#define RUNG_REDUCE_CUDA_FOLD_CUH

#include "ops/reduce/cuda/levels.cuh"
#include "ops/reduce/cuda/sum.cuh"

/* Of all threads of a warp; the result is thread 0's. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_fold_warp(typename S::partial value) {
#pragma unroll
  for (int s = 16; s > 0; s /= 2)
    value = S::combine(value, __shfl_down_sync(0xffffffffu, value, s));
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
  return reduce_fold_warp<S>(lane < blockDim.x / 32 ? shared[lane] : S::identity());
}

/* ---- one line ----------------------------------------------------------------------------------
 */

/* Shared memory that a tile by a block takes. */
static inline size_t reduce_tile_shared(reduce_operator op) {
  return (reduce_is_ordered(op) ? RUNG_SUM_LANES : 32) * rung_dtype_bytes(reduce_partial_of(op));
}

/* Combines elements that follow each other in any order, by `step` threads of which this is
 * `thread`: what comes before the first multiple of 16 bytes, whole chunks of as many from there
 * on, what is left. */
template <typename S>
__device__ __forceinline__ void reduce_combine_run(typename S::running &value,
                                                   const typename S::in *run, int count, int thread,
                                                   int step, const rung_key_code &key) {
  enum { V = S::wide, LOADS = 4 }; /* under way at a time */
  typedef reduce_chunk<typename S::in, V> chunk;
  const int before = (int)(-(uintptr_t)run % 16 / sizeof *run);
  const int first = before < count ? before : count, wide = (count - first) / V;
  const chunk *chunks = (const chunk *)(run + first);
  if (thread < first) value = S::combine(value, S::load(run[thread], key));
  int k = thread;
  for (; k + (LOADS - 1) * step < wide; k += LOADS * step) {
    chunk some[LOADS];
#pragma unroll
    for (int r = 0; r < LOADS; ++r) some[r] = chunks[k + r * step];
#pragma unroll
    for (int r = 0; r < LOADS; ++r) {
#pragma unroll
      for (int c = 0; c < V; ++c) value = S::combine(value, S::load(some[r].at[c], key));
    }
  }
#pragma unroll 1
  for (; k < wide; k += step) {
    const chunk one = chunks[k];
#pragma unroll
    for (int c = 0; c < V; ++c) value = S::combine(value, S::load(one.at[c], key));
  }
  const int rest = first + wide * V + thread;
  if (rest < count) value = S::combine(value, S::load(run[rest], key));
}

/* A tile in any order. */
template <typename S>
__device__ typename S::partial reduce_tile_unordered(const typename S::in *tile, int count,
                                                     const rung_key_code &key,
                                                     typename S::partial *shared) {
  typename S::running value = S::identity();
  reduce_combine_run<S>(value, tile, count, (int)threadIdx.x, (int)blockDim.x, key);
  return reduce_fold_block<S>(value, shared);
}

/* A tile of 0 ... RUNG_SUM_TILE elements without gaps. ALIGNED: it begins where a wide load of an
 * ordered sum may; of anything else that does not matter. All threads of a block of whole warps
 * call; the result is thread 0's; `shared` is free again after the block's next barrier. */
template <typename S, bool ALIGNED>
__device__ __forceinline__ typename S::partial reduce_tile(const typename S::in *tile, int count,
                                                           const rung_key_code &key,
                                                           typename S::partial *shared) {
  if constexpr (S::ordered)
    return reduce_tile_by_block<S, S::wide, ALIGNED>(tile, count, key, shared);
  else
    return reduce_tile_unordered<S>(tile, count, key, shared);
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
                                                           int count, int lane,
                                                           const rung_key_code &key) {
  if (lane >= count) return S::identity();
  typename S::partial value = S::load(tile[lane * step], key);
#pragma unroll 4
  for (int k = lane + RUNG_SUM_LANES; k < count; k += RUNG_SUM_LANES)
    value = S::combine(value, S::load(tile[k * step], key));
  return value;
}

/* What folding by halves makes of the lanes party, party + parties ...: depth first, the lanes in
 * the order of their reversed bits, so that no more than a partial result a halving is held. */
template <typename S>
__device__ typename S::partial reduce_lanes(const typename S::in *tile, int64_t step, int count,
                                            int party, int parties, const rung_key_code &key) {
  enum { HALVINGS = 11 };
  static_assert(RUNG_SUM_LANES == 1 << HALVINGS, "a halving for every bit of a lane's number");
  typename S::partial held[HALVINGS], value = S::identity();
  int bits = 0; /* of the number of a lane among the party's; lanes without elements left out */
  while (parties << bits < count && parties << bits < RUNG_SUM_LANES) ++bits;
#pragma unroll
  for (int b = 0; b < HALVINGS; ++b) held[b] = S::identity();
  for (int j = 0; j < 1 << bits; ++j) {
    const int lane = bits == 0 ? 0 : (int)(__brev((unsigned)j) >> (32 - bits));
    value = reduce_lane<S>(tile, step, count, party + parties * lane, key);
    bool rising = true;
#pragma unroll
    for (int b = 0; b < HALVINGS; ++b) {
      if (rising && (j >> b & 1))
        value = S::combine(held[b], value);
      else if (rising) {
        held[b] = value;
        rising = false;
      }
    }
  }
  return value;
}

/* The elements party, party + parties ..., in any order. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_every(const typename S::in *tile,
                                                            int64_t step, int count, int party,
                                                            int parties, const rung_key_code &key) {
  typename S::running value = S::identity();
#pragma unroll 4
  for (int k = party; k < count; k += parties)
    value = S::combine(value, S::load(tile[k * step], key));
  return value;
}

/* A tile of lines side by side, whose elements lie `step` apart: `tile` is the thread's own line,
 * `live` says whether it has one. All threads of the block call; `shared` is a partial result a
 * thread, free again after the block's next barrier. The results are those of party 0. */
template <typename S>
__device__ typename S::partial reduce_tile_across(const typename S::in *tile, int64_t step,
                                                  int count, bool live,
                                                  const reduce_sharing &sharing,
                                                  const rung_key_code &key,
                                                  typename S::partial *shared) {
  const int thread = (int)threadIdx.x, party = thread / sharing.group;
  typename S::partial value = S::identity();
  if (live && party < sharing.parties) {
    if constexpr (S::ordered)
      value = reduce_lanes<S>(tile, step, count, party, sharing.parties, key);
    else
      value = reduce_every<S>(tile, step, count, party, sharing.parties, key);
  }
  shared[thread] = value;
  __syncthreads();
  for (int s = sharing.parties / 2; s > 0; s /= 2) {
    if (party < s) shared[thread] = S::combine(shared[thread], shared[thread + s * sharing.group]);
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

/* Along lines, of parts of at most `size` elements, by wide loads. */
static inline int reduce_line_threads(const rung_task *task, const reduce_level &level,
                                      reduce_operator op, int64_t size) {
  const int64_t elements = level.columns < size ? level.columns : size;
  const int bytes = op == REDUCE_ADD_HALF ? 8 : 16;
  const int64_t at_once = bytes / (int)rung_dtype_bytes(level.dtype);
  return reduce_threads(task, (elements + at_once - 1) / at_once);
}

#endif
