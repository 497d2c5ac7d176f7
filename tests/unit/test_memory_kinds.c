/* Whole jobs by kinds of host memory: the path without a GPU, for to the simulator all kinds are
 * plain memory. What a record says of them, and that a wrong result is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cheats/copycat.h"
#include "cheats/fake.h"
#include "lab/resume.h"

static int launches, wrong_from; /* 0: never */

static rung_status twice(const rung_task *task) {
  const float *in = (const float *)task->arrays[COPYCAT_IN].data;
  float *out = (float *)task->arrays[COPYCAT_OUT].data;
  launches++;
  for (int64_t i = 0; i < task->arrays[COPYCAT_OUT].count; ++i) out[i] = 2 * in[i];
  if (wrong_from > 0 && launches >= wrong_from) out[3] += 1;
  return RUNG_OK;
}

static rung_status fails(const rung_task *task) {
  return ++launches > 1 ? rung_fail(task->error, RUNG_DEVICE_FAILED, "no more") : twice(task);
}

static rung_row rows[] = {{.name = "twice",
                           .idea = "",
                           .family = RUNG_ON_GPU,
                           .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
                           .launch = {NULL, twice}}};
static const rung_operation operation = {.name = "copycat", .rows = rows, .count = 1};

static rung_context *open_sim(void) {
  rung_context *context = NULL;
  if (rung_open(&context, &(rung_options){.device = "sim"}) == RUNG_OK) return context;
  print_message("sim is not tried: %s\n", rung_last_error(context));
  rung_close(context);
  skip();
  return NULL;
}

static void bench(rung_context *context, int memory, lab_bench *of) {
  rung_error error = {0};
  lab_bench_set_up set_up = {.context = context, .rules = lab_rules_default()};
  set_up.rules.least = 2;
  set_up.rules.most = 3;
  set_up.rules.memory = memory;
  launches = 0;
  if (lab_bench_run(&set_up, &operation, &copycat_cases, "n=5000", of, &error) != RUNG_OK)
    fail_msg("%s: %s", lab_memory_name(memory), error.sentence);
}

static void kinds_have_names(void **state) {
  (void)state;
  int memory = 7;
  for (int k = 1; k <= RUNG_MEMORIES; ++k) {
    assert_true(lab_memory_named(lab_memory_name(k), &memory));
    assert_int_equal(memory, k);
  }
  assert_string_equal(lab_memory_name(0), "");
  assert_false(lab_memory_named("pined", &memory));
  assert_false(lab_memory_named("", &memory));
  assert_int_equal(memory, RUNG_MEMORIES);
}

static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

/* A record is gone on with where the memory is the same, and no other. */
static void expect_read(const lab_bench *of, const char *name, const json_t *lines) {
  rung_error error = {0};
  lab_records records = {0};
  bool taken[1] = {false};
  const lab_read_case *found;
  char *text = lab_record_text(lines);
  assert_non_null(text);
  assert_int_equal(lab_read(&records, "it", text, strlen(text), &error), RUNG_OK);
  assert_int_equal(records.count, 1);
  assert_string_equal(records.cases[0].memory, name);
  lab_bench_set_up set_up = {.context = of->context, .rules = of->rules};
  for (set_up.rules.memory = 0; set_up.rules.memory <= RUNG_MEMORIES; set_up.rules.memory++) {
    taken[0] = false;
    assert_int_equal(
        lab_resume_find(&records, "it", &set_up, &operation, "n=5000", taken, &found, &error),
        RUNG_OK);
    assert_int_equal(found != NULL, set_up.rules.memory == of->rules.memory);
  }
  lab_records_free(&records);
  free(text);
}

static void expect_record(const lab_bench *of, const char *name) {
  static const char *const stages[] = {"copy_in", "clear_fill", "clear_copy", "kernel", "copy_out"};
  const lab_candidate *c = &of->candidates[0];
  rung_error error = {0};
  json_t *lines = json_array();
  assert_int_equal(lab_record_add(lines, of, "a command", &error), RUNG_OK);
  const json_t *head = json_array_get(lines, 0), *job = json_array_get(lines, 2),
               *rung = json_array_get(lines, 3);
  assert_string_equal(text_of(json_object_get(head, "rules"), "memory"), name);
  assert_string_equal(text_of(job, "memory"), name);
  assert_null(json_object_get(job, "peak_ms"));
  assert_int_equal(json_array_size(json_object_get(rung, "samples_ms")), c->count);
  for (size_t s = 0; s < sizeof stages / sizeof *stages; ++s) {
    const json_t *samples = json_object_get(json_object_get(rung, "stages_ms"), stages[s]);
    assert_int_equal(json_array_size(samples), c->count);
    for (int i = 0; i < c->count; ++i) {
      const double ms = json_number_value(json_array_get(samples, (size_t)i));
      assert_true(ms >= 0 && ms == c->stages[i * LAB_STAGES + (int)s]);
    }
  }
  expect_read(of, name, lines);
  json_decref(lines);
}

static void every_kind_is_timed_and_recorded(void **state) {
  (void)state;
  rung_context *context = open_sim();
  for (int k = 1; k <= RUNG_MEMORIES; ++k) {
    lab_bench of;
    bench(context, k, &of);
    assert_int_equal(of.count, 1);
    assert_true(lab_candidate_good(&of.candidates[0]));
    assert_in_range(of.candidates[0].count, 2, 3);
    /* Verified once; to warm up and for every sample it runs twice. */
    assert_int_equal(launches, 1 + 2 * (1 + of.candidates[0].count));
    expect_record(&of, lab_memory_name(k));
    lab_bench_free(&of);
  }
  rung_close(context);
}

static void wrong_later_is_seen(void **state) {
  (void)state;
  rung_context *context = open_sim();
  lab_bench of;
  for (int k = 1; k <= RUNG_MEMORIES; ++k) {
    wrong_from = 4;
    bench(context, k, &of);
    wrong_from = 0;
    assert_int_equal(of.candidates[0].before.finding, LAB_GOOD);
    assert_int_equal(of.candidates[0].after.finding, LAB_WRONG);
    assert_int_equal(of.candidates[0].stop, LAB_REFUSED);
    lab_bench_free(&of);
  }
  rows[0].launch[1] = fails;
  bench(context, 1 + RUNG_PINNED, &of);
  rows[0].launch[1] = twice;
  assert_int_equal(of.candidates[0].after.finding, LAB_LAUNCH_FAILED);
  assert_string_equal(of.candidates[0].after.sentence, "no more");
  assert_int_equal(of.candidates[0].count, 0);
  lab_bench_free(&of);
  rung_close(context);
}

static void one_kind_is_refused(void **state) {
  (void)state;
  fake device;
  rung_case test_case;
  rung_error error = {0};
  lab_rules rules = lab_rules_default();
  lab_candidate candidate = {.row = &rows[0]};
  rules.memory = 1 + RUNG_MAPPED;
  fake_open(&device, false);
  assert_int_equal(copycat_cases.make("n=10", 1, &test_case, &error), RUNG_OK);
  assert_int_equal(
      lab_sample_memory(&device.context, &test_case, &candidate, 1, &rules, NULL, NULL, &error),
      RUNG_UNSUPPORTED);
  assert_non_null(strstr(error.sentence, "memory is mapped, and device"));
  assert_non_null(strstr(error.sentence, "expected: device \"cuda\""));
  copycat_cases.drop(&test_case);
  fake_close(&device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds_have_names),
      cmocka_unit_test(every_kind_is_timed_and_recorded),
      cmocka_unit_test(wrong_later_is_seen),
      cmocka_unit_test(one_kind_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
