/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads: the cases'
 * lines, and one set of bits for all. And that a wrong result is seen to be wrong. */
#include "ops/reduce/lab/cases.h"
#include "ops/reduce/outside.h"
#include "ops/reduce/reduce.h"
#include "ops/rungs.h"

/* ---- the same bits ----------------------------------------------------------------------------
 */

enum { ROWS = 3, COLUMNS = 70001, BYTES = 8 * COLUMNS, JOBS = 2 * 4 * 3 };
static double doubles[ROWS * COLUMNS];
static float floats[ROWS * COLUMNS];
static char expected[JOBS][BYTES], found[BYTES];

static void run_jobs(rung_context *context, const char *rung, bool first, const char *where) {
  int job = 0;
  for (int bits = 32; bits <= 64; bits += 32)
    for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what)
      for (int axis = -1; axis <= 1; ++axis, ++job) {
        const DLDataType type = {kDLFloat, (uint8_t)bits, 1};
        int64_t shape[2] = {ROWS, COLUMNS}, kept[1] = {axis == 0 ? COLUMNS : ROWS};
        memset(found, 0, BYTES);
        DLTensor in = tensor(bits == 32 ? (void *)floats : doubles, type, 2, shape, NULL);
        DLTensor out = tensor(found, type, axis < 0 ? 0 : 1, kept, NULL);
        rung_call call = {.rung = rung};
        if (rung_reduce(context, (rung_reduction)what, &in, axis < 0 ? RUNG_ALL : axis, &out,
                        &call) != RUNG_OK)
          fail_msg("%s", rung_last_error(context));
        if (first) memcpy(expected[job], found, BYTES);
        if (memcmp(expected[job], found, BYTES) != 0)
          fail_msg("%s: other bits, f%d, what %d, axis %d", where, bits, what, axis);
      }
}

static void gives_the_same_bits_everywhere(void **state) {
  (void)state;
  uint32_t x = 1;
  for (int64_t i = 0; i < ROWS * COLUMNS; ++i) {
    x = x * 1664525u + 1013904223u;
    floats[i] = (float)(doubles[i] = (int32_t)x / 3e9);
  }
  bool first = true;
  for (int i = first_isa(); i < ISAS; ++i)
    for (int t = 0; t < 3; ++t) {
      rung_context *context = open_with(isas[i], thread_counts[t]);
      if (context != NULL) {
        run_jobs(context, "lanes", first, isas[i]);
        run_jobs(context, "threads", false, isas[i]);
        first = false;
      }
      rung_close(context);
    }
  assert_false(first);
}

/* ---- the cases -------------------------------------------------------------------------------
 */

static void passes_its_cases(void **state) {
  (void)state;
  verify_lines(&reduce_cases);
}

/* One bit of one result wrong: every canonical comparison, and every comparison of integers, sees
 * it; and a textbook's sees what is beyond its bound. */
static void sees_one_wrong_bit(void **state) {
  (void)state;
  static const turned cases[] = {
      {"n=100 op=sum type=f32 outer=70", RUNG_CANONICAL, 0, 0, false},
      {"n=100 op=sum type=f32 outer=70", RUNG_TEXTBOOK, 0, 0, true},
      {"n=100 op=sum type=f32 outer=70", RUNG_TEXTBOOK, 2, 6, false},
      {"n=100 op=mean type=f64 outer=70", RUNG_TEXTBOOK, 6, 3, false},
      {"n=100 op=max type=f32 outer=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=100 op=min type=f64 inner=70", RUNG_CANONICAL, 0, 0, false},
      {"n=100 op=sum type=u8 outer=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=100 op=sum type=u64 outer=70", RUNG_CANONICAL, 0, 0, false},
      {"n=100 op=mean type=i32 inner=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=0 op=sum type=f32 outer=70", RUNG_TEXTBOOK, 3, 7, false}, /* -0 for +0 */
      {"n=100 op=sum type=f16 outer=70", RUNG_CANONICAL, 0, 0, false},
      {"n=100 op=sum type=f16 outer=70", RUNG_TEXTBOOK, 1, 4, false},
      {"n=100 op=mean type=bf16 inner=70", RUNG_TEXTBOOK, 1, 5, false},
      {"n=100 op=min type=bf16 outer=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=100 op=sum type=i8 outer=70", RUNG_TEXTBOOK, 0, 0, false},
      {"n=100 op=max type=i16 inner=70", RUNG_TEXTBOOK, 0, 0, false},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
    see_turned(&reduce_cases, "lanes", REDUCE_OUT, 69, &cases[c]);
}

static void refuses_lines_it_cannot_make(void **state) {
  (void)state;
  static const char *const lines[] = {"n=-1",    "op=median",  "type=u12",
                                      "outer=0", "inner=0",    "data=nice",
                                      "m=3",     "n=0 op=min", "n=1099511627777"};
  refuse_lines(&reduce_cases, lines, sizeof lines / sizeof *lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_the_same_bits_everywhere),
      cmocka_unit_test(passes_its_cases),
      cmocka_unit_test(sees_one_wrong_bit),
      cmocka_unit_test(refuses_lines_it_cannot_make),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
