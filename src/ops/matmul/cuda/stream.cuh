/* Tiles whose panels come in by 16 bytes and, of more than one stage, while earlier ones are worked
 * on. A thread's rows and columns are quads: runs of 16 bytes, read from shared memory at once. */
#ifndef RUNG_MATMUL_CUDA_STREAM_CUH
#define RUNG_MATMUL_CUDA_STREAM_CUH

#include "ops/matmul/cuda/panel.cuh"

template <typename T>
struct __align__(16) matmul_quad {
  enum { WIDTH = 16 / sizeof(T) };
  T at[WIDTH];
};

/* A tile of ROWS by COLUMNS, DEPTH of k at a time; a thread makes DOWN by ACROSS of it. A warp is
 * four threads high and eight wide, so that its reads of A and of B are each one pass. */
template <typename T, int ROWS_, int COLUMNS_, int DEPTH_, int DOWN_, int ACROSS_, int STAGES_>
struct matmul_shape {
  enum {
    ROWS = ROWS_,
    COLUMNS = COLUMNS_,
    DEPTH = DEPTH_,
    DOWN = DOWN_,
    ACROSS = ACROSS_,
    STAGES = STAGES_,
    QUAD = matmul_quad<T>::WIDTH,
    HIGH = ROWS / DOWN, /* threads */
    WIDE = COLUMNS / ACROSS,
    THREADS = HIGH * WIDE,
    A_PITCH = ROWS + QUAD,
    B_PITCH = COLUMNS + QUAD,
    STAGE = DEPTH * (A_PITCH + B_PITCH),
    BYTES = STAGES * STAGE * (int)sizeof(T)
  };
};

template <bool ASYNC, typename V>
static __device__ inline void matmul_move(V *to, const V *from) {
  if (ASYNC)
    rung_copy_async(to, from);
  else
    *to = *from;
}

/* Elements [l, l + DEPTH) of all lines, of which `left` are there, to [l][line]. */
template <int THREADS, int LINES, int DEPTH, int PITCH, bool ASYNC, typename T>
static __device__ inline void matmul_bring(T *to, const matmul_source<T> &source, int64_t l,
                                           int64_t left) {
  enum { QUAD = matmul_quad<T>::WIDTH, QUADS = LINES / QUAD };
  if (source.line == 1 && source.wide) {
#pragma unroll
    for (int c = 0; c < QUADS * DEPTH; c += THREADS) {
      const int at = c + threadIdx.x, s = at / QUADS, line = at % QUADS * QUAD;
      const T *from = source.from + (l + s) * source.step + line;
      T *into = to + s * PITCH + line;
      if (at >= QUADS * DEPTH || s >= left) continue;
      if (line + QUAD <= source.lines)
        matmul_move<ASYNC>(reinterpret_cast<matmul_quad<T> *>(into),
                           reinterpret_cast<const matmul_quad<T> *>(from));
      else
        for (int e = 0; line + e < source.lines; e++) matmul_move<ASYNC>(into + e, from + e);
    }
    return;
  }
  const bool side_by_side = source.line == 1;
#pragma unroll 4 /* more would only keep more addresses in registers */
  for (int c = 0; c < LINES * DEPTH; c += THREADS) {
    const int at = c + threadIdx.x;
    const int line = side_by_side ? at % LINES : at / DEPTH;
    const int s = side_by_side ? at / LINES : at % DEPTH;
    if (at < LINES * DEPTH && line < source.lines && s < left)
      matmul_move<ASYNC>(to + s * PITCH + line,
                         source.from + line * source.line + (l + s) * source.step);
  }
}

/* COUNT numbers of a thread: its quads of a row of a panel, GAP apart. */
template <int COUNT, int GAP, typename T>
static __device__ inline void matmul_read(const T *row, T (&to)[COUNT]) {
  enum { QUAD = matmul_quad<T>::WIDTH };
#pragma unroll
  for (int q = 0; q < COUNT / QUAD; q++) {
    const matmul_quad<T> quad = *reinterpret_cast<const matmul_quad<T> *>(row + q * GAP);
#pragma unroll
    for (int e = 0; e < QUAD; e++) to[q * QUAD + e] = quad.at[e];
  }
}

/* Two rows at a time, there and back: neighbours share an operand. */
template <int DOWN, int ACROSS, typename T>
static __device__ inline void matmul_step(const T (&a)[DOWN], const T (&b)[ACROSS],
                                          T (&t)[DOWN][ACROSS]) {
#pragma unroll
  for (int i = 0; i < DOWN; i += 2)
#pragma unroll
    for (int c = 0; c < ACROSS; c++) {
      const int j = i / 2 % 2 == 0 ? c : ACROSS - 1 - c;
      t[i][j] = matmul_fma(a[i], b[j], t[i][j]);
      t[i + 1][j] = matmul_fma(a[i + 1], b[j], t[i + 1][j]);
    }
}

