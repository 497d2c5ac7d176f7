/* Several launches as one record: what is joined, what the worst of them says, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/merge.h"
#include "lab/read.h"

static const char head[] =
    "{\"rung-records\":3,\"provenance\":{\"command\":\"it\"},\"rules\":{\"hot\":false,\"launches\":"
    "2}}\n";

/* The lines of a text. */
static json_t *lines_of(const char *text) {
  json_t *lines = json_array();
  for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
    json_t *line = json_loadb(at, strcspn(at, "\n"), 0, NULL);
    assert_non_null(line);
    json_array_append_new(lines, line);
  }
  return lines;
}

/* A launch of one job: its line, and of one rung the order, the verdict, bits and samples. */
typedef struct launch {
  const char *line, *free, *load, *order, *verdict, *bits, *samples, *clocks, *stop;
} launch;
static const launch usual = {.line = "n=5",
                             .free = "1 GiB",
                             .load = "\"load\":0.5",
                             .order = "canonical",
                             .verdict = "\"before\":{\"finding\":\"good\",\"worst_error\":0.25}",
                             .bits = "\"bits\":\"aa\",",
                             .samples = "1.5,2.5,3.5",
                             .clocks = "1,2,3",
                             .stop = "steady"};

static void add(char *text, size_t room, const launch *of) {
  const size_t used = strlen(text);
  snprintf(
      text + used, room - used,
      "{\"device\":{\"backend\":\"cpu\",\"name\":\"it\",\"identity\":\"it\",\"facts\":{\"free\":"
      "\"%s\",\"model\":\"m\"}}}\n"
      "{\"operation\":\"reduce\",\"job\":{\"n\":5},\"line\":\"%s\",\"type\":\"f32\",\"seed\":"
      "\"1\",\"bytes\":20.0,\"flops\":5.0,\"date\":\"d\",%s,\"candidates\":1}\n"
      "{\"rung\":\"one\",\"idea\":\"i\",\"order\":\"%s\",\"block\":64,%s,%s\"samples_ms\":[%s],"
      "\"clocks_mhz\":[%s],\"stop\":\"%s\"}\n",
      of->free, of->line, of->load, of->order, of->verdict, of->bits, of->samples, of->clocks,
      of->stop);
}

enum { TEXT = 1 << 14 };

