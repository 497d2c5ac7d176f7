/* Every refusal of rung_matmul() names its argument and value and says what is expected, and
 * nothing has been written. */
#include "ops/context.h"

static double x[24], y[24], out[24];

static void refused(double alpha, const DLTensor *a, const DLTensor *b, double beta, DLTensor *c,
                    rung_call *call, rung_status status, const char *part) {
  for (int i = 0; i < 24; ++i) x[i] = y[i] = out[i] = 7;
  expect_refusal(rung_matmul(context, alpha, a, b, beta, c, call), status, part);
  for (int i = 0; i < 24; ++i) assert_true(x[i] == 7 && y[i] == 7 && out[i] == 7);
}

static void refuses_shapes(void **state) {
  (void)state;
  int64_t left[3] = {3, 4, 2}, right[3] = {3, 2, 1}, small[3] = {2, 2, 1}, result[3] = {3, 4, 1};
  int64_t odd[3] = {3, 5, 1}, zero[3] = {4, 0, 1}, many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  int64_t thick[2] = {3, 2};
  DLTensor a = tensor(x, f64, 3, left, NULL), b = tensor(y, f64, 3, right, NULL),
           c = tensor(out, f64, 3, result, NULL), bad = a;
  refused(1, NULL, &b, 0, &c, NULL, RUNG_BAD_ARGUMENT, "a is NULL");
  refused(1, &a, NULL, 0, &c, NULL, RUNG_BAD_ARGUMENT, "b is NULL");
  refused(1, &a, &b, 0, NULL, NULL, RUNG_BAD_ARGUMENT, "c is NULL");
  bad = tensor(x, f64, 1, left, NULL);
  refused(1, &bad, &b, 0, &c, NULL, RUNG_BAD_SHAPE, "a has 1 dimensions; expected: 2");
  bad = tensor(y, f64, 9, many, NULL);
  refused(1, &a, &bad, 0, &c, NULL, RUNG_BAD_SHAPE, "b has 9 dimensions; expected: 2");
  bad = tensor(out, f64, 2, thick, NULL);
  refused(1, &a, &b, 0, &bad, NULL, RUNG_BAD_SHAPE, "c has 2 dimensions; expected: 3");
  bad = tensor(y, f64, 3, left, NULL);
  refused(1, &a, &bad, 0, &c, NULL, RUNG_BAD_SHAPE,
          "a has 2 columns and b has 4 rows; expected: as many");
  bad = tensor(out, f64, 3, odd, NULL);
  refused(1, &a, &b, 0, &bad, NULL, RUNG_BAD_SHAPE,
          "c is 5 by 1; expected: 4, the rows of a, by 1");
  bad = tensor(y, f64, 3, small, NULL);
  refused(1, &a, &bad, 0, &c, NULL, RUNG_BAD_SHAPE,
          "a has extent 3 in dimension -3 and b has 2 there; expected: the same, or 1");
  bad = tensor(y, f64, 2, right + 1, NULL);
  c.shape = small;
  small[1] = 4;
  refused(1, &a, &bad, 0, &c, NULL, RUNG_BAD_SHAPE, "c has extent 2 in dimension -3; expected: 3");
  c.shape = result;
  c.strides = zero;
  refused(1, &a, &b, 0, &c, NULL, RUNG_BAD_SHAPE, "c has stride 0");
}

static void refuses_types(void **state) {
  (void)state;
  int64_t shape[2] = {2, 2};
  DLTensor a = tensor(x, f64, 2, shape, NULL), b = tensor(y, f32, 2, shape, NULL),
           c = tensor(out, f64, 2, shape, NULL), bytes = tensor(x, i8, 2, shape, NULL),
           halves = tensor(x, f16, 2, shape, NULL), wide = tensor(x, u64, 2, shape, NULL);
  refused(1, &a, &b, 0, &c, NULL, RUNG_BAD_DTYPE, "expected: f64");
  refused(1, &wide, &wide, 0, &c, NULL, RUNG_BAD_DTYPE, "expected: i8, f16, bf16, f32 or f64");
  refused(1, &bytes, &bytes, 0, &c, NULL, RUNG_BAD_DTYPE, "expected: i32");
  refused(1, &halves, &halves, 0, &c, NULL, RUNG_BAD_DTYPE, "expected: f16 or f32");
}

static void refuses_factors(void **state) {
  (void)state;
  int64_t shape[2] = {2, 2};
  DLTensor a = tensor(x, f32, 2, shape, NULL), b = tensor(y, f32, 2, shape, NULL),
           c = tensor(out, f32, 2, shape, NULL), bytes = tensor(x, i8, 2, shape, NULL),
           sums = tensor(out, i32, 2, shape, NULL);
  refused(1e39, &a, &b, 0, &c, NULL, RUNG_BAD_ARGUMENT,
          "alpha is 1e+39; expected: a finite number");
  refused(1, &a, &b, NAN, &c, NULL, RUNG_BAD_ARGUMENT, "beta is nan; expected: a finite number");
  refused(0.5, &bytes, &bytes, 0, &sums, NULL, RUNG_BAD_ARGUMENT,
          "alpha is 0.5; expected: of integers a whole number");
  refused(1, &bytes, &bytes, 0x1p32, &sums, NULL, RUNG_BAD_ARGUMENT, "beta is 4.29497e+09");
}

