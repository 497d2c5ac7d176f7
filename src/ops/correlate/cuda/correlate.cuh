/* What the GPU's rungs share: a job as kernels take it, the image's elements, the kernel's taps. */
#ifndef RUNG_CORRELATE_CUDA_CORRELATE_CUH
#define RUNG_CORRELATE_CUDA_CORRELATE_CUH

#include "backend/gpu.h"
#include "core/near.h"
#include "ops/correlate/correlate.h"
#include "ops/correlate/store.h"

/* S: what sums are made in: float, double, or, of integers that no float holds, int64_t. Lines are
 * in elements; n: a row of out has so many. */
template <typename S>
struct correlate_job {
  const void *in; /* row view_row of the image */
  void *out;
  int64_t in_line, out_line, out_plane;
  int64_t rows, n, kernels, height, width, first_row, first_column, view_row;
  int channels, kernel_rows, kernel_columns;
  rung_edge edge;
  S edge_value;
  rung_dtype in_type, out_type;
};

enum { CORRELATE_ARGUMENT = 4000 }; /* bytes of an argument that is cheap to pass */

/* ---- types ------------------------------------------------------------------------------------
 */

template <typename S>
struct correlate_tap {
  typedef S type;
};
template <>
struct correlate_tap<int64_t> {
  typedef int32_t type;
};

static __device__ inline float correlate_fma(float a, float b, float t) {
  return fmaf(a, b, t);
}
static __device__ inline double correlate_fma(double a, double b, double t) {
  return fma(a, b, t);
}
static __device__ inline int64_t correlate_fma(int32_t a, int64_t b, int64_t t) {
  return a * b + t;
}

/* f16, which travels as its bits, has a type of its own here. */
struct correlate_half {
  uint16_t bits;
};

template <typename S, typename E>
static __device__ __forceinline__ S correlate_number(E x) {
  return (S)x;
}
template <typename S>
static __device__ __forceinline__ S correlate_number(correlate_half x) {
  return (S)rung_f16_to_f32(x.bits);
}

template <typename S>
static __device__ inline S correlate_load(rung_dtype dtype, const void *row, int64_t at) {
  switch (dtype) {
    case RUNG_U8:
      return (S) static_cast<const uint8_t *>(row)[at];
    case RUNG_U16:
      return (S) static_cast<const uint16_t *>(row)[at];
    case RUNG_F16:
      return (S)rung_f16_to_f32(static_cast<const uint16_t *>(row)[at]);
    case RUNG_F32:
      return (S) static_cast<const float *>(row)[at];
    default:
      return (S) static_cast<const double *>(row)[at];
  }
}

static __device__ inline void correlate_store(rung_dtype dtype, void *row, int64_t at, float t) {
  correlate_store_f32(dtype, row, at, t);
}
static __device__ inline void correlate_store(rung_dtype dtype, void *row, int64_t at, double t) {
  correlate_store_f64(dtype, row, at, t);
}
static __device__ inline void correlate_store(rung_dtype dtype, void *row, int64_t at, int64_t t) {
  correlate_store_i64(dtype, row, at, t);
}

/* V elements of type E that one load or store moves. */
template <typename E, int V>
struct correlate_run {
  __align__(sizeof(E) * V) E at[V];
};

/* Elements [FROM, TO) of V, by the narrowest load that has them all, which is what nvcc makes of a
 * wide one whose other elements nobody reads. */
template <int V, int FROM, int TO, typename S>
static __device__ __forceinline__ void correlate_load_part(const S *from, S *to) {
  if constexpr (V > 1 && TO <= V / 2) {
    correlate_load_part<V / 2, FROM, TO>(from, to);
  } else if constexpr (V > 1 && FROM >= V / 2) {
    correlate_load_part<V / 2, FROM - V / 2, TO - V / 2>(from + V / 2, to);
  } else {
    const auto run = *reinterpret_cast<const correlate_run<S, V> *>(from);
#pragma unroll
    for (int e = FROM; e < TO; e++) to[e - FROM] = run.at[e];
  }
}

/* correlate_whole() as an integer, most < 2^16: adding 2^23 rounds to the last place, half to even.
 */
static __device__ __forceinline__ unsigned correlate_integer(float x, float most) {
  return __float_as_uint(fminf(fmaxf(x, 0), most) + 0x1p23f) & 0xffff;
}

