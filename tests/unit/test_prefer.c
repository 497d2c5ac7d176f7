/* What `auto` tries first: for jobs of that class alone, with the same bits, and never what has
 * other bits or cannot do the job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/prefer.h"
#include "rung/rung.h"

enum { COUNT = 100 };
static const char sums[] = "sum f32 f32 outer=1 n=2^6 inner=1";
static const char scans[] = "sum f32 lines=1 n=2^6 inner=1";

static int open_context(void **state) {
  return rung_open((rung_context **)state, &(rung_options){.device = "cpu", .threads = 2}) !=
         RUNG_OK;
}

static int close_context(void **state) {
  rung_close(*state);
  return 0;
}

/* The sum of numbers whose bits depend on their order; the rung that made it. */
static const char *rung_of(rung_context *context, int64_t count, rung_call call, float *sum) {
  float numbers[4 * COUNT];
  for (int i = 0; i < 4 * COUNT; i++) numbers[i] = 1 / (float)(i + 3);
  DLTensor in = rung_array_f32(numbers, &count), out = rung_number_f32(sum);
  *sum = 0;
  assert_int_equal(rung_reduce(context, RUNG_SUM, &in, RUNG_ALL, &out, &call), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
  return call.used;
}

static const char *scan_of(rung_context *context) {
  float numbers[COUNT] = {1}, sums_of[COUNT];
  const int64_t count = COUNT;
  rung_call call = {0};
  DLTensor in = rung_array_f32(numbers, &count), out = rung_array_f32(sums_of, &count);
  assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 0, &out, &call), RUNG_OK);
  assert_string_equal(rung_last_error(context), "");
  assert_true(sums_of[COUNT - 1] == 1);
  return call.used;
}

static void classes_have_their_rung(void **state) {
  rung_context *context = *state;
  const rung_call any = {0}, automatic = {.rung = "auto"};
  float before, after;
  assert_string_equal(rung_of(context, COUNT, any, &before), "threads");
  assert_int_equal(rung_prefer(context, "reduce", sums, "lanes", 0), RUNG_OK);
  assert_string_equal(rung_of(context, COUNT, any, &after), "lanes");
  assert_memory_equal(&before, &after, sizeof before);
  assert_string_equal(rung_of(context, 64, automatic, &after), "lanes");
  assert_string_equal(rung_of(context, 63, any, &after), "threads");
  assert_string_equal(rung_of(context, 128, any, &after), "threads");
  assert_string_equal(scan_of(context), "tiles");
  /* What a call says itself goes first. */
  assert_string_equal(rung_of(context, COUNT, (rung_call){.rung = "serial"}, &after), "serial");
  assert_string_equal(rung_of(context, COUNT, (rung_call){.block = 64}, &after), "threads");
  assert_string_equal(rung_of(context, COUNT, (rung_call){.math = RUNG_MATH_FAST}, &after),
                      "threads");
  /* Another in its place, then none. */
  assert_int_equal(rung_prefer(context, "reduce", sums, "threads", 0), RUNG_OK);
  assert_string_equal(rung_of(context, COUNT, any, &after), "threads");
  assert_int_equal(rung_prefer(context, "reduce", sums, "lanes", 0), RUNG_OK);
  assert_int_equal(rung_prefer(context, "reduce", sums, NULL, 0), RUNG_OK);
  assert_int_equal(rung_prefer(context, "reduce", sums, NULL, 0), RUNG_OK);
  assert_string_equal(rung_of(context, COUNT, any, &after), "threads");
}

/* `across` takes lines that lie side by side only: the call goes another way, and says nothing. */
static void what_cannot_be_done_is_done_else(void **state) {
  rung_context *context = *state;
  assert_int_equal(rung_prefer(context, "scan", scans, "threads", 0), RUNG_OK);
  assert_string_equal(scan_of(context), "threads");
  assert_int_equal(rung_prefer(context, "scan", scans, "across", 0), RUNG_OK);
  assert_string_equal(scan_of(context), "tiles");
}

