/* What the CUDA rungs of the stencil share: a job's numbers as a kernel takes them, the edge rule,
 * the start of a row, and the loop that sweeps a grid step by step. */
#ifndef RUNG_STENCIL_CUH
#define RUNG_STENCIL_CUH

#include "backend/gpu.h"
#include "core/near.h"
#include "ops/stencil/cuda/cuda.h"

/* Passed to kernels by value. */
template <typename T>
struct stencil_numbers {
  T weights[STENCIL_TAPS];
  T divide, edge_value;
  int radius;
  rung_edge edge;
  int64_t rows, columns, fixed;
};

/* `scaled`: the contract's weights; else the textbook's, as given. */
template <typename T>
static stencil_numbers<T> stencil_numbers_of(const stencil_problem *p, bool scaled) {
  stencil_numbers<T> numbers = {};
  for (int k = 0; k <= 2 * p->radius; k++)
    numbers.weights[k] = (T)(scaled ? p->scaled[k] : p->weights[k]);
  numbers.divide = (T)p->divide;
  numbers.edge_value = (T)p->edge_value;
  numbers.radius = p->radius;
  numbers.edge = p->edge;
  numbers.rows = p->rows;
  numbers.columns = p->columns;
  numbers.fixed = p->fixed;
  return numbers;
}

/* What the jobs of rungs that make all steps in one launch have in common; the rest of it is zero.
 */
template <template <typename> class Job, typename T>
static Job<T> stencil_job_of(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN], *out = &task->arrays[STENCIL_OUT];
  Job<T> job = {};
  job.s = stencil_numbers_of<T>(p, true);
  job.start = p->start;
  job.steps = p->steps;
  job.in = (const T *)in->data;
  job.in_stride = in->stride[0];
  job.out = (T *)out->data;
  job.out_stride = out->stride[0];
  return job;
}

/* rung_edge_index() of what is outside: seldom, and so code of its own, not some at every tap. */
[[maybe_unused]] static __device__ __noinline__ int64_t stencil_outside(rung_edge edge, int64_t c,
                                                                        int64_t columns) {
  return rung_edge_near(edge, c, columns);
}

/* The value at column c of a row, with the `if`s that takes. */
template <typename T>
static __device__ inline T stencil_at(const stencil_numbers<T> &s, const T *row, int64_t c) {
  if (c >= 0 && c < s.columns) return row[c];
  const int64_t from = stencil_outside(s.edge, c, s.columns);
  return from < 0 ? s.edge_value : row[from];
}

static __device__ inline float stencil_fma(float a, float b, float c) {
  return fmaf(a, b, c);
}
static __device__ inline double stencil_fma(double a, double b, double c) {
  return fma(a, b, c);
}

/* The two orders of arithmetic. `tap(k)` gives the value under weight k. */
struct stencil_textbook {
  static constexpr bool divides = true;
  template <typename T, typename Tap>
  static __device__ inline T sum(const stencil_numbers<T> &s, int taps, Tap tap) {
    T total = s.weights[0] * tap(0);
#pragma unroll
    for (int k = 1; k < taps; k++) total += s.weights[k] * tap(k);
    return total / s.divide;
  }
};

struct stencil_chain {
  static constexpr bool divides = false;
  template <typename T, typename Tap>
  static __device__ inline T sum(const stencil_numbers<T> &s, int taps, Tap tap) {
    T total = s.weights[taps - 1] * tap(taps - 1);
#pragma unroll
    for (int k = taps - 2; k >= 0; k--) total = stencil_fma(s.weights[k], tap(k), total);
    return total;
  }
};

/* stencil_start_value() of the contract, on the device: the same operations in the same order. */
static __device__ inline double stencil_own_start(const stencil_start &start, int64_t i, int64_t j,
                                                  int64_t m) {
  if (j >= start.fixed && !start.falling) return start.value;
  const double height = (double)(start.first_row + i + 1) / (double)start.all_rows;
  const double heat = start.power == 2 ? height * height : height;
  if (j < start.fixed) return start.hot[j] * heat;
  const double left = (double)(m - j);
  return start.hot[0] * heat * (left * left) / ((double)m * (double)m);
}