template <typename R, int V, typename S, typename Convert>
static __device__ __forceinline__ void correlate_store_as(void *row, int64_t x, const S *sums,
                                                          Convert convert) {
  correlate_run<R, V> run;
#pragma unroll
  for (int v = 0; v < V; v++) run.at[v] = convert(sums[v]);
  *reinterpret_cast<correlate_run<R, V> *>(static_cast<R *>(row) + x) = run;
}

/* V elements of a row from x on, as far as that has n. `wide`: they are all there, and lie as
 * stores of all of them need. */
template <int V>
static __device__ __forceinline__ void correlate_store_run(rung_dtype dtype, void *row, int64_t x,
                                                           int64_t n, const float *sums,
                                                           bool wide) {
  if (!wide || dtype == RUNG_F64) {
#pragma unroll
    for (int v = 0; v < V; v++)
      if (x + v < n) correlate_store(dtype, row, x + v, sums[v]);
  } else if (dtype == RUNG_F32) {
#pragma unroll
    for (int v = 0; v < V; v += 4)
      correlate_store_as<float, 4>(row, x + v, sums + v, [](float t) { return t; });
  } else if (dtype == RUNG_U8) {
    correlate_store_as<uint8_t, V>(row, x, sums,
                                   [](float t) { return (uint8_t)correlate_integer(t, 255); });
  } else if (dtype == RUNG_U16) {
    correlate_store_as<uint16_t, V>(row, x, sums,
                                    [](float t) { return (uint16_t)correlate_integer(t, 65535); });
  } else {
    correlate_store_as<uint16_t, V>(row, x, sums, [](float t) { return rung_f32_to_f16(t); });
  }
}

/* Whether the rows of out begin where stores of V elements may. */
static inline bool correlate_wide_out(const rung_task *task, int V) {
  const rung_view *out = &task->arrays[CORRELATE_OUT];
  const int64_t bytes = V * (int64_t)rung_dtype_bytes(out->dtype);
  int64_t steps = 0;
  for (int d = 0; d + 1 < out->ndim; d++) steps |= out->stride[d];
  return ((uintptr_t)out->data | (uintptr_t)(steps * (bytes / V))) % (bytes < 16 ? bytes : 16) == 0;
}

static __device__ inline int correlate_bytes(rung_dtype dtype) {
  return dtype == RUNG_U8 ? 1 : dtype == RUNG_F64 ? 8 : dtype == RUNG_F32 ? 4 : 2;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Row r of the image, which the view has. */
template <typename S>
static __device__ inline const void *correlate_row(const correlate_job<S> &job, int64_t r) {
  return static_cast<const char *>(job.in) +
         (r - job.view_row) * job.in_line * correlate_bytes(job.in_type);
}
template <typename S>
static __device__ inline void *correlate_row_out(const correlate_job<S> &job, int64_t k,
                                                 int64_t y) {
  return static_cast<char *>(job.out) +
         (k * job.out_plane + y * job.out_line) * correlate_bytes(job.out_type);
}

/* rung_edge_index() of what is outside, seldom needed and so code of its own. */
static __device__ __noinline__ int64_t correlate_fold(rung_edge edge, int64_t i, int64_t n) {
  return rung_edge_near(edge, i, n);
}
static __device__ __forceinline__ int64_t correlate_index(rung_edge edge, int64_t i, int64_t n) {
  return (uint64_t)i < (uint64_t)n ? i : correlate_fold(edge, i, n);
}

/* What stands at channel c of pixel (y, x), wherever that is. */
template <typename S>
static __device__ inline S correlate_pixel(const correlate_job<S> &job, int64_t y, int64_t x,
                                           int c) {
  const int64_t row = correlate_index(job.edge, y, job.height),
                column = correlate_index(job.edge, x, job.width);
  if (row < 0 || column < 0) return job.edge_value;
  return correlate_load<S>(job.in_type, correlate_row(job, row), column * job.channels + c);
}

/* ---- a job from a task ------------------------------------------------------------------------
 */

template <typename S>
static correlate_job<S> correlate_job_of(const rung_task *task) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const rung_view *in = &task->arrays[CORRELATE_IN], *out = &task->arrays[CORRELATE_OUT];
  correlate_job<S> job = {};
  job.in = in->data;
  job.out = out->data;
  job.in_line = in->stride[0];
  job.out_plane = p->kernels > 1 ? out->stride[0] : 0;
  job.out_line = out->stride[p->kernels > 1];
  job.rows = p->rows;
  job.n = p->columns * p->channels;
  job.kernels = p->kernels;
  job.height = p->height;
  job.width = p->width;
  job.first_row = p->first_row;
  job.first_column = p->first_column;
  job.view_row = p->view_row;
  job.channels = p->channels;
  job.kernel_rows = p->kernel_rows;
  job.kernel_columns = p->kernel_columns;
  job.edge = p->edge;
  job.edge_value = (S)p->edge_value;
  job.in_type = p->types.in;
  job.out_type = p->types.out;
  return job;
}