static void others_are_refused(void **state) {
  rung_context *context = *state;
  char longest[RUNG_CLASS], longer[RUNG_CLASS + 1];
  memset(longest, 'x', sizeof longest);
  longest[RUNG_CLASS - 1] = '\0';
  memset(longer, 'x', sizeof longer);
  longer[RUNG_CLASS] = '\0';
  const struct {
    const char *operation, *job, *rung;
    int block;
    rung_status status;
    const char *sentence;
  } cases[] = {
      {"nonsense", sums, "lanes", 0, RUNG_UNKNOWN_NAME, "operation is \"nonsense\""},
      {NULL, sums, "lanes", 0, RUNG_UNKNOWN_NAME, "operation is \"NULL\""},
      {"reduce", NULL, "lanes", 0, RUNG_BAD_ARGUMENT, "job is \"NULL\""},
      {"reduce", "", "lanes", 0, RUNG_BAD_ARGUMENT, "job is \"\""},
      {"reduce", longer, "lanes", 0, RUNG_BAD_ARGUMENT, "of 1 ... 95 bytes"},
      {"reduce", sums, "nonsense", 0, RUNG_UNKNOWN_NAME, "rung is \"nonsense\""},
      {"reduce", sums, "shuffle", 0, RUNG_UNKNOWN_NAME, "for device \"cpu\""},
      {"reduce", sums, "auto", 0, RUNG_UNKNOWN_NAME, "rung is \"auto\""},
      {"reduce", sums, "serial", 0, RUNG_UNSUPPORTED, "expected: a canonical one"},
      {"stencil", sums, "composed", 0, RUNG_UNSUPPORTED, "expected: a canonical one"},
      {"reduce", sums, "lanes", 64, RUNG_BAD_ARGUMENT, "block is 64"},
      {"reduce", sums, "lanes", -1, RUNG_BAD_ARGUMENT, "block is -1"},
  };
  float sum;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(
        rung_prefer(context, cases[i].operation, cases[i].job, cases[i].rung, cases[i].block),
        cases[i].status);
    assert_non_null(strstr(rung_last_error(context), cases[i].sentence));
    assert_string_equal(rung_of(context, COUNT, (rung_call){0}, &sum), "threads");
  }
  assert_int_equal(rung_prefer(context, "reduce", longest, "lanes", 0), RUNG_OK);
  assert_int_equal(rung_prefer(NULL, "reduce", sums, "lanes", 0), RUNG_BAD_ARGUMENT);
}

static void there_is_an_end(void **state) {
  rung_context *context = *state;
  char job[32];
  float sum;
  for (int i = 0; i < RUNG_PREFERENCES - 1; i++) {
    snprintf(job, sizeof job, "class %d", i);
    assert_int_equal(rung_prefer(context, "reduce", job, "lanes", 0), RUNG_OK);
  }
  assert_int_equal(rung_prefer(context, "reduce", sums, "lanes", 0), RUNG_OK);
  assert_int_equal(rung_prefer(context, "reduce", "one more", "lanes", 0), RUNG_TOO_LARGE);
  assert_string_equal(rung_of(context, COUNT, (rung_call){0}, &sum), "lanes");
  assert_int_equal(rung_prefer(context, "reduce", sums, "threads", 0), RUNG_OK);
  assert_int_equal(rung_prefer(context, "reduce", "class 7", NULL, 0), RUNG_OK);
  assert_int_equal(rung_prefer(context, "reduce", "one more", "lanes", 0), RUNG_OK);
  assert_string_equal(rung_of(context, COUNT, (rung_call){0}, &sum), "threads");
}

static void numbers_by_their_power(void **state) {
  static const struct {
    int64_t number;
    const char *text;
  } cases[] = {{0, "0"},
               {1, "1"},
               {7, "7"},
               {8, "2^3"},
               {15, "2^3"},
               {16, "2^4"},
               {INT64_MAX, "2^62"},
               {1 << 20, "2^20"},
               {(1 << 20) - 1, "2^19"}};
  char text[8];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(rung_power(cases[i].number, text), cases[i].text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(classes_have_their_rung, open_context, close_context),
      cmocka_unit_test_setup_teardown(what_cannot_be_done_is_done_else, open_context,
                                      close_context),
      cmocka_unit_test_setup_teardown(others_are_refused, open_context, close_context),
      cmocka_unit_test_setup_teardown(there_is_an_end, open_context, close_context),
      cmocka_unit_test(numbers_by_their_power),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
