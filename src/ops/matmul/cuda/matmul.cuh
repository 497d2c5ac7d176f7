/* What the GPU's rungs share: a job as kernels take it, its types, its tiles. */
#ifndef RUNG_MATMUL_CUDA_MATMUL_CUH
#define RUNG_MATMUL_CUDA_MATMUL_CUH

#include "backend/gpu.h"
#include "ops/matmul/finish.h"
#include "ops/matmul/matmul.h"

/* E: an element's type, S: the sums'. Steps are in elements. `..._wide`: 16 bytes can be moved at
 * once along the dimension that goes on in memory. */
template <typename E, typename S>
struct matmul_job {
  const E *a, *b;
  const void *added; /* or NULL */
  void *c;
  matmul_steps as, bs, ds, cs;
  int64_t batch, m, n, k;
  int64_t a_lines, b_lines; /* rows of A and columns of B that can be read: m and n, or more */
  S alpha, beta;
  bool bfloat, narrow; /* halves: which ones, and whether C is of them */
  bool a_wide, b_wide, c_wide;
};

/* ---- by type ----------------------------------------------------------------------------------
 */

template <typename E>
struct matmul_sum {
  typedef E type;
};
template <>
struct matmul_sum<uint16_t> {
  typedef float type;
};
template <>
struct matmul_sum<int8_t> {
  typedef uint32_t type;
};

/* RUN(E) for the elements' type; returns. */
#define MATMUL_BY_TYPE(dtype, RUN) \
  switch (dtype) {                 \
    case RUNG_F32:                 \
      RUN(float);                  \
    case RUNG_F64:                 \
      RUN(double);                 \
    case RUNG_I8:                  \
      RUN(int8_t);                 \
    default:                       \
      RUN(uint16_t);               \
  }

static __device__ inline float matmul_load(float x, bool) {
  return x;
}
static __device__ inline double matmul_load(double x, bool) {
  return x;
}
static __device__ inline uint32_t matmul_load(int8_t x, bool) {
  return (uint32_t)x;
}
static __device__ inline float matmul_load(uint16_t x, bool bfloat) {
  return rung_half_to_f32(x, bfloat);
}

static __device__ inline float matmul_fma(float a, float b, float t) {
  return fmaf(a, b, t);
}
static __device__ inline double matmul_fma(double a, double b, double t) {
  return fma(a, b, t);
}
static __device__ inline uint32_t matmul_fma(uint32_t a, uint32_t b, uint32_t t) {
  return a * b + t;
}

/* ---- results ----------------------------------------------------------------------------------
 */

/* What is added, to a chain times alpha. */
template <typename E, typename S>
static __device__ inline S matmul_sum_of(const matmul_job<E, S> &job, const void *added, int64_t at,
                                         S r) {
  return added != nullptr ? matmul_fma(job.beta, static_cast<const S *>(added)[at], r) : r;
}
template <typename E, typename S>
static __device__ inline S matmul_ended(const matmul_job<E, S> &job, const void *added, int64_t at,
                                        S t) {
  return matmul_sum_of(job, added, at, job.alpha * t);
}

/* A chain's end: element `at` of C, to which element `from` of what is added belongs. */
template <typename E, typename S>
static __device__ inline void matmul_put(const matmul_job<E, S> &job, int64_t at, int64_t from,
                                         S t) {
  static_cast<S *>(job.c)[at] = matmul_ended(job, job.added, from, t);
}
static __device__ inline void matmul_put(const matmul_job<uint16_t, float> &job, int64_t at,
                                         int64_t from, float t) {
  const bool adds = job.added != nullptr;
  if (job.narrow)
    matmul_finish_half(t, job.alpha, job.beta, job.bfloat,
                       adds ? static_cast<const uint16_t *>(job.added) + from : nullptr,
                       static_cast<uint16_t *>(job.c) + at, 0);
  else
    static_cast<float *>(job.c)[at] = matmul_ended(job, job.added, from, t);
}

/* Element (i, j) of matrix `batch` of C, which is there. */
template <typename E, typename S>
static __device__ inline void matmul_store(const matmul_job<E, S> &job, int64_t batch, int64_t i,
                                           int64_t j, S t) {
  matmul_put(job, batch * job.cs.batch + i * job.cs.row + j * job.cs.column,
             batch * job.ds.batch + i * job.ds.row + j * job.ds.column, t);
}

/* ---- a job from a task ------------------------------------------------------------------------
 */

