/* Checking a stencil's output: against the contract's chain to the bit, and against the wide
 * reference within the bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "lab/compare.h"
#include "lab/numbers.h"
#include "ops/reduce/lab/cases.h"
#include "ops/stencil/composed.h"
#include "ops/stencil/lab/cases.h"

/* The references of the base rows. Where rows do not repeat (heat, own), base b stands for row
 * row_of(b) alone, the bases spread over the grid. */
typedef struct expected {
  double *wide;  /* bases x columns */
  char *strict;  /* bases x columns, of the problem's dtype */
  double *means; /* bases: of the wide rows */
  char *strict_means;
  double *size; /* bases: the largest magnitude of the start, infinity where one is not finite */
} expected;

double stencil_row_scale(const stencil_case *t, int64_t i) {
  return t->scaled ? ldexp(1, (int)((i / t->bases * 5) % 16)) : 1;
}

static bool rows_repeat(const stencil_case *t) {
  return t->rows == STENCIL_RANDOM || t->rows == STENCIL_SPECIAL;
}

static int64_t row_of(const stencil_case *t, int64_t base) {
  if (rows_repeat(t) || t->bases == t->problem.rows) return base;
  return base * (t->problem.rows - 1) / (t->bases - 1);
}

/* Which base checks row i; -1: none. */
static int64_t base_of(const stencil_case *t, int64_t i) {
  if (rows_repeat(t)) return i % t->bases;
  if (t->bases == t->problem.rows) return i;
  const int64_t near = i * (t->bases - 1) / (t->problem.rows - 1);
  for (int64_t b = near; b <= near + 1 && b < t->bases; b++)
    if (row_of(t, b) == i) return b;
  return -1;
}

/* The start of base row b, as the rung sees it, in the dtype and in double. */
static void start_of(const rung_case *test_case, int64_t b, void *row, double *wide) {
  const stencil_case *t = test_case->problem;
  const stencil_problem *p = &t->problem;
  const int64_t m = p->columns, i = row_of(t, b);
  const rung_traits *traits = rung_traits_of(p->dtype);
  for (int64_t j = 0; j < m; j++) {
    const double x = t->rows == STENCIL_OWN
                         ? stencil_start_value(&t->start, i, j, m)
                         : rung_number_at(p->dtype, test_case->arrays[STENCIL_IN].data, i * m + j);
    traits->store((char *)row + j * (int64_t)traits->bytes, x);
    wide[j] = rung_number_at(p->dtype, row, j);
  }
}

static void expect_row(const rung_case *test_case, expected *e, int64_t b, double *in, void *row,
                       double *spare) {
  const stencil_case *t = test_case->problem;
  const stencil_problem *p = &t->problem;
  const int64_t m = p->columns;
  const size_t bytes = rung_dtype_bytes(p->dtype);
  double magnitude, *wide = e->wide + b * m;
  char *strict = e->strict + (size_t)(b * m) * bytes;
  start_of(test_case, b, row, in);
  e->size[b] = p->edge == RUNG_EDGE_CONSTANT ? fabs(p->edge_value) : 0;
  for (int64_t j = 0; j < m; j++) {
    const double x = fabs(in[j]);
    e->size[b] = isfinite(x) ? fmax(e->size[b], x) : INFINITY;
    if (!isfinite(x)) break;
  }
  stencil_reference_wide(p, in, wide, spare);
  stencil_reference_strict(p, row, strict, spare);
  reduce_problem means = {.what = RUNG_MEAN, .dtype = p->dtype, .result = p->dtype, .columns = m};
  reduce_reference_strict(&means, strict, 1, e->strict_means + (size_t)b * bytes);
  means.dtype = RUNG_F64;
  e->means[b] = reduce_reference_wide(&means, wide, 1, &magnitude);
}

void stencil_drop_expected(rung_case *test_case) {
  expected *e = test_case->expected;
  if (e == NULL) return;
  free(e->wide);
  free(e->strict);
  free(e->means);
  free(e->strict_means);
  free(e->size);
  free(e);
  test_case->expected = NULL;
}

rung_status stencil_expect(rung_case *test_case, rung_error *error) {
  const stencil_case *t = test_case->problem;
  if (test_case->expected != NULL) return RUNG_OK;
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
  test_case->expected = e;
  const bool ready = e != NULL && in != NULL && spare != NULL && row != NULL && e->wide != NULL &&
                     e->strict != NULL && e->means != NULL && e->strict_means != NULL &&
                     e->size != NULL;
  if (ready)
    for (int64_t b = 0; b < t->bases; b++) expect_row(test_case, e, b, in, row, spare);
  else
    stencil_drop_expected(test_case);
  free(in);
  free(spare);
  free(row);
  return ready ? RUNG_OK
               : rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the references of %zu rows",
                           bases);
}

/* ---- checking ------------------------------------------------------------------------------- */

/* One element: found, what the contract gives, what the wide reference gives. */
typedef struct sight {
  double found, strict, wide, bound;
} sight;

static void look(const sight *s, rung_order order, rung_comparison *comparison, int output,
                 int64_t at) {
  bool good;
  double error = 0;
  if (isfinite(s->bound) && isfinite(s->wide)) {
    error = fabs(s->found - s->wide);
    good = error <= s->bound;
  } else if (order == RUNG_LOOSE && !isfinite(s->strict)) {
    good = true; /* what is not finite need not reach as far as p steps carry it */
  } else {       /* beyond all bounds: the same infinity or a NaN where the contract has one */
    good = isnan(s->strict)   ? isnan(s->found)
           : isinf(s->strict) ? s->found == s->strict
                              : isfinite(s->found);
  }
  if (order == RUNG_CANONICAL) good = good && rung_same_bits(RUNG_F64, &s->found, &s->strict, 0);
  rung_compare_error(comparison, error);
  if (s->bound > comparison->bound && isfinite(s->bound)) comparison->bound = s->bound;
  if (!good)
    rung_compare_wrong(comparison, output, at, s->found,
                       order == RUNG_CANONICAL ? s->strict : s->wide, false);
}

