/* What single precision makes of a job. Its coordinates and box are rounded to floats, and so are
 * their differences and shifts: a distance may be off by SLACK units in the last place of the
 * largest coordinate, and a bin's number by a few roundings of its own. So the pairs counted below
 * an edge are those below a little less than it at least, and those below a little more at most:
 * two numbers an edge, counted by the reference. What one bin gained another lost; nothing else may
 * differ. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/numbers.h"
#include "ops/pairs/lab/cases.h"
#include "ops/pairs/space.h"

/* Along an axis: half a unit for each of two coordinates and for the box, as much for bringing both
 * into the box and for a shift; three axes are sqrt(3) times as much. */
#define SLACK 5
#define BIN_SLACK (2 * FLT_EPSILON)

/* One unit in the last place of the largest coordinate there is, as a float. */
static double unit_of(const pairs_problem *p, const rung_view *arrays) {
  double most = 0;
  for (int64_t i = 0; i < 3 * p->n; ++i)
    most = fmax(most, fabs(rung_number_at(p->dtype, arrays[PAIRS_A].data, i)));
  for (int64_t i = 0; i < 3 * p->m && p->cross; ++i)
    most = fmax(most, fabs(rung_number_at(p->dtype, arrays[PAIRS_B].data, i)));
  for (int i = 0; i < 3 && p->box.space != PAIRS_OPEN; ++i)
    most = fmax(most, fabs(p->box.cell[i][i]));
  const float largest = (float)most;
  return (double)(nextafterf(largest, INFINITY) - largest);
}

/* below[k] = pairs below edge k, each edge moved by `units` and a share of itself. */
static bool count_below(const pairs_problem *problem, const rung_view *arrays, double units,
                        double share, int64_t *below) {
  const int64_t bins = problem->bins;
  rung_view moved[PAIRS_ARRAYS];
  double *thresholds = (double *)malloc((size_t)(bins + 1) * sizeof *thresholds);
  int64_t *slots = (int64_t *)calloc((size_t)(bins + PAIRS_OUTER), sizeof *slots);
  bool room = thresholds != NULL && slots != NULL;
  if (room) {
    pairs_problem p = *problem;
    for (int a = 0; a < PAIRS_ARRAYS; ++a) moved[a] = arrays[a];
    const double *at = (const double *)arrays[PAIRS_THRESHOLDS].data;
    for (int64_t k = 0; k <= bins; ++k) {
      const double edge = sqrt(at[k]), to = fmax(0, edge + units + share * edge);
      thresholds[k] = at[k] > 0 ? to * to : 0; /* below 0 there is nothing */
    }
    moved[PAIRS_THRESHOLDS].data = (char *)thresholds;
    p.even = false;
    p.weighted = false;
    p.least = thresholds[0];
    p.largest = thresholds[bins];
    p.last = sqrt(p.largest);
    room = pairs_count(&p, moved, slots, NULL);
    below[0] = slots[bins + PAIRS_BELOW];
    for (int64_t k = 0; k < bins; ++k) below[k + 1] = below[k] + slots[k];
  }
  free(thresholds);
  free(slots);
  return room;
}

bool pairs_near_of(const pairs_problem *problem, const rung_view *arrays, pairs_near *near) {
  const size_t edges = (size_t)problem->bins + 1;
  const double units = SLACK * unit_of(problem, arrays);
  *near = (pairs_near){.least = (int64_t *)malloc(edges * sizeof(int64_t)),
                       .most = (int64_t *)malloc(edges * sizeof(int64_t)),
                       .slack = units + BIN_SLACK * problem->last};
  if (near->least != NULL && near->most != NULL &&
      count_below(problem, arrays, -units, -BIN_SLACK, near->least) &&
      count_below(problem, arrays, units, BIN_SLACK, near->most))
    return true;
  pairs_near_free(near);
  return false;
}

void pairs_near_free(pairs_near *near) {
  free(near->least);
  free(near->most);
  *near = (pairs_near){0};
}

/* ---- judging ----------------------------------------------------------------------------------
 */

/* Modulo 2^64: a program may have written anything. */
static int64_t plus(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void differ(int64_t found, int64_t wanted, rung_comparison *j) {
  const double by = fabs((double)found - (double)wanted);
  j->different += found != wanted;
  if (by > j->worst) j->worst = by;
}

static void wrong(int64_t at, int64_t found, int64_t wanted, rung_comparison *j) {
  j->wrong += 1;
  if (j->first >= 0) return;
  j->first = at;
  j->found = (double)found;
  j->wanted = (double)wanted;
}

void pairs_near_check(const rung_case *test_case, const pairs_near *near, const int64_t *slots,
                      const rung_view *outputs, rung_comparison *j) {
  const pairs_problem *p = &((const pairs_case *)test_case->problem)->problem;
  const int64_t *found = (const int64_t *)outputs[0].data;
  const int64_t *outside = (const int64_t *)outputs[1].data, *outer = slots + p->bins;
  int64_t below = outside[PAIRS_BELOW], exact = outer[PAIRS_BELOW];
  for (int64_t k = 0; k <= p->bins; ++k) {
    j->bound = fmax(j->bound, (double)(near->most[k] - near->least[k]));
    if (below < near->least[k] || below > near->most[k]) wrong(k, below, exact, j);
    if (k == p->bins) break;
    differ(found[k], slots[k], j);
    below = plus(below, found[k]);
    exact += slots[k];
  }
  for (int i = 0; i < PAIRS_OUTER; ++i) differ(outside[i], outer[i], j);
  const int64_t all = plus(below, plus(outside[PAIRS_ABOVE], outside[PAIRS_NAN]));
  const bool whole = all == pairs_all(p) && outside[PAIRS_NAN] == outer[PAIRS_NAN];
  if (!whole) j->wrong += 1;
  j->pass = j->wrong == 0;
  if (j->pass && j->different > 0)
    snprintf(j->sentence, sizeof j->sentence,
             "%" PRId64
             " of %d counts are not the exact ones, by %.0f at most: pairs within %.2g of an edge",
             j->different, p->bins + PAIRS_OUTER, j->worst, near->slack);
  else if (!j->pass && j->first >= 0)
    snprintf(j->sentence, sizeof j->sentence,
             "%" PRId64
             " of %d edges have more or fewer pairs below them than single precision makes "
             "of it; below edge %" PRId64 ", at %.9g, %.0f are counted where %" PRId64
             " to %" PRId64 " are allowed and %.0f are exact",
             j->wrong, p->bins + 1, j->first,
             sqrt(((const double *)test_case->arrays[PAIRS_THRESHOLDS].data)[j->first]), j->found,
             near->least[j->first], near->most[j->first], j->wanted);
  else if (!j->pass)
    snprintf(j->sentence, sizeof j->sentence,
             "the counts come to %" PRId64 " pairs, and there are %" PRId64, all, pairs_all(p));
}
