/* The canonical sum of floats (core/sum.h) on the GPU, by one block or by one warp. */
#ifndef RUNG_REDUCE_CUDA_SUM_CUH
#define RUNG_REDUCE_CUDA_SUM_CUH

#include "core/sum.h"
#include "ops/reduce/cuda/operators.cuh"

/* V elements of a lane's neighbours in one load. V * sizeof(T) is at most 16 and a power of two,
 * and what is loaded so is aligned to it. */
template <typename T, int V>
struct __align__(sizeof(T) * V) reduce_chunk {
  T at[V];
};

/* A tile from the last place on where V elements may be loaded at once: its first is `before`
 * elements from there, and it ends at `end`. Its lanes are then numbered from there, too, modulo
 * RUNG_SUM_LANES: each has the same elements in the same order, and folding by halves combines the
 * same pairs of them. ALIGNED: it begins there. */
template <typename T, int V, bool ALIGNED>
struct reduce_run {
  const T *at;
  int before, end;
};
template <typename T, int V>
struct reduce_run<T, V, true> {
  const T *at;
  enum { before = 0 };
  int end;
};

template <typename T, int V, bool ALIGNED>
__device__ __forceinline__ reduce_run<T, V, ALIGNED> reduce_run_of(const T *tile, int count) {
  if constexpr (ALIGNED) {
    return {tile, count};
  } else {
    const int before = (int)((uintptr_t)tile / sizeof(T) % V);
    return {tile - before, before, count + before};
  }
}

/* Where the first chunk is that may be whole. */
template <typename Run>
__device__ __forceinline__ int reduce_first_chunk(const Run &run, int chunk) {
  return run.before > 0 ? chunk : 0;
}

/* The numbers of the run's chunk at `first` where all of it is there, else -0.0: elements missing.
 * Loads without a branch, of the first chunk if need be, for branches would part loads that can be
 * under way together. The run has a whole chunk. */
template <typename S, int V, typename Run>
__device__ __forceinline__ void reduce_load(typename S::partial (&numbers)[V], const Run &run,
                                            int first, const rung_key_code &key) {
  typedef reduce_chunk<typename S::in, V> chunk;
  const bool whole = first >= run.before && first + V <= run.end;
  const chunk loaded = *(const chunk *)(run.at + (whole ? first : reduce_first_chunk(run, V)));
#pragma unroll
  for (int c = 0; c < V; ++c) numbers[c] = whole ? S::load(loaded.at[c], key) : S::identity();
}

/* Adds what there is of the chunk at `first`. */
template <typename S, int V, typename Run>
__device__ __forceinline__ void reduce_add_some(typename S::partial (&sums)[V], const Run &run,
                                                int first, const rung_key_code &key) {
#pragma unroll
  for (int c = 0; c < V; ++c)
    if (first + c >= run.before && first + c < run.end) sums[c] += S::load(run.at[first + c], key);
}

/* Adds the elements of a first chunk that is not whole, which reduce_load() leaves out, if it
 * belongs to the lanes at `lane`. They are the first of their lanes, and must come first. */
template <typename S, int V, typename Run>
__device__ __forceinline__ void reduce_add_head(typename S::partial (&sums)[V], const Run &run,
                                                int lane, const rung_key_code &key) {
  if (run.before > 0 && lane == 0) reduce_add_some<S, V>(sums, run, 0, key);
}

/* Those of a last chunk that is not whole likewise: the last of their lanes. */
template <typename S, int V, typename Run>
__device__ __forceinline__ void reduce_add_rest(typename S::partial (&sums)[V], const Run &run,
                                                int lane, const rung_key_code &key) {
  const int rest = run.end % V, first = run.end - rest;
  if (rest == 0 || first < run.before || first % RUNG_SUM_LANES != lane) return;
#pragma unroll
  for (int c = 0; c < V; ++c)
    if (c < rest) sums[c] += S::load(run.at[first + c], key);
}

/* Adds chunks of V lanes of the rows that are all there, LOADS at a time: only the very first chunk
 * may not be whole, which then was the head. Returns where the rows begin that are left. */
