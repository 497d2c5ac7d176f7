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
#include "ops/reduce/cuda/rows.cuh"
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
struct reduce_rest {
  unsigned *counters; /* one for every line, or group of lines side by side */
  void *partials, *out;
  int64_t out_outer;
};

/* ---- one line ----------------------------------------------------------------------------------
 */

template <typename S>
static __device__ void reduce_end_line(const reduce_level &level, const reduce_rest &rest,
                                       int64_t line, typename S::partial *shared) {
  typedef typename S::partial P;
  const P *in = (const P *)rest.partials + line * reduce_pitch(level.parts);
  P *level_out = (P *)rest.partials + level.outer * reduce_pitch(level.parts);
  for (int64_t n = level.parts; n > 1;) {
    const int64_t tiles = reduce_tiles(n);
    P *out = level_out + line * reduce_pitch(tiles);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t left = n - tile * RUNG_SUM_TILE;
      const P value = reduce_tile<typename S::next, true>(
          in + tile * RUNG_SUM_TILE, left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE,
          rung_key_code(), shared);
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

/* In any order all of it is one level. */
template <typename S>
static __device__ void reduce_end_unordered(const reduce_level &level, const reduce_rest &rest,
                                            int64_t line, typename S::partial *shared) {
  typedef typename S::partial P;
  const P *in = (const P *)rest.partials + line * reduce_pitch(level.parts);
  P value = S::identity();
#pragma unroll 4
  for (int64_t k = threadIdx.x; k < level.parts; k += blockDim.x) value = S::combine(value, in[k]);
  value = reduce_fold_block<S>(value, shared);
  if (threadIdx.x == 0) reduce_put(level.end, value, rest.out, line * rest.out_outer);
  __syncthreads();
}

template <typename S, bool ALIGNED>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32, REDUCE_RESIDENT)
    reduce_single_pass(reduce_level level, int size, reduce_rest rest) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, size);
    const typename S::in *tile = (const typename S::in *)level.in + part.first;
    const typename S::partial value =
        reduce_tile<S, ALIGNED>(tile, (int)part.count, level.key, shared);
    if (threadIdx.x == 0 && level.parts == 1) reduce_put(level.end, value, level.out, part.at);
    if (threadIdx.x == 0 && level.parts > 1) ((typename S::partial *)level.out)[part.at] = value;
    const int64_t line = reduce_line_of(level, job);
    if (level.parts == 1) {
      __syncthreads();
    } else if (rung_is_last(&rest.counters[line], level.parts)) {
      if constexpr (S::ordered)
        reduce_end_line<S>(level, rest, line, shared);
      else
        reduce_end_unordered<S>(level, rest, line, shared);
    }
  }
}

/* ---- one line of rows that lie apart -----------------------------------------------------------
 */

template <typename S>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32, REDUCE_RESIDENT)
    reduce_single_pass_rows(reduce_level level, int size, reduce_gapped rows, reduce_rest rest) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, size);
    const typename S::partial value = reduce_tile_gapped<S>(
        (const typename S::in *)level.in, part.first, (int)part.count, rows, level.key, shared);
    if (threadIdx.x == 0) ((typename S::partial *)level.out)[part.at] = value;
    if (!rung_is_last(&rest.counters[0], level.parts)) continue;
    if constexpr (S::ordered)
      reduce_end_line<S>(level, rest, 0, shared);
    else
      reduce_end_unordered<S>(level, rest, 0, shared);
  }
}

/* ---- one line of few tiles, in slices: sums of floats ------------------------------------------
 */

/* A slice's results lie as (outer, parts, slices, REDUCE_SLICE). */
template <typename S, bool ALIGNED>
static __global__ void __launch_bounds__(REDUCE_FEW_BLOCK, 1)
    reduce_few(reduce_level level, int slices, reduce_rest rest) {
  typedef typename S::partial T;
  RUNG_DYNAMIC_SHARED(reduce_quad<T>, shared);
  __shared__ bool last;
  const int tiles = (int)level.parts, job = (int)blockIdx.x / slices, line = job / tiles;
  const int slice = (int)blockIdx.x - job * slices;
  const reduce_part part = reduce_part_of(level, job, RUNG_SUM_TILE);
  const typename S::in *tile = (const typename S::in *)level.in + part.first;
  const reduce_quad<T> sum =
      reduce_slice<S, ALIGNED>(tile, (int)part.count, level.key, slice, slices, tiles == 1, shared);
  T value = sum.at[0];
  if (tiles > 1) {
    const unsigned most = (unsigned)(tiles * slices - 1);
    reduce_quad<T> *out = (reduce_quad<T> *)rest.partials + (int)blockIdx.x * REDUCE_SLICE_QUADS;
    if (threadIdx.x < REDUCE_SLICE_QUADS) out[threadIdx.x] = sum;
    if (threadIdx.x < 32) __syncwarp();
    if (threadIdx.x == 0) last = rung_count_in(&rest.counters[line], most) == most;
    __syncthreads();
    if (!last) return;
    value = reduce_end_slices<S>((const T *)rest.partials + line * tiles * slices * REDUCE_SLICE,
                                 tiles, slices, (T *)shared);
  }
  if (threadIdx.x == 0) reduce_put(level.end, value, rest.out, line * rest.out_outer);
}

