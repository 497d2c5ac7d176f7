/* The report's points are what this C library's rand() makes, where it is glibc; its bins. */
#include "ops/pairs/lab/report.h"
#include "ops/pairs/outside.h"

static void its_points(void **state) {
  (void)state;
  enum { N = 20000 };
  static double points[3 * N];
  pairs_report_points(N, points);
  assert_true(points[0] == 1804289383.0 / 2147483647.0 * 23000);
#ifdef __GLIBC__
  srand(1);
  for (int i = 0; i < 3 * N; ++i) {
    const double wanted = ((double)rand() / RAND_MAX) * 23000;
    if (points[i] != wanted) fail_msg("coordinate %d is %.17g, not %.17g", i, points[i], wanted);
  }
#endif
}

static void its_bins(void **state) {
  (void)state;
  assert_int_equal(pairs_report_bins(500, RUNG_MAX_BINS), 80);
  assert_int_equal(pairs_report_bins(1e9, RUNG_MAX_BINS), 1);
  assert_int_equal(pairs_report_bins(1e-9, RUNG_MAX_BINS), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(its_points), cmocka_unit_test(its_bins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
