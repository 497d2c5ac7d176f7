/* What is done with outputs: every element looked at, and the checker asked once of the same bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "lab/fixture.h"

enum { N = 5 };

static int checks; /* calls of the checker */
static const float nan_of_the_reference = NAN;

/* 2.5 is right at element 0 of a canonical rung; a textbook one may be off by 0.1. */
static void check(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                  rung_comparison *comparison) {
  const float found = ((const float *)outputs[0].data)[0];
  (void)test_case;
  checks++;
  *comparison = (rung_comparison){.first = -1, .worst = fabs(found - 2.5)};
  comparison->wrong = !(comparison->worst <= (rung->order == RUNG_CANONICAL ? 0 : 0.1));
  comparison->pass = comparison->wrong == 0;
}

/* Passes everything. */
static void pass(const rung_case *test_case, const rung_row *rung, const rung_view *outputs,
                 rung_comparison *comparison) {
  (void)test_case, (void)rung, (void)outputs;
  *comparison = (rung_comparison){.first = -1, .pass = true};
}

static const rung_cases lax = {.operation = "outputs", .check = pass};
static const rung_cases cases = {.operation = "outputs", .check = check};
static const rung_row canonical = {.name = "canonical", .order = RUNG_CANONICAL},
                      other = {.name = "other", .order = RUNG_CANONICAL},
                      textbook = {.name = "textbook", .order = RUNG_TEXTBOOK},
                      another = {.name = "another", .order = RUNG_TEXTBOOK};

typedef struct results {
  rung_case test_case;
  lab_known known;
  rung_view view;
  float data[N];
} results;

static void begin(results *r) {
  const int64_t n = N;
  memset(r, 0, sizeof *r);
  for (int i = 0; i < N; i++) r->data[i] = 2.5f;
  r->view = rung_view_compact(r->data, RUNG_F32, 1, &n);
  r->test_case = (rung_case){.cases = &cases, .inputs = 1, .outputs = 1};
  r->test_case.array_names[1] = "out";
  checks = 0;
}

static lab_verdict judged(results *r, const rung_row *row) {
  lab_verdict verdict = {.finding = LAB_GOOD};
  lab_check_outputs(&r->test_case, &r->known, row, &r->view, &verdict);
  return verdict;
}

static void the_same_bits_are_checked_once(void **state) {
  (void)state;
  results r;
  begin(&r);
  const lab_verdict first = judged(&r, &canonical), again = judged(&r, &canonical),
                    of_another = judged(&r, &other);
  assert_int_equal(first.finding, LAB_GOOD);
  assert_int_equal(again.finding, LAB_GOOD);
  assert_int_equal(of_another.finding, LAB_GOOD);
  assert_true(first.bits != 0 && again.bits == first.bits && of_another.bits == first.bits);
  assert_int_equal(checks, 1);
  r.data[N - 1] = nextafterf(2.5f, 3);
  judged(&r, &canonical);
  assert_int_equal(checks, 2); /* one bit of the last element */
}

/* What is good enough for one order is not for another, and a loose rung's bound is its own. */
static void orders_are_judged_apart(void **state) {
  (void)state;
  results r;
  begin(&r);
  r.data[0] = 2.55f;
  assert_int_equal(judged(&r, &textbook).finding, LAB_GOOD);
  assert_int_equal(judged(&r, &canonical).finding, LAB_WRONG);
  assert_int_equal(judged(&r, &another).finding, LAB_GOOD);
  assert_int_equal(checks, 3);
  assert_int_equal(judged(&r, &textbook).finding, LAB_GOOD);
  assert_int_equal(checks, 3);
}

static void what_is_wrong_is_checked_again(void **state) {
  (void)state;
  results r;
  begin(&r);
  r.data[0] = 3;
  for (int i = 1; i <= 3; i++) {
    assert_int_equal(judged(&r, &canonical).finding, LAB_WRONG);
    assert_int_equal(checks, i);
  }
}

/* To the hash poison is a NaN like any other: it is looked for all the same. */
static void poison_is_no_nan_of_the_reference(void **state) {
  (void)state;
  results r;
  begin(&r);
  r.data[3] = nan_of_the_reference;
  const lab_verdict good = judged(&r, &canonical);
  assert_int_equal(good.finding, LAB_GOOD);
  memset(&r.data[3], RUNG_POISON_BYTE, sizeof r.data[3]);
  const lab_verdict unwritten = judged(&r, &canonical);
  assert_int_equal(unwritten.finding, LAB_UNWRITTEN);
  assert_string_equal(unwritten.sentence, "out was not written at element 3 of 5");
  r.data[3] = -nan_of_the_reference;
  assert_true(judged(&r, &canonical).bits == good.bits);
}

/* Older ones make room for later ones, and are checked again. */
static void as_many_are_known_as_there_is_room_for(void **state) {
  (void)state;
  results r;
  begin(&r);
  for (int i = 0; i <= LAB_KNOWN; i++) {
    r.data[1] = (float)i;
    judged(&r, &canonical);
  }
  assert_int_equal(checks, LAB_KNOWN + 1);
  judged(&r, &canonical);
  assert_int_equal(checks, LAB_KNOWN + 1);
  r.data[1] = 0;
  judged(&r, &canonical);
  assert_int_equal(checks, LAB_KNOWN + 2);
}

/* docs/RECORDS.md says how the hash is made: of every size of element, worked out in its words. */
static void the_hash_is_that_of_the_records(void **state) {
  (void)state;
  static const rung_dtype types[] = {RUNG_U8,  RUNG_I16, RUNG_U32, RUNG_I64,
                                     RUNG_F16, RUNG_F32, RUNG_F64};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const rung_traits *traits = rung_traits_of(types[t]);
    unsigned char bytes[N * 8];
    uint64_t wanted = 0;
    results r;
    begin(&r);
    for (int i = 0; i < N; i++) {
      uint64_t element = 0;
      traits->store(bytes + (size_t)i * traits->bytes, i == 2 ? 0 : 3 * i + 1);
      if (i == 2 && traits->kind == RUNG_FLOAT)
        traits->store(bytes + (size_t)i * traits->bytes, NAN);
      memcpy(&element, bytes + (size_t)i * traits->bytes, traits->bytes);
      if (i == 2 && traits->kind == RUNG_FLOAT) element = UINT64_MAX;
      wanted = (wanted ^ element) * UINT64_C(0x9e3779b97f4a7c15);
      wanted ^= wanted >> 32;
    }
    const int64_t n = N;
    r.view = rung_view_compact(bytes, types[t], 1, &n);
    r.test_case.cases = &lax;
    const lab_verdict verdict = judged(&r, &canonical);
    assert_int_equal(verdict.finding, LAB_GOOD);
    assert_true(verdict.bits == wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_bits_are_checked_once),
      cmocka_unit_test(orders_are_judged_apart),
      cmocka_unit_test(what_is_wrong_is_checked_again),
      cmocka_unit_test(poison_is_no_nan_of_the_reference),
      cmocka_unit_test(as_many_are_known_as_there_is_room_for),
      cmocka_unit_test(the_hash_is_that_of_the_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
