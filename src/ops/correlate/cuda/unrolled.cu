/* Rung `unrolled`: a thread makes a panel of 64 elements, four rows of four times four: a row of
 * the tile, once in registers, serves every row of the panel that it is under, by as many rows of
 * taps, and the taps of a row come four at a time. An element's taps still come in their order, for
 * the rows of the tile do. */
#include "ops/correlate/cuda/tile.cuh"
#include "ops/correlate/tiles.h"

/* 16 bytes of numbers, from shared memory at once. */
template <typename S>
struct correlate_vector {
  enum { COUNT = 16 / sizeof(S) };
  __align__(16) S at[COUNT];
};

template <typename S, int R, int G>
struct correlate_sums {
  enum { V = 16 / sizeof(S) };
  S at[R][G][V];
};

/* Four taps of a row, which begin at a multiple of 16 bytes; those beyond its end are not looked
 * at. */
template <typename T>
static __device__ __forceinline__ void correlate_load_taps(const T *from, T *to) {
  static constexpr int V = 16 / sizeof(T);
#pragma unroll
  for (int v = 0; v < 4 / V; v++) {
    const auto loaded = *reinterpret_cast<const correlate_vector<T> *>(from + v * V);
#pragma unroll
    for (int e = 0; e < V; e++) to[v * V + e] = loaded.at[e];
  }
}

/* Vectors from `from` of a line on into a window of G groups, LANES vectors apart. */
template <int LANES, int COUNT, typename S, int G, int W>
static __device__ __forceinline__ void correlate_load_window(const S *line, int from,
                                                             S (&window)[G][W]) {
  static constexpr int V = 16 / sizeof(S);
#pragma unroll
  for (int g = 0; g < G; g++)
#pragma unroll
    for (int v = 0; v < COUNT; v += V) {
      const auto loaded =
          *reinterpret_cast<const correlate_vector<S> *>(line + g * LANES * V + from + v);
#pragma unroll
      for (int e = 0; e < V; e++) window[g][from + v + e] = loaded.at[e];
    }
}

/* COUNT taps on the window, which begins at the first of their numbers, for row y of the panel. */
template <int COUNT, typename S, typename T, int R, int G, int W>
static __device__ __forceinline__ void correlate_add(correlate_sums<S, R, G> &sums, int y,
                                                     const S (&window)[G][W], const T (&tap)[4]) {
#pragma unroll
  for (int j = 0; j < COUNT; j++)
#pragma unroll
    for (int g = 0; g < G; g++)
#pragma unroll
      for (int v = 0; v < W - 4; v++)
        sums.at[y][g][v] = correlate_fma(tap[j], window[g][v + j], sums.at[y][g][v]);
}

/* COUNT taps of every row of taps that row r of the tile is under. Rows of the panel for which that
 * is no row of taps are left alone, unless ALL are known to have one: their taps are loaded before
 * the first is used, where they leave registers. */
template <bool ALL, int COUNT, typename S, typename T, int R, int G, int W>
static __device__ __forceinline__ void correlate_step(correlate_sums<S, R, G> &sums,
                                                      const S (&window)[G][W], const T *taps,
                                                      int taps_line, int r, int kernel_rows) {
  if constexpr (ALL && sizeof(S) == 4) {
    T tap[R][4];
#pragma unroll
    for (int y = 0; y < R; y++) correlate_load_taps(taps + (r - y) * taps_line, tap[y]);
#pragma unroll
    for (int y = 0; y < R; y++) correlate_add<COUNT>(sums, y, window, tap[y]);
  } else {
#pragma unroll
    for (int y = 0; y < R; y++) {
      const int i = r - y;
      if (!ALL && (unsigned)i >= (unsigned)kernel_rows) continue;
      T tap[4];
      correlate_load_taps(taps + i * taps_line, tap);
      correlate_add<COUNT>(sums, y, window, tap);
    }
  }
}

/* A row of the tile: what the next four taps' window has of the last one's stays in registers. */
template <bool ALL, int LANES, typename S, typename T, int R, int G>
static __device__ __forceinline__ void correlate_line(correlate_sums<S, R, G> &sums, const S *line,
                                                      const T *taps, int taps_line, int r,
                                                      int kernel_rows, int kernel_columns) {
  static constexpr int V = 16 / sizeof(S);
  /* Products of 64-bit integers take more registers. */
  [[maybe_unused]] static constexpr int AT_ONCE = sizeof(T) == sizeof(S) ? 2 : 1;
  S window[G][V + 4];
  correlate_load_window<LANES, V>(line, 0, window);
  int j = 0;
#pragma unroll AT_ONCE
  for (; j + 4 <= kernel_columns; j += 4) {
    correlate_load_window<LANES, 4>(line + j, V, window);
    correlate_step<ALL, 4>(sums, window, taps + j, taps_line, r, kernel_rows);
#pragma unroll
    for (int g = 0; g < G; g++)
#pragma unroll
      for (int v = 0; v < V; v++) window[g][v] = window[g][v + 4];
  }
  const int left = kernel_columns - j;
  if (left > 1) correlate_load_window<LANES, 4>(line + j, V, window);
  if (left == 1) correlate_step<ALL, 1>(sums, window, taps + j, taps_line, r, kernel_rows);
  if (left == 2) correlate_step<ALL, 2>(sums, window, taps + j, taps_line, r, kernel_rows);
  if (left == 3) correlate_step<ALL, 3>(sums, window, taps + j, taps_line, r, kernel_rows);
}

