/* Rung `banded`: images of bytes by taps of signed bytes on tensor cores. A row of taps is a band
 * matrix: its row x has the taps from column x on, so that 16 of its rows by 32 bytes of eight rows
 * of the image are a row of taps for 16 by 8 outputs. The sums are integers, which have no order.
 */
#include "ops/correlate/cuda/correlate.cuh"
#include "ops/correlate/tiles.h"

/* A warp's outputs: TILES of 16 columns side by side, and GROUPS of 8 rows below each other; its
 * block's warps, two side by side. */
static constexpr int TILES = 4, GROUPS = 4, WARPS = 4, THREADS = 32 * WARPS;
static constexpr int WIDE = 16 * TILES, HIGH = 8 * GROUPS, ACROSS = 2;
static constexpr int STAGE = WIDE + 4; /* numbers from a staged row to the next */

/* Bytes of a row of the tile, of which the words may begin 12 bytes in: an odd number of 16, so
 * that eight rows of four words lie in 32 banks. */
template <int B>
struct band_row {
  static constexpr int LEAST = (ACROSS * WIDE - 16 + 32 * B + 12 + 15) / 16;
  static constexpr int RUNS = LEAST | 1, PITCH = 16 * RUNS;
};

/* ---- the band ---------------------------------------------------------------------------------
 */

/* Tap at column d of a row of the band, whose columns are elements. */
static __device__ __forceinline__ unsigned band_tap(
    const correlate_taps<int8_t, CORRELATE_TAPS> &taps, int row, int d, int columns, int channels) {
  if (d < 0 || d % channels || d / channels >= columns) return 0;
  return (uint8_t)taps.at[row * columns + d / channels];
}

/* For every row of taps and B steps of 32 bytes the four words of every lane. */
static __global__ void band_prepare(
    const __grid_constant__ correlate_taps<int8_t, CORRELATE_TAPS> taps, int rows, int columns,
    int channels, int steps, unsigned *to) {
  rung_let_next_begin();
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rows * steps * 128) return;
  const int word = at % 4, lane = at / 4 % 32, step = at / 128 % steps, row = at / 128 / steps;
  const int from = 32 * step + word / 2 * 16 + lane % 4 * 4 - (word % 2 * 8 + lane / 4);
  unsigned bytes = 0;
  for (int e = 0; e < 4; e++) bytes |= band_tap(taps, row, from + e, columns, channels) << 8 * e;
  to[at] = bytes;
}

/* ---- the tile ---------------------------------------------------------------------------------
 */

/* What stands at element x of a row that begins at `line`; NULL: outside. */
static __device__ __forceinline__ uint8_t band_byte(const correlate_job<int64_t> &job,
                                                    const uint8_t *line, int x) {
  static constexpr int BEFORE = 2 * RUNG_KERNEL_MOST; /* pixels are counted from one before all */
  if (line == NULL) return (uint8_t)job.edge_value;
  if (x >= 0 && x < (int)job.width * job.channels) return line[x];
  const int pixel = (x + BEFORE * job.channels) / job.channels - BEFORE;
  const int64_t at = correlate_index(job.edge, pixel, job.width);
  return at < 0 ? (uint8_t)job.edge_value : line[at * job.channels + (x - pixel * job.channels)];
}

/* The rows at `lines`, from element `left` on. Runs of 16 bytes are loaded from multiples of 16
 * bytes, several at a time, and shifted by what their row begins beyond one: `off`, less than a
 * word, where all are alike. What is not all inside comes by bytes. */
