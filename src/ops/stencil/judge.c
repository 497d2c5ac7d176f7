/* Judging a stencil's output: against the contract's chain to the bit, and against the wide
 * reference within the bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/rowmeans/rowmeans.h"
#include "ops/stencil/trials.h"

/* The references of the base rows. Where rows do not repeat (heat, own), base b stands for row
 * row_of(b) alone, the bases spread over the grid. */
typedef struct expected {
  double *wide;  /* bases x columns */
  char *strict;  /* bases x columns, of the problem's dtype */
  double *means; /* bases: of the wide rows */
  char *strict_means;
  double *size; /* bases: the largest magnitude of the start, infinity where one is not finite */
} expected;

double stencil_row_scale(const stencil_trial *t, int64_t i) {
  return t->scaled ? ldexp(1, (int)((i / t->bases * 5) % 16)) : 1;
}

static bool rows_repeat(const stencil_trial *t) {
  return t->rows == STENCIL_RANDOM || t->rows == STENCIL_SPECIAL;
}

static int64_t row_of(const stencil_trial *t, int64_t base) {
  if (rows_repeat(t) || t->bases == t->problem.rows) return base;
  return base * (t->problem.rows - 1) / (t->bases - 1);
}

/* Which base judges row i; -1: none. */
static int64_t base_of(const stencil_trial *t, int64_t i) {
  if (rows_repeat(t)) return i % t->bases;
  if (t->bases == t->problem.rows) return i;
  const int64_t near = i * (t->bases - 1) / (t->problem.rows - 1);
  for (int64_t b = near; b <= near + 1 && b < t->bases; b++)
    if (row_of(t, b) == i) return b;
  return -1;
}

static double element(rung_dtype dtype, const void *data, int64_t i) {
  return dtype == RUNG_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* The start of base row b, as the rung sees it, in the dtype and in double. */
static void start_of(const rung_trial *trial, int64_t b, void *row, double *wide) {
  const stencil_trial *t = trial->problem;
  const stencil_problem *p = &t->problem;
  const int64_t m = p->columns, i = row_of(t, b);
  for (int64_t j = 0; j < m; j++) {
    const double x = t->rows == STENCIL_OWN
                         ? stencil_start_value(&t->start, i, j, m)
                         : element(p->dtype, trial->arrays[STENCIL_IN].data, i * m + j);
    if (p->dtype == RUNG_F32)
      ((float *)row)[j] = (float)x;
    else
      ((double *)row)[j] = x;
    wide[j] = element(p->dtype, row, j);
  }
}

static void expect_row(const rung_trial *trial, expected *e, int64_t b, double *in, void *row,
                       double *spare) {
  const stencil_trial *t = trial->problem;
  const stencil_problem *p = &t->problem;
  const int64_t m = p->columns;
  const size_t bytes = rung_dtype_bytes(p->dtype);
  double magnitude, *wide = e->wide + b * m;
  char *strict = e->strict + (size_t)(b * m) * bytes;
  start_of(trial, b, row, in);
  e->size[b] = p->edge == RUNG_EDGE_CONSTANT ? fabs(p->edge_value) : 0;
  for (int64_t j = 0; j < m; j++) {
    const double x = fabs(in[j]);
    e->size[b] = isfinite(x) ? fmax(e->size[b], x) : INFINITY;
    if (!isfinite(x)) break;
  }
  stencil_reference_wide(p, in, wide, spare);
  stencil_reference_strict(p, row, strict, spare);
  rowmeans_problem means = {.rows = 1, .columns = m, .dtype = p->dtype};
  rowmeans_reference_strict(&means, strict, e->strict_means + (size_t)b * bytes);
  means.dtype = RUNG_F64;
  e->means[b] = rowmeans_reference_wide(&means, wide, &magnitude);
}

void stencil_drop_expected(rung_trial *trial) {
  expected *e = trial->expected;
  if (e == NULL) return;
  free(e->wide);
  free(e->strict);
  free(e->means);
  free(e->strict_means);
  free(e->size);
  free(e);
  trial->expected = NULL;
}

rung_status stencil_expect(rung_trial *trial, rung_error *error) {
  const stencil_trial *t = trial->problem;
  if (trial->expected != NULL) return RUNG_OK;
  const size_t bases = (size_t)t->bases, m = (size_t)t->problem.columns;
  const size_t bytes = rung_dtype_bytes(t->problem.dtype);
  expected *e = calloc(1, sizeof *e);
  double *in = malloc(m * sizeof *in), *spare = malloc(m * sizeof *spare);
  void *row = malloc(m * bytes);
  if (e != NULL) {
    e->wide = malloc(bases * m * sizeof *e->wide);
    e->strict = malloc(bases * m * bytes);
    e->means = malloc(bases * sizeof *e->means);
    e->strict_means = malloc(bases * bytes);
    e->size = malloc(bases * sizeof *e->size);
  }
  trial->expected = e;
  const bool ready = e != NULL && in != NULL && spare != NULL && row != NULL && e->wide != NULL &&
                     e->strict != NULL && e->means != NULL && e->strict_means != NULL &&
                     e->size != NULL;
  if (ready)
    for (int64_t b = 0; b < t->bases; b++) expect_row(trial, e, b, in, row, spare);
  else
    stencil_drop_expected(trial);
  free(in);
  free(spare);
  free(row);
  return ready ? RUNG_OK
               : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the references of %zu rows",
                           bases);
}

