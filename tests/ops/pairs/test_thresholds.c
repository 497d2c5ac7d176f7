/* Thresholds on squares of distances stand for the contract's bins exactly. */
#include <float.h>

#include "ops/pairs/find.h"
#include "ops/pairs/outside.h"

static double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The least double for which the contract says bin k or above, by halving all doubles. */
static double sought(const rung_distances *bins, int64_t k) {
  const double inf = (double)INFINITY;
  uint64_t under = 0, over;
  memcpy(&over, &inf, sizeof over);
#define REACHES(x) \
  (bins->edges != NULL ? sqrt(x) >= bins->edges[k] : sqrt(x) / bins->width >= (double)k)
  if (REACHES(0.0)) return 0;
  while (over - under > 1) {
    const uint64_t middle = under + (over - under) / 2;
    if (REACHES(of_bits(middle)))
      over = middle;
    else
      under = middle;
  }
#undef REACHES
  return of_bits(over);
}

static void check(const rung_distances *bins) {
  double *thresholds = malloc((size_t)(bins->count + 1) * sizeof *thresholds);
  pairs_problem problem;
  rung_error error = {0};
  if (pairs_problem_of(&error, bins, NULL, 2, 0, false, &problem, thresholds) != RUNG_OK)
    fail_msg("%s", error.sentence);
  for (int64_t k = 0; k <= bins->count; ++k)
    if (thresholds[k] != sought(bins, k))
      fail_msg("width %.17g, edge %" PRId64 ": %.17g, not %.17g", bins->width, k, thresholds[k],
               sought(bins, k));
  assert_true(problem.least == thresholds[0] && problem.largest == thresholds[bins->count]);
  /* Slots next to every threshold, from the contract. */
  for (int64_t k = 0; k <= bins->count; ++k)
    for (int step = -1; step <= 1; ++step) {
      const double t = thresholds[k];
      const double d2 = step == 0 ? t : nextafter(t, step < 0 ? 0 : (double)INFINITY);
      const double d = sqrt(d2);
      int64_t wanted = 0;
      if (bins->edges == NULL) {
        wanted = d / bins->width < (double)bins->count ? (int64_t)(d / bins->width)
                                                       : bins->count + PAIRS_ABOVE;
      } else {
        while (wanted < bins->count && d >= bins->edges[wanted + 1]) ++wanted;
        if (wanted == bins->count) wanted += PAIRS_ABOVE;
        if (d < bins->edges[0]) wanted = bins->count + PAIRS_BELOW;
      }
      if (pairs_slot(&problem, thresholds, d2) != wanted)
        fail_msg("width %.17g, %.17g is in %d, not %" PRId64, bins->width, d2,
                 pairs_slot(&problem, thresholds, d2), wanted);
    }
  assert_int_equal(pairs_slot(&problem, thresholds, (double)NAN), bins->count + PAIRS_NAN);
  assert_int_equal(pairs_slot(&problem, thresholds, (double)INFINITY), bins->count + PAIRS_ABOVE);
  free(thresholds);
}

static void of_widths(void **state) {
  (void)state;
  static const double widths[] = {0.1,   1.0 / 3, 1e-5,     500,      1e-160,    1e150,
                                  1,     0.7,     1e-300,   1e300,    0x1p-1074, 0x1p-537,
                                  0.001, 2.5e-9,  3.2e-155, 1.1e-162, 0x1p512,   1.7e4};
  for (size_t k = 0; k < sizeof widths / sizeof *widths; ++k)
    for (int64_t count = 1; count <= 1000; count *= 10) {
      const rung_distances bins = {0, count, widths[k], NULL};
      check(&bins);
    }
  rung_random random = {7};
  for (int k = 0; k < 300; ++k) {
    const rung_distances bins = {0, 37, ldexp(0.5 + rung_random_double(&random), k - 150), NULL};
    check(&bins);
  }
  const rung_distances many = {0, 100000, 0.1, NULL};
  check(&many);
}

static void of_given_edges(void **state) {
  (void)state;
  double edges[101];
  rung_random random = {9};
  for (int k = 0; k <= 100; ++k) edges[k] = pow(1.2, k - 50);
  check(&(rung_distances){0, 100, 0, edges});
  for (int k = 0; k <= 100; ++k) edges[k] = k == 0 ? 0 : edges[k - 1] + rung_random_double(&random);
  check(&(rung_distances){0, 100, 0, edges});
  for (int k = 0; k <= 100; ++k) edges[k] = k == 0 ? 3 : nextafter(edges[k - 1], 4);
  check(&(rung_distances){0, 100, 0, edges});
  for (int k = 0; k <= 100; ++k) edges[k] = ldexp(1, 20 * (k - 50));
  check(&(rung_distances){0, 100, 0, edges});
  edges[0] = -0.0, edges[1] = 0x1p-1074, edges[2] = 1e-200, edges[3] = 1e200, edges[4] = DBL_MAX;
  check(&(rung_distances){0, 4, 0, edges});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_widths), cmocka_unit_test(of_given_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
