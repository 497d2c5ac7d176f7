/* A stencil trial between its makers: trials.c draws it, judge.c judges it. */
#ifndef RUNG_STENCIL_TRIALS_H
#define RUNG_STENCIL_TRIALS_H

#include "core/trial.h"
#include "ops/stencil/stencil.h"

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

typedef struct stencil_trial {
  stencil_problem problem; /* first: a trial's problem is what rungs take */
  stencil_rows rows;
  uint64_t seed;
  int64_t bases;       /* how many rows have references */
  bool scaled;         /* row i is base i % bases times stencil_row_scale() */
  stencil_start start; /* heat, own: what the start is made by */
} stencil_trial;

/* 1, then other powers of two each time the bases come round again. */
double stencil_row_scale(const stencil_trial *trial, int64_t i);

rung_status stencil_expect(rung_trial *trial, rung_error *error);
void stencil_drop_expected(rung_trial *trial);
void stencil_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                   rung_judgement *judgement);

#endif
