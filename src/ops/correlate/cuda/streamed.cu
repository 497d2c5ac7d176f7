/* Rung `streamed`: a block walks down the image. Its rows come into a ring in shared memory without
 * being waited for, each once; a thread takes four or eight columns and their neighbours from there
 * into registers, where a running row of sums for every row of the kernel meets its taps in their
 * order. All taps are constant operands of multiply-adds. */
#include "ops/correlate/cuda/correlate.cuh"
#include "ops/correlate/tiles.h"

static constexpr int THREADS = CORRELATE_STRIP_THREADS, AHEAD = 3, SLOTS = AHEAD + 1;
static_assert((SLOTS & (SLOTS - 1)) == 0, "rows find their slots by their last bits");

/* How a row lies in a slot of the ring, in elements of BYTES bytes: where a copy of 16 bytes may
 * begin in the image, it may in the slot, if the kernel's origin is its middle. STEP: elements from
 * one pixel to the next. */
template <int BYTES, int V, int K, int STEP>
struct correlate_slot {
  static constexpr int RUN = 16 / BYTES, LEFT = K / 2 * STEP, REACH = (K - 1) * STEP;
  static constexpr int FIRST = (LEFT + RUN - 1) / RUN * RUN - LEFT; /* the first thread's first */
  static constexpr int FROM = FIRST / V * V, SKIP = FIRST - FROM;   /* its loads begin before */
  static constexpr int WINDOW = (SKIP + V + REACH + V - 1) / V * V; /* what a thread loads */
  static constexpr int COPIES = (FROM + (THREADS - 1) * V + WINDOW + RUN - 1) / RUN;
  static constexpr int LINE = COPIES * RUN, PITCH = (LINE * BYTES + 127) / 128 * 128 / BYTES;
};

/* ---- rows into the ring -----------------------------------------------------------------------
 */

/* The elements of a slot that copies of 16 bytes bring: [from, until). */
struct correlate_inside {
  int from, until;
};

/* Those from column x on, of a row of so many; `wide`: copies may begin at x. */
template <typename Slot>
static __device__ __forceinline__ correlate_inside correlate_inside_of(int64_t x, int64_t columns,
                                                                       bool wide) {
  static constexpr int RUN = Slot::RUN, LINE = Slot::LINE;
  if (!wide || x <= -LINE || x >= columns) return {0, 0};
  const int from = x < 0 ? (int)(-x + RUN - 1) / RUN * RUN : 0;
  const int until = columns - x < LINE ? (int)(columns - x) / RUN * RUN : LINE;
  return from < until ? correlate_inside{from, until} : correlate_inside{0, 0};
}

/* What a thread does for every slot: whether its copies are inside, and the first of the elements
 * that no copy brings which is its own, if there is one: where it lies, and the column that stands
 * for it, from the first one's on, or NOWHERE. */
static constexpr int NOWHERE = INT32_MAX;
template <typename Slot>
struct correlate_share {
  static constexpr int COPIES = (Slot::COPIES + THREADS - 1) / THREADS;
  bool copies[COPIES];
  int at, place;
};

/* Element number e of those that no copy brings. */
static __device__ __forceinline__ int correlate_other(correlate_inside inside, int e) {
  return e < inside.from ? e : e + inside.until - inside.from;
}

template <typename Slot>
static __device__ __forceinline__ correlate_share<Slot> correlate_share_of(correlate_inside inside,
                                                                           const int *places) {
  correlate_share<Slot> share;
#pragma unroll
  for (int c = 0; c < correlate_share<Slot>::COPIES; c++) {
    const int at = (c * THREADS + threadIdx.x) * Slot::RUN;
    share.copies[c] = at >= inside.from && at < inside.until;
  }
  const int others = Slot::LINE - (inside.until - inside.from);
  share.at = threadIdx.x < others ? correlate_other(inside, threadIdx.x) : -1;
  share.place = share.at < 0 ? NOWHERE : places[share.at];
  return share;
}

