/* A block a tile of 32768 elements, 16 bytes a load: most of the adding is done in registers before
 * threads meet at all, and a relaunch finds a 32768th of the elements. Sums of floats have the
 * contract's order, and so its bits.
 *
 * Lines that lie side by side: neighbouring threads take neighbouring lines, and the threads above
 * them other lanes of the same lines.
 *
 * A block size is taken as whole warps, at least one and at most sixteen. */
#include "ops/reduce/cuda/vector.cuh"

template <typename S>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32)
    reduce_vector_across_kernel(reduce_level<S> level, reduce_sharing sharing) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const int64_t jobs = level.outer * level.parts * sharing.strips;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const int64_t strip = job % sharing.strips, rest = job / sharing.strips;
    const int64_t tile = rest % level.parts, line = rest / level.parts;
    const int64_t column = strip * sharing.group + threadIdx.x % sharing.group;
    const int64_t first = tile * RUNG_SUM_TILE, left = level.columns - first;
    const typename S::partial value =
        reduce_tile_across<S>(level.in + line * level.in_outer + first * level.in_column + column,
                              level.in_column, left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE,
                              column < level.inner, sharing, level.turn, shared);
    if (threadIdx.x < sharing.group && column < level.inner)
      reduce_put(level.end, value, level.out, line * level.out_outer + tile * level.inner + column);
    __syncthreads();
  }
}

struct reduce_vector_rung {
  static int64_t part(const rung_task *) {
    return RUNG_SUM_TILE;
  }

  template <typename S>
  static rung_status launch_across(const rung_task *task, const reduce_level<S> &level) {
    const int threads = reduce_threads(task, level.columns * reduce_group(level.inner));
    const reduce_sharing sharing = reduce_sharing_of(level.inner, threads);
    const unsigned grid = reduce_grid(level.outer * level.parts * sharing.strips);
    RUNG_LAUNCH(task, (reduce_vector_across_kernel<S>), grid, threads,
                threads * sizeof(typename S::partial), level, sharing);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status launch(const rung_task *task, const reduce_level<S> &level) {
    if (((const reduce_problem *)task->problem)->form == REDUCE_ACROSS)
      return launch_across(task, level);
    return reduce_vector_lines::launch(task, level);
  }

  template <typename S>
  static rung_status run(const rung_task *task) {
    return reduce_levels<S, reduce_vector_rung>(task, reduce_level_of<S>(task), task->scratch);
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_vector)(const rung_task *task) {
  return reduce_by_source<reduce_vector_rung>(task);
}
