/* Few tiles of floats' sums: each shared out to several blocks, in slices of its lanes (reduce.h),
 * in the contract's order. The job is over in microseconds, so what counts is how few instructions
 * are fetched and how few barriers are met: a thread has four neighbouring lanes in registers, and
 * loops that are not worth unrolling are not. */
#ifndef RUNG_REDUCE_CUDA_SLICES_CUH
#define RUNG_REDUCE_CUDA_SLICES_CUH

#include "ops/reduce/cuda/fold.cuh"

/* Lanes of a quad, a tile's quads, and those that a slice folds to. */
enum {
  REDUCE_QUAD = 4,
  REDUCE_QUADS = RUNG_SUM_LANES / REDUCE_QUAD,
  REDUCE_SLICE_QUADS = (int)REDUCE_SLICE / REDUCE_QUAD
};

/* Four lanes, or elements. */
template <typename T>
struct __align__(sizeof(T) == 2 ? 8 : 16) reduce_quad {
  T at[REDUCE_QUAD];
};

template <typename T>
__device__ __forceinline__ void reduce_add(reduce_quad<T> &sum, const reduce_quad<T> &more) {
#pragma unroll
  for (int c = 0; c < REDUCE_QUAD; ++c) sum.at[c] += more.at[c];
}

template <typename T>
__device__ __forceinline__ reduce_quad<T> reduce_no_quad() {
  reduce_quad<T> none;
#pragma unroll
  for (int c = 0; c < REDUCE_QUAD; ++c) none.at[c] = (T)-0.0;
  return none;
}

template <typename S>
__device__ __forceinline__ reduce_quad<typename S::partial> reduce_quad_of(
    const reduce_quad<typename S::in> &elements, const rung_key_code &key) {
  reduce_quad<typename S::partial> numbers;
#pragma unroll
  for (int c = 0; c < REDUCE_QUAD; ++c) numbers.at[c] = S::load(elements.at[c], key);
  return numbers;
}

/* Four elements from tile[at] on, of which those below `count` are there. ALIGNED: a quad's load
 * may begin there. */
template <typename S, bool ALIGNED>
__device__ __forceinline__ reduce_quad<typename S::partial> reduce_quad_at(
    const typename S::in *tile, int at, int count, const rung_key_code &key) {
  typedef reduce_quad<typename S::in> quad;
  if (ALIGNED && at + REDUCE_QUAD <= count)
    return reduce_quad_of<S>(*(const quad *)(tile + at), key);
  reduce_quad<typename S::partial> some = reduce_no_quad<typename S::partial>();
#pragma unroll
  for (int c = 0; c < REDUCE_QUAD; ++c)
    if (at + c < count) some.at[c] = S::load(tile[at + c], key);
  return some;
}

/* The columns of four lanes of a tile of 1 ... RUNG_SUM_TILE elements. */
template <typename S, bool ALIGNED>
__device__ __forceinline__ reduce_quad<typename S::partial> reduce_columns(
    const typename S::in *tile, int count, int lane, const rung_key_code &key) {
  typedef reduce_quad<typename S::in> quad;
  typedef typename S::partial T;
  reduce_quad<T> sum = reduce_no_quad<T>();
  if (ALIGNED && count == RUNG_SUM_TILE) {
    quad rows[RUNG_SUM_ROWS];
#pragma unroll
    for (int r = 0; r < RUNG_SUM_ROWS; ++r)
      rows[r] = *(const quad *)(tile + lane + r * RUNG_SUM_LANES);
    sum = reduce_quad_of<S>(rows[0], key);
#pragma unroll
    for (int r = 1; r < RUNG_SUM_ROWS; ++r) reduce_add(sum, reduce_quad_of<S>(rows[r], key));
    return sum;
  }
  enum { LOADS = 4 }; /* under way at a time */
#pragma unroll 1
  for (int at = lane; at < count; at += LOADS * RUNG_SUM_LANES) {
    reduce_quad<T> rows[LOADS];
#pragma unroll
    for (int r = 0; r < LOADS; ++r)
      rows[r] = reduce_quad_at<S, ALIGNED>(tile, at + r * RUNG_SUM_LANES, count, key);
#pragma unroll
    for (int r = 0; r < LOADS; ++r) reduce_add(sum, rows[r]);
  }
  return sum;
}

/* Folds by halves between threads whose numbers are `from`, half of it ... `until` apart; powers of
 * two, less than a warp. */
template <typename T>
__device__ __forceinline__ void reduce_fold_quads(reduce_quad<T> &sum, int from, int until) {
#pragma unroll 1
  for (int s = from; s >= until; s /= 2) {
#pragma unroll
    for (int c = 0; c < REDUCE_QUAD; ++c) sum.at[c] += __shfl_down_sync(0xffffffffu, sum.at[c], s);
  }
}

template <typename T>
__device__ __forceinline__ T reduce_fold_quad(const reduce_quad<T> &sum) {
  return (sum.at[0] + sum.at[2]) + (sum.at[1] + sum.at[3]);
}

