/* How panels of A and B come into shared memory by 16 bytes, several of them on their way while
 * earlier ones are worked on. */
#ifndef RUNG_MATMUL_CUDA_FEED_CUH
#define RUNG_MATMUL_CUDA_FEED_CUH

#include "ops/matmul/cuda/panel.cuh"

template <typename T>
struct __align__(16) matmul_quad {
  static constexpr int WIDTH = 16 / sizeof(T);
  T at[WIDTH];
};

/* How an operand comes in: as its lines (rows of A, columns of B) go on in memory, to [l][line]; as
 * its k does, to [line][l]; or, as its k does, turned to [l][line]. */
enum matmul_way { MATMUL_LINES, MATMUL_STEPS, MATMUL_TURNED };

/* A panel in shared memory: LINES lines, DEPTH of k. Runs of what goes on there lie PAD elements
 * further apart than they are long. */
template <int LINES_, int DEPTH_, matmul_way WAY_, int PAD>
struct matmul_layout {
  static constexpr matmul_way WAY = WAY_;
  static constexpr int LINES = LINES_, DEPTH = DEPTH_,
                       PITCH = PAD + (WAY == MATMUL_STEPS ? DEPTH : LINES),
                       LINE = WAY == MATMUL_STEPS
                                  ? PITCH
                                  : 1, /* from a line to the next, from an l to the next */
      STEP = WAY == MATMUL_STEPS ? 1 : PITCH, SIZE = PITCH * (WAY == MATMUL_STEPS ? LINES : DEPTH);
};

template <bool ASYNC, typename V>
static __device__ inline void matmul_move(V *to, const V *from) {
  if (ASYNC)
    rung_copy_async(to, from);
  else
    *to = *from;
}

/* Of a dimension: whole passes of at most so many at once, by a power of two of them. */
constexpr int matmul_pass(int most, int all) {
  int pass = 1;
  while (2 * pass <= most && all % (2 * pass) == 0) pass *= 2;
  return pass;
}

/* Whole panels of an operand, one after the other. A thread's elements of a panel are the same ones
 * each time: its pointer only goes on. Lines that the operand has not are left out: what is made of
 * them is not stored. */
template <typename T, typename P, int THREADS, bool ASYNC>
struct matmul_feed {
  static constexpr int QUAD = matmul_quad<T>::WIDTH, BY_LINES = P::WAY == MATMUL_LINES,
                       /* Threads along what goes on in memory: of quads, and of elements. Turned:
                        * eight steps of k of four lines a warp, which meet no bank twice. */
      ALONG = BY_LINES ? P::LINES : P::DEPTH, QUADS = ALONG / QUAD,
                       ELEMENTS = P::WAY == MATMUL_TURNED ? 8 : ALONG,
                       /* Of the other dimension at once. */
      ACROSS = BY_LINES ? P::DEPTH : P::LINES, QUADS_PASS = matmul_pass(THREADS / QUADS, ACROSS),
                       PASS = matmul_pass(THREADS / ELEMENTS, ACROSS),
                       OVER = BY_LINES ? P::STEP : P::LINE;
  const T *from;      /* the thread's first element of the next panel */
  int64_t pass, next; /* from a pass to the next, from a panel to the next */
  int into;           /* the first element's place in a panel */
  int lines;          /* from its first one on */
  bool wide, idle;    /* idle: this thread has no part in it */

  __device__ RUNG_ASIDE void begin(const matmul_source<T> &source) {
    static_assert((P::WAY == MATMUL_TURNED || QUADS <= THREADS) && ELEMENTS <= THREADS,
                  "a thread for everything of a pass");
    const int t = threadIdx.x;
    wide = P::WAY != MATMUL_TURNED && source.wide;
    const int along = wide ? t % QUADS * QUAD : t % ELEMENTS;
    const int across = wide ? t / QUADS : t / ELEMENTS;
    const int line = BY_LINES ? along : across, s = BY_LINES ? across : along;
    lines = (source.lines < P::LINES ? (int)source.lines : P::LINES) - line;
    idle = across >= (wide ? QUADS_PASS : PASS) || lines <= 0;
    from = source.from + line * source.line + s * source.step;
    into = line * P::LINE + s * P::STEP;
    pass = (wide ? QUADS_PASS : PASS) * (BY_LINES ? source.step : source.line);
    next = P::DEPTH * source.step;
  }

