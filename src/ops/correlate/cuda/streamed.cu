/* Rung `streamed`: a warp walks down the image, and every row of it passes through registers once:
 * a thread holds a row of four or eight columns and their neighbours, and a running row of sums for
 * every row of the kernel, whose taps it meets in their order. All taps are constant operands of
 * multiply-adds. No pixel goes through shared memory, and the next rows are on their way meanwhile.
 */
#include "ops/correlate/cuda/correlate.cuh"
#include "ops/correlate/tiles.h"

static constexpr int MOST = CORRELATE_STREAMED;

/* What a thread has of a row: its own columns in the middle, and those beside them. */
template <typename E, int V, int K>
struct correlate_strip {
  correlate_run<E, V> own;
  E side[K > 1 ? K - 1 : 1];
};

template <typename E>
static __device__ inline E correlate_element_of(float x) {
  return (E)x;
}
template <>
__device__ inline correlate_half correlate_element_of<correlate_half>(float x) {
  return {rung_f32_to_f16(x)};
}

/* A row of the image, from the first own element on. */
template <typename E, int V, int K>
static __device__ __forceinline__ correlate_strip<E, V, K> correlate_load_strip(const E *own) {
  static constexpr int LEFT = K / 2;
  correlate_strip<E, V, K> strip;
  strip.own = *reinterpret_cast<const correlate_run<E, V> *>(own);
#pragma unroll
  for (int s = 0; s < K - 1; s++) strip.side[s] = own[s < LEFT ? s - LEFT : V + s - LEFT];
  return strip;
}

/* Where a block's threads find what lies at the border: rows of the image, from the view's first
 * one on, and a thread's columns; -1: the edge's constant. */
template <int COLUMNS>
struct correlate_places {
  int row[CORRELATE_STRIP_ROWS + CORRELATE_STREAMED];
  int column[COLUMNS][128];
};

/* Row `from` of the view, an element at a time. */
template <typename E, int V, int K>
static __device__ __forceinline__ correlate_strip<E, V, K> correlate_load_border(
    const correlate_job<float> &job, const correlate_places<V + K - 1> &places, int from) {
  static constexpr int LEFT = K / 2;
  const E *row = static_cast<const E *>(job.in) + from * job.in_line;
  correlate_strip<E, V, K> strip;
#pragma unroll
  for (int c = 0; c < V + K - 1; c++) {
    const int at = places.column[c][threadIdx.x];
    const E value = from < 0 || at < 0 ? correlate_element_of<E>(job.edge_value) : row[at];
    if (c >= LEFT && c < LEFT + V)
      strip.own.at[c - LEFT] = value;
    else
      strip.side[c < LEFT ? c : c - V] = value;
  }
  return strip;
}