/* What a thread does with a stage: `a` and `b` point to its own first quads. */
template <typename F, typename T>
static __device__ inline void matmul_work(const T *a, const T *b, int64_t left,
                                          T (&t)[F::DOWN][F::ACROSS]) {
  enum { A_GAP = F::HIGH * F::QUAD, B_GAP = F::WIDE * F::QUAD };
  T rows[2][F::DOWN], columns[2][F::ACROSS];
  if (left < F::DEPTH) {
#pragma unroll 1
    for (int s = 0; s < left; s++) {
      matmul_read<F::DOWN, A_GAP>(a + s * F::A_PITCH, rows[0]);
      matmul_read<F::ACROSS, B_GAP>(b + s * F::B_PITCH, columns[0]);
      matmul_step<F::DOWN, F::ACROSS>(rows[0], columns[0], t);
    }
    return;
  }
  matmul_read<F::DOWN, A_GAP>(a, rows[0]);
  matmul_read<F::ACROSS, B_GAP>(b, columns[0]);
#pragma unroll
  for (int s = 0; s < F::DEPTH; s++) {
    if (s + 1 < F::DEPTH) {
      matmul_read<F::DOWN, A_GAP>(a + (s + 1) * F::A_PITCH, rows[(s + 1) % 2]);
      matmul_read<F::ACROSS, B_GAP>(b + (s + 1) * F::B_PITCH, columns[(s + 1) % 2]);
    }
    matmul_step<F::DOWN, F::ACROSS>(rows[s % 2], columns[s % 2], t);
  }
}

/* A quad of C from (i, j) on. */
template <typename T>
static __device__ inline void matmul_store_quad(const matmul_job<T, T> &job, int64_t batch,
                                                int64_t i, int64_t j, const T *t) {
  enum { QUAD = matmul_quad<T>::WIDTH };
  matmul_quad<T> quad;
  if (!job.c_wide || j + QUAD > job.n) {
    for (int e = 0; e < QUAD && j + e < job.n; e++) matmul_store(job, batch, i, j + e, t[e]);
    return;
  }
#pragma unroll
  for (int e = 0; e < QUAD; e++)
    quad.at[e] = matmul_ended(job, job.added, batch * job.ds.batch + i * job.ds.row + j + e, t[e]);
  *reinterpret_cast<matmul_quad<T> *>(static_cast<T *>(job.c) + batch * job.cs.batch +
                                      i * job.cs.row + j) = quad;
}

template <typename F, typename T>
__global__ void __launch_bounds__(F::THREADS, 1)
    matmul_stream(matmul_job<T, T> job, matmul_tiles tiles) {
  RUNG_DYNAMIC_SHARED(T, shared);
  enum { ASYNC = F::STAGES > 1, AHEAD = F::STAGES > 1 ? F::STAGES - 1 : 1 };
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int y = (warp % (F::HIGH / 4) * 4 + lane / 8) * F::QUAD;
  const int x = (warp / (F::HIGH / 4) * 8 + lane % 8) * F::QUAD;
  const int64_t panels = (job.k + F::DEPTH - 1) / F::DEPTH;
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    const matmul_source<T> of_a = matmul_rows_of(job, tile), of_b = matmul_columns_of(job, tile);
    T t[F::DOWN][F::ACROSS] = {};
    const auto bring = [&](int64_t p) {
      T *stage = shared + p % F::STAGES * F::STAGE;
      const int64_t l = p * F::DEPTH;
      if (p < panels) {
        matmul_bring<F::THREADS, F::ROWS, F::DEPTH, F::A_PITCH, ASYNC>(stage, of_a, l, job.k - l);
        matmul_bring<F::THREADS, F::COLUMNS, F::DEPTH, F::B_PITCH, ASYNC>(
            stage + F::DEPTH * F::A_PITCH, of_b, l, job.k - l);
      }
      if (ASYNC) rung_copy_async_commit();
    };
    for (int p = 0; p < AHEAD; p++) bring(p);
    for (int64_t p = 0; p < panels; p++) {
      const T *stage = shared + p % F::STAGES * F::STAGE;
      if (ASYNC) rung_copy_async_wait<AHEAD - 1>();
      __syncthreads();
      if (ASYNC) bring(p + AHEAD);
      matmul_work<F>(stage + y, stage + F::DEPTH * F::A_PITCH + x, job.k - p * F::DEPTH, t);
      if (ASYNC) continue;
      __syncthreads();
      bring(p + AHEAD);
    }
    __syncthreads(); /* before the next tile's panels come in */
#pragma unroll
    for (int r = 0; r < F::DOWN; r++) {
      const int64_t i = tile.i + r / F::QUAD * F::HIGH * F::QUAD + y + r % F::QUAD;
      if (i >= job.m) continue;
#pragma unroll
      for (int q = 0; q < F::ACROSS; q += F::QUAD) {
        const int64_t j = tile.j + q * F::WIDE + x;
        if (j < job.n) matmul_store_quad(job, tile.batch, i, j, &t[r][q]);
      }
    }
  }
}

template <typename F, typename T>
static rung_status matmul_run_stream(const rung_task *task) {
  const auto tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  RUNG_ALLOW_SHARED(task, (matmul_stream<F, T>), F::BYTES);
  RUNG_LAUNCH(task, (matmul_stream<F, T>), matmul_grid(tiles.all), F::THREADS, F::BYTES,
              matmul_job_of<T>(task), tiles);
  return RUNG_OK;
}

#endif