template <typename E>
static matmul_job<E, typename matmul_sum<E>::type> matmul_job_of(const rung_task *task) {
  typedef typename matmul_sum<E>::type S;
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const rung_view *arrays = task->arrays;
  matmul_job<E, S> job = {};
  job.as = matmul_steps_of(&arrays[MATMUL_A], p->a_turned);
  job.bs = matmul_steps_of(&arrays[MATMUL_B], p->b_turned);
  job.ds = matmul_steps_of(&arrays[MATMUL_ADDED], false);
  job.cs = matmul_steps_of(&arrays[MATMUL_C], false);
  job.a = reinterpret_cast<const E *>(arrays[MATMUL_A].data);
  job.b = reinterpret_cast<const E *>(arrays[MATMUL_B].data);
  if (arrays[MATMUL_ADDED].count > 0) job.added = arrays[MATMUL_ADDED].data;
  job.c = arrays[MATMUL_C].data;
  job.batch = p->batch;
  job.m = p->m;
  job.n = p->n;
  job.k = p->k;
  job.a_lines = p->m;
  job.b_lines = p->n;
  /* Of integers through 64 bits, which hold negative numbers and those from 2^31 on. */
  job.alpha = p->types.accumulate == RUNG_I32 ? (S)(int64_t)p->alpha : (S)p->alpha;
  job.beta = p->types.accumulate == RUNG_I32 ? (S)(int64_t)p->beta : (S)p->beta;
  job.bfloat = p->types.in == RUNG_BF16;
  job.narrow = rung_dtype_bytes(p->types.out) == 2;
  job.a_wide = matmul_is_wide(&arrays[MATMUL_A], &job.as);
  job.b_wide = matmul_is_wide(&arrays[MATMUL_B], &job.bs);
  job.c_wide = matmul_is_wide(&arrays[MATMUL_C], &job.cs);
  return job;
}

/* The job of the turned matrices: C' = B' A'. */
template <typename T>
static inline matmul_job<T, T> matmul_mirrored(const matmul_job<T, T> &job) {
  const auto turned = [](const matmul_steps &steps) {
    return matmul_steps{steps.batch, steps.column, steps.row};
  };
  matmul_job<T, T> other = job;
  other.a = job.b;
  other.b = job.a;
  other.as = turned(job.bs);
  other.bs = turned(job.as);
  other.ds = turned(job.ds);
  other.cs = turned(job.cs);
  other.m = other.a_lines = job.n;
  other.n = other.b_lines = job.m;
  other.a_wide = job.b_wide;
  other.b_wide = job.a_wide;
  other.c_wide = false; /* its columns do not go on in memory */
  return other;
}

/* ---- tiles of C -------------------------------------------------------------------------------
 */

struct matmul_tiles {
  int64_t rows, columns, all; /* of a matrix so many by so many; of the batch */
};

static inline matmul_tiles matmul_tiles_of(const rung_task *task, int rows, int columns) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const int64_t down = (p->m + rows - 1) / rows, across = (p->n + columns - 1) / columns;
  return {down, across, down * across * p->batch};
}

/* Blocks of a grid that steps through `all` of something. */
static inline unsigned matmul_grid(int64_t all) {
  return (unsigned)(all < INT32_MAX ? all : INT32_MAX);
}

struct matmul_tile {
  int64_t batch, i, j; /* its first row and column */
};

/* Tiles that run at the same time are those of a few rows of tiles, so that they share what they
 * read in the level 2 cache. U: a type that holds GROUP times the number of tiles. */
template <int ROWS, int COLUMNS, typename U>
static __device__ inline matmul_tile matmul_tile_of(const matmul_tiles &tiles, U number) {
  enum { GROUP = 8 };
  const U columns = (U)tiles.columns, matrix = (U)tiles.rows * columns;
  const U batch = number < matrix ? 0 : number / matrix, in = number - batch * matrix;
  const U first = in / (GROUP * columns) * GROUP, rest = in - first * columns;
  const U left = (U)tiles.rows - first;
  const U across = left < GROUP ? rest / left : rest / GROUP;
  const U down = left < GROUP ? rest - across * left : rest % GROUP;
  return {(int64_t)batch, (int64_t)(first + down) * ROWS, (int64_t)across * COLUMNS};
}

/* In 32 bits where they do, for a division of 64 takes a thread some 400 cycles. */
template <int ROWS, int COLUMNS>
static __device__ RUNG_ASIDE matmul_tile matmul_tile_at(const matmul_tiles &tiles, int64_t number) {
  if (tiles.all < 1 << 29) return matmul_tile_of<ROWS, COLUMNS>(tiles, (uint32_t)number);
  return matmul_tile_of<ROWS, COLUMNS>(tiles, (uint64_t)number);
}

#endif
