/* Rung `strips`: products of few rows read B once, and that is all there is to do: a block takes a
 * strip of columns, a thread a column and its chains of four rows. Stages of B come in ahead, by
 * asynchronous copies of warps that do nothing else, enough of them to keep the memory busy.
 * Products of few columns are those of the turned matrices. */
#include "ops/matmul/cuda/sides.cuh"
#include "ops/matmul/tiles.h"

/* ROWS of C, EACH of them a thread. SLIDES: what goes on in memory, rows of B or its columns,
 * begins anywhere. It comes in by the 16 bytes that lie well, those around its ends too, and is so
 * many places further on in shared memory as it begins behind such a place. From four rows or
 * columns to the next four these places are the same. */
template <typename T_, int COLUMNS_, int ROWS_, matmul_way WAY, bool SLIDES_>
struct strip_shape {
  typedef T_ T;
  static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, QUAD = matmul_quad<T>::WIDTH,
                       EACH = ROWS < 4 ? ROWS : 4, DEPTH = 8192 / COLUMNS / (int)sizeof(T),
                       LOADERS = 128, THREADS = LOADERS + COLUMNS * (ROWS / EACH), STAGES = 6,
                       READS = DEPTH / QUAD, AHEAD = 3;
  static constexpr bool SLIDES = SLIDES_, BY_STEPS = WAY == MATMUL_STEPS;
  typedef matmul_layout<COLUMNS, DEPTH, WAY, QUAD> PB;
  static constexpr int OF_A = PB::SIZE, /* [row][l] */
      A_NEXT = QUAD, B_NEXT = QUAD * PB::STEP, STAGE = PB::SIZE + ROWS * DEPTH,
                       BYTES = STAGES * STAGE * (int)sizeof(T);
};

/* Steps [l, l + DEPTH) of the rows there are. */
template <typename F, typename T>
static __device__ RUNG_ASIDE void bring_rows(T *to, const matmul_source<T> &rows, int64_t l,
                                             int64_t left) {
  constexpr int PASS = F::LOADERS / F::DEPTH;
  const int s = threadIdx.x % F::DEPTH, first = threadIdx.x / F::DEPTH;
  const int there = rows.lines < F::ROWS ? (int)rows.lines : F::ROWS;
  const T *from = rows.from + first * rows.line + (l + s) * rows.step;
  if (s >= left) return;
  for (int i = first; i < there; i += PASS, from += PASS * rows.line)
    rung_copy_async(to + i * F::DEPTH + s, from);
}

/* How many elements behind a place of 16 bytes this one is. */
template <typename F, typename T>
static __device__ inline int slid(const T *at) {
  return F::SLIDES ? (int)((uintptr_t)at / sizeof(T) % F::QUAD) : 0;
}

/* QUAD steps of a thread's rows and of its column. */
template <typename F, typename T = typename F::T>
struct strip_read {
  struct lay {
    int at[F::QUAD]; /* how far the steps have slid */
  };
  matmul_quad<T> rows[F::EACH], column;

  __device__ inline void load(const T *a, const T *b, const lay &lay) {
    if (F::BY_STEPS && !F::SLIDES)
      column = *reinterpret_cast<const matmul_quad<T> *>(b);
    else
#pragma unroll
      for (int e = 0; e < F::QUAD; e++) column.at[e] = b[e * F::PB::STEP + lay.at[e]];
#pragma unroll
    for (int i = 0; i < F::EACH; i++)
      rows[i] = *reinterpret_cast<const matmul_quad<T> *>(a + i * F::DEPTH);
  }
  __device__ inline void work(T (&t)[F::EACH][1], int steps) const {
#pragma unroll
    for (int e = 0; e < F::QUAD; e++)
#pragma unroll
      for (int i = 0; i < F::EACH; i++)
        if (e < steps) t[i][0] = matmul_fma(rows[i].at[e], column.at[e], t[i][0]);
  }
};

/* What brings B's panels in. */
template <typename F, typename T>
struct strip_feed {
  /* Runs of what goes on in memory: a thread has the end of one. */
  static constexpr int RUNS = F::BY_STEPS ? F::COLUMNS : F::DEPTH,
                       RUN = F::BY_STEPS ? F::DEPTH : F::COLUMNS;
  typedef matmul_feed<T, typename F::PB, F::LOADERS, true> FEED;
  static_assert(RUNS <= F::LOADERS, "a thread for the end of every run");
  static_assert(FEED::QUADS_PASS % F::QUAD == 0, "a thread's runs have slid as far as each other");
  matmul_source<T> source;
  FEED feed;
  const T *end;
  int64_t whole; /* steps that come in by 16 bytes */

  __device__ inline void begin(const matmul_source<T> &columns, int64_t k) {
    const int t = threadIdx.x;
    source = columns;
    source.wide |= F::SLIDES;
    /* Ends of runs are others' beginnings, but of the last one. */
    const bool last = !F::BY_STEPS && source.step < 0;
    const int64_t steps = !F::SLIDES ? k : last || k < F::QUAD ? 0 : k - F::QUAD;
    whole = steps / F::DEPTH * F::DEPTH;
    feed.begin(source);
    feed.from -= slid<F>(feed.from);
    end = nullptr;
    const T *const run = source.from + t * (F::BY_STEPS ? source.line : source.step);
    if (t < (F::BY_STEPS && source.lines < RUNS ? source.lines : RUNS) && slid<F>(run) > 0)
      end = run - slid<F>(run) + RUN;
  }
  __device__ inline void bring(T *to, int64_t l, int64_t k) {
    if (l < whole) {
      feed.bring(to);
      if (F::SLIDES && end != nullptr) {
        rung_copy_async(reinterpret_cast<matmul_quad<T> *>(to + threadIdx.x * F::PB::PITCH + RUN),
                        reinterpret_cast<const matmul_quad<T> *>(end));
        end += F::DEPTH * source.step;
      }
    } else if (l < k) {
      matmul_bring<typename F::PB, F::LOADERS, true>(to, source, l, k - l, [&](int line, int s) {
        return slid<F>(source.from + (F::BY_STEPS ? line * source.line : s * source.step));
      });
    }
  }
};