template <typename S, int V, int LOADS, typename Run>
__device__ __forceinline__ int reduce_add_whole(typename S::partial (&sums)[V], const Run &run,
                                                int lane, const rung_key_code &key) {
  typedef reduce_chunk<typename S::in, V> chunk;
  const typename S::in *at = run.at + lane;
  const bool headed = lane < run.before;
  int row = 0;
#pragma unroll 1
  for (; row + LOADS * RUNG_SUM_LANES <= run.end; row += LOADS * RUNG_SUM_LANES) {
    chunk chunks[LOADS];
    const bool skips = row == 0 && headed;
    chunks[0] = *(const chunk *)(skips ? at + V : at);
#pragma unroll
    for (int r = 1; r < LOADS; ++r) chunks[r] = *(const chunk *)(at + r * RUNG_SUM_LANES);
#pragma unroll
    for (int r = 0; r < LOADS; ++r) {
#pragma unroll
      for (int c = 0; c < V; ++c) {
        const typename S::partial x = S::load(chunks[r].at[c], key);
        sums[c] += r == 0 && skips ? S::identity() : x;
      }
    }
    at += LOADS * RUNG_SUM_LANES;
  }
  return row;
}

/* Adds the run's elements of V neighbouring lanes, from `lane` on, to their sums: rising rows,
 * LOADS of them under way at a time. Of runs that begin anywhere it takes as much to ask what is
 * there as to add it, so that it is asked of few rows. */
template <typename S, int V, int LOADS, bool ALIGNED>
__device__ __forceinline__ void reduce_add_rows(typename S::partial (&sums)[V],
                                                const reduce_run<typename S::in, V, ALIGNED> &run,
                                                int lane, const rung_key_code &key) {
  enum { ASKED = ALIGNED ? LOADS : LOADS / 2 };
  reduce_add_head<S, V>(sums, run, lane, key);
  const bool some = reduce_first_chunk(run, V) + V <= run.end;
  int row = 0;
  if constexpr (!ALIGNED) row = reduce_add_whole<S, V, LOADS>(sums, run, lane, key);
  for (; some && row + V <= run.end; row += ASKED * RUNG_SUM_LANES) {
    typename S::partial chunks[ASKED][V];
#pragma unroll
    for (int r = 0; r < ASKED; ++r)
      reduce_load<S, V>(chunks[r], run, row + r * RUNG_SUM_LANES + lane, key);
#pragma unroll
    for (int r = 0; r < ASKED; ++r) {
#pragma unroll
      for (int c = 0; c < V; ++c) sums[c] += chunks[r][c];
    }
  }
  reduce_add_rest<S, V>(sums, run, lane, key);
}

/* Folds by halves the N numbers from lanes[0] on that lie `apart`; all powers of two. */
template <typename T, int N>
__device__ __forceinline__ T reduce_fold_apart(const T *lanes, int apart) {
  T part[N];
#pragma unroll
  for (int j = 0; j < N; ++j) part[j] = lanes[j * apart];
#pragma unroll
  for (int s = N / 2; s > 0; s /= 2) {
#pragma unroll
    for (int j = 0; j < N / 2; ++j)
      if (j < s) part[j] += part[j + s];
  }
  return part[0];
}

/* The whole block folds the lanes of a tile, each of which a thread has stored. blockDim.x is any
 * multiple of 32; the result is thread 0's, and `lanes` is free once the block has passed another
 * barrier. */
template <typename T>
__device__ __forceinline__ T reduce_fold_lanes(T *lanes) {
  const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
  __syncthreads();
  /* Thread l folds column l of 8 x 256 lanes, reading and writing nothing else. */
  for (int l = thread; l < RUNG_SUM_LANES / 8; l += threads)
    lanes[l] = reduce_fold_apart<T, 8>(lanes + l, RUNG_SUM_LANES / 8);
  __syncthreads();
  if (thread >= 32) return (T)0;
  T sum = reduce_fold_apart<T, RUNG_SUM_LANES / 8 / 32>(lanes + thread, 32);
#pragma unroll
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffffu, sum, s);
  return sum;
}

/* The whole block sums one tile of 0 ... RUNG_SUM_TILE elements. blockDim.x is any multiple of 32;
 * `lanes` is RUNG_SUM_LANES elements of shared memory, free once the block has passed another
 * barrier. All threads call; the sum is thread 0's. */
