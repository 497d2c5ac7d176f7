/* Rung `chains`: products of few elements and long k, which wait for their chains of multiply-adds
 * and for nothing else. Tiles are so small that all multiprocessors have some; a thread has one,
 * two or four chains. Panels lie [line][l], so that a read of 16 bytes is several steps; reads are
 * some steps ahead of the chains, over the end of a stage too. Warps that load and warps that work
 * have each a loop of their own, and meet once a stage. */
#include "ops/matmul/cuda/sides.cuh"
#include "ops/matmul/tiles.h"

/* Warps HIGH by WIDE, of lanes DOWN by 32 / DOWN that have R by C chains each, and LOADERS warps
 * that bring panels in. */
template <typename T_, int DOWN_, int HIGH_, int WIDE_, int R_, int C_, int LOADERS_, int READS_,
          int STAGES_>
struct chain_shape {
  typedef T_ T;
  static constexpr int DOWN = DOWN_, ACROSS = 32 / DOWN, HIGH = HIGH_, WIDE = WIDE_, R = R_, C = C_,
                       STAGES = STAGES_, ROWS = HIGH * DOWN * R, COLUMNS = WIDE * ACROSS * C,
                       WORKERS = HIGH * WIDE * 32, LOADERS = LOADERS_ * 32,
                       THREADS = WORKERS + LOADERS, QUAD = matmul_quad<T>::WIDTH,
                       READS = READS_, /* of a line in a stage; AHEAD of them are under way */
      AHEAD = 3, DEPTH = READS * QUAD, A_NEXT = QUAD, B_NEXT = QUAD, PITCH = DEPTH + QUAD,
                       OF_B = ROWS * PITCH, STAGE = OF_B + COLUMNS * PITCH,
                       BYTES = STAGES * STAGE * (int)sizeof(T);
};

/* LINES lines of an operand, one whole panel after the other. A thread's elements of a panel are
 * the same ones each time: its pointer only goes on, and nothing is tested. Of fewer lines the last
 * one comes in again, for chains that are not stored. */
template <typename F, int LINES, typename T>
struct chain_feed {
  /* Threads along k and lines: of quads; of elements where k goes on in memory; where lines do, by
   * eight lines, which meet no bank twice. */
  static constexpr int QUAD_LINES = F::LOADERS / F::READS, PASS = LINES < 8 ? LINES : 8,
                       STEPS = F::LOADERS < F::DEPTH ? F::LOADERS : F::DEPTH,
                       STEP_LINES = F::LOADERS / STEPS, PASS_STEPS = F::LOADERS / PASS;
  const T *from; /* the thread's first element of the next panel */
  int64_t line, step;
  int more; /* lines behind its first */
  int into; /* its place */
  bool wide;

  __device__ RUNG_ASIDE void begin(const matmul_source<T> &source) {
    const int t = threadIdx.x - F::WORKERS;
    line = source.line;
    step = source.step;
    wide = source.wide && step == 1;
    const int first = wide ? t / F::READS : step == 1 ? t / STEPS : t % PASS;
    const int s = wide ? t % F::READS * F::QUAD : step == 1 ? t % STEPS : t / PASS;
    const int last = source.lines < LINES ? (int)source.lines - 1 : LINES - 1;
    more = first < last ? last - first : 0;
    from = source.from + (first < last ? first : last) * line + s * step;
    into = first * F::PITCH + s;
  }

  /* Lines from the thread's first to its `i`th. */
  __device__ inline int64_t past(int i) const {
    return (i < more ? i : more) * line;
  }

