/* A block a tile, along lines: what `vector` and `block-per-row` launch. */
#ifndef RUNG_REDUCE_CUDA_VECTOR_CUH
#define RUNG_REDUCE_CUDA_VECTOR_CUH

#include "ops/reduce/cuda/fold.cuh"

template <typename S, int V>
static __global__ void __launch_bounds__(REDUCE_MOST_WARPS * 32)
    reduce_vector_kernel(reduce_level<S> level) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    const reduce_part<S> part = reduce_part_of(level, job, RUNG_SUM_TILE);
    const typename S::partial value =
        reduce_tile<S, V>(part.in, (int)part.count, level.turn, shared);
    if (threadIdx.x == 0) reduce_put(level.end, value, level.out, part.at);
    __syncthreads();
  }
}

struct reduce_vector_lines {
  static int64_t part(const rung_task *) {
    return RUNG_SUM_TILE;
  }

  template <typename S>
  static rung_status launch(const rung_task *task, const reduce_level<S> &level) {
    enum { WIDE = 16 / sizeof(typename S::in) };
    const unsigned grid = reduce_grid(level.outer * level.parts);
    const size_t shared = reduce_tile_shared<S>();
    if (reduce_wide(level))
      RUNG_LAUNCH(task, (reduce_vector_kernel<S, WIDE>), grid,
                  reduce_threads(task, (level.columns + WIDE - 1) / WIDE), shared, level);
    else
      RUNG_LAUNCH(task, (reduce_vector_kernel<S, 1>), grid, reduce_threads(task, level.columns),
                  shared, level);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status run(const rung_task *task) {
    return reduce_levels<S, reduce_vector_lines>(task, reduce_level_of<S>(task), task->scratch);
  }
};

#endif
