/* Tiles in plain multiply-adds, from panels that lie [l][line]. A thread's rows and columns are
 * quads: runs of 16 bytes, read from shared memory at once. */
#ifndef RUNG_MATMUL_CUDA_STREAM_CUH
#define RUNG_MATMUL_CUDA_STREAM_CUH

#include "ops/matmul/cuda/feed.cuh"

/* A tile of ROWS by COLUMNS, DEPTH of k at a time; a thread makes DOWN by ACROSS of it. A warp is
 * four threads high and eight wide, so that its reads of A and of B are each one pass. A
 * multiprocessor is to hold RESIDENT blocks at once. TURNS: where C has no quads its rows go
 * through shared memory, so that threads store neighbours; no tile that has all registers can have
 * that. */
template <typename T_, int ROWS_, int COLUMNS_, int DEPTH_, int DOWN_, int ACROSS_, int STAGES_,
          int RESIDENT_, bool TURNS_ = false, matmul_way A = MATMUL_LINES,
          matmul_way B = MATMUL_LINES>
struct matmul_shape {
  typedef T_ T;
  /* The same tile of operands that come in so. */
  template <matmul_way OF_A, matmul_way OF_B>
  struct of {
    typedef matmul_shape<T, ROWS_, COLUMNS_, DEPTH_, DOWN_, ACROSS_, STAGES_, RESIDENT_, TURNS_,
                         OF_A, OF_B>
        type;
  };
  /* By which code that does not ask how they come in is made once for all ways. */
  typedef typename of<MATMUL_LINES, MATMUL_LINES>::type any;
  static constexpr bool TURNS = TURNS_;
  static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, DEPTH = DEPTH_, DOWN = DOWN_,
                       ACROSS = ACROSS_, STAGES = STAGES_, RESIDENT = RESIDENT_,
                       HIGH = ROWS / DOWN, /* threads */
      WIDE = COLUMNS / ACROSS, THREADS = HIGH * WIDE, QUAD = matmul_quad<T>::WIDTH;
  typedef matmul_layout<ROWS, DEPTH, A, QUAD> PA;
  typedef matmul_layout<COLUMNS, DEPTH, B, QUAD> PB;
  static constexpr int BYTES = STAGES * (PA::SIZE + PB::SIZE) * (int)sizeof(T);
};

/* COUNT numbers of a thread: its quads of a row of a panel, GAP apart. */
template <int COUNT, int GAP, typename T>
static __device__ inline void matmul_read(const T *row, T (&to)[COUNT]) {
  constexpr int QUAD = matmul_quad<T>::WIDTH;
#pragma unroll
  for (int q = 0; q < COUNT / QUAD; q++) {
    const matmul_quad<T> quad = *reinterpret_cast<const matmul_quad<T> *>(row + q * GAP);
#pragma unroll
    for (int e = 0; e < QUAD; e++) to[q * QUAD + e] = quad.at[e];
  }
}

/* A column down, the next one up: every multiply-add has an operand of the one before it. By rows
 * ptxas spreads the chains over the banks of registers so that twice as many multiply-adds ask one
 * bank for two numbers. */
template <int DOWN, int ACROSS, typename T>
static __device__ inline void matmul_step(const T (&a)[DOWN], const T (&b)[ACROSS],
                                          T (&t)[DOWN][ACROSS]) {
#pragma unroll
  for (int j = 0; j < ACROSS; j++)
#pragma unroll
    for (int c = 0; c < DOWN; c++) {
      const int i = j % 2 == 0 ? DOWN - 1 - c : c;
      t[i][j] = matmul_fma(a[i], b[j], t[i][j]);
    }
}

