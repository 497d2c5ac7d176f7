/* What the two files of histogram's cases share: how jobs are made, and how results are checked. */
#ifndef RUNG_HISTOGRAM_LAB_CASES_H
#define RUNG_HISTOGRAM_LAB_CASES_H

#include "lab/case.h"
#include "ops/histogram/histogram.h"

extern const rung_cases histogram_cases;

/* The slot of element `at` of a row, naive (reference.c). `edges` may be NULL but for
 * RUNG_BINS_EDGES. */
int64_t histogram_reference(const histogram_problem *problem, const double *edges, const void *row,
                            int64_t at);

/* Of many rows those from here on are copies: row j is row j % HISTOGRAM_BASE. */
enum { HISTOGRAM_BASE = 61 };

rung_status histogram_expect(rung_case *test_case, rung_error *error);
void histogram_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                     rung_comparison *comparison);
void histogram_forget(rung_case *test_case); /* frees what histogram_expect() made */

#endif
