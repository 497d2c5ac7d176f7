/* Every refusal of rung_scan() names its argument and value and says what is expected, and nothing
 * has been written. */
#include "ops/context.h"
#include "ops/scan/outside.h"

static double both[48], *const x = both, *const out = both + 24; /* out lies behind x */

static void refused(rung_reduction what, const DLTensor *in, int exclusive, DLTensor *to,
                    rung_call *call, rung_status status, const char *part) {
  for (int i = 0; i < 24; ++i) x[i] = out[i] = 7;
  expect_refusal(rung_scan(context, what, in, -1, exclusive, to, call), status, part);
  for (int i = 0; i < 24; ++i) assert_true(x[i] == 7 && out[i] == 7);
}

static void refuses_what_and_exclusive(void **state) {
  (void)state;
  int64_t shape[2] = {2, 12};
  DLTensor in = tensor(x, f64, 2, shape, NULL), to = tensor(out, f64, 2, shape, NULL);
  refused(RUNG_MEAN, &in, 0, &to, NULL, RUNG_BAD_ARGUMENT,
          "what is 3 (RUNG_MEAN); expected: RUNG_SUM (0)");
  refused((rung_reduction)4, &in, 0, &to, NULL, RUNG_BAD_ARGUMENT, "what is 4; expected: RUNG_SUM");
  refused((rung_reduction)-1, &in, 0, &to, NULL, RUNG_BAD_ARGUMENT, "what is -1");
  refused(RUNG_SUM, &in, 2, &to, NULL, RUNG_BAD_ARGUMENT, "exclusive is 2; expected: 0 or 1");
  refused(RUNG_SUM, &in, -1, &to, NULL, RUNG_BAD_ARGUMENT, "exclusive is -1");
  assert_int_equal(rung_scan(NULL, RUNG_SUM, &in, -1, 0, &to, NULL), RUNG_BAD_ARGUMENT);
}

static void refuses_axes(void **state) {
  (void)state;
  int64_t shape[2] = {2, 12};
  DLTensor in = tensor(x, f64, 2, shape, NULL), to = tensor(out, f64, 2, shape, NULL), one = in;
  for (int i = 0; i < 24; ++i) x[i] = out[i] = 7;
  expect_refusal(rung_scan(context, RUNG_SUM, &in, 2, 0, &to, NULL), RUNG_BAD_ARGUMENT,
                 "axis is 2, and in has 2 dimensions; expected: -2 ... 1");
  expect_refusal(rung_scan(context, RUNG_SUM, &in, -3, 0, &to, NULL), RUNG_BAD_ARGUMENT,
                 "axis is -3");
  expect_refusal(rung_scan(context, RUNG_SUM, &in, RUNG_ALL, 0, &to, NULL), RUNG_BAD_ARGUMENT,
                 "axis is -2147483648");
  one.ndim = 1;
  expect_refusal(rung_scan(context, RUNG_SUM, &one, 1, 0, &to, NULL), RUNG_BAD_ARGUMENT,
                 "axis is 1, and in has 1 dimension; expected: -1 ... 0");
  rung_call call = {.rung = "across"};
  expect_refusal(rung_scan(context, RUNG_SUM, &in, 1, 0, &to, &call), RUNG_UNSUPPORTED,
                 "it takes lines that lie side by side");
  for (int i = 0; i < 24; ++i) assert_true(out[i] == 7);
}

static void refuses_arrays(void **state) {
  (void)state;
  int64_t shape[9] = {2, 3, 4, 1, 1, 1, 1, 1, 1}, turned[3] = {2, 4, 3}, zero[3] = {12, 0, 1};
  int64_t huge[2] = {1, ((int64_t)1 << 40) + 1}, still[2] = {0, 0}, away[2] = {0, 1};
  DLTensor in = tensor(x, f64, 3, shape, NULL), to = tensor(out, f64, 3, shape, NULL), bad = in;
  refused(RUNG_SUM, NULL, 0, &to, NULL, RUNG_BAD_ARGUMENT, "in is NULL");
  refused(RUNG_SUM, &in, 0, NULL, NULL, RUNG_BAD_ARGUMENT, "out is NULL");
  bad.data = NULL;
  refused(RUNG_SUM, &bad, 0, &to, NULL, RUNG_BAD_ARGUMENT, "in has 24 elements and NULL data");
  bad = in, bad.ndim = 0;
  refused(RUNG_SUM, &bad, 0, &to, NULL, RUNG_BAD_SHAPE, "in has 0 dimensions; expected: 1 ... 8");
  bad.ndim = 9;
  refused(RUNG_SUM, &bad, 0, &to, NULL, RUNG_BAD_SHAPE, "in has 9 dimensions");
  bad = in, bad.dtype = (DLDataType){kDLFloat, 128, 1};
  refused(RUNG_SUM, &bad, 0, &to, NULL, RUNG_BAD_DTYPE,
          "expected: u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32 or f64");
  bad = to, bad.dtype = bf16;
  refused(RUNG_SUM, &in, 0, &bad, NULL, RUNG_BAD_DTYPE, "expected: f64");
  bad = to, bad.dtype = f32;
  refused(RUNG_SUM, &in, 0, &bad, NULL, RUNG_BAD_DTYPE, "expected: f64");
  bad = to, bad.ndim = 2;
  refused(RUNG_SUM, &in, 0, &bad, NULL, RUNG_BAD_SHAPE, "out has 2 dimensions; expected: 3");
  bad = to, bad.shape = turned;
  refused(RUNG_SUM, &in, 0, &bad, NULL, RUNG_BAD_SHAPE,
          "out has extent 4 in dimension 1; expected: 3, in's");
  bad = to, bad.strides = zero;
  refused(RUNG_SUM, &in, 0, &bad, NULL, RUNG_BAD_SHAPE, "out has stride 0");
  bad = tensor(x, f64, 2, huge, still);
  DLTensor long_out = tensor(out, f64, 2, huge, away);
  refused(RUNG_SUM, &bad, 0, &long_out, NULL, RUNG_TOO_LARGE, "at most 2^40");
}

static void refuses_shared_memory(void **state) {
  (void)state;
  int64_t shape[1] = {10}, back[1] = {-1};
  DLTensor in = tensor(x, f64, 1, shape, NULL), to = tensor(x + 1, f64, 1, shape, NULL);
  refused(RUNG_SUM, &in, 0, &to, NULL, RUNG_OVERLAP, "out shares memory with in");
  to = tensor(x + 9, f64, 1, shape, back);
  refused(RUNG_SUM, &in, 0, &to, NULL, RUNG_OVERLAP,
          "expected: the very same array, or none of its memory");
}

static void refuses_calls(void **state) {
  (void)state;
  int64_t shape[2] = {2, 12};
  DLTensor in = tensor(x, f64, 2, shape, NULL), to = tensor(out, f64, 2, shape, NULL);
  rung_call call = {.rung = "fastest"};
  refused(RUNG_SUM, &in, 0, &to, &call, RUNG_UNKNOWN_NAME, "fastest");
  call = (rung_call){.rung = "single-pass"};
  refused(RUNG_SUM, &in, 0, &to, &call, RUNG_UNSUPPORTED, "GPUs only");
  call = (rung_call){.block = 1025};
  refused(RUNG_SUM, &in, 0, &to, &call, RUNG_BAD_ARGUMENT, "1025");
  assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 0, &to, NULL), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_what_and_exclusive),
      cmocka_unit_test(refuses_axes),
      cmocka_unit_test(refuses_arrays),
      cmocka_unit_test(refuses_shared_memory),
      cmocka_unit_test(refuses_calls),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
