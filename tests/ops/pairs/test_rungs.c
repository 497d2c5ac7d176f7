/* Every CPU rung on every instruction set of this machine, with 1, 2 and 5 threads, on the cases'
 * lines; that 32-bit counters are added up in time; and that a wrong result is seen to be wrong. */
#include "ops/pairs/lab/cases.h"
#include "ops/pairs/outside.h"
#include "ops/rungs.h"

static void passes_its_cases(void **state) {
  (void)state;
  verify_lines(&pairs_cases);
}

/* Enough pairs for many chunks a thread, with little room in the counters. */
static void adds_up_in_time(void **state) {
  (void)state;
  verify_line(&pairs_cases, "n=2500 bins=8 flush=10000 data=equal");
  verify_line(&pairs_cases, "n=2000 m=700 bins=90 flush=5000 type=f32");
  verify_line(&pairs_cases, "n=3000 bins=50 share=0.05 box=cube flush=500");
  verify_line(&pairs_cases, "n=3000 bins=50 share=0.05 flush=500 data=equal");
}

/* All spaces, kinds of bins and sets are among the cases' lines, and cut-offs of few cells and of
 * many. */
static void tries_everything(void **state) {
  (void)state;
  int seen[PAIRS_SPACES][2][2][2] = {{{{0}}}}, types[RUNG_DTYPES] = {0}, sums = 0, molecules = 0;
  int searched = 0, cut = 0;
  const char *line;
  for (int i = 0; (line = rung_cases_line(&pairs_cases, i, NULL)) != NULL; ++i) {
    rung_case test_case;
    rung_error error = {0};
    if (pairs_cases.make(line, 1, &test_case, &error) != RUNG_OK)
      fail_msg("%s: %s", line, error.sentence);
    const pairs_problem *p = &((const pairs_case *)test_case.problem)->problem;
    seen[p->box.space][p->even][p->cross][p->dtype == RUNG_F32] += 1;
    types[p->dtype] += 1;
    sums += p->weighted;
    molecules += p->excluding;
    searched += p->box.space == PAIRS_TRICLINIC && p->box.nears > 1;
    cut += p->box.space != PAIRS_OPEN && p->last < p->box.reach / 5;
    assert_int_equal(((const pairs_case *)test_case.problem)->judging, PAIRS_WHOLE);
    pairs_cases.drop(&test_case);
  }
  for (int space = 0; space < PAIRS_SPACES; ++space)
    for (int even = 0; even < 2; ++even)
      for (int cross = 0; cross < 2; ++cross)
        if (seen[space][even][cross][0] + seen[space][even][cross][1] == 0)
          fail_msg("no line of space %d, even %d, cross %d", space, even, cross);
  assert_true(types[RUNG_F32] > 5 && types[RUNG_F64] > 5 && sums > 5 && molecules > 5);
  assert_true(searched > 3 && cut > 8);
}

static void sees_one_wrong_result(void **state) {
  (void)state;
  static const struct {
    const char *line;
    int output;
    int64_t at, add;
    const char *part;
  } cases[] = {
      {"n=100 bins=10", 0, 9, 1, "bin 9"},
      {"n=100 bins=10 box=cube", 0, 3, -1, "the counts come to 4949 of 4950 pairs"},
      {"n=100 bins=10 box=skew", 1, PAIRS_ABOVE, 1, "pairs above"},
      {"n=100 bins=10 data=special", 1, PAIRS_NAN, 2, "pairs at no distance"},
      {"n=0 bins=10", 0, 0, -1, "not written"},
      {"n=100 bins=10 weights=1", 2, 4, 1, "the sum of bin 4"},
      {"n=100 bins=10 judged=totals", 0, 4, 1, "the counts come to 4951 pairs, and there are 4950"},
      {"n=100 bins=10 judged=totals", 1, PAIRS_BELOW, -1, "not written"},
      {"n=100 m=7 molecules=3 bins=10 judged=totals", 0, 4, 701, "there are 700"},
  };
  rung_context *context = open_on("cpu");
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    rung_case test_case;
    rung_comparison comparison;
    static int64_t results[3][1000];
    static char scratch[100000];
    assert_int_equal(pairs_cases.make(cases[c].line, 1, &test_case, NULL), RUNG_OK);
    assert_int_equal(pairs_cases.expect(&test_case, NULL), RUNG_OK);
    rung_task task = {.problem = test_case.problem, .device = &context->device, .scratch = scratch};
    memcpy(task.arrays, test_case.arrays, sizeof task.arrays);
    for (int k = 0; k < 3; ++k) task.arrays[PAIRS_COUNTS + k].data = (char *)results[k];
    const rung_row *serial = &pairs_operation.rows[0];
    assert_string_equal(serial->name, "serial");
    assert_true(rung_row_needs(serial, &task).scratch <= sizeof scratch);
    assert_int_equal(rung_row_launch(serial, &context->device)(&task), RUNG_OK);
    pairs_cases.check(&test_case, &(rung_row){.name = "", .order = RUNG_CANONICAL},
                      &task.arrays[PAIRS_COUNTS], &comparison);
    assert_true(comparison.pass);
    results[cases[c].output][cases[c].at] += cases[c].add; /* of a sum: its last place */
    pairs_cases.check(&test_case, &(rung_row){.name = "", .order = RUNG_CANONICAL},
                      &task.arrays[PAIRS_COUNTS], &comparison);
    if (comparison.pass || comparison.wrong != 1 ||
        strstr(comparison.sentence, cases[c].part) == NULL)
      fail_msg("%s: \"%s\" does not say \"%s\"", cases[c].line, comparison.sentence, cases[c].part);
    pairs_cases.drop(&test_case);
  }
  rung_close(context);
}

