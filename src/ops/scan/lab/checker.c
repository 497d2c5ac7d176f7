/* What must come out of a case of scan, and whether it did. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/compare.h"
#include "lab/numbers.h"
#include "ops/scan/lab/cases.h"

/* case->expected: of the first SCAN_BASE lines the results by the contract, in the problem's type,
 * and how far they stray from the wide ones. What floats' sums come to in long double is found as
 * they are checked, an element at a time; so it is once for all that have the contract's bits. */
typedef struct expected_scan {
  char *lines; /* of the same ones the elements; and a line of what is checked */
  char *results;
  double *worst; /* a line */
} expected_scan;

/* Sums of floats: what a textbook order may stray in. */
static bool may_stray(const scan_problem *problem) {
  return rung_dtype_is_float(problem->dtype) && problem->what == RUNG_SUM;
}

/* ---- checking ---------------------------------------------------------------------------------
 */

/* The contract's bounds (scan.h), as a multiple of the magnitudes. */
static double bound_of(const scan_problem *problem, rung_order order) {
  if (!may_stray(problem)) return 0;
  const rung_types types = scan_types_of(problem->what, problem->dtype);
  const double eps = rung_traits_of(types.accumulate)->eps;
  const double stored = types.accumulate != types.out ? rung_traits_of(types.out)->eps : 0;
  if (order != RUNG_CANONICAL) return ((double)problem->columns + 1) * eps + stored;
  return (24 + 6 * scan_levels_of(problem->columns) + 1) * eps + stored;
}

/* One line, whose first element is number `first` of all. */
typedef struct line {
  const char *in, *found, *strict;
  int64_t first;
} line;

static void check_line(const scan_problem *problem, rung_order order, const line *line,
                       rung_comparison *comparison) {
  const rung_dtype dtype = problem->dtype;
  const bool stray = may_stray(problem);
  scan_wide wide = {0, 0};
  for (int64_t i = 0; i < problem->columns; ++i) {
    const bool same = rung_same_bits(dtype, line->found, line->strict, i);
    if (stray && !problem->exclusive) scan_reference_wide(problem, line->in, i, &wide);
    const double wanted = stray ? (double)wide.sum : rung_number_at(dtype, line->strict, i);
    const double magnitude = (double)wide.magnitude, found = rung_number_at(dtype, line->found, i);
    const double distance = fabs(found - wanted);
    if (stray && problem->exclusive) scan_reference_wide(problem, line->in, i, &wide);
    if (stray && magnitude > 0 && distance > comparison->worst * magnitude &&
        distance > rung_traits_of(dtype)->tiny)
      comparison->worst = distance / magnitude;
    const bool unwritten = rung_is_poison(dtype, line->found, i);
    /* Where the magnitudes' sum overflows, the contract leaves textbook orders free. */
    const rung_wide_sum sum = {wanted, magnitude, bound_of(problem, RUNG_TEXTBOOK)};
    if (!unwritten &&
        (same || (stray && order != RUNG_CANONICAL &&
                  rung_sum_may_be(dtype, &sum, rung_traits_of(dtype)->largest, found))))
      continue;
    rung_compare_wrong(comparison, 0, line->first + i, found, wanted, unwritten);
  }
}

/* ---- what must come out -----------------------------------------------------------------------
 */

static int64_t line_bytes(const scan_problem *problem) {
  return problem->columns * (int64_t)rung_dtype_bytes(problem->dtype);
}

/* Line j of an array of all lines, its elements one after the other. */
static void gather(const scan_problem *problem, const char *all, int64_t j, char *line) {
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const char *from = all + scan_first_of(problem, j) * size;
  for (int64_t i = 0; i < problem->columns && problem->inner > 1; ++i)
    memcpy(line + i * size, from + i * problem->inner * size, (size_t)size);
  if (problem->inner == 1) memcpy(line, from, (size_t)line_bytes(problem));
}

