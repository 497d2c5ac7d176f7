/* Rung `separable`: kernels of rank one in two passes, fused. A block walks down a strip of
 * columns, eight rows at a time: they come into shared memory while the eight before are worked on,
 * are summed along the row by runs of neighbouring elements, so that a number that is loaded serves
 * many, and their sums go through shared memory to the threads that own the columns. Those have a
 * running sum for every row of the kernel, which with the next row becomes the next one's, as in
 * `streamed`: no sum is loaded twice. */
#include "ops/correlate/cuda/tile.cuh"
#include "ops/correlate/separable.h"
#include "ops/correlate/tiles.h"

static constexpr int ROWS = CORRELATE_SWEPT_ROWS;

/* A compiled kernel is for M rows of taps, or up to COUNT - 1 fewer. */
template <typename S, int M>
struct correlate_step {
  static constexpr int COUNT = sizeof(S) == 4 && M <= 32 ? 4 : 8;
};

template <typename S>
struct correlate_sides {
  S column[RUNG_KERNEL_MOST + 1]; /* the last of so many as there are sums */
  S row[RUNG_KERNEL_MOST];
};

/* A thread sums RUN elements of a row. */
template <typename S>
struct correlate_swept {
  static constexpr int RUN = 32 / (int)sizeof(S), V = 16 / (int)sizeof(S);
  static constexpr int COLUMNS = CORRELATE_SWEPT_BYTES / (int)sizeof(S);
};

/* COUNT numbers from `from` on, 16 bytes at a time. */
template <int COUNT, typename S>
static __device__ __forceinline__ void correlate_load_run(const S *from, S *to) {
  static constexpr int V = correlate_swept<S>::V, REST = COUNT % V;
#pragma unroll
  for (int v = 0; v + V <= COUNT; v += V) correlate_load_part<V, 0, V>(from + v, to + v);
  if constexpr (REST > 0) correlate_load_part<V, 0, REST>(from + COUNT - REST, to + COUNT - REST);
}

/* A run of sums along the row: as many taps at a time as there are elements. */
template <typename S>
static __device__ __forceinline__ void correlate_sum_run(const correlate_sides<S> &sides, int count,
                                                         const S *line, S *to) {
  static constexpr int RUN = correlate_swept<S>::RUN, V = correlate_swept<S>::V;
  S window[2 * RUN], sums[RUN] = {};
  int done = 0;
  correlate_load_run<RUN>(line, window);
#pragma unroll 2
  for (; done + RUN <= count; done += RUN) {
    line += RUN;
    correlate_load_run<RUN>(line, window + RUN);
#pragma unroll
    for (int j = 0; j < RUN; j++)
#pragma unroll
      for (int e = 0; e < RUN; e++)
        sums[e] = correlate_fma(sides.row[done + j], window[j + e], sums[e]);
#pragma unroll
    for (int e = 0; e < RUN; e++) window[e] = window[RUN + e];
  }
  correlate_load_run<RUN - 2>(line + RUN, window + RUN); /* all that RUN - 1 taps need */
#pragma unroll
  for (int j = 0; j < RUN - 1; j++) {
    if (done + j >= count) break;
#pragma unroll
    for (int e = 0; e < RUN; e++)
      sums[e] = correlate_fma(sides.row[done + j], window[j + e], sums[e]);
  }
#pragma unroll
  for (int v = 0; v < RUN; v += V) correlate_store_as<S, V>(to, v, sums + v, [](S t) { return t; });
}

/* ROWS rows of the tile. Of eight threads whose loads go out together four lie side by side and
 * four below them, for rows are 16 bytes further than whole lines of banks apart. */
