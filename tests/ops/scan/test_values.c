/* rung_scan() from outside: values that Python made, or that are known without it. */
#include "ops/context.h"
#include "ops/scan/outside.h"

static const char *const rungs[] = {"serial", "tiles", "threads"};
enum { RUNGS = 3 };

/* ---- Python's ---------------------------------------------------------------------------------
 *
 *   from itertools import accumulate
 *   for op in (operator.add, min, max):
 *       for k in range(0, 24, 4): print(list(accumulate(made[k:k + 4], op))) */

static int32_t made[24] = {88, 25,  36, 79, 15,  55, 66,  -55, -89, -40, -43, 74,
                           82, -99, -1, 64, -74, 59, -77, -7,  63,  -40, -32, -45};

static const int32_t pythons[3][24] = {
    [RUNG_SUM] = {88, 113, 149, 228, 15,  70,  136, 81,  -89, -129, -172, -98,
                  82, -17, -18, 46,  -74, -15, -92, -99, 63,  23,   -9,   -54},
    [RUNG_MIN] = {88, 25,  25,  25,  15,  15,  15,  -55, -89, -89, -89, -89,
                  82, -99, -99, -99, -74, -74, -77, -77, 63,  -40, -40, -45},
    [RUNG_MAX] = {88, 88, 88, 88, 15,  55, 66, 66, -89, -40, -40, 74,
                  82, 82, 82, 82, -74, 59, 59, 59, 63,  63,  63,  63},
};
static const int32_t nothings[3] = {0, INT32_MAX, INT32_MIN};

static int32_t wanted_of(int what, int exclusive, int i) {
  if (!exclusive) return pythons[what][i];
  return i % 4 == 0 ? nothings[what] : pythons[what][i - 1];
}

static void integers_are_pythons(void **state) {
  (void)state;
  for (int r = 0; r < RUNGS; ++r)
    for (int what = RUNG_SUM; what <= RUNG_MAX; ++what)
      for (int exclusive = 0; exclusive < 2; ++exclusive) {
        int64_t shape[3] = {2, 3, 4}, wide[24], wider[24];
        int32_t out[24];
        rung_call call = {.rung = rungs[r]};
        DLTensor in = tensor(made, i32, 3, shape, NULL), to = tensor(out, i32, 3, shape, NULL);
        memset(out, 0x55, sizeof out);
        assert_int_equal(rung_scan(context, (rung_reduction)what, &in, -1, exclusive, &to, &call),
                         RUNG_OK);
        for (int i = 0; i < 24; ++i) wide[i] = made[i];
        in = tensor(wide, i64, 3, shape, NULL), to = tensor(wider, i64, 3, shape, NULL);
        assert_int_equal(rung_scan(context, (rung_reduction)what, &in, -1, exclusive, &to, &call),
                         RUNG_OK);
        for (int i = 0; i < 24; ++i) {
          assert_int_equal(out[i], wanted_of(what, exclusive, i));
          if (!exclusive || i % 4 > 0) assert_true(wider[i] == wanted_of(what, exclusive, i));
        }
      }
}

static void exact_floats_are_pythons(void **state) {
  (void)state;
  static const double ends[3] = {0, (double)INFINITY, -(double)INFINITY};
  float x[24], out[24];
  double y[24], wide[24];
  for (int i = 0; i < 24; ++i) x[i] = (float)(y[i] = made[i] / 8.0);
  for (int r = 0; r < RUNGS; ++r)
    for (int what = RUNG_SUM; what <= RUNG_MAX; ++what)
      for (int exclusive = 0; exclusive < 2; ++exclusive) {
        int64_t shape[3] = {2, 3, 4};
        rung_call call = {.rung = rungs[r]};
        DLTensor in = tensor(x, f32, 3, shape, NULL), to = tensor(out, f32, 3, shape, NULL);
        assert_int_equal(rung_scan(context, (rung_reduction)what, &in, -1, exclusive, &to, &call),
                         RUNG_OK);
        in = tensor(y, f64, 3, shape, NULL), to = tensor(wide, f64, 3, shape, NULL);
        assert_int_equal(rung_scan(context, (rung_reduction)what, &in, -1, exclusive, &to, &call),
                         RUNG_OK);
        for (int i = 0; i < 24; ++i) {
          const bool end = exclusive && i % 4 == 0;
          const double wanted = end ? ends[what] : wanted_of(what, exclusive, i) / 8.0;
          assert_true((double)out[i] == wanted && wide[i] == wanted);
          if (end && what == RUNG_SUM) assert_true(!signbit(out[i]) && !signbit(wide[i]));
        }
      }
}

