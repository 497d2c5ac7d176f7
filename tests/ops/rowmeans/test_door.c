/* rung_rowmeans() on the CPU: every kind of view gives the reference's bits, and every refusal
 * names its argument and writes nothing. */
#include "core/random.h"
#include "ops/context.h"
#include "ops/rowmeans/lab/cases.h"
#include "ops/rowmeans/rowmeans.h"

/* ---- views ----------------------------------------------------------------------------------- */

/* Element (i, j) of the view, gathered; then the reference on the copy. */
static void same_as_reference(const double *origin, int64_t rows, int64_t columns,
                              const int64_t strides[2], const double *means, int64_t step) {
  const rowmeans_problem problem = {.rows = rows, .columns = columns, .dtype = RUNG_F64};
  double *row = (double *)malloc((size_t)columns * sizeof *row);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) row[j] = origin[i * strides[0] + j * strides[1]];
    double mean;
    rowmeans_reference_strict(&problem, row, &mean);
    if (mean != means[i * step])
      fail_msg("row %ld of %ld x %ld, strides %ld %ld: %a instead of %a", (long)i, (long)rows,
               (long)columns, (long)strides[0], (long)strides[1], means[i * step], mean);
  }
  free(row);
}

static double *random_numbers(int64_t count) {
  double *x = (double *)malloc((size_t)count * sizeof *x);
  rung_random random = {11};
  for (int64_t i = 0; i < count; ++i) x[i] = rung_random_double(&random) - 0.25;
  return x;
}