template <typename F, typename T>
static __device__ inline void load_strip(const matmul_job<T, T> &job, const matmul_tile &from,
                                         T *shared) {
  const matmul_source<T> rows = matmul_rows_of(job, from);
  strip_feed<F, T> feed;
  feed.begin(matmul_columns_of(job, from), job.k);
  int64_t l = 0; /* the first step that has not been asked for */
  matmul_bring_side<F>(job.k, [&](int stage) {
    feed.bring(shared + stage, l, job.k);
    if (l < job.k) bring_rows<F>(shared + stage + F::OF_A, rows, l, job.k - l);
    l += F::DEPTH;
  });
}

template <typename F, typename T>
static __device__ inline void work_strip(const matmul_job<T, T> &job, const matmul_tile &tile,
                                         const matmul_tile &from, const T *shared) {
  const int number = threadIdx.x - F::LOADERS;
  const int x = number % F::COLUMNS, y = number / F::COLUMNS * F::EACH;
  const matmul_source<T> columns = matmul_columns_of(job, from);
  typename strip_read<F>::lay lay;
#pragma unroll
  for (int e = 0; e < F::QUAD; e++)
    lay.at[e] = slid<F>(columns.from + (F::BY_STEPS ? x * columns.line : e * columns.step));
  matmul_worker<F, strip_read<F>, T, F::EACH, 1> worker = {};
  worker.work_side(job.k, shared + F::OF_A + y * F::DEPTH, shared + x * F::PB::LINE, lay);
  const int64_t i = tile.i + y, j = from.j + x;
#pragma unroll
  for (int r = 0; r < F::EACH; r++)
    if (i + r < job.m && j >= tile.j && j < job.n)
      matmul_store(job, tile.batch, i + r, j, worker.t[r][0]);
}

template <typename F, typename T>
__global__ void __launch_bounds__(F::THREADS)
    matmul_strips(matmul_job<T, T> job, matmul_tiles tiles) {
  RUNG_DYNAMIC_SHARED(T, shared);
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    /* The last strip begins so far before the edge that it is whole, where there is as much. */
    const int64_t edge = job.n - F::COLUMNS;
    const matmul_tile from = {tile.batch, tile.i, edge >= 0 && tile.j > edge ? edge : tile.j};
    if (threadIdx.x < F::LOADERS)
      load_strip<F>(job, from, shared);
    else
      work_strip<F>(job, tile, from, shared);
  }
}

template <typename T, int COLUMNS, int ROWS, matmul_way WAY, bool SLIDES>
static rung_status launch(const rung_task *task, const matmul_job<T, T> &job) {
  typedef strip_shape<T, COLUMNS, ROWS, WAY, SLIDES> F;
  const int64_t down = (job.m + F::ROWS - 1) / F::ROWS,
                across = (job.n + F::COLUMNS - 1) / F::COLUMNS;
  const matmul_tiles tiles = {down, across, down * across * job.batch};
  RUNG_ALLOW_SHARED(task, (matmul_strips<F, T>), F::BYTES);
  RUNG_LAUNCH(task, (matmul_strips<F, T>), matmul_grid(tiles.all), F::THREADS, F::BYTES, job,
              tiles);
  return RUNG_OK;
}

template <typename T, int COLUMNS, int ROWS>
static rung_status run_rows(const rung_task *task, matmul_job<T, T> job) {
  constexpr int QUAD = matmul_quad<T>::WIDTH;
  if (job.bs.column == 1) {
    if (job.n % QUAD != 0) job.b_wide = false; /* a strip moved to the edge begins anywhere */
    return job.n >= COLUMNS && !job.b_wide
               ? launch<T, COLUMNS, ROWS, MATMUL_LINES, true>(task, job)
               : launch<T, COLUMNS, ROWS, MATMUL_LINES, false>(task, job);
  }
  if constexpr (QUAD > 2) /* two loads of doubles are no more than one of both */
    if (job.b_wide) return launch<T, COLUMNS, ROWS, MATMUL_STEPS, false>(task, job);
  return launch<T, COLUMNS, ROWS, MATMUL_STEPS, true>(task, job);
}
template <typename T, int COLUMNS>
static rung_status run_columns(const rung_task *task, const matmul_job<T, T> &job) {
  return job.m == 1 ? run_rows<T, COLUMNS, 1>(task, job) : run_rows<T, COLUMNS, 8>(task, job);
}

template <typename T>
static rung_status run(const rung_task *task) {
  matmul_job<T, T> job = matmul_job_of<T>(task);
  if (job.m > job.n) job = matmul_mirrored(job);
  if constexpr (sizeof(T) == 4) {
    double cost;
    if (matmul_strips_tile(task, job.m, job.n, &cost)->columns == 64)
      return run_columns<T, 64>(task, job);
  }
  return run_columns<T, 32>(task, job);
}

extern "C" rung_status RUNG_ENTRY(matmul_strips)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
