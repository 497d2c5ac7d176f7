/* How a rung is chosen, on a ladder of toys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/ladder.h"

static rung_status run(const rung_task *task) {
  (void)task;
  return RUNG_OK;
}
static rung_status run_otherwise(const rung_task *task) {
  (void)task;
  return RUNG_OK;
}

/* The toys' problem is one number: the largest block they take. */
static bool small_only(const rung_task *task, char why[RUNG_REASON]) {
  if (task->block <= *(const int *)task->problem) return true;
  snprintf(why, RUNG_REASON, "block %d is large", task->block);
  return false;
}

static bool never_pays(const rung_task *task) {
  (void)task;
  return false;
}

static const int sweep[] = {32, 64, 0};

static rung_row rows[] = {
    {.name = "simple",
     .family = RUNG_ON_CPU,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .launch = {run, run, NULL}},
    {.name = "story",
     .family = RUNG_ON_CPU,
     .order = RUNG_TEXTBOOK,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .launch = {run, run, run}},
    {.name = "quick",
     .family = RUNG_ON_CPU,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .supports = small_only,
     .launch = {run, run_otherwise, run}},
    {.name = "loose",
     .family = RUNG_ON_CPU,
     .order = RUNG_LOOSE,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .launch = {run, run, run}},
    {.name = "simple",
     .family = RUNG_ON_GPU,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .capability = 75,
     .blocks = sweep,
     .launch = {run, run_otherwise, NULL}},
    {.name = "onchip",
     .family = RUNG_ON_GPU,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .capability = 90,
     .hardware = "wgmma",
     .blocks = sweep,
     .launch = {run, run_otherwise, NULL}},
    {.name = "heavy",
     .family = RUNG_ON_CPU,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_I32)),
     .pays = never_pays,
     .launch = {run, run, run}},
};
static const rung_operation toys = {.name = "toys", .rows = rows, .count = 7};

static const int limit = 256;
static const rung_device avx2 = {.kind = RUNG_CPU, .isa = RUNG_AVX2};
static const rung_device avx512 = {.kind = RUNG_CPU, .isa = RUNG_AVX512};
static const rung_device t4 = {.kind = RUNG_CUDA, .capability = 75, .name = "T4"};
static const rung_device h200 = {.kind = RUNG_CUDA, .capability = 90, .name = "H200"};
static const rung_device sim = {.kind = RUNG_SIM, .capability = 90, .name = "sim"};

static rung_task on(const rung_device *device) {
  return (rung_task){.problem = &limit, .device = device};
}

static void chosen(const rung_device *device, rung_dtype dtype, const rung_call *call,
                   const rung_row *wanted) {
  rung_task task = on(device);
  const rung_row *row = NULL;
  rung_error error = {0};
  if (rung_choose(&toys, &task, (rung_types)RUNG_ALIKE(dtype), call, &row, &error) != RUNG_OK)
    fail_msg("refused: %s", error.sentence);
  if (row != wanted) fail_msg("\"%s\", not \"%s\"", row->name, wanted->name);
}

static void refused(const rung_device *device, rung_dtype dtype, const rung_call *call,
                    rung_status status, const char *sentence) {
  rung_task task = on(device);
  const rung_row *row = rows;
  rung_error error = {0};
  assert_int_equal(rung_choose(&toys, &task, (rung_types)RUNG_ALIKE(dtype), call, &row, &error),
                   status);
  assert_string_equal(error.sentence, sentence);
  assert_ptr_equal(row, rows);
}

static void launches_by_device(void **state) {
  (void)state;
  assert_ptr_equal(rung_row_launch(&rows[2], &avx2), run_otherwise);
  assert_ptr_equal(rung_row_launch(&rows[2], &avx512), run);
  assert_null(rung_row_launch(&rows[0], &avx512));
  assert_ptr_equal(rung_row_launch(&rows[4], &h200), run);
  assert_ptr_equal(rung_row_launch(&rows[4], &sim), run_otherwise);
  assert_null(rung_row_launch(&rows[4], &avx2));
  assert_null(rung_row_launch(&rows[0], &h200));
}

