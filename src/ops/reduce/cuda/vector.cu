/* A block a tile of 32768 elements, 16 bytes a load: most of the adding is done in registers before
 * threads meet at all, and a relaunch finds a 32768th of the elements. Sums of floats have the
 * contract's order, and so its bits.
 *
 * Lines that lie side by side: neighbouring threads take neighbouring lines, and the threads above
 * them other lanes of the same lines.
 *
 * A block size is taken as whole warps, at least one and at most sixteen. */
#include "ops/reduce/cuda/fold.cuh"

template <typename S, bool ALIGNED>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32) reduce_vector(reduce_level level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part part = reduce_part_of(level, job, RUNG_SUM_TILE);
    const typename S::in *tile = (const typename S::in *)level.in + part.first;
    const typename S::partial value =
        reduce_tile<S, ALIGNED>(tile, (int)part.count, level.key, shared);
    if (threadIdx.x == 0) reduce_put(level.end, value, level.out, part.at);
    __syncthreads();
  }
}

template <typename S>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32)
    reduce_vector_across(reduce_level level, reduce_sharing sharing) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const int64_t jobs = level.outer * level.parts * sharing.strips;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const int64_t strip = job % sharing.strips, rest = job / sharing.strips;
    const int64_t tile = rest % level.parts, line = rest / level.parts;
    const int64_t column = strip * sharing.group + threadIdx.x % sharing.group;
    const int64_t first = tile * RUNG_SUM_TILE, left = level.columns - first;
    const typename S::in *tile_in =
        (const typename S::in *)level.in + line * level.in_outer + first * level.in_column + column;
    const typename S::partial value = reduce_tile_across<S>(
        tile_in, level.in_column, left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE,
        column < level.inner, sharing, level.key, shared);
    if (threadIdx.x < sharing.group && column < level.inner)
      reduce_put(level.end, value, level.out, line * level.out_outer + tile * level.inner + column);
    __syncthreads();
  }
}

/* Where the order is free it does not matter how lines lie, and there is one kernel. */
static reduce_kernel pick_lines(reduce_operator op, bool aligned) {
#define PICK(S) (aligned ? reduce_vector<S, true> : reduce_vector<S, !S::ordered>)
  REDUCE_PICK(op, PICK)
#undef PICK
}

typedef void (*across_kernel)(reduce_level level, reduce_sharing sharing);
static across_kernel pick_across(reduce_operator op) {
#define PICK(S) reduce_vector_across<S>
  REDUCE_PICK(op, PICK)
#undef PICK
}

static rung_status launch_lines(const rung_task *task, const reduce_level &level,
                                reduce_operator op) {
  const reduce_kernel reduce_vector_kernel = pick_lines(op, reduce_wide(level));
  RUNG_LAUNCH(task, reduce_vector_kernel, reduce_grid(level.outer * level.parts),
              reduce_line_threads(task, level, op, RUNG_SUM_TILE), reduce_tile_shared(op), level);
  return RUNG_OK;
}

static rung_status launch_across(const rung_task *task, const reduce_level &level,
                                 reduce_operator op) {
  const int threads = reduce_threads(task, level.columns * reduce_group(level.inner));
  const reduce_sharing sharing = reduce_sharing_of(level.inner, threads);
  const across_kernel reduce_vector_across_kernel = pick_across(op);
  RUNG_LAUNCH(task, reduce_vector_across_kernel,
              reduce_grid(level.outer * level.parts * sharing.strips), threads,
              threads * rung_dtype_bytes(reduce_partial_of(op)), level, sharing);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(reduce_vector)(const rung_task *task) {
  const bool across = ((const reduce_problem *)task->problem)->form == REDUCE_ACROSS;
  return reduce_all_levels(task, RUNG_SUM_TILE, across ? launch_across : launch_lines);
}
