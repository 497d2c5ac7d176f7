/* Rung `tensor`: double precision on the tensor cores, which make the very chain of fused
 * multiply-adds that the contract asks for. No operand is turned: panels stay as they lie in
 * memory, and a warp's reads meet no bank twice either way. */
#include "ops/matmul/cuda/feed.cuh"

/* A tile, of warps HIGH by WIDE; a warp makes DOWN by ACROSS products of 16 by 8. */
template <int HIGH_, int WIDE_, int DOWN_, int ACROSS_, int DEPTH_, int STAGES_, int RESIDENT_,
          matmul_way A, matmul_way B>
struct tensor_shape {
  static constexpr int HIGH = HIGH_, DOWN = DOWN_, ACROSS = ACROSS_, DEPTH = DEPTH_,
                       STAGES = STAGES_, RESIDENT = RESIDENT_, ROWS = HIGH * DOWN * 16,
                       COLUMNS = WIDE_ * ACROSS * 8, THREADS = HIGH * WIDE_ * 32;
  typedef matmul_layout<ROWS, DEPTH, A, 4> PA;
  typedef matmul_layout<COLUMNS, DEPTH, B, 4> PB;
  static constexpr int BYTES = STAGES * (PA::SIZE + PB::SIZE) * (int)sizeof(double);
};

/* A lane's elements of A for 16 steps, from its first row and step on. */
template <typename F>
static __device__ inline void read_rows(const double *a, double (&rows)[F::DOWN][8]) {
#pragma unroll
  for (int r = 0; r < F::DOWN; r++)
#pragma unroll
    for (int e = 0; e < 8; e++)
      rows[r][e] = a[(r * 16 + e % 2 * 8) * F::PA::LINE + e / 2 * 4 * F::PA::STEP];
}

/* A stage: `a` and `b` point to the lane's first element of each. */
template <typename F>
static __device__ inline void work(const double *a, const double *b,
                                   double (&t)[F::DOWN][F::ACROSS][4]) {
#pragma unroll
  for (int l = 0; l < F::DEPTH; l += 16) {
    double rows[F::DOWN][8];
    read_rows<F>(a + l * F::PA::STEP, rows);
#pragma unroll
    for (int c = 0; c < F::ACROSS; c++) {
      double column[4];
#pragma unroll
      for (int e = 0; e < 4; e++) column[e] = b[c * 8 * F::PB::LINE + (l + e * 4) * F::PB::STEP];
#pragma unroll
      for (int r = 0; r < F::DOWN; r++) rung_mma_f64(t[r][c], rows[r], column);
    }
  }
}

/* The first `left` steps of one, from the lane's first row of A and column of B: a step that is
 * left out is none, and one of zeros would be. */
template <typename F>
static __device__ inline void work_tail(const double *a, const double *b, int left,
                                        double (&t)[F::DOWN][F::ACROSS][4]) {
#pragma unroll 1
  for (int l = 0; l < left; l++) {
#pragma unroll
    for (int r = 0; r < F::DOWN; r++)
#pragma unroll
      for (int c = 0; c < F::ACROSS; c++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          t[r][c][e] = fma(a[(r * 16 + e / 2 * 8) * F::PA::LINE + l * F::PA::STEP],
                           b[(c * 8 + e % 2) * F::PB::LINE + l * F::PB::STEP], t[r][c][e]);
  }
}

template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_tensor(matmul_job<double, double> job, matmul_tiles tiles, int64_t first) {
  RUNG_DYNAMIC_SHARED(double, shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const int y = warp % F::HIGH * F::DOWN * 16, x = warp / F::HIGH * F::ACROSS * 8;
  const int of_a = (y + g) * F::PA::LINE, of_b = x * F::PB::LINE;
  double t[F::DOWN][F::ACROSS][4] = {};
  const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, first + rung_block_number());
  matmul_walk<F>(
      job, tile, tile, shared,
      [&](const double *a, const double *b) {
        work<F>(a + of_a + q * F::PA::STEP, b + of_b + g * F::PB::LINE + q * F::PB::STEP, t);
      },
      [&](const double *a, const double *b, int left) {
        work_tail<F>(a + of_a, b + of_b + q * 2 * F::PB::LINE, left, t);
      });
  const matmul_tile from = matmul_moved<F>(job, tile);
#pragma unroll
  for (int r = 0; r < F::DOWN; r++)
#pragma unroll
    for (int c = 0; c < F::ACROSS; c++)
#pragma unroll
      for (int e = 0; e < 4; e += 2) {
        const int64_t i = from.i + y + g + r * 16 + e / 2 * 8, j = from.j + x + c * 8 + q * 2;
        if (i >= tile.i && i < job.m)
          matmul_store_run<2>(job, tile.batch, i, j, tile.j, &t[r][c][e]);
      }
}

template <int HIGH, int WIDE, int DOWN, int ACROSS, int DEPTH, int STAGES, int RESIDENT,
          matmul_way A, matmul_way B>
static rung_status run(const rung_task *task) {
  typedef tensor_shape<HIGH, WIDE, DOWN, ACROSS, DEPTH, STAGES, RESIDENT, A, B> F;
  MATMUL_RUN_TILES(task, F, (matmul_tensor<F>), matmul_job_of<double>(task));
  return RUNG_OK;
}

template <matmul_way A, matmul_way B>
static rung_status run_size(const rung_task *task) {
  if (matmul_tiles_of(task, 128, 128).all >= task->device->processors * 3 / 4)
    return run<2, 2, 2, 4, 16, 4, 3, A, B>(task);
  if (matmul_tiles_of(task, 64, 64).all >= task->device->processors * 3 / 4)
    return run<1, 4, 2, 2, 16, 6, 3, A, B>(task);
  return run<2, 2, 1, 2, 16, 6, 4, A, B>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_tensor)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  if (p->a_turned)
    return p->b_turned ? run_size<MATMUL_LINES, MATMUL_STEPS>(task)
                       : run_size<MATMUL_LINES, MATMUL_LINES>(task);
  return p->b_turned ? run_size<MATMUL_STEPS, MATMUL_STEPS>(task)
                     : run_size<MATMUL_STEPS, MATMUL_LINES>(task);
}
