/* What the fast ways leave out: points that are not finite, and pairs that molecules exclude. */
#ifndef RUNG_PAIRS_CPU_APART_H
#define RUNG_PAIRS_CPU_APART_H

#include "backend/cpu/parallel.h"
#include "ops/pairs/cpu/work.h"
#include "ops/pairs/space.h"

/* The rank after the last: the distance is NaN. */
static inline uint32_t pairs_nan_rank(const pairs_work *work) {
  return work->ranks.top + 1;
}

static inline const double *pairs_weights_of(const pairs_work *work, int side) {
  const int array = side == 0 ? PAIRS_A_WEIGHTS : PAIRS_B_WEIGHTS;
  return work->problem->weighted ? (const double *)work->task->arrays[array].data : NULL;
}

static inline pairs_point pairs_point_of(const pairs_work *work, int side, int64_t index) {
  return pairs_place_of(work->problem, work->task->arrays[side == 0 ? PAIRS_A : PAIRS_B].data,
                        index);
}

/* ---- points that are not finite ----------------------------------------------------------------
 */

/* A point is of class 0 where it is finite, of the last where it has a NaN. Otherwise the class
 * says of each axis, in base 3, whether it is finite, infinity or minus infinity there. */
enum { PAIRS_CLASSES = 28, PAIRS_CLASS_NAN = 27 };

static inline int pairs_class_of(pairs_point p) {
  const double x[3] = {p.x, p.y, p.z};
  int class = 0, place = 1;
  for (int i = 0; i < 3; ++i, place *= 3) {
    if (isnan(x[i])) return PAIRS_CLASS_NAN;
    if (isinf(x[i])) class += x[i] > 0 ? place : 2 * place;
  }
  return class;
}

/* Whether a distance between the two is NaN: a coordinate is, or one infinity less itself. */
static inline bool pairs_classes_nan(int a, int b) {
  bool same = a == PAIRS_CLASS_NAN || b == PAIRS_CLASS_NAN;
  for (int i = 0; i < 3; ++i, a /= 3, b /= 3) same = same || (a % 3 != 0 && a % 3 == b % 3);
  return same;
}

/* Counts pairs of which one point at least is not finite: they are above or NaN. */
static inline void pairs_count_classes(const pairs_work *work, const int64_t *a, const int64_t *b,
                                       const pairs_counted *counted) {
  for (int i = 0; i < PAIRS_CLASSES; ++i)
    for (int j = work->problem->cross ? 0 : i; j < PAIRS_CLASSES; ++j) {
      if (i == 0 && j == 0) continue;
      const int64_t pairs = !work->problem->cross && i == j ? a[i] * (a[i] - 1) / 2 : a[i] * b[j];
      counted->singles[pairs_classes_nan(i, j) ? pairs_nan_rank(work) : work->ranks.top] +=
          (uint64_t)pairs;
    }
}

/* ---- molecules ---------------------------------------------------------------------------------
 */

/* Larger molecules are counted by the fast way. Their points are on the stack else. */
enum { PAIRS_SMALL = 1024, PAIRS_DEALT = 4096 };

static inline int64_t pairs_list_members(const pairs_work *work) {
  int64_t count = 0;
  for (uint32_t side = 0; side < (work->problem->cross ? 2u : 1u); ++side) {
    const int64_t *molecules =
        (const int64_t *)work->task->arrays[side == 0 ? PAIRS_A_MOLECULES : PAIRS_B_MOLECULES].data;
    const int64_t n = side == 0 ? work->problem->n : work->problem->m;
    for (int64_t i = 0; i < n; ++i)
      if (molecules[i] >= 0)
        work->members[count++] = (pairs_member){molecules[i], (uint32_t)i, side};
  }
  return count;
}

/* By molecule, stable: of each the points of a come first. A byte at a time from the last; bytes
 * that all have in common are passed over. Returns where they are. */