template <typename E>
static __device__ __forceinline__ void correlate_fill_element(E *to, const E *from, int place,
                                                              E outside) {
  if (place == NOWHERE)
    *to = outside;
  else if constexpr (sizeof(E) == 4)
    rung_copy_async(to, from + place);
  else
    *to = from[place];
}

/* A slot, from `from` on. */
template <typename E, typename Slot>
static __device__ __forceinline__ void correlate_fill_slot(E *to, const E *from,
                                                           const correlate_share<Slot> &share,
                                                           correlate_inside inside,
                                                           const int *places, E outside) {
  typedef correlate_run<E, Slot::RUN> run;
#pragma unroll
  for (int c = 0; c < correlate_share<Slot>::COPIES; c++)
    if (share.copies[c])
      rung_copy_async_shared(reinterpret_cast<run *>(to) + c * THREADS + threadIdx.x,
                             reinterpret_cast<const run *>(from) + c * THREADS + threadIdx.x);
  if (share.at < 0) return;
  correlate_fill_element(to + share.at, from, share.place, outside);
#pragma unroll 2
  for (int e = THREADS + threadIdx.x; e < Slot::LINE - (inside.until - inside.from); e += THREADS) {
    const int at = correlate_other(inside, e);
    correlate_fill_element(to + at, from, places[at], outside);
  }
}

/* ---- from the ring into registers -------------------------------------------------------------
 */

template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const float *line, bool,
                                                             float *window) {
#pragma unroll
  for (int c = 0; c < Slot::WINDOW / V; c++) {
    const auto run = *reinterpret_cast<const correlate_run<float, V> *>(line + c * V);
#pragma unroll
    for (int v = 0; v < V; v++) {
      const int e = c * V + v - Slot::SKIP;
      if (e >= 0 && e < V + Slot::REACH) window[e] = run.at[v];
    }
  }
}

/* Numbers of 16 bits, u16 or f16; the former below the exponent of 2^23 are 2^23 more than
 * themselves. */
template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const uint16_t *line, bool half,
                                                             float *window) {
  correlate_run<unsigned, V / 2> runs[Slot::WINDOW / V];
#pragma unroll
  for (int c = 0; c < Slot::WINDOW / V; c++)
    runs[c] = *reinterpret_cast<const correlate_run<unsigned, V / 2> *>(line + c * V);
  if (half) {
#pragma unroll
    for (int e = 0; e < V + Slot::REACH; e++) {
      const int at = Slot::SKIP + e;
      const unsigned word = runs[at / V].at[at % V / 2];
      window[e] = rung_f16_to_f32((uint16_t)(at % 2 ? word >> 16 : word));
    }
    return;
  }
#pragma unroll
  for (int e = 0; e < V + Slot::REACH; e++) {
    const int at = Slot::SKIP + e;
    const unsigned word = runs[at / V].at[at % V / 2];
    window[e] = __uint_as_float(__byte_perm(word, 0x4b000000, at % 2 ? 0x7432 : 0x7410)) - 0x1p23f;
  }
}

