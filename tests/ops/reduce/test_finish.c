/* The ways to finish, and short arrays shared out to many blocks: what the cases of the command do
 * not reach, on the simulated GPU. */
#include "core/context.h"
#include "lab/lab.h"
#include "ops/reduce/lab/cases.h"
#include "ops/reduce/outside.h"
#include "ops/reduce/reduce.h"

static rung_context *on_sim; /* NULL: not in this build */

#define NEED_SIM()       \
  do {                   \
    if (!on_sim) skip(); \
  } while (0)

static const rung_row *row_of(const char *name) {
  for (int i = 0; i < reduce_operation.count; ++i)
    if (reduce_operation.rows[i].family == RUNG_ON_GPU &&
        strcmp(reduce_operation.rows[i].name, name) == 0)
      return &reduce_operation.rows[i];
  fail_msg("there is no rung %s", name);
  return NULL;
}

static void verify(const char *rung, const char *line, int block) {
  rung_case test_case;
  rung_error error = {0};
  lab_fixture *fixture = NULL;
  lab_verdict verdict;
  if (reduce_cases.make(line, 3, &test_case, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(reduce_cases.expect(&test_case, &error), RUNG_OK);
  assert_int_equal(lab_fixture_open(on_sim, &test_case, &fixture, &error), RUNG_OK);
  lab_verify(fixture, row_of(rung), block, &verdict);
  if (verdict.finding != LAB_GOOD)
    fail_msg("%s, %s, block %d: %s: %s", rung, line, block, lab_finding_name(verdict.finding),
             verdict.sentence);
  lab_fixture_close(fixture);
  reduce_cases.drop(&test_case);
}

/* Four launches: each buffer of the loop is written twice. */
static void goes_on_until_one_is_left(void **state) {
  (void)state;
  NEED_SIM();
  verify("finish-relaunch", "n=270001 op=sum type=f32", 32);
  verify("finish-relaunch", "n=270001 op=max type=i64", 32);
  verify("finish-recursion", "n=270001 op=sum type=u8", 32);
  verify("finish-host", "n=5000 op=mean type=f64 outer=7", 32);
  verify("finish-last-block", "n=5000 op=mean type=i32 outer=7", 32);
  verify("finish-relaunch", "n=70001 op=sum type=f16", 32);
  verify("finish-recursion", "n=70001 op=min type=bf16", 32);
  verify("finish-host", "n=5000 op=mean type=bf16 outer=7", 32);
  verify("finish-host", "n=5000 op=sum type=i16 outer=7", 32);
  verify("finish-last-block", "n=5000 op=mean type=i8 outer=7", 32);
}

/* As many multiprocessors as a large GPU has: from 2 tiles on, up to 64 slices. */
static void shares_few_tiles_out(void **state) {
  (void)state;
  NEED_SIM();
  static const struct {
    const char *line;
    int slices;
  } cases[] = {
      {"n=32768 op=sum type=f32", 1},          {"n=32769 op=sum type=f32", 8},
      {"n=65533 op=sum type=f64", 8},          {"n=131072 op=mean type=f32", 8},
      {"n=200001 op=sum type=f32", 8},         {"n=500003 op=sum type=f64", 8},
      {"n=1048576 op=sum type=f32", 4},        {"n=1100003 op=sum type=f32", 2},
      {"n=70001 outer=3 op=sum type=f32", 8},  {"n=40000 outer=12 data=special op=sum type=f32", 4},
      {"n=32801 outer=64 op=sum type=f32", 1}, {"n=32801 outer=65 op=min type=u8", 1},
      {"n=65541 op=min type=f32", 64},         {"n=70001 outer=3 op=sum type=u8", 16},
      {"n=70001 outer=3 op=max type=i64", 16}, {"n=70001 inner=3 op=sum type=f32", 1},
      {"n=65533 op=sum type=f16", 8},          {"n=131072 op=mean type=bf16", 8},
      {"n=70001 outer=3 op=sum type=f16", 8},  {"n=70001 outer=3 op=sum type=i16", 16},
      {"n=65541 op=max type=u16", 64},         {"n=32801 outer=65 op=min type=bf16", 1},
  };
  const int processors = on_sim->device.processors;
  on_sim->device.processors = 132;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    rung_case test_case;
    rung_error error = {0};
    assert_int_equal(reduce_cases.make(cases[k].line, 3, &test_case, &error), RUNG_OK);
    const rung_task task = {.problem = test_case.problem, .device = &on_sim->device};
    assert_int_equal(reduce_slices_of(&task), cases[k].slices);
    reduce_cases.drop(&test_case);
    if (!INSTRUMENTED || k % 3 == 0) verify("single-pass", cases[k].line, 0);
  }
  verify("single-pass", "n=65533 op=sum type=f64", 32); /* one warp does it all */
  verify("single-pass", "n=100003 op=sum type=f32", 96);
  on_sim->device.processors = processors;
}

/* One context, calls of every kind one after the other: counters are zero each time, and memory
 * that grew serves the smaller ones too. */
static void calls_may_follow_each_other(void **state) {
  (void)state;
  NEED_SIM();
  static const char *const rungs[] = {"single-pass", "finish-host", "finish-last-block",
                                      "finish-relaunch"};
  enum { ROOM = 140000 };
  static int32_t numbers[ROOM];
  for (int i = 0; i < ROOM; ++i) numbers[i] = i * 7919 % 10007 - 5000;
  for (int call = 0; call < 24; ++call) {
    const int64_t n = call % 3 == 0 ? 100 + call : ROOM - 5003 * call;
    int64_t sum = 0, found = 0;
    for (int64_t i = 0; i < n; ++i) sum += numbers[i];
    reduce_line(on_sim, RUNG_SUM, i32, numbers, n, &found, rungs[call % 4]);
    if (found != sum) fail_msg("call %d by %s: another sum", call, rungs[call % 4]);
  }
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void refuses(const char *rung, const reduce_problem *problem, int64_t stride, int block,
                    const char *word) {
  rung_error error = {0};
  rung_task task = {.problem = problem, .device = &on_sim->device, .block = block};
  task.arrays[REDUCE_IN].stride[0] = problem->columns;
  task.arrays[REDUCE_OUT].stride[0] = stride;
  const rung_status status = rung_row_supports(
      row_of(rung), &task, reduce_types_of(problem->what, problem->dtype), &error);
  assert_int_equal(status, word ? RUNG_UNSUPPORTED : RUNG_OK);
  if (word && !strstr(error.sentence, word)) fail_msg("it says: %s", error.sentence);
}

static void says_what_it_cannot(void **state) {
  (void)state;
  NEED_SIM();
  reduce_problem p;
  rung_error error = {0};
  assert_int_equal(reduce_problem_of(&error, RUNG_SUM, RUNG_U8, REDUCE_LINES, 3, 1000, 1, &p),
                   RUNG_OK);
  refuses("finish-host", &p, 1, 0, NULL);
  refuses("finish-host", &p, 2, 0, "2 elements apart; expected: an out without gaps");
  p.outer = 1;
  refuses("finish-host", &p, 2, 0, NULL);
  p.columns = (int64_t)1 << 39;
  refuses("finish-last-block", &p, 1, 32, "expected: block 1024");
  refuses("finish-last-block", &p, 1, 1024, NULL);
  refuses("finish-last-block", &p, 1, 100, "the block is 100");
  p.columns = RUNG_SUM_TILE;
  refuses("timed", &p, 1, 0, NULL);
  p.columns = RUNG_SUM_TILE + 1;
  refuses("timed", &p, 1, 0, "32769 elements; expected: at most 32768");
  p.form = REDUCE_ACROSS;
  refuses("finish-host", &p, 1, 0, "rung \"vector\"");
}

static void rows_are_added(void **state) {
  (void)state;
  NEED_SIM();
  static const char *const rungs[] = {"row-per-thread", "warp-per-row", "block-per-row"};
  static const reduce_form forms[] = {REDUCE_LINES, REDUCE_PACKED, REDUCE_ACROSS};
  for (int k = 0; k < 3; ++k)
    for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what)
      for (int f = 0; f < 3; ++f) {
        reduce_problem p;
        assert_int_equal(reduce_problem_of(NULL, (rung_reduction)what, RUNG_F32, forms[f], 3, 1000,
                                           forms[f] == REDUCE_ACROSS ? 2 : 1, &p),
                         RUNG_OK);
        refuses(rungs[k], &p, 1, 0,
                what == RUNG_MIN            ? "a minimum is asked for; expected: sum or mean"
                : what == RUNG_MAX          ? "a maximum is asked for; expected: sum or mean"
                : forms[f] == REDUCE_ACROSS ? "expected: the last axis"
                                            : NULL);
        p.dtype = RUNG_I32;
        refuses(rungs[k], &p, 1, 0, "it does not take i32");
      }
}

static int open_sim(void **state) {
  (void)state;
  rung_context *context;
  if (rung_open(&context, &(rung_options){.device = "sim"}) == RUNG_OK)
    on_sim = context;
  else
    rung_close(context);
  return 0;
}

static int close_sim(void **state) {
  (void)state;
  rung_close(on_sim);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goes_on_until_one_is_left),
      cmocka_unit_test(shares_few_tiles_out),
      cmocka_unit_test(calls_may_follow_each_other),
      cmocka_unit_test(says_what_it_cannot),
      cmocka_unit_test(rows_are_added),
  };
  return cmocka_run_group_tests(tests, open_sim, close_sim);
}
