/* What the files of matmul's cases share: how jobs are made, and how results are checked. */
#ifndef RUNG_MATMUL_LAB_CASES_H
#define RUNG_MATMUL_LAB_CASES_H

#include "lab/case.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/modes.h"

extern const rung_cases matmul_cases;

/* Of a batch the matrices from here on are copies, number b of b % MATMUL_BASE; of a single matrix
 * the rows of A and C are: so every result can be checked at the cost of so many. A prime, and so
 * no kernel's tile. */
enum { MATMUL_BASE = 61 };

static inline int64_t matmul_base_batch(const matmul_problem *p) {
  return p->batch < MATMUL_BASE ? p->batch : MATMUL_BASE;
}
static inline int64_t matmul_base_rows(const matmul_problem *p) {
  return p->batch == 1 && p->m > MATMUL_BASE ? MATMUL_BASE : p->m;
}

/* The arrays of a case, or copies of them. */
typedef struct matmul_place {
  const rung_view *arrays;
  int64_t batch, row;
} matmul_place;

/* References (reference.c), naive: a row of the contract's results, of C's type, and in long double
 * an element. `chain` is the row's own memory, of n elements of MATMUL_CHAIN bytes. */
enum { MATMUL_CHAIN = 16 };
void matmul_reference_strict(const matmul_problem *p, const matmul_place *at, void *chain,
                             void *result);
typedef struct matmul_wide {
  long double sum, magnitude; /* alpha A B + beta added, and the magnitudes of all terms */
} matmul_wide;
matmul_wide matmul_reference_wide(const matmul_problem *p, const matmul_place *at, int64_t column);
/* Of fixed point: by how much an element's alpha t, before t is rounded, may differ from the exact
 * alpha A B. */
long double matmul_reference_fixed_error(const matmul_problem *p, const matmul_place *at,
                                         int64_t column);
/* A row of the magnitudes, in double; of factors that a mode rounds (NULL: none does), those that
 * the mode's errors are parts of. */
void matmul_reference_magnitudes(const matmul_problem *p, const matmul_mode *mode,
                                 const matmul_place *at, double *row);

rung_status matmul_expect(rung_case *test_case, rung_error *error);
void matmul_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                  rung_comparison *comparison);
void matmul_forget(rung_case *test_case); /* frees what matmul_expect() made */

#endif
