/* A warp a tile. The 2048 lanes live in the registers of 32 threads, so folding needs neither
 * shared memory nor a barrier, and warps that are folding never hold up others that are loading.
 *
 * A block size is taken as whole warps, at least one and at most eight: more would leave a thread
 * too few registers for its sums. */
#include "ops/rowmeans/cuda/fold.cuh"
#include "ops/rowmeans/cuda/levels.cuh"

#define MOST_WARPS 8

template <typename T, int V, int LOADS>
static __global__ void __launch_bounds__(MOST_WARPS * 32)
    rowmeans_warp_kernel(rowmeans_level<T> level) {
  const int64_t warps = blockDim.x / 32, jobs = level.rows * level.tiles;
  int64_t job = blockIdx.x * warps + threadIdx.x / 32;
  for (; job < jobs; job += gridDim.x * warps) {
    const rowmeans_job<T> mine = rowmeans_job_of(level, job);
    const T sum = rowmeans_tile_by_warp<T, V, LOADS>(mine.tile, mine.count);
    if (threadIdx.x % 32 == 0) *mine.out = rowmeans_result(level, sum);
  }
}

template <typename T>
static rung_status launch_level(const rung_task *task, const rowmeans_level<T> &level) {
  enum { WIDE = 16 / sizeof(T), LOADS = 64 / sizeof(T) };
  int warps = task->block == 0 ? 4 : task->block / 32;
  warps = warps < 1 ? 1 : warps > MOST_WARPS ? MOST_WARPS : warps;
  const unsigned grid = rowmeans_grid(level.rows * level.tiles, warps);
  if (rowmeans_wide(level.in, level.in_stride, level.rows))
    RUNG_LAUNCH(task, (rowmeans_warp_kernel<T, WIDE, LOADS>), grid, warps * 32, 0, level);
  else
    RUNG_LAUNCH(task, (rowmeans_warp_kernel<T, 1, LOADS>), grid, warps * 32, 0, level);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(rowmeans_warp_per_row)(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  if (problem->dtype == RUNG_F32) return rowmeans_levels<float>(task, launch_level<float>);
  return rowmeans_levels<double>(task, launch_level<double>);
}
