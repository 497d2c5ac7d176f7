/* What the ladder and the kernels must agree on: how bins are guessed, what of a job a block keeps
 * in shared memory, and the scratch. Plain C. */
#ifndef RUNG_PAIRS_CUDA_PLAN_H
#define RUNG_PAIRS_CUDA_PLAN_H

#include <float.h>

#include "ops/pairs/cuda/grid.h"
#include "ops/pairs/sums.h"

/* Threads a block, where the caller does not say. */
enum { PAIRS_BLOCK = 128 };

static inline int pairs_block(const rung_task *task) {
  return task->block == 0 ? PAIRS_BLOCK : task->block;
}

/* ---- the guess ---------------------------------------------------------------------------------
 *
 * Of even bins, in float:  f = (d2 * rsqrt(d2)) * scale - 1/2,  scale = 1 / width
 * Let k be the integer nearest to f. Roundings: of d2 (2^-25 of the root), the reciprocal root
 * (2^-22), a product, scale, a product and a sum (2^-24 each), in all less than 2^-21 of f; the
 * thresholds' own are 2^-50. So |f - k| <= 1/2 - 2^-20 (bins + 1), which leaves twice as much, says
 * that d2 is in bin k, if there is such a bin. Everything else is compared with the thresholds,
 * from k on; so is what is no number in float. */
typedef struct pairs_guess {
  bool used; /* else nothing is proven, and thresholds are searched by halving */
  float scale, within;
} pairs_guess;

static inline pairs_guess pairs_guess_of(const pairs_problem *problem) {
  pairs_guess guess = {false, 0, -1};
  /* d2 in float's range; what is below it is in the first millionth of bin 0, and not proven */
  if (!problem->even || problem->width < 1e-12 || problem->last > 1e19) return guess;
  guess.used = true;
  guess.scale = (float)(1 / problem->width);
  guess.within = 0.5f - (float)(problem->bins + 1) * 0x1p-20f;
  return guess;
}

/* ---- shared memory ------------------------------------------------------------------------------
 */

/* What a rung keeps there: points of the other set; a table of counts, or copies of it by lane. */
typedef struct pairs_keeps {
  bool points, table, lanes;
} pairs_keeps;

typedef struct pairs_plan {
  int threads, copies;
  int slots;
  int near;                                 /* thresholds that are kept there, 0: none */
  int sums;                                 /* bins whose sums are kept beside the table, 0: none */
  size_t near_at, table_at, sums_at, bytes; /* where they begin, and all of it */
} pairs_plan;

/* Bytes of a point: its place, and its weight and molecule, in 16s. */
enum { PAIRS_HELD = 32, PAIRS_HELD_EXTRA = 48 };

/* So many thresholds are kept near, where they are searched. */
enum { PAIRS_NEAR = 2048 };

static inline size_t pairs_table_bytes(int slots, int copies) {
  return (size_t)slots * (size_t)copies * sizeof(uint32_t);
}

/* The plan; plan.bytes may be more than a block has. */
static inline pairs_plan pairs_plan_of(const rung_task *task, pairs_keeps keeps) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  const bool extra = problem->weighted || problem->excluding;
  pairs_plan plan;
  plan.threads = pairs_block(task);
  plan.copies = keeps.table;
  plan.near = 0;
  plan.near_at = 0;
  plan.slots = problem->bins + PAIRS_OUTER;
  if (keeps.points) plan.near_at = (size_t)plan.threads * (extra ? PAIRS_HELD_EXTRA : PAIRS_HELD);
  if ((keeps.points || keeps.table) && !pairs_guess_of(problem).used && problem->bins < PAIRS_NEAR)
    plan.near = problem->bins + 1;
  plan.table_at = plan.near_at + (size_t)plan.near * sizeof(double);
  if (keeps.lanes) {
    /* As many as leave room for all the blocks that a multiprocessor has threads for. */
    const int blocks = task->device->threads / plan.threads;
    const int64_t each = task->device->shared_processor_bytes / (blocks < 1 ? 1 : blocks) - 1024;
    const int64_t most = each < task->device->shared_bytes ? each : task->device->shared_bytes;
    plan.copies = 32;
    while (plan.copies > 1 &&
           (int64_t)(plan.table_at + pairs_table_bytes(plan.slots, plan.copies)) > most)
      plan.copies /= 2;
  }
  plan.sums = keeps.table && problem->weighted ? problem->bins : 0;
  plan.sums_at = plan.table_at + pairs_table_bytes(plan.slots, plan.copies);
  plan.bytes = plan.sums_at + (size_t)plan.sums * 3 * sizeof(uint32_t);
  return plan;
}

/* ---- scratch -----------------------------------------------------------------------------------
 */

/* Sums, and what they are in units of. */
typedef struct pairs_ledger {
  size_t largest;  /* (2) u64: the largest weights' magnitudes */
  size_t excluded; /* u64: pairs that molecules exclude, however far apart */
  size_t sums;     /* (bins) pairs_sum */
  size_t bytes;
} pairs_ledger;

static inline pairs_ledger pairs_ledger_of(const pairs_problem *problem) {
  pairs_ledger ledger;
  size_t end = 0;
  ledger.largest = pairs_lay(&end, 2, sizeof(uint64_t));
  ledger.excluded = pairs_lay(&end, 1, sizeof(uint64_t));
  ledger.sums = pairs_lay(&end, problem->weighted ? problem->bins : 0, sizeof(pairs_sum));
  ledger.bytes = end;
  return ledger;
}

/* A table of molecules by their numbers: twice as many entries as points of a. */
typedef struct pairs_tally {
  int64_t entries; /* a power of two */
  size_t numbers;  /* (entries) u64 */
  size_t counts;   /* (entries) u32 */
  size_t bytes;
} pairs_tally;

static inline pairs_tally pairs_tally_of(const pairs_problem *problem) {
  pairs_tally tally;
  tally.entries = 0;
  size_t end = 0;
  if (problem->excluding) {
    tally.entries = 2;
    while (tally.entries < 2 * problem->n) tally.entries *= 2;
  }
  tally.numbers = pairs_lay(&end, tally.entries, sizeof(uint64_t));
  tally.counts = pairs_lay(&end, tally.entries, sizeof(uint32_t));
  tally.bytes = end;
  return tally;
}

/* Zeros of a job that is one launch (once.cuh): counters of all slots, and of the blocks that have
 * ended. */
static inline size_t pairs_once_bytes(const pairs_problem *problem) {
  return (size_t)(problem->bins + PAIRS_OUTER) * sizeof(uint64_t) + sizeof(uint32_t);
}

/* Of rungs that look at all pairs. */
static inline size_t pairs_all_bytes(const pairs_problem *problem) {
  return pairs_ledger_of(problem).bytes + pairs_places_bytes(problem->n) +
         (problem->cross ? pairs_places_bytes(problem->m) : 0);
}

/* Of `cells`. */
static inline size_t pairs_cells_bytes(const pairs_problem *problem, const pairs_grid *grid) {
  return pairs_ledger_of(problem).bytes + pairs_tally_of(problem).bytes +
         pairs_sort_bytes(problem, grid);
}

#endif
