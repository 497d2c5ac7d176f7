/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads, on the trials'
 * lines; that 32-bit counters are added up in time; and that a wrong count is seen to be wrong. */
#include "core/context.h"
#include "lab/lab.h"
#include "ops/histogram/histogram.h"
#include "ops/histogram/outside.h"

static const char *const isas[] = {"baseline", "avx2", "avx512"};
static const int thread_counts[] = {1, 2, 5};

static void verify_line(const char *line) {
  rung_trial trial;
  rung_error error = {0};
  if (histogram_trials.make(line, 5, &trial, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(histogram_trials.expect(&trial, &error), RUNG_OK);
  for (int i = 0; i < 3; ++i)
    for (int t = 0; t < 3; ++t) {
      rung_context *context;
      const rung_options options = {.device = "cpu", .isa = isas[i], .threads = thread_counts[t]};
      lab_rig *rig = NULL;
      if (rung_open(&context, &options) == RUNG_OK) {
        assert_int_equal(lab_rig_open(context, &trial, &rig, &error), RUNG_OK);
        for (int r = 0; r < histogram_operation.count; ++r) {
          lab_verdict verdict;
          if (histogram_operation.rows[r].family != RUNG_ON_CPU) continue;
          lab_verify(rig, &histogram_operation.rows[r], 0, &verdict);
          if (verdict.finding != LAB_GOOD)
            fail_msg("%s on %s, %s: %s", histogram_operation.rows[r].name, isas[i], trial.label,
                     verdict.sentence);
        }
        lab_rig_close(rig);
      }
      rung_close(context);
    }
  histogram_trials.drop(&trial);
}

static void passes_its_trials(void **state) {
  (void)state;
  for (const char *const *line = histogram_trials.verify; *line != NULL; ++line) verify_line(*line);
}

/* Long enough for many chunks a thread, with little room in the counters. */
static void adds_up_in_time(void **state) {
  (void)state;
  verify_line("n=1000003 bins=8 flush=70000 type=u32 data=equal");
  verify_line("n=1000003 kind=bytes flush=100000 type=u8");
  verify_line("n=400009 bins=3000 flush=65536 rows=3 type=f32");
  verify_line("n=70001 bins=77 rows=9 type=f64");
}

/* All ways of finding bins are among the trials' lines, of every type that has them. */
static void tries_every_way(void **state) {
  (void)state;
  bool seen[RUNG_DTYPES][HISTOGRAM_WAYS] = {{false}};
  for (const char *const *line = histogram_trials.verify; *line != NULL; ++line) {
    rung_trial trial;
    assert_int_equal(histogram_trials.make(*line, 1, &trial, NULL), RUNG_OK);
    seen[trial.dtype][((const histogram_problem *)trial.problem)->rule.way] = true;
    histogram_trials.drop(&trial);
  }
  for (int type = 0; type < RUNG_DTYPES; ++type)
    for (int way = 0; way < HISTOGRAM_WAYS; ++way) {
      const bool real = type == RUNG_F32 || type == RUNG_F64;
      const bool wide = type == RUNG_F64 || type == RUNG_I64;
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
    rung_trial trial;
    rung_judgement judgement;
    static int64_t results[2][1000];
    assert_int_equal(histogram_trials.make(cases[c].line, 1, &trial, NULL), RUNG_OK);
    assert_int_equal(histogram_trials.expect(&trial, NULL), RUNG_OK);
    rung_task task = {.problem = trial.problem, .device = &context->device};
    memcpy(task.arrays, trial.arrays, sizeof task.arrays);
    task.arrays[HISTOGRAM_COUNTS].data = (char *)results[0];
    task.arrays[HISTOGRAM_OUTSIDE].data = (char *)results[1];
    const rung_row *serial = &histogram_operation.rows[0];
    assert_string_equal(serial->name, "serial");
    assert_int_equal(rung_row_launch(serial, &context->device)(&task), RUNG_OK);
    histogram_trials.judge(&trial, RUNG_CANONICAL, &task.arrays[HISTOGRAM_COUNTS], &judgement);
    assert_true(judgement.pass);
    results[cases[c].output][cases[c].at] += cases[c].add;
    histogram_trials.judge(&trial, RUNG_CANONICAL, &task.arrays[HISTOGRAM_COUNTS], &judgement);
    if (judgement.pass || judgement.wrong != 1 || judgement.first != cases[c].at ||
        judgement.output != cases[c].output || strstr(judgement.sentence, cases[c].part) == NULL)
      fail_msg("%s: \"%s\" does not say \"%s\"", cases[c].line, judgement.sentence, cases[c].part);
    histogram_trials.drop(&trial);
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
  for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
    rung_trial trial;
    rung_error error = {0};
    if (histogram_trials.make(lines[k], 1, &trial, &error) == RUNG_OK) fail_msg("%s", lines[k]);
    assert_true(error.sentence[0] != '\0');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_its_trials), cmocka_unit_test(adds_up_in_time),
      cmocka_unit_test(tries_every_way), cmocka_unit_test(sees_one_wrong_count),
      cmocka_unit_test(refuses_lines_it_cannot_make)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
