/* The rig: arrays between canaries, poison, and what is seen of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cheats/copycat.h"
#include "lab/rig.h"

enum { N = 1000 };

typedef struct bench {
  rung_context *context;
  rung_trial trial;
  lab_rig *rig;
} bench;

static int open_bench(void **state) {
  static bench the;
  rung_error error = {0};
  copycat_forget();
  if (rung_open(&the.context, &(rung_options){.device = "cpu", .threads = 2}) != RUNG_OK) return -1;
  if (copycat_operation.trials->make("n=1000", 5, &the.trial, &error) != RUNG_OK) return -1;
  if (copycat_operation.trials->expect(&the.trial, &error) != RUNG_OK) return -1;
  if (lab_rig_open(the.context, &the.trial, &the.rig, &error) != RUNG_OK) return -1;
  *state = &the;
  return 0;
}

static int close_bench(void **state) {
  bench *the = *state;
  lab_rig_close(the->rig);
  copycat_operation.trials->drop(&the->trial);
  rung_close(the->context);
  return 0;
}

static const rung_row *cheat(const char *name) {
  return copycat_row(RUNG_ON_CPU, name);
}

/* Poisons, runs the honest rung, lets `spoil` loose, and checks. */
static lab_verdict check_after(bench *the, void (*spoil)(lab_rig *rig)) {
  lab_verdict verdict;
  rung_error error = {0};
  assert_int_equal(lab_rig_prepare(the->rig, cheat("honest"), 0, &error), RUNG_OK);
  assert_int_equal(lab_rig_poison(the->rig, &error), RUNG_OK);
  assert_int_equal(lab_rig_launch(the->rig, cheat("honest"), 0, &error), RUNG_OK);
  spoil(the->rig);
  lab_rig_check(the->rig, cheat("honest"), &verdict);
  return verdict;
}

static float *out_of(lab_rig *rig) {
  return (float *)rig->arenas[COPYCAT_OUT].data;
}

/* ---- what it looks like ------------------------------------------------------------------- */

static void data_is_aligned_and_poisoned(void **state) {
  bench *the = *state;
  const lab_arena *in = &the->rig->arenas[COPYCAT_IN], *out = &the->rig->arenas[COPYCAT_OUT];
  assert_true(LAB_ZONE >= 4096);
  assert_int_equal((uintptr_t)in->data % 256, 0);
  assert_int_equal((uintptr_t)out->data % 256, 0);
  assert_int_equal(out->bytes, N * sizeof(float));
  for (size_t i = 0; i < out->bytes; ++i)
    assert_int_equal((unsigned char)out->data[i], RUNG_POISON_BYTE);
  assert_memory_equal(in->data, the->trial.arrays[COPYCAT_IN].data, in->bytes);
  assert_true(in->data != the->trial.arrays[COPYCAT_IN].data); /* the trial's own is the truth */
}

static void canaries_differ_everywhere(void **state) {
  bench *the = *state;
  uint64_t words[LAB_CANARIES / sizeof(uint64_t)];
  memcpy(words, the->rig->canary, sizeof words);
  const int count = LAB_ZONE / sizeof(uint64_t);
  for (int zone = 0; zone < 2 * LAB_ARENAS; ++zone)
    for (int i = 0; i < count; ++i) {
      assert_true(words[zone * count + i] != words[i] || zone == 0);
      assert_true(i == 0 || words[zone * count + i] != words[zone * count + i - 1]);
    }
}

static void nothing_ran(lab_rig *rig) {
  (void)rig;
}

static void an_untouched_run_is_good(void **state) {
  const lab_verdict verdict = check_after(*state, nothing_ran);
  assert_int_equal(verdict.finding, LAB_GOOD);
  assert_string_equal(verdict.sentence, "");
}

/* ---- canaries and inputs ------------------------------------------------------------------ */

static void last_byte_of_high_zone(lab_rig *rig) {
  lab_arena *out = &rig->arenas[COPYCAT_OUT];
  out->data[out->bytes + LAB_ZONE - 1] ^= 1;
}

static void first_byte_of_low_zone(lab_rig *rig) {
  rig->arenas[COPYCAT_IN].base[0] ^= 1;
}

