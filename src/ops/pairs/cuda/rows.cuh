/* The rungs in which a thread has a point and walks over all points after it (of two sets: over all
 * of the other). Only where they count differs. */
#ifndef RUNG_PAIRS_CUDA_ROWS_CUH
#define RUNG_PAIRS_CUDA_ROWS_CUH

#include "ops/pairs/cuda/tables.cuh"

template <typename Table, int SPACE, bool EXTRA>
static __global__ void __launch_bounds__(1024, 1)
    pairs_rows_kernel(pairs_job job, pairs_plan plan) {
  RUNG_DYNAMIC_SHARED(char, memory);
  pairs_shared shared = {NULL, job.thresholds, NULL, NULL};
  if (Table::KEPT) shared = pairs_begin(job, plan, memory);
  rung_await_before();
  const int exponent = EXTRA ? pairs_exponent_of(job) : 0;
  const bool cross = job.problem.cross;
  const int64_t flush = job.problem.flush, step = flush / blockDim.x > 1 ? flush / blockDim.x : 1;
  int64_t counted = 0; /* by the block, since the table was empty; at most */
  for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < job.a.n;
       first += (int64_t)gridDim.x * blockDim.x) {
    const int64_t i = first + threadIdx.x, start = cross ? 0 : i + 1;
    pairs_point p = {};
    pairs_tag<EXTRA> tag = {};
    if (i < job.a.n) {
      p = pairs_at(job.a, i);
      tag = pairs_tag_of<EXTRA>(job, 0, i);
    }
    for (int64_t from = cross ? 0 : first + 1; from < job.b.n; from += step) {
      const int64_t end = job.b.n - from < step ? job.b.n : from + step;
      if (Table::KEPT && counted > 0 && counted + (end - from) * blockDim.x > flush) {
        pairs_spill(job, plan, shared);
        counted = 0;
      }
      counted += (end - from) * blockDim.x;
      for (int64_t j = start > from ? start : from; i < job.a.n && j < end; ++j)
        pairs_count<Table, EXTRA>(job, plan, shared, exponent,
                                  pairs_apart<SPACE>(job.problem.box, p, pairs_at(job.b, j)), tag,
                                  pairs_tag_of<EXTRA>(job, 1, j));
    }
  }
  if (Table::KEPT) pairs_spill(job, plan, shared);
}

template <typename Table, bool ALL>
struct pairs_rows_rung {
  enum { EXTRAS = ALL };
  template <int SPACE, bool EXTRA>
  static rung_status launch(const rung_task *task, const pairs_job &job) {
    const pairs_plan plan = pairs_plan_of(task, {false, Table::KEPT != 0, false});
    const int64_t rows = (job.a.n + plan.threads - 1) / plan.threads;
    PAIRS_LAUNCH(task, (pairs_rows_kernel<Table, SPACE, EXTRA>), rows, plan, job, plan);
    return RUNG_OK;
  }
};

#endif