/* ---- few short lines ----------------------------------------------------------------------------
 */

/* What such a kernel is told, and no more: the first thing it does is wait for that. */
struct reduce_short_lines {
  const void *in;
  void *out;
  int64_t in_outer, out_outer;
  reduce_end end;
};

/* THREADS are a matter of ordered sums alone. */
template <typename S, int THREADS>
static __global__ void __launch_bounds__(S::ordered ? THREADS : REDUCE_FEW_BLOCK)
    reduce_short_line(reduce_short_lines lines) {
  const int64_t line = blockIdx.x;
  const typename S::in *in = (const typename S::in *)lines.in + line * lines.in_outer;
  const int columns = (int)lines.end.columns;
  typename S::partial value;
  if constexpr (S::ordered) {
    __shared__ typename S::partial shared[THREADS];
    value = reduce_short<S, THREADS>(in, columns, lines.end.key, shared);
  } else {
    __shared__ typename S::partial shared[32];
    value = reduce_short_unordered<S>(in, columns, lines.end.key, shared);
  }
  if (threadIdx.x == 0) reduce_finish(lines.end, value, lines.out, line * lines.out_outer);
}

/* ---- lines side by side ------------------------------------------------------------------------
 */

template <typename S>
static __device__ void reduce_end_strip(const reduce_level &level, const reduce_rest &rest,
                                        const reduce_sharing &sharing, int64_t line, int64_t column,
                                        typename S::partial *shared) {
  typedef typename S::partial P;
  const bool live = column < level.inner;
  const P *in = (const P *)rest.partials + line * reduce_pitch(level.parts) * level.inner;
  P *level_out = (P *)rest.partials + level.outer * reduce_pitch(level.parts) * level.inner;
  for (int64_t n = level.parts; n > 1;) {
    const int64_t tiles = reduce_tiles(n);
    P *out = level_out + line * reduce_pitch(tiles) * level.inner;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t first = tile * RUNG_SUM_TILE, left = n - first;
      const P value = reduce_tile_across<typename S::next>(
          in + first * level.inner + column, level.inner,
          left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE, live, sharing, rung_key_code(), shared);
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
    reduce_single_pass_across(reduce_level level, reduce_sharing sharing, reduce_rest rest) {
  typedef typename S::partial P;
  RUNG_DYNAMIC_SHARED(P, shared);
  const int64_t jobs = level.outer * level.parts * sharing.strips;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const int64_t strip = job % sharing.strips, above = job / sharing.strips;
    const int64_t tile = above % level.parts, line = above / level.parts;
    const int64_t column = strip * sharing.group + threadIdx.x % sharing.group;
    const int64_t first = tile * RUNG_SUM_TILE, left = level.columns - first;
    const typename S::in *tile_in =
        (const typename S::in *)level.in + line * level.in_outer + first * level.in_column + column;
    const P value = reduce_tile_across<S>(tile_in, level.in_column,
                                          left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE,
                                          column < level.inner, sharing, level.key, shared);
    const bool writes = threadIdx.x < sharing.group && column < level.inner;
    const int64_t at = line * level.out_outer + tile * level.inner + column;
    if (writes && level.parts == 1) reduce_put(level.end, value, level.out, at);
    if (writes && level.parts > 1) ((P *)level.out)[at] = value;
    if (level.parts == 1)
      __syncthreads();
    else if (rung_is_last(&rest.counters[line * sharing.strips + strip], level.parts))
      reduce_end_strip<S>(level, rest, sharing, line, column, shared);
  }
}

/* ---- launching ---------------------------------------------------------------------------------
 */

typedef void (*tiles_kernel)(reduce_level level, int size, reduce_rest rest);
static tiles_kernel pick_tiles(reduce_operator op, bool aligned) {
#define PICK(S) (aligned ? reduce_single_pass<S, true> : reduce_single_pass<S, !S::ordered>)
  REDUCE_PICK(op, PICK)
#undef PICK
}

static tiles_kernel pick_few(reduce_operator op, bool wide) {
#define PICK(S) (wide ? reduce_few<S, true> : reduce_few<S, false>)
  REDUCE_PICK_FLOAT(op, PICK)
#undef PICK
}

typedef void (*short_kernel)(reduce_short_lines lines);
static short_kernel pick_short(reduce_operator op, bool warp) {
#define PICK(S)                                                  \
  (warp && S::ordered                   ? reduce_short_line < S, \
   S::ordered ? 32 : REDUCE_FEW_BLOCK > : reduce_short_line<S, REDUCE_FEW_BLOCK>)
  REDUCE_PICK(op, PICK)
#undef PICK
}

typedef void (*across_kernel)(reduce_level level, reduce_sharing sharing, reduce_rest rest);
static across_kernel pick_across(reduce_operator op) {
#define PICK(S) reduce_single_pass_across<S>
  REDUCE_PICK(op, PICK)
#undef PICK
}

static rung_status launch_short(const rung_task *task, const reduce_level &level,
                                reduce_operator op, const reduce_rest &rest) {
  const reduce_short_lines lines = {level.in, rest.out, level.in_outer, rest.out_outer, level.end};
  const bool warp = level.columns <= REDUCE_SHORT * 32 / REDUCE_FEW_BLOCK;
  const short_kernel reduce_short_kernel = pick_short(op, warp);
  RUNG_LAUNCH(task, reduce_short_kernel, (unsigned)level.outer, warp ? 32 : REDUCE_FEW_BLOCK, 0,
              lines);
  return RUNG_OK;
}

static rung_status launch_few(const rung_task *task, const reduce_level &level, reduce_operator op,
                              int slices, const reduce_rest &rest) {
  const tiles_kernel reduce_few_kernel = pick_few(op, reduce_wide(level));
  RUNG_LAUNCH(
      task, reduce_few_kernel, (unsigned)(level.outer * level.parts * slices), REDUCE_FEW_BLOCK,
      (size_t)REDUCE_FEW_BLOCK * (size_t)REDUCE_QUAD * rung_dtype_bytes(reduce_partial_of(op)),
      level, slices, rest);
  return RUNG_OK;
}

static rung_status launch_tiles(const rung_task *task, const reduce_level &level,
                                reduce_operator op, int size, const reduce_rest &rest) {
  const tiles_kernel reduce_single_pass_kernel = pick_tiles(op, reduce_wide(level));
  RUNG_LAUNCH(task, reduce_single_pass_kernel, reduce_grid(level.outer * level.parts),
              reduce_line_threads(task, level, op, size), reduce_tile_shared(op), level, size,
              rest);
  return RUNG_OK;
}

typedef void (*rows_kernel)(reduce_level level, int size, reduce_gapped rows, reduce_rest rest);
static rows_kernel pick_rows(reduce_operator op) {
#define PICK(S) reduce_single_pass_rows<S>
  REDUCE_PICK(op, PICK)
#undef PICK
}

static rung_status launch_rows(const rung_task *task, const reduce_level &level, reduce_operator op,
                               int size, const reduce_rows &rows, const reduce_rest &rest) {
  int threads = 32; /* parties divide a block */
  while (2 * threads <= reduce_line_threads(task, level, op, size)) threads *= 2;
  const reduce_gapped gapped =
      reduce_gapped_of(rows, (int64_t)rung_dtype_bytes(level.dtype), threads);
  const rows_kernel reduce_single_pass_rows_kernel = pick_rows(op);
  RUNG_LAUNCH(task, reduce_single_pass_rows_kernel, reduce_grid(level.parts), threads,
              reduce_tile_shared(op), level, size, gapped, rest);
  return RUNG_OK;
}

static rung_status launch_across(const rung_task *task, const reduce_level &level,
                                 reduce_operator op, const reduce_rest &rest) {
  const int threads = reduce_threads(task, level.columns * reduce_group(level.inner));
  const reduce_sharing sharing = reduce_sharing_of(level.inner, threads);
  const across_kernel reduce_single_pass_across_kernel = pick_across(op);
  RUNG_LAUNCH(task, reduce_single_pass_across_kernel,
              reduce_grid(level.outer * level.parts * sharing.strips), threads,
              threads * rung_dtype_bytes(reduce_partial_of(op)), level, sharing, rest);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(reduce_single_pass)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_operator op = reduce_operator_of(problem);
  const int slices = reduce_slices_of(task);
  const int size = reduce_is_ordered(op) ? RUNG_SUM_TILE : RUNG_SUM_TILE / slices;
  const reduce_rest rest = {(unsigned *)task->zeros, task->scratch, task->arrays[REDUCE_OUT].data,
                            reduce_layout_of(task).out_outer};
  reduce_level level = reduce_level_of(task);
  reduce_cut(task, &level, size, task->scratch);
  level.end.last = true;
  reduce_rows rows;
  if (problem->form == REDUCE_ACROSS) return launch_across(task, level, op, rest);
  if (reduce_has_rows(task, &rows)) return launch_rows(task, level, op, size, rows, rest);
  if (reduce_is_short(task)) return launch_short(task, level, op, rest);
  if (reduce_is_few(task)) return launch_few(task, level, op, slices, rest);
  return launch_tiles(task, level, op, size, rest);
}