  __device__ RUNG_ASIDE void bring(T *to) {
    const int t = threadIdx.x - F::WORKERS;
    const T *const at = from;
    to += into;
    from += F::DEPTH * step;
    if (wide) {
#pragma unroll
      for (int i = 0; i < LINES; i += QUAD_LINES)
        if (LINES % QUAD_LINES == 0 || i + t / F::READS < LINES)
          rung_copy_async(reinterpret_cast<matmul_quad<T> *>(to + i * F::PITCH),
                          reinterpret_cast<const matmul_quad<T> *>(at + past(i)));
    } else if (step == 1) {
#pragma unroll 8
      for (int i = 0; i < LINES; i += STEP_LINES)
#pragma unroll
        for (int s = 0; s < F::DEPTH; s += STEPS)
          if (LINES % STEP_LINES == 0 || i + t / STEPS < LINES)
            rung_copy_async(to + i * F::PITCH + s, at + past(i) + s);
    } else {
#pragma unroll 8
      for (int s = 0; s < F::DEPTH; s += PASS_STEPS)
#pragma unroll
        for (int i = 0; i < LINES; i += PASS)
          if (F::DEPTH % PASS_STEPS == 0 || s + t / PASS < F::DEPTH)
            rung_copy_async(to + i * F::PITCH + s, at + past(i) + s * step);
    }
  }
};

/* Steps [l, l + DEPTH) of LINES lines, as far as there are any. */
template <typename F, int LINES, typename T>
static __device__ RUNG_ASIDE void bring_some(T *to, const matmul_source<T> &source, int64_t l,
                                             int64_t left) {
  const bool together = source.step != 1;
#pragma unroll 1
  for (int at = threadIdx.x - F::WORKERS; at < LINES * F::DEPTH; at += F::LOADERS) {
    const int line = together ? at % LINES : at / F::DEPTH;
    const int s = together ? at / LINES : at % F::DEPTH;
    if (line < source.lines && s < left)
      rung_copy_async(to + line * F::PITCH + s,
                      source.from + line * source.line + (l + s) * source.step);
  }
}

/* One read of every line of a thread's. */
template <typename F, typename T = typename F::T>
struct chain_read {
  struct lay {};
  matmul_quad<T> a[F::R], b[F::C];

  __device__ inline void load(const T *rows, const T *columns, lay) {
#pragma unroll
    for (int r = 0; r < F::R; r++)
      a[r] = *reinterpret_cast<const matmul_quad<T> *>(rows + r * F::DOWN * F::PITCH);
#pragma unroll
    for (int c = 0; c < F::C; c++)
      b[c] = *reinterpret_cast<const matmul_quad<T> *>(columns + c * F::ACROSS * F::PITCH);
  }
  __device__ inline void work(T (&t)[F::R][F::C], int steps) const {
#pragma unroll
    for (int e = 0; e < F::QUAD; e++)
#pragma unroll
      for (int r = 0; r < F::R; r++)
#pragma unroll
        for (int c = 0; c < F::C; c++)
          if (e < steps) t[r][c] = matmul_fma(a[r].at[e], b[c].at[e], t[r][c]);
  }
};

/* What loads a tile's panels, a stage after the other. */
template <typename F, typename T>
struct chain_loader {
  matmul_source<T> rows, columns;
  chain_feed<F, F::ROWS, T> feed_a;
  chain_feed<F, F::COLUMNS, T> feed_b;
  int64_t next, whole, k; /* panels, and those that are whole */

  __device__ inline void begin(const matmul_job<T, T> &job, const matmul_tile &tile) {
    rows = matmul_rows_of(job, tile);
    columns = matmul_columns_of(job, tile);
    feed_a.begin(rows);
    feed_b.begin(columns);
    next = 0;
    k = job.k;
    whole = k / F::DEPTH;
  }
  __device__ inline void bring(T *to) {
    const int64_t left = k - next * F::DEPTH;
    if (next < whole) {
      feed_a.bring(to);
      feed_b.bring(to + F::OF_B);
    } else if (left > 0) {
      bring_some<F, F::ROWS>(to, rows, next * F::DEPTH, left);
      bring_some<F, F::COLUMNS>(to + F::OF_B, columns, next * F::DEPTH, left);
    }
    next++;
  }
};

