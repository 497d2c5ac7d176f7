/* What the files of correlate's cases share: how jobs are made, and how results are checked. */
#ifndef RUNG_CORRELATE_LAB_CASES_H
#define RUNG_CORRELATE_LAB_CASES_H

#include "lab/case.h"
#include "ops/correlate/correlate.h"

extern const rung_cases correlate_cases;

/* Rows of a large image are copies of the first so many, row r of r % CORRELATE_BASE: every result
 * can be checked at the cost of few. A prime, and so no kernel's tile. */
enum { CORRELATE_BASE = 61, CORRELATE_SMALL = 256 };

static inline int64_t correlate_base(const correlate_problem *p) {
  return p->height > CORRELATE_SMALL ? CORRELATE_BASE : p->height;
}

/* References (reference.c), naive: row y of kernel k of what must come out, of out's type. `line`
 * and `sums` are the row's own memory: of correlate_line() and p->columns * p->channels numbers of
 * 8 bytes. */
typedef struct correlate_place {
  const rung_view *in;
  int64_t k, y;
} correlate_place;
static inline int64_t correlate_line(const correlate_problem *p) {
  return (p->columns + p->kernel_columns - 1) * p->channels;
}
void correlate_reference_strict(const correlate_problem *p, const correlate_place *at, void *line,
                                void *sums, void *result);

/* An element in long double, and the magnitudes of its terms. */
typedef struct correlate_wide {
  long double sum, magnitude;
} correlate_wide;
correlate_wide correlate_reference_wide(const correlate_problem *p, const correlate_place *at,
                                        int64_t x);

rung_status correlate_expect(rung_case *test_case, rung_error *error);
void correlate_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                     rung_comparison *comparison);
void correlate_forget(rung_case *test_case); /* frees what correlate_expect() made */

#endif