template <int B>
static __device__ __forceinline__ void band_fill(const correlate_job<int64_t> &job, uint4 *tile,
                                                 const uint8_t *const *lines, int left, int off,
                                                 int rows, bool alike) {
  static constexpr int RUNS = band_row<B>::RUNS, BATCH = 4;
  const int count = rows * RUNS, bytes = !alike ? 32 : off ? 20 : 16;
  int columns = (int)job.width * job.channels;
  rung_keep(columns); /* else what follows from it is kept in registers through the sums */
  const auto shift = [&](int e) {
    return alike ? off : (int)((uintptr_t)lines[e / RUNS] + left) & 15;
  };
  for (int first = threadIdx.x; first < count; first += BATCH * THREADS) {
    uint4 low[BATCH], high[BATCH] = {}; /* words of these may not be loaded, nor looked at */
    unsigned others = 0;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int e = first + b * THREADS;
      if (e >= count) continue;
      const uint8_t *line = lines[e / RUNS];
      const int from = left + e % RUNS * 16 - shift(e);
      if (line == NULL || from < 0 || from + bytes > columns) {
        others |= 1u << b;
        continue;
      }
      const uint4 *run = reinterpret_cast<const uint4 *>(line + from);
      low[b] = run[0];
      if (!alike)
        high[b] = run[1];
      else
        high[b].x = off ? *reinterpret_cast<const unsigned *>(run + 1) : 0;
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int e = first + b * THREADS;
      if (e < count && (others >> b & 1) == 0)
        tile[e] = rung_shift_bytes(low[b], high[b], shift(e), alike);
    }
#pragma unroll 1
    for (int b = 0; b < BATCH && others >> b; b++) {
      if ((others >> b & 1) == 0) continue;
      const int e = first + b * THREADS;
      uint8_t *to = reinterpret_cast<uint8_t *>(tile + e);
#pragma unroll 4
      for (int at = 0; at < 16; at++)
        to[at] = band_byte(job, lines[e / RUNS], left + e % RUNS * 16 + at);
    }
  }
}

/* ---- sums -------------------------------------------------------------------------------------
 */

/* A warp's, from the words at `line` on, `pitch` bytes a row. */
template <int B>
static __device__ __forceinline__ void band_sums(const uint4 *band, const uint8_t *line, int rows,
                                                 int (*sums)[TILES][4]) {
  static constexpr int PITCH = band_row<B>::PITCH, WORDS = TILES + 2 * B - 1;
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int i = 0; i < rows; i++) {
    uint4 a[B];
#pragma unroll
    for (int b = 0; b < B; b++) a[b] = band[(i * B + b) * 32 + lane];
#pragma unroll
    for (int n = 0; n < GROUPS; n++) {
      unsigned words[WORDS];
#pragma unroll
      for (int s = 0; s < WORDS; s++)
        words[s] = *reinterpret_cast<const unsigned *>(line + (8 * n + i) * PITCH + 16 * s);
#pragma unroll
      for (int b = 0; b < B; b++)
#pragma unroll
        for (int t = 0; t < TILES; t++)
          rung_mma_s8u8(sums[n][t], a[b].x, a[b].y, a[b].z, a[b].w, words[t + 2 * b],
                        words[t + 2 * b + 1]);
    }
  }
}

/* Four results as bytes, from a multiple of 16 bytes on. */
static __device__ __forceinline__ unsigned band_pack(const int *from) {
  const int4 run = *reinterpret_cast<const int4 *>(from);
  return rung_pack_u8(run.x, run.y, run.z, run.w);
}

/* Eight rows of a warp's sums to `stage`, every row by behind(row) numbers further on. */
template <typename Behind>
static __device__ __forceinline__ void band_stage(int (*sums)[4], int *stage, Behind behind) {
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
  __syncwarp();
#pragma unroll
  for (int e = 0; e < 4; e++) {
    const int row = 2 * q + e % 2;
    int *to = stage + row * STAGE + behind(row) + g + e / 2 * 8;
#pragma unroll
    for (int t = 0; t < TILES; t++) to[16 * t] = sums[t][e];
  }
  __syncwarp();
}

