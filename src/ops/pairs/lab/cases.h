/* What the files of pairs' cases share: how jobs are made, and how results are checked. */
#ifndef RUNG_PAIRS_LAB_CASES_H
#define RUNG_PAIRS_LAB_CASES_H

#include "lab/case.h"
#include "ops/pairs/pairs.h"

extern const rung_cases pairs_cases;

/* The histogram of a job, naive (reference.c): slots[0 ... bins + PAIRS_OUTER). `sums` may be
 * NULL. Arrays as in the task, on the host. False: no memory. */
bool pairs_reference(const pairs_problem *problem, const rung_view *arrays, int64_t *slots,
                     double *sums);

/* The same of a cut-off in open space or a rectangular box, by a grid of its own and without sums
 * and molecules (grid.c). False: no memory. */
bool pairs_reference_grid(const pairs_problem *problem, const rung_view *arrays, int64_t *slots);

/* How much of a case's result is checked: all of it, or the number of pairs counted alone. */
typedef enum pairs_judging { PAIRS_WHOLE, PAIRS_TOTALS } pairs_judging;

/* What rung_case's problem points to: first what rungs see. */
typedef struct pairs_case {
  pairs_problem problem;
  pairs_judging judging;
  bool report;    /* the points are the report's */
  double centred; /* the width of bins centred on its multiples; 0: they are not */
  int decimals;   /* the points' coordinates are the nearest to numbers of so many; 0: any */
} pairs_case;

/* Edge k of bins centred on the multiples of a width. */
static inline double pairs_centred_edge(double width, int64_t k) {
  return k > 0 ? ((double)k - 0.5) * width : 0;
}

/* The way a case of this size is checked unless its line says otherwise. */
pairs_judging pairs_usual_judging(const pairs_problem *problem, bool report);

rung_status pairs_expect(rung_case *test_case, rung_error *error);
void pairs_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                 rung_comparison *comparison);
void pairs_forget(rung_case *test_case); /* frees what pairs_expect() made */

/* The counts of a job by whichever reference can; `sums` may be NULL. False: no memory. */
bool pairs_count(const pairs_problem *problem, const rung_view *arrays, int64_t *slots,
                 double *sums);

/* near.c: what a program that computes in single precision may count of a case's pairs. */
typedef struct pairs_near {
  int64_t *least, *most; /* so many below each edge, bins + 1 of them; owned */
  double slack;          /* so near to the last edge, and nearer to others, a pair may lie on either
                            side */
} pairs_near;
/* False: no memory, nothing to free. */
bool pairs_near_of(const pairs_problem *problem, const rung_view *arrays, pairs_near *near);
void pairs_near_free(pairs_near *near);
/* Written counts and what is outside against `slots`, the exact ones. */
void pairs_near_check(const rung_case *test_case, const pairs_near *near, const int64_t *slots,
                      const rung_view *outputs, rung_comparison *comparison);

/* golden.c: the counts of the report's points by bins of 500, 80 of them; NULL: not of so many. */
const int64_t *pairs_golden(int64_t n);

#endif