static void copy_a_zone_over_another(lab_rig *rig) {
  memcpy(rig->arenas[COPYCAT_OUT].base, rig->arenas[COPYCAT_IN].base, LAB_ZONE);
}

static void move_a_zone(lab_rig *rig) {
  memmove(rig->arenas[COPYCAT_OUT].base, rig->arenas[COPYCAT_OUT].base + 8, LAB_ZONE - 8);
}

static void spoil_input(lab_rig *rig) {
  ((float *)rig->arenas[COPYCAT_IN].data)[17] = 0;
}

static void every_byte_of_the_zones_counts(void **state) {
  lab_verdict verdict = check_after(*state, last_byte_of_high_zone);
  assert_int_equal(verdict.finding, LAB_OVERRUN);
  assert_string_equal(verdict.sentence, "memory beside out was written: byte 16383 past its end");
  verdict = check_after(*state, first_byte_of_low_zone);
  assert_int_equal(verdict.finding, LAB_OVERRUN);
  assert_string_equal(verdict.sentence,
                      "memory beside in was written: byte 16384 before its start");
  assert_int_equal(check_after(*state, copy_a_zone_over_another).finding, LAB_OVERRUN);
  assert_int_equal(check_after(*state, move_a_zone).finding, LAB_OVERRUN);
  assert_int_equal(check_after(*state, nothing_ran).finding, LAB_GOOD); /* poison heals */
}

static void a_changed_input_is_found_and_put_right(void **state) {
  const lab_verdict verdict = check_after(*state, spoil_input);
  assert_int_equal(verdict.finding, LAB_OVERRUN);
  assert_string_equal(verdict.sentence, "the input in was changed: first at element 17");
  assert_int_equal(check_after(*state, nothing_ran).finding, LAB_GOOD);
}

static void the_canary_follows_the_scratch(void **state) {
  bench *the = *state;
  lab_verdict verdict;
  rung_error error = {0};
  /* Not prepared, there is no scratch for it. */
  assert_int_equal(lab_rig_launch(the->rig, cheat("overruns-scratch"), 0, &error),
                   RUNG_BAD_ARGUMENT);
  lab_verify(the->rig, cheat("overruns-scratch"), 0, &verdict);
  assert_int_equal(verdict.finding, LAB_OVERRUN);
  assert_string_equal(verdict.sentence, "memory beside scratch was written: byte 0 past its end");
  assert_int_equal(the->rig->arenas[LAB_SCRATCH].bytes, 100);
  lab_verify(the->rig, cheat("honest"), 0, &verdict); /* needs none: the zone moves back */
  assert_int_equal(verdict.finding, LAB_GOOD);
  assert_int_equal(the->rig->arenas[LAB_SCRATCH].bytes, 0);
}

/* ---- outputs ------------------------------------------------------------------------------ */

static void leave_one_unwritten(lab_rig *rig) {
  memset(&out_of(rig)[N - 1], RUNG_POISON_BYTE, sizeof(float));
}

static void put_a_nan(lab_rig *rig) {
  out_of(rig)[3] = NAN;
}

static void one_ulp(lab_rig *rig) {
  out_of(rig)[3] = nextafterf(out_of(rig)[3], 9);
}

static void nan_and_unwritten(lab_rig *rig) {
  put_a_nan(rig);
  leave_one_unwritten(rig);
}

static void nan_and_wrong(lab_rig *rig) {
  put_a_nan(rig);
  one_ulp(rig);
}

static void everything_at_once(lab_rig *rig) {
  nan_and_unwritten(rig);
  one_ulp(rig);
  last_byte_of_high_zone(rig);
}

static void the_gravest_finding_comes_first(void **state) {
  assert_int_equal(check_after(*state, leave_one_unwritten).finding, LAB_UNWRITTEN);
  assert_int_equal(check_after(*state, put_a_nan).finding, LAB_NAN);
  assert_int_equal(check_after(*state, one_ulp).finding, LAB_WRONG);
  assert_int_equal(check_after(*state, nan_and_wrong).finding, LAB_NAN);
  assert_int_equal(check_after(*state, nan_and_unwritten).finding, LAB_UNWRITTEN);
  assert_int_equal(check_after(*state, everything_at_once).finding, LAB_OVERRUN);
}

