/* A block a tile. Neighbouring threads read neighbouring elements, where row-per-thread's are a
 * row apart, and all of a thread's loads of a tile are under way at once. The lanes meet in shared
 * memory.
 *
 * A block size is taken as whole warps, at least one and at most sixteen: with wide loads more
 * threads would find no lanes of their own. */
#include "ops/rowmeans/cuda/fold.cuh"
#include "ops/rowmeans/cuda/levels.cuh"

#define MOST_WARPS 16

template <typename T, int V>
static __global__ void __launch_bounds__(MOST_WARPS * 32)
    rowmeans_block_kernel(rowmeans_level<T> level) {
  RUNG_DYNAMIC_SHARED(T, lanes);
  const int64_t jobs = level.rows * level.tiles;
  for (int64_t job = blockIdx.x; job < jobs; job += gridDim.x) {
    const rowmeans_job<T> mine = rowmeans_job_of(level, job);
    const T sum = rowmeans_tile_by_block<T, V>(mine.tile, mine.count, lanes);
    if (threadIdx.x == 0) *mine.out = rowmeans_result(level, sum);
    __syncthreads();
  }
}

template <typename T>
static rung_status launch_level(const rung_task *task, const rowmeans_level<T> &level) {
  enum { WIDE = 16 / sizeof(T) };
  int warps = task->block == 0 ? 16 : task->block / 32;
  warps = warps < 1 ? 1 : warps > MOST_WARPS ? MOST_WARPS : warps;
  const size_t shared = RUNG_SUM_LANES * sizeof(T);
  const unsigned grid = rowmeans_grid(level.rows * level.tiles, 1);
  if (rowmeans_wide(level.in, level.in_stride, level.rows))
    RUNG_LAUNCH(task, (rowmeans_block_kernel<T, WIDE>), grid, warps * 32, shared, level);
  else
    RUNG_LAUNCH(task, (rowmeans_block_kernel<T, 1>), grid, warps * 32, shared, level);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(rowmeans_block_per_row)(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  if (problem->dtype == RUNG_F32) return rowmeans_levels<float>(task, launch_level<float>);
  return rowmeans_levels<double>(task, launch_level<double>);
}
