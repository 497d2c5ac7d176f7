/* What checkers share: the same bits, poison, bounds, the first wrong element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "lab/compare.h"

static void a_nan_is_a_nan_and_zeros_differ(void **state) {
  (void)state;
  const float a[] = {NAN, 0.0f, 1, 2}, b[] = {-NAN, -0.0f, 1, NAN};
  static const bool same[] = {true, false, true, false};
  for (int i = 0; i < 4; ++i) assert_int_equal(rung_same_bits(RUNG_F32, a, b, i), same[i]);
  const uint32_t x[] = {0x7fc00000, 5}, y[] = {0xffc00000, 5}; /* integers have no NaN */
  assert_false(rung_same_bits(RUNG_U32, x, y, 0));
  assert_true(rung_same_bits(RUNG_U32, x, y, 1));
}

static void only_floats_have_poison(void **state) {
  (void)state;
  unsigned char bytes[16];
  memset(bytes, RUNG_POISON_BYTE, sizeof bytes);
  assert_true(rung_is_poison(RUNG_F32, bytes, 3) && rung_is_poison(RUNG_F64, bytes, 1));
  assert_false(rung_is_poison(RUNG_I64, bytes, 1) || rung_is_poison(RUNG_U8, bytes, 1));
  bytes[15] = 0x7f; /* a NaN, but another */
  assert_false(rung_is_poison(RUNG_F32, bytes, 3) || rung_is_poison(RUNG_F64, bytes, 1));
  assert_true(rung_is_poison(RUNG_F32, bytes, 2));
}

static void a_sum_may_be_what_is_within_its_bound(void **state) {
  (void)state;
  const double most = rung_most_of(RUNG_F32);
  const rung_wide_sum sum = {.wide = 1, .magnitude = 4, .bound = 0.25}, none = {0, 0, 0.25},
                      infinite = {INFINITY, INFINITY, 1}, undefined = {NAN, 1, 1},
                      huge = {1, 2 * most, 0};
  assert_true(rung_sum_may_be(RUNG_F32, &sum, most, 2));
  assert_true(rung_sum_may_be(RUNG_F32, &sum, most, 0));
  assert_false(rung_sum_may_be(RUNG_F32, &sum, most, 2.01));
  assert_false(rung_sum_may_be(RUNG_F32, &sum, most, NAN)); /* a NaN passes no comparison */
  assert_false(rung_sum_may_be(RUNG_F32, &sum, most, INFINITY));
  assert_true(rung_sum_may_be(RUNG_F32, &none, most, 0x1p-149));
  assert_false(rung_sum_may_be(RUNG_F32, &none, most, 0x1p-148));
  assert_false(rung_sum_may_be(RUNG_F64, &none, most, 0x1p-149));
  assert_true(rung_sum_may_be(RUNG_F32, &infinite, most, INFINITY));
  assert_false(rung_sum_may_be(RUNG_F32, &infinite, most, -INFINITY));
  assert_true(rung_sum_may_be(RUNG_F32, &undefined, most, NAN));
  assert_false(rung_sum_may_be(RUNG_F32, &undefined, most, 1));
  assert_true(rung_sum_may_be(RUNG_F32, &huge, most, 77));
}

static void the_first_stays_the_first(void **state) {
  (void)state;
  rung_comparison all = {.first = -1}, later = {.first = -1}, none = {.first = -1};
  rung_compare_merge(&all, &none);
  rung_compare_wrong(&later, 1, 5, NAN, 2, false);
  rung_compare_wrong(&later, 0, 9, NAN, NAN, true);
  rung_compare_error(&later, 3);
  rung_compare_error(&later, 2);
  rung_compare_merge(&all, &later);
  assert_true(all.output == 1 && all.first == 5 && isnan(all.found) && all.wanted == 2);
  rung_compare_merge(&all, &later);
  rung_compare_wrong(&all, 0, 1, 1, 1, false);
  assert_true(all.first == 5 && all.wrong == 5 && all.unwritten == 2 && all.nans == 2);
  assert_true(all.worst == 3);
  rung_compare_error(&all, NAN);
  rung_compare_error(&all, 1);
  assert_true(isnan(all.worst));
}

static void the_sentence_names_what_is_worst(void **state) {
  (void)state;
  rung_comparison found = {.first = -1};
  rung_compare_wrong(&found, 0, 3, 1, 2, false);
  rung_compare_say(&found, 10, "results", "that of line 3", "1", "2", true);
  assert_string_equal(found.sentence,
                      "1 of 10 results are wrong; that of line 3 is 1 where 2 is the contract's");
  rung_compare_wrong(&found, 0, 4, NAN, 2, true);
  rung_compare_say(&found, 10, "results", "that of line 3", "1", "2", false);
  assert_string_equal(found.sentence,
                      "1 of 10 results were not written; the first wrong one is that of line 3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_nan_is_a_nan_and_zeros_differ),
      cmocka_unit_test(only_floats_have_poison),
      cmocka_unit_test(a_sum_may_be_what_is_within_its_bound),
      cmocka_unit_test(the_first_stays_the_first),
      cmocka_unit_test(the_sentence_names_what_is_worst),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