static void the_best_is_the_last_that_can(void **state) {
  (void)state;
  chosen(&avx2, RUNG_F32, NULL, &rows[2]);
  chosen(&avx2, RUNG_F32, &(rung_call){.rung = "auto"}, &rows[2]);
  chosen(&avx2, RUNG_F64, NULL, &rows[0]); /* past the textbook's rung, never the loose one */
  chosen(&avx2, RUNG_F32, &(rung_call){.block = 512}, &rows[0]);
  chosen(&avx2, RUNG_F64, &(rung_call){.math = RUNG_MATH_FAST}, &rows[3]);
  chosen(&h200, RUNG_F32, NULL, &rows[5]);
  chosen(&t4, RUNG_F32, NULL, &rows[4]);
  const rung_device other = {.kind = RUNG_CUDA, .capability = 61, .name = "P4"};
  refused(&other, RUNG_F32, NULL, RUNG_UNSUPPORTED,
          "no rung of toys can do this on device \"cuda\"; rung \"onchip\" cannot do this: it "
          "needs compute capability 9.0, and P4 has 6.1");
  refused(&avx512, RUNG_F64, NULL, RUNG_UNSUPPORTED,
          "no rung of toys can do this on device \"cpu\"; rung \"quick\" cannot do this: it does "
          "not take f64");
  refused(&avx2, RUNG_I32, NULL, RUNG_UNSUPPORTED,
          "no rung of toys can do this on device \"cpu\"; rung \"quick\" cannot do this: it does "
          "not take i32");
}

static void by_name(void **state) {
  (void)state;
  chosen(&avx2, RUNG_F32, &(rung_call){.rung = "simple"}, &rows[0]);
  chosen(&t4, RUNG_F32, &(rung_call){.rung = "simple"}, &rows[4]); /* the family's own */
  chosen(&avx2, RUNG_F32, &(rung_call){.rung = "story"}, &rows[1]);
  chosen(&avx2, RUNG_F32, &(rung_call){.rung = "heavy"}, &rows[6]); /* which does not pay */
  chosen(&avx2, RUNG_F32, &(rung_call){.rung = "loose", .math = RUNG_MATH_FAST}, &rows[3]);
  chosen(&avx2, RUNG_F32, &(rung_call){.rung = "simple", .block = 1024}, &rows[0]); /* ignored */
  refused(&avx2, RUNG_F32, &(rung_call){.rung = "loose"}, RUNG_UNSUPPORTED,
          "rung \"loose\" does not keep the strict order of arithmetic; `--math fast` (math = "
          "RUNG_MATH_FAST) allows it");
  refused(&avx2, RUNG_F32, &(rung_call){.rung = "quick", .block = 257}, RUNG_UNSUPPORTED,
          "rung \"quick\" cannot do this: block 257 is large");
  refused(&avx2, RUNG_F64, &(rung_call){.rung = "quick"}, RUNG_UNSUPPORTED,
          "rung \"quick\" cannot do this: it does not take f64");
  refused(&avx2, RUNG_F32, &(rung_call){.rung = "nosuch"}, RUNG_UNKNOWN_NAME,
          "rung is \"nosuch\"; expected, of toys on this device: \"auto\", \"simple\", \"story\", "
          "\"quick\", \"loose\", \"heavy\"");
  refused(&h200, RUNG_F32, &(rung_call){.rung = ""}, RUNG_UNKNOWN_NAME,
          "rung is \"\"; expected, of toys on this device: \"auto\", \"simple\", \"onchip\"");
}

static void on_the_wrong_device(void **state) {
  (void)state;
  refused(&avx2, RUNG_F32, &(rung_call){.rung = "onchip"}, RUNG_UNSUPPORTED,
          "rung \"onchip\" cannot do this: it runs on GPUs only (devices \"cuda\", "
          "\"cuda:<index>\" and \"sim\")");
  refused(&h200, RUNG_F32, &(rung_call){.rung = "quick"}, RUNG_UNSUPPORTED,
          "rung \"quick\" cannot do this: it runs on the CPU only (device \"cpu\")");
  refused(&t4, RUNG_F32, &(rung_call){.rung = "onchip"}, RUNG_UNSUPPORTED,
          "rung \"onchip\" cannot do this: it needs compute capability 9.0, and T4 has 7.5");
  refused(&sim, RUNG_F32, &(rung_call){.rung = "onchip"}, RUNG_UNSUPPORTED,
          "rung \"onchip\" cannot do this: it needs wgmma, which the simulator lacks");
  refused(&avx512, RUNG_F32, &(rung_call){.rung = "simple"}, RUNG_UNSUPPORTED,
          "rung \"simple\" cannot do this: this build does not have it for avx512");
}