  __device__ RUNG_ASIDE void bring(T *to) {
    const T *at = from;
    to += into;
    from += next;
    if (idle) return;
    if (P::WAY != MATMUL_TURNED && wide) {
#pragma unroll
      for (int c = 0; c < ACROSS; c += QUADS_PASS, at += pass)
        if (BY_LINES || c < lines)
          matmul_move<ASYNC>(reinterpret_cast<matmul_quad<T> *>(to + c * OVER),
                             reinterpret_cast<const matmul_quad<T> *>(at));
    } else {
#pragma unroll
      for (int c = 0; c < ACROSS; c += PASS, at += pass)
#pragma unroll
        for (int s = 0; s < ALONG; s += ELEMENTS)
          if (BY_LINES || c < lines) matmul_move<ASYNC>(to + c * OVER + s * P::STEP, at + s);
    }
  }
};

/* Elements [l, l + DEPTH) of all lines as far as there are any: of the last panel. Where its steps
 * lie side by side threads are beside each other along them, else along lines. `slid`, of a line
 * and a step: how many places further on it lies in shared memory than P says. */
struct matmul_unslid {
  __device__ inline int operator()(int, int) const {
    return 0;
  }
};
template <typename P, int THREADS, bool ASYNC, typename T, typename SLID = matmul_unslid>
static __device__ RUNG_ASIDE void matmul_bring(T *to, const matmul_source<T> &source, int64_t l,
                                               int64_t left, const SLID &slid = SLID()) {
  constexpr bool BY_STEPS = P::WAY == MATMUL_STEPS;
  const int steps = left < P::DEPTH ? (int)left : P::DEPTH;
#pragma unroll 1
  for (int at = threadIdx.x; at < P::LINES * (BY_STEPS ? P::DEPTH : steps); at += THREADS) {
    const int line = BY_STEPS ? at / P::DEPTH : at % P::LINES;
    const int s = BY_STEPS ? at % P::DEPTH : at / P::LINES;
    if (line < source.lines && s < steps)
      matmul_move<ASYNC>(to + line * P::LINE + s * P::STEP + slid(line, s),
                         source.from + line * source.line + (l + s) * source.step);
  }
}

/* ---- tiles ------------------------------------------------------------------------------------
 */

/* A tile at an edge begins so far before it that it is whole, where there is as much, and stores
 * what its neighbours do not have. */
template <typename F, typename T>
static __device__ inline matmul_tile matmul_moved(const matmul_job<T, T> &job,
                                                  const matmul_tile &tile) {
  const int64_t i = job.a_lines - F::ROWS, j = job.b_lines - F::COLUMNS;
  return {tile.batch, i < 0 || tile.i < i ? tile.i : i, j < 0 || tile.j < j ? tile.j : j};
}

/* Whether 16 bytes of C from a multiple of as many on are in all its rows or in none. */
template <typename T>
RUNG_ANYWHERE bool matmul_has_quads(const matmul_job<T, T> &job) {
  return job.c_wide && job.n % matmul_quad<T>::WIDTH == 0;
}

/* WIDTH elements of C from (i, j) on, of its columns those from `first` on. */
template <int WIDTH, typename T>
static __device__ RUNG_ASIDE void matmul_store_run(const matmul_job<T, T> &job, int64_t batch,
                                                   int64_t i, int64_t j, int64_t first,
                                                   const T *t) {
  matmul_quad<T> quad;
  static_assert(WIDTH == matmul_quad<T>::WIDTH, "16 bytes");
  T *const to = static_cast<T *>(job.c) + batch * job.cs.batch + i * job.cs.row + j * job.cs.column;
  const int64_t added = batch * job.ds.batch + i * job.ds.row + j * job.ds.column;
  if (!job.c_wide || j % WIDTH != 0 || j < first || j + WIDTH > job.n) {
#pragma unroll
    for (int e = 0; e < WIDTH; e++)
      if (j + e >= first && j + e < job.n)
        to[e * job.cs.column] = matmul_ended(job, job.added, added + e * job.ds.column, t[e]);
    return;
  }
#pragma unroll
  for (int e = 0; e < WIDTH; e++)
    quad.at[e] = matmul_ended(job, job.added, added + e * job.ds.column, t[e]);
  rung_store_whole(to, quad);
}

/* A tile to C by rows, which it lies in shared memory in: neighbours store neighbours. What it is
 * called with are constants once it is inlined; the simulator has one of it for all tiles. */
