/* rung_reduce() from outside: values that NumPy made, or that are known without it. */
#include "ops/context.h"
#include "ops/reduce/outside.h"

/* ---- NumPy's ----------------------------------------------------------------------------------
 *
 *   import numpy as np
 *   a = np.random.default_rng(7).integers(-100, 100, (2, 3, 4), dtype=np.int32)
 *   for op in ("sum", "min", "max", "mean"):
 *       for axis in (0, 1, 2, None): print(getattr(a, op)(axis=axis))
 *   f = a.astype(np.float32) / 8      # every partial sum is exact */

static int32_t made[24] = {88, 25,  36, 79, 15,  55, 66,  -55, -89, -40, -43, 74,
                           82, -99, -1, 64, -74, 59, -77, -7,  63,  -40, -32, -45};

static const struct {
  rung_reduction what;
  int axis, count;
  double values[12];
} numpys[] = {
    {RUNG_SUM, 0, 12, {170, -74, 35, 143, -59, 114, -11, -62, -26, -80, -75, 29}},
    {RUNG_SUM, 1, 8, {14, 40, 59, 98, 71, -80, -110, 12}},
    {RUNG_SUM, 2, 6, {228, 81, -98, 46, -99, -54}},
    {RUNG_SUM, RUNG_ALL, 1, {104}},
    {RUNG_MIN, 0, 12, {82, -99, -1, 64, -74, 55, -77, -55, -89, -40, -43, -45}},
    {RUNG_MIN, 1, 8, {-89, -40, -43, -55, -74, -99, -77, -45}},
    {RUNG_MIN, 2, 6, {25, -55, -89, -99, -77, -45}},
    {RUNG_MIN, RUNG_ALL, 1, {-99}},
    {RUNG_MAX, 0, 12, {88, 25, 36, 79, 15, 59, 66, -7, 63, -40, -32, 74}},
    {RUNG_MAX, 1, 8, {88, 55, 66, 79, 82, 59, -1, 64}},
    {RUNG_MAX, 2, 6, {88, 66, 74, 82, 59, 63}},
    {RUNG_MAX, RUNG_ALL, 1, {88}},
    {RUNG_MEAN, 0, 12, {85, -37, 17.5, 71.5, -29.5, 57, -5.5, -31, -13, -40, -37.5, 14.5}},
    {RUNG_MEAN,
     1,
     8,
     {4.666666666666667, 13.333333333333334, 19.666666666666668, 32.666666666666664,
      23.666666666666668, -26.666666666666668, -36.666666666666664, 4}},
    {RUNG_MEAN, 2, 6, {57, 20.25, -24.5, 11.5, -24.75, -13.5}},
    {RUNG_MEAN, RUNG_ALL, 1, {4.333333333333333}},
};

/* The result's shape for an axis of (2, 3, 4). */
static int shape_of(int axis, int64_t shape[3]) {
  static const int64_t all[3] = {2, 3, 4};
  int ndim = 0;
  for (int d = 0; d < 3 && axis != RUNG_ALL; ++d)
    if (d != axis) shape[ndim++] = all[d];
  return ndim;
}

static void integers_are_numpys(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof numpys / sizeof *numpys; ++c)
    for (int back = 0; back < 2; ++back) {
      int64_t shape[3] = {2, 3, 4}, kept[3];
      int64_t wide[12];
      memset(wide, 0x55, sizeof wide);
      DLTensor in = tensor(made, i32, 3, shape, NULL);
      DLTensor out = tensor(wide, result_type(numpys[c].what, i32), shape_of(numpys[c].axis, kept),
                            kept, NULL);
      const int axis = numpys[c].axis == RUNG_ALL || !back ? numpys[c].axis : numpys[c].axis - 3;
      if (rung_reduce(context, numpys[c].what, &in, axis, &out, NULL) != RUNG_OK)
        fail_msg("%s", rung_last_error(context));
      for (int i = 0; i < numpys[c].count; ++i) {
        const double found = numpys[c].what == RUNG_MEAN  ? ((double *)wide)[i]
                             : numpys[c].what == RUNG_SUM ? (double)wide[i]
                                                          : (double)((int32_t *)wide)[i];
        if (!(found == numpys[c].values[i]))
          fail_msg("case %zu, element %d: %.17g, not %.17g", c, i, found, numpys[c].values[i]);
      }
    }
}

