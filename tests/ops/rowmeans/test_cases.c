/* The cases themselves: lines are read or refused, and the checker sees every kind of wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/rowmeans/lab/cases.h"
#include "ops/rowmeans/rowmeans.h"

static rung_case made(const char *line, uint64_t seed) {
  rung_error error = {0};
  rung_case test_case;
  if (rowmeans_cases.make(line, seed, &test_case, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  assert_int_equal(rowmeans_cases.expect(&test_case, &error), RUNG_OK);
  return test_case;
}

static void refused(const char *line, rung_status status, const char *part) {
  rung_error error = {0};
  rung_case test_case;
  assert_int_equal(rowmeans_cases.make(line, 1, &test_case, &error), status);
  if (strstr(error.sentence, part) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error.sentence, part);
}

static void refuses_lines(void **state) {
  (void)state;
  refused("n=1 p=2", RUNG_BAD_ARGUMENT, "\"p\" is no key here: the keys are n, m, type, rows");
  refused("n=0", RUNG_BAD_ARGUMENT, "n=0");
  refused("m=-3", RUNG_BAD_ARGUMENT, "m=-3");
  refused("type=f16", RUNG_BAD_ARGUMENT, "f32, f64");
  refused("rows=zeros", RUNG_BAD_ARGUMENT, "random, special");
  refused("n=1099511627776 m=1099511627776", RUNG_TOO_LARGE, "64 bits");
}

static void writes_defaults_out(void **state) {
  (void)state;
  rung_case test_case = made("m=3", 1);
  assert_string_equal(test_case.label, "n=1000 m=3 type=f32 rows=random");
  assert_true(test_case.bytes == 4000.0 * 4 && test_case.flops == 3000);
  rowmeans_cases.drop(&test_case);
}

static void draws_by_seed(void **state) {
  (void)state;
  rung_case a = made("n=200 m=50", 5), b = made("n=200 m=50", 5), c = made("n=200 m=50", 6);
  const size_t bytes = rung_view_bytes(&a.arrays[0]);
  assert_memory_equal(a.arrays[0].data, b.arrays[0].data, bytes);
  assert_memory_not_equal(a.arrays[0].data, c.arrays[0].data, bytes);
  rowmeans_cases.drop(&a);
  rowmeans_cases.drop(&b);
  rowmeans_cases.drop(&c);
}

/* The means by the strict reference, row by row: also those that expect() scales. */
static rung_view strict_means(const rung_case *test_case) {
  const rowmeans_problem *problem = (const rowmeans_problem *)test_case->problem;
  rung_view means = test_case->arrays[ROWMEANS_MEANS];
  const size_t element = rung_dtype_bytes(means.dtype);
  means.data = (char *)malloc(rung_view_bytes(&means));
  for (int64_t i = 0; i < problem->rows; ++i)
    rowmeans_reference_strict(problem,
                              test_case->arrays[0].data + (size_t)(i * problem->columns) * element,
                              means.data + (size_t)i * element);
  return means;
}

static rung_comparison checked(const rung_case *test_case, rung_order order,
                               const rung_view *means) {
  rung_comparison comparison;
  rowmeans_cases.check(test_case, order, means, &comparison);
  return comparison;
}

static void scales_references_exactly(void **state) {
  (void)state;
  static const char *const lines[] = {"n=1500 m=100", "n=1500 m=100 type=f64",
                                      "n=100 m=100 rows=special type=f64"};
  for (int i = 0; i < 3; ++i) {
    rung_case test_case = made(lines[i], 9);
    rung_view means = strict_means(&test_case);
    rung_comparison comparison = checked(&test_case, RUNG_CANONICAL, &means);
    if (!comparison.pass) fail_msg("%s", comparison.sentence);
    assert_true(checked(&test_case, RUNG_TEXTBOOK, &means).pass);
    free(means.data);
    rowmeans_cases.drop(&test_case);
  }
}