static bool expect_line(const scan_problem *problem, const char *in, char *strict, double *worst) {
  rung_comparison own = {.first = -1};
  if (!scan_reference_strict(problem, in, strict)) return false;
  if (may_stray(problem)) check_line(problem, RUNG_CANONICAL, &(line){in, strict, strict, 0}, &own);
  *worst = own.worst;
  return true;
}

rung_status scan_expect(rung_case *test_case, rung_error *error) {
  if (test_case->expected != NULL) return RUNG_OK;
  const scan_problem *problem = (const scan_problem *)test_case->problem;
  const int64_t lines = problem->lines < SCAN_BASE ? problem->lines : SCAN_BASE;
  const int64_t bytes = line_bytes(problem);
  expected_scan *e = calloc(1, sizeof *e);
  bool good = (test_case->expected = e) != NULL;
  good = good && (e->results = malloc((size_t)(lines * bytes))) != NULL;
  good = good && (e->lines = malloc((size_t)((lines + 1) * bytes))) != NULL;
  good = good && (e->worst = malloc((size_t)lines * sizeof *e->worst)) != NULL;
  for (int64_t j = 0; j < lines && good; ++j) {
    gather(problem, test_case->arrays[SCAN_IN].data, j, e->lines + j * bytes);
    good = expect_line(problem, e->lines + j * bytes, e->results + j * bytes, &e->worst[j]);
  }
  if (good) return RUNG_OK;
  scan_forget(test_case);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the references",
                   test_case->label);
}

void scan_forget(rung_case *test_case) {
  expected_scan *e = (expected_scan *)test_case->expected;
  if (e != NULL) {
    free(e->lines);
    free(e->results);
    free(e->worst);
  }
  free(e);
  test_case->expected = NULL;
}

/* ---- the verdict ------------------------------------------------------------------------------
 */

static void explain(const rung_case *test_case, rung_order order, const char *data,
                    rung_comparison *comparison) {
  const scan_problem *problem = (const scan_problem *)test_case->problem;
  const int64_t first = comparison->first, columns = problem->columns;
  const int64_t at = first / columns % SCAN_BASE * columns + first % columns;
  const bool strict = order == RUNG_CANONICAL || !may_stray(problem);
  char found[RUNG_NUMBER_TEXT], wanted[RUNG_NUMBER_TEXT], where[64];
  rung_number_text(problem->dtype, data,
                   scan_first_of(problem, first / columns) + first % columns * problem->inner,
                   found);
  if (strict)
    rung_number_text(problem->dtype, ((const expected_scan *)test_case->expected)->results, at,
                     wanted);
  else
    rung_number_text(RUNG_F64, (const char *)&comparison->wanted, 0, wanted);
  snprintf(where, sizeof where, "element %" PRId64 " of line %" PRId64, first % columns,
           first / columns);
  rung_compare_say(comparison, problem->lines * columns, "elements", where, found, wanted, strict);
}

void scan_check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                rung_comparison *comparison) {
  const scan_problem *problem = (const scan_problem *)test_case->problem;
  const expected_scan *expected = (const expected_scan *)test_case->expected;
  const int64_t bytes = line_bytes(problem);
  *comparison = (rung_comparison){.first = -1, .bound = bound_of(problem, rung->order)};
  for (int64_t j = 0; j < problem->lines; ++j) {
    const int64_t base = j % SCAN_BASE * bytes;
    char *found =
        expected->lines + (problem->lines < SCAN_BASE ? problem->lines : SCAN_BASE) * bytes;
    gather(problem, outputs[0].data, j, found);
    const line line = {.in = expected->lines + base,
                       .found = found,
                       .strict = expected->results + base,
                       .first = j * problem->columns};
    if (memcmp(line.found, line.strict, (size_t)bytes) == 0)
      comparison->worst = fmax(comparison->worst, expected->worst[j % SCAN_BASE]);
    else
      check_line(problem, rung->order, &line, comparison);
  }
  comparison->pass = comparison->wrong == 0;
  if (!comparison->pass) explain(test_case, rung->order, outputs[0].data, comparison);
}
