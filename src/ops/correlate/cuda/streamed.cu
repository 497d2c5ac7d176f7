/* Rung `streamed`: a block walks down the image. Its rows come into a ring in shared memory without
 * being waited for, each once; a thread takes four or eight columns and their neighbours from there
 * into registers, where a running row of sums for every row of the kernel meets its taps in their
 * order. All taps are constant operands of multiply-adds. */
#include "ops/correlate/cuda/correlate.cuh"
#include "ops/correlate/tiles.h"

static constexpr int THREADS = CORRELATE_STRIP_THREADS, AHEAD = 3, SLOTS = AHEAD + 1;

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
  static constexpr int LINE = COPIES * RUN;
};

template <typename E>
static __device__ inline E correlate_element_of(float x) {
  return (E)x;
}
template <>
__device__ inline correlate_half correlate_element_of<correlate_half>(float x) {
  return {rung_f32_to_f16(x)};
}

/* ---- rows into the ring -----------------------------------------------------------------------
 */

/* COUNT elements one by one; places: the columns that stand for them in the row, -1: none does, nor
 * is there a row where `from` is null. */
template <typename E, int COUNT>
static __device__ __noinline__ void correlate_fill_singly(E *to, const E *from, const int *places,
                                                          float edge_value) {
#pragma unroll 4
  for (int e = 0; e < COUNT; e++) {
    const int at = from ? places[e] : -1;
    if (at < 0)
      to[e] = correlate_element_of<E>(edge_value);
    else if constexpr (sizeof(E) == 4)
      rung_copy_async(to + e, from + at);
    else
      to[e] = from[at];
  }
}

/* A slot, from column x of row `from` on, of which there are `columns`. `wide`: copies may begin at
 * x and every 16 bytes from there. */
template <typename E, typename Slot>
static __device__ __forceinline__ void correlate_fill_slot(E *to, const E *from, int64_t x,
                                                           int64_t columns, const int *places,
                                                           float edge_value, bool wide) {
  typedef correlate_run<E, Slot::RUN> run;
#pragma unroll
  for (int base = 0; base < Slot::COPIES; base += THREADS) {
    const int c = base + threadIdx.x, at = c * Slot::RUN;
    if (base + THREADS > Slot::COPIES && c >= Slot::COPIES) break;
    if (wide && from && x + at >= 0 && x + at + Slot::RUN <= columns)
      rung_copy_async_shared(reinterpret_cast<run *>(to + at),
                             reinterpret_cast<const run *>(from + x + at));
    else
      correlate_fill_singly<E, Slot::RUN>(to + at, from, places + at, edge_value);
  }
}

/* ---- from the ring into registers -------------------------------------------------------------
 */

template <typename Slot, int V, typename E>
static __device__ __forceinline__ void correlate_load_window(const E *line, float *window) {
  correlate_run<E, V> runs[Slot::WINDOW / V];
#pragma unroll
  for (int c = 0; c < Slot::WINDOW / V; c++)
    runs[c] = *reinterpret_cast<const correlate_run<E, V> *>(line + c * V);
#pragma unroll
  for (int e = 0; e < V + Slot::REACH; e++)
    window[e] = correlate_number<float>(runs[(Slot::SKIP + e) / V].at[(Slot::SKIP + e) % V]);
}

