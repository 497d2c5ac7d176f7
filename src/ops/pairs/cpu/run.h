/* A launch from beginning to end: tables, points at their places, a fast way for all pairs, what it
 * leaves out, the result. */
#ifndef RUNG_PAIRS_CPU_RUN_H
#define RUNG_PAIRS_CPU_RUN_H

#include "backend/cpu/isa.h"
#include "ops/pairs/cpu/apart.h"
#include "ops/pairs/cpu/tree.h"

/* All pairs of a set, or of two, by tiles into the threads' tables: in lanes.c, from tiles.h. */
void RUNG_ENTRY(pairs_sweep_sets)(const pairs_work *work, const pairs_set *a, const pairs_set *b);

/* Ranks that are added up at a time. */
enum { PAIRS_RANKS_DEALT = 4096 };

/* ---- tables -----------------------------------------------------------------------------------
 */

static void pairs_clear_table(void *arg, int64_t chunk, int thread) {
  const pairs_work *work = (const pairs_work *)arg;
  (void)thread;
  memset(work->tables + (size_t)chunk * work->each, 0, work->each);
}

static inline void pairs_clear_tables(const pairs_work *work) {
  rung_parallel((int)work->threads, work->threads, pairs_clear_table, (void *)(uintptr_t)work);
}

static inline uint64_t pairs_exact_of(const pairs_counted *counted, size_t rank) {
  uint64_t sum = 0;
  for (int l = 0; l < PAIRS_EXACT; ++l) sum += counted->exact[rank][l];
  return sum;
}

static inline uint64_t pairs_below_of(const pairs_counted *counted, size_t rank) {
  uint64_t sum = 0;
  for (int l = 0; l < PAIRS_COUNTER; ++l) sum += counted->below[rank][l];
  return sum;
}

/* Adds a counted's ranks first ... end - 1 to the result, or takes them off. */
static inline void pairs_add_table(const pairs_work *work, const pairs_counted *counted,
                                   size_t first, size_t end, bool off) {
  const size_t top = work->ranks.top;
  uint64_t before =
      counted->below != NULL && first > 0 && first <= top ? pairs_below_of(counted, first - 1) : 0;
  for (size_t r = first; r < end; ++r) {
    const uint64_t below = counted->below != NULL && r < top ? pairs_below_of(counted, r) : 0;
    const uint64_t fresh = counted->singles[r] + below - (r <= top ? before : 0) +
                           (counted->exact != NULL && r <= top ? pairs_exact_of(counted, r) : 0);
    work->slots[r] += off ? 0 - fresh : fresh;
    before = below;
    if (counted->sums == NULL || r == 0 || r >= top) continue;
    pairs_sum sum = counted->sums[r - 1];
    if (off) { /* the two's complement */
      sum.low = 0 - sum.low;
      sum.high = (int64_t)(~(uint64_t)sum.high + (sum.low == 0 ? 1u : 0u));
    }
    pairs_sum_add(&work->sums[r - 1], sum);
  }
}

typedef struct pairs_adding {
  const pairs_work *work;
  bool off;
} pairs_adding;

static void pairs_add_chunk(void *arg, int64_t chunk, int thread) {
  const pairs_adding *adding = (const pairs_adding *)arg;
  const size_t all = pairs_ranks_count(adding->work->problem),
               first = (size_t)chunk * PAIRS_RANKS_DEALT, end = first + PAIRS_RANKS_DEALT;
  (void)thread;
  for (int64_t t = 0; t < adding->work->threads; ++t) {
    const pairs_counted counted = pairs_counted_of(adding->work, t);
    pairs_add_table(adding->work, &counted, first, end < all ? end : all, adding->off);
  }
}

/* Adds all tables to the result, or takes them off, and clears them. */
static inline void pairs_add_tables(const pairs_work *work, bool off) {
  pairs_adding adding = {work, off};
  const size_t all = pairs_ranks_count(work->problem);
  rung_parallel((int)work->threads, (int64_t)((all + PAIRS_RANKS_DEALT - 1) / PAIRS_RANKS_DEALT),
                pairs_add_chunk, &adding);
  pairs_clear_tables(work);
}

/* ---- points ------------------------------------------------------------------------------------
 */

static inline void pairs_enter(pairs_set *set, pairs_point p, int64_t index) {
  set->entries[set->points++] = (pairs_entry){{p.x, p.y, p.z}, index};
}

/* The finite points of a set into tiles; `classes` may be NULL. */
static inline void pairs_gather(const pairs_work *work, int side, pairs_set *set,
                                int64_t *classes) {
  const int64_t n = side == 0 ? work->problem->n : work->problem->m;
  set->points = 0;
  for (int64_t i = 0; i < n; ++i) {
    const pairs_point p = pairs_point_of(work, side, i);
    const int class = pairs_class_of(p);
    if (class == 0) pairs_enter(set, p, i);
    ++classes[class];
  }
  pairs_build(set, pairs_weights_of(work, side));
}