/* Eight rows, from (y, x) on, as bytes, all columns there and aligned. */
static __device__ __forceinline__ void band_store_own(const correlate_job<int64_t> &job, int64_t k,
                                                      int64_t y, int64_t x, int (*sums)[4],
                                                      int *stage) {
  const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
  band_stage(sums, stage, [](int) { return 0; });
  if (y + g >= job.rows) return;
  const int *from = stage + g * STAGE + 16 * q;
  *reinterpret_cast<uint4 *>(static_cast<uint8_t *>(correlate_row_out(job, k, y + g)) + x +
                             16 * q) =
      make_uint4(band_pack(from), band_pack(from + 4), band_pack(from + 8), band_pack(from + 12));
}

/* Eight rows as bytes, wherever they begin: a row is staged as many numbers behind its place as it
 * begins bytes behind a word in out, so that words are multiples of 16 bytes there. At either end
 * up to three bytes are left. */
static __device__ __forceinline__ void band_store_words(const correlate_job<int64_t> &job,
                                                        int64_t k, int64_t y, int64_t x,
                                                        int (*sums)[4], int *stage) {
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
  const int columns = job.n - x < WIDE ? (int)(job.n - x) : WIDE;
  const auto place = [&](int row) {
    return static_cast<uint8_t *>(correlate_row_out(job, k, y + row)) + x;
  };
  const auto behind = [](const uint8_t *at) { return (int)(uintptr_t)at & 3; };
  band_stage(sums, stage, [&](int row) { return behind(place(row)); });
  uint8_t *to = place(lane / 16);
#pragma unroll
  for (int pair = 0; pair < 8; pair += 2, to += 2 * job.out_line) {
    const int row = pair + lane / 16, column = (-behind(to) & 3) + lane % 16 * 4;
    if (y + row < job.rows && column + 4 <= columns)
      *reinterpret_cast<unsigned *>(to + column) =
          band_pack(stage + row * STAGE + behind(to) + column);
  }
  if (y + g >= job.rows) return;
  to = place(g);
  const int *from = stage + g * STAGE + behind(to);
  const int head = -behind(to) & 3, tail = head + ((columns - head) & ~3) + q;
  if (q < head && q < columns) to[q] = (uint8_t)rung_pack_u8(from[q], 0, 0, 0);
  if (tail >= head && tail < columns) to[tail] = (uint8_t)rung_pack_u8(from[tail], 0, 0, 0);
}

/* Eight rows of any type. */
static __device__ __forceinline__ void band_store_other(const correlate_job<int64_t> &job,
                                                        int64_t k, int64_t y, int64_t x,
                                                        int (*sums)[4], int *stage) {
  band_stage(sums, stage, [](int) { return 0; });
#pragma unroll 1
  for (int e = threadIdx.x % 32; e < 8 * WIDE; e += 32)
    if (y + e / WIDE < job.rows && x + e % WIDE < job.n)
      correlate_store(job.out_type, correlate_row_out(job, k, y + e / WIDE), x + e % WIDE,
                      (int64_t)stage[e / WIDE * STAGE + e % WIDE]);
}

/* A warp's, from (y, x) on. `wide`: rows of out begin where stores of 16 bytes may. */
static __device__ __forceinline__ void band_store(const correlate_job<int64_t> &job, int64_t k,
                                                  int64_t y, int64_t x, int (*sums)[TILES][4],
                                                  int *stage, bool wide) {
  const bool bytes = job.out_type == RUNG_U8;
  if (bytes && wide && x + WIDE <= job.n) {
#pragma unroll
    for (int n = 0; n < GROUPS; n++) band_store_own(job, k, y + 8 * n, x, sums[n], stage);
    return;
  }
  /* The sums move up in a loop, whose code is there once, and not four times. */
#pragma unroll 1
  for (int n = 0; n < GROUPS; n++) {
    if (bytes)
      band_store_words(job, k, y + 8 * n, x, sums[0], stage);
    else
      band_store_other(job, k, y + 8 * n, x, sums[0], stage);
#pragma unroll
    for (int m = 0; m + 1 < GROUPS; m++)
#pragma unroll
      for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) sums[m][t][e] = sums[m + 1][t][e];
  }
}