struct matmul_laid {
  int rows, columns, pitch, threads;
};
template <typename T>
static __device__ RUNG_ASIDE void matmul_store_laid(const matmul_job<T, T> &job,
                                                    const matmul_tile &tile,
                                                    const matmul_tile &from, const T *shared,
                                                    matmul_laid laid) {
  const int rows = job.m - from.i < laid.rows ? (int)(job.m - from.i) : laid.rows,
            columns = job.n - from.j < laid.columns ? (int)(job.n - from.j) : laid.columns;
  const int left = (int)(tile.j - from.j), lane = threadIdx.x % 32, down = laid.threads / 32;
  int y = (int)(tile.i - from.i) + threadIdx.x / 32;
  T *to = static_cast<T *>(job.c) + tile.batch * job.cs.batch + (from.i + y) * job.cs.row +
          (from.j + lane) * job.cs.column;
  int64_t added =
      tile.batch * job.ds.batch + (from.i + y) * job.ds.row + (from.j + lane) * job.ds.column;
  shared += y * laid.pitch + lane;
#pragma unroll 4
  for (; y < rows; y += down) {
#pragma unroll
    for (int x = 0; x < laid.columns; x += 32)
      if (lane + x >= left && lane + x < columns)
        to[x * job.cs.column] = matmul_sum_of(job, job.added, added + x * job.ds.column, shared[x]);
    shared += down * laid.pitch;
    to += down * job.cs.row;
    added += down * job.ds.row;
  }
}

/* ---- the loop over k --------------------------------------------------------------------------
 */

/* The first AHEAD of `whole` panels are on their way. */
template <typename F, bool ASYNC, int AHEAD, typename T, typename A, typename B>
static __device__ inline void matmul_walk_begin(const matmul_job<T, T> &job,
                                                const matmul_tile &tile, int whole, T *shared,
                                                A &feed_a, B &feed_b) {
  constexpr int OF_B = F::PA::SIZE, STAGE = F::PA::SIZE + F::PB::SIZE;
  const matmul_tile from = matmul_moved<F>(job, tile);
  feed_a.begin(matmul_rows_of(job, from));
  feed_b.begin(matmul_columns_of(job, from));
  for (int p = 0; p < AHEAD; p++) {
    if (p < whole) {
      feed_a.bring(shared + p * STAGE);
      feed_b.bring(shared + p * STAGE + OF_B);
    }
    if (ASYNC) rung_copy_async_commit();
  }
}

/* What is left of k behind `whole` panels, through the first stage to tail(a, b, steps). */
template <typename F, bool ASYNC, typename T, typename TAIL>
static __device__ inline void matmul_walk_rest(const matmul_job<T, T> &job, const matmul_tile &tile,
                                               int whole, T *shared, const TAIL &tail) {
  constexpr int OF_B = F::PA::SIZE;
#pragma unroll 1
  for (int64_t l = (int64_t)whole * F::DEPTH; l < job.k; l += F::DEPTH) {
    const int64_t left = job.k - l;
    __syncthreads();
    const matmul_tile from = matmul_moved<F>(job, tile);
    matmul_bring<typename F::PA, F::THREADS, ASYNC>(shared, matmul_rows_of(job, from), l, left);
    matmul_bring<typename F::PB, F::THREADS, ASYNC>(shared + OF_B, matmul_columns_of(job, from), l,
                                                    left);
    if (ASYNC) rung_copy_async_commit();
    if (ASYNC) rung_copy_async_wait();
    __syncthreads();
    tail(shared, shared + OF_B, (int)(left < F::DEPTH ? left : F::DEPTH));
  }
}

/* All of a tile's k: whole panels through F::STAGES stages, each given to work(a, b), the rest
 * through the first one to tail(a, b, steps). F says shapes and layouts: PA, PB. `kept` is the tile
 * once more: where a kernel has no registers for it, in shared memory. */
template <typename F, typename T, typename WORK, typename TAIL>
static __device__ inline void matmul_walk(const matmul_job<T, T> &job, const matmul_tile &tile,
                                          const matmul_tile &kept, T *shared, const WORK &work,
                                          const TAIL &tail) {
  constexpr int ASYNC = F::STAGES > 1, AHEAD = F::STAGES > 1 ? F::STAGES - 1 : 1,
                OF_B = F::PA::SIZE, STAGE = F::PA::SIZE + F::PB::SIZE,
                LAST = (F::STAGES - 1) * STAGE;
  const int whole = (int)(job.k / F::DEPTH);
  matmul_feed<T, typename F::PA, F::THREADS, ASYNC> feed_a;
  matmul_feed<T, typename F::PB, F::THREADS, ASYNC> feed_b;
  matmul_walk_begin<F, ASYNC, AHEAD>(job, tile, whole, shared, feed_a, feed_b);
  int stage = 0;
#pragma unroll 1
  for (int left = whole; left > 0; left--) {
    const int free = stage >= STAGE ? stage - STAGE : LAST;
    if (ASYNC) rung_copy_async_wait<AHEAD - 1>();
    __syncthreads();
    if (ASYNC && left > AHEAD) {
      feed_a.bring(shared + free);
      feed_b.bring(shared + free + OF_B);
    }
    if (ASYNC) rung_copy_async_commit();
    work(shared + stage, shared + stage + OF_B);
    stage = stage == LAST ? 0 : stage + STAGE;
    if (ASYNC) continue;
    __syncthreads();
    if (left == 1) continue;
    feed_a.bring(shared);
    feed_b.bring(shared + OF_B);
  }
  matmul_walk_rest<F, ASYNC>(job, kept, whole, shared, tail);
}

