/* What must come out of a case of correlate, and whether it did. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "lab/compare.h"
#include "lab/numbers.h"
#include "ops/correlate/lab/cases.h"
#include "ops/correlate/separable.h"

/* Rows of which the contract's results are held to its bound, as many of their elements as so many
 * products allow. */
enum { WIDE_ROWS = 5, WIDE_PRODUCTS = 1 << 20, PARTS = 64 };

/* case->expected: rows of out that differ, of every kernel one after the other. */
typedef struct expected {
  char *results;
  int64_t rows;          /* of a kernel */
  int64_t top, bottom;   /* rows of out that reach beyond the image: the first and the last ones */
  double worst;          /* the largest error of what is held to the bound, of the magnitudes */
  int64_t wrong;         /* of those, elements beyond the contract's bound */
  correlate_wide *wides; /* NULL until an order that is not the contract's needs them */
} expected;

/* What an order may differ from the exact result by: of the magnitudes, and whatever they are. */
typedef struct bounds {
  double relative, absolute;
} bounds;

static double bound_of(const correlate_problem *p) {
  const rung_traits *sum = rung_traits_of(p->types.accumulate), *out = rung_traits_of(p->types.out);
  const double taps = (double)p->kernel_rows * p->kernel_columns;
  return (sum->kind == RUNG_FLOAT ? (taps + 2) * sum->eps : 0) +
         (out->kind == RUNG_FLOAT && out->dtype != sum->dtype ? out->eps : 0);
}

/* What does not depend on the magnitudes: subnormals, and rounding to integers. */
static double absolute_bound_of(const correlate_problem *p) {
  const rung_traits *sum = rung_traits_of(p->types.accumulate), *out = rung_traits_of(p->types.out);
  const double taps = (double)p->kernel_rows * p->kernel_columns;
  const double tiny = sum->kind == RUNG_FLOAT ? (taps + 2) * 2 * sum->tiny : 0;
  if (out->kind == RUNG_FLOAT) return tiny + out->tiny;
  return sum->kind == RUNG_FLOAT ? tiny + 0.5 : 0;
}

/* As separable.h states it, of kernel k. */
static bounds separable_bounds_of(const correlate_problem *p, const correlate_factors *factors) {
  const rung_traits *sum = rung_traits_of(p->types.accumulate), *out = rung_traits_of(p->types.out);
  const int rows = p->kernel_rows, columns = p->kernel_columns;
  double mass = 0;
  for (int i = 0; i < rows; i++) mass += fabs(factors->column[i]);
  bounds b = {(rows + columns + 4) * sum->eps, (columns * mass + rows + 2) * sum->tiny};
  if (out->kind != RUNG_FLOAT)
    b.absolute += 0.5;
  else if (out->dtype != sum->dtype)
    b = (bounds){b.relative + out->eps, b.absolute + out->tiny};
  return b;
}

/* Of a loose order, where the kernel is separable; else of another association. A peer may cut off
 * what is rounded here, as NPP does. */
static bounds bounds_of(const correlate_problem *p, int64_t k, const rung_row *rung) {
  const bool whole = rung_traits_of(p->types.out)->kind != RUNG_FLOAT;
  correlate_factors factors;
  char why[RUNG_REASON];
  if (rung->order == RUNG_LOOSE && correlate_separate(p, k, &factors, why))
    return separable_bounds_of(p, &factors);
  return (bounds){bound_of(p), absolute_bound_of(p) + (rung->peer && whole ? 0.5 : 0)};
}

static int64_t row_numbers(const correlate_problem *p) {
  return p->columns * p->channels;
}
static int64_t row_bytes(const correlate_problem *p) {
  return row_numbers(p) * (int64_t)rung_dtype_bytes(p->types.out);
}

/* ---- which rows differ ------------------------------------------------------------------------
 */

static void find_rows(const correlate_problem *p, expected *e) {
  const int64_t last = p->height - p->kernel_rows - p->first_row; /* that stays within the image */
  e->top = p->first_row < 0 ? -p->first_row : 0;
  e->bottom = last >= p->rows - 1 ? 0 : p->rows - 1 - last;
  e->rows = e->top + CORRELATE_BASE + e->bottom;
  if (correlate_base(p) == p->height || e->rows >= p->rows) {
    e->top = e->rows = p->rows;
    e->bottom = 0;
  }
}

/* The row of `expected` that row y of out is like, and the first one that is. */
static int64_t slot_of(const correlate_problem *p, const expected *e, int64_t y) {
  if (y < e->top) return y;
  if (y >= p->rows - e->bottom) return e->rows - (p->rows - y);
  return e->top + (y - e->top) % CORRELATE_BASE;
}
static int64_t row_of_slot(const correlate_problem *p, const expected *e, int64_t slot) {
  return slot < e->rows - e->bottom ? slot : p->rows - (e->rows - slot);
}

/* ---- what must come out -----------------------------------------------------------------------
 */

typedef struct making {
  const rung_case *test_case;
  expected *into;
  atomic_bool failed; /* for want of memory */
} making;

