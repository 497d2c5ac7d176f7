/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads: the cases'
 * lines, one set of bits for all, and those of the reference where tiles have families of families.
 * And that a wrong result is seen to be wrong. */
#include "ops/rungs.h"
#include "ops/scan/lab/cases.h"
#include "ops/scan/outside.h"
#include "ops/scan/scan.h"

/* ---- the contract's bits ----------------------------------------------------------------------
 */

static void fill(float *floats, double *doubles, int64_t n) {
  uint32_t x = 1;
  for (int64_t i = 0; i < n; ++i) {
    x = x * 1664525u + 1013904223u;
    const double value = (int32_t)x / 3e9 * (x >> 28);
    if (floats != NULL) floats[i] = (float)value;
    if (doubles != NULL) doubles[i] = value;
  }
}

/* The reference's bits, by both canonical rungs, from `isa` on; under a sanitizer with 5 threads.
 */
static void check_order(rung_dtype dtype, void *in, int64_t n, bool exclusive, int isa) {
  const size_t bytes = (size_t)n * rung_dtype_bytes(dtype);
  char *wanted = (char *)malloc(bytes), *found = (char *)malloc(bytes);
  const int first = INSTRUMENTED ? 2 : 0;
  scan_problem problem;
  rung_error error = {0};
  assert_int_equal(scan_problem_of(&error, RUNG_SUM, dtype, exclusive, 1, n, 1, &problem), RUNG_OK);
  assert_true(scan_reference_strict(&problem, in, wanted));
  for (int i = isa; i < ISAS; ++i)
    for (int t = first; t < 3; ++t) {
      rung_context *context = open_with(isas[i], thread_counts[t]);
      for (int r = t > first; r < 2 && context != NULL; ++r) {
        const char *rung = r == 0 ? "tiles" : "threads";
        memset(found, 0xff, bytes);
        scan_line(context, RUNG_SUM, dtype == RUNG_F32 ? f32 : f64, in, n, exclusive, found, rung);
        if (memcmp(found, wanted, bytes) != 0)
          fail_msg("%s on %s with %d threads: other bits, n=%ld", rung, isas[i], thread_counts[t],
                   (long)n);
      }
      rung_close(context);
    }
  free(wanted);
  free(found);
}

/* A tile, a family of 32 tiles, and one of 32 families, and a little more or less. */
static void keeps_the_order(void **state) {
  (void)state;
  enum { FAMILY = 32 * SCAN_TILE, MOST = 3 * FAMILY };
  float *floats = (float *)malloc(MOST * sizeof *floats);
  double *doubles = (double *)malloc(MOST * sizeof *doubles);
  fill(floats, doubles, MOST);
  for (int64_t n = 1; n <= 300; ++n) {
    check_order(RUNG_F32, floats, n, n % 2, first_isa());
    check_order(RUNG_F64, doubles, n, n % 2, first_isa());
  }
  static const int64_t lengths[] = {
      SCAN_TILE - 1, SCAN_TILE,          SCAN_TILE + 1, 2 * SCAN_TILE,  FAMILY - 1, FAMILY,
      FAMILY + 1,    FAMILY + SCAN_TILE, 2 * FAMILY,    2 * FAMILY + 1, MOST};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
    check_order(RUNG_F32, floats, lengths[k], k % 2, first_isa());
    check_order(RUNG_F64, doubles, lengths[k], (k + 1) % 2, first_isa());
  }
  free(floats);
  free(doubles);
}

/* The last tiles have something of all three levels before them. */
static void keeps_the_order_of_families_of_families(void **state) {
  (void)state;
  enum { N = (32 * 32 + 50) * SCAN_TILE + 1 };
  float *floats = (float *)malloc(N * sizeof *floats);
  fill(floats, NULL, N);
  check_order(RUNG_F32, floats, N, false, widest_isa());
  check_order(RUNG_F32, floats, 32 * 32 * SCAN_TILE + 1, true, widest_isa());
  free(floats);
}

/* In the order that scan.h states, by hand: the first group, and across groups of a row. */
static void a_group_is_its_prefix(void **state) {
  (void)state;
  float x[6] = {0.1f, 0.7f, -0.83112f, 0.33f, 1.1f, 2.2f}, out[6];
  rung_context *context;
  assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_OK);
  scan_line(context, RUNG_SUM, f32, x, 6, 0, out, NULL);
  const float left = x[0] + x[1], middle = x[1] + x[2], right = x[2] + x[3], all = left + right;
  assert_true(out[0] == x[0] && out[1] == left && out[2] == x[0] + middle && out[3] == all);
  assert_true(out[4] == all + x[4] && out[5] == all + (x[4] + x[5]));
  assert_true(x[0] + middle != left + x[2]); /* the numbers tell the two apart */
  rung_close(context);
}

/* ---- the cases -------------------------------------------------------------------------------
 */

static void passes_its_cases(void **state) {
  (void)state;
  verify_lines(&scan_cases);
}

/* One bit of one element wrong: every canonical comparison, and every one of integers and extremes,
 * sees it; a textbook's sees what is beyond its bound. */
static void sees_one_wrong_bit(void **state) {
  (void)state;
  static const turned cases[] = {
      {"n=100 op=sum type=f32 lines=70", RUNG_CANONICAL, 0, 0, false},
      {"n=100 op=sum type=f32 lines=70", RUNG_TEXTBOOK, 0, 0, true},
      {"n=100 op=sum type=f32 lines=70", RUNG_TEXTBOOK, 2, 6, false},
      {"n=100 op=sum type=f64 exclusive=1 lines=70", RUNG_TEXTBOOK, 6, 3, false},
      {"n=100 op=max type=f32 lines=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=100 op=min type=f64 exclusive=1 lines=70", RUNG_CANONICAL, 0, 0, false},
      {"n=100 op=sum type=u32 lines=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=100 op=sum type=i64 exclusive=1 lines=70", RUNG_CANONICAL, 0, 0, false},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
    see_turned(&scan_cases, "tiles", SCAN_OUT, 69 * 100 + 37, &cases[c]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_the_order),
      cmocka_unit_test(keeps_the_order_of_families_of_families),
      cmocka_unit_test(a_group_is_its_prefix),
      cmocka_unit_test(passes_its_cases),
      cmocka_unit_test(sees_one_wrong_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
