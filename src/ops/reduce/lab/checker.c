/* What must come out of a case of reduce, and whether it did. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/numbers.h"
#include "ops/reduce/lab/cases.h"

/* Every line's result by the contract, and of floats' sums and means wide, with the magnitudes'. */
typedef struct reduce_expected {
  char *strict; /* in the result's type */
  double *wide, *magnitude;
} reduce_expected;

/* Sums and means of floats: what a textbook order may stray in, unless there is nothing to sum. */
static bool may_stray(const reduce_problem *problem) {
  return problem->columns > 0 && rung_dtype_is_float(problem->dtype) &&
         (problem->what == RUNG_SUM || problem->what == RUNG_MEAN);
}

/* ---- what must come out -----------------------------------------------------------------------
 */

static void expect_line(const rung_case *test_case, reduce_expected *expected, int64_t j) {
  const reduce_problem *p = (const reduce_problem *)test_case->problem;
  const size_t size = rung_dtype_bytes(p->result);
  if (j >= REDUCE_BASE) {
    const int64_t base = j % REDUCE_BASE;
    memcpy(expected->strict + (size_t)j * size, expected->strict + (size_t)base * size, size);
    expected->wide[j] = expected->wide[base];
    expected->magnitude[j] = expected->magnitude[base];
    return;
  }
  const int64_t at = j / p->inner * p->columns * p->inner + j % p->inner;
  const char *line = test_case->arrays[REDUCE_IN].data;
  if (p->columns > 0) line += at * (int64_t)rung_dtype_bytes(p->dtype);
  reduce_reference_strict(p, line, p->inner, expected->strict + (size_t)j * size);
  expected->wide[j] = rung_number_at(p->result, expected->strict, j);
  expected->magnitude[j] = fabs(expected->wide[j]);
  if (may_stray(p))
    expected->wide[j] = reduce_reference_wide(p, line, p->inner, &expected->magnitude[j]);
}

rung_status reduce_expect(rung_case *test_case, rung_error *error) {
  if (test_case->expected != NULL) return RUNG_OK;
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const int64_t lines = problem->outer * problem->inner;
  reduce_expected *expected = (reduce_expected *)calloc(1, sizeof *expected);
  test_case->expected = expected;
  if (expected != NULL) {
    expected->strict = (char *)malloc((size_t)lines * rung_dtype_bytes(problem->result));
    expected->wide = (double *)malloc((size_t)lines * sizeof(double));
    expected->magnitude = (double *)malloc((size_t)lines * sizeof(double));
  }
  if (expected == NULL || expected->strict == NULL || expected->wide == NULL ||
      expected->magnitude == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the references",
                     test_case->label);
  for (int64_t j = 0; j < lines; ++j) expect_line(test_case, expected, j);
  return RUNG_OK;
}

void reduce_forget(rung_case *test_case) {
  reduce_expected *expected = (reduce_expected *)test_case->expected;
  if (expected != NULL) {
    free(expected->strict);
    free(expected->wide);
    free(expected->magnitude);
  }
  free(expected);
  test_case->expected = NULL;
}

/* ---- judging ----------------------------------------------------------------------------------
 */

/* The contract's bounds (reduce.h), as a multiple of a line's magnitudes. */
static double bound_of(const reduce_problem *problem, rung_order order) {
  if (!may_stray(problem)) return 0;
  const double eps = rung_traits_of(reduce_types_of(problem->what, problem->dtype).accumulate)->eps;
  if (order != RUNG_CANONICAL) return ((double)problem->columns + 1) * eps;
  int levels = 1;
  for (int64_t left = reduce_tiles(problem->columns); left > 1; left = reduce_tiles(left)) ++levels;
  return (26 * levels + 1) * eps;
}

