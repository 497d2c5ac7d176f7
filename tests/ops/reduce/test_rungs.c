/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads: the trials'
 * lines, and one set of bits for all. And that a wrong result is seen to be wrong. */
#include "core/context.h"
#include "lab/lab.h"
#include "ops/reduce/outside.h"
#include "ops/reduce/reduce.h"

static const char *const isas[] = {"baseline", "avx2", "avx512"};
static const int thread_counts[] = {1, 2, 5};

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
  for (int i = 0; i < 3; ++i)
    for (int t = 0; t < 3; ++t) {
      rung_context *context;
      const rung_options options = {.device = "cpu", .isa = isas[i], .threads = thread_counts[t]};
      if (rung_open(&context, &options) == RUNG_OK) {
        run_jobs(context, "lanes", first, isas[i]);
        run_jobs(context, "threads", false, isas[i]);
        first = false;
      }
      rung_close(context);
    }
  assert_false(first);
}

/* ---- the trials -------------------------------------------------------------------------------
 */

static void verify_line(const char *line) {
  rung_trial trial;
  rung_error error = {0};
  if (reduce_trials.make(line, 5, &trial, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(reduce_trials.expect(&trial, &error), RUNG_OK);
  for (int i = 0; i < 3; ++i)
    for (int t = 0; t < 3; t += 2) {
      rung_context *context;
      const rung_options options = {.device = "cpu", .isa = isas[i], .threads = thread_counts[t]};
      lab_rig *rig = NULL;
      if (rung_open(&context, &options) == RUNG_OK) {
        assert_int_equal(lab_rig_open(context, &trial, &rig, &error), RUNG_OK);
        for (int r = 0; r < reduce_operation.count; ++r) {
          lab_verdict verdict;
          if (reduce_operation.rows[r].family != RUNG_ON_CPU) continue;
          lab_verify(rig, &reduce_operation.rows[r], 0, &verdict);
          if (verdict.finding != LAB_GOOD)
            fail_msg("%s on %s, %s: %s", reduce_operation.rows[r].name, isas[i], trial.label,
                     verdict.sentence);
        }
        lab_rig_close(rig);
      }
      rung_close(context);
    }
  reduce_trials.drop(&trial);
}

static void passes_its_trials(void **state) {
  (void)state;
  for (const char *const *line = reduce_trials.verify; *line != NULL; ++line) verify_line(*line);
}

/* One bit of one result wrong: every canonical judgement, and every judgement of integers, sees
 * it; and a textbook's sees what is beyond its bound. */
static void sees_one_wrong_bit(void **state) {
  (void)state;
  static const struct {
    const char *line;
    rung_order order;
    int byte, bit;
    bool pass;
  } cases[] = {
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
  };
  rung_context *context;
  assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_OK);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    rung_trial trial;
    rung_judgement judgement;
    char results[70 * 8];
    assert_int_equal(reduce_trials.make(cases[c].line, 1, &trial, NULL), RUNG_OK);
    assert_int_equal(reduce_trials.expect(&trial, NULL), RUNG_OK);
    rung_task task = {.problem = trial.problem, .device = &context->device};
    memcpy(task.arrays, trial.arrays, sizeof task.arrays);
    task.arrays[REDUCE_OUT].data = results;
    const rung_row *lanes = &reduce_operation.rows[1];
    assert_string_equal(lanes->name, "lanes");
    assert_int_equal(rung_row_launch(lanes, &context->device)(&task), RUNG_OK);
    reduce_trials.judge(&trial, RUNG_CANONICAL, &task.arrays[REDUCE_OUT], &judgement);
    assert_true(judgement.pass);
    results[69 * rung_dtype_bytes(task.arrays[REDUCE_OUT].dtype) + (size_t)cases[c].byte] ^=
        (char)(1 << cases[c].bit);
    reduce_trials.judge(&trial, cases[c].order, &task.arrays[REDUCE_OUT], &judgement);
    if (judgement.pass != cases[c].pass || (!judgement.pass && judgement.first != 69))
      fail_msg("%s, order %d: %s", cases[c].line, (int)cases[c].order, judgement.sentence);
    reduce_trials.drop(&trial);
  }
  rung_close(context);
}

static void refuses_lines_it_cannot_make(void **state) {
  (void)state;
  static const char *const lines[] = {"n=-1",    "op=median",  "type=u16",
                                      "outer=0", "inner=0",    "data=nice",
                                      "m=3",     "n=0 op=min", "n=1099511627777"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
    rung_trial trial;
    rung_error error = {0};
    if (reduce_trials.make(lines[k], 1, &trial, &error) == RUNG_OK) fail_msg("%s", lines[k]);
    assert_true(error.sentence[0] != '\0');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_the_same_bits_everywhere),
      cmocka_unit_test(passes_its_trials),
      cmocka_unit_test(sees_one_wrong_bit),
      cmocka_unit_test(refuses_lines_it_cannot_make),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
