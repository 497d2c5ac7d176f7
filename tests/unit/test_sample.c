/* The sampling protocol, on a device whose clock, stream and failures are written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cheats/copycat.h"
#include "cheats/fake.h"
#include "lab/lab.h"

/* ---- rungs of the fake device ------------------------------------------------------------- */

static void twice(const rung_task *task) {
  const float *in = (const float *)task->arrays[COPYCAT_IN].data;
  float *out = (float *)task->arrays[COPYCAT_OUT].data;
  for (int64_t i = 0; i < task->arrays[COPYCAT_OUT].count; ++i) out[i] = 2 * in[i];
}

static rung_status queued(const rung_task *task) {
  return fake_queue(task, twice);
}

/* Does its work at once, wherever the stream stands. */
static rung_status impatient(const rung_task *task) {
  twice(task);
  return RUNG_OK;
}

static int launches, refuse_launch; /* the so-manieth launch is refused; 0: none */

static rung_status moody(const rung_task *task) {
  if (++launches == refuse_launch)
    return rung_fail(task->error, RUNG_DEVICE_FAILED, "not in the mood");
  return fake_queue(task, twice);
}

static rung_status overruns_at_fifth(const rung_task *task) {
  if (++launches == 5) task->arrays[COPYCAT_OUT].data[-1] = 0;
  return fake_queue(task, twice);
}

#define ROW(text, function)                                                                    \
  {                                                                                            \
    .name = text, .idea = "", .family = RUNG_ON_CPU, .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)), \
    .launch = {                                                                                \
      function                                                                                 \
    }                                                                                          \
  }
static const rung_row honest = ROW("honest", queued), hasty = ROW("hasty", impatient),
                      temper = ROW("temper", moody), stray = ROW("stray", overruns_at_fifth),
                      row_a = ROW("a", queued), row_b = ROW("b", queued), row_c = ROW("c", queued);

/* What a library returns is half of what the contract asks for, until it is settled. */
static void once(const rung_task *task) {
  const float *in = (const float *)task->arrays[COPYCAT_IN].data;
  float *out = (float *)task->arrays[COPYCAT_OUT].data;
  for (int64_t i = 0; i < task->arrays[COPYCAT_OUT].count; ++i) out[i] = in[i];
}

static rung_status half(const rung_task *task) {
  return fake_queue(task, once);
}

/* ---- the bench ---------------------------------------------------------------------------- */

typedef struct bench {
  fake device;
  rung_case test_case;
  lab_fixture *fixture;
  lab_rules rules;
  rung_error error;
} bench;

static void open_bench(bench *the, bool streams) {
  fake_open(&the->device, streams);
  the->error = (rung_error){0};
  the->rules = lab_rules_default();
  the->rules.warm = 0; /* launches are counted */
  launches = refuse_launch = 0;
  assert_int_equal(copycat_cases.make("n=1000", 3, &the->test_case, &the->error), RUNG_OK);
  assert_int_equal(copycat_cases.expect(&the->test_case, &the->error), RUNG_OK);
  assert_int_equal(
      lab_fixture_open(&the->device.context, &the->test_case, &the->fixture, &the->error), RUNG_OK);
}

static void close_bench(bench *the) {
  lab_fixture_close(the->fixture);
  copycat_cases.drop(&the->test_case);
  fake_close(&the->device);
}

static rung_status sample_one(bench *the, const rung_row *row, lab_candidate *candidate) {
  *candidate = (lab_candidate){.row = row};
  return lab_sample(the->fixture, candidate, 1, &the->rules, NULL, NULL, &the->error);
}

static void set_times(bench *the, const double *times) {
  memcpy(the->device.state.times, times, sizeof the->device.state.times);
}

/* ---- the order of steps ------------------------------------------------------------------- */