template <typename E, int V, int K>
static __device__ __forceinline__ void correlate_numbers(const correlate_strip<E, V, K> &strip,
                                                         float *to) {
  static constexpr int LEFT = K / 2;
#pragma unroll
  for (int c = 0; c < V + K - 1; c++)
    to[c] = correlate_number<float>(c < LEFT       ? strip.side[c]
                                    : c < LEFT + V ? strip.own.at[c - LEFT]
                                                   : strip.side[c - V]);
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

/* A row passes through. Kernels of fewer rows than M stand at the bottom of its taps. Row i
 * of sums is that of the output above which i rows of taps are done: with the next one it becomes
 * row i + 1, so that nothing is ever moved, and from the last comes the result. */
template <typename E, int V, int K, int M>
static __device__ __forceinline__ void correlate_pass(const correlate_job<float> &job,
                                                      const correlate_taps<float, M * K> &taps,
                                                      const float *window, float (*sums)[V]) {
  const int unused = M - job.kernel_rows;
#pragma unroll
  for (int i = M - 1; i >= 0; i--) {
    if (i < unused) break;
#pragma unroll
    for (int j = 0; j < K; j++)
#pragma unroll
      for (int v = 0; v < V; v++)
        sums[i + 1][v] =
            fmaf(taps.at[i * K + j], window[v + j], j == 0 ? sums[i][v] : sums[i + 1][v]);
  }
}

/* Blocks that a multiprocessor is to hold: as many as leave registers for the sums. */
static constexpr int correlate_resident(int v, int m) {
  return v == 8 ? (m <= 3 ? 5 : 4) : m <= 4 ? 8 : m == 5 ? 6 : m <= 7 ? 5 : 4;
}

/* Warps within the image have a loop of their own, without a question in it, and two rows under way
 * at once. */
template <typename E, int V, int K, int M>
__global__ void __launch_bounds__(128, correlate_resident(V, M))
    correlate_streamed(const __grid_constant__ correlate_job<float> job,
                       const __grid_constant__ correlate_taps<float, M * K> taps, int64_t k,
                       int high, bool wide_in, bool wide_out) {
  static constexpr int AHEAD = 2;
  __shared__ correlate_places<V + K - 1> places;
  const int64_t first = ((int64_t)blockIdx.x * 4 + threadIdx.x / 32) * 32 * V;
  const int64_t x = first + threadIdx.x % 32 * V, left = job.first_column + first;
  const bool within = wide_in && wide_out && first + 32 * V <= job.n && left >= 0 &&
                      left + 32 * V + K - 1 <= job.width;
  for (int c = 0; c < V + K - 1; c++)
    places.column[c][threadIdx.x] =
        (int)correlate_index(job.edge, job.first_column + x + c, job.width);
  for (int64_t top = (int64_t)blockIdx.y * high; top < job.rows; top += (int64_t)gridDim.y * high) {
    const int outputs = (int)(job.rows - top < high ? job.rows - top : high);
    const int before = job.kernel_rows - 1, inputs = outputs + before;
    const int64_t above = job.first_row + top;
    for (int r = threadIdx.x; r < inputs; r += blockDim.x) {
      const int64_t from = correlate_index(job.edge, above + r, job.height);
      places.row[r] = from < 0 ? -1 : (int)(from - job.view_row);
    }
    __syncthreads();
    float sums[M + 1][V] = {}, window[V + K - 1];
    if (within && above >= 0 && above + inputs <= job.height) {
      const E *row = static_cast<const E *>(job.in) + (above - job.view_row) * job.in_line +
                     job.first_column + x + K / 2;
      char *out = static_cast<char *>(correlate_row_out(job, k, top));
      const int64_t in_step = job.in_line, out_step = job.out_line * correlate_bytes(job.out_type);
      correlate_strip<E, V, K> next[AHEAD];
#pragma unroll
      for (int a = 0; a < AHEAD; a++) {
        if (a > 0 && a < inputs) row += in_step;
        next[a] = correlate_load_strip<E, V, K>(row);
      }
      for (int base = 0; base < inputs; base += AHEAD)
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
          const int r = base + a;
          if (r >= inputs) break;
          correlate_numbers<E, V, K>(next[a], window);
          /* At the end the last row again: no branch keeps the loads from what follows. */
          row += r + AHEAD < inputs ? in_step : 0;
          next[a] = correlate_load_strip<E, V, K>(row);
          correlate_pass<E, V, K, M>(job, taps, window, sums);
          if (r >= before) {
            correlate_store_run<V>(job.out_type, out, x, job.n, sums[M], true);
            out += out_step;
          }
        }
    } else if (first < job.n) {
      auto next = correlate_load_border<E, V, K>(job, places, places.row[0]);
      for (int r = 0; r < inputs; r++) {
        correlate_numbers<E, V, K>(next, window);
        if (r + 1 < inputs) next = correlate_load_border<E, V, K>(job, places, places.row[r + 1]);
        correlate_pass<E, V, K, M>(job, taps, window, sums);
        if (r >= before)
          correlate_store_run<V>(job.out_type, correlate_row_out(job, k, top + r - before), x,
                                 job.n, sums[M], false);
      }
    }
    __syncthreads();
  }
}

template <int K, int M>
static correlate_taps<float, M * K> taps_of(const rung_task *task, int64_t k) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int count = p->kernel_rows * K, unused = M * K - count;
  correlate_taps<float, M *K> taps = {};
  for (int i = 0; i < count; i++) taps.at[unused + i] = correlate_tap_at<float>(p, k * count + i);
  return taps;
}

template <typename E, int V, int K, int M>
static rung_status run_rows(const rung_task *task) {
  const auto job = correlate_job_of<float>(task);
  const bool wide_in = (uintptr_t)task->arrays[CORRELATE_IN].data % (V * sizeof(E)) == 0;
  const bool wide_out = correlate_wide_out(task, V);
  const int64_t across = (job.n + 128 * V - 1) / (128 * V);
  int blocks;
  RUNG_RESIDENT_BLOCKS(task, (correlate_streamed<E, V, K, M>), 128, 0, &blocks);
  const int high = correlate_strip_rows(task, across, blocks);
  const int64_t down = (job.rows + high - 1) / high;
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_streamed<E, V, K, M>),
                dim3((unsigned)across, (unsigned)(down < 65535 ? down : 65535)), 128, 0, job,
                (taps_of<K, M>(task, k)), k, high, wide_in, wide_out);
  return RUNG_OK;
}

/* Tall kernels of few columns keep as many rows of sums as the largest ones. */
template <typename E, int V, int K>
static rung_status run(const rung_task *task) {
  return static_cast<const correlate_problem *>(task->problem)->kernel_rows <= K
             ? run_rows<E, V, K, K>(task)
             : run_rows<E, V, K, MOST>(task);
}

template <typename E, int V>
static rung_status run_columns(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->kernel_columns) {
    case 1:
      return run<E, V, 1>(task);
    case 2:
      return run<E, V, 2>(task);
    case 3:
      return run<E, V, 3>(task);
    case 4:
      return run<E, V, 4>(task);
    case 5:
      return run<E, V, 5>(task);
    case 6:
      return run<E, V, 6>(task);
    case 7:
      return run<E, V, 7>(task);
    default:
      return run<E, V, 8>(task);
  }
}

extern "C" rung_status RUNG_ENTRY(correlate_streamed)(const rung_task *task) {
  switch (static_cast<const correlate_problem *>(task->problem)->types.in) {
    case RUNG_U8:
      return run_columns<uint8_t, 8>(task);
    case RUNG_U16:
      return run_columns<uint16_t, 4>(task);
    case RUNG_F16:
      return run_columns<correlate_half, 4>(task);
    default:
      return run_columns<float, 4>(task);
  }
}