template <int B>
__global__ void __launch_bounds__(THREADS, 4)
    correlate_banded(const __grid_constant__ correlate_job<int64_t> job, const uint4 *band,
                     int64_t k, bool alike, bool wide_out) {
  static constexpr int PITCH = band_row<B>::PITCH;
  RUNG_DYNAMIC_SHARED(uint4, tile);
  __shared__ int stages[WARPS][8 * STAGE];
  __shared__ const uint8_t *lines[THREADS];
  static_assert(HIGH * (WARPS / ACROSS) + RUNG_KERNEL_MOST - 1 <= THREADS, "a thread finds a row");
  rung_await_before();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, r = threadIdx.x;
  const int64_t left = (int64_t)blockIdx.x * (ACROSS * WIDE) + job.first_column * job.channels;
  const int high = HIGH * (WARPS / ACROSS), rows = high + job.kernel_rows - 1;
  /* Words of the tile may begin anywhere in a multiple of 16 bytes; what is left is shifted. */
  const int skew = (int)((uintptr_t)job.in + left) & 15, off = skew & 3, ahead = skew - off;
  const uint8_t *line = reinterpret_cast<const uint8_t *>(tile) +
                        (warp / ACROSS * HIGH + lane / 4) * PITCH + warp % ACROSS * WIDE +
                        lane % 4 * 4 + ahead;
  const int64_t x = (int64_t)blockIdx.x * (ACROSS * WIDE) + warp % ACROSS * WIDE;
  for (int64_t top = (int64_t)blockIdx.y * high; top < job.rows; top += (int64_t)gridDim.y * high) {
    if (r < rows) {
      const int64_t row = correlate_index(job.edge, job.first_row + top + r, job.height);
      lines[r] = row < 0 ? NULL : static_cast<const uint8_t *>(correlate_row(job, row));
    }
    __syncthreads();
    band_fill<B>(job, tile, lines, (int)left - ahead, off, rows, alike);
    __syncthreads();
    int sums[GROUPS][TILES][4] = {};
    band_sums<B>(band, line, job.kernel_rows, sums);
    band_store(job, k, top + warp / ACROSS * HIGH, x, sums, stages[warp], wide_out);
    __syncthreads();
  }
}

/* ---- launches ---------------------------------------------------------------------------------
 */

template <int B>
static rung_status run(const rung_task *task) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const auto job = correlate_job_of<int64_t>(task);
  const bool alike = job.in_line % 16 == 0; /* rows begin so far beyond a multiple of 16 bytes */
  const int high = HIGH * (WARPS / ACROSS);
  const int64_t across = (job.n + ACROSS * WIDE - 1) / (ACROSS * WIDE);
  const int64_t down = (job.rows + high - 1) / high;
  const int64_t bytes = (int64_t)(high + job.kernel_rows - 1) * band_row<B>::PITCH;
  const int words = job.kernel_rows * B * 128, taps = job.kernel_rows * job.kernel_columns;
  for (int64_t k = 0; k < job.kernels; k++) {
    correlate_taps<int8_t, CORRELATE_TAPS> own = {};
    for (int i = 0; i < taps; i++) own.at[i] = (int8_t)correlate_tap_at<int32_t>(p, k * taps + i);
    RUNG_LAUNCH(task, band_prepare, (words + 255) / 256, 256, 0, own, job.kernel_rows,
                job.kernel_columns, job.channels, B, static_cast<unsigned *>(task->scratch));
    RUNG_LAUNCH_NEXT(task, correlate_banded<B>,
                     dim3((unsigned)across, (unsigned)(down < 65535 ? down : 65535)), THREADS,
                     bytes, job, static_cast<const uint4 *>(task->scratch), k, alike,
                     correlate_wide_out(task, 16));
  }
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(correlate_banded)(const rung_task *task) {
  switch (correlate_band_steps(static_cast<const correlate_problem *>(task->problem))) {
    case 1:
      return run<1>(task);
    case 2:
      return run<2>(task);
    default:
      return run<3>(task);
  }
}