static inline pairs_member *pairs_sort_members(const pairs_work *work, int64_t count) {
  pairs_member *from = work->members, *to = work->spare;
  for (int shift = 0; shift < 64; shift += 8) {
    int64_t at[257] = {0};
    for (int64_t k = 0; k < count; ++k) ++at[(from[k].molecule >> shift & 255) + 1];
    if (count == 0 || at[(from[0].molecule >> shift & 255) + 1] == count) continue;
    for (int d = 0; d < 256; ++d) at[d + 1] += at[d];
    for (int64_t k = 0; k < count; ++k) to[at[from[k].molecule >> shift & 255]++] = from[k];
    pairs_member *const sorted = to;
    to = from;
    from = sorted;
  }
  return from;
}

typedef struct pairs_molecules {
  const pairs_work *work;
  const pairs_member *members; /* sorted */
  int64_t count;
} pairs_molecules;

static inline int64_t pairs_end_of(const pairs_molecules *all, int64_t first) {
  int64_t end = first + 1;
  while (end < all->count && all->members[end].molecule == all->members[first].molecule) ++end;
  return end;
}

/* Takes one pair off the counted. */
static inline void pairs_exclude(const pairs_work *work, const pairs_counted *counted,
                                 const pairs_member *a, pairs_point p, const pairs_member *b,
                                 pairs_point q) {
  const double square = pairs_square(&work->problem->box, p.x - q.x, p.y - q.y, p.z - q.z);
  const uint32_t rank = isnan(square) ? pairs_nan_rank(work) : pairs_rank(&work->ranks, square);
  --counted->singles[rank];
  if (counted->sums == NULL || rank == 0 || rank >= work->ranks.top) return;
  const double wa = pairs_weights_of(work, (int)a->side)[a->index],
               wb = pairs_weights_of(work, (int)b->side)[b->index];
  pairs_sum_units(&counted->sums[rank - 1], -pairs_units(wa, wb, work->exponent));
}

static inline void pairs_exclude_within(const pairs_molecules *all, int64_t first, int64_t end,
                                        const pairs_counted *counted) {
  const pairs_member *members = all->members + first;
  const int count = (int)(end - first);
  pairs_point at[PAIRS_SMALL];
  if (count == 1) return;
  for (int k = 0; k < count; ++k)
    at[k] = pairs_point_of(all->work, (int)members[k].side, members[k].index);
  for (int i = 0; i < count; ++i)
    for (int j = i + 1; j < count; ++j)
      if (!all->work->problem->cross || members[i].side != members[j].side)
        pairs_exclude(all->work, counted, &members[i], at[i], &members[j], at[j]);
}

/* Molecules that begin among so many members, but the large ones. */
static void pairs_exclude_chunk(void *arg, int64_t chunk, int thread) {
  const pairs_molecules *all = (const pairs_molecules *)arg;
  const pairs_counted counted = pairs_counted_of(all->work, thread);
  int64_t first = chunk * PAIRS_DEALT;
  const int64_t last = first + PAIRS_DEALT < all->count ? first + PAIRS_DEALT : all->count;
  while (first > 0 && first < last &&
         all->members[first].molecule == all->members[first - 1].molecule)
    ++first;
  while (first < last) {
    const int64_t end = pairs_end_of(all, first);
    if (end - first <= PAIRS_SMALL) pairs_exclude_within(all, first, end, &counted);
    first = end;
  }
}

/* Takes the pairs of all molecules of up to PAIRS_SMALL points off the threads' tables. */
static inline pairs_molecules pairs_exclude_small(const pairs_work *work) {
  pairs_molecules all = {.work = work, .count = pairs_list_members(work)};
  all.members = pairs_sort_members(work, all.count);
  rung_parallel((int)work->threads, (all.count + PAIRS_DEALT - 1) / PAIRS_DEALT,
                pairs_exclude_chunk, &all);
  return all;
}

#endif
