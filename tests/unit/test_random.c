/* The generator: its published first outputs, and that uniform numbers stay in [0, 1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"

static void gives_the_published_numbers(void **state) {
  (void)state;
  static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u};
  rung_random random = {1234567};
  for (int i = 0; i < 5; ++i) assert_true(rung_random_next(&random) == known[i]);
}

static void is_uniform_below_one(void **state) {
  (void)state;
  enum { DRAWS = 100000, BINS = 10 };
  rung_random random = {42};
  int doubles[BINS] = {0}, floats[BINS] = {0};
  for (int i = 0; i < DRAWS; ++i) {
    const double wide = rung_random_double(&random);
    const float narrow = rung_random_float(&random);
    assert_true(wide >= 0 && wide < 1);
    assert_true(narrow >= 0 && narrow < 1);
    doubles[(int)(wide * BINS)] += 1;
    floats[(int)((double)narrow * BINS)] += 1;
  }
  for (int i = 0; i < BINS; ++i) { /* five standard deviations: 5 * sqrt(9000) */
    assert_in_range(doubles[i], DRAWS / BINS - 475, DRAWS / BINS + 475);
    assert_in_range(floats[i], DRAWS / BINS - 475, DRAWS / BINS + 475);
  }
}

static void takes_the_high_bits(void **state) {
  (void)state;
  rung_random a = {9}, b = {9}, c = {9};
  const uint64_t bits = rung_random_next(&a);
  assert_true(rung_random_double(&b) == (double)(bits >> 11) / 9007199254740992.0);
  assert_true(rung_random_float(&c) == (float)(bits >> 40) / 16777216.0f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_the_published_numbers),
      cmocka_unit_test(is_uniform_below_one),
      cmocka_unit_test(takes_the_high_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
