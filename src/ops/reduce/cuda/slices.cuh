/* A tile shared out to several blocks, in slices of its lanes (reduce.h): sums of floats, in the
 * contract's order. */
#ifndef RUNG_REDUCE_CUDA_SLICES_CUH
#define RUNG_REDUCE_CUDA_SLICES_CUH

#include "ops/reduce/cuda/fold.cuh"

/* Folds by halves `sets` arrays of `count` numbers, one after the other, until `left` of each are
 * left at its start; powers of two. All threads of the block call, after a barrier, and it ends
 * with one. */
template <typename T>
__device__ void reduce_halve(T *shared, int sets, int count, int left) {
  const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
  for (int now = count; now > left;) {
    const int ways = now / left >= 8 ? 8 : 2;
    now /= ways;
    for (int k = thread; k < sets * now; k += threads) {
      T *at = shared + k / now * count + k % now;
      *at = ways == 8 ? rowmeans_fold_apart<T, 8>(at, now) : *at + at[now];
    }
    __syncthreads();
  }
}

/* The first REDUCE_SLICE of `shared` become what the slice's lanes fold to. All threads of the
 * block call; it ends with a barrier. */
template <typename S, int V>
__device__ void reduce_slice(const typename S::in *tile, int count, int slice, int slices,
                             typename S::partial *shared) {
  typedef typename S::partial T;
  const int lanes = RUNG_SUM_LANES / slices;
  for (int at = (int)threadIdx.x * V; at < lanes; at += (int)blockDim.x * V) {
    const int lane = (at / REDUCE_SLICE * slices + slice) * REDUCE_SLICE + at % REDUCE_SLICE;
    T sums[V];
#pragma unroll
    for (int c = 0; c < V; ++c) sums[c] = S::none();
    rowmeans_add_rows<T, V, RUNG_SUM_ROWS>(sums, tile, lane, count);
#pragma unroll
    for (int c = 0; c < V; ++c) shared[at + c] = sums[c];
  }
  __syncthreads();
  reduce_halve(shared, 1, lanes, REDUCE_SLICE);
}

/* What `tiles` times `results` lanes fold to: first those of a tile, then the tiles, at most as
 * many as a tile has lanes. All threads of the block call; the sum is thread 0's. */
template <typename S>
__device__ typename S::partial reduce_end_slices(const typename S::partial *in, int tiles,
                                                 int results, typename S::partial *shared) {
  typedef typename S::partial T;
  enum { V = 16 / sizeof(T), LOADS = 4 };
  typedef rowmeans_chunk<T, V> chunk;
  const int thread = (int)threadIdx.x, count = tiles * results, step = (int)blockDim.x * V;
  for (int first = thread * V; first < count; first += LOADS * step) {
    chunk chunks[LOADS];
#pragma unroll
    for (int r = 0; r < LOADS; ++r) {
      const int at = first + r * step;
      chunks[r] = *(const chunk *)(in + (at < count ? at : first));
    }
#pragma unroll
    for (int r = 0; r < LOADS; ++r)
      if (first + r * step < count) *(chunk *)(shared + first + r * step) = chunks[r];
  }
  __syncthreads();
  reduce_halve(shared, tiles, results, 1);
  int s = RUNG_SUM_LANES / 2;
  for (; s >= 32; s /= 2) {
    if (s >= tiles) continue;
    for (int t = thread; t < s; t += (int)blockDim.x)
      if (t + s < tiles) shared[t * results] += shared[(t + s) * results];
    __syncthreads();
  }
  if (thread >= 32) return S::none();
  return reduce_fold_warp<S>(thread < tiles ? shared[thread * results] : S::none());
}

/* Shared memory of a block that takes a slice, and may be the line's last. */
template <typename S>
static size_t reduce_slices_shared(int64_t tiles, int slices) {
  const size_t slice = RUNG_SUM_LANES / (size_t)slices;
  const size_t line = (size_t)tiles * (size_t)slices * REDUCE_SLICE;
  return (slice > line ? slice : line) * sizeof(typename S::partial);
}

#endif