/* Bytes likewise. */
template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const uint8_t *line, bool,
                                                             float *window) {
  correlate_run<unsigned, V / 4> runs[Slot::WINDOW / V];
#pragma unroll
  for (int c = 0; c < Slot::WINDOW / V; c++)
    runs[c] = *reinterpret_cast<const correlate_run<unsigned, V / 4> *>(line + c * V);
#pragma unroll
  for (int e = 0; e < V + Slot::REACH; e++) {
    const int at = Slot::SKIP + e;
    const unsigned word = runs[at / V].at[at % V / 4];
    window[e] = __uint_as_float(__byte_perm(word, 0x4b000000, 0x7440 + at % 4)) - 0x1p23f;
  }
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* Those of the image's own type, all there and aligned. */
template <int V>
static __device__ __forceinline__ void correlate_store_own(float *to, bool, const float *sums) {
  correlate_store_as<float, V>(to, 0, sums, [](float t) { return t; });
}
template <int V>
static __device__ __forceinline__ void correlate_store_own(uint16_t *to, bool half,
                                                           const float *sums) {
  if (half)
    correlate_store_as<uint16_t, V>(to, 0, sums, [](float t) { return rung_f32_to_f16(t); });
  else
    correlate_store_as<uint16_t, V>(to, 0, sums,
                                    [](float t) { return (uint16_t)correlate_integer(t, 65535); });
}
template <int V>
static __device__ __forceinline__ void correlate_store_own(uint8_t *to, bool, const float *sums) {
  correlate_store_as<uint8_t, V>(to, 0, sums,
                                 [](float t) { return (uint8_t)correlate_integer(t, 255); });
}

/* Any others, a warp's, whose first is element x of a row: by way of `stage`, from which a loop
 * takes them. */
template <int V>
static __device__ __forceinline__ void correlate_store_other(rung_dtype dtype, void *row, int64_t x,
                                                             int64_t n, const float *sums,
                                                             float *stage) {
  const int lane = threadIdx.x % 32;
  __syncwarp();
#pragma unroll
  for (int v = 0; v < V; v++) stage[lane * V + v] = sums[v];
  __syncwarp();
#pragma unroll 1
  for (int e = lane; e < 32 * V && x + e < n; e += 32) correlate_store(dtype, row, x + e, stage[e]);
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

/* A row passes through. Kernels of fewer rows than M stand at the bottom of its taps. Row i
 * of sums is that of the output above which i rows of taps are done: with the next one it becomes
 * row i + 1, so that nothing is ever moved, and from the last comes the result. Rows of taps before
 * `first` serve no output of the block, which is not asked where a kernel has ALL rows. */
template <int V, int K, int M, int STEP, bool ALL>
static __device__ __forceinline__ void correlate_pass(const correlate_taps<float, M * K> &taps,
                                                      int first, const float *window,
                                                      float (*sums)[V]) {
#pragma unroll
  for (int i = M - 1; i >= 0; i--) {
    if (!ALL && i < first) break;
#pragma unroll
    for (int j = 0; j < K; j++)
#pragma unroll
      for (int v = 0; v < V; v++)
        sums[i + 1][v] =
            fmaf(taps.at[i * K + j], window[v + j * STEP], j == 0 ? sums[i][v] : sums[i + 1][v]);
  }
}

/* The columns, from `left` on, that stand for those of a slot, or NOWHERE. */
template <typename Slot, int K, int STEP>
static __device__ __forceinline__ void correlate_find_places(const correlate_job<float> &job,
                                                             int64_t left, int *places) {
  for (int c = threadIdx.x; c < Slot::LINE; c += THREADS) {
    /* Pixels are counted from one that is not negative. */
    const int64_t pixel = (left + c + (int64_t)K * STEP) / STEP - K;
    const int64_t at = correlate_index(job.edge, pixel, job.width);
    places[c] = at < 0 ? NOWHERE : (int)(at * STEP + (left + c - pixel * STEP) - left);
  }
}

/* The view's rows that stand for `count` ones from `first` on; -1: none does. */
static __device__ __forceinline__ void correlate_find_rows(const correlate_job<float> &job,
                                                           int64_t first, int count, int *rows) {
  for (int r = threadIdx.x; r < count; r += THREADS) {
    const int64_t row = correlate_index(job.edge, first + r, job.height);
    rows[r] = row < 0 ? -1 : (int)(row - job.view_row);
  }
}

/* Blocks that a multiprocessor is to hold: as many as leave registers for the sums. */
static constexpr int correlate_resident(int v, int m) {
  return v * m <= 28 ? 8 : v * m <= 44 ? 6 : v * m <= 80 ? 4 : 3;
}

template <typename E, int V, int K, int M, int STEP, bool ALL>
__global__ void __launch_bounds__(THREADS, correlate_resident(V, M))
    correlate_streamed(const __grid_constant__ correlate_job<float> job,
                       const __grid_constant__ correlate_taps<float, M * K> taps, int64_t k,
                       int high, bool wide_in, bool wide_out) {
  typedef correlate_slot<sizeof(E), V, K, STEP> slot;
  __shared__ __align__(128) E ring[SLOTS * slot::PITCH];
  __shared__ int places[slot::LINE], rows[CORRELATE_STRIP_ROWS + M];
  __shared__ float stages[THREADS * V];
  const bool half = job.in_type == RUNG_F16;
  const E outside = half ? (E)rung_f32_to_f16(job.edge_value) : (E)job.edge_value;
  const int64_t first = (int64_t)blockIdx.x * THREADS * V, columns = job.width * STEP;
  const int64_t left = first + job.first_column * STEP - slot::FIRST;
  const bool own = wide_out && job.out_type == job.in_type && first + THREADS * V <= job.n;
  const correlate_inside inside = correlate_inside_of<slot>(left, columns, wide_in);
  correlate_find_places<slot, K, STEP>(job, left, places);
  __syncthreads();
  const auto share = correlate_share_of<slot>(inside, places);
  for (int64_t top = (int64_t)blockIdx.y * high; top < job.rows; top += (int64_t)gridDim.y * high) {
    const int outputs = (int)(job.rows - top < high ? job.rows - top : high);
    const int above = (ALL ? M : job.kernel_rows) - 1, inputs = outputs + above;
    correlate_find_rows(job, job.first_row + top, inputs, rows);
    const int64_t out_step = job.out_line * correlate_bytes(job.out_type);
    char *out = static_cast<char *>(correlate_row_out(job, k, top));
    __syncthreads();
    float sums[M + 1][V] = {};
    for (int r = -AHEAD; r < inputs; r++) {
      float window[V + slot::REACH];
      if (r >= 0) {
        rung_copy_async_wait<AHEAD - 1>();
        __syncthreads();
        correlate_load_window<slot, V>(
            ring + (r & (SLOTS - 1)) * slot::PITCH + slot::FROM + threadIdx.x * V, half, window);
      }
      if (r + AHEAD < inputs) {
        const int row = rows[r + AHEAD];
        const E *from = static_cast<const E *>(job.in) + row * job.in_line + left;
        E *to = ring + ((r + AHEAD) & (SLOTS - 1)) * slot::PITCH;
        if (row >= 0)
          correlate_fill_slot<E, slot>(to, from, share, inside, places, outside);
        else
          for (int c = threadIdx.x; c < slot::LINE; c += THREADS) to[c] = outside;
      }
      rung_copy_async_commit();
      if (r < 0) continue;
      const int done = r - outputs + 1;
      correlate_pass<V, K, M, STEP, ALL>(taps, M - 1 - above + (done > 0 ? done : 0), window, sums);
      if (r < above) continue;
      if (own)
        correlate_store_own<V>(reinterpret_cast<E *>(out) + first + threadIdx.x * V, half, sums[M]);
      else
        correlate_store_other<V>(job.out_type, out, first + threadIdx.x / 32 * 32 * V, job.n,
                                 sums[M], stages + threadIdx.x / 32 * 32 * V);
      out += out_step;
    }
  }
}

/* ---- launches ---------------------------------------------------------------------------------
 */

template <int K, int M>
static correlate_taps<float, M * K> taps_of(const rung_task *task, int64_t k) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int count = p->kernel_rows * K, unused = M * K - count;
  correlate_taps<float, M *K> taps = {};
  for (int i = 0; i < count; i++) taps.at[unused + i] = correlate_tap_at<float>(p, k * count + i);
  return taps;
}

template <typename E, int V, int K, int M, int STEP, bool ALL>
static rung_status run_strips(const rung_task *task) {
  const auto job = correlate_job_of<float>(task);
  static constexpr int RUN = 16 / (int)sizeof(E);
  /* The middle of the kernel's row lies under a thread's first element where the origin is it. */
  const int64_t middle = (job.first_column + K / 2) * STEP;
  const bool wide_in = (uintptr_t)job.in % 16 == 0 && job.in_line % RUN == 0 && middle % RUN == 0;
  const bool wide_out = correlate_wide_out(task, V);
  const int64_t across = (job.n + THREADS * V - 1) / (THREADS * V);
  int blocks;
  RUNG_RESIDENT_BLOCKS(task, (correlate_streamed<E, V, K, M, STEP, ALL>), THREADS, 0, &blocks);
  const int high = correlate_strip_rows(task, across, blocks, V);
  const int64_t down = (job.rows + high - 1) / high;
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_streamed<E, V, K, M, STEP, ALL>),
                dim3((unsigned)across, (unsigned)(down < 65535 ? down : 65535)), THREADS, 0, job,
                (taps_of<K, M>(task, k)), k, high, wide_in, wide_out);
  return RUNG_OK;
}

