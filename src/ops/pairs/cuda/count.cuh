/* What every GPU rung of pairs knows: the job as kernels take it, a pair's slot, where it is
 * counted, and the results before the first pair and after the last. */
#ifndef RUNG_PAIRS_CUDA_COUNT_CUH
#define RUNG_PAIRS_CUDA_COUNT_CUH

#include "ops/pairs/cuda/plan.h"
#include "ops/pairs/cuda/set.cuh"
#include "ops/pairs/find.h"

/* ---- the job -----------------------------------------------------------------------------------
 */

/* Of one set, b is a. */
struct pairs_job {
  pairs_problem problem;
  pairs_guess guess;
  pairs_set a, b;
  const double *thresholds;
  const double *weights[2];             /* NULL: none */
  const int64_t *molecules[2];          /* NULL: none */
  unsigned long long *counts, *outside; /* outside: NULL, where nobody asks */
  void *results;                        /* the sums, or NULL */
  pairs_sum *sums;
  unsigned long long *largest, *excluded;
};

static inline const void *pairs_given(const rung_task *task, int array) {
  return task->arrays[array].count > 0 ? task->arrays[array].data : NULL;
}

/* `memory` has the ledger's bytes. Points are the caller's to set. */
static inline pairs_job pairs_job_of(const rung_task *task, char *memory) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  const pairs_ledger ledger = pairs_ledger_of(problem);
  pairs_job job = {};
  job.problem = *problem;
  job.guess = pairs_guess_of(problem);
  job.thresholds = (const double *)task->arrays[PAIRS_THRESHOLDS].data;
  for (int s = 0; s < 2; ++s) {
    const int from = problem->cross ? s : 0;
    job.weights[s] = (const double *)pairs_given(task, PAIRS_A_WEIGHTS + from);
    job.molecules[s] = (const int64_t *)pairs_given(task, PAIRS_A_MOLECULES + from);
  }
  job.counts = (unsigned long long *)task->arrays[PAIRS_COUNTS].data;
  job.outside = (unsigned long long *)pairs_given(task, PAIRS_OUTSIDE);
  job.results = problem->weighted ? task->arrays[PAIRS_SUMS].data : NULL;
  job.largest = (unsigned long long *)(memory + ledger.largest);
  job.excluded = (unsigned long long *)(memory + ledger.excluded);
  job.sums = (pairs_sum *)(memory + ledger.sums);
  return job;
}

/* ---- slots -------------------------------------------------------------------------------------
 */

/* By the thresholds themselves. */
static __device__ __forceinline__ unsigned pairs_compared(const pairs_job &job,
                                                          const double *thresholds, double d2,
                                                          int guess) {
  const pairs_problem &problem = job.problem;
  if (!(d2 < problem.largest))
    return (unsigned)(problem.bins + (d2 >= problem.largest ? PAIRS_ABOVE : PAIRS_NAN));
  if (d2 < problem.least) return (unsigned)(problem.bins + PAIRS_BELOW);
  if (!job.guess.used) return (unsigned)pairs_search(thresholds, problem.bins, d2);
  guess = guess < 0 ? 0 : guess < problem.bins ? guess : problem.bins - 1;
  return (unsigned)pairs_settle(thresholds, d2, guess);
}

/* The slot of d2: see plan.h. `thresholds` are the job's, or a nearer copy. */
static __device__ __forceinline__ unsigned pairs_slot_of(const pairs_job &job,
                                                         const double *thresholds, double d2) {
  const float magic = 12582912.0f; /* 1.5 * 2^23: the last place weighs 1 */
  const float square = (float)d2;
  const float f = fmaf(square * rung_inverse_root(square), job.guess.scale, -0.5f);
  const float moved = f + magic;
  const int k = __float_as_int(moved) - __float_as_int(magic);
  if (fabsf(f - (moved - magic)) <= job.guess.within && (unsigned)k < (unsigned)job.problem.bins)
    return (unsigned)k;
  /* Of 0 and what is as small in float the reciprocal root is infinite, and f is so or a NaN. */
  return pairs_compared(job, thresholds, d2, f < (float)job.problem.bins ? k : 0);
}

/* ---- counting ----------------------------------------------------------------------------------
 */

/* Adds to a slot's counter, if anyone asked for it. */
static __device__ __forceinline__ void pairs_add(const pairs_job &job, unsigned slot,
                                                 unsigned long long n) {
  const unsigned bins = (unsigned)job.problem.bins;
  unsigned long long *at = job.counts + slot;
  if (slot >= bins) {
    if (job.outside == NULL) return;
    at = job.outside + (slot - bins);
  }
  atomicAdd(at, n);
}

/* Adds a number of 128 bits to a bin's sum: two words, the carry from one to the other. */
static __device__ __forceinline__ void pairs_add_units(const pairs_job &job, unsigned slot,
                                                       unsigned long long low, int64_t high) {
  pairs_sum *sum = &job.sums[slot];
  const unsigned long long old = atomicAdd((unsigned long long *)&sum->low, low);
  high += old + low < low ? 1 : 0;
  if (high != 0) atomicAdd((unsigned long long *)&sum->high, (unsigned long long)high);
}