/* ---- without Python ---------------------------------------------------------------------------
 */

/* Every length up to some, those around a tile's and a family's, and primes: the old reports' code
 * was wrong beyond a multiple of its block. */
static void counts_at_every_length(void **state) {
  (void)state;
  static const int64_t lengths[] = {511,   512,   513,    1021,   1023,   1024,   1025,  4099,
                                    8191,  8192,  8193,   9001,   16383,  16384,  16385, 65521,
                                    65536, 99991, 262143, 262144, 262145, 270337, 524289};
  enum { MOST = 524289 };
  uint32_t *ones = (uint32_t *)malloc(MOST * sizeof *ones), *out = (uint32_t *)malloc(MOST * 4 + 4);
  float *floats = (float *)malloc(MOST * sizeof *floats), *sums = (float *)malloc(MOST * 4 + 4);
  for (int i = 0; i < MOST; ++i) floats[i] = (float)(ones[i] = 1);
  for (size_t k = 0; k < 300 + sizeof lengths / sizeof *lengths; ++k)
    for (int r = 0; r < RUNGS; ++r) {
      const int64_t n = k < 300 ? (int64_t)k : lengths[k - 300];
      const int exclusive = (int)(k % 2);
      out[n] = 12345;
      sums[n] = 12345;
      scan_line(context, RUNG_SUM, u32, ones, n, exclusive, out, rungs[r]);
      scan_line(context, RUNG_SUM, f32, floats, n, exclusive, sums, rungs[r]);
      for (int64_t i = 0; i < n; ++i)
        if (out[i] != (uint32_t)(i + !exclusive) || sums[i] != (float)(i + !exclusive))
          fail_msg("%s, n=%ld, element %ld: %u and %g", rungs[r], (long)n, (long)i, out[i],
                   (double)sums[i]);
      assert_true(out[n] == 12345 && sums[n] == 12345);
    }
  free(ones);
  free(out);
  free(floats);
  free(sums);
}

/* The last of an inclusive scan of integers is the reduction of all of them. */
static void the_last_is_the_reduction(void **state) {
  (void)state;
  enum { N = 300007 };
  uint64_t *x = (uint64_t *)malloc(N * 8), *out = (uint64_t *)malloc(N * 8);
  for (int64_t i = 0; i < N; ++i) x[i] = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
  for (int r = 0; r < RUNGS; ++r)
    for (int what = RUNG_SUM; what <= RUNG_MAX; ++what)
      for (int type = 0; type < 3; ++type) {
        static const DLDataType *const types[] = {&u64, &i64, &u32};
        uint64_t all = 0;
        int64_t shape[1] = {N};
        DLTensor in = tensor(x, *types[type], 1, shape, NULL);
        DLTensor one =
            tensor(&all, what == RUNG_SUM && type == 2 ? u64 : *types[type], 0, NULL, NULL);
        scan_line(context, (rung_reduction)what, *types[type], x, N, 0, out, rungs[r]);
        assert_int_equal(rung_reduce(context, (rung_reduction)what, &in, RUNG_ALL, &one, NULL),
                         RUNG_OK);
        if (type == 2)
          assert_int_equal(((uint32_t *)out)[N - 1], (uint32_t)all);
        else
          assert_true(out[N - 1] == all);
      }
  free(x);
  free(out);
}

/* Nothing and empty places are -0, so sums of zeros have the signs of IEEE 754. */
static void zeros_keep_their_sign(void **state) {
  (void)state;
  enum { N = 8195 };
  static float x[N], out[N];
  for (int r = 0; r < RUNGS; ++r) {
    for (int i = 0; i < N; ++i) x[i] = -0.0f;
    scan_line(context, RUNG_SUM, f32, x, N, 0, out, rungs[r]);
    for (int i = 0; i < N; ++i) assert_true(out[i] == 0 && signbit(out[i]));
    scan_line(context, RUNG_SUM, f32, x, N, 1, out, rungs[r]);
    for (int i = 0; i < N; ++i) assert_true(out[i] == 0 && !signbit(out[i]) == (i == 0));
    x[5000] = 0.0f;
    scan_line(context, RUNG_SUM, f32, x, N, 0, out, rungs[r]);
    for (int i = 0; i < N; ++i) assert_true(out[i] == 0 && !signbit(out[i]) == (i >= 5000));
    scan_line(context, RUNG_MAX, f32, x, N, 0, out, rungs[r]);
    for (int i = 0; i < N; ++i) assert_true(!signbit(out[i]) == (i >= 5000));
    x[5000] = -0.0f, x[0] = 0.0f;
    scan_line(context, RUNG_MIN, f32, x, N, 0, out, rungs[r]);
    for (int i = 0; i < N; ++i) assert_true(!signbit(out[i]) == (i == 0));
  }
}

