/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads: the cases'
 * lines. And that a wrong result is seen to be wrong. */
#include "ops/matmul/lab/cases.h"
#include "ops/rungs.h"

static void passes_its_cases(void **state) {
  (void)state;
  verify_lines(&matmul_cases);
}

/* What rungs tell apart: rows and columns that fill tiles and are one more or less, blocks of k,
 * strips, matrices read as they lie. */
static void reaches_every_path(void **state) {
  (void)state;
  static const char *const lines[] = {
      "n=64 m=12 k=256 type=f32",
      "n=65 m=13 k=257 type=f32 layout=tt beta=1",
      "n=4099 m=13 k=257 type=f32 layout=nt",
      "n=31 m=250 k=270 type=f64 layout=tn alpha=2",
      "n=70 m=250 k=260 type=f32 beta=-1 layout=nt",
      "n=300 m=30 k=300 type=f32",
      "n=90 m=20 k=300 type=f16 narrow=1 beta=1",
      "n=90 m=20 k=300 type=i8 beta=7 alpha=-3",
      "n=1100 m=4 k=31 type=f64",
      "n=129 m=2 k=0 type=f32 beta=1",
      "n=20 m=21 k=22 type=f32 batch=63 layout=nt",
      "n=170 m=160 k=160 type=f32 batch=2",
      "n=1003 m=1 k=85 type=f32",
      "n=1003 m=2 k=70 type=f32 layout=nt",
      "n=77 m=1 k=90 type=f64 layout=nt beta=1",
      "n=530 m=7 k=41 type=f32 layout=tn beta=1",
      "n=100 m=46 k=100 type=f32 beta=2",
      "n=180 m=94 k=180 type=f32",
      "n=3 m=40 k=200 type=f64 alpha=2",
      "n=4100 m=5 k=259 type=f64 layout=nt",
      "n=130 m=17 k=70 type=f32 layout=nt",
      "n=70 m=9 k=1024 type=f32 layout=nt alpha=3",
      "n=3 m=100 k=77 type=f32 beta=2",
      "n=12 m=45 k=300 type=f64",
      "n=5 m=90 k=33 type=f32 layout=tn",
      "n=5 m=512 k=2001 type=f32 layout=tn beta=-1",
      "n=150 m=27 k=331 type=f64",
      "n=33 m=40 k=700 type=f32 layout=nt",
      "n=1 m=333 k=257 type=f32",
      "n=1 m=333 k=255 type=f64 beta=1",
      "n=1 m=150 k=1024 type=f32 alpha=2",
      "n=1 m=1030 k=4100 type=f32",
      "n=1 m=4100 k=1024 type=f32",
      "n=700 m=1 k=263 type=f64",
      "n=4100 m=1 k=1031 type=f32",
  };
  for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) verify_line(&matmul_cases, lines[k]);
}

static void sees_one_wrong_bit(void **state) {
  (void)state;
  static const turned cases[] = {
      {"n=37 m=70 k=20 type=f32", RUNG_CANONICAL, 0, 0, false},
      {"n=37 m=70 k=20 type=f64 beta=1", RUNG_CANONICAL, 0, 0, false},
      {"n=37 m=70 k=20 type=f16 narrow=1", RUNG_CANONICAL, 0, 0, false},
      {"n=37 m=70 k=20 type=i8", RUNG_CANONICAL, 3, 7, false},
      {"n=37 m=10 k=20 batch=7 type=f32", RUNG_CANONICAL, 0, 0, false},
      {"n=37 m=70 k=20 type=f32", RUNG_TEXTBOOK, 0, 0, true},
      {"n=37 m=70 k=20 type=f32", RUNG_TEXTBOOK, 2, 0, false},
      {"n=37 m=70 k=20 type=f64 beta=1", RUNG_TEXTBOOK, 0, 0, true},
      {"n=37 m=70 k=20 type=f64 beta=1", RUNG_TEXTBOOK, 0, 4, true},
      {"n=37 m=70 k=20 type=f64 beta=1", RUNG_TEXTBOOK, 3, 0, false},
      {"n=37 m=70 k=20 type=f32", RUNG_TEXTBOOK, 3, 7, false},
      {"n=37 m=70 k=20 type=f32", RUNG_LOOSE, 1, 4, true},
      {"n=37 m=70 k=20 type=f32", RUNG_LOOSE, 2, 6, false},
      {"n=37 m=70 k=20 type=f64", RUNG_LOOSE, 5, 0, false},
      {"n=37 m=70 k=20 type=i8", RUNG_LOOSE, 0, 0, false},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
    see_turned(&matmul_cases, "naive", MATMUL_C, 69 * 37 + 36, &cases[c]);
}

static void refuses_lines(void **state) {
  (void)state;
  static const char *const lines[] = {"n=0",      "m=0",        "k=-1",    "type=u8",
                                      "layout=t", "beta=x",     "batch=0", "type=i8 alpha=0.5",
                                      "narrow=2", "alpha=1e10", "size=5"};
  refuse_lines(&matmul_cases, lines, sizeof lines / sizeof *lines);
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
