/* What every GPU rung of histogram knows: the job as kernels take it, an element's slot, where
 * counts go, and the results cleared before anything is counted. */
#ifndef RUNG_HISTOGRAM_CUDA_BINS_CUH
#define RUNG_HISTOGRAM_CUDA_BINS_CUH

#include <stdint.h>

#include "backend/gpu.h"
#include "ops/histogram/rule.h"

/* ---- the job -----------------------------------------------------------------------------------
 */

/* counts (rows, bins), outside (rows, 3) or NULL; rows so many elements apart. */
struct histogram_results {
  unsigned long long *counts, *outside;
  int64_t counts_row, outside_row, rows;
  unsigned bins;
};

/* in (rows, columns), rows in_row elements apart. Rows are shared out in `parts`, which are blocks'
 * work. */
template <typename T>
struct histogram_job {
  histogram_rule rule;
  const double *edges; /* given edges, or NULL */
  const T *in;
  int64_t in_row, rows, columns;
  histogram_results results;
  int64_t parts; /* of a row */
  bool stores;   /* a row is one block's, which writes its results: they need no clearing */
};

template <typename T>
static histogram_job<T> histogram_job_of(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const rung_view *in = &task->arrays[HISTOGRAM_IN], *counts = &task->arrays[HISTOGRAM_COUNTS],
                  *outside = &task->arrays[HISTOGRAM_OUTSIDE];
  const bool outer = outside->count > 0;
  histogram_job<T> job = {};
  job.rule = problem->rule;
  job.edges = (const double *)task->arrays[HISTOGRAM_EDGES].data;
  job.in = (const T *)in->data;
  job.in_row = problem->rows > 1 ? in->stride[0] : 0;
  job.rows = problem->rows;
  job.columns = problem->columns;
  job.results.counts = (unsigned long long *)counts->data;
  job.results.counts_row = counts->stride[0];
  job.results.outside = outer ? (unsigned long long *)outside->data : NULL;
  job.results.outside_row = outer ? outside->stride[0] : 0;
  job.results.rows = problem->rows;
  job.results.bins = (unsigned)problem->rule.bins;
  job.parts = 1;
  return job;
}

/* ---- elements ----------------------------------------------------------------------------------
 */

/* f16 or bf16: the rule says which. */
struct histogram_half {
  uint16_t bits;
};

template <typename T>
struct histogram_type {
  static const bool is_float = T(0.5) != T(0);
};
template <>
struct histogram_type<histogram_half> {
  static const bool is_float = true;
};

/* The rule, with what even edges are rounded to as a constant where the type tells: the other ways
 * of rounding are not compiled then. */
template <typename T>
static __device__ __forceinline__ histogram_rule histogram_rule_for(const histogram_rule &rule) {
  histogram_rule known = rule;
  if (sizeof(T) == sizeof(float) && histogram_type<T>::is_float)
    known.rounded = RUNG_F32;
  else if (sizeof(T) > 2 || !histogram_type<T>::is_float)
    known.rounded = RUNG_F64;
  else
    known.rounded = rule.bfloat ? RUNG_BF16 : RUNG_F16;
  return known;
}

/* An element's number. */
template <typename T>
static __device__ __forceinline__ T histogram_value(const histogram_rule &, T x) {
  return x;
}
static __device__ __forceinline__ float histogram_value(const histogram_rule &rule,
                                                        histogram_half x) {
  return rung_half_to_f32(x.bits, rule.bfloat);
}

/* ---- slots -------------------------------------------------------------------------------------
 */

static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, uint32_t x) {
  return histogram_rest_32(&rule, x);
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, uint8_t x) {
  return histogram_rest_32(&rule, x);
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, uint16_t x) {
  return histogram_rest_32(&rule, x);
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, int32_t x) {
  return histogram_rest_signed_32(&rule, x);
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, int64_t x) {
  return histogram_rest_signed_64(&rule, x);
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, int8_t x) {
  return histogram_rest_signed_32(&rule, x);
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &rule, int16_t x) {
  return histogram_rest_signed_32(&rule, x);
}
/* Floats have no rest, and no job that asks for one. */
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &, histogram_half) {
  return 0;
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &, float) {
  return 0;
}
static __device__ __forceinline__ unsigned histogram_rest(const histogram_rule &, double) {
  return 0;
}

/* The guess: true where it is proven (rule.h). */
static __device__ __forceinline__ bool histogram_guess(const histogram_rule &rule, float x,
                                                       unsigned *slot) {
  const float f = fmaf(x - rule.low_f, rule.scale_f, -0.5f), moved = f + HISTOGRAM_MAGIC_F;
  *slot = __float_as_uint(moved) - HISTOGRAM_MAGIC_F_BITS;
  return fabsf(f - (moved - HISTOGRAM_MAGIC_F)) <= rule.within_f && *slot < (unsigned)rule.bins;
}

