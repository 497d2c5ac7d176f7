/* The order of sums: the reference against a second telling of the contract, and the CPU's fold
 * against the reference, with tiles so small that rows have several levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* In place of core/sum.h: tiles of 64. */
#define RUNG_CORE_SUM_H
#define RUNG_SUM_LANES 32
#define RUNG_SUM_ROWS 2
#define RUNG_SUM_TILE (RUNG_SUM_LANES * RUNG_SUM_ROWS)

#include "core/random.h"
#include "ops/rowmeans/cpu/fold.h"
#include "ops/rowmeans/lab/cases.h"
#include "ops/rowmeans/lab/reference.c"

/* Told otherwise: the array is replaced by its tiles' sums, in place, until one is left. */
static float sum_in_place(float *x, int64_t n) {
  while (n > 1) {
    int64_t tiles = 0;
    for (int64_t first = 0; first < n; first += RUNG_SUM_TILE) {
      float lane[RUNG_SUM_LANES];
      for (int l = 0; l < RUNG_SUM_LANES; ++l) {
        const int64_t a = first + l, b = a + RUNG_SUM_LANES;
        lane[l] = (a < n ? x[a] : -0.0f) + (b < n ? x[b] : -0.0f);
      }
      for (int half = RUNG_SUM_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
      x[tiles++] = lane[0];
    }
    n = tiles;
  }
  return x[0];
}

static void draw(double *x, int64_t n) {
  rung_random random = {(uint64_t)n};
  for (int64_t i = 0; i < n; ++i)
    x[i] = ldexp(rung_random_double(&random) - 0.5, (int)(rung_random_next(&random) % 20));
}

static const int64_t lengths[] = {1,    2,    31,   32,   33,   63,     64,     65,     127,
                                  128,  129,  2047, 2048, 2049, 4095,   4096,   4097,   4160,
                                  4161, 8191, 8192, 8193, 9999, 262143, 262144, 262145, 300000};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void tells_the_same_twice(void **state) {
  (void)state;
  for (int k = 0; k < LENGTHS; ++k) {
    const int64_t n = lengths[k];
    double *wide = (double *)malloc((size_t)n * sizeof *wide);
    float *x = (float *)malloc((size_t)n * sizeof *x);
    draw(wide, n);
    for (int64_t i = 0; i < n; ++i) x[i] = (float)wide[i];
    const rowmeans_problem problem = {.rows = 1, .columns = n, .dtype = RUNG_F32};
    float mean;
    rowmeans_reference_strict(&problem, x, &mean);
    const float fold = rowmeans_mean_f32(rowmeans_sum_f32(x, n), n);
    const float told = (float)((double)sum_in_place(x, n) / (double)n);
    if (mean != told) fail_msg("n=%ld: reference %a, told %a", (long)n, mean, told);
    if (fold != told) fail_msg("n=%ld: fold.h %a, told %a", (long)n, fold, told);
    free(x);
    free(wide);
  }
}

static void folds_doubles(void **state) {
  (void)state;
  for (int k = 0; k < LENGTHS; ++k) {
    const int64_t n = lengths[k];
    double *x = (double *)malloc((size_t)n * sizeof *x);
    draw(x, n);
    const rowmeans_problem problem = {.rows = 1, .columns = n, .dtype = RUNG_F64};
    double mean, magnitude;
    rowmeans_reference_strict(&problem, x, &mean);
    assert_true(rowmeans_mean_f64(rowmeans_sum_f64(x, n), n) == mean);
    /* 11 additions a level here: far inside the wide reference's reach. */
    const double wide = rowmeans_reference_wide(&problem, x, &magnitude);
    assert_true(fabs(mean - wide) <= 0x1p-53 * 25 * magnitude);
    free(x);
  }
}

/* 2^24 + 1 is 2^24 in float, so the order decides what a one is worth. */
static void is_the_contracts_order(void **state) {
  (void)state;
  float x[RUNG_SUM_TILE] = {0};
  const rowmeans_problem problem = {.rows = 1, .columns = RUNG_SUM_TILE, .dtype = RUNG_F32};
  float mean;
  /* Lane 0: big + 1 is big. Lane 16 takes it away when the lanes fold: 0 is left. */
  x[0] = 0x1p24f, x[32] = 1, x[16] = -0x1p24f;
  rowmeans_reference_strict(&problem, x, &mean);
  assert_true(mean == 0);
  /* Both big ones in lane 0: they meet first, and the 1 of lane 16 stays. */
  x[0] = 0x1p24f, x[32] = -0x1p24f, x[16] = 1;
  rowmeans_reference_strict(&problem, x, &mean);
  assert_true(mean == 1.0f / 64);
  /* Lanes 1 and 17 meet before lanes 0 and 1 do. */
  x[0] = 1, x[32] = 0, x[16] = 0, x[1] = 0x1p24f, x[17] = -0x1p24f;
  rowmeans_reference_strict(&problem, x, &mean);
  assert_true(mean == 1.0f / 64);
  /* Lanes 0 and 8 meet before lanes 0 and 1 do. */
  x[0] = 1, x[1] = -0x1p24f, x[17] = 0, x[8] = 0x1p24f;
  rowmeans_reference_strict(&problem, x, &mean);
  assert_true(mean == 0);
}

static void keeps_the_sign_of_nothing(void **state) {
  (void)state;
  const float zeros[40] = {-0.0f, -0.0f};
  const rowmeans_problem two = {.rows = 1, .columns = 2, .dtype = RUNG_F32};
  const rowmeans_problem many = {.rows = 1, .columns = 40, .dtype = RUNG_F32};
  float mean;
  rowmeans_reference_strict(&two, zeros, &mean);
  assert_true(mean == 0 && signbit(mean));
  assert_true(signbit(rowmeans_sum_f32(zeros, 2)));
  rowmeans_reference_strict(&many, zeros, &mean);
  assert_true(mean == 0 && !signbit(mean));
  assert_false(signbit(rowmeans_sum_f32(zeros, 40)));
}

static void wide_sums_lose_nothing(void **state) {
  (void)state;
  const double x[] = {1e100, 1, -1e100, 3};
  const rowmeans_problem problem = {.rows = 1, .columns = 4, .dtype = RUNG_F64};
  double magnitude;
  assert_true(rowmeans_reference_wide(&problem, x, &magnitude) == 1);
  assert_true(magnitude == 2e100 / 4);
  const double infinite[] = {1, INFINITY, 2, 3};
  assert_true(rowmeans_reference_wide(&problem, infinite, &magnitude) == INFINITY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_the_same_twice),   cmocka_unit_test(folds_doubles),
      cmocka_unit_test(is_the_contracts_order), cmocka_unit_test(keeps_the_sign_of_nothing),
      cmocka_unit_test(wide_sums_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
