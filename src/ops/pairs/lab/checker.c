/* What must come out of a case of pairs, and whether it did. Counts are exact, and so are sums:
 * right or wrong.
 *
 * Jobs of many points take the reference too long. Those of the report's points have tables
 * (golden.c); a cut-off in open space or a rectangular box goes by a grid; of what is left only the
 * number of pairs is checked, and the case's label says so: checked=totals. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/compare.h"
#include "ops/pairs/lab/cases.h"
#include "ops/pairs/space.h"

/* Squares of distances that the reference and its grid may take: seconds. */
#define SQUARES 3e8
#define GRID_SQUARES 6e9

typedef struct expected_pairs {
  int64_t *slots;
  double *sums;    /* where they are asked for */
  pairs_near near; /* made when counts of another order are first checked */
} expected_pairs;

static const int64_t *table_of(const pairs_problem *p, bool report) {
  const bool plain = report && !p->cross && !p->weighted && !p->excluding && p->even &&
                     p->width == 500 && p->bins == 80 && p->dtype == RUNG_F64;
  return plain ? pairs_golden(p->n) : NULL;
}

static bool reference_can(const pairs_problem *p) {
  const double images = p->box.space == PAIRS_OPEN ? 1 : 125;
  return (double)pairs_all(p) * images <= SQUARES;
}

/* Cells are a little wider than the last edge, three along an axis at least: 27 of them hold that
 * share of all pairs. */
static bool grid_can(const pairs_problem *p) {
  double share = 27;
  if (p->box.space == PAIRS_TRICLINIC || p->weighted || p->excluding) return false;
  for (int i = 0; i < 3; ++i) {
    const double side = p->box.space == PAIRS_OPEN ? p->extent[i] : p->box.height[i];
    if (!(side >= 3.01 * p->last)) return false;
    share *= p->last / side;
  }
  return share * (double)pairs_all(p) <= GRID_SQUARES;
}

pairs_judging pairs_usual_judging(const pairs_problem *p, bool report) {
  return table_of(p, report) != NULL || reference_can(p) || grid_can(p) ? PAIRS_WHOLE
                                                                        : PAIRS_TOTALS;
}

bool pairs_count(const pairs_problem *p, const rung_view *arrays, int64_t *slots, double *sums) {
  if (!reference_can(p) && grid_can(p)) return pairs_reference_grid(p, arrays, slots);
  return pairs_reference(p, arrays, slots, sums);
}

/* ---- expecting --------------------------------------------------------------------------------
 */

static bool fill_expected(const rung_case *test_case, expected_pairs *expected) {
  const pairs_case *t = (const pairs_case *)test_case->problem;
  const pairs_problem *p = &t->problem;
  const int64_t *table = table_of(p, t->report);
  if (table != NULL) {
    memset(expected->slots, 0, (size_t)(p->bins + PAIRS_OUTER) * sizeof(int64_t));
    memcpy(expected->slots, table, (size_t)p->bins * sizeof(int64_t));
    return true;
  }
  return pairs_count(p, test_case->arrays, expected->slots, expected->sums);
}

rung_status pairs_expect(rung_case *test_case, rung_error *error) {
  if (test_case->expected != NULL) return RUNG_OK;
  const pairs_case *t = (const pairs_case *)test_case->problem;
  if (t->judging == PAIRS_TOTALS) return RUNG_OK;
  const size_t bins = (size_t)t->problem.bins;
  expected_pairs *expected = (expected_pairs *)calloc(1, sizeof *expected);
  bool room = expected != NULL;
  if (room) {
    expected->slots = (int64_t *)calloc(bins + PAIRS_OUTER, sizeof(int64_t));
    expected->sums = (double *)calloc(bins, sizeof(double));
    room = expected->slots != NULL && expected->sums != NULL && fill_expected(test_case, expected);
  }
  test_case->expected = expected;
  if (room) return RUNG_OK;
  pairs_forget(test_case);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the reference",
                   test_case->label);
}

void pairs_forget(rung_case *test_case) {
  expected_pairs *expected = (expected_pairs *)test_case->expected;
  if (expected != NULL) {
    free(expected->slots);
    free(expected->sums);
    pairs_near_free(&expected->near);
  }
  free(expected);
  test_case->expected = NULL;
}

/* ---- checking ---------------------------------------------------------------------------------
 */

enum { COUNTS, OUTSIDE, SUMS };

static void wrong_at(int output, int64_t at, double found, double wanted, bool unwritten,
                     rung_comparison *comparison) {
  rung_compare_error(comparison, fabs(found - wanted));
  rung_compare_wrong(comparison, output, at, found, wanted, unwritten);
}

/* The poison of counts is -1, which no count is. */
static void check_counts(const rung_view *view, const int64_t *wanted, int output,
                         rung_comparison *comparison) {
  const int64_t *found = (const int64_t *)view->data;
  for (int64_t k = 0; k < view->count; ++k) {
    if (found[k] == wanted[k]) continue;
    wrong_at(output, k, (double)found[k], (double)wanted[k], found[k] == -1, comparison);
  }
}

