/* One launch, however long the lines: a block that has written its tile's partial result counts
 * itself in, and the one that finds it was a line's last folds the line's partial results, level by
 * level, by the very rule of `vector`. Which block that is changes from run to run; what it
 * computes does not. The counters are the context's zeros, and the last block leaves them so: there
 * is nothing to clear.
 *
 * Tiles that are too few to keep the device busy are shared out to several blocks each, in slices
 * (reduce.h).
 *
 * A block size is taken as whole warps, at least one and at most sixteen. Few tiles of floats' sums
 * are taken by blocks of 512 threads, where the caller does not say otherwise. */
#include "ops/reduce/cuda/last.cuh"
#include "ops/reduce/cuda/slices.cuh"

/* Blocks that a multiprocessor is to have room for: left alone, ptxas keeps to 32 registers, and
 * then a thread's loads wait for each other; with room for two only, too few threads load. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 /* 1024 threads a multiprocessor */
enum { REDUCE_RESIDENT = 2 };
#else
enum { REDUCE_RESIDENT = 3 };
#endif

/* What is left to do by the last block: partial results of a level lie as (outer, parts, inner),
 * padded, one level after the other. */
template <typename P>
struct reduce_rest {
  unsigned *counters; /* one for every line, or group of lines side by side */
  P *partials;
  void *out;
  int64_t out_outer;
};

/* ---- one line ----------------------------------------------------------------------------------
 */

template <typename S>
static __device__ void reduce_end_line(const reduce_level<S> &level,
                                       const reduce_rest<typename S::partial> &rest, int64_t line,
                                       typename S::partial *shared) {
  typedef typename S::partial P;
  enum { WIDE = 16 / sizeof(P) };
  const P *in = rest.partials + line * reduce_pitch(level.parts);
  P *level_out = rest.partials + level.outer * reduce_pitch(level.parts);
  for (int64_t n = level.parts; n > 1;) {
    const int64_t tiles = reduce_tiles(n);
    P *out = level_out + line * reduce_pitch(tiles);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t left = n - tile * RUNG_SUM_TILE;
      const P value = reduce_tile<typename S::next, WIDE>(
          in + tile * RUNG_SUM_TILE, left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE, 0, shared);
      if (threadIdx.x == 0 && tiles > 1) out[tile] = value;
      if (threadIdx.x == 0 && tiles == 1)
        reduce_put(level.end, value, rest.out, line * rest.out_outer);
      __syncthreads();
    }
    in = out;
    level_out += level.outer * reduce_pitch(tiles);
    n = tiles;
  }
}

template <typename S, int V>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32, REDUCE_RESIDENT)
    reduce_single_pass_kernel(reduce_level<S> level, int size,
                              reduce_rest<typename S::partial> rest) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part<S> part = reduce_part_of(level, job, size);
    const typename S::partial value =
        reduce_tile<S, V>(part.in, (int)part.count, level.turn, shared);
    if (threadIdx.x == 0 && level.parts == 1) reduce_put(level.end, value, level.out, part.at);
    if (threadIdx.x == 0 && level.parts > 1) ((typename S::partial *)level.out)[part.at] = value;
    const int64_t line = reduce_line_of(level, job);
    if (level.parts == 1)
      __syncthreads();
    else if (reduce_is_last(&rest.counters[line], level.parts))
      reduce_end_line<S>(level, rest, line, shared);
  }
}

/* ---- one line of few tiles, in slices: sums of floats ------------------------------------------
 */

