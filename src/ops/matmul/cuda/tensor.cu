/* Rung `tensor`: double precision on the tensor cores, which make the very chain of fused
 * multiply-adds that the contract asks for. No operand is turned: panels stay as they lie in
 * memory, and a warp's reads meet no bank twice either way. */
#include "ops/matmul/cuda/feed.cuh"
#include "ops/matmul/tiles.h"

/* A tile, of warps HIGH by WIDE; a warp makes DOWN by ACROSS products of 16 by 8, of SLICE steps.
 */
template <int HIGH_, int WIDE_, int DOWN_, int ACROSS_, int SLICE_, int DEPTH_, int STAGES_,
          int RESIDENT_, matmul_way A, matmul_way B>
struct tensor_shape {
  static constexpr int HIGH = HIGH_, DOWN = DOWN_, ACROSS = ACROSS_, SLICE = SLICE_, DEPTH = DEPTH_,
                       STAGES = STAGES_, RESIDENT = RESIDENT_, ROWS = HIGH * DOWN * 16,
                       COLUMNS = WIDE_ * ACROSS * 8, THREADS = HIGH * WIDE_ * 32;
  typedef matmul_layout<ROWS, DEPTH, A, 4> PA;
  typedef matmul_layout<COLUMNS, DEPTH, B, 4> PB;
  static constexpr int BYTES = STAGES * (PA::SIZE + PB::SIZE) * (int)sizeof(double);
};

/* What a lane needs of a slice, and the results. */
template <int DOWN, int ACROSS, int SLICE>
struct tensor_slice {
  double rows[DOWN][SLICE / 2], columns[ACROSS][SLICE / 4];
};
template <int DOWN, int ACROSS>
struct tensor_results {
  double of[DOWN][ACROSS][4];
};

/* How a panel lies. On a GPU these are constants, once all is inlined; the simulator has one of
 * what follows for all panels. */
struct tensor_pitch {
  int line, step;
};
template <typename P>
static __device__ inline tensor_pitch pitch_of() {
  return {P::LINE, P::STEP};
}

/* `a` and `b` point to the lane's first element of each. */
template <int DOWN, int ACROSS, int SLICE>
static __device__ RUNG_ASIDE void take_slice(const double *a, tensor_pitch of_a, const double *b,
                                             tensor_pitch of_b,
                                             tensor_slice<DOWN, ACROSS, SLICE> *slice) {
#pragma unroll
  for (int r = 0; r < DOWN; r++)
#pragma unroll
    for (int e = 0; e < SLICE / 2; e++)
      slice->rows[r][e] = a[(r * 16 + e % 2 * 8) * of_a.line + e / 2 * 4 * of_a.step];
#pragma unroll
  for (int c = 0; c < ACROSS; c++)
#pragma unroll
    for (int e = 0; e < SLICE / 4; e++)
      slice->columns[c][e] = b[c * 8 * of_b.line + e * 4 * of_b.step];
}
template <int DOWN, int ACROSS, int SLICE>
static __device__ RUNG_ASIDE void work_slice(const tensor_slice<DOWN, ACROSS, SLICE> &slice,
                                             tensor_results<DOWN, ACROSS> *t) {
#pragma unroll
  for (int c = 0; c < ACROSS; c++)
#pragma unroll
    for (int r = 0; r < DOWN; r++) rung_mma_f64(t->of[r][c], slice.rows[r], slice.columns[c]);
}

/* `left` steps, less than a slice, from the lane's first row of A and column of B: a step that is
 * left out is none, and one of zeros would be. */
