/* Rung `dp4a`: four products of digits an instruction, in plain cores. A thread makes four by eight
 * elements, a level's products in 32 bits, and adds levels up in 64. */
#include "ops/matmul/cuda/fixed.cuh"

/* Of eight lanes that read B at once no two meet in a bank: its lines lie 80 bytes apart. Of A they
 * read one line. */
struct dp4a_shape {
  static constexpr int ROWS = 64, COLUMNS = 128, THREADS = 256, STAGES = 2, A_PITCH = FIXED_DEPTH,
                       B_PITCH = FIXED_DEPTH + 16, DOWN = ROWS / 16, ACROSS = COLUMNS / 16;
};

static __device__ inline void work(const int8_t *a, const int8_t *b,
                                   int (&t)[dp4a_shape::DOWN][dp4a_shape::ACROSS]) {
  typedef dp4a_shape F;
#pragma unroll 1
  for (int l = 0; l < FIXED_DEPTH; l += 16) {
    int4 rows[F::DOWN];
#pragma unroll
    for (int r = 0; r < F::DOWN; r++)
      rows[r] = *reinterpret_cast<const int4 *>(a + r * 16 * F::A_PITCH + l);
#pragma unroll
    for (int c = 0; c < F::ACROSS; c++) {
      const int4 column = *reinterpret_cast<const int4 *>(b + c * 16 * F::B_PITCH + l);
#pragma unroll
      for (int r = 0; r < F::DOWN; r++) {
        t[r][c] = __dp4a(rows[r].x, column.x, t[r][c]);
        t[r][c] = __dp4a(rows[r].y, column.y, t[r][c]);
        t[r][c] = __dp4a(rows[r].z, column.z, t[r][c]);
        t[r][c] = __dp4a(rows[r].w, column.w, t[r][c]);
      }
    }
  }
}

__global__ void __launch_bounds__(dp4a_shape::THREADS)
    matmul_dp4a(fixed_job job, matmul_tiles tiles, int64_t first) {
  typedef dp4a_shape F;
  /* 32 bits hold so many steps: a product is 2^14 at most. */
  enum { MOST = (1 << (31 - 14)) / FIXED_DEPTH - 1 };
  RUNG_DYNAMIC_SHARED(int8_t, shared);
  const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, first + blockIdx.x);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int64_t steps = job.pitch / FIXED_DEPTH;
  fixed_stream<F> stream;
  stream.begin(job, tile, 0, steps, shared);
  int64_t sums[F::DOWN][F::ACROSS] = {};
#pragma unroll 1
  for (int level = job.digits - 1; level >= 0; level--)
#pragma unroll 1
    for (int64_t left = steps * (level + 1); left > 0; left -= MOST) {
      int t[F::DOWN][F::ACROSS] = {};
#pragma unroll 1
      for (int64_t s = 0; s < left && s < MOST; s++) {
        const int8_t *a = stream.next();
        work(a + y * F::A_PITCH, a + stream.OF_B + x * F::B_PITCH, t);
      }
#pragma unroll
      for (int r = 0; r < F::DOWN; r++)
#pragma unroll
        for (int c = 0; c < F::ACROSS; c++)
          sums[r][c] += t[r][c] * matmul_weight(job.digits, level, 0);
    }
#pragma unroll
  for (int r = 0; r < F::DOWN; r++)
#pragma unroll
    for (int c = 0; c < F::ACROSS; c++) {
      const int64_t i = tile.i + y + r * 16, j = tile.j + x + c * 16;
      fixed_put(job, tile.batch, i, j, sums[r][c]);
    }
}

extern "C" rung_status RUNG_ENTRY(matmul_dp4a)(const rung_task *task) {
  typedef dp4a_shape F;
  const fixed_job job = fixed_job_of(task, matmul_pieces_of(task, 0, 0, 0));
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const rung_status status = RUNG_ENTRY(matmul_cut)(task);
  if (status != RUNG_OK) return status;
  for (int64_t first = 0; first < tiles.all; first += INT32_MAX)
    RUNG_LAUNCH(task, matmul_dp4a, matmul_grid(tiles.all - first), F::THREADS,
                fixed_stream<F>::BYTES, job, tiles, first);
  return RUNG_OK;
}
