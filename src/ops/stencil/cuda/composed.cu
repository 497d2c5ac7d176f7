/* Rung `composed`: p steps as one filter. Inside a row every column is one sum of all the taps that
 * p steps amount to, less those too small to matter. The ends of the rows, where the filter would
 * reach an edge, are a grid of short rows in scratch, for which `onchip` takes the steps.
 *
 * A block makes a segment of a row, a thread a run of neighbouring columns: with as many taps at a
 * time, an element read from shared memory serves a whole run of multiply-adds. Runs lie 16 bytes
 * apart there, so that the wide loads of a warp's threads meet in no bank. */
#include "ops/stencil/composed.h"
#include "ops/stencil/cuda/stencil.cuh"

enum { SEGMENT = 2048 }; /* columns a block makes */

/* Columns a thread makes, and taps it takes at a time: 64 bytes. */
template <typename T>
struct composed_run_of {
  enum { columns = 64 / sizeof(T), apart = columns + 16 / sizeof(T), threads = SEGMENT / columns };
};

template <typename T>
struct composed_job {
  const T *in;
  T *out, *short_rows;
  int64_t in_stride, out_stride, rows, columns, first;
  stencil_ends ends;
  stencil_start start;
  int count;
  T taps[STENCIL_COMPOSED_TAPS];
};

/* Where element e of a segment lies in shared memory. */
template <typename T>
static __device__ inline int composed_place(int e) {
  typedef composed_run_of<T> run;
  return e / run::columns * run::apart + e % run::columns;
}

template <typename T>
static __device__ inline T composed_start(const composed_job<T> &job, int64_t i, int64_t j) {
  return job.start.own ? (T)stencil_own_start(job.start, i, j, job.columns)
                       : job.in[i * job.in_stride + j];
}

/* put(e, value) for columns [from, from + count) of row i at the start. Two loops, not a question
 * in one: nvcc would work out what all columns of a start of the rows' own have in common, a
 * division in double, for rows that are given too. */
template <typename T, typename Put>
static __device__ inline void composed_starts(const composed_job<T> &job, int64_t i, int64_t from,
                                              int64_t count, const Put &put) {
  if (job.start.own)
    for (int64_t e = threadIdx.x; e < count; e += blockDim.x)
      put(e, (T)stencil_own_start(job.start, i, from + e, job.columns));
  else
    for (int64_t e = threadIdx.x; e < count; e += blockDim.x)
      put(e, job.in[i * job.in_stride + from + e]);
}

/* One run, 64 bytes, from shared memory or into it; `shared` is aligned to 16 bytes. */
template <typename T>
struct composed_wide;
template <>
struct composed_wide<float> {
  typedef float4 type;
};
template <>
struct composed_wide<double> {
  typedef double2 type;
};

template <typename T>
static __device__ inline void composed_load_run(const T *shared, T *run) {
  typedef typename composed_wide<T>::type wide;
#pragma unroll
  for (int q = 0; q < 4; q++) {
    const wide v = reinterpret_cast<const wide *>(shared)[q];
    memcpy(run + q * (16 / sizeof(T)), &v, sizeof v);
  }
}

template <typename T>
static __device__ inline void composed_store_run(T *shared, const T *run) {
  typedef typename composed_wide<T>::type wide;
#pragma unroll
  for (int q = 0; q < 4; q++) {
    wide v;
    memcpy(&v, run + q * (16 / sizeof(T)), sizeof v);
    reinterpret_cast<wide *>(shared)[q] = v;
  }
}

/* A thread's columns: `window` holds the elements under the first tap of a block of taps for all
 * of them, and after that those under the others. */
template <typename T>
static __device__ inline void composed_sums(const T *taps, int count, const T *row, T *sum) {
  constexpr int N = composed_run_of<T>::columns, apart = composed_run_of<T>::apart;
  T window[2 * N], tap[N];
#pragma unroll
  for (int u = 0; u < N; u++) sum[u] = 0;
  composed_load_run(row, window);
#pragma unroll 2
  for (; count >= N; count -= N) {
    taps += N;
    row += apart;
    composed_load_run(taps - N, tap);
    composed_load_run(row, window + N);
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
      for (int u = 0; u < N; u++) sum[u] = stencil_fma(tap[k], window[k + u], sum[u]);
#pragma unroll
    for (int u = 0; u < N; u++) window[u] = window[N + u];
  }
  composed_load_run(row + apart, window + N);
#pragma unroll
  for (int k = 0; k < N - 1; k++) {
    if (k >= count) break;
    const T last = taps[k];
#pragma unroll
    for (int u = 0; u < N; u++) sum[u] = stencil_fma(last, window[k + u], sum[u]);
  }
}

