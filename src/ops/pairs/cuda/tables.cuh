/* Where rungs count: tables of a block's in shared memory, or the results themselves; and what else
 * a block keeps there. */
#ifndef RUNG_PAIRS_CUDA_TABLES_CUH
#define RUNG_PAIRS_CUDA_TABLES_CUH

#include "ops/pairs/cuda/count.cuh"

/* ---- tables ------------------------------------------------------------------------------------
 */

/* A pair is counted in the results themselves, ... */
struct pairs_no_table {
  enum { KEPT = 0, COPIES = 0 };
  static __device__ __forceinline__ void count(const pairs_job &job, unsigned *, int,
                                               unsigned slot) {
    pairs_add(job, slot, 1);
  }
};

/* ... in a table of the block's, ... */
struct pairs_block_table {
  enum { KEPT = 1, COPIES = 0 };
  static __device__ __forceinline__ void count(const pairs_job &, unsigned *table, int,
                                               unsigned slot) {
    atomicAdd(&table[slot], 1u);
  }
};

/* ... or in one of several: every counter has copies side by side, a lane's is its number's rest.
 */
struct pairs_lane_tables {
  enum { KEPT = 1, COPIES = 1 };
  static __device__ __forceinline__ void count(const pairs_job &, unsigned *table, int copies,
                                               unsigned slot) {
    const unsigned copy = threadIdx.x & (unsigned)(copies - 1);
    atomicAdd(&table[slot * (unsigned)copies + copy], 1u);
  }
};

/* ---- shared memory ------------------------------------------------------------------------------
 */

/* Shared memory by its plan. */
struct pairs_shared {
  char *points;
  const double *thresholds;
  unsigned *table;
  unsigned *sums; /* 3 words a bin: a number of 96 bits, enough for 2^32 products */
};

/* Thresholds near where there is room, the tables cleared; ends with a barrier. All threads of the
 * block come together to this and to the next one. */
static __device__ __forceinline__ pairs_shared pairs_begin(const pairs_job &job,
                                                           const pairs_plan &plan, char *memory) {
  double *near = (double *)(memory + plan.near_at);
  const pairs_shared shared = {memory, plan.near > 0 ? near : job.thresholds,
                               (unsigned *)(memory + plan.table_at),
                               (unsigned *)(memory + plan.sums_at)};
  const int step = (int)blockDim.x;
  for (int k = (int)threadIdx.x; k < plan.near; k += step) near[k] = job.thresholds[k];
  for (int i = (int)threadIdx.x; i < plan.slots * plan.copies; i += step) shared.table[i] = 0;
  for (int i = (int)threadIdx.x; i < plan.sums * 3; i += step) shared.sums[i] = 0;
  __syncthreads();
  return shared;
}

/* Adds the tables to the results, and clears them. */
static __device__ __forceinline__ void pairs_spill(const pairs_job &job, const pairs_plan &plan,
                                                   const pairs_shared &shared) {
  __syncthreads();
  for (int slot = (int)threadIdx.x; slot < plan.slots; slot += (int)blockDim.x) {
    unsigned long long n = 0;
    for (int c = 0; c < plan.copies; ++c) {
      /* from another copy in every thread, as neighbours' first ones share a bank */
      unsigned *at = &shared.table[slot * plan.copies + ((c + slot) & (plan.copies - 1))];
      n += *at;
      *at = 0;
    }
    if (n > 0) pairs_add(job, (unsigned)slot, n);
    if (n == 0 || slot >= plan.sums) continue;
    unsigned *sum = &shared.sums[3 * slot];
    pairs_add_units(job, (unsigned)slot, sum[0] | (unsigned long long)sum[1] << 32, (int)sum[2]);
    sum[0] = sum[1] = sum[2] = 0;
  }
  __syncthreads();
}

/* Adds to a sum in shared memory, word by word: each carry is seen by the one addition that made
 * it. */
static __device__ __forceinline__ void pairs_add_near(unsigned *sum, int64_t units) {
  const unsigned low = (unsigned)units;
  const unsigned carry = atomicAdd(&sum[0], low) > ~low ? 1 : 0;
  const unsigned middle = (unsigned)(units >> 32) + carry;
  unsigned top = (units < 0 ? ~0u : 0u) + (middle < carry ? 1u : 0u);
  if (middle != 0) top += atomicAdd(&sum[1], middle) > ~middle ? 1 : 0;
  if (top != 0) atomicAdd(&sum[2], top);
}

/* ---- a pair ------------------------------------------------------------------------------------
 */

/* What of a point matters besides its place; nothing where EXTRA is false. */
template <bool EXTRA>
struct pairs_tag {
  double weight;
  int64_t molecule;
};
template <>
struct pairs_tag<false> {};

template <bool EXTRA>
static __device__ __forceinline__ pairs_tag<EXTRA> pairs_tag_of(const pairs_job &job, int s,
                                                                int64_t i) {
  if constexpr (EXTRA) {
    const int64_t from = pairs_origin(s == 0 ? job.a : job.b, i);
    return {job.weights[s] != NULL ? job.weights[s][from] : 0,
            job.molecules[s] != NULL ? job.molecules[s][from] : -1};
  } else {
    return {};
  }
}

/* Counts one pair. */
template <typename Table, bool EXTRA>
static __device__ __forceinline__ void pairs_count(const pairs_job &job, const pairs_plan &plan,
                                                   const pairs_shared &shared, int exponent,
                                                   double d2, pairs_tag<EXTRA> a,
                                                   pairs_tag<EXTRA> b) {
  if constexpr (EXTRA)
    if (pairs_excluded(a.molecule, b.molecule)) return;
  const unsigned slot = pairs_slot_of(job, shared.thresholds, d2);
  Table::count(job, shared.table, plan.copies, slot);
  if constexpr (EXTRA)
    if (job.problem.weighted && slot < (unsigned)job.problem.bins) {
      const int64_t units = pairs_units(a.weight, b.weight, exponent);
      if (Table::KEPT)
        pairs_add_near(&shared.sums[3 * slot], units);
      else
        pairs_add_units(job, slot, (unsigned long long)units, units < 0 ? -1 : 0);
    }
}

#endif