/* A whole stage: `a` and `b` point to the thread's first quads. */
template <typename F, typename T>
static __device__ inline void matmul_work(const T *a, const T *b, T (&t)[F::DOWN][F::ACROSS]) {
  constexpr int A_GAP = F::HIGH * F::QUAD, B_GAP = F::WIDE * F::QUAD;
  T rows[2][F::DOWN], columns[2][F::ACROSS];
  matmul_read<F::DOWN, A_GAP>(a, rows[0]);
  matmul_read<F::ACROSS, B_GAP>(b, columns[0]);
#pragma unroll
  for (int s = 0; s < F::DEPTH; s++) {
    if (s + 1 < F::DEPTH) {
      matmul_read<F::DOWN, A_GAP>(a + (s + 1) * F::PA::PITCH, rows[(s + 1) % 2]);
      matmul_read<F::ACROSS, B_GAP>(b + (s + 1) * F::PB::PITCH, columns[(s + 1) % 2]);
    }
    matmul_step<F::DOWN, F::ACROSS>(rows[s % 2], columns[s % 2], t);
  }
}

/* The first `left` steps of one. */
template <typename F, typename T>
static __device__ inline void matmul_work_tail(const T *a, const T *b, int left,
                                               T (&t)[F::DOWN][F::ACROSS]) {
  constexpr int A_GAP = F::HIGH * F::QUAD, B_GAP = F::WIDE * F::QUAD;
#pragma unroll 1
  for (int s = 0; s < left; s++) {
    T rows[F::DOWN], columns[F::ACROSS];
    matmul_read<F::DOWN, A_GAP>(a + s * F::PA::PITCH, rows);
    matmul_read<F::ACROSS, B_GAP>(b + s * F::PB::PITCH, columns);
    matmul_step<F::DOWN, F::ACROSS>(rows, columns, t);
  }
}

/* A tile to C through shared memory; `y` and `x` are a thread's first row and column. It lays down
 * products by alpha, for chains that had to lie side by side in registers would be two of
 * a bank in most multiply-adds. */
template <typename F, typename T>
static __device__ RUNG_ASIDE void matmul_store_rows(const matmul_job<T, T> &job,
                                                    const matmul_tile &tile,
                                                    const matmul_tile &from, T *shared, int y,
                                                    int x, const T (&t)[F::DOWN][F::ACROSS]) {
  constexpr int PITCH = F::COLUMNS + F::QUAD;
  static_assert(F::ROWS * PITCH * (int)sizeof(T) <= F::BYTES, "a tile in its stages' place");
  __syncthreads();
#pragma unroll
  for (int r = 0; r < F::DOWN; r++)
#pragma unroll
    for (int q = 0; q < F::ACROSS; q += F::QUAD) {
      matmul_quad<T> quad;
#pragma unroll
      for (int e = 0; e < F::QUAD; e++) quad.at[e] = job.alpha * t[r][q + e];
      const int row = y + r / F::QUAD * F::HIGH * F::QUAD + r % F::QUAD;
      *reinterpret_cast<matmul_quad<T> *>(shared + row * PITCH + x + q * F::WIDE) = quad;
    }
  __syncthreads();
  matmul_store_laid(job, tile, from, shared, {F::ROWS, F::COLUMNS, PITCH, F::THREADS});
}

/* A whole tile of quads to which nothing is added: one pointer, and no question. APART: a thread's
 * rows lie HIGH apart, and are no quads. */
template <typename F, typename T>
static __device__ inline bool matmul_is_plain(const matmul_job<T, T> &job,
                                              const matmul_tile &tile) {
  return job.c_wide && job.added == nullptr && tile.i + F::ROWS <= job.m &&
         tile.j + F::COLUMNS <= job.n;
}
template <typename F, bool APART = false, typename T>
static __device__ RUNG_ASIDE void matmul_store_plain(const matmul_job<T, T> &job,
                                                     const matmul_tile &tile, int y, int x,
                                                     const T (&t)[F::DOWN][F::ACROSS]) {
  T *to =
      static_cast<T *>(job.c) + tile.batch * job.cs.batch + (tile.i + y) * job.cs.row + tile.j + x;
#pragma unroll
  for (int r = 0; r < F::DOWN; r++) {
#pragma unroll
    for (int q = 0; q < F::ACROSS; q += F::QUAD) {
      matmul_quad<T> quad;
#pragma unroll
      for (int e = 0; e < F::QUAD; e++) quad.at[e] = job.alpha * t[r][q + e];
      rung_store_whole(to + q * F::WIDE, quad);
    }
    if (APART)
      to += F::HIGH * job.cs.row;
    else
      to += (r % F::QUAD == F::QUAD - 1 ? F::HIGH * F::QUAD - F::QUAD + 1 : 1) * job.cs.row;
  }
}