/* A slice's results lie as (outer, parts, slices, REDUCE_SLICE). */
template <typename S, bool ALIGNED>
static __global__ void __launch_bounds__(REDUCE_FEW_BLOCK, 1)
    reduce_few_kernel(reduce_level<S> level, int slices, reduce_rest<typename S::partial> rest) {
  typedef typename S::partial T;
  RUNG_DYNAMIC_SHARED(reduce_quad<T>, shared);
  __shared__ bool last;
  const int tiles = (int)level.parts, job = (int)blockIdx.x / slices, line = job / tiles;
  const int slice = (int)blockIdx.x - job * slices;
  const reduce_part<S> part = reduce_part_of(level, job, RUNG_SUM_TILE);
  const reduce_quad<T> sum =
      reduce_slice<T, ALIGNED>(part.in, (int)part.count, slice, slices, tiles == 1, shared);
  T value = sum.at[0];
  if (tiles > 1) {
    const unsigned most = (unsigned)(tiles * slices - 1);
    reduce_quad<T> *out = (reduce_quad<T> *)rest.partials + (int)blockIdx.x * REDUCE_SLICE_QUADS;
    if (threadIdx.x < REDUCE_SLICE_QUADS) out[threadIdx.x] = sum;
    if (threadIdx.x < 32) __syncwarp();
    if (threadIdx.x == 0) last = rung_count_in(&rest.counters[line], most) == most;
    __syncthreads();
    if (!last) return;
    value = reduce_end_slices<S>(rest.partials + line * tiles * slices * REDUCE_SLICE, tiles,
                                 slices, (T *)shared);
  }
  if (threadIdx.x == 0) reduce_put(level.end, value, rest.out, line * rest.out_outer);
}

/* ---- few short lines ----------------------------------------------------------------------------
 */

/* What such a kernel is told, and no more: the first thing it does is wait for that. */
template <typename S>
struct reduce_short_lines {
  const typename S::in *in;
  void *out;
  int64_t in_outer, out_outer;
  reduce_end end;
};

template <typename S, int THREADS>
static __global__ void __launch_bounds__(THREADS) reduce_short_kernel(reduce_short_lines<S> lines) {
  __shared__ typename S::partial shared[THREADS];
  const int64_t line = blockIdx.x;
  const typename S::partial value = reduce_short<S, THREADS>(
      lines.in + line * lines.in_outer, (int)lines.end.columns, lines.end.turn, shared);
  if (threadIdx.x == 0) reduce_finish(lines.end, value, lines.out, line * lines.out_outer);
}

/* ---- lines side by side ------------------------------------------------------------------------
 */

template <typename S>
static __device__ void reduce_end_strip(const reduce_level<S> &level,
                                        const reduce_rest<typename S::partial> &rest,
                                        const reduce_sharing &sharing, int64_t line, int64_t column,
                                        typename S::partial *shared) {
  typedef typename S::partial P;
  const bool live = column < level.inner;
  const P *in = rest.partials + line * reduce_pitch(level.parts) * level.inner;
  P *level_out = rest.partials + level.outer * reduce_pitch(level.parts) * level.inner;
  for (int64_t n = level.parts; n > 1;) {
    const int64_t tiles = reduce_tiles(n);
    P *out = level_out + line * reduce_pitch(tiles) * level.inner;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t first = tile * RUNG_SUM_TILE, left = n - first;
      const P value = reduce_tile_across<typename S::next>(
          in + first * level.inner + column, level.inner,
          left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE, live, sharing, 0, shared);
      const bool writes = live && threadIdx.x < sharing.group;
      if (writes && tiles > 1) out[tile * level.inner + column] = value;
      if (writes && tiles == 1)
        reduce_put(level.end, value, rest.out, line * rest.out_outer + column);
      __syncthreads();
    }
    in = out;
    level_out += level.outer * reduce_pitch(tiles) * level.inner;
    n = tiles;
  }
}

template <typename S>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32)
    reduce_single_pass_across_kernel(reduce_level<S> level, reduce_sharing sharing,
                                     reduce_rest<typename S::partial> rest) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const int64_t jobs = level.outer * level.parts * sharing.strips;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const int64_t strip = job % sharing.strips, above = job / sharing.strips;
    const int64_t tile = above % level.parts, line = above / level.parts;
    const int64_t column = strip * sharing.group + threadIdx.x % sharing.group;
    const int64_t first = tile * RUNG_SUM_TILE, left = level.columns - first;
    const typename S::partial value =
        reduce_tile_across<S>(level.in + line * level.in_outer + first * level.in_column + column,
                              level.in_column, left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE,
                              column < level.inner, sharing, level.turn, shared);
    const bool writes = threadIdx.x < sharing.group && column < level.inner;
    const int64_t at = line * level.out_outer + tile * level.inner + column;
    if (writes && level.parts == 1) reduce_put(level.end, value, level.out, at);
    if (writes && level.parts > 1) ((typename S::partial *)level.out)[at] = value;
    if (level.parts == 1)
      __syncthreads();
    else if (reduce_is_last(&rest.counters[line * sharing.strips + strip], level.parts))
      reduce_end_strip<S>(level, rest, sharing, line, column, shared);
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