/* A tile's two sides. */
template <typename F, typename T>
static __device__ inline void load_tile(const matmul_job<T, T> &job, const matmul_tile &from,
                                        T *shared) {
  chain_loader<F, T> loader;
  loader.begin(job, from);
  matmul_bring_side<F>(job.k, [&](int stage) { loader.bring(shared + stage); });
}

template <typename F, typename T>
static __device__ inline void work_tile(const matmul_job<T, T> &job, const matmul_tile &tile,
                                        const matmul_tile &from, const T *shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int y = warp % F::HIGH * F::DOWN * F::R + lane / F::ACROSS;
  const int x = warp / F::HIGH * F::ACROSS * F::C + lane % F::ACROSS;
  matmul_worker<F, chain_read<F>, T, F::R, F::C> worker = {};
  worker.work_side(job.k, shared + y * F::PITCH, shared + F::OF_B + x * F::PITCH, {});
#pragma unroll
  for (int r = 0; r < F::R; r++)
#pragma unroll
    for (int c = 0; c < F::C; c++) {
      const int64_t i = from.i + y + r * F::DOWN, j = from.j + x + c * F::ACROSS;
      if (i >= tile.i && i < job.m && j >= tile.j && j < job.n)
        matmul_store(job, tile.batch, i, j, worker.t[r][c]);
    }
}

template <typename F, typename T>
__global__ void __launch_bounds__(F::THREADS)
    matmul_chains(matmul_job<T, T> job, matmul_tiles tiles) {
  RUNG_DYNAMIC_SHARED(T, shared);
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    const matmul_tile from = matmul_moved<F>(job, tile);
    if (threadIdx.x >= F::WORKERS)
      load_tile<F>(job, from, shared);
    else
      work_tile<F>(job, tile, from, shared);
  }
}

template <typename F, typename T>
static rung_status launch(const rung_task *task, const matmul_job<T, T> &job) {
  const int64_t down = (job.m + F::ROWS - 1) / F::ROWS,
                across = (job.n + F::COLUMNS - 1) / F::COLUMNS;
  const matmul_tiles tiles = {down, across, down * across * job.batch};
  RUNG_ALLOW_SHARED(task, (matmul_chains<F, T>), F::BYTES);
  RUNG_LAUNCH(task, (matmul_chains<F, T>), matmul_grid(tiles.all), F::THREADS, F::BYTES, job,
              tiles);
  return RUNG_OK;
}

/* The tiles of tiles.h, in their order. */
template <typename T>
static rung_status run(const rung_task *task) {
  matmul_job<T, T> job = matmul_job_of<T>(task);
  double cost = 0;
  if (job.m > job.n) job = matmul_mirrored(job);
  const int tile = matmul_chains_tile(task, job.m, job.n, &cost);
  if (tile == 0) return launch<chain_shape<T, 4, 1, 1, 1, 1, 1, 16, 6>>(task, job);
  if (tile == 1) { /* of floats longer stages are slower where lines lie side by side */
    constexpr int WIDE = sizeof(T) / 4;
    return launch<chain_shape<T, 4, 1, 1, 1, 1, WIDE, 32 * WIDE, 8 - 2 * WIDE>>(task, job);
  }
  if (tile == 2) return launch<chain_shape<T, 4, 2, 1, 2, 2, 2, 32, 4>>(task, job);
  if (tile == 3) return launch<chain_shape<T, 1, 1, 1, 1, 1, 1, 16, 6>>(task, job);
  if constexpr (sizeof(T) == 4)
    return launch<chain_shape<T, 4, 2, 2, 2, 2, 4, 32, 4>>(task, job);
  else
    return rung_fail(task->error, RUNG_UNSUPPORTED, "there is no tile %d of doubles", tile);
}

extern "C" rung_status RUNG_ENTRY(matmul_chains)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