static __device__ __forceinline__ bool histogram_guess(const histogram_rule &rule, double x,
                                                       unsigned *slot) {
  const double f = fma(x - rule.low, rule.scale, -0.5), moved = f + HISTOGRAM_MAGIC_D;
  const unsigned long long k =
      (unsigned long long)__double_as_longlong(moved) - HISTOGRAM_MAGIC_D_BITS;
  *slot = (unsigned)k;
  return fabs(f - (moved - HISTOGRAM_MAGIC_D)) <= rule.within && k < (unsigned long long)rule.bins;
}

/* An element as what edges are compared with: a double, or a float where elements and so edges are
 * no wider. */
template <typename T>
static __device__ __forceinline__ double histogram_number(const histogram_rule &, T x) {
  return (double)x;
}
static __device__ __forceinline__ float histogram_number(const histogram_rule &, float x) {
  return x;
}
static __device__ __forceinline__ float histogram_number(const histogram_rule &rule,
                                                         histogram_half x) {
  return histogram_value(rule, x);
}

/* The slot of an x that is outside, or whose comparison found `slot`: where the last bin ends is
 * its own. */
template <typename Real>
static __device__ __forceinline__ unsigned histogram_held(const histogram_rule &rule, Real x,
                                                          unsigned slot) {
  const unsigned bins = (unsigned)rule.bins;
  if (x > (Real)rule.last) return bins + HISTOGRAM_ABOVE;
  if (x < (Real)rule.first) return bins + HISTOGRAM_BELOW;
  if (x != x) return bins + HISTOGRAM_NAN;
  return slot < bins && x < (Real)rule.last ? slot : bins - 1;
}

/* The edge nearest to x: any number where x is in no bin. */
static __device__ __forceinline__ unsigned histogram_near(const histogram_rule &rule, float x) {
  return __float_as_uint(fmaf(x - rule.low_f, rule.scale_f, HISTOGRAM_MAGIC_F)) -
         HISTOGRAM_MAGIC_F_BITS;
}
static __device__ __forceinline__ unsigned histogram_near(const histogram_rule &rule, double x) {
  const double moved = fma(x - rule.low, rule.scale, HISTOGRAM_MAGIC_D);
  return (unsigned)((unsigned long long)__double_as_longlong(moved) - HISTOGRAM_MAGIC_D_BITS);
}

/* The slot of an x of rules that guess: it is in the bin above or below the edge nearest to it, and
 * that edge, computed as the contract has it, tells which. No branch: *held becomes false where x
 * is outside or at the end, for histogram_held() to say. k + 2^52 is put together from bits, as
 * conversions of integers to doubles are a quarter as fast. */
template <typename T>
static __device__ __forceinline__ unsigned histogram_compare(const histogram_rule &rule, int way,
                                                             T x, bool *held) {
  const unsigned near = way == HISTOGRAM_SINGLE
                            ? histogram_near(rule, (float)histogram_value(rule, x))
                            : histogram_near(rule, (double)histogram_value(rule, x));
  const double k = __longlong_as_double((long long)(0x4330000000000000ull | near)) - 0x1p52;
  const auto number = histogram_number(rule, x);
  typedef decltype(histogram_number(rule, x)) real;
  const real edge = (real)histogram_rounded(rule.rounded, k * rule.step + rule.low);
  const unsigned slot = near - (unsigned)!(number >= edge);
  *held &= (number >= (real)rule.first) & (number < (real)rule.last) & (slot < (unsigned)rule.bins);
  return slot;
}

/* The same of rules whose edges are plain, where it takes no doubles and is as soon done as a guess
 * (docs/NUMERICS.md). */
template <typename T>
static __device__ __forceinline__ unsigned histogram_compare_plain(const histogram_rule &rule, T x,
                                                                   bool *held) {
  const float number = (float)histogram_value(rule, x);
  const float moved = fmaf(number - rule.low_f, rule.scale_f, HISTOGRAM_MAGIC_F);
  const float edge = fmaf(moved - HISTOGRAM_MAGIC_F, rule.step_f, rule.low_f);
  *held &= (number >= rule.first_f) & (number < rule.last_f);
  return __float_as_uint(moved) - HISTOGRAM_MAGIC_F_BITS - (unsigned)!(number >= edge);
}