static correlate_place place_of(const making *job, int64_t number) {
  const correlate_problem *p = (const correlate_problem *)job->test_case->problem;
  const int64_t rows = job->into->rows;
  return (correlate_place){&job->test_case->arrays[CORRELATE_IN], number / rows,
                           row_of_slot(p, job->into, number % rows)};
}

static void make_rows(void *arg, int part, int64_t from, int64_t until) {
  making *job = (making *)arg;
  const correlate_problem *p = (const correlate_problem *)job->test_case->problem;
  const size_t line = (size_t)correlate_line(p) * 8;
  char *memory = (char *)malloc(line + (size_t)row_numbers(p) * 8);
  (void)part;
  if (memory == NULL) job->failed = true;
  for (int64_t r = from; r < until && memory != NULL; r++) {
    const correlate_place at = place_of(job, r);
    correlate_reference_strict(p, &at, memory, memory + line,
                               job->into->results + r * row_bytes(p));
  }
  free(memory);
}

/* Whether one of the contract's own results is within the contract's bound. */
static void hold_to_bound(const correlate_problem *p, const correlate_wide *wide, double found,
                          expected *e) {
  const rung_traits *sum = rung_traits_of(p->types.accumulate), *out = rung_traits_of(p->types.out);
  const bool is_float = out->kind == RUNG_FLOAT;
  const double magnitude = (double)wide->magnitude, absolute = absolute_bound_of(p);
  long double wanted = wide->sum;
  if (!(magnitude <= sum->largest / 4) || isnan(wanted)) return; /* it may overflow */
  if (is_float && !(magnitude <= out->largest / 4)) return;
  if (!is_float) wanted = wanted < 0 ? 0 : wanted > out->largest ? out->largest : wanted;
  const double error = fabs((double)(found - wanted));
  if (error > absolute && (error - absolute) / magnitude > e->worst)
    e->worst = (error - absolute) / magnitude;
  if (!(error <= bound_of(p) * magnitude + absolute)) e->wrong++;
}

static void hold_rows_to_bound(const making *job) {
  expected *e = job->into;
  const correlate_problem *p = (const correlate_problem *)job->test_case->problem;
  const double work = (double)row_numbers(p) * p->kernel_rows * p->kernel_columns;
  const int64_t each = 1 + (int64_t)(WIDE_ROWS * work / WIDE_PRODUCTS);
  for (int64_t r = 0; r < e->rows && r < WIDE_ROWS; r++)
    for (int64_t x = r % each; x < row_numbers(p); x += each) {
      const correlate_place at = place_of(job, r);
      const correlate_wide wide = correlate_reference_wide(p, &at, x);
      hold_to_bound(p, &wide, rung_number_at(p->types.out, e->results + r * row_bytes(p), x), e);
    }
}

rung_status correlate_expect(rung_case *test_case, rung_error *error) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  if (test_case->expected != NULL) return RUNG_OK;
  expected *e = (expected *)calloc(1, sizeof *e);
  making job = {.test_case = test_case, .into = e};
  bool good = (test_case->expected = e) != NULL;
  if (good) find_rows(p, e);
  good =
      good && (e->results = (char *)malloc((size_t)(p->kernels * e->rows * row_bytes(p)))) != NULL;
  if (good) rung_parallel_range(rung_processors(), p->kernels * e->rows, PARTS, make_rows, &job);
  if (good && !job.failed) {
    hold_rows_to_bound(&job);
    return RUNG_OK;
  }
  correlate_forget(test_case);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the references",
                   test_case->label);
}

void correlate_forget(rung_case *test_case) {
  expected *e = (expected *)test_case->expected;
  if (e != NULL) free(e->results);
  if (e != NULL) free(e->wides);
  free(e);
  test_case->expected = NULL;
}

/* ---- the verdict ------------------------------------------------------------------------------
 */

static void make_wides(void *arg, int part, int64_t from, int64_t until) {
  const making *job = (const making *)arg;
  const correlate_problem *p = (const correlate_problem *)job->test_case->problem;
  (void)part;
  for (int64_t r = from; r < until; r++) {
    const correlate_place at = place_of(job, r);
    for (int64_t x = 0; x < row_numbers(p); x++)
      job->into->wides[r * row_numbers(p) + x] = correlate_reference_wide(p, &at, x);
  }
}

static bool find_wides(const rung_case *test_case, expected *e) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  making job = {.test_case = test_case, .into = e};
  const int64_t rows = p->kernels * e->rows;
  if (e->wides != NULL) return true;
  e->wides = (correlate_wide *)malloc((size_t)(rows * row_numbers(p)) * sizeof *e->wides);
  if (e->wides == NULL) return false;
  rung_parallel_range(rung_processors(), rows, PARTS, make_wides, &job);
  return true;
}

static void check_row(const correlate_problem *p, const char *found, const char *strict,
                      int64_t first, rung_comparison *comparison) {
  const rung_dtype dtype = p->types.out;
  for (int64_t x = 0; x < row_numbers(p); x++)
    if (!rung_same_bits(dtype, found, strict, x))
      rung_compare_wrong(comparison, 0, first + x, rung_number_at(dtype, found, x),
                         rung_number_at(dtype, strict, x), rung_is_poison(dtype, found, x));
}

