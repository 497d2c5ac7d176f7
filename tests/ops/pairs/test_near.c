/* What single precision may make of counts is let pass and told, and nothing else is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/pairs/lab/cases.h"
#include "ops/pairs/space.h"

enum { BINS = 100, RESULTS = BINS + PAIRS_OUTER };

typedef struct job {
  rung_case test_case;
  pairs_near near;
  int64_t exact[RESULTS], found[RESULTS];
  rung_view outputs[3];
} job;

static job *made(const char *line) {
  job *j = calloc(1, sizeof *j);
  assert_int_equal(pairs_cases.make(line, 3, &j->test_case, NULL), RUNG_OK);
  const pairs_problem *p = &((const pairs_case *)j->test_case.problem)->problem;
  assert_int_equal(p->bins, BINS);
  assert_int_equal(pairs_cases.expect(&j->test_case, NULL), RUNG_OK);
  assert_true(pairs_reference(p, j->test_case.arrays, j->exact, NULL));
  assert_true(pairs_near_of(p, j->test_case.arrays, &j->near));
  memcpy(j->found, j->exact, sizeof j->found);
  memcpy(j->outputs, &j->test_case.arrays[PAIRS_COUNTS], sizeof j->outputs);
  j->outputs[0].data = (char *)j->found;
  j->outputs[1].data = (char *)(j->found + BINS);
  return j;
}

static rung_comparison checked(const job *j, rung_order order) {
  rung_comparison comparison;
  pairs_cases.check(&j->test_case, &(rung_row){.name = "", .order = order}, j->outputs,
                    &comparison);
  return comparison;
}

static void drop(job *j) {
  pairs_near_free(&j->near);
  pairs_cases.drop(&j->test_case);
  free(j);
}

static const char line[] = "n=1200 bins=100 kind=centred width=0.01 box=cube data=liquid";

/* As a program does that keeps everything in floats. */
static void count_in_single(job *j) {
  const pairs_problem *p = &((const pairs_case *)j->test_case.problem)->problem;
  const double(*at)[3] = (const double(*)[3])j->test_case.arrays[PAIRS_A].data;
  const float side = (float)p->box.cell[0][0], per = 1.0f / 0.01f;
  memset(j->found, 0, sizeof j->found);
  for (int64_t a = 0; a < p->n; ++a)
    for (int64_t b = a + 1; b < p->n; ++b) {
      float square = 0;
      for (int k = 0; k < 3; ++k) {
        float d = (float)at[a][k] - (float)at[b][k];
        if (d > side / 2) d -= side;
        if (d < -side / 2) d += side;
        square += d * d;
      }
      const int bin = (int)(sqrtf(square) * per + 0.5f);
      j->found[bin < BINS ? bin : BINS + PAIRS_ABOVE] += 1;
    }
}

static void lets_roundings_pass(void **state) {
  (void)state;
  job *j = made(line);
  count_in_single(j);
  int64_t different = 0;
  for (int k = 0; k < RESULTS; ++k) different += j->found[k] != j->exact[k];
  assert_true(different > 0);
  rung_comparison comparison = checked(j, RUNG_TEXTBOOK);
  if (!comparison.pass) fail_msg("%s", comparison.sentence);
  assert_int_equal(comparison.different, different);
  assert_true(comparison.worst >= 1 && comparison.bound >= comparison.worst / 2);
  assert_non_null(strstr(comparison.sentence, "of 103 counts are not the exact ones"));
  comparison = checked(j, RUNG_CANONICAL);
  assert_false(comparison.pass);
  memcpy(j->found, j->exact, sizeof j->found);
  comparison = checked(j, RUNG_TEXTBOOK);
  assert_true(comparison.pass && comparison.different == 0 && comparison.sentence[0] == '\0');
  drop(j);
}

/* One pair more than rounding explains, over every edge and to either side; then one too few. */
static void lets_no_more_pass(void **state) {
  (void)state;
  job *j = made(line);
  int64_t below = 0;
  for (int k = 0; k <= BINS; ++k) {
    assert_true(j->near.least[k] <= below && below <= j->near.most[k]);
    assert_true(j->near.most[k] - j->near.least[k] < 40);
    int64_t *const under = k > 0 ? &j->found[k - 1] : &j->found[BINS + PAIRS_BELOW];
    int64_t *const over = &j->found[k < BINS ? k : BINS + PAIRS_ABOVE];
    for (int side = 0; side < 2 && k > 0; ++side) {
      const int64_t room = side ? below - j->near.least[k] : j->near.most[k] - below;
      for (int64_t more = 0; more < 2; ++more) {
        const int64_t moved = side ? -(room + more) : room + more;
        if (*under + moved < 0 || *over - moved < 0) continue;
        *under += moved;
        *over -= moved;
        const rung_comparison comparison = checked(j, RUNG_TEXTBOOK);
        if (comparison.pass != (more == 0) || comparison.wrong != more)
          fail_msg("edge %d, %lld pairs moved: %s", k, (long long)moved, comparison.sentence);
        if (more > 0) assert_non_null(strstr(comparison.sentence, "1 of 101 edges"));
        *under -= moved;
        *over += moved;
      }
    }
    if (k < BINS) below += j->exact[k];
  }
  j->found[BINS + PAIRS_ABOVE] -= 1;
  rung_comparison comparison = checked(j, RUNG_TEXTBOOK);
  assert_false(comparison.pass);
  assert_non_null(strstr(comparison.sentence, "the counts come to"));
  j->found[7] = -1;
  comparison = checked(j, RUNG_TEXTBOOK);
  assert_false(comparison.pass);
  assert_int_equal(comparison.unwritten, 1);
  drop(j);
}

/* Even bins too, and points that are no file's. */
static void knows_other_jobs(void **state) {
  (void)state;
  static const char *const lines[] = {"n=500 bins=100 box=slab",
                                      "n=300 m=200 bins=100 kind=log type=f32",
                                      "n=400 bins=100 kind=given box=tri share=0.9"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
    job *j = made(lines[i]);
    assert_true(checked(j, RUNG_TEXTBOOK).pass);
    j->found[50] += 100;
    j->found[BINS + PAIRS_ABOVE] -= 100;
    assert_false(checked(j, RUNG_TEXTBOOK).pass);
    drop(j);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lets_roundings_pass),
      cmocka_unit_test(lets_no_more_pass),
      cmocka_unit_test(knows_other_jobs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
