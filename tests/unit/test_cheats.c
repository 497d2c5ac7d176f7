/* Kernels that cheat: each must be caught, with exactly the finding its case names. On a GPU too,
 * where there is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cheats/copycat.h"
#include "lab/lab.h"

enum { SAMPLES = 5 };

typedef struct cheat {
  const char *device, *rung;
  lab_finding before, after; /* after: looked at only where before is good */
  const char *says;          /* part of the sentence; NULL: any */
} cheat;

/* A device that is not there skips its cases. */
static rung_context *open_or_skip(const cheat *the) {
  rung_context *context = NULL;
  const rung_options options = {.device = the->device, .stream = RUNG_OWN_STREAM};
  const rung_status status = rung_open(&context, &options);
  if (status == RUNG_OK) return context;
  print_message("%s: %s is not tried: %s\n", the->device, the->rung, rung_last_error(context));
  rung_close(context);
  skip();
  return NULL;
}

/* n is no multiple of a block; samples are few and their number is known to the cheats. */
static void try_it(const cheat *the, rung_context *context, lab_candidate *candidate, int64_t n,
                   double least_ms) {
  rung_error error = {0};
  rung_case test_case;
  lab_fixture *fixture;
  char line[32];
  snprintf(line, sizeof line, "n=%lld", (long long)n);
  assert_int_equal(copycat_cases.make(line, 7, &test_case, &error), RUNG_OK);
  assert_int_equal(copycat_cases.expect(&test_case, &error), RUNG_OK);
  if (lab_fixture_open(context, &test_case, &fixture, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  lab_rules rules = lab_rules_default();
  rules.least = rules.most = SAMPLES;
  rules.seconds = 1e9; /* however slow the machine is */
  /* Verified, watched behind a held stream where there is one, warmed up twice, timed. */
  copycat_watched_from = (context->backend->hold ? 4 : 3) + SAMPLES;
  copycat_forget();
  const rung_family family = context->device.kind == RUNG_CPU ? RUNG_ON_CPU : RUNG_ON_GPU;
  *candidate = (lab_candidate){.row = copycat_row(family, the->rung)};
  assert_non_null(candidate->row);
  if (lab_sample(fixture, candidate, 1, &rules, NULL, NULL, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  lab_refuse_impossible(&(lab_limit){.ms = least_ms, .memory_ms = least_ms, .bound = "read"},
                        candidate, 1);
  lab_fixture_close(fixture);
  copycat_cases.drop(&test_case);
}

static void assert_finding(const lab_verdict *verdict, lab_finding wanted, const char *says) {
  if (verdict->finding != wanted)
    fail_msg("found %s (%s) where %s is wanted", lab_finding_name(verdict->finding),
             verdict->sentence, lab_finding_name(wanted));
  assert_true((wanted == LAB_GOOD) == (verdict->sentence[0] == '\0'));
  if (says && !strstr(verdict->sentence, says))
    fail_msg("the sentence is \"%s\", without \"%s\"", verdict->sentence, says);
}

static void is_caught(void **state) {
  const cheat *the = *state;
  rung_context *context = open_or_skip(the);
  lab_candidate candidate;
  try_it(the, context, &candidate, 1000, 0);
  assert_finding(&candidate.before, the->before, the->before == LAB_GOOD ? NULL : the->says);
  assert_finding(&candidate.after, the->before == LAB_GOOD ? the->after : the->before, the->says);
  const bool good = the->before == LAB_GOOD && the->after == LAB_GOOD;
  assert_int_equal(candidate.stop == LAB_REFUSED, !good);
  if (good) assert_int_equal(candidate.count, SAMPLES);
  if (the->before != LAB_GOOD) assert_int_equal(candidate.count, 0); /* never timed */
  lab_candidate_free(&candidate);
  rung_close(context);
}

/* It passes every check of its values: only the peak gives it away. Half of what the honest rung
 * takes stands for what it allows, which no test can know. */
static void is_caught_by_the_peak(void **state) {
  const cheat *the = *state;
  rung_context *context = open_or_skip(the);
  const int64_t n = 1 << 22;
  lab_candidate honest, cheating;
  try_it(&(cheat){.device = the->device, .rung = "honest"}, context, &honest, n, 0);
  assert_finding(&honest.after, LAB_GOOD, NULL);
  try_it(the, context, &cheating, n, 0.5 * honest.time.median);
  assert_true(copycat_spared >= SAMPLES - 1);
  assert_finding(&cheating.before, LAB_GOOD, NULL);
  assert_finding(&cheating.after, LAB_TOO_FAST, "the peak of");
  lab_candidate_free(&honest);
  lab_candidate_free(&cheating);
  rung_close(context);
}

/* A rung that spares itself the work where its output stands already finds poison every time: it
 * is timed at honest work. Only the two warm-ups, which count for nothing, are spared. */
static void has_nothing_to_peek_at(void **state) {
  const cheat *the = *state;
  rung_context *context = open_or_skip(the);
  lab_candidate candidate;
  try_it(the, context, &candidate, 1000, 0);
  assert_finding(&candidate.after, LAB_GOOD, NULL);
  assert_int_equal(copycat_calls, 3 + SAMPLES);
  assert_int_equal(copycat_spared, 2);
  lab_candidate_free(&candidate);
  rung_close(context);
}

#define CASE(function, device, rung, ...)             \
  {                                                   \
    device " " rung, function, NULL, NULL, &(cheat) { \
      device, rung, __VA_ARGS__                       \
    }                                                 \
  }
#define CAUGHT(device, rung, before, says) CASE(is_caught, device, rung, before, LAB_GOOD, says)
#define CAUGHT_LATER(device, rung, after, says) CASE(is_caught, device, rung, LAB_GOOD, after, says)

int main(void) {
  const struct CMUnitTest tests[] = {
      CAUGHT("cpu", "honest", LAB_GOOD, NULL),
      CAUGHT("cpu", "writes-nothing", LAB_UNWRITTEN, "out was not written at element 0 of 1000"),
      CAUGHT("cpu", "writes-nan", LAB_NAN, "out[500]"),
      CAUGHT("cpu", "overruns-by-one", LAB_OVERRUN, "beside out was written: byte 0 past its end"),
      CAUGHT("cpu", "underruns-by-one", LAB_OVERRUN, "beside out"),
      CAUGHT("cpu", "overruns-scratch", LAB_OVERRUN, "beside scratch was written: byte 0 past"),
      CAUGHT("cpu", "litters-zeros", LAB_OVERRUN, "left zero was not: first at byte 99"),
      CAUGHT("cpu", "overruns-with-nan", LAB_OVERRUN, NULL),
      CAUGHT("cpu", "leaves-last-block", LAB_UNWRITTEN, "element 768 of 1000"),
      CAUGHT_LATER("cpu", "right-only-first-time", LAB_WRONG_LATER, "out[999]"),
      CAUGHT("cpu", "fails-to-launch", LAB_LAUNCH_FAILED, "did not feel like it"),
      CAUGHT_LATER("cpu", "stale-output", LAB_WRONG_LATER, "was not written"),
      CAUGHT("cpu", "off-by-a-percent", LAB_WRONG, "1 elements are wrong"),
      CAUGHT("cpu", "writes-input", LAB_OVERRUN, "the input in was changed: first at element 999"),
      CASE(is_caught_by_the_peak, "cpu", "too-fast", LAB_GOOD, LAB_TOO_FAST, NULL),
      CASE(has_nothing_to_peek_at, "cpu", "peeks-at-output", LAB_GOOD, LAB_GOOD, NULL),

      CAUGHT("cuda", "honest", LAB_GOOD, NULL),
      CAUGHT("cuda", "writes-nothing", LAB_UNWRITTEN, "out was not written at element 0 of 1000"),
      CAUGHT("cuda", "writes-nan", LAB_NAN, "out[500]"),
      CAUGHT("cuda", "overruns-by-one", LAB_OVERRUN, "beside out was written: byte 0 past its end"),
      CAUGHT("cuda", "leaves-last-block", LAB_UNWRITTEN, "element 768 of 1000"),
      CAUGHT_LATER("cuda", "right-only-first-time", LAB_WRONG_LATER, "out[999]"),
      CAUGHT("cuda", "fails-to-launch", LAB_LAUNCH_FAILED, "could not be launched"),
      CAUGHT("cuda", "launch-error-swallowed", LAB_LAUNCH_FAILED, NULL),
      CAUGHT("cuda", "other-stream", LAB_OTHER_STREAM, "was held"),
      CAUGHT("cuda", "default-stream", LAB_OTHER_STREAM, "was held"),
      CAUGHT("cuda", "waits-for-the-stream", LAB_LAUNCH_FAILED, "a launch must not wait"),
      CAUGHT_LATER("cuda", "stale-output", LAB_WRONG_LATER, "was not written"),
      CAUGHT("cuda", "off-by-a-percent", LAB_WRONG, "1 elements are wrong"),
      CAUGHT("cuda", "writes-input", LAB_OVERRUN, "the input in was changed: first at element 999"),
      CASE(is_caught_by_the_peak, "cuda", "too-fast", LAB_GOOD, LAB_TOO_FAST, NULL),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