static void blocks_and_math_have_bounds(void **state) {
  (void)state;
  chosen(&h200, RUNG_F32, &(rung_call){.block = 1}, &rows[5]);
  chosen(&h200, RUNG_F32, &(rung_call){.block = 1024}, &rows[5]);
  static const char *const names[] = {NULL, "simple"};
  for (int i = 0; i < 2; i++) {
    refused(&avx2, RUNG_F32, &(rung_call){.rung = names[i], .block = 1025}, RUNG_BAD_ARGUMENT,
            "block is 1025; expected: 1 ... 1024, or 0 for the rung's own choice");
    refused(&avx2, RUNG_F32, &(rung_call){.rung = names[i], .block = -1}, RUNG_BAD_ARGUMENT,
            "block is -1; expected: 1 ... 1024, or 0 for the rung's own choice");
  }
  rung_task task = on(&avx2);
  task.block = 2000;
  assert_int_equal(rung_row_supports(&rows[0], &task, (rung_types)RUNG_ALIKE(RUNG_F32), NULL),
                   RUNG_BAD_ARGUMENT);
  const rung_row *row = NULL;
  task.block = 512; /* without a call the task's own block counts */
  assert_int_equal(rung_choose(&toys, &task, (rung_types)RUNG_ALIKE(RUNG_F32), NULL, &row, NULL),
                   RUNG_OK);
  assert_ptr_equal(row, &rows[0]);
  refused(&avx2, RUNG_F32, &(rung_call){.math = (rung_math)3}, RUNG_BAD_ARGUMENT,
          "math is 3; expected: RUNG_MATH_STRICT (0), RUNG_MATH_FAST (1) or RUNG_MATH_FIXED (2)");
  refused(&avx2, RUNG_F32, &(rung_call){.math = RUNG_MATH_FIXED}, RUNG_BAD_ARGUMENT,
          "math is RUNG_MATH_FIXED (2), which toys has not; expected: RUNG_MATH_STRICT (0) or "
          "RUNG_MATH_FAST (1)");
  refused(&avx2, RUNG_F32, &(rung_call){.bits = 31}, RUNG_BAD_ARGUMENT,
          "bits is 31; expected: 0, for only RUNG_MATH_FIXED has bits");
}

/* ---- a rung that another one follows -----------------------------------------------------------
 */

enum { OWN = 300, NESTED = 40, HELD = 512 };

/* What the toys were given, in the order in which they ran. */
static struct {
  const char *who;
  rung_task task;
} ran[2];
static int runs;
static bool nested_fails;

static size_t own_bytes(const rung_task *task) {
  (void)task;
  return OWN;
}
static size_t nested_bytes(const rung_task *task) {
  return *(const size_t *)task->problem;
}
static rung_status run_outer(const rung_task *task) {
  ran[runs].who = "outer";
  ran[runs++].task = *task;
  return RUNG_OK;
}
/* Counts in its zeros, and leaves them zero; fills the rest of what it was given. */
static rung_status run_nested(const rung_task *task) {
  const size_t bytes = *(const size_t *)task->problem;
  ran[runs].who = "nested";
  ran[runs++].task = *task;
  for (size_t b = 0; b < bytes; b++) {
    assert_int_equal(((char *)task->zeros)[b], 0);
    ((char *)task->scratch)[b] = ((char *)task->host_scratch)[b] = 1;
  }
  return RUNG_OK;
}
static rung_row nested_row = {.name = "nested",
                              .family = RUNG_ON_CPU,
                              .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
                              .scratch_bytes = nested_bytes,
                              .zeroed_bytes = nested_bytes,
                              .host_scratch_bytes = nested_bytes,
                              .launch = {run_nested, NULL, NULL}};
static rung_status then_nested(const rung_task *task, rung_step *step) {
  if (nested_fails) return rung_fail(task->error, RUNG_UNSUPPORTED, "the nested one cannot");
  if (task->arrays[1].count == 0) return RUNG_OK;
  *(size_t *)step->problem.bytes = NESTED;
  step->task.arrays[0] = task->arrays[1];
  step->row = &nested_row;
  return RUNG_OK;
}
static const rung_row outer_row = {.name = "outer",
                                   .family = RUNG_ON_CPU,
                                   .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
                                   .zeroed_bytes = own_bytes,
                                   .scratch_bytes = own_bytes,
                                   .then = then_nested,
                                   .launch = {run_outer, NULL, NULL}};
