/* What must come out of a case of reduce, and whether it did. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/compare.h"
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

/* ---- checking ---------------------------------------------------------------------------------
 */

/* The contract's bounds (reduce.h), as a multiple of a line's magnitudes. */
static double bound_of(const reduce_problem *problem, rung_order order) {
  if (!may_stray(problem)) return 0;
  const rung_types types = reduce_types_of(problem->what, problem->dtype);
  const double eps = rung_traits_of(types.accumulate)->eps;
  const double stored = types.accumulate != types.out ? rung_traits_of(types.out)->eps : 0;
  if (order != RUNG_CANONICAL) return ((double)problem->columns + 1) * eps + stored;
  int levels = 1;
  for (int64_t left = reduce_tiles(problem->columns); left > 1; left = reduce_tiles(left)) ++levels;
  return (26 * levels + 1) * eps + stored;
}

/* One result: its error in units of the line's magnitudes in *error; whether it may stand. */
static bool check_line(const rung_case *test_case, rung_order order, const char *found, int64_t j,
                       double *error) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const reduce_expected *expected = (const reduce_expected *)test_case->expected;
  const rung_wide_sum sum = {expected->wide[j], expected->magnitude[j], bound_of(problem, order)};
  const double value = rung_number_at(problem->result, found, j), distance = fabs(value - sum.wide);
  *error = distance > rung_traits_of(problem->result)->tiny && sum.magnitude > 0
               ? distance / sum.magnitude
               : 0;
  if (rung_same_bits(problem->result, found, expected->strict, j)) return true;
  if (order == RUNG_CANONICAL || !may_stray(problem)) return false;
  /* Where the magnitudes' sum overflows, the contract leaves textbook orders free. */
  const double n = problem->what == RUNG_MEAN ? (double)problem->columns : 1;
  return rung_sum_may_be(problem->result, &sum, rung_traits_of(problem->result)->largest / n,
                         value);
}

static void explain(const rung_case *test_case, rung_order order, const char *data,
                    rung_comparison *comparison) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const reduce_expected *expected = (const reduce_expected *)test_case->expected;
  const int64_t lines = problem->outer * problem->inner, first = comparison->first;
  const bool strict = order == RUNG_CANONICAL || !may_stray(problem);
  char found[RUNG_NUMBER_TEXT], wanted[RUNG_NUMBER_TEXT], where[48];
  rung_number_text(problem->result, data, first, found);
  if (strict)
    rung_number_text(problem->result, expected->strict, first, wanted);
  else
    rung_number_text(RUNG_F64, (const char *)expected->wide, first, wanted);
  snprintf(where, sizeof where, "that of line %" PRId64, first);
  rung_compare_say(comparison, lines, "results", where, found, wanted, strict);
}

void reduce_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                  rung_comparison *comparison) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  const reduce_expected *expected = (const reduce_expected *)test_case->expected;
  const char *data = outputs[0].data;
  *comparison = (rung_comparison){.first = -1, .bound = bound_of(problem, rung->order)};
  for (int64_t j = 0; j < problem->outer * problem->inner; ++j) {
    const bool unwritten = rung_is_poison(problem->result, data, j);
    double error = 0;
    const bool good = check_line(test_case, rung->order, data, j, &error) && !unwritten;
    if (error > comparison->worst) comparison->worst = error;
    if (!good)
      rung_compare_wrong(comparison, 0, j, rung_number_at(problem->result, data, j),
                         expected->wide[j], unwritten);
  }
  comparison->pass = comparison->wrong == 0;
  if (!comparison->pass) explain(test_case, rung->order, data, comparison);
}