template <int DOWN, int ACROSS>
static __device__ RUNG_ASIDE void work_steps(const double *a, tensor_pitch of_a, const double *b,
                                             tensor_pitch of_b, int left,
                                             tensor_results<DOWN, ACROSS> *t) {
#pragma unroll 1
  for (int l = 0; l < left; l++) {
#pragma unroll
    for (int r = 0; r < DOWN; r++)
#pragma unroll
      for (int c = 0; c < ACROSS; c++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          t->of[r][c][e] = fma(a[(r * 16 + e / 2 * 8) * of_a.line + l * of_a.step],
                               b[(c * 8 + e % 2) * of_b.line + l * of_b.step], t->of[r][c][e]);
  }
}

/* run(row, column, pair) for a lane's pairs of results, from its first row and column on. */
template <int DOWN, int ACROSS, typename RUN>
static __device__ inline void each_pair(const tensor_results<DOWN, ACROSS> &t, const RUN &run) {
#pragma unroll
  for (int r = 0; r < DOWN; r++)
#pragma unroll
    for (int c = 0; c < ACROSS; c++)
#pragma unroll
      for (int e = 0; e < 4; e += 2) run(r * 16 + e / 2 * 8, c * 8, &t.of[r][c][e]);
}

/* Results to C; and products by alpha to shared memory. */
template <int DOWN, int ACROSS>
static __device__ RUNG_ASIDE void store_pairs(const matmul_job<double, double> &job,
                                              const matmul_tile &tile, int64_t first_row,
                                              int64_t first_column,
                                              const tensor_results<DOWN, ACROSS> &t) {
  each_pair(t, [&](int row, int column, const double *pair) {
    const int64_t i = first_row + row;
    if (i >= tile.i && i < job.m)
      matmul_store_run<2>(job, tile.batch, i, first_column + column, tile.j, pair);
  });
}
template <int DOWN, int ACROSS>
static __device__ RUNG_ASIDE void lay_pairs(double *to, int pitch, double alpha,
                                            const tensor_results<DOWN, ACROSS> &t) {
  each_pair(t, [=](int row, int column, const double *pair) {
    *reinterpret_cast<matmul_quad<double> *>(to + row * pitch + column) = {alpha * pair[0],
                                                                           alpha * pair[1]};
  });
}

template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_tensor(matmul_job<double, double> job, matmul_tiles tiles, int64_t first) {
  RUNG_DYNAMIC_SHARED(double, shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
  const int y = warp % F::HIGH * F::DOWN * 16, x = warp / F::HIGH * F::ACROSS * 8;
  const tensor_pitch pitch_a = pitch_of<typename F::PA>(), pitch_b = pitch_of<typename F::PB>();
  const int row = (y + g) * pitch_a.line, column = x * pitch_b.line;
  const int of_a = row + q * pitch_a.step, of_b = column + g * pitch_b.line + q * pitch_b.step;
  tensor_results<F::DOWN, F::ACROSS> t = {};
  tensor_slice<F::DOWN, F::ACROSS, F::SLICE> slice[2];
  const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, first + rung_block_number());
  matmul_walk_ahead<F>(
      job, tile, shared,
      [=, &slice](const double *a, const double *b, int which) {
        take_slice(a + of_a, pitch_a, b + of_b, pitch_b, &slice[which]);
      },
      [&](int which) { work_slice(slice[which], &t); },
      [=, &slice, &t](const double *a, const double *b, int left) {
        int l = 0;
#pragma unroll 1
        for (; left - l >= F::SLICE; l += F::SLICE) {
          take_slice(a + of_a + l * pitch_a.step, pitch_a, b + of_b + l * pitch_b.step, pitch_b,
                     &slice[0]);
          work_slice(slice[0], &t);
        }
        work_steps(a + row + l * pitch_a.step, pitch_a,
                   b + column + q * 2 * pitch_b.line + l * pitch_b.step, pitch_b, left - l, &t);
      });
  const matmul_tile from = matmul_moved<F>(job, tile);
  if (matmul_has_quads(job)) return store_pairs(job, tile, from.i + y + g, from.j + x + q * 2, t);
  constexpr int PITCH = F::COLUMNS + 4;
  static_assert(F::ROWS * PITCH * (int)sizeof(double) <= F::BYTES, "in its stages' place");
  __syncthreads();
  lay_pairs(shared + (y + g) * PITCH + x + q * 2, PITCH, job.alpha, t);
  __syncthreads();
  matmul_store_laid(job, tile, from, shared, {F::ROWS, F::COLUMNS, PITCH, F::THREADS});
}

template <int HIGH, int WIDE, int DOWN, int ACROSS, int SLICE, int DEPTH, int STAGES, int RESIDENT,
          matmul_way A, matmul_way B>
static rung_status run(const rung_task *task) {
  typedef tensor_shape<HIGH, WIDE, DOWN, ACROSS, SLICE, DEPTH, STAGES, RESIDENT, A, B> F;
  MATMUL_RUN_TILES(task, F, (matmul_tensor<F>), matmul_job_of<double>(task));
  return RUNG_OK;
}

/* The tiles of tiles.h, in their order. */
template <matmul_way A, matmul_way B>
static rung_status run_size(const rung_task *task) {
  double cost;
  switch (matmul_tensor_tile(task, &cost)) {
    case 0:
      return run<2, 4, 4, 4, 4, 16, 4, 1, A, B>(task);
    case 1:
      return run<2, 2, 2, 4, 4, 16, 3, 3, A, B>(task);
    case 2:
      return run<1, 4, 2, 2, 4, 16, 6, 3, A, B>(task);
    case 3:
      return run<2, 2, 1, 2, 4, 16, 6, 4, A, B>(task);
    default:
      return run<1, 4, 1, 1, 16, 64, 3, 2, A, B>(task);
  }
}

extern "C" rung_status RUNG_ENTRY(matmul_tensor)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  if (p->a_turned)
    return p->b_turned ? run_size<MATMUL_LINES, MATMUL_STEPS>(task)
                       : run_size<MATMUL_LINES, MATMUL_LINES>(task);
  return p->b_turned ? run_size<MATMUL_STEPS, MATMUL_STEPS>(task)
                     : run_size<MATMUL_STEPS, MATMUL_LINES>(task);
}