/* The same, where what a thread needs of its panels comes from shared memory into registers while
 * it works on what it had before, F::SLICE steps each: take(a, b, which) brings them into one of
 * two places, work(which) works on them. */
template <typename F, typename T, typename TAKE, typename WORK, typename TAIL>
static __device__ inline void matmul_walk_ahead(const matmul_job<T, T> &job,
                                                const matmul_tile &tile, T *shared,
                                                const TAKE &take, const WORK &work,
                                                const TAIL &tail) {
  constexpr int AHEAD = F::STAGES - 1, OF_B = F::PA::SIZE, STAGE = F::PA::SIZE + F::PB::SIZE,
                LAST = AHEAD * STAGE;
  static_assert(AHEAD > 0 && F::DEPTH % (2 * F::SLICE) == 0, "slices by turns");
  const int whole = (int)(job.k / F::DEPTH);
  matmul_feed<T, typename F::PA, F::THREADS, true> feed_a;
  matmul_feed<T, typename F::PB, F::THREADS, true> feed_b;
  matmul_walk_begin<F, true, AHEAD>(job, tile, whole, shared, feed_a, feed_b);
  rung_copy_async_wait<AHEAD - 1>();
  __syncthreads();
  if (whole > 0) take(shared, shared + OF_B, 0);
  int stage = 0;
#pragma unroll 1
  for (int left = whole; left > 0; left--) {
    const int free = stage >= STAGE ? stage - STAGE : LAST;
    const T *a = shared + stage, *b = a + OF_B;
    stage = stage == LAST ? 0 : stage + STAGE;
#pragma unroll
    for (int l = F::SLICE; l < F::DEPTH; l += F::SLICE) {
      take(a + l * F::PA::STEP, b + l * F::PB::STEP, l / F::SLICE % 2);
      if (l == F::SLICE) {
        if (left > AHEAD) {
          feed_a.bring(shared + free);
          feed_b.bring(shared + free + OF_B);
        }
        rung_copy_async_commit();
      }
      work(1 - l / F::SLICE % 2);
    }
    if (left > 1) {
      rung_copy_async_wait<AHEAD - 1>();
      __syncthreads();
      take(shared + stage, shared + stage + OF_B, 0);
    }
    work(1);
  }
  matmul_walk_rest<F, true>(job, tile, whole, shared, tail);
}

/* Tiles that are moved to an edge begin anywhere: 16 bytes at once are then no more. */
template <typename F, typename T>
static inline matmul_job<T, T> matmul_fitted(matmul_job<T, T> job) {
  constexpr int QUAD = matmul_quad<T>::WIDTH;
  if (F::PA::WAY == MATMUL_LINES && job.a_lines % QUAD != 0) job.a_wide = false;
  if (F::PB::WAY == MATMUL_LINES && job.b_lines % QUAD != 0) job.b_wide = false;
  return job;
}

/* Launches a kernel of tiles of F, (job, tiles, first): its blocks are tiles from `first` on. */
#define MATMUL_RUN_TILES(task, F, kernel, job)                                                  \
  do {                                                                                          \
    const matmul_tiles tiles_ = matmul_tiles_of((task), F::ROWS, F::COLUMNS);                   \
    const auto job_ = matmul_fitted<F>(job);                                                    \
    RUNG_ALLOW_SHARED((task), kernel, F::BYTES);                                                \
    for (int64_t first_ = 0; first_ < tiles_.all; first_ += INT32_MAX)                          \
      RUNG_LAUNCH((task), kernel, matmul_grid(tiles_.all - first_), F::THREADS, F::BYTES, job_, \
                  tiles_, first_);                                                              \
  } while (0)

#endif