static void sees_what_is_wrong(void **state) {
  (void)state;
  rung_case test_case = made("n=100 m=3000", 2);
  rung_view means = strict_means(&test_case);
  float *mean = (float *)means.data;
  const float right = mean[70];

  mean[70] = nextafterf(right, 10);
  rung_comparison comparison = checked(&test_case, RUNG_CANONICAL, &means);
  assert_false(comparison.pass);
  assert_int_equal(comparison.wrong, 1);
  assert_int_equal(comparison.first, 70);
  assert_true(comparison.found == (double)mean[70] && comparison.wanted == (double)right);
  assert_non_null(strstr(comparison.sentence, "row 70"));
  assert_true(checked(&test_case, RUNG_TEXTBOOK, &means).pass);

  mean[70] = right + 0.001f; /* past the textbook bound: 3000 * 2^-23 * about 0.003 ... 0.4 */
  assert_false(checked(&test_case, RUNG_TEXTBOOK, &means).pass);

  mean[70] = NAN;
  comparison = checked(&test_case, RUNG_TEXTBOOK, &means);
  assert_false(comparison.pass);
  assert_int_equal(comparison.nans, 1);

  memset(&mean[70], RUNG_POISON_BYTE, 2 * sizeof *mean);
  comparison = checked(&test_case, RUNG_CANONICAL, &means);
  assert_int_equal(comparison.unwritten, 2);
  assert_int_equal(comparison.wrong, 2);
  assert_int_equal(comparison.nans, 0);
  assert_non_null(strstr(comparison.sentence, "not written"));
  free(means.data);
  rowmeans_cases.drop(&test_case);
}

/* A plain running sum must not pass for the canonical order, or the lines would prove nothing. */
static void tells_orders_apart(void **state) {
  (void)state;
  rung_case test_case = made("n=40 m=100", 2);
  rung_view means = strict_means(&test_case);
  float *mean = (float *)means.data;
  const float *in = (const float *)test_case.arrays[0].data;
  for (int i = 0; i < 40; ++i) {
    float sum = 0;
    for (int j = 0; j < 100; ++j) sum += in[i * 100 + j];
    mean[i] = (float)((double)sum / 100);
  }
  rung_comparison comparison = checked(&test_case, RUNG_CANONICAL, &means);
  assert_in_range(comparison.wrong, 20, 40);
  assert_true(checked(&test_case, RUNG_TEXTBOOK, &means).pass);
  free(means.data);
  rowmeans_cases.drop(&test_case);
}

static void wants_nan_and_infinity(void **state) {
  (void)state;
  rung_case test_case = made("n=33 m=40 rows=special", 2);
  rung_view means = strict_means(&test_case);
  float *mean = (float *)means.data;
  assert_true(isnan(mean[0]) && isinf(mean[1]) && isnan(mean[9]));
  assert_true(mean[3] == 0 && signbit(mean[3]));
  const float nan = mean[0], infinite = mean[1];
  mean[0] = -NAN;
  assert_true(checked(&test_case, RUNG_CANONICAL, &means).pass);
  mean[0] = 1;
  assert_false(checked(&test_case, RUNG_CANONICAL, &means).pass);
  assert_false(checked(&test_case, RUNG_TEXTBOOK, &means).pass);
  mean[0] = nan;
  mean[1] = -infinite;
  assert_false(checked(&test_case, RUNG_TEXTBOOK, &means).pass);
  mean[1] = infinite;
  /* Row 7 overflows: a textbook mean of it is free, but not to be missing. */
  const float most = mean[7];
  memset(&mean[7], RUNG_POISON_BYTE, sizeof *mean);
  assert_int_equal(checked(&test_case, RUNG_TEXTBOOK, &means).unwritten, 1);
  assert_false(checked(&test_case, RUNG_TEXTBOOK, &means).pass);
  mean[7] = most;
  mean[3] = 0;
  assert_false(checked(&test_case, RUNG_CANONICAL, &means).pass);
  free(means.data);
  rowmeans_cases.drop(&test_case);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_lines),          cmocka_unit_test(writes_defaults_out),
      cmocka_unit_test(draws_by_seed),          cmocka_unit_test(scales_references_exactly),
      cmocka_unit_test(sees_what_is_wrong),     cmocka_unit_test(tells_orders_apart),
      cmocka_unit_test(wants_nan_and_infinity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
