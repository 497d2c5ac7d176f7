/* What the files of pairs' trials share: how jobs are made, and how results are judged. */
#ifndef RUNG_PAIRS_TRIALS_H
#define RUNG_PAIRS_TRIALS_H

#include "ops/pairs/pairs.h"

/* How much of a trial's result is judged: all of it, or the number of pairs counted alone. */
typedef enum pairs_judging { PAIRS_WHOLE, PAIRS_TOTALS } pairs_judging;

/* What rung_trial's problem points to: first what rungs see. */
typedef struct pairs_trial {
  pairs_problem problem;
  pairs_judging judging;
  bool report; /* the points are the report's */
} pairs_trial;

/* The way a trial of this size is judged unless its line says otherwise. */
pairs_judging pairs_usual_judging(const pairs_problem *problem, bool report);

rung_status pairs_expect(rung_trial *trial, rung_error *error);
void pairs_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                 rung_judgement *judgement);
void pairs_forget(rung_trial *trial); /* frees what pairs_expect() made */

/* golden.c: the counts of the report's points by bins of 500, 80 of them; NULL: not of so many. */
const int64_t *pairs_golden(int64_t n);

#endif
