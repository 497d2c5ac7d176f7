/* Rung `column`: a thread makes eight elements of a column of C, so that what it loads of B serves
 * eight multiply-adds. */
#include "ops/matmul/cuda/panel.cuh"

enum { ROWS = 64, COLUMNS = 64, DEPTH = 8, EACH = 8, THREADS = ROWS / EACH * COLUMNS };

template <typename T>
__global__ void __launch_bounds__(THREADS) matmul_column(matmul_job<T, T> job, matmul_tiles tiles) {
  __shared__ T a[DEPTH][ROWS], b[DEPTH][COLUMNS];
  const int column = threadIdx.x % COLUMNS, row = threadIdx.x / COLUMNS * EACH;
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<ROWS, COLUMNS>(tiles, number);
    T t[EACH] = {};
    for (int64_t l = 0; l < job.k; l += DEPTH) {
      const int64_t left = job.k - l;
      matmul_load_panel<THREADS, ROWS, DEPTH>(a, matmul_rows_of(job, tile), l, left, false);
      matmul_load_panel<THREADS, COLUMNS, DEPTH>(b, matmul_columns_of(job, tile), l, left, false);
      __syncthreads();
      for (int s = 0; s < DEPTH && s < left; s++) {
        const T x = b[s][column];
#pragma unroll
        for (int r = 0; r < EACH; r++) t[r] = matmul_fma(a[s][row + r], x, t[r]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < EACH; r++)
      if (tile.i + row + r < job.m && tile.j + column < job.n)
        matmul_store(job, tile.batch, tile.i + row + r, tile.j + column, t[r]);
  }
}

template <typename T>
static rung_status run(const rung_task *task) {
  const auto tiles = matmul_tiles_of(task, ROWS, COLUMNS);
  RUNG_LAUNCH(task, (matmul_column<T>), matmul_grid(tiles.all), THREADS, 0, matmul_job_of<T>(task),
              tiles);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(matmul_column)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