static void exact_floats_are_numpys(void **state) {
  (void)state;
  float x[24], out[12];
  double y[24], wide[12];
  for (int i = 0; i < 24; ++i) x[i] = (float)(y[i] = made[i] / 8.0);
  for (size_t c = 0; c < sizeof numpys / sizeof *numpys; ++c) {
    int64_t shape[3] = {2, 3, 4}, kept[3];
    const int ndim = shape_of(numpys[c].axis, kept);
    DLTensor in = tensor(x, f32, 3, shape, NULL), to = tensor(out, f32, ndim, kept, NULL);
    assert_int_equal(rung_reduce(context, numpys[c].what, &in, numpys[c].axis, &to, NULL), RUNG_OK);
    in = tensor(y, f64, 3, shape, NULL), to = tensor(wide, f64, ndim, kept, NULL);
    assert_int_equal(rung_reduce(context, numpys[c].what, &in, numpys[c].axis, &to, NULL), RUNG_OK);
    for (int i = 0; i < numpys[c].count; ++i) {
      const double wanted = numpys[c].values[i] / 8;
      assert_true(out[i] == (float)wanted);
      assert_true(fabs(wide[i] - wanted) <= 1e-15 * fabs(wanted)); /* a third is rounded twice */
    }
  }
}

/* ---- without NumPy ----------------------------------------------------------------------------
 */

static void integers_keep_their_identities(void **state) {
  (void)state;
  enum { N = 100003 };
  int64_t *x = (int64_t *)malloc(N * sizeof *x);
  uint8_t *bytes = (uint8_t *)malloc(N);
  int64_t sum, least, largest;
  uint64_t all, wrapped;
  uint8_t low, high;
  double mean;
  for (int64_t k = 0; k < N; ++k) {
    x[k] = k * 7919 % N - 50000; /* a permutation of -50000 ... N - 50001 */
    bytes[k] = (uint8_t)(k % 251);
  }
  reduce_line(context, RUNG_SUM, i64, x, N, &sum, NULL);
  reduce_line(context, RUNG_MIN, i64, x, N, &least, NULL);
  reduce_line(context, RUNG_MAX, i64, x, N, &largest, NULL);
  reduce_line(context, RUNG_MEAN, i64, x, N, &mean, NULL);
  assert_true(sum == (int64_t)N * (N - 1) / 2 - (int64_t)50000 * N);
  assert_true(least == -50000 && largest == N - 50001);
  assert_true(mean == (double)sum / N);
  reduce_line(context, RUNG_SUM, u8, bytes, N, &all, NULL);
  reduce_line(context, RUNG_MIN, u8, bytes, N, &low, NULL);
  reduce_line(context, RUNG_MAX, u8, bytes, N, &high, NULL);
  assert_true(all ==
              (uint64_t)(N / 251) * (250 * 251 / 2) + (uint64_t)(N % 251) * (N % 251 - 1) / 2);
  assert_true(low == 0 && high == 250);
  memset(bytes, 255, N); /* what is added up in narrow numbers would overflow first here */
  reduce_line(context, RUNG_SUM, u8, bytes, N, &all, NULL);
  reduce_line(context, RUNG_MIN, u8, bytes, N, &low, NULL);
  reduce_line(context, RUNG_MAX, u8, bytes, N, &high, NULL);
  assert_true(all == (uint64_t)255 * N && low == 255 && high == 255);
  for (int64_t k = 0; k < N; ++k) x[k] = -1;
  reduce_line(context, RUNG_SUM, u64, x, N, &wrapped, NULL);
  reduce_line(context, RUNG_SUM, i64, x, N, &sum, NULL);
  assert_true(wrapped == (uint64_t)-N && sum == -N); /* modulo 2^64 */
  reduce_line(context, RUNG_SUM, i32, x, 2 * N, &sum, NULL);
  reduce_line(context, RUNG_SUM, u32, x, 2 * N, &all, NULL);
  assert_true(sum == -2 * N && all == UINT64_C(0xffffffff) * 2 * N);
  reduce_line(context, RUNG_MEAN, u64, x, N, &mean, NULL);
  assert_true(mean == (double)(uint64_t)-N / N);
  free(x);
  free(bytes);
}

