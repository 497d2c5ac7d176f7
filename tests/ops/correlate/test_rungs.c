/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads: the cases'
 * lines. And that a wrong result is seen to be wrong. */
#include "ops/correlate/lab/cases.h"
#include "ops/rungs.h"

static void passes_its_cases(void **state) {
  (void)state;
  verify_lines(&correlate_cases);
}

/* What rungs tell apart: rows shorter and longer than vectors, more rows than a block, kernels of
 * one row or column, of more than a vector, sums that no float and no 32 bits hold. */
static void reaches_every_path(void **state) {
  (void)state;
  static const char *const lines[] = {
      "height=300 width=517 kernel=5 edge=mirror",
      "height=600 width=40 kernel=3 type=u16 edge=wrap",
      "height=9 width=2100 kernel=3 type=u8 to=f32 edge=mirror-edge",
      "height=40 width=300 kernel=1 columns=31 type=f64",
      "height=90 width=33 kernel=31 columns=1 type=f16 edge=edge",
      "height=60 width=120 kernel=17 channels=3 type=u16 taps=integer to=f64",
      "height=12 width=17 kernel=63 channels=4 type=u8 taps=integer edge=wrap",
      "height=70 width=90 kernel=12 type=u16 kernels=5 taps=integer",
      "height=64 width=64 kernel=2 columns=3 up=-1 left=1 kernels=2 channels=2 margin=5",
  };
  for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) verify_line(&correlate_cases, lines[k]);
}

static void sees_one_wrong_bit(void **state) {
  (void)state;
  static const turned cases[] = {
      {"height=300 width=37 kernel=5", RUNG_CANONICAL, 0, 0, false},
      {"height=300 width=37 kernel=5 type=f64", RUNG_CANONICAL, 0, 0, false},
      {"height=300 width=37 kernel=3 type=u8", RUNG_CANONICAL, 0, 0, false},
      {"height=300 width=37 kernel=3 type=u8 taps=integer", RUNG_CANONICAL, 0, 0, false},
      {"height=300 width=37 kernel=5", RUNG_LOOSE, 0, 0, true},
      {"height=300 width=37 kernel=5", RUNG_LOOSE, 3, 7, false},
      {"height=300 width=37 kernel=3 type=u8", RUNG_LOOSE, 0, 0, false},
      {"height=300 width=37 kernel=9 taps=separable", RUNG_LOOSE, 0, 0, true},
      {"height=300 width=37 kernel=9 taps=separable", RUNG_LOOSE, 2, 0, false},
      {"height=300 width=37 kernel=9 taps=separable-integer type=u8", RUNG_LOOSE, 0, 0, false},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
    see_turned(&correlate_cases, "direct", CORRELATE_OUT, 299 * 37 + 36, &cases[c]);
}

static void refuses_lines(void **state) {
  (void)state;
  static const char *const lines[] = {
      "height=0",      "width=-1", "kernel=0",   "kernel=64", "type=i8",  "edge=near", "channels=5",
      "kernel=4 up=2", "left=-3",  "margin=256", "kernels=0", "taps=int", "size=5"};
  refuse_lines(&correlate_cases, lines, sizeof lines / sizeof *lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_its_cases),
      cmocka_unit_test(reaches_every_path),
      cmocka_unit_test(sees_one_wrong_bit),
      cmocka_unit_test(refuses_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