/* Two neighbouring elements as one load or store. */
template <typename T>
struct stencil_pair;
template <>
struct stencil_pair<float> {
  typedef float2 type;
};
template <>
struct stencil_pair<double> {
  typedef double2 type;
};

template <typename T>
static __device__ inline void stencil_load_pair(const T *from, T to[2]) {
  const typename stencil_pair<T>::type v =
      *reinterpret_cast<const typename stencil_pair<T>::type *>(from);
  to[0] = v.x;
  to[1] = v.y;
}

template <typename T>
static __device__ inline void stencil_store_pair(T *to, const T from[2]) {
  typename stencil_pair<T>::type v;
  v.x = from[0];
  v.y = from[1];
  *reinterpret_cast<typename stencil_pair<T>::type *>(to) = v;
}

/* Whether every row starts on a pair's boundary. */
template <typename T>
static inline bool stencil_pairs_aligned(const T *data, int64_t stride) {
  return (uintptr_t)data % (2 * sizeof(T)) == 0 && stride % 2 == 0;
}

/* Grids of more rows than gridDim.y may count are walked with a stride. */
static inline unsigned stencil_grid_rows(int64_t rows) {
  return (unsigned)(rows < 65535 ? rows : 65535);
}

template <typename T>
static __global__ void stencil_copy_rows(int64_t rows, int64_t columns, const T *from,
                                         int64_t from_stride, T *to, int64_t to_stride) {
  const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  for (int64_t i = blockIdx.y; i < rows; i += gridDim.y)
    to[i * to_stride + j] = from[i * from_stride + j];
}

/* p = 0: the start is the result. */
template <typename T>
static rung_status stencil_copy_grid(const rung_task *task, const T *from, int64_t from_stride,
                                     T *to, int64_t to_stride) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const dim3 grid((unsigned)((p->columns + 255) / 256), stencil_grid_rows(p->rows));
  RUNG_LAUNCH(task, stencil_copy_rows<T>, grid, 256, 0, p->rows, p->columns, from, from_stride, to,
              to_stride);
  return RUNG_OK;
}

/* One launch a step, from one copy of the grid into the other: the output and the scratch take
 * turns so that the last step ends in the output. `launch(old, old_stride, fresh, fresh_stride)`
 * queues one step. */
template <typename T, typename Launch>
static rung_status stencil_steps(const rung_task *task, Launch launch) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN], *out = &task->arrays[STENCIL_OUT];
  T *grid[2] = {(T *)out->data, (T *)task->scratch};
  const int64_t stride[2] = {out->stride[0], p->columns};
  const T *old = (const T *)in->data;
  int64_t old_stride = in->stride[0];
  if (p->steps == 0 && old != grid[0]) {
    const rung_status status = stencil_copy_grid<T>(task, old, old_stride, grid[0], stride[0]);
    if (status != RUNG_OK) return status;
  }
  for (int64_t s = 0; s < p->steps; s++) {
    const int to = (int)((p->steps - 1 - s) % 2);
    const rung_status status = launch(old, old_stride, grid[to], stride[to]);
    if (status != RUNG_OK) return status;
    old = grid[to];
    old_stride = stride[to];
  }
  return RUNG_OK;
}

/* call(R) with the radius as a constant. */
#define STENCIL_BY_RADIUS(radius, call) \
  switch (radius) {                     \
    case 1:                             \
      call(1);                          \
    case 2:                             \
      call(2);                          \
    case 3:                             \
      call(3);                          \
    case 4:                             \
      call(4);                          \
    case 5:                             \
      call(5);                          \
    case 6:                             \
      call(6);                          \
    case 7:                             \
      call(7);                          \
    default:                            \
      call(8);                          \
  }

#endif