/* A line of 1 ... 8 * threads elements by a block: a thread has every eighth part of them, so that
 * the first halvings meet nobody. Threads are a warp, or so many that a lane's elements are a
 * thread's. All of them call; the result is thread 0's. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_eight(const typename S::in *line, int count,
                                                            int threads, const rung_key_code &key) {
  enum { LOADS = 8 };
  typename S::partial own[LOADS];
#pragma unroll
  for (int k = 0; k < LOADS; ++k) {
    const int at = k * threads + (int)threadIdx.x;
    own[k] = at < count ? S::load(line[at], key) : S::identity();
  }
#pragma unroll
  for (int s = LOADS / 2; s > 0; s /= 2) {
#pragma unroll
    for (int k = 0; k < s; ++k) own[k] = S::combine(own[k], own[k + s]);
  }
  return own[0];
}

template <typename S, int THREADS>
__device__ __forceinline__ typename S::partial reduce_short(const typename S::in *line, int count,
                                                            const rung_key_code &key,
                                                            typename S::partial *shared) {
  enum { WARPS = THREADS / 32 };
  static_assert(8 * THREADS <= RUNG_SUM_LANES || 4 * THREADS == RUNG_SUM_LANES,
                "halving by eighths is the contract's order");
  const int thread = (int)threadIdx.x;
  const typename S::partial own = reduce_eight<S>(line, count, THREADS, key);
  typename S::partial warps[WARPS];
  if (WARPS == 1) return reduce_fold_warp<S>(own);
  shared[thread] = own;
  __syncthreads();
  if (thread >= 32) return S::identity();
#pragma unroll
  for (int w = 0; w < WARPS; ++w) warps[w] = shared[w * 32 + thread];
#pragma unroll
  for (int s = WARPS / 2; s > 0; s /= 2) {
#pragma unroll
    for (int w = 0; w < s; ++w) warps[w] = S::combine(warps[w], warps[w + s]);
  }
  return reduce_fold_warp<S>(warps[0]);
}

/* In any order, which is sooner done by warps first; of any number of warps. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_short_unordered(const typename S::in *line,
                                                                      int count,
                                                                      const rung_key_code &key,
                                                                      typename S::partial *shared) {
  const typename S::partial own = reduce_eight<S>(line, count, (int)blockDim.x, key);
  return blockDim.x == 32 ? reduce_fold_warp<S>(own) : reduce_fold_block<S>(own, shared);
}

/* A slice's lanes, folded down to REDUCE_SLICE, which are those of threads 0 ... 3; where a tile is
 * one slice, to the tile's sum in at[0] of thread 0. All REDUCE_FEW_BLOCK threads call. */
template <typename S, bool ALIGNED>
__device__ reduce_quad<typename S::partial> reduce_slice(const typename S::in *tile, int count,
                                                         const rung_key_code &key, int slice,
                                                         int slices, bool whole,
                                                         reduce_quad<typename S::partial> *shared) {
  typedef typename S::partial T;
  const int thread = (int)threadIdx.x, piece = REDUCE_SLICE_QUADS;
  const int lane = ((thread / piece * slices + slice) * piece + thread % piece) * REDUCE_QUAD;
  const int quads = REDUCE_QUADS / slices;
  reduce_quad<T> sum = reduce_no_quad<T>();
  if (thread < quads) sum = reduce_columns<S, ALIGNED>(tile, count, lane, key);
  shared[thread] = sum;
#pragma unroll 1
  for (int s = quads / 2; s >= 32; s /= 2) {
    __syncthreads();
    if (thread >= s) continue;
    reduce_add(sum, shared[thread + s]);
    shared[thread] = sum;
  }
  if (thread < 32) {
    reduce_fold_quads(sum, 16, whole ? 1 : piece);
    if (whole) sum.at[0] = reduce_fold_quad(sum);
  }
  return sum;
}

/* What the lanes that slices left fold to: those of a tile, and then the tiles, at most
 * REDUCE_FEW_TILES. A thread has a quad. All threads of the block call; the sum is thread 0's. */
template <typename S>
__device__ typename S::partial reduce_end_slices(const typename S::partial *in, int tiles,
                                                 int slices, typename S::partial *shared) {
  typedef typename S::partial T;
  const int thread = (int)threadIdx.x, quads = slices * REDUCE_SLICE_QUADS;
  reduce_quad<T> sum = reduce_no_quad<T>();
  if (thread < tiles * quads) sum = ((const reduce_quad<T> *)in)[thread];
  reduce_fold_quads(sum, quads / 2, 1);
  __syncthreads(); /* `shared` is free */
  if (thread % quads == 0) shared[thread / quads] = reduce_fold_quad(sum);
  __syncthreads();
  if (thread >= 32) return S::identity();
  T own[REDUCE_FEW_TILES / 32];
#pragma unroll
  for (int k = 0; k < REDUCE_FEW_TILES / 32; ++k)
    own[k] = thread + 32 * k < tiles ? shared[thread + 32 * k] : S::identity();
#pragma unroll
  for (int s = REDUCE_FEW_TILES / 64; s > 0; s /= 2) {
#pragma unroll
    for (int k = 0; k < s; ++k) own[k] += own[k + s];
  }
  return reduce_fold_warp<S>(own[0]);
}

#endif