template <typename S, typename T, int N, int R, int G, int LANES>
__global__ void __launch_bounds__(256, 2)
    correlate_unrolled(correlate_job<S> job, const __grid_constant__ correlate_taps<T, N> taps,
                       int64_t k, int64_t across, int pitch, bool wide) {
  static constexpr int V = 16 / sizeof(S), WIDE = LANES * G * V;
  RUNG_DYNAMIC_SHARED(S, pixels);
  const int lane = threadIdx.x % LANES, panel = threadIdx.x / LANES;
  const int high = (int)(blockDim.x / LANES) * R;
  const int tile_rows = high + job.kernel_rows - 1, taps_line = (job.kernel_columns + 3) / 4 * 4;
  T *own_taps = reinterpret_cast<T *>(pixels + tile_rows * pitch);
  for (int i = threadIdx.x; i < job.kernel_rows * job.kernel_columns; i += blockDim.x)
    own_taps[i / job.kernel_columns * taps_line + i % job.kernel_columns] = taps.at[i];
  for (int64_t number = blockIdx.y; number * high < job.rows; number += gridDim.y) {
    const correlate_tile tile = {number * high, blockIdx.x % across * WIDE,
                                 tile_rows,     WIDE + job.kernel_columns - 1,
                                 pitch,         (int)(blockIdx.x / across)};
    correlate_fill_tile(job, tile, pixels, threadIdx.x / 32, blockDim.x / 32);
    correlate_sums<S, R, G> sums = {};
    const S *line = pixels + panel * R * pitch + lane * V;
    for (int r = 0; r < R + job.kernel_rows - 1; r++, line += pitch)
      if (r >= R - 1 && r < job.kernel_rows)
        correlate_line<true, LANES>(sums, line, own_taps, taps_line, r, job.kernel_rows,
                                    job.kernel_columns);
      else
        correlate_line<false, LANES>(sums, line, own_taps, taps_line, r, job.kernel_rows,
                                     job.kernel_columns);
    if (wide && tile.x + WIDE <= job.n) {
#pragma unroll
      for (int y = 0; y < R; y++) {
        const int64_t row = tile.y + panel * R + y;
        if (row >= job.rows) break;
        void *to = correlate_row_out(job, k, row);
#pragma unroll
        for (int g = 0; g < G; g++)
          correlate_store_as<S, V>(to, tile.x + (g * LANES + lane) * V, sums.at[y][g],
                                   [](S t) { return t; });
      }
      __syncthreads();
      continue;
    }
    /* Any other type or place: by way of the tile's memory, from which a loop takes them. */
    __syncthreads();
    S *own = pixels + panel * R * WIDE;
#pragma unroll
    for (int y = 0; y < R; y++)
#pragma unroll
      for (int g = 0; g < G; g++)
        correlate_store_as<S, V>(own + y * WIDE, (g * LANES + lane) * V, sums.at[y][g],
                                 [](S t) { return t; });
    __syncwarp();
    for (int y = 0; y < R && tile.y + panel * R + y < job.rows; y++) {
      void *to = correlate_row_out(job, k, tile.y + panel * R + y);
      for (int c = lane; c < WIDE; c += LANES) {
        const int64_t x = (tile.x + c) * job.channels + tile.channel;
        if (x < job.n) correlate_store(job.out_type, to, x, own[y * WIDE + c]);
      }
    }
    __syncthreads();
  }
}

static inline rung_dtype correlate_type_of(float) {
  return RUNG_F32;
}
static inline rung_dtype correlate_type_of(double) {
  return RUNG_F64;
}
static inline rung_dtype correlate_type_of(int64_t) {
  return RUNG_I64;
}

template <typename S, int N, int R, int G, int LANES>
static rung_status run_panel(const rung_task *task, const correlate_panel &panel) {
  typedef typename correlate_tap<S>::type T;
  const auto job = correlate_job_of<S>(task);
  const int64_t wide = correlate_panel_columns(&panel), high = correlate_panel_rows(&panel);
  const int64_t across = (job.n / job.channels + wide - 1) / wide;
  const int64_t down = (job.rows + high - 1) / high;
  const dim3 grid((unsigned)(across * job.channels), (unsigned)(down < 65535 ? down : 65535));
  const int64_t bytes =
      correlate_panel_bytes(&panel, job.kernel_rows, job.kernel_columns, sizeof(S));
  if (bytes > 48 << 10) RUNG_ALLOW_SHARED(task, (correlate_unrolled<S, T, N, R, G, LANES>), bytes);
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_unrolled<S, T, N, R, G, LANES>), grid, 32 * panel.warps, bytes,
                job, (correlate_taps_of<T, N>(task, k)), k, across,
                (int)correlate_panel_pitch(&panel, job.kernel_columns),
                job.channels == 1 && job.out_type == correlate_type_of(S()) &&
                    correlate_wide_out(task, panel.vector));
  return RUNG_OK;
}

template <typename S, int N>
static rung_status run_taps(const rung_task *task, correlate_room<N>) {
  static constexpr int LANES = sizeof(S) == 4 ? 16 : 32;
  const correlate_panel panel = correlate_panel_of(task);
  return panel.groups == 1 ? run_panel<S, N, 4, 1, 32>(task, panel)
                           : run_panel<S, N, 4, 4, LANES>(task, panel);
}

template <typename S>
static rung_status run(const rung_task *task) {
  return correlate_by_taps<S>(task, [&](auto room) { return run_taps<S>(task, room); });
}

extern "C" rung_status RUNG_ENTRY(correlate_unrolled)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