/* What two launches make, read back: one case. */
static lab_read_case *merged_of(const launch *a, const launch *b, lab_records *records) {
  char text[TEXT];
  json_t *merged = NULL;
  rung_error error = {0};
  int kept = -1;
  snprintf(text, sizeof text, "%s", head);
  add(text, sizeof text, a);
  add(text, sizeof text, b);
  json_t *lines = lines_of(text);
  if (lab_merge(lines, 2, &merged, &kept, &error) != RUNG_OK) fail_msg("%s", error.sentence);
  assert_int_equal(kept, 0);
  char *again = lab_record_text(merged);
  *records = (lab_records){0};
  if (lab_read(records, "it", again, strlen(again), &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  assert_int_equal(records->count, 1);
  assert_int_equal(records->cases[0].count, 1);
  assert_int_equal(records->cases[0].launches, 2);
  free(again);
  json_decref(merged);
  json_decref(lines);
  return records->cases;
}

static void samples_lie_launch_by_launch(void **state) {
  (void)state;
  lab_records records;
  launch other = usual;
  other.samples = "30,10,20,40,50";
  other.clocks = "4,5,6,7,8";
  other.stop = "time-out";
  other.load = "\"load\":0.25,\"others\":0.75,\"throttled\":3";
  const lab_read_case *of = merged_of(&usual, &other, &records);
  const lab_read_candidate *c = &of->candidates[0];
  assert_true(c->good && c->count == 8 && c->launches == 2 && c->block == 64);
  static const double samples[] = {1.5, 2.5, 3.5, 30, 10, 20, 40, 50},
                      clocks[] = {1, 2, 3, 4, 5, 6, 7, 8};
  assert_memory_equal(c->samples, samples, sizeof samples);
  assert_memory_equal(c->clocks, clocks, sizeof clocks);
  assert_true(c->medians[0] == 2.5 && c->medians[1] == 30);
  assert_true(c->time.median == 16.25 && c->apart == 27.5 / 16.25);
  assert_true(c->time.min == 1.5 && c->time.max == 50 && c->time.q3 == 21.5);
  assert_string_equal(c->stop, "time-out");
  assert_string_equal(c->bits, "aa");
  assert_true(of->load == 0.5 && of->others == 0.75 && of->throttled == 3 && isnan(of->stolen));
  lab_records_free(&records);
}

/* What follows from the samples is written too, and is what reading makes of them. */
static void what_follows_is_written(void **state) {
  (void)state;
  lab_records records;
  launch other = usual;
  other.samples = "7,8,9";
  const lab_read_candidate *c = merged_of(&usual, &other, &records)->candidates;
  const json_t *line = json_array_get(records.lines, json_array_size(records.lines) - 1),
               *launches = json_object_get(line, "launches");
  assert_true(lab_read_number(launches, "median_ms") == c->time.median && c->time.median == 5.25);
  assert_true(fabs(lab_read_number(launches, "spread") - c->apart) < 1e-14);
  assert_true(json_is_null(json_object_get(launches, "low_ms"))); /* of two */
  assert_int_equal(json_array_size(json_object_get(launches, "samples")), 2);
  lab_records_free(&records);
}

static void the_worst_launch_is_the_verdict(void **state) {
  (void)state;
  static const struct {
    const char *verdict, *finding, *sentence, *samples;
  } bad[] = {
      {"\"before\":{\"finding\":\"wrong\",\"sentence\":\"it is off\"}", "wrong",
       "launch 2 of 2: it is off", ""},
      {"\"before\":{\"finding\":\"good\"},\"after\":{\"finding\":\"too-fast\",\"sentence\":\"no\"}",
       "too-fast", "launch 2 of 2: no", "1,2,3"},
      {"\"before\":{\"finding\":\"unsupported\",\"sentence\":\"no such\"}", "unsupported",
       "launch 2 of 2: no such", ""},
      {"\"before\":{\"finding\":\"launch-failed\"}", "launch-failed", "launch 2 of 2: ", ""}};
  for (size_t b = 0; b < sizeof bad / sizeof *bad; ++b) {
    lab_records records;
    launch other = usual;
    other.verdict = bad[b].verdict;
    other.samples = bad[b].samples;
    other.clocks = bad[b].samples[0] ? "1,2,3" : "";
    other.bits = "";
    const lab_read_candidate *c = merged_of(&usual, &other, &records)->candidates;
    assert_string_equal(c->finding, bad[b].finding);
    assert_string_equal(c->sentence, bad[b].sentence);
    assert_true(!c->good && !c->bits);
    lab_records_free(&records);
  }
  /* What no launch supports is as it is. */
  lab_records records;
  launch none = usual;
  none.verdict = bad[2].verdict;
  none.samples = none.clocks = none.bits = "";
  none.stop = "refused";
  const lab_read_candidate *c = merged_of(&none, &none, &records)->candidates;
  assert_string_equal(c->sentence, "no such");
  assert_string_equal(c->stop, "refused");
  assert_true(c->launches == 0 && isnan(c->apart));
  lab_records_free(&records);
}

static void canonical_bits_are_the_same_in_all(void **state) {
  (void)state;
  lab_records records;
  launch other = usual;
  other.bits = "\"bits\":\"bb\",";
  const lab_read_candidate *c = merged_of(&usual, &other, &records)->candidates;
  assert_string_equal(c->finding, "wrong");
  assert_string_equal(c->sentence, "launch 2 of 2 has other bits than launch 1: bb, not aa");
  assert_true(!c->good && !c->bits && c->count == 6);
  lab_records_free(&records);
  other.bits = ""; /* not known: before and after were not the same */
  c = merged_of(&usual, &other, &records)->candidates;
  assert_true(c->good && !c->bits);
  lab_records_free(&records);
  launch loose = usual;
  loose.order = other.order = "textbook";
  other.bits = "\"bits\":\"bb\",";
  c = merged_of(&loose, &other, &records)->candidates;
  assert_true(c->good && !c->bits);
  lab_records_free(&records);
}

/* Four launches of a job that was asked for twice, two of another with launches of its own. */
static void jobs_are_told_apart(void **state) {
  (void)state;
  char text[TEXT];
  rung_error error = {0};
  launch of = usual;
  int kept;
  snprintf(text, sizeof text, "%s", head);
  for (int i = 0; i < 4; ++i) {
    char samples[8], line[8];
    snprintf(samples, sizeof samples, "%d", i + 1);
    of.samples = samples;
    of.clocks = "0";
    of.free = i % 2 ? "2 GiB" : "1 GiB";
    add(text, sizeof text, &of);
    snprintf(line, sizeof line, "n=%d", 7);
    launch seven = of;
    seven.line = line;
    if (i % 2 == 0) add(text, sizeof text, &seven);
  }
  json_t *lines = lines_of(text), *merged, *twice;
  assert_int_equal(lab_merge(lines, 2, &merged, &kept, &error), RUNG_OK);
  lab_records records = {0};
  char *again = lab_record_text(merged);
  assert_int_equal(lab_read(&records, "it", again, strlen(again), &error), RUNG_OK);
  assert_int_equal(records.count, 3);
  static const double wanted[][2] = {{1, 3}, {2, 4}, {1, 3}};
  for (int i = 0; i < 3; ++i)
    assert_memory_equal(records.cases[i].candidates[0].samples, wanted[i], sizeof wanted[i]);
  assert_string_equal(records.cases[2].line, "n=7");
  /* The device once; what is free is the last launch's, of the second job a fact of its own. */
  assert_string_equal(lab_read_text(json_object_get(records.cases[0].device, "facts"), "free"),
                      "1 GiB");
  assert_string_equal(lab_read_text(records.cases[1].facts, "free"), "2 GiB");
  assert_null(json_object_get(records.cases[1].facts, "model"));
  /* Once more, with launches that are to come: what was merged stays, and comes first. */
  assert_int_equal(lab_merge(merged, 2, &twice, &kept, &error), RUNG_OK);
  assert_int_equal(kept, 3);
  assert_true(json_equal(merged, twice));
  json_decref(twice);
  json_array_extend(merged, lines);
  assert_int_equal(lab_merge(merged, 2, &twice, &kept, &error), RUNG_OK);
  assert_int_equal(kept, 3);
  json_decref(twice);
  free(again);
  lab_records_free(&records);
  json_decref(merged);
  json_decref(lines);
}

static void what_does_not_go_together_is_refused(void **state) {
  (void)state;
  char text[TEXT];
  rung_error error = {0};
  json_t *merged;
  int kept;
  launch other = usual;
  snprintf(text, sizeof text, "%s", head);
  add(text, sizeof text, &usual);
  json_t *lines = lines_of(text);
  assert_int_equal(lab_merge(lines, 2, &merged, &kept, &error), RUNG_BAD_FILE);
  assert_null(merged);
  assert_non_null(strstr(error.sentence, "reduce \"n=5\" has 1 launches; expected: 2"));
  json_decref(lines);
  other.order = "textbook";
  add(text, sizeof text, &other);
  lines = lines_of(text);
  error = (rung_error){0};
  assert_int_equal(lab_merge(lines, 2, &merged, &kept, &error), RUNG_BAD_FILE);
  assert_non_null(strstr(error.sentence, "have not the same rungs"));
  json_decref(lines);
}

/* Every stage of whole jobs, too. */
static void stages_are_joined(void **state) {
  (void)state;
  static const char stages[] =
      "\"stages_ms\":{\"copy_in\":[1,2,3],\"clear_fill\":[4,5,6],\"clear_copy\":[7,8,9],"
      "\"kernel\":[1,1,2],\"copy_out\":[3,3,3]},";
  lab_records records;
  launch one = usual, other = usual;
  char more[512];
  snprintf(more, sizeof more, "%s", stages);
  memcpy(strstr(more, "[1,2,3]"), "[9,8,7]", 7);
  one.bits = stages;
  other.bits = more;
  const lab_read_candidate *c = merged_of(&one, &other, &records)->candidates;
  assert_true(c->stages[LAB_COPY_IN] == 5 && c->stages[LAB_KERNEL] == 1); /* of 2, 8 and 1, 1 */
  lab_records_free(&records);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_lie_launch_by_launch),
      cmocka_unit_test(what_follows_is_written),
      cmocka_unit_test(the_worst_launch_is_the_verdict),
      cmocka_unit_test(canonical_bits_are_the_same_in_all),
      cmocka_unit_test(jobs_are_told_apart),
      cmocka_unit_test(what_does_not_go_together_is_refused),
      cmocka_unit_test(stages_are_joined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
