/* Every refusal of rung_correlate() and rung_convolve() names its argument and value and says what
 * is expected, and nothing has been written. */
#include "ops/context.h"

static double x[24], taps[24], out[24];

static void refused(const rung_filter_model *model, const DLTensor *in, const DLTensor *kernel,
                    DLTensor *to, rung_call *call, rung_status status, const char *part) {
  for (int i = 0; i < 24; ++i) out[i] = 7;
  expect_refusal(rung_correlate(context, model, in, kernel, to, call), status, part);
  expect_refusal(rung_convolve(context, model, in, kernel, to, call), status, part);
  for (int i = 0; i < 24; ++i) assert_true(out[i] == 7);
}

static void refuses_shapes(void **state) {
  (void)state;
  int64_t image[3] = {3, 4, 2}, plain[2] = {3, 4}, square[3] = {2, 3, 3}, pair[4] = {2, 3, 4, 2};
  int64_t five[3] = {2, 2, 5}, four[4] = {1, 1, 1, 1}, wide[2] = {1, 64}, none[2] = {0, 3};
  int64_t no_kernels[3] = {0, 1, 1}, three[3] = {3, 4, 1}, high[2] = {4, 4}, zero[2] = {4, 0};
  DLTensor in = tensor(x, f64, 2, plain, NULL), kernel = tensor(taps, f64, 2, square + 1, NULL),
           to = tensor(out, f64, 2, plain, NULL), bad = in;
  refused(NULL, NULL, &kernel, &to, NULL, RUNG_BAD_ARGUMENT, "in is NULL");
  refused(NULL, &in, NULL, &to, NULL, RUNG_BAD_ARGUMENT, "kernel is NULL");
  refused(NULL, &in, &kernel, NULL, NULL, RUNG_BAD_ARGUMENT, "out is NULL");
  bad = tensor(x, f64, 4, four, NULL);
  refused(NULL, &bad, &kernel, &to, NULL, RUNG_BAD_SHAPE,
          "in has 4 dimensions; expected: 2 (height, width) or 3");
  bad = tensor(x, f64, 3, five, NULL);
  refused(NULL, &bad, &kernel, &to, NULL, RUNG_BAD_SHAPE, "in has 5 channels; expected: 1 ... 4");
  bad = tensor(taps, f64, 4, four, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_SHAPE,
          "kernel has 4 dimensions; expected: 2 (rows, columns) or 3");
  bad = tensor(taps, f64, 2, wide, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_SHAPE, "kernel has 64 columns; expected: 1 ... 63");
  bad = tensor(taps, f64, 2, none, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_SHAPE, "kernel has 0 rows; expected: 1 ... 63");
  bad = tensor(taps, f64, 3, no_kernels, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_SHAPE, "kernel has 0 kernels; expected: at least 1");
  bad = tensor(taps, f64, 3, square, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_SHAPE, "out has 2 dimensions");
  to = tensor(out, f64, 3, three, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_SHAPE, "out is of 3 kernels; expected: 2");
  in = tensor(x, f64, 3, image, NULL);
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_SHAPE, "out has 1 channels; expected: 2");
  pair[0] = 2;
  to = tensor(out, f64, 4, pair, NULL);
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_SHAPE, "out has 4 dimensions");
  in = tensor(x, f64, 2, plain, NULL);
  to = tensor(out, f64, 2, high, NULL);
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_SHAPE,
          "out has 4 rows from number 0 of in on; expected: at most 3");
  to = tensor(out, f64, 2, plain, zero);
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_SHAPE, "out has stride 0");
}