static void takes_any_view(void **state) {
  (void)state;
  enum { ROWS = 7, COLUMNS = 2500, ROOM = 4 * ROWS * COLUMNS };
  static const int64_t strides[][2] = {{COLUMNS, 1},   {1, ROWS},         {-COLUMNS, -1},
                                       {0, 1},         {COLUMNS, 0},      {2 * COLUMNS, 2},
                                       {-1, 3 * ROWS}, {COLUMNS + 1, -1}, {0, 0}};
  double *x = random_numbers(2 * ROOM), *origin = x + ROOM;
  for (size_t k = 0; k < sizeof strides / sizeof strides[0]; ++k) {
    int64_t shape[2] = {ROWS, COLUMNS}, in_strides[2] = {strides[k][0], strides[k][1]};
    int64_t means_shape[1] = {ROWS}, means_stride[1] = {-3};
    double means[3 * ROWS] = {0};
    DLTensor in = tensor(origin, f64, 2, shape, in_strides);
    DLTensor out = tensor(means + 3 * (ROWS - 1), f64, 1, means_shape, means_stride);
    rung_call call = {0};
    if (rung_rowmeans(context, &in, &out, &call) != RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    assert_string_equal(call.used, "threads");
    same_as_reference(origin, ROWS, COLUMNS, in_strides, means + 3 * (ROWS - 1), -3);
  }
  free(x);
}

/* More packed rows than one slice of the door holds: 64 MiB. */
static void packs_slice_by_slice(void **state) {
  (void)state;
  enum { ROWS = 5, COLUMNS = 3 << 20 };
  double *x = random_numbers((int64_t)ROWS * COLUMNS);
  int64_t shape[2] = {ROWS, COLUMNS}, strides[2] = {1, ROWS}, means_shape[1] = {ROWS};
  double means[ROWS];
  DLTensor in = tensor(x, f64, 2, shape, strides);
  DLTensor out = tensor(means, f64, 1, means_shape, NULL);
  assert_int_equal(rung_rowmeans(context, &in, &out, NULL), RUNG_OK);
  same_as_reference(x, ROWS, COLUMNS, strides, means, 1);
  free(x);
}

static void takes_one_element(void **state) {
  (void)state;
  float x = 0.3f, mean = 0;
  int64_t shape[2] = {1, 1}, strides[2] = {99, 99};
  DLTensor in = tensor(&x, f32, 2, shape, strides), out = tensor(&mean, f32, 1, shape, NULL);
  assert_int_equal(rung_rowmeans(context, &in, &out, NULL), RUNG_OK);
  assert_true(mean == x);
}

static void takes_rungs_by_name(void **state) {
  (void)state;
  static const char *const names[] = {"serial", "lanes", "threads"};
  double *x = random_numbers(4 * 100000);
  int64_t shape[2] = {4, 100000}, means_shape[1] = {4};
  double means[3][4];
  for (int k = 0; k < 3; ++k) {
    DLTensor in = tensor(x, f64, 2, shape, NULL), out = tensor(means[k], f64, 1, means_shape, NULL);
    rung_call call = {.rung = names[k]};
    assert_int_equal(rung_rowmeans(context, &in, &out, &call), RUNG_OK);
    assert_string_equal(call.used, names[k]);
  }
  assert_memory_equal(means[1], means[2], sizeof means[1]);
  assert_memory_not_equal(means[0], means[1], sizeof means[1]);
  for (int i = 0; i < 4; ++i) assert_true(fabs(means[0][i] - means[1][i]) < 1e-11);
  free(x);
}

/* 0.75 times any count met here fits in a float's 24 bits, so no addition rounds. */
static void equal_values_are_their_mean(void **state) {
  (void)state;
  enum { COLUMNS = 70001 };
  float *x = (float *)malloc(COLUMNS * sizeof *x), mean;
  for (int j = 0; j < COLUMNS; ++j) x[j] = 0.75f;
  int64_t shape[2] = {1, COLUMNS};
  DLTensor in = tensor(x, f32, 2, shape, NULL), out = tensor(&mean, f32, 1, shape, NULL);
  assert_int_equal(rung_rowmeans(context, &in, &out, NULL), RUNG_OK);
  assert_true(mean == 0.75f);
  free(x);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refused(const DLTensor *in, DLTensor *means, rung_call *call, rung_status status,
                    const char *part) {
  expect_refusal(rung_rowmeans(context, in, means, call), status, part);
}

static void refuses_bad_arguments(void **state) {
  (void)state;
  double x[12] = {0}, means[6] = {7, 7, 7, 7, 7, 7};
  int64_t shape[2] = {3, 4}, none[2] = {0, 4}, empty[2] = {3, 0}, two[1] = {2}, zero[1] = {0};
  DLTensor in = tensor(x, f64, 2, shape, NULL), out = tensor(means, f64, 1, shape, NULL), bad = in;
  refused(NULL, &out, NULL, RUNG_BAD_ARGUMENT, "in");
  refused(&in, NULL, NULL, RUNG_BAD_ARGUMENT, "means");
  bad.shape = none;
  refused(&bad, &out, NULL, RUNG_BAD_SHAPE, "0 rows");
  bad.shape = empty;
  refused(&bad, &out, NULL, RUNG_BAD_SHAPE, "0 columns");
  int64_t long_rows[2] = {3, ((int64_t)1 << 40) + 1}, still[2] = {0, 0};
  bad = tensor(x, f64, 2, long_rows, still);
  refused(&bad, &out, NULL, RUNG_TOO_LARGE, "2^40");
  bad = tensor(x, f64, 1, shape, NULL);
  refused(&bad, &out, NULL, RUNG_BAD_SHAPE, "in");
  bad = in;
  bad.dtype.code = kDLInt;
  refused(&bad, &out, NULL, RUNG_BAD_DTYPE, "in");
  bad = tensor(means, f32, 1, shape, NULL);
  refused(&in, &bad, NULL, RUNG_BAD_DTYPE, "means");
  bad = tensor(means, f64, 1, two, NULL);
  refused(&in, &bad, NULL, RUNG_BAD_SHAPE, "means has 2 elements: 3");
  bad = tensor(means, f64, 1, shape, zero);
  refused(&in, &bad, NULL, RUNG_BAD_SHAPE, "means");
  bad = tensor(x + 9, f64, 1, shape, NULL);
  refused(&in, &bad, NULL, RUNG_OVERLAP, "means");
  rung_call call = {.rung = "fastest"};
  refused(&in, &out, &call, RUNG_UNKNOWN_NAME, "fastest");
  call = (rung_call){.rung = "warp-per-row"};
  assert_int_not_equal(rung_rowmeans(context, &in, &out, &call), RUNG_OK);
  call = (rung_call){.block = 1025};
  refused(&in, &out, &call, RUNG_BAD_ARGUMENT, "1025");
  for (int i = 0; i < 6; ++i) assert_true(means[i] == 7);
  assert_int_equal(rung_rowmeans(context, &in, &out, NULL), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_any_view),
      cmocka_unit_test(packs_slice_by_slice),
      cmocka_unit_test(takes_one_element),
      cmocka_unit_test(takes_rungs_by_name),
      cmocka_unit_test(equal_values_are_their_mean),
      cmocka_unit_test(refuses_bad_arguments),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
