/* The cases themselves: drawn by their seed, and such that the checker tells one order of additions
 * from another and sees every kind of wrong. */
#include "ops/outside.h"
#include "ops/reduce/lab/cases.h"

static rung_case made(const char *line, uint64_t seed) {
  rung_error error = {0};
  rung_case test_case;
  if (reduce_cases.make(line, seed, &test_case, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(reduce_cases.expect(&test_case, &error), RUNG_OK);
  return test_case;
}

static void writes_defaults_out(void **state) {
  (void)state;
  rung_case test_case = made("n=3 op=mean outer=1000", 1);
  assert_string_equal(test_case.label, "n=3 op=mean type=f32 outer=1000 inner=1 data=random");
  assert_true(test_case.bytes == 4000.0 * 4 && test_case.flops == 3000);
  reduce_cases.drop(&test_case);
}

static void draws_by_seed(void **state) {
  (void)state;
  rung_case a = made("n=50 outer=200", 5), b = made("n=50 outer=200", 5);
  rung_case c = made("n=50 outer=200", 6);
  const size_t bytes = rung_view_bytes(&a.arrays[REDUCE_IN]);
  assert_memory_equal(a.arrays[REDUCE_IN].data, b.arrays[REDUCE_IN].data, bytes);
  assert_memory_not_equal(a.arrays[REDUCE_IN].data, c.arrays[REDUCE_IN].data, bytes);
  reduce_cases.drop(&a);
  reduce_cases.drop(&b);
  reduce_cases.drop(&c);
}

/* Every line's result by the strict reference: also those that are copies. */
static rung_view strict_results(const rung_case *test_case) {
  const reduce_problem *problem = (const reduce_problem *)test_case->problem;
  rung_view out = test_case->arrays[REDUCE_OUT];
  const int64_t element = (int64_t)rung_dtype_bytes(problem->dtype);
  out.data = (char *)malloc(rung_view_bytes(&out));
  for (int64_t i = 0; i < problem->outer; ++i)
    reduce_reference_strict(problem,
                            test_case->arrays[REDUCE_IN].data + i * problem->columns * element, 1,
                            out.data + i * (int64_t)rung_dtype_bytes(out.dtype));
  return out;
}

static rung_comparison checked(const rung_case *test_case, rung_order order, const rung_view *out) {
  rung_comparison comparison;
  reduce_cases.check(test_case, &(rung_row){.name = "", .order = order}, out, &comparison);
  return comparison;
}

static void sees_what_is_wrong(void **state) {
  (void)state;
  rung_case test_case = made("n=3000 op=mean outer=100", 2);
  rung_view out = strict_results(&test_case);
  float *mean = (float *)out.data;
  const float right = mean[70];
  assert_true(checked(&test_case, RUNG_CANONICAL, &out).pass);

  mean[70] = right + 0.001f; /* past the textbook bound: 3001 * 2^-23 * about 0.3 */
  assert_false(checked(&test_case, RUNG_TEXTBOOK, &out).pass);

  mean[70] = NAN;
  rung_comparison comparison = checked(&test_case, RUNG_TEXTBOOK, &out);
  assert_false(comparison.pass);
  assert_int_equal(comparison.nans, 1);

  memset(&mean[70], RUNG_POISON_BYTE, 2 * sizeof *mean);
  comparison = checked(&test_case, RUNG_CANONICAL, &out);
  assert_int_equal(comparison.unwritten, 2);
  assert_int_equal(comparison.wrong, 2);
  assert_int_equal(comparison.nans, 0);
  assert_non_null(strstr(comparison.sentence, "not written"));
  free(out.data);
  reduce_cases.drop(&test_case);
}

/* A plain running sum must not pass for the canonical order, or the lines would prove nothing. */
static void tells_orders_apart(void **state) {
  (void)state;
  rung_case test_case = made("n=100 op=mean outer=40", 2);
  rung_view out = strict_results(&test_case);
  const float *in = (const float *)test_case.arrays[REDUCE_IN].data;
  for (int i = 0; i < 40; ++i) {
    float sum = 0;
    for (int j = 0; j < 100; ++j) sum += in[i * 100 + j];
    ((float *)out.data)[i] = (float)((double)sum / 100);
  }
  assert_in_range(checked(&test_case, RUNG_CANONICAL, &out).wrong, 20, 40);
  assert_true(checked(&test_case, RUNG_TEXTBOOK, &out).pass);
  free(out.data);
  reduce_cases.drop(&test_case);
}

/* Puts `value` in the place of element i: by either order it passes or not. */
static bool passes(const rung_case *test_case, const rung_view *out, int i, float value,
                   rung_order order) {
  float *mean = (float *)out->data;
  const float right = mean[i];
  mean[i] = value;
  const bool pass = checked(test_case, order, out).pass;
  mean[i] = right;
  return pass;
}

static void wants_nan_infinity_and_sign(void **state) {
  (void)state;
  rung_case test_case = made("n=40 op=mean outer=33 data=special", 2);
  rung_view out = strict_results(&test_case);
  const float *mean = (const float *)out.data;
  int nans = 0, infinities = 0, zeros = 0;
  for (int i = 0; i < 33; ++i) {
    if (isnan(mean[i])) {
      nans++;
      assert_true(passes(&test_case, &out, i, -NAN, RUNG_CANONICAL));
      assert_false(passes(&test_case, &out, i, 1, RUNG_CANONICAL));
      assert_false(passes(&test_case, &out, i, 1, RUNG_TEXTBOOK));
    } else if (isinf(mean[i])) {
      infinities++;
      assert_false(passes(&test_case, &out, i, -mean[i], RUNG_CANONICAL));
    } else if (mean[i] == 0) {
      zeros++;
      assert_false(passes(&test_case, &out, i, -mean[i], RUNG_CANONICAL));
    }
  }
  assert_true(nans > 0 && infinities > 0 && zeros > 0);
  free(out.data);
  reduce_cases.drop(&test_case);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes_defaults_out),         cmocka_unit_test(draws_by_seed),
      cmocka_unit_test(sees_what_is_wrong),          cmocka_unit_test(tells_orders_apart),
      cmocka_unit_test(wants_nan_infinity_and_sign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
