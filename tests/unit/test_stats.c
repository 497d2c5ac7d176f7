/* Order statistics, against numbers worked out with numpy's default method. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "lab/lab.h"

static void assert_stats(const double *samples, int count, double min, double q1, double median,
                         double q3, double max) {
  const lab_stats stats = lab_stats_of(samples, count);
  assert_int_equal(stats.count, count);
  assert_true(stats.min == min);
  assert_true(fabs(stats.q1 - q1) < 1e-12);
  assert_true(fabs(stats.median - median) < 1e-12);
  assert_true(fabs(stats.q3 - q3) < 1e-12);
  assert_true(stats.max == max);
}

static void known_quartiles(void **state) {
  (void)state;
  /* numpy.percentile(x, [0, 25, 50, 75, 100]) */
  assert_stats((const double[]){5}, 1, 5, 5, 5, 5, 5);
  assert_stats((const double[]){4, 2}, 2, 2, 2.5, 3, 3.5, 4);
  assert_stats((const double[]){3, 1, 2}, 3, 1, 1.5, 2, 2.5, 3);
  assert_stats((const double[]){10, 1, 4, 2}, 4, 1, 1.75, 3, 5.5, 10);
  assert_stats((const double[]){7, 15, 36, 39, 40, 41}, 6, 7, 20.25, 37.5, 39.75, 41);
  assert_stats((const double[]){9, 1, 8, 2, 7, 3, 6, 4, 5, 20, 0}, 11, 0, 2.5, 5, 7.5, 20);
}

static void even_counts_take_the_middle_two(void **state) {
  (void)state;
  const double samples[] = {1, 2, 4, 8, 16, 32, 64, 128};
  assert_true(lab_stats_of(samples, 8).median == 12);
  assert_true(lab_stats_of(samples, 6).median == 6);
  assert_true(lab_stats_of(samples, 2).median == 1.5);
}

static void the_order_of_samples_does_not_matter(void **state) {
  (void)state;
  const double up[] = {1, 2, 3, 4, 5, 6, 7}, mixed[] = {4, 7, 1, 6, 2, 5, 3};
  const lab_stats a = lab_stats_of(up, 7), b = lab_stats_of(mixed, 7);
  assert_true(a.q1 == b.q1 && a.median == b.median && a.q3 == b.q3);
  assert_true(mixed[0] == 4 && mixed[6] == 3); /* and the samples stay in the order taken */
}

static void nothing_is_not_a_number(void **state) {
  (void)state;
  const lab_stats none = lab_stats_of(NULL, 0);
  assert_int_equal(none.count, 0);
  assert_true(isnan(none.min) && isnan(none.q1) && isnan(none.median) && isnan(none.q3) &&
              isnan(none.max));
}

static void one_nan_spoils_all(void **state) {
  (void)state;
  const lab_stats stats = lab_stats_of((const double[]){1, NAN, 2}, 3);
  assert_true(isnan(stats.min) && isnan(stats.median) && isnan(stats.max));
  assert_false(lab_relative_iqr(&stats) < 1e9); /* so a stop rule never takes it for steady */
}

static void relative_iqr(void **state) {
  (void)state;
  const lab_stats stats = lab_stats_of((const double[]){7, 15, 36, 39, 40, 41}, 6);
  assert_true(fabs(lab_relative_iqr(&stats) - 19.5 / 37.5) < 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_quartiles),
      cmocka_unit_test(even_counts_take_the_middle_two),
      cmocka_unit_test(the_order_of_samples_does_not_matter),
      cmocka_unit_test(nothing_is_not_a_number),
      cmocka_unit_test(one_nan_spoils_all),
      cmocka_unit_test(relative_iqr),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
