/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads, on the cases'
 * lines; that 32-bit counters are added up in time; and that a wrong count is seen to be wrong. */
#include "ops/histogram/histogram.h"
#include "ops/histogram/lab/cases.h"
#include "ops/histogram/outside.h"
#include "ops/rungs.h"

static void passes_its_cases(void **state) {
  (void)state;
  verify_lines(&histogram_cases);
}

/* Long enough for many chunks a thread, with little room in the counters. */
static void adds_up_in_time(void **state) {
  (void)state;
  verify_line(&histogram_cases, "n=1000003 bins=8 flush=70000 type=u32 data=equal");
  verify_line(&histogram_cases, "n=1000003 kind=bytes flush=100000 type=u8");
  verify_line(&histogram_cases, "n=400009 bins=3000 flush=65536 rows=3 type=f32");
  verify_line(&histogram_cases, "n=70001 bins=77 rows=9 type=f64");
}

/* Bytes by pairs, which take this many: whole words and what is left, like the one before and not,
 * to values' bins and to wider ones. */
static void counts_pairs_of_bytes(void **state) {
  (void)state;
  verify_line(&histogram_cases, "n=2700001 kind=bytes type=u8");
  verify_line(&histogram_cases, "n=1179648 bins=7 type=i8");
  verify_line(&histogram_cases, "n=1100007 kind=bytes type=u8 data=equal rows=2");
  verify_line(&histogram_cases, "n=1100003 kind=bytes type=u8 data=sorted");
  verify_line(&histogram_cases, "n=600005 kind=even bins=10 low=-70 high=77.25 type=i8 rows=3");
  verify_line(&histogram_cases, "n=600005 bins=7 type=i8 data=alternating rows=9");
}

/* All ways of finding bins are among the cases' lines, of every type that has them. */
static void tries_every_way(void **state) {
  (void)state;
  bool seen[RUNG_DTYPES][HISTOGRAM_WAYS] = {{false}};
  for (const char *const *line = histogram_cases.verify; *line != NULL; ++line) {
    rung_case test_case;
    assert_int_equal(histogram_cases.make(*line, 1, &test_case, NULL), RUNG_OK);
    seen[test_case.types.in][((const histogram_problem *)test_case.problem)->rule.way] = true;
    histogram_cases.drop(&test_case);
  }
  for (int type = 0; type < RUNG_DTYPES; ++type)
    for (int way = 0; way < HISTOGRAM_WAYS; ++way) {
      const bool real = rung_dtype_is_float((rung_dtype)type);
      const bool wide = rung_dtype_bytes((rung_dtype)type) == 8;
      bool has = type != RUNG_U64 && !(real && way == HISTOGRAM_MODULO);
      if (wide && way == HISTOGRAM_SINGLE) has = false;
      if (seen[type][way] != has)
        fail_msg("%s, way %d: %s", rung_dtype_name((rung_dtype)type), way,
                 has ? "no line" : "a line that should not be");
    }
}

static void sees_one_wrong_count(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int output;
    int64_t at, add;
    const char *part;
  } cases[] = {
      {"n=100 bins=10 rows=70 type=u32", 0, 699, 1, "bin 9 of row 69"},
      {"n=100 bins=10 rows=70 type=f32", 0, 5, -1, "counts 99 of 100 elements"},
      {"n=100 bins=10 rows=70 type=f32", 1, 3 * 69 + 2, 1, "place outside 2 of row 69"},
      {"n=100 kind=bytes type=u8", 0, 255, (int64_t)1 << 40, "bin 255 of row 0"},
      {"n=0 bins=10 type=u32", 0, 0, -1, "not written"},
  };
  rung_context *context;
  assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_OK);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    rung_case test_case;
    rung_comparison comparison;
    static int64_t results[2][1000];
    assert_int_equal(histogram_cases.make(cases[c].line, 1, &test_case, NULL), RUNG_OK);
    assert_int_equal(histogram_cases.expect(&test_case, NULL), RUNG_OK);
    rung_task task = {.problem = test_case.problem, .device = &context->device};
    memcpy(task.arrays, test_case.arrays, sizeof task.arrays);
    task.arrays[HISTOGRAM_COUNTS].data = (char *)results[0];
    task.arrays[HISTOGRAM_OUTSIDE].data = (char *)results[1];
    const rung_row *serial = &histogram_operation.rows[0];
    assert_string_equal(serial->name, "serial");
    assert_int_equal(rung_row_launch(serial, &context->device)(&task), RUNG_OK);
    histogram_cases.check(&test_case, &(rung_row){.name = "", .order = RUNG_CANONICAL},
                          &task.arrays[HISTOGRAM_COUNTS], &comparison);
    assert_true(comparison.pass);
    results[cases[c].output][cases[c].at] += cases[c].add;
    histogram_cases.check(&test_case, &(rung_row){.name = "", .order = RUNG_CANONICAL},
                          &task.arrays[HISTOGRAM_COUNTS], &comparison);
    if (comparison.pass || comparison.wrong != 1 || comparison.first != cases[c].at ||
        comparison.output != cases[c].output || strstr(comparison.sentence, cases[c].part) == NULL)
      fail_msg("%s: \"%s\" does not say \"%s\"", cases[c].line, comparison.sentence, cases[c].part);
    histogram_cases.drop(&test_case);
  }
  rung_close(context);
}

static void refuses_lines_it_cannot_make(void **state) {
  (void)state;
  static const char *const lines[] = {"n=-1",
                                      "bins=0",
                                      "bins=1048577",
                                      "kind=odd",
                                      "kind=bytes type=u16",
                                      "type=u64",
                                      "kind=modulo type=f32",
                                      "rows=0",
                                      "low=1 high=0 type=f32",
                                      "data=nice",
                                      "flush=0",
                                      "m=3",
                                      "kind=bytes bins=9 type=u8",
                                      "n=1099511627777"};
  refuse_lines(&histogram_cases, lines, sizeof lines / sizeof *lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_its_cases),      cmocka_unit_test(adds_up_in_time),
      cmocka_unit_test(counts_pairs_of_bytes), cmocka_unit_test(tries_every_way),
      cmocka_unit_test(sees_one_wrong_count),  cmocka_unit_test(refuses_lines_it_cannot_make)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