static __device__ __forceinline__ int pairs_exponent_of(const pairs_job &job) {
  if (job.problem.part) return job.problem.exponent;
  return job.problem.weighted ? pairs_exponent(pairs_of_magnitude(job.largest[0]),
                                               pairs_of_magnitude(job.largest[1]))
                              : 0;
}

/* ---- before and after --------------------------------------------------------------------------
 */

/* The largest magnitude of the weights. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_largest_kernel(const double *weights, int64_t n, unsigned long long *largest) {
  unsigned long long own = 0;
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    own = max(own, (unsigned long long)pairs_magnitude(weights[i]));
  if (own > 0) atomicMax(largest, own);
}

/* All results, and what they are made of. */
static __device__ __forceinline__ void pairs_clear(const pairs_job &job) {
  const int first = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = first; k < job.problem.bins; k += (int)(gridDim.x * blockDim.x)) {
    job.counts[k] = 0;
    if (job.problem.weighted) job.sums[k] = {0, 0};
  }
  if (first < PAIRS_OUTER && job.outside != NULL) job.outside[first] = 0;
  if (first < 2) job.largest[first] = 0;
  if (first == 0) *job.excluded = 0;
}

/* One launch costs less than a fill each. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK) pairs_clear_kernel(pairs_job job) {
  rung_let_next_begin();
  pairs_clear(job);
}

static inline rung_status pairs_clear_results(const rung_task *task, const pairs_job &job) {
  const pairs_problem &problem = job.problem;
  RUNG_LAUNCH(task, pairs_clear_kernel, pairs_blocks(task, problem.bins), PAIRS_SET_BLOCK, 0, job);
  for (int s = 0; s < (problem.weighted ? 2 : 0); ++s) {
    const int64_t n = s == 0 || !problem.cross ? problem.n : problem.m;
    RUNG_LAUNCH(task, pairs_largest_kernel, pairs_blocks(task, n), PAIRS_SET_BLOCK, 0,
                job.weights[s], n, job.largest + s);
  }
  return RUNG_OK;
}

static __global__ void __launch_bounds__(PAIRS_SET_BLOCK) pairs_sums_kernel(pairs_job job) {
  const int exponent = pairs_exponent_of(job);
  const int step = (int)(gridDim.x * blockDim.x);
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < job.problem.bins; k += step)
    pairs_put_sum(&job.problem, job.sums[k], exponent, job.results, k);
}

static inline rung_status pairs_round_sums(const rung_task *task, const pairs_job &job) {
  if (job.problem.weighted)
    RUNG_LAUNCH(task, pairs_sums_kernel, pairs_blocks(task, job.problem.bins), PAIRS_SET_BLOCK, 0,
                job);
  return RUNG_OK;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* Queues a kernel on as many blocks as the device holds at once, at most `most`. It calls
 * rung_await_before(). */
#define PAIRS_LAUNCH(task, kernel, most, plan, ...)                                              \
  do {                                                                                           \
    int resident_ = 0;                                                                           \
    RUNG_ALLOW_SHARED(task, kernel, (plan).bytes);                                               \
    RUNG_RESIDENT_BLOCKS(task, kernel, (plan).threads, (plan).bytes, &resident_);                \
    const int64_t busy_ = (int64_t)(task)->device->processors * (resident_ > 0 ? resident_ : 1); \
    const int64_t blocks_ = (most) < 1 ? 1 : (most) < busy_ ? (most) : busy_;                    \
    RUNG_LAUNCH_NEXT(task, kernel, (unsigned)blocks_, (unsigned)(plan).threads, (plan).bytes,    \
                     __VA_ARGS__);                                                               \
  } while (0)

/* Rung::launch<SPACE, EXTRA>(task, job) for the job's space; rungs with EXTRAS know weights and
 * molecules. */
template <typename Rung, int SPACE>
static rung_status pairs_by_extra(const rung_task *task, const pairs_job &job) {
  if constexpr (Rung::EXTRAS)
    if (job.problem.weighted || job.problem.excluding)
      return Rung::template launch<SPACE, true>(task, job);
  return Rung::template launch<SPACE, false>(task, job);
}

template <typename Rung>
static rung_status pairs_by_space(const rung_task *task, const pairs_job &job) {
  switch (job.problem.box.space) {
    case PAIRS_OPEN:
      return pairs_by_extra<Rung, PAIRS_OPEN>(task, job);
    case PAIRS_RECTANGULAR:
      return pairs_by_extra<Rung, PAIRS_RECTANGULAR>(task, job);
    default:
      return pairs_by_extra<Rung, PAIRS_TRICLINIC>(task, job);
  }
}

/* A whole job of a rung that looks at all pairs of points in their own order. */
template <typename Rung>
static rung_status pairs_run(const rung_task *task) {
  char *memory = (char *)task->scratch;
  pairs_job job = pairs_job_of(task, memory);
  rung_status status = pairs_clear_results(task, job);
  if (status == RUNG_OK)
    status = pairs_places(task, memory + pairs_ledger_of(&job.problem).bytes, &job.a, &job.b);
  if (status == RUNG_OK) status = pairs_by_space<Rung>(task, job);
  return status == RUNG_OK ? pairs_round_sums(task, job) : status;
}

#endif