/* Every bit, but that a NaN is a NaN. */
static bool same_bits(rung_dtype dtype, const char *a, const char *b, int64_t at) {
  const size_t size = rung_dtype_bytes(dtype);
  if (rung_dtype_is_float(dtype) && isnan(rung_number_at(dtype, a, at)) &&
      isnan(rung_number_at(dtype, b, at)))
    return true;
  return memcmp(a + (size_t)at * size, b + (size_t)at * size, size) == 0;
}

/* One result: its error in units of the line's magnitudes in *error; whether it may stand. */
static bool check_line(const rung_case *test_case, rung_order order, const char *found, int64_t j,
                       double *error) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const reduce_expected *expected = (const reduce_expected *)test_case->expected;
  const double wide = expected->wide[j], magnitude = expected->magnitude[j];
  const double value = rung_number_at(problem->result, found, j);
  const double least = rung_traits_of(problem->result)->tiny;
  const double most = rung_traits_of(problem->result)->largest;
  const double distance = fabs(value - wide);
  *error = distance > least && magnitude > 0 ? distance / magnitude : 0;
  if (same_bits(problem->result, found, expected->strict, j)) return true;
  if (order == RUNG_CANONICAL || !may_stray(problem)) return false;
  if (!isfinite(wide)) return isnan(wide) ? isnan(value) : value == wide;
  /* Where the magnitudes' sum overflows, the contract leaves textbook orders free. */
  const double n = problem->what == RUNG_MEAN ? (double)problem->columns : 1;
  if (!(magnitude <= most / n)) return true;
  return distance <= bound_of(problem, order) * magnitude + least;
}

/* Integers have no poison: every one of their values is a number. */
static bool is_poison(rung_dtype dtype, const char *data, int64_t at) {
  const size_t size = rung_dtype_bytes(dtype);
  for (size_t b = 0; b < size; ++b)
    if ((unsigned char)data[(size_t)at * size + b] != RUNG_POISON_BYTE) return false;
  return rung_dtype_is_float(dtype);
}

static void explain(const rung_case *test_case, rung_order order, const char *data,
                    rung_comparison *comparison) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const reduce_expected *expected = (const reduce_expected *)test_case->expected;
  const int64_t lines = problem->outer * problem->inner, first = comparison->first;
  const bool strict = order == RUNG_CANONICAL || !may_stray(problem);
  char found[32], wanted[32];
  rung_number_text(problem->result, data, first, found);
  if (strict)
    rung_number_text(problem->result, expected->strict, first, wanted);
  else
    rung_number_text(RUNG_F64, (const char *)expected->wide, first, wanted);
  if (comparison->unwritten > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64
             " results were not written; the first wrong one is that of line %" PRId64,
             comparison->unwritten, lines, first);
  else
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " results are wrong; that of line %" PRId64
             " is %s where %s is the %s",
             comparison->wrong, lines, first, found, wanted,
             strict ? "contract's" : "wide reference's");
}

void reduce_check(const rung_case *test_case, rung_order order, const rung_view *outputs,
                  rung_comparison *comparison) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const reduce_expected *expected = (const reduce_expected *)test_case->expected;
  const char *data = outputs[0].data;
  *comparison = (rung_comparison){.first = -1, .bound = bound_of(problem, order)};
  for (int64_t j = 0; j < problem->outer * problem->inner; ++j) {
    const bool unwritten = is_poison(problem->result, data, j);
    double error = 0;
    const bool good = check_line(test_case, order, data, j, &error) && !unwritten;
    if (error > comparison->worst) comparison->worst = error;
    if (good) continue;
    comparison->wrong += 1;
    comparison->unwritten += unwritten;
    const double found = rung_number_at(problem->result, data, j);
    comparison->nans += !unwritten && isnan(found) && !isnan(expected->wide[j]);
    if (comparison->first >= 0) continue;
    comparison->first = j;
    comparison->found = found;
    comparison->wanted = expected->wide[j];
  }
  comparison->pass = comparison->wrong == 0;
  if (!comparison->pass) explain(test_case, order, data, comparison);
}