/* Once a NaN, for ever a NaN; infinities of both signs make one. */
static void nans_stay(void **state) {
  (void)state;
  enum { N = 17000, AT = 9000 };
  static double x[N], out[N];
  for (int r = 0; r < RUNGS; ++r)
    for (int what = RUNG_SUM; what <= RUNG_MAX; ++what)
      for (int negative = 0; negative < 2; ++negative) {
        for (int i = 0; i < N; ++i) x[i] = i % 7 - 3;
        x[AT] = negative ? -NAN : NAN;
        x[AT + 3] = -(double)INFINITY;
        scan_line(context, (rung_reduction)what, f64, x, N, 0, out, rungs[r]);
        for (int i = 0; i < N; ++i) assert_true(!isnan(out[i]) == (i < AT));
        scan_line(context, (rung_reduction)what, f64, x, N, 1, out, rungs[r]);
        for (int i = 0; i < N; ++i) assert_true(!isnan(out[i]) == (i <= AT));
      }
  for (int i = 0; i < N; ++i) x[i] = 1;
  x[AT] = (double)INFINITY, x[AT + 100] = -(double)INFINITY;
  for (int r = 0; r < RUNGS; ++r) {
    scan_line(context, RUNG_SUM, f64, x, N, 0, out, rungs[r]);
    for (int i = 0; i < N; ++i) {
      if (i < AT)
        assert_true(out[i] == i + 1);
      else
        assert_true(i < AT + 100 ? isinf(out[i]) && out[i] > 0 : isnan(out[i]));
    }
    scan_line(context, RUNG_MIN, f64, x, N, 0, out, rungs[r]);
    for (int i = 0; i < N; ++i) assert_true(out[i] == (i < AT + 100 ? 1 : -(double)INFINITY));
  }
}

/* exclusive[i + 1] = inclusive[i] of integers; of floats it need not have the bits. */
static void exclusive_is_one_behind(void **state) {
  (void)state;
  enum { N = 40009 };
  int32_t *x = (int32_t *)malloc(N * 4), *in = (int32_t *)malloc(N * 4),
          *ex = (int32_t *)malloc(N * 4);
  for (int i = 0; i < N; ++i) x[i] = (int32_t)((uint32_t)i * 2654435761u);
  for (int r = 0; r < RUNGS; ++r)
    for (int what = RUNG_SUM; what <= RUNG_MAX; ++what) {
      scan_line(context, (rung_reduction)what, i32, x, N, 0, in, rungs[r]);
      scan_line(context, (rung_reduction)what, i32, x, N, 1, ex, rungs[r]);
      assert_int_equal(ex[0], nothings[what]);
      assert_memory_equal(in, ex + 1, (N - 1) * 4);
    }
  free(x);
  free(in);
  free(ex);
}

static void nothing_is_nothing(void **state) {
  (void)state;
  int64_t shape[3] = {2, 0, 3}, empty[2] = {3, 0}, none[1] = {0};
  float out[4] = {7, 7, 7, 7};
  for (int r = 0; r < RUNGS; ++r) {
    rung_call call = {.rung = rungs[r]};
    DLTensor in = tensor(NULL, f32, 3, shape, NULL), to = tensor(out, f32, 3, shape, NULL);
    assert_int_equal(rung_scan(context, RUNG_MIN, &in, -1, 0, &to, &call), RUNG_OK);
    in = tensor(NULL, f32, 2, empty, NULL), to = tensor(out, f32, 2, empty, NULL);
    assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 1, &to, &call), RUNG_OK);
    in = tensor(NULL, f32, 1, none, NULL), to = tensor(NULL, f32, 1, none, NULL);
    assert_int_equal(rung_scan(context, RUNG_MAX, &in, -1, 1, &to, &call), RUNG_OK);
    for (int i = 0; i < 4; ++i) assert_true(out[i] == 7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_are_pythons),    cmocka_unit_test(exact_floats_are_pythons),
      cmocka_unit_test(counts_at_every_length),  cmocka_unit_test(the_last_is_the_reduction),
      cmocka_unit_test(zeros_keep_their_sign),   cmocka_unit_test(nans_stay),
      cmocka_unit_test(exclusive_is_one_behind), cmocka_unit_test(nothing_is_nothing),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