/* Results from which on blocks of bytes are twice as wide: of fewer there are too few blocks. */
static constexpr int64_t MANY = (int64_t)1 << 24;

/* The rows of sums that a kernel of K columns keeps; the common sizes have kernels of their own.
 * Bytes by eight, as long as there are registers for so many sums, and by sixteen in the common
 * sizes: what a row costs beside its multiply-adds is then shared by twice as many. */
template <typename E, int K>
static rung_status run(const rung_task *task) {
  static constexpr bool NARROW = K <= CORRELATE_NARROW;
  static constexpr int V = sizeof(E) == 1 && NARROW ? 8 : 4;
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int rows = p->kernel_rows;
  if constexpr (sizeof(E) == 1 && NARROW && K % 2 == 1 && K > 1)
    if (rows == K && p->rows * p->columns >= MANY) return run_strips<E, 16, K, K, 1, true>(task);
  if constexpr (sizeof(E) != 2 && K % 2 == 1 && K > 1)
    if (rows == K) return run_strips<E, V, K, K, 1, true>(task);
  if constexpr (NARROW)
    if (K > 1 || rows <= CORRELATE_NARROW)
      return run_strips<E, V, K, CORRELATE_NARROW, 1, false>(task);
  if constexpr (!NARROW || K == 1) return run_strips<E, 4, K, CORRELATE_STREAMED, 1, false>(task);
}