template <typename S, int V, bool ALIGNED>
__device__ typename S::partial reduce_tile_by_block(const typename S::in *tile, int count,
                                                    const rung_key_code &key,
                                                    typename S::partial *lanes) {
  typedef typename S::partial T;
  enum { LOADS = RUNG_SUM_ROWS / 2 }; /* under way at a time */
  const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
  const auto run = reduce_run_of<typename S::in, V, ALIGNED>(tile, count);
  for (int lane = thread * V; lane < RUNG_SUM_LANES; lane += threads * V) {
    T sums[V];
#pragma unroll
    for (int c = 0; c < V; ++c) sums[c] = (T)-0.0;
    reduce_add_rows<S, V, LOADS>(sums, run, lane, key);
#pragma unroll
    for (int c = 0; c < V; ++c) lanes[lane + c] = sums[c];
  }
  return reduce_fold_lanes(lanes);
}

/* Lent to other operations: the whole block sums one row of 1 ... RUNG_SUM_TILE columns, which it
 * may just have written itself before a __syncthreads(). blockDim.x is any multiple of 32 up to
 * 1024; `shared` is RUNG_SUM_LANES elements of shared memory that no thread uses any more, and free
 * again after the block's next barrier. All threads call; the sum is thread 0's. Its mean is
 * (T)((double)sum / (double)columns). */
template <typename T>
__device__ __forceinline__ T reduce_block_sum(const T *row, int64_t columns, T *shared) {
  return reduce_tile_by_block<reduce_add_float<T>, 1, true>(row, (int)columns, rung_key_code(),
                                                            shared);
}

/* One warp sums one tile of 1 ... RUNG_SUM_TILE elements: every thread keeps the sums of
 * RUNG_SUM_LANES / 32 lanes in registers. Chunk k of thread t holds the lanes from
 * (32 * k + t) * V on, so that loads are coalesced; folding by halves is then between chunks of a
 * thread, between threads, and within a chunk, in this order. LOADS chunks are under way at a
 * time. The sum is thread 0's of the warp. */
template <typename S, int V, bool ALIGNED, int LOADS>
__device__ typename S::partial reduce_tile_by_warp(const typename S::in *tile, int count,
                                                   const rung_key_code &key) {
  typedef typename S::partial T;
  enum { CHUNKS = RUNG_SUM_LANES / 32 / V };
  const int lane = (int)(threadIdx.x % 32) * V;
  T sums[CHUNKS][V];
#pragma unroll
  for (int k = 0; k < CHUNKS; ++k)
#pragma unroll
    for (int c = 0; c < V; ++c) sums[k][c] = (T)-0.0;

  const auto run = reduce_run_of<typename S::in, V, ALIGNED>(tile, count);
  reduce_add_head<S, V>(sums[0], run, lane, key);
  const bool some = reduce_first_chunk(run, V) + V <= run.end;
  for (int row = 0; some && row + V <= run.end; row += RUNG_SUM_LANES) {
#pragma unroll
    for (int first = 0; first < CHUNKS; first += LOADS) {
      T chunks[LOADS][V];
#pragma unroll
      for (int k = 0; k < LOADS; ++k)
        reduce_load<S, V>(chunks[k], run, row + (first + k) * 32 * V + lane, key);
#pragma unroll
      for (int k = 0; k < LOADS; ++k)
#pragma unroll
        for (int c = 0; c < V; ++c) sums[first + k][c] += chunks[k][c];
    }
  }
  if (run.end % V != 0) {
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) reduce_add_rest<S, V>(sums[k], run, k * 32 * V + lane, key);
  }

  /* The guards stand inside loops of constant length, without which the compiler does not unroll
   * them and puts the sums in local memory. */
#pragma unroll
  for (int s = CHUNKS / 2; s > 0; s /= 2) {
#pragma unroll
    for (int k = 0; k < CHUNKS / 2; ++k) {
#pragma unroll
      for (int c = 0; c < V; ++c)
        if (k < s) sums[k][c] += sums[k + s][c];
    }
  }
#pragma unroll
  for (int s = 16; s > 0; s /= 2) {
#pragma unroll
    for (int c = 0; c < V; ++c) sums[0][c] += __shfl_down_sync(0xffffffffu, sums[0][c], s);
  }
#pragma unroll
  for (int s = V / 2; s > 0; s /= 2) {
#pragma unroll
    for (int c = 0; c < V / 2; ++c)
      if (c < s) sums[0][c] += sums[0][c + s];
  }
  return sums[0][0];
}

#endif
