/* Rung `block`: a thread makes a square of C, eight by eight: sixteen numbers from shared memory
 * serve 64 multiply-adds. Its rows and columns lie apart, so that neighbours read neighbours. */
#include "ops/matmul/cuda/panel.cuh"

enum { SIDE = 128, DEPTH = 8, EACH = 8, ACROSS = SIDE / EACH, THREADS = ACROSS * ACROSS };

template <typename E, typename S>
__global__ void __launch_bounds__(THREADS) matmul_block(matmul_job<E, S> job, matmul_tiles tiles) {
  __shared__ S a[DEPTH][SIDE], b[DEPTH][SIDE];
  const int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<SIDE, SIDE>(tiles, number);
    S t[EACH][EACH] = {};
    for (int64_t l = 0; l < job.k; l += DEPTH) {
      const int64_t left = job.k - l;
      matmul_load_panel<THREADS, SIDE, DEPTH>(a, matmul_rows_of(job, tile), l, left, job.bfloat);
      matmul_load_panel<THREADS, SIDE, DEPTH>(b, matmul_columns_of(job, tile), l, left, job.bfloat);
      __syncthreads();
      for (int s = 0; s < DEPTH && s < left; s++) {
        S rows[EACH], columns[EACH];
#pragma unroll
        for (int r = 0; r < EACH; r++) rows[r] = a[s][y + r * ACROSS];
#pragma unroll
        for (int r = 0; r < EACH; r++) columns[r] = b[s][x + r * ACROSS];
#pragma unroll
        for (int r = 0; r < EACH; r++)
#pragma unroll
          for (int q = 0; q < EACH; q++) t[r][q] = matmul_fma(rows[r], columns[q], t[r][q]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < EACH; r++)
#pragma unroll
      for (int q = 0; q < EACH; q++) {
        const int64_t i = tile.i + y + r * ACROSS, j = tile.j + x + q * ACROSS;
        if (i < job.m && j < job.n) matmul_store(job, tile.batch, i, j, t[r][q]);
      }
  }
}

template <typename E>
static rung_status run(const rung_task *task) {
  const auto tiles = matmul_tiles_of(task, SIDE, SIDE);
  RUNG_LAUNCH(task, (matmul_block<E, typename matmul_sum<E>::type>), matmul_grid(tiles.all),
              THREADS, 0, matmul_job_of<E>(task), tiles);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(matmul_block)(const rung_task *task) {
#define RUN(E) return run<E>(task)
  MATMUL_BY_TYPE(static_cast<const matmul_problem *>(task->problem)->types.in, RUN)
#undef RUN
}