/* Jobs too large for all pairs are checked by a grid, which finds what all pairs find. */
static void the_grid_is_right(void **state) {
  (void)state;
  static const char *const lines[] = {
      "n=500 bins=10 share=0.1",
      "n=300 m=500 bins=10 share=0.07 type=f32 box=slab",
      "n=500 bins=20 share=0.2 box=cube kind=log",
      "n=500 bins=20 share=0.3 box=cube data=lattice",
      "n=500 bins=20 share=0.1 box=cube data=special",
      "n=500 bins=20 share=0.01 data=special kind=given",
      "n=500 m=300 bins=20 share=0.1 data=huge type=f32 box=cube",
  };
  for (size_t k = 0; k < sizeof lines / sizeof *lines; ++k) {
    rung_case test_case;
    rung_error error = {0};
    int64_t all[64] = {0}, grid[64] = {0};
    if (pairs_cases.make(lines[k], 3, &test_case, &error) != RUNG_OK)
      fail_msg("%s", error.sentence);
    const pairs_problem *p = &((const pairs_case *)test_case.problem)->problem;
    assert_true(pairs_reference(p, test_case.arrays, all, NULL));
    assert_true(pairs_reference_grid(p, test_case.arrays, grid));
    for (int b = 0; b < p->bins + PAIRS_OUTER; ++b)
      if (all[b] != grid[b])
        fail_msg("%s: slot %d is %" PRId64 ", not %" PRId64, lines[k], b, grid[b], all[b]);
    pairs_cases.drop(&test_case);
  }
}

/* What large cases are checked by is said where it is not everything. */
static void says_how_it_judges(void **state) {
  (void)state;
  static const struct {
    const char *line;
    bool totals;
  } cases[] = {{"n=100000 bins=80 width=500 data=report", false},
               {"n=100000 bins=81 width=500 data=report", true},
               {"n=200000 bins=20 width=0.2 box=cube", false},
               {"n=20000", false},
               {"n=50000", true},
               {"n=50000 box=tri", true}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    rung_case test_case;
    assert_int_equal(pairs_cases.make(cases[k].line, 1, &test_case, NULL), RUNG_OK);
    if ((strstr(test_case.label, "judged=totals") != NULL) != cases[k].totals)
      fail_msg("%s: %s", cases[k].line, test_case.label);
    rung_case again; /* a label is a line */
    assert_int_equal(pairs_cases.make(test_case.label, 1, &again, NULL), RUNG_OK);
    assert_string_equal(again.label, test_case.label);
    pairs_cases.drop(&again);
    pairs_cases.drop(&test_case);
  }
}

static void refuses_lines_it_cannot_make(void **state) {
  (void)state;
  static const char *const lines[] = {"n=-1",
                                      "m=-1",
                                      "n=2147483648",
                                      "bins=0",
                                      "bins=1048577",
                                      "kind=odd",
                                      "type=i32",
                                      "box=round",
                                      "data=nice",
                                      "width=-1",
                                      "weights=2",
                                      "molecules=-1",
                                      "flush=0",
                                      "share=0",
                                      "judged=not",
                                      "box=cube share=1.01",
                                      "kind=log width=1",
                                      "box=tri width=1000",
                                      "rows=3"};
  refuse_lines(&pairs_cases, lines, sizeof lines / sizeof *lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_its_cases),
                                     cmocka_unit_test(adds_up_in_time),
                                     cmocka_unit_test(tries_everything),
                                     cmocka_unit_test(sees_one_wrong_result),
                                     cmocka_unit_test(the_grid_is_right),
                                     cmocka_unit_test(says_how_it_judges),
                                     cmocka_unit_test(refuses_lines_it_cannot_make)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
