/* One launch, however long the lines: a block that has written its tile's partial result counts
 * itself in, and the one that finds it was a line's last folds the line's partial results, level by
 * level, by the very rule of `vector`. Which block that is changes from run to run; what it
 * computes does not. The counters are cleared on the stream before the launch.
 *
 * A block size is taken as whole warps, at least one and at most sixteen. */
#include "ops/reduce/cuda/fold.cuh"

/* What is left to do by the last block: partial results of a level lie as (outer, parts, inner),
 * padded, one level after the other. */
template <typename P>
struct reduce_rest {
  unsigned *counters; /* one for every line, or strip of lines side by side */
  P *partials;
  void *out;
  int64_t out_outer;
};

/* Counts the block in, once its partial results are stored by the first `writers` threads. True in
 * all its threads where it was the last of `parts`. */
static __device__ bool reduce_is_last(unsigned *counter, int64_t parts, unsigned writers) {
  __shared__ bool last;
  if (threadIdx.x < writers) __threadfence(); /* the results before the count */
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(counter, 1u) == (unsigned)(parts - 1);
  __syncthreads();
  const bool is_last = last;
  __syncthreads();              /* `last` is free for the next part */
  if (is_last) __threadfence(); /* the count before the others' results */
  return is_last;
}

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
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32)
    reduce_single_pass_kernel(reduce_level<S> level, reduce_rest<typename S::partial> rest) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part<S> part = reduce_part_of(level, job, RUNG_SUM_TILE);
    const typename S::partial value =
        reduce_tile<S, V>(part.in, (int)part.count, level.turn, shared);
    if (threadIdx.x == 0 && level.parts == 1) reduce_put(level.end, value, level.out, part.at);
    if (threadIdx.x == 0 && level.parts > 1) ((typename S::partial *)level.out)[part.at] = value;
    __syncthreads();
    const int64_t line = job / level.parts;
    if (level.parts > 1 && reduce_is_last(&rest.counters[line], level.parts, 1))
      reduce_end_line<S>(level, rest, line, shared);
  }
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
    __syncthreads();
    if (level.parts > 1 && reduce_is_last(&rest.counters[line * sharing.strips + strip],
                                          level.parts, (unsigned)sharing.group))
      reduce_end_strip<S>(level, rest, sharing, line, column, shared);
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

struct reduce_single_pass_rung {
  template <typename S>
  static rung_status launch_lines(const rung_task *task, const reduce_level<S> &level,
                                  const reduce_rest<typename S::partial> &rest) {
    enum { WIDE = 16 / sizeof(typename S::in) };
    const unsigned grid = reduce_grid(level.outer * level.parts);
    const size_t shared = reduce_tile_shared<S>();
    if (reduce_wide(level))
      RUNG_LAUNCH(task, (reduce_single_pass_kernel<S, WIDE>), grid,
                  reduce_threads(task, (level.columns + WIDE - 1) / WIDE), shared, level, rest);
    else
      RUNG_LAUNCH(task, (reduce_single_pass_kernel<S, 1>), grid,
                  reduce_threads(task, level.columns), shared, level, rest);
    return RUNG_OK;
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
    const size_t bytes = reduce_counter_bytes(problem);
    level.parts = reduce_tiles(level.columns);
    level.end.last = true;
    rest.counters = (unsigned *)task->scratch;
    rest.partials = (P *)((char *)task->scratch + bytes);
    rest.out = task->arrays[REDUCE_OUT].data;
    rest.out_outer = reduce_layout_of(task).out_outer;
    level.out = level.parts == 1 ? rest.out : rest.partials;
    level.out_outer = level.parts == 1 ? rest.out_outer : reduce_pitch(level.parts) * level.inner;
    if (level.parts > 1) RUNG_FILL_ON_DEVICE(task, rest.counters, 0, bytes);
    return problem->form == REDUCE_ACROSS ? launch_across(task, level, rest)
                                          : launch_lines(task, level, rest);
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_single_pass)(const rung_task *task) {
  return reduce_by_source<reduce_single_pass_rung>(task);
}