/* What fixed point has not, and what has not fixed point. */
static void refuses_fixed_point(void **state) {
  (void)state;
  int64_t shape[2] = {2, 2}, long_a[2] = {1, (INT64_C(1) << 26) + 1}, long_b[2] = {long_a[1], 1};
  int64_t still[2] = {0, 0}, one[2] = {1, 1};
  DLTensor a = tensor(x, f32, 2, shape, NULL), b = tensor(y, f32, 2, shape, NULL),
           c = tensor(out, f32, 2, shape, NULL), wide = tensor(x, f64, 2, shape, NULL),
           bytes = tensor(x, i8, 2, shape, NULL), row = tensor(x, f32, 2, long_a, still),
           column = tensor(y, f32, 2, long_b, still), number = tensor(out, f32, 2, one, NULL);
  static const int bad[] = {-1, 1, 7, 32, 1000};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    rung_call call = {.math = RUNG_MATH_FIXED, .bits = bad[k]};
    refused(1, &a, &b, 0, &c, &call, RUNG_BAD_ARGUMENT, "expected: 8 ... 31, or 0 for 31");
  }
  /* Also where the same job without them has just been done, and its rung is remembered. */
  for (int k = 0; k < 2; k++) {
    refused(2, &a, &b, 0, &c, &(rung_call){.bits = 23}, RUNG_BAD_ARGUMENT,
            "bits is 23; expected: 0");
    assert_int_equal(rung_matmul(context, 2, &a, &b, 0, &c, NULL), RUNG_OK);
  }
  rung_call fixed = {.math = RUNG_MATH_FIXED};
  refused(1, &wide, &wide, 0, &wide, &fixed, RUNG_BAD_DTYPE, "expected: f16, bf16 or f32");
  refused(1, &bytes, &bytes, 0, &c, &fixed, RUNG_BAD_DTYPE, "expected: f16, bf16 or f32");
  refused(1, &row, &column, 0, &number, &fixed, RUNG_TOO_LARGE,
          "a has 67108865 columns; expected of fixed point: at most 67108864");
  fixed.rung = "threads";
  refused(1, &a, &b, 0, &c, &fixed, RUNG_UNSUPPORTED, "it does not add up in fixed point");
  refused(1, &a, &b, 0, &c, &(rung_call){.rung = "packed-digits"}, RUNG_UNSUPPORTED,
          "`--math fixed` (math = RUNG_MATH_FIXED) asks for that");
}

static void refuses_shared_memory(void **state) {
  (void)state;
  int64_t shape[2] = {2, 2};
  DLTensor a = tensor(x, f64, 2, shape, NULL), b = tensor(y, f64, 2, shape, NULL),
           c = tensor(x + 3, f64, 2, shape, NULL);
  refused(1, &a, &b, 0, &c, NULL, RUNG_OVERLAP, "c shares memory with a");
  c.data = y;
  refused(1, &a, &b, 1, &c, NULL, RUNG_OVERLAP, "c shares memory with b");
}

static void refuses_calls_and_sizes(void **state) {
  (void)state;
  int64_t shape[2] = {2, 2}, huge[3] = {INT64_C(1) << 40, INT64_C(1) << 30, 1};
  int64_t still[3] = {0, 0, 0};
  DLTensor a = tensor(x, f64, 2, shape, NULL), b = tensor(y, f64, 2, shape, NULL),
           c = tensor(out, f64, 2, shape, NULL), large = tensor(x, f64, 2, huge, still);
  rung_call call = {.rung = "tf64"};
  refused(1, &a, &b, 0, &c, &call, RUNG_UNKNOWN_NAME, "rung is \"tf64\"");
  static const char *const loose[] = {"tf32", "tf32x3", "bf16", "f16"};
  for (size_t k = 0; k < sizeof loose / sizeof *loose; k++) {
    call = (rung_call){.rung = loose[k]};
    refused(1, &a, &b, 0, &c, &call, RUNG_UNSUPPORTED, "math = RUNG_MATH_FAST) allows it");
    call.math = RUNG_MATH_FAST;
    refused(1, &a, &b, 0, &c, &call, RUNG_UNSUPPORTED, "it runs on GPUs only");
  }
  call = (rung_call){.rung = "tiled"};
  refused(1, &a, &b, 0, &c, &call, RUNG_UNSUPPORTED, "GPUs only");
  refused(1, &large, &b, 0, &c, NULL, RUNG_TOO_LARGE, "a has more elements than fit in 64 bits");
  assert_int_equal(rung_matmul(NULL, 1, &a, &b, 0, &c, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_matmul(context, 1, &a, &b, 0, &c, NULL), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
  /* Nothing to do: a batch of none, of matrices of any size. */
  int64_t none[3] = {0, INT64_C(1) << 40, INT64_C(1) << 40};
  DLTensor empty = tensor(x, f64, 3, none, NULL), to = tensor(out, f64, 3, none, NULL);
  assert_int_equal(rung_matmul(context, 1, &empty, &empty, 0, &to, NULL), RUNG_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_shapes),          cmocka_unit_test(refuses_types),
      cmocka_unit_test(refuses_factors),         cmocka_unit_test(refuses_shared_memory),
      cmocka_unit_test(refuses_calls_and_sizes), cmocka_unit_test(refuses_fixed_point),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