static inline const pairs_set *pairs_other_set(const pairs_work *work) {
  return &work->sets[work->problem->cross ? 1 : 0];
}

/* Every pair, into the tables. */
static inline void pairs_all_by_tiles(pairs_work *work) {
  int64_t classes[2][PAIRS_CLASSES] = {{0}};
  const int other = work->problem->cross ? 1 : 0;
  const pairs_counted counted = pairs_counted_of(work, 0);
  for (int side = 0; side <= other; ++side)
    pairs_gather(work, side, &work->sets[side], classes[side]);
  pairs_count_classes(work, classes[0], classes[other], &counted);
  RUNG_ENTRY(pairs_sweep_sets)(work, &work->sets[0], pairs_other_set(work));
}

/* Large molecules: their pairs counted as all were, and taken off. */
static inline void pairs_exclude_large(pairs_work *work, const pairs_molecules *all) {
  for (int64_t first = 0, end; first < all->count; first = end) {
    int64_t classes[2][PAIRS_CLASSES] = {{0}};
    const pairs_counted counted = pairs_counted_of(work, 0);
    end = pairs_end_of(all, first);
    if (end - first <= PAIRS_SMALL) continue;
    work->sets[0].points = work->sets[1].points = 0;
    for (int64_t k = first; k < end; ++k) {
      const int side = (int)all->members[k].side;
      const pairs_point p = pairs_point_of(work, side, all->members[k].index);
      const int class = pairs_class_of(p);
      if (class == 0) pairs_enter(&work->sets[side], p, all->members[k].index);
      ++classes[side][class];
    }
    for (int side = 0; side <= (work->problem->cross ? 1 : 0); ++side)
      pairs_build(&work->sets[side], pairs_weights_of(work, side));
    pairs_count_classes(work, classes[0], classes[work->problem->cross ? 1 : 0], &counted);
    RUNG_ENTRY(pairs_sweep_sets)(work, &work->sets[0], pairs_other_set(work));
    pairs_add_tables(work, true);
  }
}

/* ---- beginning and end -------------------------------------------------------------------------
 */

static inline double pairs_largest_weight(const pairs_work *work, int side) {
  const double *weights = pairs_weights_of(work, side);
  const int64_t n = side == 0 ? work->problem->n : work->problem->m;
  uint64_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t magnitude = pairs_magnitude(weights[i]);
    most = magnitude > most ? magnitude : most;
  }
  return pairs_of_magnitude(most);
}

static inline void pairs_begin(const rung_task *task, int64_t threads, bool grids,
                               pairs_work *work) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  pairs_lay_out(problem, threads, grids, task->scratch, work);
  work->task = task;
  work->ranks = pairs_ranks_of(problem, (const double *)task->arrays[PAIRS_THRESHOLDS].data,
                               work->padded, work->guide);
  memset(work->slots, 0, pairs_ranks_count(problem) * sizeof *work->slots);
  pairs_clear_tables(work);
  if (!problem->weighted) return;
  const double a = pairs_largest_weight(work, 0);
  work->exponent = problem->part
                       ? problem->exponent
                       : pairs_exponent(a, problem->cross ? pairs_largest_weight(work, 1) : a);
  memset(work->sums, 0, (size_t)problem->bins * sizeof *work->sums);
}

/* Adds the tables up, takes molecules off, writes the outputs. */
static inline void pairs_end(pairs_work *work) {
  const rung_view *arrays = work->task->arrays;
  const int bins = work->problem->bins;
  uint64_t *counts = (uint64_t *)arrays[PAIRS_COUNTS].data,
           *outside = (uint64_t *)arrays[PAIRS_OUTSIDE].data;
  pairs_molecules molecules = {0};
  if (work->problem->excluding) molecules = pairs_exclude_small(work);
  pairs_add_tables(work, false);
  if (work->problem->excluding) pairs_exclude_large(work, &molecules);
  memcpy(counts, work->slots + 1, (size_t)bins * sizeof *counts);
  if (arrays[PAIRS_OUTSIDE].count > 0) {
    outside[PAIRS_BELOW] = work->slots[0];
    outside[PAIRS_ABOVE] = work->slots[work->ranks.top];
    outside[PAIRS_NAN] = work->slots[pairs_nan_rank(work)];
  }
  for (int k = 0; k < bins && work->problem->weighted; ++k)
    pairs_put_sum(work->problem, work->sums[k], work->exponent, arrays[PAIRS_SUMS].data, k);
}

#endif
