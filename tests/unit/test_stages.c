/* Stage times: each under its own name. The fake device sleeps for so long in each stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cheats/copycat.h"
#include "cheats/fake.h"
#include "lab/lab.h"

static int runs;

static void slow(const rung_task *task) {
  runs += 1;
  fake_sleep(20);
  const float *in = (const float *)task->arrays[COPYCAT_IN].data;
  float *out = (float *)task->arrays[COPYCAT_OUT].data;
  for (int64_t i = 0; i < task->arrays[COPYCAT_OUT].count; ++i) out[i] = 2 * in[i];
}

static rung_status launch(const rung_task *task) {
  return fake_queue(task, slow);
}

static rung_status refuse(const rung_task *task) {
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "no");
}

static const rung_row row = {
    .name = "slow", .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)), .launch = {launch}};
static const rung_row refuses = {
    .name = "no", .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)), .launch = {refuse}};

static void every_stage_has_its_own_time(void **state) {
  (void)state;
  fake device;
  rung_case test_case;
  rung_error error = {0};
  lab_stage_times times;
  fake_open(&device, false);
  assert_int_equal(copycat_cases.make("n=1000", 1, &test_case, &error), RUNG_OK);
  device.state.copy_in_ms = 40;
  device.state.copy_out_ms = 60;
  device.state.allocate_ms = 40; /* two arrays: 80 */
  device.state.release_ms = 50;  /* 100 */
  runs = 0;
  assert_int_equal(lab_stages_of(&device.context, &test_case, &row, 0, false, &times, &error),
                   RUNG_OK);
  assert_int_equal(runs, 2); /* one to warm up */
  /* A sleep never ends early, so a time in another's place is too short for one of the two. */
  assert_true(times.kernel >= 20);
  assert_true(times.copy_in >= 40);
  assert_true(times.copy_out >= 60);
  assert_true(times.allocate >= 80);
  assert_true(times.free >= 100);
  device.state.release_ms = device.state.allocate_ms = 0;
  assert_int_equal(lab_stages_of(&device.context, &test_case, &refuses, 0, true, &times, &error),
                   RUNG_DEVICE_FAILED);
  assert_string_equal(error.sentence, "no");
  copycat_cases.drop(&test_case);
  fake_close(&device);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_stage_has_its_own_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
