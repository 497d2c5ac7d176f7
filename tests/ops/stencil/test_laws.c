/* What must hold of the stencil whatever its numbers are, on every strict CPU rung and instruction
 * set: constants, scaling, sums, impulses, what a NaN reaches; and rows worked out by hand. */
#include "ops/stencil/outside.h"

/* Runs `check` of every rung on every instruction set. */
typedef void law(rung_context *context, const char *rung);

static void everywhere(law *check) {
  const rung_row *row;
  for (int k = 0; (row = out_rung(k)) != NULL; k++)
    for (int i = 0; i < ISAS; i++)
      if (out_contexts[i][0] != NULL) check(out_contexts[i][0], row->name);
}

static bool textbook(const char *rung) {
  return strcmp(rung, "sweep") == 0;
}

/* ---- the weights on their grid, in integers -------------------------------------------------- */

typedef __int128 wide_int;

static wide_int distance(wide_int a, wide_int b) {
  return a > b ? a - b : b - a;
}

/* Weights are multiples of 2^-`fraction`; `divide` is an integer. Every scaled weight is a multiple
 * of the unit that fits in `bits`, within a unit of its weight, but for the first, which takes what
 * the weights' sum lacks to a double; the scaled ones' sum is the nearest multiple to the sum so
 * rounded. Gives it in units. */
static int64_t check_grid(const double *weights, int taps, int divide, int fraction, int bits,
                          int *places) {
  double scaled[17], largest = 0;
  int exponent;
  stencil_grid_weights(weights, taps, divide, bits, scaled);
  for (int k = 0; k < taps; k++) largest = fmax(largest, fabs(weights[k] / divide));
  frexp(largest, &exponent);
  const int u = *places = bits - exponent; /* the unit is 2^-u */
  const wide_int one = (wide_int)1 << fraction, unit = divide * one;
  wide_int exact = 0, sum = 0;
  for (int k = 0; k < taps; k++) exact += (wide_int)ldexp(weights[k], fraction);
  const wide_int rounded = (wide_int)(double)exact, scale = (wide_int)1 << u;
  for (int k = 0; k < taps; k++) {
    const double units = ldexp(scaled[k], u);
    assert_true(units == rint(units) && fabs(units) <= ldexp(1, bits));
    const wide_int lack = k == 0 ? distance(rounded, exact) * scale : 0;
    const wide_int weight = (wide_int)ldexp(weights[k], fraction) * scale;
    assert_true(distance((wide_int)units * unit, weight) <= unit + lack);
    sum += (wide_int)units;
  }
  assert_true(2 * distance(sum * unit, rounded * scale) <= unit + (unit >> 30)); /* of the carry */
  return (int64_t)sum;
}

static void grid_keeps_the_sum(void **unused) {
  (void)unused;
  for (const char *const *name = rung_radiator_presets(); *name != NULL; name++) {
    rung_radiator_model radiator;
    int places;
    rung_radiator_preset(*name, &radiator);
    for (int bits = 24; bits <= 53; bits += 29) {
      const int64_t sum = check_grid(radiator.weights, 5, 5, 56, bits, &places);
      assert_int_equal(sum, (int64_t)1 << places); /* exactly 1 */
    }
  }
  for (int turn = 0; turn < 20000; turn++) {
    double weights[17];
    int places, taps = 3 + 2 * (int)out_below(8);
    for (int k = 0; k < taps; k++) weights[k] = (double)(out_below(1 << 22) - (1 << 21)) * 0x1p-20;
    weights[0] = 1.5; /* not all zero */
    check_grid(weights, taps, 1 + (int)out_below(50), 20, turn % 2 ? 24 : 53, &places);
  }
  /* Thirds by integers that sum to the divisor: exactly 1. */
  for (int bits = 24; bits <= 53; bits += 29) {
    int places;
    const int64_t sum = check_grid((double[]){1, 1, 1}, 3, 3, 0, bits, &places);
    assert_int_equal(sum, (int64_t)1 << places);
  }
}

/* ---- equal values ---------------------------------------------------------------------------- */

/* A constant row stays constant: all columns the same bits, each within an ulp of the start after
 * any number of steps. The chain's roundings move some constants once, and never again. */