static void extremes_follow_ieee(void **state) {
  (void)state;
  static const char *const rungs[] = {"serial", "lanes", "threads"};
  static const struct {
    double x[3];
    double least, largest;
  } cases[] = {
      {{-0.0, 0.0, -0.0}, -0.0, 0.0},
      {{0.0, -0.0, 0.0}, -0.0, 0.0},
      {{1, NAN, -INFINITY}, NAN, NAN},
      {{-NAN, 1, 2}, NAN, NAN},
      {{INFINITY, -1, -INFINITY}, -INFINITY, INFINITY},
      {{INFINITY, INFINITY, INFINITY}, INFINITY, INFINITY},
      {{-INFINITY, -INFINITY, -INFINITY}, -INFINITY, -INFINITY},
      {{0x1p-149, -0x1p-149, 0}, -0x1p-149, 0x1p-149},
      {{-3, -2, -5}, -5, -2},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
    for (int r = 0; r < 3; ++r) {
      float x[3], least, largest;
      double y[3], low, high;
      for (int k = 0; k < 3; ++k) x[k] = (float)(y[k] = cases[c].x[k]);
      reduce_line(context, RUNG_MIN, f32, x, 3, &least, rungs[r]);
      reduce_line(context, RUNG_MAX, f32, x, 3, &largest, rungs[r]);
      reduce_line(context, RUNG_MIN, f64, y, 3, &low, rungs[r]);
      reduce_line(context, RUNG_MAX, f64, y, 3, &high, rungs[r]);
      if (isnan(cases[c].least)) {
        assert_true(isnan(least) && isnan(largest) && isnan(low) && isnan(high));
        continue;
      }
      assert_true((double)least == cases[c].least && low == cases[c].least);
      assert_true((double)largest == cases[c].largest && high == cases[c].largest);
      assert_true(!signbit(least) == !signbit(cases[c].least) && !signbit(low) == !signbit(least));
      assert_true(!signbit(largest) == !signbit(cases[c].largest) &&
                  !signbit(high) == !signbit(largest));
    }
}

static void nothing_has_a_sum_and_no_extreme(void **state) {
  (void)state;
  static const char *const rungs[] = {"serial", "lanes", "threads"};
  for (int r = 0; r < 3; ++r) {
    float sum = 7, mean = 7;
    int64_t whole = 7;
    double part = 7;
    reduce_line(context, RUNG_SUM, f32, NULL, 0, &sum, rungs[r]);
    reduce_line(context, RUNG_MEAN, f32, NULL, 0, &mean, rungs[r]);
    reduce_line(context, RUNG_SUM, i32, NULL, 0, &whole, rungs[r]);
    reduce_line(context, RUNG_MEAN, i32, NULL, 0, &part, rungs[r]);
    assert_true(sum == 0 && !signbit(sum) && isnan(mean) && whole == 0 && isnan(part));
  }
  int64_t shape[3] = {2, 0, 3}, across[2] = {2, 3}, line[2] = {2, 0};
  double out[6] = {7, 7, 7, 7, 7, 7};
  DLTensor in = tensor(NULL, f64, 3, shape, NULL), to = tensor(out, f64, 2, across, NULL);
  assert_int_equal(rung_reduce(context, RUNG_MIN, &in, 1, &to, NULL), RUNG_BAD_SHAPE);
  assert_non_null(strstr(rung_last_error(context), "minimum"));
  assert_int_equal(rung_reduce(context, RUNG_MAX, &in, 1, &to, NULL), RUNG_BAD_SHAPE);
  assert_non_null(strstr(rung_last_error(context), "maximum"));
  for (int i = 0; i < 6; ++i) assert_true(out[i] == 7);
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 1, &to, NULL), RUNG_OK);
  for (int i = 0; i < 6; ++i) assert_true(out[i] == 0 && !signbit(out[i]));
  /* No results: nothing to refuse, and nothing to write. */
  to = tensor(NULL, f64, 2, line, NULL);
  assert_int_equal(rung_reduce(context, RUNG_MIN, &in, 2, &to, NULL), RUNG_OK);
  /* Strides of what has no elements may be anything. */
  int64_t wild[3] = {INT64_MAX, INT64_MIN, INT64_MIN + 1};
  in.strides = wild;
  to = tensor(out, f64, 2, across, NULL);
  assert_int_equal(rung_reduce(context, RUNG_MEAN, &in, 1, &to, NULL), RUNG_OK);
  for (int i = 0; i < 6; ++i) assert_true(isnan(out[i]));
}

static void a_lone_number_is_itself(void **state) {
  (void)state;
  float x = -0.0f, out = 7;
  int64_t one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int ndim = 0; ndim <= 8; ++ndim)
    for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what)
      for (int dims = 0; dims <= 1; ++dims) {
        DLTensor in = tensor(&x, f32, ndim, one, NULL), to = tensor(&out, f32, dims, one, NULL);
        out = 7;
        assert_int_equal(rung_reduce(context, (rung_reduction)what, &in, RUNG_ALL, &to, NULL),
                         RUNG_OK);
        assert_true(out == 0 && signbit(out));
      }
}

/* Indices, and a sum, of more than 32 bits. Memory that nobody has written to costs next to
 * nothing.
 */
static void long_arrays_are_whole(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
  skip(); /* instrumented or emulated, that many elements take minutes */
#endif
  const int64_t n = ((int64_t)1 << 31) + 5;
  uint8_t *bytes = (uint8_t *)calloc((size_t)n, 1);
  if (bytes == NULL) skip();
  bytes[0] = 3;
  bytes[n - 1] = 250;
  uint64_t sum = 0;
  uint8_t most = 0;
  reduce_line(context, RUNG_SUM, u8, bytes, n, &sum, NULL);
  reduce_line(context, RUNG_MAX, u8, bytes, n, &most, NULL);
  free(bytes);
  assert_true(sum == 253);
  assert_true(most == 250);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_are_numpys),
      cmocka_unit_test(exact_floats_are_numpys),
      cmocka_unit_test(integers_keep_their_identities),
      cmocka_unit_test(extremes_follow_ieee),
      cmocka_unit_test(nothing_has_a_sum_and_no_extreme),
      cmocka_unit_test(a_lone_number_is_itself),
      cmocka_unit_test(long_arrays_are_whole),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
