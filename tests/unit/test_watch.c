/* What disturbed a measurement: from the texts of /proc/stat and cpu.stat to a sentence. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/watch.h"

static void test_stat(void **state) {
  double busy = 0, stolen = 0;
  (void)state;
  assert_true(lab_watch_stat("cpu  100 20 3 1000 500 7 70 400 50 0\ncpu0 1 1 1 1 1 1 1 1\n", 100,
                             &busy, &stolen));
  assert_float_equal(busy, 2.0, 1e-9); /* idle, waiting and guests, who are users, not counted */
  assert_float_equal(stolen, 4.0, 1e-9);
  assert_false(lab_watch_stat("", 100, &busy, &stolen));
  assert_false(lab_watch_stat("cpu 1 2 3 4 5 6 7", 100, &busy, &stolen));
  assert_false(lab_watch_stat("intr 1 2 3 4 5 6 7 8", 100, &busy, &stolen));
}

static void test_quota(void **state) {
  (void)state;
  assert_int_equal(lab_watch_quota("usage_usec 5\nnr_periods 9\nnr_throttled 4\n"), 4);
  assert_int_equal(lab_watch_quota("usage_usec 5\n"), 0);
  assert_int_equal(lab_watch_quota("nr_throttled x"), 0);
}

static const lab_watch from = {true, 10, 100, 5, 30, 2};

static void test_others(void **state) {
  char text[256];
  (void)state;
  /* Four seconds, of which ten of processors: eight ours. */
  const lab_watch to = {true, 14, 110, 5.4, 38, 2};
  lab_disturbance found = lab_watch_between(&from, &to);
  assert_float_equal(found.others, 0.5, 1e-9);
  assert_float_equal(found.stolen, 0.1, 1e-9);
  assert_int_equal(found.throttled, 0);
  assert_string_equal(lab_watch_text(&found, 2, text, sizeof text),
                      "other programs kept 0.5 of 2 processors busy; the host of this virtual "
                      "machine gave 0.10 processors to others");
}

static void test_quiet(void **state) {
  char text[256];
  (void)state;
  const lab_watch to = {true, 14, 108.1, 5, 38, 2};
  lab_disturbance found = lab_watch_between(&from, &to);
  assert_string_equal(lab_watch_text(&found, 2, text, sizeof text), "");
  /* Counts that lag behind ours are nobody's. */
  const lab_watch lags = {true, 14, 107, 5, 38, 2};
  found = lab_watch_between(&from, &lags);
  assert_float_equal(found.others, 0, 0);
}

static void test_unknown(void **state) {
  char text[256];
  (void)state;
  const lab_watch soon = {true, 10.4, 101, 5, 30, 5}, blind = {false, 14, 0, 0, 38, 2};
  lab_disturbance found = lab_watch_between(&from, &soon);
  assert_true(isnan(found.others) && isnan(found.stolen));
  assert_string_equal(lab_watch_text(&found, 2, text, sizeof text),
                      "processors were throttled 3 times");
  found = lab_watch_between(&from, &blind);
  assert_true(isnan(found.others));
  assert_string_equal(lab_watch_text(&found, 2, text, sizeof text), "");
  assert_true(strlen(lab_watch_text(&found, 2, text, 1)) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_stat), cmocka_unit_test(test_quota),
                                     cmocka_unit_test(test_others), cmocka_unit_test(test_quiet),
                                     cmocka_unit_test(test_unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
