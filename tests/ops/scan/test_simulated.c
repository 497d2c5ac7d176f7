/* GPU rungs on the simulated GPU, through the library: lines of every alignment, in place, and so
 * long that tiles have families of families. Skipped where the build has no simulator. */
#include "ops/scan/outside.h"

static rung_context *sim, *cpu;

enum { N = (32 * 32 + 50) * 8192 + 1 }; /* the last tiles have all three levels before them */
static float *x, *wanted, *found;

static void scan(rung_context *context, int64_t n, int exclusive, float *in, float *out,
                 const char *rung) {
  scan_line(context, RUNG_SUM, f32, in, n, exclusive, out, rung);
}

static void check(int64_t n, int exclusive, const char *rung) {
  scan(cpu, n, exclusive, x, wanted, "threads");
  memset(found, 0xff, (size_t)n * sizeof *found);
  scan(sim, n, exclusive, x, found, rung);
  if (memcmp(wanted, found, (size_t)n * sizeof *found) != 0)
    fail_msg("%s: other bits than the CPU's, n=%ld", rung, (long)n);
}

static void keep_the_order_of_families_of_families(void **state) {
  (void)state;
  if (sim == NULL || INSTRUMENTED) skip();
  check(N, 0, "tiles");
  check(N, 1, "single-pass");
}

/* Rows that begin anywhere, into rows that begin anywhere else. */
static void take_any_alignment(void **state) {
  (void)state;
  if (sim == NULL) skip();
  static const char *const rungs[] = {"tiles", "single-pass"};
  enum { ROWS = 3, COLUMNS = 9001 };
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; ++r)
    for (int offset = 0; offset < 4; ++offset)
      for (int wide = 0; wide < 2; ++wide) {
        const int64_t columns = wide ? COLUMNS : 101;
        int64_t shape[2] = {ROWS, columns}, from[2] = {columns + offset, 1},
                to[2] = {columns + 4 - offset, 1};
        rung_call call = {.rung = rungs[r]};
        DLTensor in = tensor(x + offset, f32, 2, shape, from);
        DLTensor out = tensor(found + 3 - offset, f32, 2, shape, to);
        for (int i = 0; i < ROWS * (COLUMNS + 8); ++i) found[i] = 12345;
        if (rung_scan(sim, RUNG_SUM, &in, -1, 0, &out, &call) != RUNG_OK)
          fail_msg("%s", rung_last_error(sim));
        for (int row = 0; row < ROWS; ++row) {
          float *here = found + 3 - offset + row * to[0];
          scan(cpu, columns, 0, x + offset + row * from[0], wanted, "tiles");
          assert_memory_equal(wanted, here, (size_t)columns * sizeof *wanted);
          for (int64_t k = 0; k < columns; ++k) here[k] = 12345;
        }
        for (int i = 0; i < ROWS * (COLUMNS + 8); ++i) assert_true(found[i] == 12345);
      }
}

/* Arrays that are packed: every third column, from the last to the first. */
static void take_strides(void **state) {
  (void)state;
  if (sim == NULL) skip();
  enum { ROWS = 4, COLUMNS = 9001 };
  int64_t shape[2] = {ROWS, COLUMNS}, strides[2] = {3 * COLUMNS, -3};
  DLTensor in = tensor(x + 3 * COLUMNS, f32, 2, shape, strides);
  DLTensor out = tensor(wanted, f32, 2, shape, NULL);
  assert_int_equal(rung_scan(cpu, RUNG_SUM, &in, -1, 1, &out, NULL), RUNG_OK);
  out.data = found;
  assert_int_equal(rung_scan(sim, RUNG_SUM, &in, -1, 1, &out, NULL), RUNG_OK);
  assert_memory_equal(wanted, found, sizeof *found * ROWS * COLUMNS);
}

static void work_in_place(void **state) {
  (void)state;
  if (sim == NULL) skip();
  static const char *const rungs[] = {"double-buffered", "blelloch",   "blelloch-padded", "warp",
                                      "tiles",           "single-pass"};
  enum { LENGTH = 70001 };
  uint32_t *ones = (uint32_t *)malloc(LENGTH * sizeof *ones);
  for (size_t r = 0; r < sizeof rungs / sizeof *rungs; ++r)
    for (int exclusive = 0; exclusive < 2; ++exclusive) {
      for (int i = 0; i < LENGTH; ++i) ones[i] = 1;
      scan_line(sim, RUNG_SUM, u32, ones, LENGTH, exclusive, ones, rungs[r]);
      for (int i = 0; i < LENGTH; ++i)
        if (ones[i] != (uint32_t)(i + !exclusive)) fail_msg("%s: element %d", rungs[r], i);
    }
  free(ones);
}

static int open_contexts(void **state) {
  (void)state;
  x = (float *)malloc(N * sizeof *x);
  wanted = (float *)malloc(N * sizeof *wanted);
  found = (float *)malloc(N * sizeof *found);
  uint32_t number = 1;
  for (int i = 0; i < N; ++i) {
    number = number * 1664525u + 1013904223u;
    x[i] = (float)((int32_t)number / 3e9);
  }
  if (rung_open(&sim, &(rung_options){.device = "sim"}) != RUNG_OK) {
    print_message("not tried: %s\n", rung_last_error(sim));
    rung_close(sim);
    sim = NULL;
  }
  return rung_open(&cpu, &(rung_options){.device = "cpu", .threads = 2}) == RUNG_OK ? 0 : -1;
}

static int close_contexts(void **state) {
  (void)state;
  rung_close(sim);
  rung_close(cpu);
  free(x);
  free(wanted);
  free(found);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keep_the_order_of_families_of_families),
      cmocka_unit_test(take_any_alignment),
      cmocka_unit_test(take_strides),
      cmocka_unit_test(work_in_place),
  };
  return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
