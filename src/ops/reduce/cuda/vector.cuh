/* A block a tile, along lines: what `vector` and `block-per-row` launch. */
#ifndef RUNG_REDUCE_CUDA_VECTOR_CUH
#define RUNG_REDUCE_CUDA_VECTOR_CUH

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

/* `pick` is a choice among the reduce_vector. */
static inline rung_status reduce_launch_lines(const rung_task *task, const reduce_level &level,
                                              reduce_operator op,
                                              reduce_kernel (*pick)(reduce_operator op,
                                                                    bool aligned)) {
  const reduce_kernel reduce_vector_kernel = pick(op, reduce_wide(level));
  RUNG_LAUNCH(task, reduce_vector_kernel, reduce_grid(level.outer * level.parts),
              reduce_line_threads(task, level, op, RUNG_SUM_TILE), reduce_tile_shared(op), level);
  return RUNG_OK;
}

/* Where the order is free it does not matter, and there is one kernel. */
#define REDUCE_PICK_VECTOR(S) (aligned ? reduce_vector<S, true> : reduce_vector<S, !S::ordered>)

#endif
