/* Every refusal of rung_reduce() names its argument, its value and what is expected, and nothing
 * has been written. */
#include "ops/context.h"
#include "ops/reduce/outside.h"

static double x[24], out[12];

static void refused(rung_reduction what, const DLTensor *in, int axis, DLTensor *to,
                    rung_call *call, rung_status status, const char *part) {
  for (int i = 0; i < 12; ++i) out[i] = 7;
  expect_refusal(rung_reduce(context, what, in, axis, to, call), status, part);
  for (int i = 0; i < 12; ++i) assert_true(out[i] == 7);
}

static void refuses_what_and_axis(void **state) {
  (void)state;
  int64_t shape[3] = {2, 3, 4}, kept[2] = {2, 3};
  DLTensor in = tensor(x, f64, 3, shape, NULL), to = tensor(out, f64, 2, kept, NULL);
  DLTensor point = tensor(x, f64, 0, NULL, NULL), all = tensor(out, f64, 0, NULL, NULL);
  refused((rung_reduction)4, &in, 2, &to, NULL, RUNG_BAD_ARGUMENT, "what is 4; expected: RUNG_SUM");
  refused((rung_reduction)-1, &in, 2, &to, NULL, RUNG_BAD_ARGUMENT, "what is -1");
  refused(RUNG_SUM, &in, 3, &to, NULL, RUNG_BAD_ARGUMENT,
          "axis is 3, and in has 3 dimensions; expected: -3 ... 2, or RUNG_ALL");
  refused(RUNG_SUM, &in, -4, &to, NULL, RUNG_BAD_ARGUMENT, "axis is -4");
  refused(RUNG_SUM, &in, RUNG_ALL + 1, &to, NULL, RUNG_BAD_ARGUMENT, "axis is -2147483647");
  refused(RUNG_SUM, &point, 0, &all, NULL, RUNG_BAD_ARGUMENT, "axis is 0, and in has no dimension");
  assert_int_equal(rung_reduce(NULL, RUNG_SUM, &in, 2, &to, NULL), RUNG_BAD_ARGUMENT);
}

static void refuses_arrays(void **state) {
  (void)state;
  int64_t shape[9] = {2, 3, 4, 1, 1, 1, 1, 1, 1}, kept[2] = {2, 3}, zero[2] = {0, 1};
  int64_t two[1] = {2}, turned[2] = {3, 2}, huge[2] = {2, ((int64_t)1 << 40) + 1},
          still[2] = {0, 0};
  DLTensor in = tensor(x, f64, 3, shape, NULL), to = tensor(out, f64, 2, kept, NULL), bad = in;
  refused(RUNG_SUM, NULL, 2, &to, NULL, RUNG_BAD_ARGUMENT, "in is NULL");
  refused(RUNG_SUM, &in, 2, NULL, NULL, RUNG_BAD_ARGUMENT, "out is NULL");
  bad.data = NULL;
  refused(RUNG_SUM, &bad, 2, &to, NULL, RUNG_BAD_ARGUMENT, "in has 24 elements and NULL data");
  bad = in, bad.ndim = 9;
  refused(RUNG_SUM, &bad, 2, &to, NULL, RUNG_BAD_SHAPE, "in has 9 dimensions; expected: 0 ... 8");
  bad.ndim = -1;
  refused(RUNG_SUM, &bad, 2, &to, NULL, RUNG_BAD_SHAPE, "in has -1 dimensions");
  bad = in, bad.dtype.bits = 24;
  refused(RUNG_SUM, &bad, 2, &to, NULL, RUNG_BAD_DTYPE,
          "u8, i8, u16, i16, i32, u32, i64, u64, f16, bf16, f32 or f64");
  bad = tensor(x, f64, 2, huge, still);
  refused(RUNG_SUM, &bad, 1,
          &(DLTensor){.data = out, .device = {kDLCPU, 0}, .ndim = 1, .dtype = f64, .shape = two},
          NULL, RUNG_TOO_LARGE, "at most 2^40");
  bad = tensor(out, f64, 1, kept, NULL);
  refused(RUNG_SUM, &in, 2, &bad, NULL, RUNG_BAD_SHAPE, "out has 1 dimensions; expected: 2");
  bad = tensor(out, f64, 2, turned, NULL);
  refused(RUNG_SUM, &in, 2, &bad, NULL, RUNG_BAD_SHAPE,
          "out has extent 3 in dimension 0; expected: 2, in's without its axis 2");
  bad = tensor(out, f64, 1, two, NULL);
  refused(RUNG_SUM, &in, RUNG_ALL, &bad, NULL, RUNG_BAD_SHAPE,
          "out has 2 elements; expected: 1, or no");
  bad = tensor(out, f64, 2, kept, zero);
  refused(RUNG_SUM, &in, 2, &bad, NULL, RUNG_BAD_SHAPE, "out has stride 0");
  bad = to, bad.data = x + 20;
  refused(RUNG_SUM, &in, 2, &bad, NULL, RUNG_OVERLAP, "out shares memory with in");
}

static void refuses_results_of_other_types(void **state) {
  (void)state;
  static const struct {
    rung_reduction what;
    const DLDataType *in, *out;
    const char *wanted;
  } cases[] = {
      {RUNG_SUM, &i32, &i32, "expected: i64"},    {RUNG_SUM, &u8, &i64, "expected: u64"},
      {RUNG_SUM, &f32, &f64, "expected: f32"},    {RUNG_MEAN, &i32, &i64, "expected: f64"},
      {RUNG_MEAN, &f32, &f64, "expected: f32"},   {RUNG_MIN, &u8, &u64, "expected: u8"},
      {RUNG_MAX, &i32, &u32, "expected: i32"},    {RUNG_SUM, &f16, &f32, "expected: f16"},
      {RUNG_MEAN, &bf16, &f16, "expected: bf16"}, {RUNG_SUM, &i16, &i32, "expected: i64"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    int64_t shape[1] = {3};
    DLTensor in = tensor(x, *cases[c].in, 1, shape, NULL);
    DLTensor to = tensor(out, *cases[c].out, 0, NULL, NULL);
    refused(cases[c].what, &in, 0, &to, NULL, RUNG_BAD_DTYPE, cases[c].wanted);
  }
}

static void refuses_calls(void **state) {
  (void)state;
  int64_t shape[3] = {2, 3, 4}, kept[2] = {2, 3};
  DLTensor in = tensor(x, f64, 3, shape, NULL), to = tensor(out, f64, 2, kept, NULL);
  rung_call call = {.rung = "fastest"};
  refused(RUNG_SUM, &in, 2, &to, &call, RUNG_UNKNOWN_NAME, "fastest");
  call = (rung_call){.rung = "single-pass"};
  refused(RUNG_SUM, &in, 2, &to, &call, RUNG_UNSUPPORTED, "GPUs only");
  call = (rung_call){.block = 1025};
  refused(RUNG_SUM, &in, 2, &to, &call, RUNG_BAD_ARGUMENT, "1025");
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 2, &to, NULL), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_what_and_axis),
      cmocka_unit_test(refuses_arrays),
      cmocka_unit_test(refuses_results_of_other_types),
      cmocka_unit_test(refuses_calls),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
