/* What a job of pairs is, in numbers: its bins checked and turned into thresholds, its box. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ops/pairs/space.h"

/* Pairs that a counter of 32 bits surely holds. */
#define FLUSH ((int64_t)1 << 31)

/* ---- checking the bins --------------------------------------------------------------------------
 */

static rung_status check_edges(rung_error *error, const rung_distances *bins) {
  for (int64_t k = 0; k <= bins->count; ++k) {
    if (!isfinite(bins->edges[k]))
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "bins->edges[%" PRId64 "] is %g; expected: a finite number", k,
                       bins->edges[k]);
    if (!(bins->edges[k] >= 0))
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "bins->edges[%" PRId64 "] is %.17g; expected: a distance, 0 or above", k,
                       bins->edges[k]);
    if (k > 0 && !(bins->edges[k - 1] < bins->edges[k]))
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "bins->edges[%" PRId64
                       "] is %.17g, and the edge before it %.17g; expected: one above it",
                       k, bins->edges[k], bins->edges[k - 1]);
  }
  return RUNG_OK;
}

static rung_status check_bins(rung_error *error, const rung_distances *bins) {
  if (bins->count < 1 || bins->count > RUNG_MAX_BINS)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "bins->count is %" PRId64 "; expected: 1 ... %d",
                     bins->count, RUNG_MAX_BINS);
  if (bins->edges != NULL) return check_edges(error, bins);
  if (!(bins->width > 0) || !isfinite(bins->width))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "bins->width is %.17g; expected: a finite number above 0", bins->width);
  if (!isfinite((double)bins->count * bins->width))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "bins->width is %.17g, and %" PRId64
                     " bins of it reach beyond 2^1024; expected: less",
                     bins->width, bins->count);
  return RUNG_OK;
}

static rung_status check_size(rung_error *error, const char *name, int64_t n) {
  if (n <= PAIRS_MOST) return RUNG_OK;
  return rung_fail(error, RUNG_TOO_LARGE, "%s has %" PRId64 " points; expected: at most 2^31 - 1",
                   name, n);
}

/* ---- thresholds -------------------------------------------------------------------------------
 */

static double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Whether a pair of this d2 is at or beyond edge k: the contract itself. Once true, true for all
 * that is larger, for rounded roots and quotients never fall. */
static bool reaches(const rung_distances *bins, int64_t k, double d2) {
  const double d = sqrt(d2);
  return bins->edges != NULL ? d >= bins->edges[k] : d / bins->width >= (double)k;
}

/* The least double that reaches edge k. Doubles from 0 up are in their bits' order: strides of 1,
 * 2, 4 ... bits from a guess find one on either side, and halving what is between. */
static double threshold(const rung_distances *bins, int64_t k) {
  const double edge = bins->edges != NULL ? bins->edges[k] : (double)k * bins->width;
  const uint64_t top = bits_of((double)INFINITY);
  uint64_t at = bits_of(fmin(edge * edge, DBL_MAX)), stride = 1;
  if (reaches(bins, k, 0)) return 0;
  uint64_t under, over; /* under does not reach it, over does */
  if (reaches(bins, k, of_bits(at))) {
    for (over = at; at > stride && reaches(bins, k, of_bits(at - stride)); stride *= 2)
      over = at - stride;
    under = at > stride ? at - stride : 0;
  } else {
    for (under = at; top - at > stride && !reaches(bins, k, of_bits(at + stride)); stride *= 2)
      under = at + stride;
    over = top - at > stride ? at + stride : top;
  }
  while (over - under > 1) {
    const uint64_t middle = under + (over - under) / 2;
    if (reaches(bins, k, of_bits(middle)))
      over = middle;
    else
      under = middle;
  }
  return of_bits(over);
}

/* ---- the problem ------------------------------------------------------------------------------
 */

rung_status pairs_problem_of(rung_error *error, const rung_distances *bins, const rung_box *box,
                             int64_t n, int64_t m, bool cross, pairs_problem *problem,
                             double *thresholds) {
  rung_status status = check_bins(error, bins);
  if (status == RUNG_OK) status = check_size(error, "a", n);
  if (status == RUNG_OK && cross) status = check_size(error, "b", m);
  if (status != RUNG_OK) return status;
  *problem = (pairs_problem){.dtype = RUNG_F64,
                             .n = n,
                             .m = cross ? m : 0,
                             .cross = cross,
                             .bins = (int)bins->count,
                             .even = bins->edges == NULL,
                             .width = bins->edges == NULL ? bins->width : 0,
                             .flush = FLUSH};
  problem->last = problem->even ? (double)bins->count * bins->width : bins->edges[bins->count];
  status = pairs_box_of(error, box, problem->last, &problem->box);
  if (status != RUNG_OK) return status;
  if (box != NULL && problem->last > problem->box.reach)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "bins end at %.17g, where it is not clear which images are meant; expected: at most "
        "%.17g (half the shortest vector between images)",
        problem->last, problem->box.reach);
  problem->least = threshold(bins, 0);
  problem->largest = threshold(bins, bins->count);
  for (int64_t k = 0; k <= bins->count && thresholds != NULL; ++k)
    thresholds[k] = threshold(bins, k);
  problem->bytes = (double)(n + problem->m) * 3 * sizeof(double) +
                   ((double)bins->count + PAIRS_OUTER) * sizeof(int64_t);
  return RUNG_OK;
}

/* ---- where points are -------------------------------------------------------------------------
 */

static double coordinate(const rung_view *view, int64_t point, int axis) {
  const int64_t at = point * view->stride[0] + axis * view->stride[1];
  return rung_number_at(view->dtype, view->data, at);
}

void pairs_find_ends(const rung_view *view, double low[3], double high[3]) {
  for (int64_t i = 0; i < (view->count > 0 ? view->shape[0] : 0); ++i) {
    const double x[3] = {coordinate(view, i, 0), coordinate(view, i, 1), coordinate(view, i, 2)};
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) continue;
    for (int k = 0; k < 3; ++k) {
      low[k] = fmin(low[k], x[k]);
      high[k] = fmax(high[k], x[k]);
    }
  }
}

void pairs_set_reach(pairs_problem *problem, const double low[3], const double high[3]) {
  problem->known = true;
  for (int k = 0; k < 3; ++k) {
    problem->extent[k] = high[k] >= low[k] ? high[k] - low[k] : 0;
    problem->known =
        problem->known && isfinite(low[k]) && isfinite(high[k]) && isfinite(problem->extent[k]);
  }
  for (int k = 0; k < 3 && !problem->known; ++k) problem->extent[k] = 0;
}

void pairs_look(pairs_problem *problem, const rung_view *a, const rung_view *b) {
  double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  problem->known = false;
  if (problem->box.space != PAIRS_OPEN || a->place != RUNG_HOST || b->place != RUNG_HOST) return;
  pairs_find_ends(a, low, high);
  pairs_find_ends(b, low, high);
  pairs_set_reach(problem, low, high);
}
