/* The reference: naive and strict. All pairs, one after the other; all 125 images; a root and a
 * division, or a search of the thresholds. Of the rungs' headers it uses what pairs.h states as the
 * contract, the places of points, and the fixed-point sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/pairs/lab/cases.h"
#include "ops/pairs/space.h"
#include "ops/pairs/sums.h"

enum { IMAGES = 125 };

/* One set, as the task has it. */
typedef struct points {
  int64_t n;
  const void *at;
  const double *weights;
  const int64_t *molecules;
} points;

typedef struct work {
  const pairs_problem *problem;
  const double *thresholds;
  pairs_point shifts[IMAGES];
  int images;
  int64_t *slots;
  pairs_sum *sums;
  int exponent;
} work;

static points points_of(const pairs_problem *problem, const rung_view *arrays, bool b) {
  return (points){
      .n = b ? problem->m : problem->n,
      .at = arrays[b ? PAIRS_B : PAIRS_A].data,
      .weights = (const double *)arrays[b ? PAIRS_B_WEIGHTS : PAIRS_A_WEIGHTS].data,
      .molecules = (const int64_t *)arrays[b ? PAIRS_B_MOLECULES : PAIRS_A_MOLECULES].data};
}

static void set_shifts(work *w) {
  if (w->problem->box.space == PAIRS_OPEN) {
    w->images = 0;
    return;
  }
  for (int n = 0; n < IMAGES; ++n)
    w->shifts[w->images++] = pairs_shift(&w->problem->box, n / 25 - 2, n / 5 % 5 - 2, n % 5 - 2);
}

static double square(const work *w, pairs_point p, pairs_point q) {
  const double dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
  double least = pairs_square_open(dx, dy, dz);
  for (int k = 0; k < w->images; ++k) {
    const double one =
        pairs_square_open(dx + w->shifts[k].x, dy + w->shifts[k].y, dz + w->shifts[k].z);
    if (one < least) least = one;
  }
  return least;
}

static int64_t slot_of(const work *w, double d2) {
  const int64_t bins = w->problem->bins;
  if (isnan(d2)) return bins + PAIRS_NAN;
  if (w->problem->even) {
    const double at = sqrt(d2) / w->problem->width;
    return at < (double)bins ? (int64_t)at : bins + PAIRS_ABOVE;
  }
  if (d2 < w->thresholds[0]) return bins + PAIRS_BELOW;
  if (d2 >= w->thresholds[bins]) return bins + PAIRS_ABOVE;
  int64_t under = 0, over = bins;
  while (over - under > 1) {
    const int64_t middle = (under + over) / 2;
    *(w->thresholds[middle] <= d2 ? &under : &over) = middle;
  }
  return under;
}

static double largest(const points *set) {
  double most = 0;
  for (int64_t i = 0; i < set->n; ++i) {
    const double magnitude = fabs(set->weights[i]);
    if (!(magnitude <= most)) most = magnitude;
    if (isnan(magnitude)) break;
  }
  return most;
}

/* Point i of a with points [first, ...) of b. */
static void count_one(work *w, const points *a, int64_t i, const points *b, const pairs_point *at,
                      int64_t first) {
  const pairs_point p = pairs_place_of(w->problem, a->at, i);
  for (int64_t j = first; j < b->n; ++j) {
    if (w->problem->excluding && pairs_excluded(a->molecules[i], b->molecules[j])) continue;
    const int64_t slot = slot_of(w, square(w, p, at[j]));
    w->slots[slot] += 1;
    if (w->problem->weighted && slot < w->problem->bins)
      pairs_sum_units(&w->sums[slot], pairs_units(a->weights[i], b->weights[j], w->exponent));
  }
}

bool pairs_reference(const pairs_problem *problem, const rung_view *arrays, int64_t *slots,
                     double *sums) {
  const points a = points_of(problem, arrays, false),
               b = problem->cross ? points_of(problem, arrays, true) : a;
  work w = {.problem = problem,
            .thresholds = (const double *)arrays[PAIRS_THRESHOLDS].data,
            .slots = slots};
  w.sums = (pairs_sum *)calloc((size_t)problem->bins, sizeof *w.sums);
  pairs_point *at = (pairs_point *)malloc((size_t)(b.n + 1) * sizeof *at);
  const bool room = w.sums != NULL && at != NULL;
  if (room) {
    set_shifts(&w);
    for (int64_t j = 0; j < b.n; ++j) at[j] = pairs_place_of(problem, b.at, j);
    if (problem->weighted) w.exponent = pairs_exponent(largest(&a), largest(&b));
    memset(slots, 0, (size_t)(problem->bins + PAIRS_OUTER) * sizeof *slots);
    for (int64_t i = 0; i < a.n; ++i) count_one(&w, &a, i, &b, at, problem->cross ? 0 : i + 1);
    for (int k = 0; k < problem->bins && sums != NULL && problem->weighted; ++k)
      sums[k] = pairs_sum_value(w.sums[k].low, w.sums[k].high, w.exponent);
  }
  free(w.sums);
  free(at);
  return room;
}
