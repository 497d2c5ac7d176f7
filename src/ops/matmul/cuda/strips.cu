/* Rung `strips`: products of a few rows read B once, and that is all there is to do: a block takes
 * a strip of columns, a thread a column and its chains of all rows. Stages of B come in ahead by
 * asynchronous copies, enough of them to keep the memory busy. */
#include "ops/matmul/cuda/stream.cuh"

static constexpr int COLUMNS = 128, STAGES = 4, MOST_ROWS = 8;

/* [column][l] where B is turned, so that its lines stay whole; else [l][column]. */
template <typename T>
struct strip {
  static constexpr int QUAD = matmul_quad<T>::WIDTH, DEPTH = 128 / (int)sizeof(T),
                       TURNED_PITCH = DEPTH + QUAD, PITCH = COLUMNS + QUAD,
                       B = COLUMNS * TURNED_PITCH > DEPTH *PITCH ? COLUMNS *TURNED_PITCH
                                                                 : DEPTH *PITCH,
                       STAGE = B + MOST_ROWS * DEPTH, BYTES = STAGES * STAGE * (int)sizeof(T);
};

/* A and B of stage p: l's [p * DEPTH, ...). */
template <typename T>
static __device__ inline void bring_stage(const matmul_job<T, T> &job, const matmul_tile &tile,
                                          bool turned, int64_t p, T *stage) {
  typedef strip<T> F;
  const int64_t l = p * F::DEPTH, left = job.k - l;
  matmul_source<T> b = matmul_columns_of(job, tile);
  if (left <= 0) return;
  for (int at = threadIdx.x; at < MOST_ROWS * F::DEPTH; at += COLUMNS) {
    const int i = at / F::DEPTH, s = at % F::DEPTH;
    if (i < job.m - tile.i && s < left)
      rung_copy_async(stage + F::B + at, job.a + tile.batch * job.as.batch +
                                             (tile.i + i) * job.as.row + (l + s) * job.as.column);
  }
  if (!turned) {
    matmul_bring<COLUMNS, COLUMNS, F::DEPTH, F::PITCH, true>(stage, b, l, left);
    return;
  }
  /* The same with k's part and the columns' changed. */
  const matmul_source<T> lines = {b.from + l, 1, b.line, left, b.wide};
  matmul_bring<COLUMNS, F::DEPTH, COLUMNS, F::TURNED_PITCH, true>(stage, lines, 0, b.lines);
}

template <typename T, int ROWS>
__global__ void __launch_bounds__(COLUMNS) matmul_strips(matmul_job<T, T> job, matmul_tiles tiles) {
  typedef strip<T> F;
  RUNG_DYNAMIC_SHARED(T, shared);
  const bool turned = job.bs.row == 1 && job.bs.column != 1;
  const int b_line = turned ? F::TURNED_PITCH : 1, b_step = turned ? 1 : F::PITCH;
  const int64_t stages = (job.k + F::DEPTH - 1) / F::DEPTH;
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<MOST_ROWS, COLUMNS>(tiles, number);
    T t[ROWS] = {};
    for (int p = 0; p < STAGES - 1; p++) {
      bring_stage(job, tile, turned, p, shared + p * F::STAGE);
      rung_copy_async_commit();
    }
    for (int64_t p = 0; p < stages; p++) {
      const T *stage = shared + p % STAGES * F::STAGE;
      const int64_t left = job.k - p * F::DEPTH, ahead = p + STAGES - 1;
      rung_copy_async_wait<STAGES - 2>();
      __syncthreads();
      bring_stage(job, tile, turned, ahead, shared + ahead % STAGES * F::STAGE);
      rung_copy_async_commit();
#pragma unroll 8
      for (int s = 0; s < F::DEPTH && s < left; s++) {
        const T x = stage[threadIdx.x * b_line + s * b_step];
#pragma unroll
        for (int i = 0; i < ROWS; i++) t[i] = matmul_fma(stage[F::B + i * F::DEPTH + s], x, t[i]);
      }
    }
    __syncthreads(); /* before the next strip's stages come in */
#pragma unroll
    for (int i = 0; i < ROWS; i++)
      if (tile.i + i < job.m && tile.j + threadIdx.x < job.n)
        matmul_store(job, tile.batch, tile.i + i, tile.j + threadIdx.x, t[i]);
  }
}

template <typename T, int ROWS>
static rung_status run_rows(const rung_task *task) {
  const auto tiles = matmul_tiles_of(task, MOST_ROWS, COLUMNS);
  RUNG_ALLOW_SHARED(task, (matmul_strips<T, ROWS>), strip<T>::BYTES);
  RUNG_LAUNCH(task, (matmul_strips<T, ROWS>), matmul_grid(tiles.all), COLUMNS, strip<T>::BYTES,
              matmul_job_of<T>(task), tiles);
  return RUNG_OK;
}

template <typename T>
static rung_status run(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->m == 1 ? run_rows<T, 1>(task)
                                                                    : run_rows<T, MOST_ROWS>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_strips)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