template <typename F, typename T>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_stream(matmul_job<T, T> job, matmul_tiles tiles, int64_t first) {
  RUNG_DYNAMIC_SHARED(T, shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int y = (warp % (F::HIGH / 4) * 4 + lane / 8) * F::QUAD;
  const int x = (warp / (F::HIGH / 4) * 8 + lane % 8) * F::QUAD;
  T t[F::DOWN][F::ACROSS] = {};
  __shared__ matmul_tile tile; /* until the end, as all registers are taken */
  const matmul_tile begun = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, first + rung_block_number());
  if (threadIdx.x == 0) tile = begun;
  matmul_walk<F>(
      job, begun, tile, shared, [&](const T *a, const T *b) { matmul_work<F>(a + y, b + x, t); },
      [&](const T *a, const T *b, int left) { matmul_work_tail<F>(a + y, b + x, left, t); });
  __syncthreads();
  const matmul_tile from = matmul_moved<F>(job, tile);
  if (matmul_is_plain<F>(job, tile)) return matmul_store_plain<typename F::any>(job, tile, y, x, t);
  if constexpr (F::TURNS)
    if (!matmul_has_quads(job))
      return matmul_store_rows<typename F::any>(job, tile, from, shared, y, x, t);
#pragma unroll
  for (int r = 0; r < F::DOWN; r++) {
    const int64_t i = from.i + r / F::QUAD * F::HIGH * F::QUAD + y + r % F::QUAD;
    if (i < tile.i || i >= job.m) continue;
#pragma unroll
    for (int q = 0; q < F::ACROSS; q += F::QUAD)
      matmul_store_run<F::QUAD>(job, tile.batch, i, from.j + q * F::WIDE + x, tile.j, &t[r][q]);
  }
}

template <typename F, typename T>
static rung_status matmul_run_stream(const rung_task *task, const matmul_job<T, T> &job) {
  MATMUL_RUN_TILES(task, F, (matmul_stream<F, T>), job);
  return RUNG_OK;
}

/* By how A and B lie: with k going on in memory, or their lines. */
template <typename F, typename T>
static rung_status matmul_run_stream_of(const rung_task *task, const matmul_job<T, T> &job) {
  const bool a = job.as.row != 1, b = job.bs.column != 1;
  if (a && b)
    return matmul_run_stream<typename F::template of<MATMUL_TURNED, MATMUL_TURNED>::type>(task,
                                                                                          job);
  if (a)
    return matmul_run_stream<typename F::template of<MATMUL_TURNED, MATMUL_LINES>::type>(task, job);
  if (b)
    return matmul_run_stream<typename F::template of<MATMUL_LINES, MATMUL_TURNED>::type>(task, job);
  return matmul_run_stream<F>(task, job);
}
template <typename F>
static rung_status matmul_run_stream_of(const rung_task *task) {
  return matmul_run_stream_of<F>(task, matmul_job_of<typename F::T>(task));
}

/* 128 by 128, 8 by 8 a thread, of so many stages. */
template <int STAGES>
static rung_status matmul_run_square(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? matmul_run_stream_of<matmul_shape<float, 128, 128, 8, 8, 8, STAGES, 1>>(task)
             : matmul_run_stream_of<matmul_shape<double, 128, 128, 8, 8, 8, STAGES, 1>>(task);
}

#endif
