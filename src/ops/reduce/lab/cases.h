/* What the two files of reduce's cases share: how jobs are made, and how results are checked. */
#ifndef RUNG_REDUCE_LAB_CASES_H
#define RUNG_REDUCE_LAB_CASES_H

#include "lab/case.h"
#include "ops/reduce/reduce.h"

extern const rung_cases reduce_cases;

/* One line's references (reference.c), naive; the line's elements lie `stride` apart. `strict` is
 * the contract, in the result's type; `sum` the contract's sum of floats. `wide` is a float's sum
 * or mean in long double, and the same of the magnitudes; of anything else it has nothing to add to
 * `strict`. */
void reduce_reference_strict(const reduce_problem *problem, const void *line, int64_t stride,
                             void *result);
double reduce_reference_sum(const reduce_problem *problem, const void *line, int64_t stride);
double reduce_reference_wide(const reduce_problem *problem, const void *line, int64_t stride,
                             double *magnitude);

/* Of many lines those from here on are copies: line j is line j % REDUCE_BASE, so that every result
 * can be checked at the cost of so many. */
enum { REDUCE_BASE = 61 };

rung_status reduce_expect(rung_case *test_case, rung_error *error);
void reduce_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                  rung_comparison *comparison);
void reduce_forget(rung_case *test_case); /* frees what reduce_expect() made */

#endif