static const rung_device baseline = {.kind = RUNG_CPU, .isa = RUNG_BASELINE};

static void what_follows_has_its_own_memory(void **state) {
  (void)state;
  rung_task task = {.problem = &limit, .device = &baseline, .block = 7, .stream = &runs};
  rung_needs needs = rung_row_needs(&outer_row, &task);
  assert_true(needs.scratch == OWN && needs.zeros == OWN && needs.host_scratch == 0);
  task.arrays[1] = (rung_view){.count = 5};
  needs = rung_row_needs(&outer_row, &task);
  assert_true(needs.scratch == HELD + NESTED && needs.zeros == HELD + NESTED);
  assert_true(needs.host_scratch == NESTED);

  static char scratch[HELD + NESTED + 1], zeros[HELD + NESTED + 1], host[NESTED + 1];
  task.scratch = scratch, task.zeros = zeros, task.host_scratch = host;
  memset(zeros, 9, HELD); /* the outer rung's own: not the nested one's business */
  runs = 0;
  assert_int_equal(rung_row_run(&outer_row, &task), RUNG_OK);
  assert_int_equal(runs, 2);
  assert_string_equal(ran[0].who, "outer");
  assert_string_equal(ran[1].who, "nested");
  assert_memory_equal(&ran[0].task, &task, sizeof task);
  const rung_task *nested = &ran[1].task;
  assert_ptr_equal(nested->scratch, scratch + HELD);
  assert_ptr_equal(nested->zeros, zeros + HELD);
  assert_ptr_equal(nested->host_scratch, host);
  assert_true(nested->arrays[0].count == 5 && nested->block == 0 && nested->stream == &runs);
  assert_true(scratch[HELD - 1] == 0 && scratch[HELD + NESTED] == 0 && host[NESTED] == 0);

  task.arrays[1].count = 0; /* nothing follows */
  runs = 0;
  assert_int_equal(rung_row_run(&outer_row, &task), RUNG_OK);
  assert_int_equal(runs, 1);
}

static void what_follows_must_be_able_to(void **state) {
  (void)state;
  rung_error error = {0};
  const rung_task task = {.problem = &limit, .device = &baseline};
  assert_int_equal(rung_row_supports(&outer_row, &task, (rung_types)RUNG_ALIKE(RUNG_F32), &error),
                   RUNG_OK);
  nested_fails = true;
  assert_int_equal(rung_row_supports(&outer_row, &task, (rung_types)RUNG_ALIKE(RUNG_F32), &error),
                   RUNG_UNSUPPORTED);
  assert_string_equal(error.sentence, "the nested one cannot");
  nested_fails = false;
}

static void ladders_without_rungs_say_so(void **state) {
  (void)state;
  const rung_operation none = {.name = "none", .rows = rows, .count = 0};
  rung_task task = on(&avx2);
  const rung_row *row;
  rung_error error = {0};
  assert_int_equal(rung_choose(&none, &task, (rung_types)RUNG_ALIKE(RUNG_F32), NULL, &row, &error),
                   RUNG_UNSUPPORTED);
  assert_string_equal(error.sentence, "none has no rung for device \"cpu\"");
  assert_int_equal(rung_choose(&none, &task, (rung_types)RUNG_ALIKE(RUNG_F32),
                               &(rung_call){.rung = "x"}, &row, &error),
                   RUNG_UNKNOWN_NAME);
  assert_string_equal(error.sentence, "rung is \"x\"; expected, of none on this device: \"auto\"");
}

static void operations_are_found_by_name(void **state) {
  (void)state;
  for (const rung_operation *const *at = rung_operations; *at != NULL; at++)
    assert_ptr_equal(rung_operation_named((*at)->name), *at);
  assert_non_null(rung_operation_named("stencil"));
  assert_null(rung_operation_named("nosuch"));
  assert_null(rung_operation_named(""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_by_device),
      cmocka_unit_test(the_best_is_the_last_that_can),
      cmocka_unit_test(by_name),
      cmocka_unit_test(on_the_wrong_device),
      cmocka_unit_test(blocks_and_math_have_bounds),
      cmocka_unit_test(what_follows_has_its_own_memory),
      cmocka_unit_test(what_follows_must_be_able_to),
      cmocka_unit_test(ladders_without_rungs_say_so),
      cmocka_unit_test(operations_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
