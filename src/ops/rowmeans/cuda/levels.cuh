/* Rows of more than one tile, level by level: a launch turns every tile of every row into its
 * sum, the next launch does the same with those sums, and the last one, which finds one tile a
 * row, writes means. */
#ifndef RUNG_ROWMEANS_CUDA_LEVELS_CUH
#define RUNG_ROWMEANS_CUDA_LEVELS_CUH

#include "backend/gpu.h"
#include "ops/rowmeans/rowmeans.h"

template <typename T>
struct rowmeans_level {
  const T *in;
  T *out;
  int64_t in_stride, out_stride; /* elements from row to row */
  int64_t rows, columns, tiles;  /* of this level */
  double divide;                 /* the row's true number of columns on the last level, else 0 */
};

/* Where a tile lies and where its result goes. */
template <typename T>
struct rowmeans_job {
  const T *tile;
  T *out;
  int count;
};

template <typename T>
__device__ __forceinline__ rowmeans_job<T> rowmeans_job_of(const rowmeans_level<T> &level,
                                                           int64_t job) {
  const int64_t row = level.tiles == 1 ? job : job / level.tiles;
  const int64_t tile = level.tiles == 1 ? 0 : job - row * level.tiles;
  const int64_t first = tile * RUNG_SUM_TILE, left = level.columns - first;
  rowmeans_job<T> found;
  found.tile = level.in + row * level.in_stride + first;
  found.out = level.out + row * level.out_stride + tile;
  found.count = left < RUNG_SUM_TILE ? (int)left : RUNG_SUM_TILE;
  return found;
}

template <typename T>
__device__ __forceinline__ T rowmeans_result(const rowmeans_level<T> &level, T sum) {
  return level.divide != 0.0 ? (T)((double)sum / level.divide) : sum;
}

/* Whether every row begins at a multiple of 16 bytes. */
template <typename T>
static bool rowmeans_wide(const T *in, int64_t stride, int64_t rows) {
  const int64_t bytes = rows > 1 ? stride * (int64_t)sizeof(T) : 0;
  return (uintptr_t)in % 16 == 0 && bytes % 16 == 0;
}

/* As many blocks as there are jobs, at most what a grid can have; kernels stride over the rest. */
static inline unsigned rowmeans_grid(int64_t jobs, int64_t jobs_a_block) {
  const int64_t blocks = (jobs + jobs_a_block - 1) / jobs_a_block;
  return blocks < INT32_MAX ? (unsigned)blocks : (unsigned)INT32_MAX;
}

/* Runs `launch` once a level. */
template <typename T>
static rung_status rowmeans_levels(const rung_task *task,
                                   rung_status (*launch)(const rung_task *task,
                                                         const rowmeans_level<T> &level)) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  const rung_view *in = &task->arrays[ROWMEANS_IN], *means = &task->arrays[ROWMEANS_MEANS];
  rowmeans_level<T> level;
  level.in = (const T *)in->data;
  level.in_stride = in->stride[0];
  level.rows = problem->rows;
  level.columns = problem->columns;
  T *free_scratch = (T *)task->scratch;
  for (;;) {
    level.tiles = rowmeans_tiles(level.columns);
    const bool last = level.tiles == 1;
    level.out = last ? (T *)means->data : free_scratch;
    level.out_stride = last ? means->stride[0] : rowmeans_pitch(level.tiles);
    level.divide = last ? (double)problem->columns : 0.0;
    rung_status status = launch(task, level);
    if (status != RUNG_OK || last) return status;
    free_scratch += level.rows * level.out_stride;
    level.in = level.out;
    level.in_stride = level.out_stride;
    level.columns = level.tiles;
  }
}

#endif