static void steps_of_a_cold_sample(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.rules.least = the.rules.most = 1;
  the.device.state.log[0] = '\0';
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  /* poison (output, then canaries of three arenas), flush, wait, hold, clock, mark, launch ... */
  static const char steps[] =
      "copy copy fill copy copy copy copy flush sync hold clock_begin mark0 launch mark1 clock_end "
      "release elapsed clock sync";
  assert_non_null(strstr(the.device.state.log, steps));
  /* and the held look before it: poison, wait, hold, launch, release, wait */
  assert_non_null(strstr(the.device.state.log, "copy sync hold launch release sync"));
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void what_a_peer_returns_is_settled_behind_the_clock(void **state) {
  (void)state;
  rung_row unsettled = ROW("peer", half), peer = unsettled;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.rules.least = the.rules.most = 1;
  peer.settle = queued;
  the.device.state.log[0] = '\0';
  assert_int_equal(sample_one(&the, &peer, &candidate), RUNG_OK);
  assert_int_equal(candidate.after.finding, LAB_GOOD);
  assert_non_null(strstr(the.device.state.log, "mark0 launch mark1 clock_end launch release"));
  lab_candidate_free(&candidate);
  assert_int_equal(sample_one(&the, &unsettled, &candidate), RUNG_OK);
  assert_int_equal(candidate.before.finding, LAB_WRONG);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void a_hot_sample_is_not_flushed(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.rules.hot = true;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  assert_null(strstr(the.device.state.log, "flush"));
  assert_null(strstr(the.device.state.log, "fill copy copy copy copy sync hold clock_begin"));
  /* the verification at the end starts from poison nevertheless */
  assert_non_null(
      strstr(the.device.state.log, "clock sync copy copy fill copy copy copy copy launch"));
  assert_int_equal(candidate.after.finding, LAB_GOOD);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

/* ---- when to stop ------------------------------------------------------------------------- */

static void stops_when_steady(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  assert_int_equal(candidate.stop, LAB_STEADY);
  assert_int_equal(candidate.count, 11);
  assert_true(candidate.time.median == 1 && candidate.clock.median == 1000);
  assert_int_equal(candidate.time.count, 11);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

/* Quartiles are 0.6 % apart from the first round on, but the median may be any of the five. */
static void goes_on_until_the_median_is_known(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  set_times(&the, (const double[FAKE_TIMES]){0.994, 0.997, 1, 1.003, 1.006});
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  assert_int_equal(candidate.stop, LAB_STEADY);
  assert_in_range(candidate.count, 20, 100);
  assert_true(lab_relative_iqr(&candidate.time) < 0.01);
  assert_true(lab_relative_interval(&candidate.time) < 0.005);
  const lab_stats before = lab_stats_of(candidate.samples, candidate.count - 1);
  assert_true(lab_relative_iqr(&before) < 0.01 && lab_relative_interval(&before) >= 0.005);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void stops_at_the_most(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  set_times(&the, (const double[FAKE_TIMES]){1, 2});
  the.rules.most = 14;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  assert_int_equal(candidate.stop, LAB_MOST);
  assert_int_equal(candidate.count, 14);
  assert_true(candidate.time.median == 1.5);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void a_time_out_leaves_three_samples(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  set_times(&the, (const double[FAKE_TIMES]){1e-7, 2e-7});
  the.rules.seconds = 1e-9;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  assert_int_equal(candidate.stop, LAB_TIME_OUT);
  assert_int_equal(candidate.count, 3);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void one_long_run_is_enough(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.rules.seconds = 1e-9; /* a run of 1 ms takes longer */
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_OK);
  assert_int_equal(candidate.stop, LAB_TIME_OUT);
  assert_int_equal(candidate.count, 1);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void senseless_rules_are_refused(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.rules.most = 10; /* below the least */
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_BAD_ARGUMENT);
  the.rules.most = 2000000000;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_BAD_ARGUMENT);
  the.rules = lab_rules_default();
  the.rules.seconds = NAN;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_BAD_ARGUMENT);
  close_bench(&the);
}

/* ---- samples that do not count ------------------------------------------------------------ */

static void a_hold_that_gave_up_is_an_error(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.device.state.fail_elapsed = 4;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_DEVICE_FAILED);
  assert_string_equal(the.error.sentence, "sample 4 of honest is void: the hold gave up after 2 s");
  assert_int_equal(candidate.count, 3);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void a_clock_that_cannot_be_read_is_an_error(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  the.device.state.fail_clock = 2;
  assert_int_equal(sample_one(&the, &honest, &candidate), RUNG_DEVICE_FAILED);
  assert_string_equal(the.error.sentence, "sample 2 of honest is void: the clock cannot be read");
  lab_candidate_free(&candidate);
  close_bench(&the);
}

/* ---- rungs that fail on the way ----------------------------------------------------------- */

static void a_launch_refused_later_is_a_finding(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  refuse_launch = 8; /* two in verifying, two to warm up, then samples */
  assert_int_equal(sample_one(&the, &temper, &candidate), RUNG_OK);
  assert_int_equal(candidate.before.finding, LAB_GOOD);
  assert_int_equal(candidate.after.finding, LAB_LAUNCH_FAILED);
  assert_string_equal(candidate.after.sentence, "not in the mood");
  assert_int_equal(candidate.stop, LAB_REFUSED);
  assert_int_equal(candidate.count, 3);
  assert_false(the.device.state.held); /* let go in spite of it */
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void an_overrun_in_any_sample_is_found(void **state) {
  (void)state;
  bench the;
  lab_candidate candidate;
  open_bench(&the, true);
  assert_int_equal(sample_one(&the, &stray, &candidate), RUNG_OK);
  assert_int_equal(candidate.before.finding, LAB_GOOD);
  assert_int_equal(candidate.after.finding, LAB_OVERRUN);
  assert_int_equal(candidate.count, 0);
  lab_candidate_free(&candidate);
  close_bench(&the);
}

static void work_on_another_stream_is_found(void **state) {
  (void)state;
  bench the;
  lab_verdict verdict;
  open_bench(&the, true);
  lab_verify(the.fixture, &hasty, 0, &verdict);
  assert_int_equal(verdict.finding, LAB_OTHER_STREAM);
  lab_verify(the.fixture, &honest, 0, &verdict);
  assert_int_equal(verdict.finding, LAB_GOOD);
  close_bench(&the);
  open_bench(&the, false); /* where there is no stream there is no other one */
  lab_verify(the.fixture, &hasty, 0, &verdict);
  assert_int_equal(verdict.finding, LAB_GOOD);
  close_bench(&the);
}

/* ---- several candidates ------------------------------------------------------------------- */

typedef struct progress {
  char order[512];
  double last;
  bool rising;
} progress;

static void follow(void *to, double done, const char *what) {
  progress *seen = to;
  if (done < seen->last || done > 1 + 1e-12) seen->rising = false;
  seen->last = done;
  strncat(seen->order, what, sizeof seen->order - strlen(seen->order) - 1);
}

static void sample_three(bench *the, uint64_t seed, progress *seen) {
  lab_candidate candidates[] = {{.row = &row_a}, {.row = &row_b}, {.row = &row_c}};
  *seen = (progress){.rising = true};
  the->rules.seed = seed;
  assert_int_equal(lab_sample(the->fixture, candidates, 3, &the->rules, follow, seen, &the->error),
                   RUNG_OK);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(candidates[i].count, 11);
    lab_candidate_free(&candidates[i]);
  }
}

static void interleaving_is_seeded(void **state) {
  (void)state;
  bench the;
  progress first, again, other;
  open_bench(&the, true);
  sample_three(&the, 1, &first);
  sample_three(&the, 1, &again);
  sample_three(&the, 2, &other);
  assert_string_equal(first.order, again.order);
  assert_string_not_equal(first.order, other.order);
  assert_true(first.rising);
  assert_true(fabs(first.last - 1) < 1e-12);
  /* verified in the order given; then every round has each once */
  assert_int_equal(strlen(first.order), 3 + 33);
  assert_memory_equal(first.order, "abc", 3);
  int orders = 0;
  for (int round = 0; round < 11; ++round) {
    const char *at = first.order + 3 + 3 * round;
    assert_true(memchr(at, 'a', 3) && memchr(at, 'b', 3) && memchr(at, 'c', 3));
    orders += memcmp(at, first.order + 3, 3) != 0;
  }
  assert_true(orders > 0); /* and not always in the same order */
  close_bench(&the);
}

static void a_bad_candidate_spoils_no_other(void **state) {
  (void)state;
  bench the;
  open_bench(&the, true);
  lab_candidate candidates[] = {{.row = &stray}, {.row = &hasty}, {.row = &honest}};
  assert_int_equal(lab_sample(the.fixture, candidates, 3, &the.rules, NULL, NULL, &the.error),
                   RUNG_OK);
  assert_int_equal(candidates[0].after.finding, LAB_OVERRUN);
  assert_int_equal(candidates[1].before.finding, LAB_OTHER_STREAM);
  assert_null(candidates[1].samples);
  assert_int_equal(candidates[2].after.finding, LAB_GOOD);
  assert_int_equal(candidates[2].count, 11);
  for (int i = 0; i < 3; ++i) lab_candidate_free(&candidates[i]);
  close_bench(&the);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_of_a_cold_sample),
      cmocka_unit_test(what_a_peer_returns_is_settled_behind_the_clock),
      cmocka_unit_test(a_hot_sample_is_not_flushed),
      cmocka_unit_test(stops_when_steady),
      cmocka_unit_test(goes_on_until_the_median_is_known),
      cmocka_unit_test(stops_at_the_most),
      cmocka_unit_test(a_time_out_leaves_three_samples),
      cmocka_unit_test(one_long_run_is_enough),
      cmocka_unit_test(senseless_rules_are_refused),
      cmocka_unit_test(a_hold_that_gave_up_is_an_error),
      cmocka_unit_test(a_clock_that_cannot_be_read_is_an_error),
      cmocka_unit_test(a_launch_refused_later_is_a_finding),
      cmocka_unit_test(an_overrun_in_any_sample_is_found),
      cmocka_unit_test(work_on_another_stream_is_found),
      cmocka_unit_test(interleaving_is_seeded),
      cmocka_unit_test(a_bad_candidate_spoils_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