/* The start of the rows' ends. */
template <typename T>
static __global__ void composed_gather(const composed_job<T> job) {
  const int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const stencil_ends &e = job.ends;
  if (c >= e.columns) return;
  int64_t j = c; /* stencil_ends_column() */
  if (c >= e.prefix + 2 * e.reach)
    j = e.to + e.reach - (e.columns - c);
  else if (c >= e.prefix)
    j = e.low + (c - e.prefix);
  for (int64_t i = blockIdx.y; i < job.rows; i += gridDim.y)
    job.short_rows[i * e.columns + c] = composed_start(job, i, j);
}

/* What the filter does not make of row i: columns that stay, and the short row's outer halves. */
template <typename T>
static __device__ inline void composed_bring_ends(const composed_job<T> &job, int64_t i) {
  const stencil_ends &e = job.ends;
  const T *row = job.short_rows + i * e.columns;
  T *out = job.out + i * job.out_stride;
  composed_starts(job, i, 0, e.low, [=](int64_t j, T value) { out[j] = value; });
  for (int64_t c = threadIdx.x; c < e.reach; c += blockDim.x) {
    out[e.low + c] = row[e.prefix + c];
    out[e.to + c] = row[e.columns - e.reach + c];
  }
}

/* Blocks 0 ... gridDim.x - 2 of a row make its inside, the last one brings its ends. */
template <typename T>
static __global__ void __launch_bounds__(composed_run_of<T>::threads)
    composed_rows(const composed_job<T> job) {
  typedef composed_run_of<T> run;
  RUNG_DYNAMIC_SHARED(T, taps);
  T *row = taps + (job.count + run::columns - 1) / run::columns * run::columns;
  T *mine = row + threadIdx.x * run::apart;
  for (int k = threadIdx.x; k < job.count; k += blockDim.x) taps[k] = job.taps[k];
  rung_await_before();
  const int64_t first = job.ends.from + (int64_t)blockIdx.x * SEGMENT;
  const int columns = (int)(job.ends.to - first < SEGMENT ? job.ends.to - first : SEGMENT);
  for (int64_t i = blockIdx.y; i < job.rows; i += gridDim.y) {
    if (blockIdx.x == gridDim.x - 1) {
      composed_bring_ends(job, i);
      continue;
    }
    composed_starts(job, i, first + job.first, columns + job.count - 1,
                    [=](int64_t e, T value) { row[composed_place<T>((int)e)] = value; });
    __syncthreads();
    T sum[run::columns];
    const bool busy = (int)threadIdx.x * run::columns < columns;
    if (busy) composed_sums(taps, job.count, mine, sum);
    __syncthreads();
    if (busy) composed_store_run(mine, sum);
    __syncthreads();
    for (int e = threadIdx.x; e < columns; e += blockDim.x)
      job.out[i * job.out_stride + first + e] = row[composed_place<T>(e)];
    __syncthreads();
  }
}

/* Shared memory: the taps, and the runs under them: one of each thread's, as many more as there are
 * blocks of taps, and one that is loaded for the last block's sake. */
template <typename T>
static size_t shared_bytes(int count) {
  typedef composed_run_of<T> run;
  const size_t blocks = (size_t)(count + run::columns - 1) / run::columns;
  return (blocks * run::columns + (run::threads + blocks + 1) * run::apart) * sizeof(T);
}

template <typename T>
static rung_status run(const rung_task *task, const stencil_filter *filter) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN], *out = &task->arrays[STENCIL_OUT];
  const stencil_problem ends = stencil_ends_problem(p);
  const size_t shared = shared_bytes<T>(filter->count);
  composed_job<T> job = {};
  job.in = (const T *)in->data;
  job.in_stride = in->stride[0];
  job.out = (T *)out->data;
  job.out_stride = out->stride[0];
  job.short_rows = (T *)task->scratch;
  job.rows = p->rows;
  job.columns = p->columns;
  job.ends = stencil_ends_of(p);
  job.start = p->start;
  job.count = filter->count;
  job.first = filter->first;
  for (int k = 0; k < filter->count; k++) job.taps[k] = (T)filter->taps[k];

  const dim3 gather((unsigned)((ends.columns + 255) / 256), stencil_grid_rows(p->rows));
  RUNG_LAUNCH(task, composed_gather<T>, gather, 256, 0, job);
  rung_task short_task;
  stencil_ends_task(task, &ends, task->scratch, stencil_grid_bytes(&ends), &short_task);
  const rung_status status = RUNG_ENTRY(stencil_onchip)(&short_task);
  if (status != RUNG_OK) return status;
  const int64_t segments = (job.ends.to - job.ends.from + SEGMENT - 1) / SEGMENT;
  const dim3 grid((unsigned)segments + 1, stencil_grid_rows(p->rows));
  RUNG_LAUNCH_NEXT(task, composed_rows<T>, grid, composed_run_of<T>::threads, shared, job);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(stencil_composed)(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  char why[RUNG_REASON];
  stencil_filter filter;
  if (!stencil_compose(p, &filter, why))
    return rung_fail(task->error, RUNG_UNSUPPORTED, "rung \"composed\" cannot do this: %s", why);
  return p->dtype == RUNG_F32 ? run<float>(task, &filter) : run<double>(task, &filter);
}
