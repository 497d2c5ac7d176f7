/* Timelines: what can be said of blocks' times, and times fetched from a GPU, simulated or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"

/* ---- figures -------------------------------------------------------------------------------- */

static lab_timeline_figures look(rung_block_time *blocks, int64_t count) {
  lab_timeline_figures figures;
  rung_error error = {0};
  const lab_timeline timeline = {blocks, count};
  assert_int_equal(lab_timeline_look(&timeline, &figures, &error), RUNG_OK);
  return figures;
}

static void one_block(void **state) {
  (void)state;
  const lab_timeline_figures f = look((rung_block_time[]){{500, 532, 7}}, 1);
  assert_int_equal(f.first, 500);
  assert_int_equal(f.span, 32);
  assert_int_equal(f.tick, 32);
  assert_int_equal(f.at_once, 1);
  assert_int_equal(f.processors, 1);
  assert_int_equal(f.least, 1);
  assert_int_equal(f.most, 1);
  assert_true(f.lasted.median == 32);
}

static void blocks_in_turn_and_at_once(void **state) {
  (void)state;
  /* Processor 3 runs two in turn, the second starting as the first ends; 9 runs three at once. */
  rung_block_time blocks[] = {{1064, 1128, 3}, {1000, 1064, 3}, {1032, 1192, 9},
                              {1032, 1096, 9}, {1032, 1096, 9}, {1320, 1320, 4}};
  const lab_timeline_figures f = look(blocks, 6);
  assert_int_equal(f.first, 1000);
  assert_int_equal(f.span, 320);
  assert_int_equal(f.tick, 32);
  assert_int_equal(f.at_once, 4);
  assert_int_equal(f.processors, 3);
  assert_int_equal(f.least, 1);
  assert_int_equal(f.most, 3);
  assert_true(f.lasted.min == 0 && f.lasted.max == 160 && f.lasted.median == 64);
}

static void all_at_the_same_moment(void **state) {
  (void)state;
  rung_block_time blocks[] = {{10, 10, 0}, {10, 10, 1}};
  const lab_timeline_figures f = look(blocks, 2);
  assert_int_equal(f.span, 0);
  assert_int_equal(f.tick, 0);
  assert_int_equal(f.processors, 2);
}

/* ---- places, and a schedule ----------------------------------------------------------------- */

static void places_do_not_overlap(void **state) {
  (void)state;
  rung_block_time blocks[] = {{10, 30, 1}, {0, 20, 1}, {20, 40, 1}, {5, 50, 2},
                              {30, 35, 1}, {0, 60, 1}, {40, 40, 1}};
  const lab_timeline timeline = {blocks, 7};
  int64_t *places = lab_timeline_places(&timeline);
  const int64_t wanted[] = {2, 0, 0, 0, 2, 1, 0};
  assert_non_null(places);
  for (int i = 0; i < 7; ++i) assert_int_equal(places[i], wanted[i]);
  free(places);
}

static void a_schedule_is_decided(void **state) {
  (void)state;
  /* Two multiprocessors of two places: 0 1 0 1, then where it is free first. */
  rung_block_time blocks[] = {{7, 17, 5}, {0, 4, 5}, {9, 15, 6}, {1, 9, 6}, {2, 5, 6}, {3, 6, 6}};
  lab_timeline timeline = {blocks, 6};
  rung_error error = {0};
  assert_int_equal(lab_timeline_schedule(&timeline, 2, 2, &error), RUNG_OK);
  const rung_block_time wanted[] = {{0, 10, 0}, {0, 4, 1}, {0, 6, 0},
                                    {0, 8, 1},  {4, 7, 1}, {6, 9, 0}};
  for (int i = 0; i < 6; ++i) {
    assert_int_equal(blocks[i].start, wanted[i].start);
    assert_int_equal(blocks[i].end, wanted[i].end);
    assert_int_equal(blocks[i].processor, wanted[i].processor);
  }
  assert_int_equal(lab_timeline_schedule(&timeline, 1000, 32, &error), RUNG_OK);
  for (int i = 0; i < 6; ++i) assert_int_equal(blocks[i].processor, i);
}

/* ---- on the simulated GPU, and on a real one --------------------------------------------------
 */

static rung_context *on_sim, *on_gpu; /* NULL: not in this build, or not here */

static rung_row row_of(const char *name) {
  const rung_operation *operation = rung_operation_named("reduce");
  for (int i = 0; i < operation->count; ++i)
    if (operation->rows[i].family == RUNG_ON_GPU && strcmp(operation->rows[i].name, name) == 0)
      return operation->rows[i];
  fail_msg("reduce has no rung %s", name);
  return operation->rows[0];
}

