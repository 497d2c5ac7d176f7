/* Rung `mma`: digits on tensor cores, 16 by 8 products of 32 at once. A level's sums of 32 bits are
 * carried into the next: each keeps its lowest byte aside and goes on with the others, which is
 * exact, and the only place where sums are wider is the end. Few tiles: k is cut, and blocks add
 * their shares up in global memory. */
#include "ops/matmul/cuda/fixed.cuh"
#include "ops/matmul/cuda/planes.cuh"

/* A tile of warps two high and WIDE wide, each DOWN by ACROSS products of 16 by 8. A line's 64
 * digits lie beside the next one's: the eight lanes that read 16 bytes at once have 128 in a row.
 * Digits go to the cores in the order in which lanes read them, the same of A and of B. */
template <int DOWN_, int WIDE_>
struct mma_shape {
  static constexpr int DOWN = DOWN_, ACROSS = 4, WIDE = WIDE_, ROWS = 2 * DOWN * 16,
                       COLUMNS = WIDE * ACROSS * 8, THREADS = 2 * WIDE * 32, STAGES = 3,
                       A_PITCH = FIXED_DEPTH, B_PITCH = FIXED_DEPTH, SUMS = DOWN * ACROSS * 4;
};

template <typename F>
static __device__ inline void work(const int8_t *a, const int8_t *b, int (&t)[F::SUMS]) {
  uint4 rows[F::DOWN][2];
#pragma unroll
  for (int r = 0; r < F::DOWN; r++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      rows[r][h] = *reinterpret_cast<const uint4 *>(a + (r * 16 + h * 8) * F::A_PITCH);
#pragma unroll
  for (int c = 0; c < F::ACROSS; c++) {
    const uint4 column = *reinterpret_cast<const uint4 *>(b + c * 8 * F::B_PITCH);
#pragma unroll
    for (int r = 0; r < F::DOWN; r++) {
      int *to = t + (r * F::ACROSS + c) * 4;
      const uint4 &g = rows[r][0], &h = rows[r][1];
      rung_mma_s8(to, g.x, h.x, g.y, h.y, column.x, column.y);
      rung_mma_s8(to, g.z, h.z, g.w, h.w, column.z, column.w);
    }
  }
}

template <typename F>
__global__ void __launch_bounds__(F::THREADS)
    matmul_mma(fixed_job job, matmul_tiles tiles, int64_t first) {
  RUNG_DYNAMIC_SHARED(int8_t, shared);
  const int64_t unit = first + blockIdx.x, number = unit / job.pieces;
  const int64_t from = unit % job.pieces * job.piece;
  const int64_t left = job.pitch - from < job.piece ? job.pitch - from : job.piece;
  const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const int y = warp % 2 * F::DOWN * 16, x = warp / 2 * F::ACROSS * 8;
  fixed_stream<F> stream;
  rung_await_before();
  stream.begin(job, tile, from, left / FIXED_DEPTH, shared);
  fixed_carried<F::SUMS> carried;
  int t[F::SUMS] = {};
#pragma unroll 1
  for (int level = job.digits - 1; level >= 0; level--) {
#pragma unroll 1
    for (int64_t s = left / FIXED_DEPTH * (level + 1); s > 0; s--) {
      const int8_t *at = stream.next();
      work<F>(at + (y + g) * F::A_PITCH + q * 16, at + stream.OF_B + (x + g) * F::B_PITCH + q * 16,
              t);
    }
    if (level > 0) carried.keep(job.digits - 1 - level, t);
  }
  carried.keep_all(t);
#pragma unroll 1
  for (int e = 0; e < F::SUMS; e++)
    fixed_put(job, tile.batch, tile.i + y + g + e / (4 * F::ACROSS) * 16 + e / 2 % 2 * 8,
              tile.j + x + q * 2 + e / 4 % F::ACROSS * 8 + e % 2, carried.sum(e, job.digits));
  if (job.pieces == 1) return;
  __syncthreads();
  fixed_end_pieces<F::ROWS, F::COLUMNS>(job, tile.batch, tile.i, tile.j, job.counters + number,
                                        F::THREADS, [] { __syncthreads(); });
}

template <int DOWN, int WIDE>
static rung_status run(const rung_task *task) {
  typedef mma_shape<DOWN, WIDE> F;
  const fixed_job job = fixed_job_of(task, matmul_mma_pieces(task));
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t units = tiles.all * job.pieces;
  const rung_status status = RUNG_ENTRY(matmul_cut)(task);
  if (status != RUNG_OK) return status;
  RUNG_ALLOW_SHARED(task, matmul_mma<F>, fixed_stream<F>::BYTES);
  for (int64_t first = 0; first < units; first += INT32_MAX)
    RUNG_LAUNCH_NEXT(task, matmul_mma<F>, matmul_grid(units - first), F::THREADS,
                     fixed_stream<F>::BYTES, job, tiles, first);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(matmul_cut)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? matmul_cut_as<float>(task)
             : matmul_cut_as<uint16_t>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_mma)(const rung_task *task) {
  return matmul_mma_side(task) == 128 ? run<4, 4>(task) : run<2, 2>(task);
}