/* ---- judging -------------------------------------------------------------------------------- */

/* One element: found, what the contract gives, what the wide reference gives. */
typedef struct sight {
  double found, strict, wide, bound;
} sight;

static bool is_poison(rung_dtype dtype, const void *data, int64_t i) {
  const size_t bytes = rung_dtype_bytes(dtype);
  const unsigned char *at = (const unsigned char *)data + (size_t)i * bytes;
  for (size_t k = 0; k < bytes; k++)
    if (at[k] != RUNG_POISON_BYTE) return false;
  return true;
}

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void look(const sight *s, rung_order order, rung_judgement *judgement, int output,
                 int64_t at) {
  bool good;
  double error = 0;
  if (isfinite(s->bound) && isfinite(s->wide)) {
    error = fabs(s->found - s->wide);
    good = error <= s->bound;
  } else { /* beyond all bounds: the same infinity or a NaN where the contract has one */
    good = isnan(s->strict)   ? isnan(s->found)
           : isinf(s->strict) ? s->found == s->strict
                              : isfinite(s->found);
  }
  if (order == RUNG_CANONICAL) good = good && same_bits(s->found, s->strict);
  if (error > judgement->worst || isnan(error)) judgement->worst = error;
  if (s->bound > judgement->bound && isfinite(s->bound)) judgement->bound = s->bound;
  if (isnan(s->found) && !isnan(s->strict)) judgement->nans++;
  if (good) return;
  if (judgement->wrong++ == 0) {
    judgement->output = output;
    judgement->first = at;
    judgement->found = s->found;
    judgement->wanted = order == RUNG_CANONICAL ? s->strict : s->wide;
  }
}

/* What p steps may add for a row whose largest magnitude is `size`: (2r+1) roundings a step for
 * the chain; the textbook rounds every product and every sum, and divides. */
static double bound_of(const stencil_problem *p, rung_order order, double size) {
  const double eps = p->dtype == RUNG_F32 ? 0x1p-24 : 0x1p-53;
  const double tiny = p->dtype == RUNG_F32 ? 0x1p-149 : 0x1p-1074;
  const double taps = 2 * p->radius + 1;
  const double roundings = order == RUNG_CANONICAL ? taps + 1 : 2 * taps + 2;
  return (double)p->steps * roundings * (eps * size + tiny);
}

static void judge_row(const rung_trial *trial, rung_order order, const rung_view *outputs,
                      int64_t i, int64_t b, rung_judgement *judgement) {
  const stencil_trial *t = trial->problem;
  const stencil_problem *p = &t->problem;
  const expected *e = trial->expected;
  const int64_t m = p->columns;
  const double scale = stencil_row_scale(t, i), size = e->size[b] * scale;
  const double bound = bound_of(p, order, size);
  const double eps = p->dtype == RUNG_F32 ? 0x1p-23 : 0x1p-52;
  for (int64_t j = 0; j < m; j++) {
    const sight s = {
        .found = element(p->dtype, outputs[0].data, i * m + j),
        .strict = element(p->dtype, e->strict, b * m + j) * scale,
        .wide = e->wide[b * m + j] * scale,
        .bound = bound,
    };
    look(&s, order, judgement, 0, i * m + j);
  }
  if (outputs[1].count == 0) return;
  const sight s = {
      .found = element(p->dtype, outputs[1].data, i),
      .strict = element(p->dtype, e->strict_means, b) * scale,
      .wide = e->means[b] * scale,
      .bound = bound + ((order == RUNG_CANONICAL ? 26 * 3 : (double)m) + 1) * eps * size,
  };
  look(&s, order, judgement, 1, i);
}

void stencil_judge(const rung_trial *trial, rung_order order, const rung_view *outputs,
                   rung_judgement *judgement) {
  const stencil_trial *t = trial->problem;
  const stencil_problem *p = &t->problem;
  memset(judgement, 0, sizeof *judgement);
  for (int o = 0; o < 2; o++)
    for (int64_t i = 0; i < outputs[o].count; i++)
      judgement->unwritten += is_poison(p->dtype, outputs[o].data, i);
  for (int64_t i = 0; i < p->rows; i++) {
    const int64_t b = base_of(t, i);
    if (b >= 0) judge_row(trial, order, outputs, i, b, judgement);
  }
  judgement->pass = judgement->wrong == 0 && judgement->unwritten == 0;
  if (judgement->pass) return;
  const int64_t columns = judgement->output == 0 ? p->columns : 1;
  snprintf(judgement->sentence, sizeof judgement->sentence,
           "%lld elements are wrong and %lld unwritten; the first wrong one is %s row %lld, column "
           "%lld: %.9g where %.9g is wanted%s",
           (long long)judgement->wrong, (long long)judgement->unwritten,
           judgement->output == 0 ? "out" : "means", (long long)(judgement->first / columns),
           (long long)(judgement->first % columns), judgement->found, judgement->wanted,
           order == RUNG_CANONICAL ? " to the bit" : " within the bound");
}