static rung_status try(rung_context *context, const rung_row *row, const char *line, int block,
                       lab_timeline *timeline, lab_verdict *verdict, rung_error *error) {
  const rung_cases *cases = rung_cases_of(rung_operation_named("reduce"));
  rung_case test_case;
  if (!context) skip();
  assert_int_equal(cases->make(line, 5, &test_case, error), RUNG_OK);
  assert_int_equal(cases->expect(&test_case, error), RUNG_OK);
  const rung_status status =
      lab_timeline_of(context, &test_case, row, block, timeline, verdict, error);
  cases->drop(&test_case);
  return status;
}

/* Fewer blocks than multiprocessors, as many, and more. */
static void every_block_is_there(rung_context *context) {
  const rung_row timed = row_of("timed");
  const int processors = context ? context->device.processors : 0;
  const int counts[] = {1, processors - 1, processors, processors + 1, 16 * processors + 3};
  for (int k = 0; k < 5; ++k) {
    char line[64];
    lab_timeline timeline;
    lab_verdict verdict;
    rung_error error = {0};
    snprintf(line, sizeof line, "n=128 op=min outer=%d", counts[k]);
    if (try(context, &timed, line, k % 2 ? 32 : 0, &timeline, &verdict, &error) != RUNG_OK)
      fail_msg("%s", error.sentence);
    if (verdict.finding != LAB_GOOD) fail_msg("%s", verdict.sentence);
    assert_int_equal(timeline.count, counts[k]);
    for (int64_t i = 0; i < timeline.count; ++i) {
      assert_true(timeline.blocks[i].end >= timeline.blocks[i].start);
      assert_true(timeline.blocks[i].processor < (uint64_t)processors);
    }
    const lab_timeline_figures f = look(timeline.blocks, timeline.count);
    assert_true(f.span > 0 && f.at_once >= 1 && f.processors >= 1);
    assert_true(f.least * f.processors <= timeline.count);
    assert_true(f.most * f.processors >= timeline.count);
    lab_timeline_free(&timeline);
  }
}

static void every_block_is_there_on_sim(void **state) {
  (void)state;
  if (!on_sim) skip();
  every_block_is_there(on_sim);
}

static void every_block_is_there_on_cuda(void **state) {
  (void)state;
  if (!on_gpu) skip();
  every_block_is_there(on_gpu);
}

static int64_t three(const rung_task *task) {
  (void)task;
  return 3;
}

static size_t three_times(const rung_task *task) {
  (void)task;
  return 3 * sizeof(rung_block_time);
}

/* A row that promises times and writes none, or has none to write. */
static void what_was_not_written_is_seen(void **state) {
  (void)state;
  rung_row row = row_of("shuffle");
  lab_timeline timeline;
  lab_verdict verdict;
  rung_error error = {0};
  assert_int_equal(try(on_sim, &row, "n=100", 0, &timeline, &verdict, &error), RUNG_UNSUPPORTED);
  assert_non_null(strstr(error.sentence, "do not write down when they ran"));
  row.block_times = three;
  row.scratch_bytes = three_times;
  assert_int_equal(try(on_sim, &row, "n=100", 0, &timeline, &verdict, &error), RUNG_OK);
  assert_int_equal(verdict.finding, LAB_UNWRITTEN);
  assert_non_null(strstr(verdict.sentence, "block 0 of 3 did not write its times"));
  assert_null(timeline.blocks);
}

static void what_cannot_run_is_a_finding(void **state) {
  (void)state;
  const rung_row timed = row_of("timed");
  lab_timeline timeline;
  lab_verdict verdict;
  rung_error error = {0};
  assert_int_equal(try(on_sim, &timed, "n=40000", 0, &timeline, &verdict, &error), RUNG_OK);
  assert_int_equal(verdict.finding, LAB_UNSUPPORTED);
  assert_null(timeline.blocks);
}

static rung_context *opened(const char *device) {
  rung_context *context;
  if (rung_open(&context, &(rung_options){.device = device}) == RUNG_OK) return context;
  rung_close(context);
  return NULL;
}

static int open_all(void **state) {
  (void)state;
  on_sim = opened("sim");
  on_gpu = opened("cuda");
  return 0;
}

static int close_all(void **state) {
  (void)state;
  rung_close(on_sim);
  rung_close(on_gpu);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_block),
      cmocka_unit_test(blocks_in_turn_and_at_once),
      cmocka_unit_test(all_at_the_same_moment),
      cmocka_unit_test(places_do_not_overlap),
      cmocka_unit_test(a_schedule_is_decided),
      cmocka_unit_test(every_block_is_there_on_sim),
      cmocka_unit_test(every_block_is_there_on_cuda),
      cmocka_unit_test(what_was_not_written_is_seen),
      cmocka_unit_test(what_cannot_run_is_a_finding),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
