/* The textbook: one pair after the other, its square of a distance by the space's short way, its
 * bin by a root and a division (settled against the thresholds) or a search, counted in the result
 * itself. */
#include "backend/cpu/isa.h"
#include "ops/pairs/find.h"
#include "ops/pairs/space.h"
#include "ops/pairs/sums.h"

typedef struct serial_work {
  const pairs_problem *problem;
  const rung_task *task;
  int64_t *counts, *outside;
  pairs_sum *sums;
  int exponent;
} serial_work;

static const double *weights_of(const serial_work *w, int array) {
  return (const double *)w->task->arrays[array].data;
}

static double largest_of(const double *weights, int64_t n) {
  uint64_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = pairs_magnitude(weights[i]);
    if (bits > most) most = bits;
  }
  return pairs_of_magnitude(most);
}

/* Whether point i of a and point j of the other set are of one molecule. */
static bool excluded(const serial_work *w, int64_t i, int64_t j) {
  const rung_view *arrays = w->task->arrays;
  const int other = w->problem->cross ? PAIRS_B_MOLECULES : PAIRS_A_MOLECULES;
  return pairs_excluded(((const int64_t *)arrays[PAIRS_A_MOLECULES].data)[i],
                        ((const int64_t *)arrays[other].data)[j]);
}

static void count(const serial_work *w, int slot, int64_t i, int64_t j) {
  const pairs_problem *p = w->problem;
  if (slot >= p->bins) {
    w->outside[slot - p->bins] += 1;
    return;
  }
  w->counts[slot] += 1;
  if (p->weighted)
    pairs_sum_units(
        &w->sums[slot],
        pairs_units(weights_of(w, PAIRS_A_WEIGHTS)[i],
                    weights_of(w, p->cross ? PAIRS_B_WEIGHTS : PAIRS_A_WEIGHTS)[j], w->exponent));
}

static void count_all(const serial_work *w) {
  const pairs_problem *p = w->problem;
  const void *a = w->task->arrays[PAIRS_A].data,
             *b = w->task->arrays[p->cross ? PAIRS_B : PAIRS_A].data;
  const double *thresholds = (const double *)w->task->arrays[PAIRS_THRESHOLDS].data;
  pairs_point *places = (pairs_point *)w->task->scratch;
  const int64_t others = p->cross ? p->m : p->n;
  for (int64_t j = 0; j < others; ++j) places[j] = pairs_place_of(p, b, j);
  for (int64_t i = 0; i < p->n; ++i) {
    const pairs_point at = pairs_place_of(p, a, i);
    for (int64_t j = p->cross ? 0 : i + 1; j < others; ++j) {
      if (p->excluding && excluded(w, i, j)) continue;
      const pairs_point q = places[j];
      count(w, pairs_slot(p, thresholds, pairs_square(&p->box, at.x - q.x, at.y - q.y, at.z - q.z)),
            i, j);
    }
  }
}

/* Scratch: the other set's places, then a sum a bin. */
rung_status RUNG_ENTRY(pairs_serial)(const rung_task *task) {
  const pairs_problem *p = (const pairs_problem *)task->problem;
  const int64_t others = p->cross ? p->m : p->n;
  int64_t spare[PAIRS_OUTER] = {0};
  serial_work w = {.problem = p,
                   .task = task,
                   .counts = (int64_t *)task->arrays[PAIRS_COUNTS].data,
                   .outside = spare,
                   .sums = (pairs_sum *)((pairs_point *)task->scratch + others)};
  for (int k = 0; k < p->bins; ++k) w.counts[k] = 0;
  if (p->weighted) {
    const double most = largest_of(weights_of(&w, PAIRS_A_WEIGHTS), p->n);
    w.exponent =
        p->part ? p->exponent
                : pairs_exponent(
                      most, p->cross ? largest_of(weights_of(&w, PAIRS_B_WEIGHTS), p->m) : most);
    for (int k = 0; k < p->bins; ++k) w.sums[k] = (pairs_sum){0, 0};
  }
  count_all(&w);
  const rung_view *outside = &task->arrays[PAIRS_OUTSIDE], *sums = &task->arrays[PAIRS_SUMS];
  for (int k = 0; k < PAIRS_OUTER && outside->count > 0; ++k)
    ((int64_t *)outside->data)[k] = spare[k];
  for (int k = 0; k < p->bins && sums->count > 0; ++k)
    pairs_put_sum(p, w.sums[k], w.exponent, sums->data, k);
  return RUNG_OK;
}
