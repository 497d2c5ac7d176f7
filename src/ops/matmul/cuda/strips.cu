/* Rung `strips`: products of few rows read B once, and that is all there is to do: a block takes a
 * strip of columns, a thread a column and its chains of eight rows. Stages of B come in ahead by
 * asynchronous copies, enough of them to keep the memory busy. Products of few columns are those of
 * the turned matrices. */
#include "ops/matmul/cuda/feed.cuh"

template <typename T_, int COLUMNS_, matmul_way WAY>
struct strip_shape {
  typedef T_ T;
  static constexpr int ROWS = 8, COLUMNS = COLUMNS_, DEPTH = 16384 / COLUMNS / (int)sizeof(T),
                       THREADS = 128, STAGES = 6, QUAD = matmul_quad<T>::WIDTH;
  typedef matmul_layout<COLUMNS, DEPTH, WAY, QUAD> PB;
  static constexpr int OF_A = PB::SIZE, /* [row][l] */
      STAGE = PB::SIZE + ROWS * DEPTH, BYTES = STAGES * STAGE * (int)sizeof(T);
};

/* Steps [l, l + DEPTH) of the rows there are. */
template <typename F, typename T>
static __device__ RUNG_ASIDE void bring_rows(T *to, const matmul_source<T> &rows, int64_t l,
                                             int64_t left) {
  constexpr int PASS = F::THREADS / F::DEPTH > 0 ? F::THREADS / F::DEPTH : 1;
  const int s = threadIdx.x % F::DEPTH, first = threadIdx.x / F::DEPTH;
  const int there = rows.lines < F::ROWS ? (int)rows.lines : F::ROWS;
  const T *from = rows.from + first * rows.line + (l + s) * rows.step;
  if (s >= left) return;
  for (int i = first; i < there; i += PASS, from += PASS * rows.line)
    rung_copy_async(to + i * F::DEPTH + s, from);
}

/* A stage: `b` points to the thread's column. */
template <typename F, int ROWS, typename T>
static __device__ inline void work(const T *a, const T *b, T (&t)[ROWS]) {
#pragma unroll(ROWS == 1 ? 8 : 4)
  for (int s = 0; s < F::DEPTH; s += F::QUAD) {
    matmul_quad<T> x;
    if (F::PB::WAY == MATMUL_STEPS)
      x = *reinterpret_cast<const matmul_quad<T> *>(b + s);
    else
#pragma unroll
      for (int e = 0; e < F::QUAD; e++) x.at[e] = b[(s + e) * F::PB::STEP];
    matmul_quad<T> y[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
      y[i] = *reinterpret_cast<const matmul_quad<T> *>(a + i * F::DEPTH + s);
#pragma unroll
    for (int e = 0; e < F::QUAD; e++)
#pragma unroll
      for (int i = 0; i < ROWS; i++) t[i] = matmul_fma(y[i].at[e], x.at[e], t[i]);
  }
}
template <typename F, int ROWS, typename T>
static __device__ RUNG_ASIDE void work_tail(const T *a, const T *b, int left, T (&t)[ROWS]) {
  for (int s = 0; s < left; s++)
#pragma unroll
    for (int i = 0; i < ROWS; i++) t[i] = matmul_fma(a[i * F::DEPTH + s], b[s * F::PB::STEP], t[i]);
}

template <typename F, int ROWS, typename T>
__global__ void __launch_bounds__(F::THREADS)
    matmul_strips(matmul_job<T, T> job, matmul_tiles tiles) {
  RUNG_DYNAMIC_SHARED(T, shared);
  const bool computes = threadIdx.x < F::COLUMNS;
  const int64_t whole = job.k / F::DEPTH * F::DEPTH; /* steps that need no test */
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    /* The last strip begins so far before the edge that it is whole, where there is as much. */
    const int64_t edge = job.n - F::COLUMNS;
    const matmul_tile from = {tile.batch, tile.i, edge >= 0 && tile.j > edge ? edge : tile.j};
    const matmul_source<T> rows = matmul_rows_of(job, from), columns = matmul_columns_of(job, from);
    matmul_feed<T, typename F::PB, F::THREADS, true> feed;
    feed.begin(columns);
    T t[ROWS] = {};
    int64_t l = 0; /* the first step that has not been asked for */
    const auto bring = [&](T *stage) {
      if (l < whole)
        feed.bring(stage);
      else if (l < job.k)
        matmul_bring<typename F::PB, F::THREADS, true>(stage, columns, l, job.k - l);
      if (l < job.k) bring_rows<F>(stage + F::OF_A, rows, l, job.k - l);
      rung_copy_async_commit();
      l += F::DEPTH;
    };
    for (int p = 0; p < F::STAGES - 1; p++) bring(shared + p * F::STAGE);
    int stage = 0;
    for (int64_t left = job.k; left > 0; left -= F::DEPTH) {
      const T *here = shared + stage, *b = here + threadIdx.x * F::PB::LINE;
      rung_copy_async_wait<F::STAGES - 2>();
      __syncthreads();
      bring(shared + (stage > 0 ? stage : F::STAGES * F::STAGE) - F::STAGE);
      if (computes && left >= F::DEPTH)
        work<F>(here + F::OF_A, b, t);
      else if (computes)
        work_tail<F>(here + F::OF_A, b, (int)left, t);
      stage = stage < (F::STAGES - 1) * F::STAGE ? stage + F::STAGE : 0;
    }
    __syncthreads(); /* before the next strip's stages come in */
    const int64_t j = from.j + threadIdx.x;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
      if (computes && tile.i + i < job.m && j >= tile.j && j < job.n)
        matmul_store(job, tile.batch, tile.i + i, j, t[i]);
  }
}

template <typename F, int ROWS, typename T>
static rung_status launch(const rung_task *task, matmul_job<T, T> job) {
  const int64_t down = (job.m + F::ROWS - 1) / F::ROWS,
                across = (job.n + F::COLUMNS - 1) / F::COLUMNS;
  const matmul_tiles tiles = {down, across, down * across * job.batch};
  if (F::PB::WAY == MATMUL_LINES && job.n % F::QUAD != 0) job.b_wide = false;
  RUNG_ALLOW_SHARED(task, (matmul_strips<F, ROWS, T>), F::BYTES);
  RUNG_LAUNCH(task, (matmul_strips<F, ROWS, T>), matmul_grid(tiles.all), F::THREADS, F::BYTES, job,
              tiles);
  return RUNG_OK;
}

template <typename T, int COLUMNS>
static rung_status run_columns(const rung_task *task, const matmul_job<T, T> &job) {
  typedef strip_shape<T, COLUMNS, MATMUL_LINES> lines;
  typedef strip_shape<T, COLUMNS, MATMUL_STEPS> steps;
  if (job.bs.column == 1)
    return job.m == 1 ? launch<lines, 1>(task, job) : launch<lines, 8>(task, job);
  return job.m == 1 ? launch<steps, 1>(task, job) : launch<steps, 8>(task, job);
}

/* Narrow strips where wide ones are too few for all multiprocessors. */
template <typename T>
static rung_status run(const rung_task *task) {
  matmul_job<T, T> job = matmul_job_of<T>(task);
  if (job.m > job.n) job = matmul_mirrored(job);
  const int64_t wide = (job.n + 127) / 128 * ((job.m + 7) / 8) * job.batch;
  return wide >= task->device->processors * 3 / 4 ? run_columns<T, 128>(task, job)
                                                  : run_columns<T, 32>(task, job);
}

extern "C" rung_status RUNG_ENTRY(matmul_strips)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
