/* The fixture: arrays between canaries, poison, and what is seen of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cheats/copycat.h"
#include "lab/fixture.h"

enum { N = 1000 };

typedef struct bench {
  rung_context *context;
  rung_case test_case;
  lab_fixture *fixture;
} bench;

static int open_bench(void **state) {
  static bench the;
  rung_error error = {0};
  copycat_forget();
  if (rung_open(&the.context, &(rung_options){.device = "cpu", .threads = 2}) != RUNG_OK) return -1;
  if (copycat_cases.make("n=1000", 5, &the.test_case, &error) != RUNG_OK) return -1;
  if (copycat_cases.expect(&the.test_case, &error) != RUNG_OK) return -1;
  if (lab_fixture_open(the.context, &the.test_case, &the.fixture, &error) != RUNG_OK) return -1;
  *state = &the;
  return 0;
}

static int close_bench(void **state) {
  bench *the = *state;
  lab_fixture_close(the->fixture);
  copycat_cases.drop(&the->test_case);
  rung_close(the->context);
  return 0;
}

static const rung_row *cheat(const char *name) {
  return copycat_row(RUNG_ON_CPU, name);
}

/* Poisons, runs the honest rung, lets `spoil` loose, and checks. */
static lab_verdict check_after(bench *the, void (*spoil)(lab_fixture *fixture)) {
  lab_verdict verdict;
  rung_error error = {0};
  assert_int_equal(lab_fixture_prepare(the->fixture, cheat("honest"), 0, &error), RUNG_OK);
  assert_int_equal(lab_fixture_poison(the->fixture, &error), RUNG_OK);
  assert_int_equal(lab_fixture_launch(the->fixture, cheat("honest"), 0, &error), RUNG_OK);
  spoil(the->fixture);
  lab_fixture_check(the->fixture, cheat("honest"), &verdict);
  return verdict;
}

static float *out_of(lab_fixture *fixture) {
  return (float *)fixture->arenas[COPYCAT_OUT].data;
}

/* ---- what it looks like ------------------------------------------------------------------- */

static void data_is_aligned_and_poisoned(void **state) {
  bench *the = *state;
  const lab_arena *in = &the->fixture->arenas[COPYCAT_IN],
                  *out = &the->fixture->arenas[COPYCAT_OUT];
  assert_true(LAB_ZONE >= 4096);
  assert_int_equal((uintptr_t)in->data % 256, 0);
  assert_int_equal((uintptr_t)out->data % 256, 0);
  assert_int_equal(out->bytes, N * sizeof(float));
  for (size_t i = 0; i < out->bytes; ++i)
    assert_int_equal((unsigned char)out->data[i], RUNG_POISON_BYTE);
  assert_memory_equal(in->data, the->test_case.arrays[COPYCAT_IN].data, in->bytes);
  assert_true(in->data != the->test_case.arrays[COPYCAT_IN].data); /* the case's own is the truth */
}

static void canaries_differ_everywhere(void **state) {
  bench *the = *state;
  uint64_t words[LAB_CANARIES / sizeof(uint64_t)];
  memcpy(words, the->fixture->canary, sizeof words);
  const int count = LAB_ZONE / sizeof(uint64_t);
  for (int zone = 0; zone < 2 * LAB_ARENAS; ++zone)
    for (int i = 0; i < count; ++i) {
      assert_true(words[zone * count + i] != words[i] || zone == 0);
      assert_true(i == 0 || words[zone * count + i] != words[zone * count + i - 1]);
    }
}

static void nothing_ran(lab_fixture *fixture) {
  (void)fixture;
}

static void an_untouched_run_is_good(void **state) {
  const lab_verdict verdict = check_after(*state, nothing_ran);
  assert_int_equal(verdict.finding, LAB_GOOD);
  assert_string_equal(verdict.sentence, "");
}

/* ---- canaries and inputs ------------------------------------------------------------------ */

static void last_byte_of_high_zone(lab_fixture *fixture) {
  lab_arena *out = &fixture->arenas[COPYCAT_OUT];
  out->data[out->bytes + LAB_ZONE - 1] ^= 1;
}

static void first_byte_of_low_zone(lab_fixture *fixture) {
  fixture->arenas[COPYCAT_IN].base[0] ^= 1;
}

static void copy_a_zone_over_another(lab_fixture *fixture) {
  memcpy(fixture->arenas[COPYCAT_OUT].base, fixture->arenas[COPYCAT_IN].base, LAB_ZONE);
}

static void move_a_zone(lab_fixture *fixture) {
  memmove(fixture->arenas[COPYCAT_OUT].base, fixture->arenas[COPYCAT_OUT].base + 8, LAB_ZONE - 8);
}