template <typename S>
static __device__ __forceinline__ void correlate_sum_rows(const correlate_sides<S> &sides,
                                                          int count, const S *tile, int pitch,
                                                          S *sums, int sums_pitch) {
  static constexpr int RUN = correlate_swept<S>::RUN;
  static constexpr int RUNS = correlate_swept<S>::COLUMNS / RUN;
  for (int t = threadIdx.x; t < ROWS * RUNS; t += correlate_swept<S>::COLUMNS) {
    const int run = t % 4 + t / 8 % (RUNS / 4) * 4, row = t / 4 % 2 + t / (2 * RUNS) * 2;
    correlate_sum_run(sides, count, tile + row * pitch + run * RUN,
                      sums + row * sums_pitch + run * RUN);
  }
}

/* Sum i is that of the output above which i rows of the kernel are done: the next row makes it sum
 * i + 1. Kernels of fewer than M rows leave the first ones 0. */
template <int M, typename S>
static __device__ __forceinline__ void correlate_sum_down(const correlate_sides<S> &sides,
                                                          int unused, S number, S *sums) {
  static constexpr int SPARE = correlate_step<S, M>::COUNT - 1; /* unused is that at most */
#pragma unroll
  for (int i = M - 1; i >= 0; i--)
    if (i >= SPARE || i >= unused) sums[i + 1] = correlate_fma(sides.column[i], number, sums[i]);
}

/* Element y of a column of a batch of rows: put(y) stores sums[M], of outputs alone. Code for TURN
 * of the rows, whose numbers are loaded at once. */
template <int M, int TURN, typename S, typename Put>
static __device__ __forceinline__ void correlate_sum_columns(const correlate_sides<S> &sides,
                                                             int unused, const S *rows, int pitch,
                                                             S *sums, Put put) {
#pragma unroll 1
  for (int first = 0; first < ROWS; first += TURN) {
    S numbers[TURN];
#pragma unroll
    for (int y = 0; y < TURN; y++) numbers[y] = rows[(first + y) * pitch];
#pragma unroll
    for (int y = 0; y < TURN; y++) {
      correlate_sum_down<M>(sides, unused, numbers[y], sums);
      put(first + y);
    }
  }
}

/* Blocks that a multiprocessor is to hold: as many as leave registers for the sums. */
template <typename S>
static constexpr int correlate_swept_resident(int m) {
  const int numbers = m * (int)sizeof(S) / 4;
  const int blocks = numbers <= 8 ? 4 : numbers <= 32 ? 3 : 2;
  return sizeof(S) == 4 ? blocks : numbers <= 64 ? 4 : 2;
}

template <typename S, int M>
__global__ void __launch_bounds__(correlate_swept<S>::COLUMNS, correlate_swept_resident<S>(M))
    correlate_separable(const __grid_constant__ correlate_job<S> job,
                        const __grid_constant__ correlate_sides<S> sides, int64_t k, int64_t across,
                        int64_t high, int pitch, bool plain) {
  static constexpr int COLUMNS = correlate_swept<S>::COLUMNS;
  static constexpr int SUMS_PITCH = COLUMNS + correlate_swept<S>::V;
  /* Rows that are begun with, and those at the end: of tall kernels they are many. */
  static constexpr int ENDS = M > 16 ? ROWS : ROWS / 2;
  RUNG_DYNAMIC_SHARED(S, memory);
  S *const tiles = memory, *const rows = memory + 2 * ROWS * pitch;
  const int warp = threadIdx.x / 32, warps = COLUMNS / 32, before = job.kernel_rows - 1;
  const int unused = M - job.kernel_rows;
  for (int64_t top = (int64_t)blockIdx.y * high; top < job.rows; top += (int64_t)gridDim.y * high) {
    const int64_t outputs = job.rows - top < high ? job.rows - top : high;
    const int64_t inputs = outputs + before;
    correlate_tile tile = {top,   blockIdx.x % across * COLUMNS,
                           ROWS,  COLUMNS + job.kernel_columns - 1,
                           pitch, (int)(blockIdx.x / across)};
    const int64_t x = (tile.x + threadIdx.x) * job.channels + tile.channel;
    S sums[M + 1] = {};
    /* Before the first rows are there only their loads begin. */
    for (int64_t r = -ROWS, which = 1; r < inputs; r += ROWS, which ^= 1) {
      rung_copy_async_wait<0>();
      __syncthreads();
      tile.y = top + r + ROWS;
      if (r + ROWS < inputs)
        correlate_begin_tile(job, tile, tiles + (which ^ 1) * ROWS * pitch, warp, warps);
      if (r < 0) continue;
      correlate_sum_rows(sides, job.kernel_columns, tiles + which * ROWS * pitch, pitch, rows,
                         SUMS_PITCH);
      __syncthreads();
      const S *const own = rows + threadIdx.x;
      if (plain && r >= before && r + ROWS <= inputs) {
        if (x >= job.n) continue;
        S *to = static_cast<S *>(correlate_row_out(job, k, top + r - before)) + x;
        correlate_sum_columns<M, ROWS>(sides, unused, own, SUMS_PITCH, sums, [&](int) {
          *to = sums[M];
          to += job.out_line;
        });
      } else {
        correlate_sum_columns<M, ENDS>(sides, unused, own, SUMS_PITCH, sums, [&](int y) {
          const int64_t made = r + y - before;
          if (made >= 0 && made < outputs && x < job.n)
            correlate_store(job.out_type, correlate_row_out(job, k, top + made), x, sums[M]);
        });
      }
    }
    __syncthreads();
  }
}