/* The slot of x. `way` is the rule's; where it is a constant, only that way is compiled. */
template <typename T>
static __device__ __forceinline__ unsigned histogram_slot(const histogram_rule &job_rule,
                                                          const double *edges, int way, T x) {
  const histogram_rule rule = histogram_rule_for<T>(job_rule);
  unsigned slot;
  if (way == HISTOGRAM_MODULO) return histogram_rest(rule, x);
  if (way == HISTOGRAM_SEARCH)
    return (unsigned)histogram_find(&rule, edges, (double)histogram_value(rule, x));
  bool held = true;
  if (sizeof(T) <= 4 && rule.plain) {
    slot = histogram_compare_plain(rule, x, &held);
    return held ? slot : histogram_held(rule, histogram_number(rule, x), slot);
  }
  if (way == HISTOGRAM_SINGLE ? histogram_guess(rule, (float)histogram_value(rule, x), &slot)
                              : histogram_guess(rule, (double)histogram_value(rule, x), &slot))
    return slot;
  slot = histogram_compare(rule, way, x, &held);
  return held ? slot : histogram_held(rule, histogram_number(rule, x), slot);
}

/* ---- results -----------------------------------------------------------------------------------
 */

/* The counter of a row's slot; NULL where nobody asked for it. */
static __device__ __forceinline__ unsigned long long *histogram_at(const histogram_results &to,
                                                                   int64_t row, unsigned slot) {
  if (slot < to.bins) return to.counts + row * to.counts_row + slot;
  if (to.outside == NULL) return NULL;
  return to.outside + row * to.outside_row + (slot - to.bins);
}

template <typename T>
static __device__ __forceinline__ void histogram_add(const histogram_job<T> &job, int64_t row,
                                                     unsigned slot, unsigned n) {
  unsigned long long *at = n > 0 ? histogram_at(job.results, row, slot) : NULL;
  if (at != NULL) atomicAdd(at, (unsigned long long)n);
}

/* The same by the only block that has counted the row. */
template <typename T>
static __device__ __forceinline__ void histogram_put(const histogram_job<T> &job, int64_t row,
                                                     unsigned slot, unsigned n) {
  unsigned long long *at = histogram_at(job.results, row, slot);
  if (at != NULL) *at = n;
}

enum { HISTOGRAM_CLEAR_BLOCK = 256 };

static __global__ void histogram_clear_kernel(histogram_results to) {
  const int64_t each = (int64_t)to.bins + (to.outside != NULL ? HISTOGRAM_OUTER : 0);
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
#pragma unroll 1
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < to.rows * each; i += step)
    *histogram_at(to, i / each, (unsigned)(i % each)) = 0;
}

/* As many blocks as there is work for, and as one launch may have. */
static inline unsigned histogram_grid(int64_t blocks, int64_t most) {
  return (unsigned)(blocks < most ? blocks : most);
}

static rung_status histogram_clear(const rung_task *task, const histogram_results &to) {
  const int64_t all = to.rows * ((int64_t)to.bins + HISTOGRAM_OUTER);
  const unsigned grid = histogram_grid((all + HISTOGRAM_CLEAR_BLOCK - 1) / HISTOGRAM_CLEAR_BLOCK,
                                       (int64_t)task->device->processors * 8);
  RUNG_LAUNCH(task, histogram_clear_kernel, grid, HISTOGRAM_CLEAR_BLOCK, 0, to);
  return RUNG_OK;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* Rung::launch(task, job) for the task's type, for so many columns at a time that no counter of 32
 * bits can wrap; on cleared results, unless Rung::stores(task). */
template <typename T, typename Rung>
static rung_status histogram_run(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  histogram_job<T> job = histogram_job_of<T>(task);
  job.stores = Rung::stores(task);
  rung_status status = job.stores ? RUNG_OK : histogram_clear(task, job.results);
  const T *in = job.in;
  for (int64_t first = 0; first < problem->columns && status == RUNG_OK; first += problem->flush) {
    const int64_t left = problem->columns - first;
    job.in = in + first;
    job.columns = left < problem->flush ? left : problem->flush;
    status = Rung::launch(task, job);
  }
  return status;
}

template <typename Rung>
static rung_status histogram_by_type(const rung_task *task) {
  switch (((const histogram_problem *)task->problem)->dtype) {
    case RUNG_U8:
      return histogram_run<uint8_t, Rung>(task);
    case RUNG_U16:
      return histogram_run<uint16_t, Rung>(task);
    case RUNG_I32:
      return histogram_run<int32_t, Rung>(task);
    case RUNG_U32:
      return histogram_run<uint32_t, Rung>(task);
    case RUNG_I64:
      return histogram_run<int64_t, Rung>(task);
    case RUNG_I8:
      return histogram_run<int8_t, Rung>(task);
    case RUNG_I16:
      return histogram_run<int16_t, Rung>(task);
    case RUNG_F16:
    case RUNG_BF16:
      return histogram_run<histogram_half, Rung>(task);
    case RUNG_F32:
      return histogram_run<float, Rung>(task);
    case RUNG_F64:
      return histogram_run<double, Rung>(task);
    case RUNG_U64:
    case RUNG_DTYPES:
      break;
  }
  return rung_fail(task->error, RUNG_UNSUPPORTED, "no kernel for elements of this type");
}

#endif