/* RUN(S) for what sums are made in: of integers float, where that holds them; returns. */
#define CORRELATE_BY_SUM(task, RUN)                                           \
  {                                                                           \
    const auto *p_ = static_cast<const correlate_problem *>((task)->problem); \
    if (p_->types.accumulate == RUNG_F64) RUN(double);                        \
    if (p_->types.accumulate == RUNG_I64 && !p_->small) RUN(int64_t);         \
    RUN(float);                                                               \
  }

/* ---- taps -------------------------------------------------------------------------------------
 */

/* N of them, as an argument of a kernel: in the constant bank, without a copy before the launch. */
template <typename T, int N>
struct correlate_taps {
  T at[N];
};

/* Tap number i of all kernels, one after the other. */
template <typename T>
static inline T correlate_tap_at(const correlate_problem *p, int64_t i) {
  if (p->types.accumulate == RUNG_F32) return (T) static_cast<const float *>(p->taps)[i];
  if (p->types.accumulate == RUNG_F64) return (T) static_cast<const double *>(p->taps)[i];
  return (T) static_cast<const int32_t *>(p->taps)[i];
}

/* Those of kernel k. */
template <typename T, int N>
static inline correlate_taps<T, N> correlate_taps_of(const rung_task *task, int64_t k) {
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int count = p->kernel_rows * p->kernel_columns;
  correlate_taps<T, N> taps = {};
  for (int i = 0; i < count; i++) taps.at[i] = correlate_tap_at<T>(p, k * count + i);
  return taps;
}

/* An argument of a launch with room for N taps. */
template <int N>
struct correlate_room {};

/* run(room) for the smaller of the two arguments that holds a kernel's taps; where arguments cost
 * nothing there is one. */
template <typename S, typename Run>
static inline rung_status correlate_by_taps(const rung_task *task, const Run &run) {
#ifdef __CUDACC__
  static constexpr int FEW = CORRELATE_ARGUMENT / (int)sizeof(typename correlate_tap<S>::type);
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  if (p->kernel_rows * p->kernel_columns <= FEW) return run(correlate_room<FEW>());
#endif
  return run(correlate_room<CORRELATE_TAPS>());
}

template <typename T>
static __global__ void correlate_put_taps(correlate_taps<T, CORRELATE_ARGUMENT / sizeof(T)> taps,
                                          int count, T *to) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = taps.at[i];
}

/* All taps into the task's scratch, by way of launches' arguments: nothing that could change before
 * a copy begins. */
template <typename S>
static rung_status correlate_taps_in_memory(const rung_task *task) {
  typedef typename correlate_tap<S>::type T;
  static constexpr int MOST = CORRELATE_ARGUMENT / (int)sizeof(T);
  const correlate_problem *p = static_cast<const correlate_problem *>(task->problem);
  const int64_t all = p->kernels * p->kernel_rows * p->kernel_columns;
  for (int64_t first = 0; first < all; first += MOST) {
    correlate_taps<T, MOST> taps = {};
    const int count = (int)(all - first < MOST ? all - first : MOST);
    for (int i = 0; i < count; i++) taps.at[i] = correlate_tap_at<T>(p, first + i);
    RUNG_LAUNCH(task, correlate_put_taps<T>, 1, 256, 0, taps, count,
                static_cast<T *>(task->scratch) + first);
  }
  return RUNG_OK;
}

/* ---- blocks of a thread an element ------------------------------------------------------------
 */

/* 16 wide, unless that is more threads than asked for. */
static inline dim3 correlate_block(const rung_task *task) {
  const unsigned threads = task->block == 0 ? 256 : (unsigned)task->block;
  return threads < 16 ? dim3(threads) : dim3(16, threads / 16);
}

template <typename S>
static inline dim3 correlate_grid(const correlate_job<S> &job, dim3 block) {
  const int64_t down = (job.rows + block.y - 1) / block.y;
  return dim3((unsigned)((job.n + block.x - 1) / block.x), (unsigned)(down < 65535 ? down : 65535));
}

#endif
