/* What must come out of a trial of pairs, and whether it did. Counts are exact, and so are sums:
 * right or wrong.
 *
 * Jobs of many points take the reference too long. Those of the report's points have tables
 * (golden.c); a cut-off in open space or a rectangular box goes by a grid; of what is left only the
 * number of pairs is judged, and the trial's label says so: judged=totals. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/pairs/space.h"
#include "ops/pairs/trials.h"

/* Squares of distances that the reference and its grid may take: seconds. */
#define SQUARES 3e8
#define GRID_SQUARES 6e9

typedef struct expected_pairs {
  int64_t *slots;
  double *sums;    /* where they are asked for */
  pairs_near near; /* made when counts of another order are first judged */
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

static bool fill_expected(const rung_trial *trial, expected_pairs *expected) {
  const pairs_trial *t = (const pairs_trial *)trial->problem;
  const pairs_problem *p = &t->problem;
  const int64_t *table = table_of(p, t->report);
  if (table != NULL) {
    memset(expected->slots, 0, (size_t)(p->bins + PAIRS_OUTER) * sizeof(int64_t));
    memcpy(expected->slots, table, (size_t)p->bins * sizeof(int64_t));
    return true;
  }
  return pairs_count(p, trial->arrays, expected->slots, expected->sums);
}

rung_status pairs_expect(rung_trial *trial, rung_error *error) {
  if (trial->expected != NULL) return RUNG_OK;
  const pairs_trial *t = (const pairs_trial *)trial->problem;
  if (t->judging == PAIRS_TOTALS) return RUNG_OK;
  const size_t bins = (size_t)t->problem.bins;
  expected_pairs *expected = (expected_pairs *)calloc(1, sizeof *expected);
  bool room = expected != NULL;
  if (room) {
    expected->slots = (int64_t *)calloc(bins + PAIRS_OUTER, sizeof(int64_t));
    expected->sums = (double *)calloc(bins, sizeof(double));
    room = expected->slots != NULL && expected->sums != NULL && fill_expected(trial, expected);
  }
  trial->expected = expected;
  if (room) return RUNG_OK;
  pairs_forget(trial);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the reference", trial->label);
}

void pairs_forget(rung_trial *trial) {
  expected_pairs *expected = (expected_pairs *)trial->expected;
  if (expected != NULL) {
    free(expected->slots);
    free(expected->sums);
    pairs_near_free(&expected->near);
  }
  free(expected);
  trial->expected = NULL;
}

/* ---- judging ----------------------------------------------------------------------------------
 */

enum { COUNTS, OUTSIDE, SUMS };

static void wrong_at(int output, int64_t at, double found, double wanted,
                     rung_judgement *judgement) {
  const double error = fabs(found - wanted);
  judgement->wrong += 1;
  if (!(error <= judgement->worst)) judgement->worst = error;
  if (judgement->first >= 0) return;
  judgement->output = output;
  judgement->first = at;
  judgement->found = found;
  judgement->wanted = wanted;
}

static void judge_counts(const rung_view *view, const int64_t *wanted, int output,
                         rung_judgement *judgement) {
  const int64_t *found = (const int64_t *)view->data;
  for (int64_t k = 0; k < view->count; ++k) {
    if (found[k] == wanted[k]) continue;
    judgement->unwritten += found[k] == -1; /* the poison; no count is */
    wrong_at(output, k, (double)found[k], (double)wanted[k], judgement);
  }
}

static void judge_sums(const rung_view *view, const double *wanted, rung_judgement *judgement) {
  const double *found = (const double *)view->data;
  for (int64_t k = 0; k < view->count; ++k) {
    uint64_t bits, right;
    memcpy(&bits, &found[k], sizeof bits);
    memcpy(&right, &wanted[k], sizeof right);
    if (bits == right || (isnan(found[k]) && isnan(wanted[k]) && bits != UINT64_MAX)) continue;
    judgement->unwritten += bits == UINT64_MAX;
    judgement->nans += isnan(found[k]) && !isnan(wanted[k]);
    wrong_at(SUMS, k, found[k], wanted[k], judgement);
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
static void judge_total(const pairs_problem *p, const rung_view *outputs,
                        rung_judgement *judgement) {
  const uint64_t all = (uint64_t)pairs_all(p), total = total_of(outputs);
  const bool some = p->excluding || outputs[OUTSIDE].count == 0;
  for (int output = COUNTS; output <= OUTSIDE; ++output)
    for (int64_t k = 0; k < outputs[output].count; ++k)
      if (((const int64_t *)outputs[output].data)[k] < 0) {
        judgement->unwritten += ((const int64_t *)outputs[output].data)[k] == -1;
        wrong_at(output, k, (double)((const int64_t *)outputs[output].data)[k], 0, judgement);
      }
  if (judgement->wrong == 0 && (some ? total > all : total != all))
    wrong_at(COUNTS, 0, (double)total, (double)all, judgement);
}

static void explain(const pairs_problem *p, const rung_view *outputs, pairs_judging judging,
                    rung_judgement *j) {
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
static bool may_be_near(const rung_trial *trial, rung_order order, const rung_view *outputs) {
  const pairs_trial *t = (const pairs_trial *)trial->problem;
  expected_pairs *expected = (expected_pairs *)trial->expected;
  if (order != RUNG_TEXTBOOK || t->judging == PAIRS_TOTALS || outputs[OUTSIDE].count == 0 ||
      outputs[SUMS].count > 0 || !all_written(outputs))
    return false;
  return expected->near.least != NULL || pairs_near_of(&t->problem, trial->arrays, &expected->near);
}

void pairs_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                 rung_judgement *judgement) {
  const pairs_trial *t = (const pairs_trial *)trial->problem;
  const expected_pairs *expected = (const expected_pairs *)trial->expected;
  *judgement = (rung_judgement){.first = -1};
  if (may_be_near(trial, order, outputs)) {
    pairs_near_judge(trial, &expected->near, expected->slots, outputs, judgement);
    return;
  }
  if (t->judging == PAIRS_TOTALS) {
    judge_total(&t->problem, outputs, judgement);
  } else {
    judge_counts(&outputs[COUNTS], expected->slots, COUNTS, judgement);
    judge_counts(&outputs[OUTSIDE], expected->slots + t->problem.bins, OUTSIDE, judgement);
    judge_sums(&outputs[SUMS], expected->sums, judgement);
  }
  judgement->pass = judgement->wrong == 0;
  if (!judgement->pass) explain(&t->problem, outputs, t->judging, judgement);
}
