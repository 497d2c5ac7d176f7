/* Rung `tiled`: a block makes a square of C from squares of A and B that it brings into shared
 * memory together: an element that is loaded serves a row or a column of threads. The block's size
 * says the square's: 4, 8, 16 or 32 on a side. */
#include "ops/matmul/cuda/matmul.cuh"

/* A square of a matrix, as far as that goes, from (i, j) on, to [row][column]. Threads go along
 * what goes on in memory. */
template <typename T, int SIDE>
static __device__ inline void load_square(T (*to)[SIDE + 1], const T *from,
                                          const matmul_steps &steps, int64_t rows,
                                          int64_t columns) {
  const int low = threadIdx.x % SIDE, high = threadIdx.x / SIDE;
  const bool turned = steps.row == 1;
  const int i = turned ? low : high, j = turned ? high : low;
  if (i < rows && j < columns) to[i][j] = from[i * steps.row + j * steps.column];
}

template <typename T, int SIDE>
__global__ void __launch_bounds__(SIDE *SIDE)
    matmul_tiled(matmul_job<T, T> job, matmul_tiles tiles) {
  __shared__ T a[SIDE][SIDE + 1], b[SIDE][SIDE + 1];
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<SIDE, SIDE>(tiles, number);
    const T *rows = job.a + tile.batch * job.as.batch + tile.i * job.as.row;
    const T *columns = job.b + tile.batch * job.bs.batch + tile.j * job.bs.column;
    T t = 0;
    for (int64_t l = 0; l < job.k; l += SIDE) {
      const int64_t left = job.k - l;
      load_square<T, SIDE>(a, rows + l * job.as.column, job.as, job.m - tile.i, left);
      load_square<T, SIDE>(b, columns + l * job.bs.row, job.bs, left, job.n - tile.j);
      __syncthreads();
      for (int s = 0; s < SIDE && s < left; s++) t = matmul_fma(a[y][s], b[s][x], t);
      __syncthreads();
    }
    if (tile.i + y < job.m && tile.j + x < job.n)
      matmul_store(job, tile.batch, tile.i + y, tile.j + x, t);
  }
}

template <typename T, int SIDE>
static rung_status run(const rung_task *task) {
  const auto tiles = matmul_tiles_of(task, SIDE, SIDE);
  RUNG_LAUNCH(task, (matmul_tiled<T, SIDE>), matmul_grid(tiles.all), SIDE * SIDE, 0,
              matmul_job_of<T>(task), tiles);
  return RUNG_OK;
}

template <typename T>
static rung_status run_side(const rung_task *task) {
  const int threads = task->block == 0 ? 256 : task->block;
  if (threads >= 1024) return run<T, 32>(task);
  if (threads >= 256) return run<T, 16>(task);
  return threads >= 64 ? run<T, 8>(task) : run<T, 4>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_tiled)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run_side<float>(task)
             : run_side<double>(task);
}