static void spoil_input(lab_fixture *fixture) {
  ((float *)fixture->arenas[COPYCAT_IN].data)[17] = 0;
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
  assert_int_equal(lab_fixture_launch(the->fixture, cheat("overruns-scratch"), 0, &error),
                   RUNG_BAD_ARGUMENT);
  lab_verify(the->fixture, cheat("overruns-scratch"), 0, &verdict);
  assert_int_equal(verdict.finding, LAB_OVERRUN);
  assert_string_equal(verdict.sentence, "memory beside scratch was written: byte 0 past its end");
  assert_int_equal(the->fixture->arenas[LAB_SCRATCH].bytes, 100);
  lab_verify(the->fixture, cheat("honest"), 0, &verdict); /* needs none: the zone moves back */
  assert_int_equal(verdict.finding, LAB_GOOD);
  assert_int_equal(the->fixture->arenas[LAB_SCRATCH].bytes, 0);
}

/* Prepared for a rung that has none, zeros end where they begin, and the canaries follow. */
static void zeros_are_zero_whatever_ran_before(void **state) {
  bench *the = *state;
  rung_error error = {0};
  const rung_row *with_zeros = cheat("litters-zeros");
  lab_shot shot;
  assert_int_equal(lab_fixture_prepare(the->fixture, with_zeros, 0, &error), RUNG_OK);
  assert_int_equal(lab_fixture_prepare(the->fixture, cheat("honest"), 0, &error), RUNG_OK);
  assert_int_equal(lab_fixture_poison(the->fixture, &error), RUNG_OK);
  assert_int_equal(lab_fixture_prepare(the->fixture, with_zeros, 0, &error), RUNG_OK);
  assert_int_equal(lab_fixture_shot(the->fixture, with_zeros, 0, &shot, &error), RUNG_OK);
  const unsigned char *zeros = shot.task.zeros;
  assert_true(the->fixture->arenas[LAB_ZEROS].bytes > 0);
  for (size_t i = 0; i < the->fixture->arenas[LAB_ZEROS].bytes; ++i) assert_int_equal(zeros[i], 0);
}

/* ---- outputs ------------------------------------------------------------------------------ */

static void leave_one_unwritten(lab_fixture *fixture) {
  memset(&out_of(fixture)[N - 1], RUNG_POISON_BYTE, sizeof(float));
}

static void put_a_nan(lab_fixture *fixture) {
  out_of(fixture)[3] = NAN;
}

static void one_ulp(lab_fixture *fixture) {
  out_of(fixture)[3] = nextafterf(out_of(fixture)[3], 9);
}

static void nan_and_unwritten(lab_fixture *fixture) {
  put_a_nan(fixture);
  leave_one_unwritten(fixture);
}

static void nan_and_wrong(lab_fixture *fixture) {
  put_a_nan(fixture);
  one_ulp(fixture);
}

static void everything_at_once(lab_fixture *fixture) {
  nan_and_unwritten(fixture);
  one_ulp(fixture);
  last_byte_of_high_zone(fixture);
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
  lab_verify(the->fixture, cheat("honest"), 64, &verdict);
  assert_int_equal(verdict.finding, LAB_GOOD);
  lab_verify(the->fixture, cheat("writes-nothing"), 128, &verdict);
  assert_int_equal(verdict.finding, LAB_UNWRITTEN);
}

/* A checker that is fooled: as if its operation had forgotten the poison, or compared a NaN
 * wrongly.
 */
static void fooled(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                   rung_comparison *comparison) {
  (void)test_case, (void)rung, (void)outputs;
  *comparison = (rung_comparison){.pass = true};
}

static void fooled_but_counting(const rung_case *test_case, const rung_row *rung,
                                const rung_view *outputs, rung_comparison *comparison) {
  copycat_cases.check(test_case, rung, outputs, comparison);
  comparison->pass = true;
}

static void a_judge_is_not_believed_alone(void **state) {
  bench *the = *state;
  rung_cases cases = copycat_cases;
  the->test_case.cases = &cases;
  cases.check = fooled;
  assert_int_equal(check_after(the, nothing_ran).finding, LAB_GOOD);
  assert_int_equal(check_after(the, leave_one_unwritten).finding, LAB_UNWRITTEN);
  cases.check = fooled_but_counting;
  assert_int_equal(check_after(the, put_a_nan).finding, LAB_NAN);
  assert_int_equal(check_after(the, one_ulp).finding, LAB_WRONG);
  the->test_case.cases = &copycat_cases;
}

/* ---- what is not run ---------------------------------------------------------------------- */

static void what_is_not_supported_does_not_run(void **state) {
  bench *the = *state;
  lab_verdict verdict;
  lab_verify(the->fixture, copycat_row(RUNG_ON_GPU, "honest"), 0, &verdict);
  assert_int_equal(verdict.finding, LAB_UNSUPPORTED);
  assert_true(verdict.sentence[0] != '\0');
  lab_verify(the->fixture, cheat("honest"), 1025, &verdict);
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
      RIGGED(zeros_are_zero_whatever_ran_before),
      RIGGED(the_gravest_finding_comes_first),
      RIGGED(nothing_is_left_between_block_sizes),
      RIGGED(a_judge_is_not_believed_alone),
      RIGGED(what_is_not_supported_does_not_run),
      cmocka_unit_test(findings_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