/* A byte below the exponent of 2^23 is 2^23 more than itself. */
template <typename Slot, int V>
static __device__ __forceinline__ void correlate_load_window(const uint8_t *line, float *window) {
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

/* ---- the walk ---------------------------------------------------------------------------------
 */

/* A row passes through. Kernels of fewer rows than M stand at the bottom of its taps. Row i
 * of sums is that of the output above which i rows of taps are done: with the next one it becomes
 * row i + 1, so that nothing is ever moved, and from the last comes the result. Rows of taps before
 * `first` serve no output of the block. */
template <int V, int K, int M, int STEP>
static __device__ __forceinline__ void correlate_pass(const correlate_taps<float, M * K> &taps,
                                                      int first, const float *window,
                                                      float (*sums)[V]) {
#pragma unroll
  for (int i = M - 1; i >= 0; i--) {
    if (i < first) break;
#pragma unroll
    for (int j = 0; j < K; j++)
#pragma unroll
      for (int v = 0; v < V; v++)
        sums[i + 1][v] =
            fmaf(taps.at[i * K + j], window[v + j * STEP], j == 0 ? sums[i][v] : sums[i + 1][v]);
  }
}

/* Blocks that a multiprocessor is to hold: as many as leave registers for the sums. */
static constexpr int correlate_resident(int v, int m) {
  return v * m <= 24 ? 8 : v * m <= 40 ? 6 : 4;
}

/* act(E()) for the type of the image's elements; only bytes where BYTES. */
template <bool BYTES, typename Act>
static __device__ __forceinline__ void correlate_by_type(rung_dtype dtype, const Act &act) {
  if (BYTES || dtype == RUNG_U8) return act(uint8_t());
  if constexpr (!BYTES) {
    if (dtype == RUNG_U16) return act(uint16_t());
    if (dtype == RUNG_F16) return act(correlate_half());
    act(float());
  }
}

template <int V, int K, int M, int STEP, bool BYTES>
__global__ void __launch_bounds__(THREADS, correlate_resident(V, M))
    correlate_streamed(const __grid_constant__ correlate_job<float> job,
                       const __grid_constant__ correlate_taps<float, M * K> taps, int64_t k,
                       int high, bool wide_in, bool wide_out) {
  static constexpr int WIDEST = BYTES ? 1 : 4;
  static constexpr int ROOM = correlate_slot<WIDEST, V, K, STEP>::LINE * WIDEST;
  static constexpr int LINE = correlate_slot<1, V, K, STEP>::LINE;
  static constexpr int PITCH = (ROOM + 127) / 128 * 128;
  __shared__ __align__(128) unsigned char shared_ring[SLOTS * PITCH];
  __shared__ int shared_places[LINE];
  unsigned char *ring = shared_ring;
  int *places = shared_places;
  const int64_t first = (int64_t)blockIdx.x * THREADS * V, columns = job.width * job.channels;
  const int64_t x = first + threadIdx.x * V;
  for (int64_t top = (int64_t)blockIdx.y * high; top < job.rows; top += (int64_t)gridDim.y * high) {
    const int outputs = (int)(job.rows - top < high ? job.rows - top : high);
    const int inputs = outputs + job.kernel_rows - 1, unused = M - job.kernel_rows;
    if (top == (int64_t)blockIdx.y * high)
      correlate_by_type<BYTES>(job.in_type, [&](auto element) {
        typedef correlate_slot<sizeof(element), V, K, STEP> slot;
        const int64_t left = first + job.first_column * STEP - slot::FIRST;
        if (wide_in && left >= 0 && left + slot::LINE <= columns) return;
        for (int c = threadIdx.x; c < slot::LINE; c += THREADS) {
          /* Pixels are counted from one that is not negative. */
          const int64_t pixel = (left + c + (int64_t)K * STEP) / STEP - K;
          const int channel = (int)(left + c - pixel * STEP);
          const int64_t at = correlate_index(job.edge, pixel, job.width);
          places[c] = at < 0 ? -1 : (int)(at * STEP + channel);
        }
      });
    __syncthreads();
    float sums[M + 1][V] = {}, window[V + (K - 1) * STEP];
    for (int r = -AHEAD; r < inputs; r++) {
      if (r >= 0) {
        rung_copy_async_wait<AHEAD - 1>();
        __syncthreads();
      }
      if (r + AHEAD < inputs) {
        const int64_t row = correlate_index(job.edge, job.first_row + top + r + AHEAD, job.height);
        correlate_by_type<BYTES>(job.in_type, [&](auto element) {
          typedef decltype(element) E;
          typedef correlate_slot<sizeof(E), V, K, STEP> slot;
          const E *from = row < 0
                              ? nullptr
                              : static_cast<const E *>(job.in) + (row - job.view_row) * job.in_line;
          correlate_fill_slot<E, slot>(reinterpret_cast<E *>(ring + (r + AHEAD) % SLOTS * PITCH),
                                       from, first + job.first_column * STEP - slot::FIRST, columns,
                                       places, job.edge_value, wide_in);
        });
      }
      rung_copy_async_commit();
      if (r < 0) continue;
      correlate_by_type<BYTES>(job.in_type, [&](auto element) {
        typedef decltype(element) E;
        typedef correlate_slot<sizeof(E), V, K, STEP> slot;
        correlate_load_window<slot, V>(
            reinterpret_cast<const E *>(ring + r % SLOTS * PITCH) + slot::FROM + threadIdx.x * V,
            window);
      });
      const int done = r - outputs + 1;
      correlate_pass<V, K, M, STEP>(taps, unused + (done > 0 ? done : 0), window, sums);
      if (r >= job.kernel_rows - 1 && x < job.n)
        correlate_store_run<V>(job.out_type,
                               correlate_row_out(job, k, top + r - (job.kernel_rows - 1)), x, job.n,
                               sums[M], wide_out && x + V <= job.n);
    }
    __syncthreads();
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

template <int V, int K, int M, int STEP, bool BYTES>
static rung_status run_strips(const rung_task *task) {
  const auto job = correlate_job_of<float>(task);
  const int bytes = (int)rung_dtype_bytes(job.in_type), run = 16 / bytes;
  /* The middle of the kernel's row lies under a thread's first element where the origin is it. */
  const int64_t middle = (job.first_column + K / 2) * STEP;
  const bool wide_in = (uintptr_t)job.in % 16 == 0 && job.in_line % run == 0 && middle % run == 0;
  const bool wide_out = correlate_wide_out(task, V);
  const int64_t across = (job.n + THREADS * V - 1) / (THREADS * V);
  int blocks;
  RUNG_RESIDENT_BLOCKS(task, (correlate_streamed<V, K, M, STEP, BYTES>), THREADS, 0, &blocks);
  const int high = correlate_strip_rows(task, across, blocks, V);
  const int64_t down = (job.rows + high - 1) / high;
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_streamed<V, K, M, STEP, BYTES>),
                dim3((unsigned)across, (unsigned)(down < 65535 ? down : 65535)), THREADS, 0, job,
                (taps_of<K, M>(task, k)), k, high, wide_in, wide_out);
  return RUNG_OK;
}

/* Bytes by eight, as long as there are registers for so many sums. */
template <int K, int M>
static rung_status run_rows(const rung_task *task) {
  if constexpr (K <= 8 && M <= 8)
    if (static_cast<const correlate_problem *>(task->problem)->types.in == RUNG_U8)
      return run_strips<8, K, M, 1, true>(task);
  return run_strips<4, K, M, 1, false>(task);
}

/* The rows of sums that a kernel of K columns keeps: those of the common sizes are their own. */
template <int K>
static rung_status run(const rung_task *task) {
  const int rows = static_cast<const correlate_problem *>(task->problem)->kernel_rows;
  if constexpr (K <= 8) {
    if constexpr (K == 3 || K == 5)
      if (rows <= K) return run_rows<K, K>(task);
    if (rows <= 8) return run_rows<K, 8>(task);
  }
  return run_rows<K, 16>(task);
}

/* Pixels of several channels: the usual kernels, up to seven columns and eight rows. */
template <int STEP>
static rung_status run_channels(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->kernel_columns) {
    case 3:
      return run_strips<4, 3, 8, STEP, false>(task);
    case 5:
      return run_strips<4, 5, 8, STEP, false>(task);
    default:
      return run_strips<4, 7, 8, STEP, false>(task);
  }
}

extern "C" rung_status RUNG_ENTRY(correlate_streamed)(const rung_task *task) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  switch (p->channels) {
    case 2:
      return run_channels<2>(task);
    case 3:
      return run_channels<3>(task);
    case 4:
      return run_channels<4>(task);
    default:
      break;
  }
  switch (p->kernel_columns) {
#define RUN(K) \
  case K:      \
    return run<K>(task);
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
      return run<16>(task);
  }
}
