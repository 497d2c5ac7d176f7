/* A stencil case between its makers: cases.c draws it, checker.c checkers it. */
#ifndef RUNG_STENCIL_LAB_CASES_H
#define RUNG_STENCIL_LAB_CASES_H

#include "lab/case.h"
#include "ops/stencil/stencil.h"

extern const rung_cases stencil_cases;

/* The references: naive, one screen (reference.c). `wide` works in double with the given weights
 * and a division; `strict` in the problem's own dtype by the contract's chain. Both take and give
 * one row; `spare` holds a row more. */
void stencil_reference_wide(const stencil_problem *problem, const double *in, double *out,
                            double *spare);
void stencil_reference_strict(const stencil_problem *problem, const void *in, void *out,
                              void *spare);

/* How the input's rows are made: uniform in [0, 1), the values that break kernels, the radiator's
 * start in an array, the radiator's start made by the rung. */
typedef enum stencil_rows {
  STENCIL_RANDOM,
  STENCIL_SPECIAL,
  STENCIL_HEAT,
  STENCIL_OWN
} stencil_rows;

/* Rows with a reference of their own; a prime, so that it divides no tile. */
enum { STENCIL_BASES = 61 };

typedef struct stencil_case {
  stencil_problem problem; /* first: a case's problem is what rungs take */
  stencil_rows rows;
  uint64_t seed;
  int64_t bases;       /* how many rows have references */
  bool scaled;         /* row i is base i % bases times stencil_row_scale() */
  stencil_start start; /* heat, own: what the start is made by */
} stencil_case;

/* 1, then other powers of two each time the bases come round again. */
double stencil_row_scale(const stencil_case *test_case, int64_t i);

rung_status stencil_expect(rung_case *test_case, rung_error *error);
void stencil_drop_expected(rung_case *test_case);
void stencil_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                   rung_comparison *comparison);

#endif