static void refuses_models(void **state) {
  (void)state;
  int64_t plain[2] = {3, 4}, even[2] = {2, 3}, small[2] = {2, 3};
  const DLTensor in = tensor(x, f64, 2, plain, NULL), kernel = tensor(taps, f64, 2, even, NULL);
  DLTensor to = tensor(out, f64, 2, small, NULL);
  rung_filter_model model = {.edge = (rung_edge)9};
  refused(&model, &in, &kernel, &to, NULL, RUNG_BAD_ARGUMENT, "model.edge is 9; expected: 0 ... 4");
  model = (rung_filter_model){.origin = {1, 0}};
  refused(&model, &in, &kernel, &to, NULL, RUNG_BAD_ARGUMENT,
          "model.origin[0] is 1; expected: -1 ... 0 for a kernel of 2 rows");
  model = (rung_filter_model){.origin = {0, -2}};
  refused(&model, &in, &kernel, &to, NULL, RUNG_BAD_ARGUMENT,
          "model.origin[1] is -2; expected: -1 ... 1 for a kernel of 3 columns");
  model = (rung_filter_model){.region = {-1, 0}};
  refused(&model, &in, &kernel, &to, NULL, RUNG_BAD_ARGUMENT,
          "model.region[0] is -1; expected: 0 ... 3");
  model = (rung_filter_model){.region = {0, 2}};
  refused(&model, &in, &kernel, &to, NULL, RUNG_BAD_SHAPE,
          "out has 3 columns from number 2 of in on; expected: at most 2");
}

static void refuses_numbers_and_types(void **state) {
  (void)state;
  int64_t plain[2] = {3, 4}, square[2] = {3, 3};
  DLTensor in = tensor(x, f64, 2, plain, NULL), kernel = tensor(taps, f64, 2, square, NULL),
           to = tensor(out, f64, 2, plain, NULL), bad = tensor(x, i64, 2, plain, NULL);
  taps[5] = NAN;
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_ARGUMENT,
          "kernel has nan in row 1, column 2; expected: finite numbers of f64");
  taps[5] = 1e300;
  in.dtype = to.dtype = f32;
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_ARGUMENT,
          "kernel has 1e+300 in row 1, column 2; expected: finite numbers of f32");
  taps[5] = 0;
  refused(NULL, &bad, &kernel, &to, NULL, RUNG_BAD_DTYPE,
          "in has elements of type int (DLPack code 0), 64 bits");
  refused(NULL, &in, &kernel, &bad, NULL, RUNG_BAD_DTYPE,
          "out has elements of type int (DLPack code 0), 64 bits");
  bad = tensor(taps, f16, 2, square, NULL);
  refused(NULL, &in, &bad, &to, NULL, RUNG_BAD_DTYPE,
          "kernel has elements of type float (DLPack code 2), 16 bits");
  kernel.device.device_type = kDLCUDA;
  refused(NULL, &in, &kernel, &to, NULL, RUNG_BAD_PLACE,
          "kernel is in the memory of a device; expected: host memory");
}

static void refuses_shared_memory_and_calls(void **state) {
  (void)state;
  int64_t plain[2] = {3, 4}, square[2] = {3, 3}, huge[2] = {INT64_C(1) << 40, INT64_C(1) << 30};
  int64_t still[2] = {0, 0};
  DLTensor in = tensor(out + 11, f64, 2, plain, NULL), kernel = tensor(taps, f64, 2, square, NULL),
           to = tensor(out, f64, 2, plain, NULL), large = tensor(x, f64, 2, huge, still);
  refused(NULL, &in, &kernel, &to, NULL, RUNG_OVERLAP, "out shares memory with in");
  in.data = x;
  kernel.data = out + 11;
  refused(NULL, &in, &kernel, &to, NULL, RUNG_OVERLAP, "out shares memory with kernel");
  kernel.data = taps;
  refused(NULL, &large, &kernel, &to, NULL, RUNG_TOO_LARGE,
          "in has more elements than fit in 64 bits");
  rung_call call = {.rung = "dft"};
  refused(NULL, &in, &kernel, &to, &call, RUNG_UNKNOWN_NAME, "rung is \"dft\"");
  call.rung = "blocked";
  refused(NULL, &in, &kernel, &to, &call, RUNG_UNSUPPORTED, "GPUs only");
  assert_int_equal(rung_correlate(NULL, NULL, &in, &kernel, &to, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_correlate(context, NULL, &in, &kernel, &to, NULL), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
  int64_t none[2] = {0, 4};
  DLTensor empty = tensor(x, f64, 2, none, NULL), result = tensor(out, f64, 2, none, NULL);
  assert_int_equal(rung_correlate(context, NULL, &empty, &kernel, &result, NULL), RUNG_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_shapes),
      cmocka_unit_test(refuses_models),
      cmocka_unit_test(refuses_numbers_and_types),
      cmocka_unit_test(refuses_shared_memory_and_calls),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