static void constant_row(rung_context *context, const char *rung) {
  if (textbook(rung)) return;
  enum { N = 40, M = 29 };
  for (const char *const *name = rung_radiator_presets(); *name != NULL; name++)
    for (int wide = 0; wide < 2; wide++) {
      double in[N * M], out[N * M];
      rung_radiator_model radiator;
      rung_radiator_preset(*name, &radiator);
      rung_stencil_model model = out_model(&radiator, 300);
      model.fixed = 0;
      for (int i = 0; i < N; i++) {
        const double value = i == 0 ? 1 : i == 1 ? .5 : i == 2 ? -.5 : out_number();
        for (int j = 0; j < M; j++) out_set(in, wide, i * M + j, value);
      }
      OUT_OK(context, out_run(context, &model, rung, wide, N, M, in, out, NULL));
      for (int i = 0; i < N; i++) {
        const double was = out_get(in, wide, i * M), is = out_get(out, wide, i * M);
        const double ulp = ldexp(1, ilogb(was) - (wide ? 52 : 23));
        for (int j = 1; j < M; j++) assert_true(out_get(out, wide, i * M + j) == is);
        if (i < 3 ? is != was : fabs(is - was) > ulp)
          fail_msg("%s, %s: %a became %a", rung, *name, was, is);
      }
    }
}

static void constants_stay(void **unused) {
  (void)unused;
  everywhere(constant_row);
  /* To the bit, in float, all presets: the values one meets. */
  static const float values[] = {1, .5f, .25f, -1, .7310586f, 3, 100, .1f, .3f, .625f, 1e-3f};
  for (const char *const *name = rung_radiator_presets(); *name != NULL; name++)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      float row[33], out[33];
      rung_radiator_model radiator;
      rung_radiator_preset(*name, &radiator);
      rung_stencil_model model = out_model(&radiator, 1000);
      for (int j = 0; j < 33; j++) row[j] = values[v];
      OUT_OK(out_widest[0], out_run(out_widest[0], &model, NULL, false, 1, 33, row, out, NULL));
      for (int j = 0; j < 33; j++)
        if (out[j] != values[v]) fail_msg("%s: %a became %a", *name, values[v], out[j]);
    }
}

/* ---- linear ---------------------------------------------------------------------------------- */

static const double skew[7] = {.4, -1, 2.5, .3, 1, -.2, .75};

static rung_stencil_model skewed(int radius, int64_t steps) {
  return (rung_stencil_model){
      .radius = radius, .weights = skew, .divide = 8, .steps = steps, .fixed = 1};
}

static void scales(rung_context *context, const char *rung) {
  enum { N = 5, M = 83 };
  for (int wide = 0; wide < 2; wide++) {
    double in[N * M], out[N * M], more[N * M];
    const rung_stencil_model model = skewed(3, 17);
    for (int k = 0; k < N * M; k++) out_set(in, wide, k, out_number());
    OUT_OK(context, out_run(context, &model, rung, wide, N, M, in, out, NULL));
    for (int power = -20; power <= 20; power += 8) {
      for (int k = 0; k < N * M; k++) out_set(more, wide, k, ldexp(out_get(in, wide, k), power));
      OUT_OK(context, out_run(context, &model, rung, wide, N, M, more, more, NULL));
      for (int k = 0; k < N * M; k++)
        assert_true(out_get(more, wide, k) == ldexp(out_get(out, wide, k), power));
    }
  }
}

static void adds(rung_context *context, const char *rung) {
  enum { N = 3, M = 90 };
  for (int wide = 0; wide < 2; wide++) {
    double x[N * M], y[N * M], both[N * M];
    const rung_stencil_model model = skewed(2, 12);
    for (int k = 0; k < N * M; k++) { /* few bits: 3x - 2y is exact */
      out_set(x, wide, k, rint(out_number() * 1024) / 1024);
      out_set(y, wide, k, rint(out_number() * 1024) / 1024);
      out_set(both, wide, k, 3 * out_get(x, wide, k) - 2 * out_get(y, wide, k));
    }
    OUT_OK(context, out_run(context, &model, rung, wide, N, M, x, x, NULL));
    OUT_OK(context, out_run(context, &model, rung, wide, N, M, y, y, NULL));
    OUT_OK(context, out_run(context, &model, rung, wide, N, M, both, both, NULL));
    const int more = textbook(rung) ? 9 : 0;
    const double bound = out_bound(&model, 5, wide, more) + 5 * out_bound(&model, 1, wide, more);
    for (int k = 0; k < N * M; k++)
      assert_true(fabs(3 * out_get(x, wide, k) - 2 * out_get(y, wide, k) -
                       out_get(both, wide, k)) <= bound);
  }
}

