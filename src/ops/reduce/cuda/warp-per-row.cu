/* A warp a tile. The 2048 lanes live in the registers of 32 threads, so folding needs neither
 * shared memory nor a barrier, and warps that are folding never hold up others that are loading.
 *
 * A block size is taken as whole warps, at least one and at most eight: more would leave a thread
 * too few registers for its sums. */
#include "ops/reduce/cuda/levels.cuh"
#include "ops/reduce/cuda/sum.cuh"

#define MOST_WARPS 8

template <typename S, int V, int LOADS>
static __global__ void __launch_bounds__(MOST_WARPS * 32)
    reduce_warp_kernel(reduce_level<S> level) {
  typedef typename S::in T;
  const int64_t warps = blockDim.x / 32, jobs = level.outer * level.parts;
  int64_t job = blockIdx.x * warps + threadIdx.x / 32;
  for (; job < jobs; job += gridDim.x * warps) {
    const reduce_part<S> part = reduce_part_of(level, job, RUNG_SUM_TILE);
    const T sum = reduce_tile_by_warp<T, V, LOADS>(part.in, (int)part.count);
    if (threadIdx.x % 32 == 0) reduce_put(level.end, sum, level.out, part.at);
  }
}

struct reduce_warp_rung {
  static int64_t part(const rung_task *) {
    return RUNG_SUM_TILE;
  }

  template <typename S>
  static rung_status launch(const rung_task *task, const reduce_level<S> &level) {
    enum { WIDE = 16 / sizeof(typename S::in), LOADS = 64 / sizeof(typename S::in) };
    int warps = task->block == 0 ? 4 : task->block / 32;
    warps = warps < 1 ? 1 : warps > MOST_WARPS ? MOST_WARPS : warps;
    const unsigned grid = reduce_grid((level.outer * level.parts + warps - 1) / warps);
    if (reduce_wide(level))
      RUNG_LAUNCH(task, (reduce_warp_kernel<S, WIDE, LOADS>), grid, warps * 32, 0, level);
    else
      RUNG_LAUNCH(task, (reduce_warp_kernel<S, 1, LOADS>), grid, warps * 32, 0, level);
    return RUNG_OK;
  }

  template <typename S>
  static rung_status run(const rung_task *task) {
    return reduce_levels<S, reduce_warp_rung>(task, reduce_level_of<S>(task), task->scratch);
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_warp_per_row)(const rung_task *task) {
  return reduce_by_float<reduce_warp_rung>(task);
}