/* What p steps may add for a row whose largest magnitude is `size`: (2r+1) roundings a step for
 * the chain; the textbook rounds every product and every sum, and divides. (For a loose rung this
 * is the bound of a row's ends, which take steps.) */
static double bound_of(const stencil_problem *p, rung_order order, double size) {
  const double eps = rung_traits_of(p->dtype)->eps / 2, tiny = rung_traits_of(p->dtype)->tiny;
  const double taps = 2 * p->radius + 1;
  const double roundings = order == RUNG_TEXTBOOK ? 2 * taps + 2 : taps + 1;
  return (double)p->steps * roundings * (eps * size + tiny);
}

/* Rows are checked by several threads, each its own stretch. */
enum { STRETCHES = 64 };

typedef struct judging {
  const rung_case *test_case;
  const rung_view *outputs;
  rung_order order;
  stencil_ends ends;     /* a loose rung's: [from, to) is within the filter's bound, */
  stencil_filter filter; /* the rest the contract's to the bit */
  rung_comparison found[STRETCHES];
} judging;

/* The filter's bound; the wide reference rounds 2r+2 times a step, which counts in double. */
static double filter_bound(const judging *job, const stencil_problem *p, double size) {
  return stencil_filter_bound(p, &job->filter, size) +
         (double)p->steps * (2 * p->radius + 2) * 0x1p-53 * size;
}

static void check_row(const judging *job, int64_t i, int64_t b, rung_comparison *comparison) {
  const rung_case *test_case = job->test_case;
  const stencil_case *t = test_case->problem;
  const stencil_problem *p = &t->problem;
  const expected *e = test_case->expected;
  const rung_view *outputs = job->outputs;
  const bool loose = job->order == RUNG_LOOSE;
  const int64_t m = p->columns;
  const double scale = stencil_row_scale(t, i), size = e->size[b] * scale;
  const double bound = bound_of(p, job->order, size);
  const double inside = loose ? filter_bound(job, p, size) : bound;
  const double eps = rung_traits_of(p->dtype)->eps, tiny = rung_traits_of(p->dtype)->tiny;
  for (int64_t j = 0; j < m; j++) {
    const bool filtered = loose && j >= job->ends.from && j < job->ends.to;
    const sight s = {
        .found = rung_number_at(p->dtype, outputs[0].data, i * m + j),
        .strict = rung_number_at(p->dtype, e->strict, b * m + j) * scale,
        .wide = e->wide[b * m + j] * scale,
        .bound = filtered ? inside : bound,
    };
    look(&s, loose && !filtered ? RUNG_CANONICAL : job->order, comparison, 0, i * m + j);
  }
  if (outputs[1].count == 0) return;
  const sight s = {
      .found = rung_number_at(p->dtype, outputs[1].data, i),
      .strict = rung_number_at(p->dtype, e->strict_means, b) * scale,
      .wide = e->means[b] * scale,
      .bound = fmax(bound, inside) +
               ((job->order == RUNG_TEXTBOOK ? (double)m : 26 * 3) + 1) * eps * size +
               tiny, /* where the mean itself is subnormal */
  };
  look(&s, job->order, comparison, 1, i);
}

static void check_stretch(void *arg, int stretch, int64_t from, int64_t until) {
  judging *job = arg;
  const stencil_case *t = job->test_case->problem;
  const stencil_problem *p = &t->problem;
  rung_comparison *found = &job->found[stretch];
  for (int64_t i = from; i < until; i++) {
    for (int64_t j = 0; j < p->columns; j++)
      found->unwritten += rung_is_poison(p->dtype, job->outputs[0].data, i * p->columns + j);
    if (job->outputs[1].count > 0)
      found->unwritten += rung_is_poison(p->dtype, job->outputs[1].data, i);
    const int64_t b = base_of(t, i);
    if (b >= 0) check_row(job, i, b, found);
  }
}

void stencil_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                   rung_comparison *comparison) {
  const stencil_case *t = test_case->problem;
  const stencil_problem *p = &t->problem;
  const int64_t small = 1 << 16;
  judging job = {.test_case = test_case, .outputs = outputs, .order = rung->order};
  char why[RUNG_REASON];
  memset(comparison, 0, sizeof *comparison);
  if (rung->order == RUNG_LOOSE && stencil_compose(p, &job.filter, why))
    job.ends = stencil_ends_of(p);
  const int threads = outputs[0].count < small ? 1 : rung_processors();
  rung_parallel_range(threads, p->rows, STRETCHES, check_stretch, &job);
  for (int s = 0; s < STRETCHES; s++) rung_compare_merge(comparison, &job.found[s]);
  comparison->pass = comparison->wrong == 0 && comparison->unwritten == 0;
  if (comparison->pass) return;
  const int64_t columns = comparison->output == 0 ? p->columns : 1;
  snprintf(comparison->sentence, sizeof comparison->sentence,
           "%lld elements are wrong and %lld unwritten; the first wrong one is %s row %lld, column "
           "%lld: %.9g where %.9g is wanted%s",
           (long long)comparison->wrong, (long long)comparison->unwritten,
           comparison->output == 0 ? "out" : "means", (long long)(comparison->first / columns),
           (long long)(comparison->first % columns), comparison->found, comparison->wanted,
           rung->order == RUNG_CANONICAL ? " to the bit" : " within the bound");
}