/* Whether a value may stand for a sum: within its bound, or the same infinity or NaN; where the
 * magnitudes overflow, anything may. */
static bool may_be(const correlate_problem *p, const correlate_wide *wide, bounds bound,
                   double value) {
  const rung_traits *sum = rung_traits_of(p->types.accumulate), *out = rung_traits_of(p->types.out);
  const bool is_float = out->kind == RUNG_FLOAT;
  const double most = is_float && out->largest < sum->largest ? out->largest : sum->largest;
  double wanted = (double)wide->sum;
  if (!is_float) wanted = wanted > 0 ? fmin(wanted, out->largest) : 0; /* of a NaN 0 */
  if (isfinite(wide->magnitude) && !(wide->magnitude <= most / 4)) return true;
  if (!isfinite(wanted)) return isnan(wanted) ? isnan(value) : value == wanted;
  if (!isfinite(wide->magnitude)) return value == wanted;
  return fabs((double)(value - (is_float ? wide->sum : wanted))) <=
         bound.relative * (double)wide->magnitude + bound.absolute;
}

/* A row of an order that is not the contract's: other bits are let pass within a bound. */
static void check_loosely(const correlate_problem *p, const char *found, const char *strict,
                          const correlate_wide *wides, bounds bound, int64_t first,
                          rung_comparison *comparison) {
  const rung_dtype dtype = p->types.out;
  for (int64_t x = 0; x < row_numbers(p); x++) {
    if (rung_same_bits(dtype, found, strict, x)) continue;
    const double value = rung_number_at(dtype, found, x), wanted = rung_number_at(dtype, strict, x);
    const double magnitude = (double)wides[x].magnitude;
    const double error = fabs((double)(value - wides[x].sum)) - bound.absolute;
    const bool near = !rung_is_poison(dtype, found, x) && may_be(p, &wides[x], bound, value);
    if (near && magnitude > 0 && error > 0 && isfinite(error))
      rung_compare_error(comparison, error / magnitude);
    if (near)
      comparison->different++;
    else
      rung_compare_wrong(comparison, 0, first + x, value, wanted, rung_is_poison(dtype, found, x));
  }
}

static void explain(const rung_case *test_case, const char *data, rung_comparison *comparison) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  const expected *e = (const expected *)test_case->expected;
  const int64_t first = comparison->first, row = first / row_numbers(p), x = first % row_numbers(p);
  const int64_t k = row / p->rows, y = row % p->rows;
  char found[RUNG_NUMBER_TEXT], wanted[RUNG_NUMBER_TEXT], where[128];
  rung_number_text(p->types.out, data, first, found);
  rung_number_text(p->types.out, e->results, (k * e->rows + slot_of(p, e, y)) * row_numbers(p) + x,
                   wanted);
  snprintf(where, sizeof where,
           "row %" PRId64 ", column %" PRId64 ", channel %" PRId64 " of kernel %" PRId64, y,
           x / p->channels, x % p->channels, k);
  rung_compare_say(comparison, p->kernels * p->rows * row_numbers(p), "elements", where, found,
                   wanted, true);
}

void correlate_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                     rung_comparison *comparison) {
  const correlate_problem *p = (const correlate_problem *)test_case->problem;
  expected *e = (expected *)test_case->expected;
  const int64_t bytes = row_bytes(p);
  /* Exact sums have one result, in whatever order. */
  const bool strict_only = rung->order == RUNG_CANONICAL || p->types.accumulate == RUNG_I64;
  *comparison = (rung_comparison){.first = -1, .bound = bound_of(p), .worst = e->worst};
  if (!strict_only) {
    comparison->bound = comparison->worst = 0;
    if (!find_wides(test_case, e)) {
      snprintf(comparison->sentence, sizeof comparison->sentence,
               "no host memory for what results may differ by");
      return;
    }
  }
  for (int64_t k = 0; k < p->kernels; k++) {
    const bounds bound = strict_only ? (bounds){0, 0} : bounds_of(p, k, rung);
    comparison->bound = fmax(comparison->bound, bound.relative);
    for (int64_t y = 0; y < p->rows; y++) {
      const int64_t r = k * p->rows + y, base = k * e->rows + slot_of(p, e, y);
      const char *found = outputs[0].data + r * bytes, *strict = e->results + base * bytes;
      if (memcmp(found, strict, (size_t)bytes) == 0) continue;
      if (strict_only)
        check_row(p, found, strict, r * row_numbers(p), comparison);
      else
        check_loosely(p, found, strict, e->wides + base * row_numbers(p), bound, r * row_numbers(p),
                      comparison);
    }
  }
  comparison->pass = comparison->wrong == 0 && e->wrong == 0;
  if (comparison->wrong > 0)
    explain(test_case, outputs[0].data, comparison);
  else if (e->wrong > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of the contract's results are beyond its bound", e->wrong);
  else if (comparison->different > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " elements have other bits than the contract's",
             comparison->different, p->kernels * p->rows * row_numbers(p));
}
