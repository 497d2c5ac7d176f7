/* What the two files of scan's cases share: how jobs are made, and how results are checked. */
#ifndef RUNG_SCAN_LAB_CASES_H
#define RUNG_SCAN_LAB_CASES_H

#include "lab/case.h"
#include "ops/scan/scan.h"

extern const rung_cases scan_cases;

/* One line's references (reference.c), naive. `strict` is the contract; false where memory ran out.
 * `wide` makes the running sum of floats in long double, an element at a time. */
bool scan_reference_strict(const scan_problem *problem, const void *line, void *result);
void scan_reference_wide(const scan_problem *problem, const void *line, int64_t i, scan_wide *wide);

/* Of many lines those from here on are copies: line j is line j % SCAN_BASE, so that every result
 * can be checked at the cost of so many. */
enum { SCAN_BASE = 61 };

/* The number of line j's first element; the next ones are problem->inner apart. */
static inline int64_t scan_first_of(const scan_problem *problem, int64_t j) {
  return j / problem->inner * problem->inner * problem->columns + j % problem->inner;
}

rung_status scan_expect(rung_case *test_case, rung_error *error);
void scan_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                rung_comparison *comparison);
void scan_forget(rung_case *test_case); /* frees what scan_expect() made */

#endif