/* The classic: a launch that does nothing "matches" what the block size before left. */
static void nothing_is_left_between_block_sizes(void **state) {
  bench *the = *state;
  lab_verdict verdict;
  lab_verify(the->rig, cheat("honest"), 64, &verdict);
  assert_int_equal(verdict.finding, LAB_GOOD);
  lab_verify(the->rig, cheat("writes-nothing"), 128, &verdict);
  assert_int_equal(verdict.finding, LAB_UNWRITTEN);
}

/* A judge that is fooled: as if its operation had forgotten the poison, or compared a NaN wrongly.
 */
static void fooled(const rung_trial *trial, rung_order order, const rung_view *outputs,
                   rung_judgement *judgement) {
  (void)trial, (void)order, (void)outputs;
  *judgement = (rung_judgement){.pass = true};
}

static void fooled_but_counting(const rung_trial *trial, rung_order order, const rung_view *outputs,
                                rung_judgement *judgement) {
  copycat_operation.trials->judge(trial, order, outputs, judgement);
  judgement->pass = true;
}

static void a_judge_is_not_believed_alone(void **state) {
  bench *the = *state;
  rung_trials trials = *copycat_operation.trials;
  rung_operation operation = copycat_operation;
  operation.trials = &trials;
  the->trial.operation = &operation;
  trials.judge = fooled;
  assert_int_equal(check_after(the, nothing_ran).finding, LAB_GOOD);
  assert_int_equal(check_after(the, leave_one_unwritten).finding, LAB_UNWRITTEN);
  trials.judge = fooled_but_counting;
  assert_int_equal(check_after(the, put_a_nan).finding, LAB_NAN);
  assert_int_equal(check_after(the, one_ulp).finding, LAB_WRONG);
  the->trial.operation = &copycat_operation;
}

/* ---- what is not run ---------------------------------------------------------------------- */

static void what_is_not_supported_does_not_run(void **state) {
  bench *the = *state;
  lab_verdict verdict;
  lab_verify(the->rig, copycat_row(RUNG_ON_GPU, "honest"), 0, &verdict);
  assert_int_equal(verdict.finding, LAB_UNSUPPORTED);
  assert_true(verdict.sentence[0] != '\0');
  lab_verify(the->rig, cheat("honest"), 1025, &verdict);
  assert_int_equal(verdict.finding, LAB_UNSUPPORTED);
  assert_non_null(strstr(verdict.sentence, "1025"));
  assert_int_equal(copycat_calls, 0);
}

static void findings_have_names(void **state) {
  (void)state;
  assert_string_equal(lab_finding_name(LAB_GOOD), "good");
  assert_string_equal(lab_finding_name(LAB_UNSUPPORTED), "unsupported");
  assert_string_equal(lab_finding_name(LAB_LAUNCH_FAILED), "launch-failed");
  assert_string_equal(lab_finding_name(LAB_UNWRITTEN), "unwritten");
  assert_string_equal(lab_finding_name(LAB_NAN), "nan");
  assert_string_equal(lab_finding_name(LAB_OVERRUN), "overrun");
  assert_string_equal(lab_finding_name(LAB_WRONG), "wrong");
  assert_string_equal(lab_finding_name(LAB_WRONG_LATER), "wrong-later");
  assert_string_equal(lab_finding_name(LAB_OTHER_STREAM), "other-stream");
  assert_string_equal(lab_finding_name(LAB_TOO_FAST), "too-fast");
  assert_string_equal(lab_finding_name(LAB_FINDINGS), "unknown");
}

#define RIGGED(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void) {
  const struct CMUnitTest tests[] = {
      RIGGED(data_is_aligned_and_poisoned),
      RIGGED(canaries_differ_everywhere),
      RIGGED(an_untouched_run_is_good),
      RIGGED(every_byte_of_the_zones_counts),
      RIGGED(a_changed_input_is_found_and_put_right),
      RIGGED(the_canary_follows_the_scratch),
      RIGGED(the_gravest_finding_comes_first),
      RIGGED(nothing_is_left_between_block_sizes),
      RIGGED(a_judge_is_not_believed_alone),
      RIGGED(what_is_not_supported_does_not_run),
      cmocka_unit_test(findings_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