template <typename S, int M>
static rung_status run_rows(const rung_task *task) {
  const auto *p = static_cast<const correlate_problem *>(task->problem);
  const auto job = correlate_job_of<S>(task);
  static constexpr int COLUMNS = correlate_swept<S>::COLUMNS;
  const int64_t across = (p->columns + COLUMNS - 1) / COLUMNS * p->channels;
  const int64_t bytes = correlate_swept_bytes(p, sizeof(S));
  int blocks;
  RUNG_RESIDENT_BLOCKS(task, (correlate_separable<S, M>), COLUMNS, bytes, &blocks);
  const int64_t high = correlate_swept_high(task, across, blocks);
  const int64_t down = (job.rows + high - 1) / high;
  const dim3 grid((unsigned)across, (unsigned)(down < 65535 ? down : 65535));
  for (int64_t k = 0; k < job.kernels; k++) {
    char why[RUNG_REASON];
    correlate_factors factors;
    if (!correlate_separate(p, k, &factors, why))
      return rung_fail(task->error, RUNG_UNSUPPORTED, "rung \"separable\" cannot do this: %s", why);
    correlate_sides<S> sides = {};
    for (int i = 0; i < p->kernel_rows; i++)
      sides.column[M - p->kernel_rows + i] = (S)factors.column[i];
    for (int j = 0; j < p->kernel_columns; j++) sides.row[j] = (S)factors.row[j];
    RUNG_LAUNCH(task, (correlate_separable<S, M>), grid, COLUMNS, bytes, job, sides, k,
                across / p->channels, high, correlate_swept_pitch(p, sizeof(S)),
                job.out_type == (sizeof(S) == 4 ? RUNG_F32 : RUNG_F64));
  }
  return RUNG_OK;
}

template <typename S, int M>
static rung_status run(const rung_task *task) {
  const auto *p = static_cast<const correlate_problem *>(task->problem);
  if constexpr (M < RUNG_KERNEL_MOST)
    if (p->kernel_rows > M) return run<S, M + correlate_step<S, M + 1>::COUNT>(task);
  return run_rows<S, M>(task);
}

extern "C" rung_status RUNG_ENTRY(correlate_separable)(const rung_task *task) {
  return correlate_number_of(static_cast<const correlate_problem *>(task->problem)) == RUNG_F32
             ? run<float, correlate_step<float, 1>::COUNT>(task)
             : run<double, correlate_step<double, 1>::COUNT>(task);
}