template <typename E>
static rung_status run_columns(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->kernel_columns) {
#define RUN(K) \
  case K:      \
    return run<E, K>(task);
    RUN(1)
    RUN(2)
    RUN(3)
    RUN(4)
    RUN(5)
    RUN(6)
    RUN(7)
    RUN(8)
    RUN(9)
    RUN(10)
    RUN(11)
    RUN(12)
    RUN(13)
    RUN(14)
    RUN(15)
#undef RUN
    default:
      return run<E, 16>(task);
  }
}

/* Pixels of several channels: the usual kernels. */
template <typename E, int STEP>
static rung_status run_channels(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->kernel_columns) {
    case 3:
      return run_strips<E, 4, 3, CORRELATE_NARROW, STEP, false>(task);
    case 5:
      return run_strips<E, 4, 5, CORRELATE_NARROW, STEP, false>(task);
    default:
      return run_strips<E, 4, 7, CORRELATE_NARROW, STEP, false>(task);
  }
}

template <typename E>
static rung_status run_type(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->channels) {
    case 2:
      return run_channels<E, 2>(task);
    case 3:
      return run_channels<E, 3>(task);
    case 4:
      return run_channels<E, 4>(task);
    default:
      return run_columns<E>(task);
  }
}

extern "C" rung_status RUNG_ENTRY(correlate_streamed)(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->types.in) {
    case RUNG_U8:
      return run_type<uint8_t>(task);
    case RUNG_U16:
    case RUNG_F16:
      return run_type<uint16_t>(task);
    default:
      return run_type<float>(task);
  }
}