static void impulse(rung_context *context, const char *rung) {
  enum { M = 101, AT = 50 };
  for (int wide = 0; wide < 2; wide++)
    for (int radius = 1; radius <= 3; radius++)
      for (int p = 1; p <= 3; p++) {
        double row[M] = {0}, power[2 * 9 + 1] = {1}, next[2 * 9 + 1];
        rung_stencil_model model = skewed(radius, p);
        for (int turn = 0; turn < p; turn++) { /* the weights' p-th convolution power */
          memset(next, 0, sizeof next);
          for (int a = 0; a <= 2 * radius * turn; a++)
            for (int b = 0; b <= 2 * radius; b++) next[a + b] += power[a] * skew[b] / model.divide;
          memcpy(power, next, sizeof power);
        }
        for (int j = 0; j < M; j++) out_set(row, wide, j, j == AT);
        OUT_OK(context, out_run(context, &model, rung, wide, 1, M, row, row, NULL));
        const double bound = out_bound(&model, 1, wide, textbook(rung) ? 11 : 0);
        for (int j = 0; j < M; j++) {
          const int tap = AT - j + radius * p; /* column j sees the impulse at offset AT - j */
          const bool reached = tap >= 0 && tap <= 2 * radius * p;
          assert_true(fabs(out_get(row, wide, j) - (reached ? power[tap] : 0)) <= bound);
          if (!reached) assert_true(out_get(row, wide, j) == 0);
        }
      }
}

static void is_linear(void **unused) {
  (void)unused;
  everywhere(scales);
  everywhere(adds);
  everywhere(impulse);
}

/* ---- numbers that are none, and the smallest --------------------------------------------------
 */

/* A NaN reaches radius * p columns on either side of its own, in its own row, and no further;
 * everything else has the bits it would have without it. An infinity likewise. */
static void spreads(rung_context *context, const char *rung) {
  enum { N = 19, M = 150, AT = 70, ROW = 6 };
  static const double weights[5] = {1, 2, 3, 2, 1};
  for (int wide = 0; wide < 2; wide++)
    for (int radius = 1; radius <= 2; radius++)
      for (int64_t p = 0; p <= 12; p += 1 + p / 4) {
        double in[N * M], out[N * M], bad[N * M];
        const rung_stencil_model model = {
            .radius = radius, .weights = weights, .divide = 9, .steps = p};
        for (int k = 0; k < N * M; k++) out_set(in, wide, k, out_number());
        OUT_OK(context, out_run(context, &model, rung, wide, N, M, in, out, NULL));
        for (int what = 0; what < 2; what++) {
          out_set(in, wide, ROW * M + AT, what == 0 ? NAN : INFINITY);
          OUT_OK(context, out_run(context, &model, rung, wide, N, M, in, bad, NULL));
          for (int k = 0; k < N * M; k++) {
            const bool hit = k / M == ROW && llabs(k % M - AT) <= radius * p;
            const double x = out_get(bad, wide, k);
            if (hit ? (what == 0 ? !isnan(x) : x != INFINITY) : x != out_get(out, wide, k))
              fail_msg("%s: p=%ld radius=%d: (%d, %d) is %g", rung, (long)p, radius, k / M, k % M,
                       x);
          }
        }
      }
}

/* Across the wrapped ends as well. */
static void spreads_around(rung_context *context, const char *rung) {
  enum { M = 40 };
  static const double weights[5] = {1, 2, 3, 2, 1};
  const rung_stencil_model model = {.radius = 2, .weights = weights, .divide = 9, .steps = 4};
  float row[M] = {NAN}, out[M];
  OUT_OK(context, out_run(context, &model, rung, false, 1, M, row, out, NULL));
  for (int j = 0; j < M; j++) assert_int_equal(isnan(out[j]) != 0, j <= 8 || j >= M - 8);
}

static void infinities_meet(rung_context *context, const char *rung) {
  enum { M = 30 };
  static const double weights[3] = {1, 1, 2};
  const rung_stencil_model model = {.radius = 1, .weights = weights, .divide = 4, .steps = 1};
  double row[M] = {0}, out[M];
  row[10] = INFINITY;
  row[12] = -INFINITY;
  OUT_OK(context, out_run(context, &model, rung, true, 1, M, row, out, NULL));
  for (int j = 0; j < M; j++) {
    if (j == 11)
      assert_true(isnan(out[j]));
    else
      assert_true(out[j] == (j == 9 || j == 10 ? INFINITY : j == 12 || j == 13 ? -INFINITY : 0));
  }
}

static void keeps_subnormals(rung_context *context, const char *rung) {
  enum { N = 3, M = 37 };
  static const double weights[3] = {.5, .25, .25};
  const rung_stencil_model model = {.radius = 1, .weights = weights, .divide = 1, .steps = 9};
  for (int wide = 0; wide < 2; wide++) {
    double in[N * M], out[N * M];
    for (int k = 0; k < N * M; k++) out_set(in, wide, k, 4 * (wide ? 0x1p-1074 : 0x1p-149));
    OUT_OK(context, out_run(context, &model, rung, wide, N, M, in, out, NULL));
    assert_true(out_same(in, out, wide, N * M));
    for (int k = 0; k < N * M; k++) out_set(in, wide, k, -0.0);
    OUT_OK(context, out_run(context, &model, rung, wide, N, M, in, out, NULL));
    assert_true(out_same(in, out, wide, N * M));
  }
}