static void check_sums(const rung_view *view, const double *wanted, rung_comparison *comparison) {
  const double *found = (const double *)view->data;
  for (int64_t k = 0; k < view->count; ++k) {
    const bool unwritten = rung_is_poison(RUNG_F64, found, k);
    if (unwritten || !rung_same_bits(RUNG_F64, found, wanted, k))
      wrong_at(SUMS, k, found[k], wanted[k], unwritten, comparison);
  }
}

/* All that was counted; modulo 2^64, for what was not written may be anything. */
static uint64_t total_of(const rung_view *outputs) {
  uint64_t total = 0;
  for (int output = COUNTS; output <= OUTSIDE; ++output)
    for (int64_t k = 0; k < outputs[output].count; ++k)
      total += ((const uint64_t *)outputs[output].data)[k];
  return total;
}

/* Every pair once, if it is known how many: molecules and what is not asked for keep some out. */
static void check_total(const pairs_problem *p, const rung_view *outputs,
                        rung_comparison *comparison) {
  const uint64_t all = (uint64_t)pairs_all(p), total = total_of(outputs);
  const bool some = p->excluding || outputs[OUTSIDE].count == 0;
  for (int output = COUNTS; output <= OUTSIDE; ++output)
    for (int64_t k = 0; k < outputs[output].count; ++k) {
      const int64_t found = ((const int64_t *)outputs[output].data)[k];
      if (found < 0) wrong_at(output, k, (double)found, 0, found == -1, comparison);
    }
  if (comparison->wrong == 0 && (some ? total > all : total != all))
    wrong_at(COUNTS, 0, (double)total, (double)all, false, comparison);
}

static void explain(const pairs_problem *p, const rung_view *outputs, pairs_judging judging,
                    rung_comparison *j) {
  static const char *const outer[] = {"pairs below", "pairs above", "pairs at no distance"};
  char what[48];
  const int64_t results = outputs[COUNTS].count + outputs[OUTSIDE].count + outputs[SUMS].count;
  snprintf(what, sizeof what, "%s %" PRId64, j->output == SUMS ? "the sum of bin" : "bin",
           j->first);
  const char *const name = j->output == OUTSIDE ? outer[j->first] : what;
  if (j->unwritten > 0)
    snprintf(j->sentence, sizeof j->sentence,
             "%" PRId64 " of %" PRId64 " results were not written; the first wrong one is: %s",
             j->unwritten, results, name);
  else if (judging == PAIRS_TOTALS && j->found >= 0)
    snprintf(j->sentence, sizeof j->sentence,
             "the counts come to %" PRIu64 " pairs, and there are %" PRId64, total_of(outputs),
             pairs_all(p));
  else
    snprintf(j->sentence, sizeof j->sentence,
             "%" PRId64 " of %" PRId64
             " results are wrong; %s: %.17g where the reference has %.17g; the counts come to "
             "%" PRIu64 " of %" PRId64 " pairs",
             j->wrong, results, name, j->found, j->wanted, total_of(outputs), pairs_all(p));
}

static bool all_written(const rung_view *outputs) {
  for (int output = COUNTS; output <= OUTSIDE; ++output)
    for (int64_t k = 0; k < outputs[output].count; ++k)
      if (((const int64_t *)outputs[output].data)[k] < 0) return false;
  return true;
}

/* The textbook's order is another program's, in single precision: it is held against what may come
 * of that, where there is memory to find out; else it has to be exact like the others. */
static bool may_be_near(const rung_case *test_case, rung_order order, const rung_view *outputs) {
  const pairs_case *t = (const pairs_case *)test_case->problem;
  expected_pairs *expected = (expected_pairs *)test_case->expected;
  if (order != RUNG_TEXTBOOK || t->judging == PAIRS_TOTALS || outputs[OUTSIDE].count == 0 ||
      outputs[SUMS].count > 0 || !all_written(outputs))
    return false;
  return expected->near.least != NULL ||
         pairs_near_of(&t->problem, test_case->arrays, &expected->near);
}

void pairs_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                 rung_comparison *comparison) {
  const pairs_case *t = (const pairs_case *)test_case->problem;
  const expected_pairs *expected = (const expected_pairs *)test_case->expected;
  *comparison = (rung_comparison){.first = -1};
  if (may_be_near(test_case, rung->order, outputs)) {
    pairs_near_check(test_case, &expected->near, expected->slots, outputs, comparison);
    return;
  }
  if (t->judging == PAIRS_TOTALS) {
    check_total(&t->problem, outputs, comparison);
  } else {
    check_counts(&outputs[COUNTS], expected->slots, COUNTS, comparison);
    check_counts(&outputs[OUTSIDE], expected->slots + t->problem.bins, OUTSIDE, comparison);
    check_sums(&outputs[SUMS], expected->sums, comparison);
  }
  comparison->pass = comparison->wrong == 0;
  if (!comparison->pass) explain(&t->problem, outputs, t->judging, comparison);
}