struct reduce_single_pass_rung {
  template <typename S, int V>
  static rung_status launch_tiles(const rung_task *task, const reduce_level<S> &level, int size,
                                  const reduce_rest<typename S::partial> &rest) {
    const int64_t elements = level.columns < size ? level.columns : size;
    RUNG_LAUNCH(task, (reduce_single_pass_kernel<S, V>), reduce_grid(level.outer * level.parts),
                reduce_threads(task, (elements + V - 1) / V), reduce_tile_shared<S>(), level, size,
                rest);
    return RUNG_OK;
  }

  template <typename S, int V>
  static rung_status launch_few(const rung_task *task, const reduce_level<S> &level, int slices,
                                const reduce_rest<typename S::partial> &rest) {
    RUNG_LAUNCH(task, (reduce_few_kernel<S, V != 1>),
                (unsigned)(level.outer * level.parts * slices), REDUCE_FEW_BLOCK,
                REDUCE_FEW_BLOCK * sizeof(reduce_quad<typename S::partial>), level, slices, rest);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status launch_short(const rung_task *task, const reduce_level<S> &level,
                                  const reduce_rest<typename S::partial> &rest) {
    const reduce_short_lines<S> lines = {level.in, rest.out, level.in_outer, rest.out_outer,
                                         level.end};
    if (level.columns <= REDUCE_SHORT * 32 / REDUCE_FEW_BLOCK)
      RUNG_LAUNCH(task, (reduce_short_kernel<S, 32>), (unsigned)level.outer, 32, 0, lines);
    else
      RUNG_LAUNCH(task, (reduce_short_kernel<S, REDUCE_FEW_BLOCK>), (unsigned)level.outer,
                  REDUCE_FEW_BLOCK, 0, lines);
    return RUNG_OK;
  }

  template <typename S, int V>
  static rung_status launch_lines(const rung_task *task, const reduce_level<S> &level, int slices,
                                  int size, const reduce_rest<typename S::partial> &rest) {
    if (reduce_is_short(task)) return launch_short(task, level, rest);
    if constexpr (S::ordered) {
      if (reduce_is_few(task)) return launch_few<S, V>(task, level, slices, rest);
    }
    return launch_tiles<S, V>(task, level, size, rest);
  }

  template <typename S>
  static rung_status launch_across(const rung_task *task, const reduce_level<S> &level,
                                   const reduce_rest<typename S::partial> &rest) {
    const int threads = reduce_threads(task, level.columns * reduce_group(level.inner));
    const reduce_sharing sharing = reduce_sharing_of(level.inner, threads);
    const unsigned grid = reduce_grid(level.outer * level.parts * sharing.strips);
    RUNG_LAUNCH(task, (reduce_single_pass_across_kernel<S>), grid, threads,
                threads * sizeof(typename S::partial), level, sharing, rest);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status run(const rung_task *task) {
    typedef typename S::partial P;
    const reduce_problem *problem = (const reduce_problem *)task->problem;
    reduce_level<S> level = reduce_level_of<S>(task);
    reduce_rest<P> rest;
    const int slices = reduce_slices_of(task);
    const int size = S::ordered ? RUNG_SUM_TILE : RUNG_SUM_TILE / slices;
    level.parts = level.columns > size ? (level.columns + size - 1) / size : 1;
    level.end.last = true;
    rest.counters = (unsigned *)task->zeros;
    rest.partials = (P *)task->scratch;
    rest.out = task->arrays[REDUCE_OUT].data;
    rest.out_outer = reduce_layout_of(task).out_outer;
    level.out = level.parts == 1 ? rest.out : rest.partials;
    level.out_outer = level.parts == 1 ? rest.out_outer : reduce_pitch(level.parts) * level.inner;
    if (problem->form == REDUCE_ACROSS) return launch_across(task, level, rest);
    return reduce_wide(level)
               ? launch_lines<S, 16 / sizeof(typename S::in)>(task, level, slices, size, rest)
               : launch_lines<S, 1>(task, level, slices, size, rest);
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_single_pass)(const rung_task *task) {
  return reduce_by_source<reduce_single_pass_rung>(task);
}