static void odd_numbers(void **unused) {
  (void)unused;
  everywhere(spreads);
  everywhere(spreads_around);
  everywhere(infinities_meet);
  everywhere(keeps_subnormals);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void by_hand_edges(rung_context *context, const char *rung) {
  static const double row[4] = {1, 10, 100, 1000};
  /* radius 1: new = left + 2 * own + 4 * right; outside on the left 1000, 5, 1, 1, 10, on the
   * right 1, 5, 1000, 1000, 100. */
  static const double near[5][4] = {{1042, 421, 4210, 2104},
                                    {47, 421, 4210, 2120},
                                    {43, 421, 4210, 6100},
                                    {43, 421, 4210, 6100},
                                    {52, 421, 4210, 2500}};
  /* radius 2: new = two to the left + 7 * two to the right; outside, at -2, -1, 4, 5:
   * wrap 100 1000 1 10; constant 5; nearest 1 1 1000 1000; reflect 10 1 1000 100;
   * mirror 100 10 100 10. */
  static const double far[5][4] = {{800, 8000, 8, 80},
                                   {705, 7005, 36, 45},
                                   {701, 7001, 7001, 7010},
                                   {710, 7001, 7001, 710},
                                   {800, 7010, 701, 80}};
  for (int edge = 0; edge < 5; edge++) {
    double out[4];
    rung_stencil_model model = {.radius = 1,
                                .weights = (double[]){1, 2, 4},
                                .divide = 1,
                                .steps = 1,
                                .edge = (rung_edge)edge,
                                .edge_value = 5};
    OUT_OK(context, out_run(context, &model, rung, true, 1, 4, row, out, NULL));
    assert_memory_equal(out, near[edge], sizeof out);
    model.radius = 2;
    model.weights = (double[]){1, 0, 0, 0, 7};
    OUT_OK(context, out_run(context, &model, rung, true, 1, 4, row, out, NULL));
    assert_memory_equal(out, far[edge], sizeof out);
  }
}

/* Radius 8 on a row of two columns walks around four times: 17 taps of 1, of which tap j + k for
 * even k is the column itself, 9 of them. */
static void by_hand_around(rung_context *context, const char *rung) {
  double ones[17], row[2] = {1, 100}, out[2];
  for (int k = 0; k < 17; k++) ones[k] = 1;
  const rung_stencil_model model = {.radius = 8, .weights = ones, .divide = 1, .steps = 1};
  OUT_OK(context, out_run(context, &model, rung, true, 1, 2, row, out, NULL));
  assert_true(out[0] == 809 && out[1] == 908);
}

static void by_hand_fixed(rung_context *context, const char *rung) {
  float row[5] = {1, 2, 3, 4, 5}, out[5], means[1];
  rung_stencil_model model = {
      .radius = 1, .weights = (double[]){1, 0, 1}, .divide = 1, .steps = 2, .fixed = 5};
  OUT_OK(context, out_run(context, &model, rung, false, 1, 5, row, out, means));
  assert_memory_equal(out, row, sizeof row);
  assert_true(means[0] == 3);
  model.fixed = 3; /* step 1: 4 -> 3 + 5, 5 -> 4 + 1; step 2: 8 -> 3 + 5, 5 -> 8 + 1 */
  OUT_OK(context, out_run(context, &model, rung, false, 1, 5, row, out, means));
  assert_memory_equal(out, ((float[]){1, 2, 3, 8, 9}), sizeof row);
  assert_true(means[0] == 4.6f); /* 23 / 5 */
}

static void by_hand(void **unused) {
  (void)unused;
  everywhere(by_hand_edges);
  everywhere(by_hand_around);
  everywhere(by_hand_fixed);
}

static void no_steps_copy(rung_context *context, const char *rung) {
  for (int64_t n = 1; n <= 35; n += 17)
    for (int64_t m = 1; m <= 70; m++) {
      float in[35 * 70], out[35 * 70];
      const rung_stencil_model model = skewed(3, 0);
      for (int64_t k = 0; k < n * m; k++) in[k] = k == n * m / 2 ? NAN : (float)out_number();
      OUT_OK(context, out_run(context, &model, rung, false, n, m, in, out, NULL));
      assert_memory_equal(in, out, (size_t)(n * m) * sizeof *in);
    }
}

static void no_steps(void **unused) {
  (void)unused;
  everywhere(no_steps_copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grid_keeps_the_sum),
      cmocka_unit_test(constants_stay),
      cmocka_unit_test(is_linear),
      cmocka_unit_test(odd_numbers),
      cmocka_unit_test(by_hand),
      cmocka_unit_test(no_steps),
  };
  return cmocka_run_group_tests(tests, out_open, out_close);
}
