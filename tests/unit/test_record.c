/* Records: everything that went in comes out under its own name, and files are whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cheats/copycat.h"
#include "cheats/fake.h"
#include "lab/json.h"
#include "lab/read.h"

/* Every number differs from every other, so that no two columns can be swapped unseen. */
static double samples[] = {1.25, 2.5, 3.75}, clocks[] = {1001, 1002, 1003};
static const rung_row row = {.name = "a rung",
                             .idea = "an idea",
                             .order = RUNG_TEXTBOOK,
                             .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE)};

static lab_candidate candidate_of(void) {
  lab_candidate candidate = {
      .row = &row,
      .block = 96,
      .before = {.finding = LAB_GOOD, .comparison = {.pass = true, .worst = 0.5, .bound = 0.75}},
      .after = {.finding = LAB_WRONG_LATER,
                .comparison = {.worst = 8.5, .bound = 0.25, .wrong = 7, .different = 9},
                .sentence = "a \"sentence\""},
      .samples = samples,
      .clocks = clocks,
      .count = 3,
      .stop = LAB_TIME_OUT};
  return candidate;
}

/* The lines of one job with one candidate. */
static json_t *lines_of(fake *device, const lab_candidate *candidate, const lab_peaks *peaks) {
  lab_candidate copy = *candidate;
  lab_bench bench = {.context = &device->context,
                     .test_case = {.operation = &copycat_operation,
                                   .label = "n=3 width=0.1 type=f32",
                                   .seed = 0x8123456789abcdefu,
                                   .types = RUNG_ALIKE(RUNG_F32),
                                   .bytes = 3e6,
                                   .flops = 5e6},
                     .candidates = &copy,
                     .count = 1,
                     .rules = {11, 101, 0.01, 9.5, true, 0x8123456789abcdeeu}};
  if (peaks) bench.peaks = *peaks;
  if (peaks) bench.limit = lab_limit_of(peaks, &bench.test_case, &device->context.device, true);
  json_t *lines = json_array();
  assert_int_equal(lab_record_add(lines, &bench, "rung bench copycat", NULL), RUNG_OK);
  return lines;
}

static const json_t *line_of(const json_t *lines, const char *key) {
  size_t i;
  json_t *line;
  json_array_foreach((json_t *)lines, i, line) if (json_object_get(line, key)) return line;
  fail_msg("no line has a %s", key);
  return NULL;
}

static double number_at(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static void assert_text(const json_t *object, const char *key, const char *text) {
  const char *found = json_string_value(json_object_get(object, key));
  assert_non_null(found);
  assert_string_equal(found, text);
}

static void no_columns_are_swapped(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  const lab_candidate candidate = candidate_of();
  const lab_peaks peaks = {.levels = 2,
                           .bandwidth = {{110, 220, 330}, {100, 200, 300}},
                           .fma32 = 400,
                           .fma64 = 500,
                           .mma64 = 600,
                           .conditions = {.date = 1800000000, .load = 0.25},
                           .kept = true};
  json_t *lines = lines_of(&device, &candidate, &peaks);
  const json_t *record = line_of(lines, "operation"), *found = line_of(lines, "rung");
  assert_text(found, "rung", "a rung");
  assert_text(found, "idea", "an idea");
  assert_text(found, "order", "textbook");
  assert_text(found, "stop", "time-out");
  assert_true(number_at(found, "block") == 96);
  const json_t *before = json_object_get(found, "before"), *after = json_object_get(found, "after");
  assert_text(before, "finding", "good");
  assert_true(number_at(before, "worst_error") == 0.5 && number_at(before, "error_bound") == 0.75);
  assert_text(after, "finding", "wrong-later");
  assert_text(after, "sentence", "a \"sentence\"");
  assert_true(number_at(after, "worst_error") == 8.5 && number_at(after, "error_bound") == 0.25 &&
              number_at(after, "wrong") == 7 && number_at(after, "different") == 9);
  const json_t *ms = json_object_get(found, "samples_ms"),
               *mhz = json_object_get(found, "clocks_mhz");
  assert_int_equal(json_array_size(ms), 3);
  assert_int_equal(json_array_size(mhz), 3);
  for (size_t i = 0; i < 3; ++i) {
    assert_true(json_number_value(json_array_get(ms, i)) == samples[i]);
    assert_true(json_number_value(json_array_get(mhz, i)) == clocks[i]);
  }
  const json_t *kept = json_object_get(line_of(lines, "peaks"), "peaks"),
               *levels = json_object_get(kept, "levels"), *cache = json_array_get(levels, 0),
               *memory = json_array_get(levels, 1);
  assert_int_equal(json_array_size(levels), 2);
  assert_text(cache, "level", "L2");
  assert_text(memory, "level", "memory");
  assert_true(number_at(cache, "bytes") == 6000000);
  assert_true(number_at(cache, "read_gb_per_s") == 110 &&
              number_at(cache, "write_gb_per_s") == 220 &&
              number_at(cache, "copy_gb_per_s") == 330);
  assert_true(number_at(memory, "read_gb_per_s") == 100 &&
              number_at(memory, "write_gb_per_s") == 200 &&
              number_at(memory, "copy_gb_per_s") == 300);
  assert_true(number_at(kept, "fma32_g_per_s") == 400 && number_at(kept, "fma64_g_per_s") == 500 &&
              number_at(kept, "mma64_g_per_s") == 600);
  assert_text(kept, "date", "2027-01-15T08:00:00Z");
  assert_true(number_at(kept, "load") == 0.25 && json_is_true(json_object_get(kept, "kept")));
  assert_text(record, "peak_bound", "read");
  assert_text(record, "peak_level", "L2"); /* hot, and 3 MB */
  assert_text(record, "caches", "hot");
  assert_true(number_at(record, "peak_ms") == 3e6 / 110 * 1e-6);
  json_decref(lines);
}

static void says_where_it_comes_from(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  const lab_candidate candidate = candidate_of();
  json_t *lines = lines_of(&device, &candidate, NULL);
  assert_int_equal(json_array_size(lines), 4);
  const json_t *head = json_array_get(lines, 0), *test_case = line_of(lines, "operation"),
               *rules = json_object_get(head, "rules"), *job = json_object_get(test_case, "job");
  assert_true(number_at(head, "rung-records") == LAB_RECORD_VERSION);
  assert_text(test_case, "operation", "copycat");
  assert_null(json_object_get(test_case, "peak_ms")); /* none were given */
  assert_true(number_at(test_case, "candidates") == 1);
  assert_true(json_is_integer(json_object_get(job, "n")) && number_at(job, "n") == 3);
  assert_true(number_at(job, "width") == 0.1);
  assert_text(job, "type", "f32");
  assert_text(test_case, "type", "f32");
  assert_text(test_case, "seed", "9305357566071262703"); /* all 64 bits */
  assert_true(number_at(test_case, "bytes") == 3e6 && number_at(test_case, "flops") == 5e6);
  assert_text(rules, "seed", "9305357566071262702");
  assert_true(number_at(rules, "least") == 11 && number_at(rules, "most") == 101 &&
              number_at(rules, "spread") == 0.01 && number_at(rules, "seconds") == 9.5);
  assert_true(json_is_true(json_object_get(rules, "hot")));
  const json_t *from = json_object_get(head, "provenance");
  static const char *const keys[] = {"command", "version", "commit", "compiler", "flags",  "cuda",
                                     "build",   "host",    "system", "kernel",   "machine"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    assert_true(json_is_string(json_object_get(from, keys[i])));
  assert_text(from, "command", "rung bench copycat");
  assert_text(from, "version", RUNG_VERSION);
  int year, month, day, hour, minute, second, length = 0;
  const char *date = json_string_value(json_object_get(test_case, "date"));
  assert_int_equal(sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute,
                          &second, &length),
                   6);
  assert_int_equal(length, strlen(date));
  const json_t *on = json_object_get(line_of(lines, "device"), "device");
  assert_text(on, "backend", "fake");
  assert_text(on, "name", "a fake");
  assert_text(on, "identity", "fake-0");
  assert_text(json_object_get(on, "facts"), "made of", "imagination");
  json_decref(lines);
}

/* JSON has no NaN: it must come out as null, and not cost the record. */
static void what_is_no_number_is_null(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_candidate candidate = candidate_of();
  candidate.count = 0;
  candidate.samples = candidate.clocks = NULL;
  candidate.before.comparison.worst = NAN;
  candidate.before.comparison.bound = INFINITY;
  json_t *lines = lines_of(&device, &candidate, NULL);
  const json_t *found = line_of(lines, "rung");
  assert_true(json_is_null(json_object_get(json_object_get(found, "before"), "worst_error")));
  assert_int_equal(json_array_size(json_object_get(found, "samples_ms")), 0);
  json_decref(lines);
}

static void names_that_are_no_text_cost_nothing(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  strcpy(device.context.device.name, "\xff\xfe");
  const lab_candidate candidate = candidate_of();
  json_t *lines = lines_of(&device, &candidate, NULL);
  assert_text(json_object_get(line_of(lines, "device"), "device"), "name", "\\xff\\xfe");
  json_decref(lines);
}

/* ---- files -------------------------------------------------------------------------------- */

static int files_in(const char *directory) {
  int count = 0;
  DIR *open = opendir(directory);
  assert_non_null(open);
  while (readdir(open)) count += 1;
  closedir(open);
  return count - 2;
}

static const char *file_text(const char *path, char text[64]) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, 63, file)] = '\0';
  fclose(file);
  return text;
}

static void files_are_replaced_whole(void **state) {
  (void)state;
  char directory[] = "/tmp/rung-test-record-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/r.json", directory);
  rung_error error = {0};
  json_t *records = json_array();
  for (int i = 1; i <= 2; ++i) {
    json_array_append_new(records, lab_object("{s:i}", "line", i));
    assert_int_equal(lab_record_write(path, records, &error), RUNG_OK);
    char text[64];
    assert_string_equal(file_text(path, text),
                        i == 1 ? "{\"line\":1}\n" : "{\"line\":1}\n{\"line\":2}\n");
  }
  assert_int_equal(files_in(directory), 1); /* nothing left beside it */
  unlink(path);
  assert_int_equal(rmdir(directory), 0);
  json_decref(records);
}

static void a_failure_leaves_nothing_behind(void **state) {
  (void)state;
  char directory[] = "/tmp/rung-test-record-XXXXXX", path[64], in_the_way[64];
  assert_non_null(mkdtemp(directory));
  rung_error error = {0};
  json_t *records = json_array();
  snprintf(path, sizeof path, "%s/none/r.json", directory);
  assert_int_equal(lab_record_write(path, records, &error), RUNG_FILE_FAILED);
  assert_non_null(strstr(error.sentence, path));
  assert_non_null(strstr(error.sentence, "No such file"));
  /* A directory in its place: written beside it, not to be renamed. */
  snprintf(in_the_way, sizeof in_the_way, "%s/x", directory);
  assert_int_equal(rename(mkdtemp((char[]){"/tmp/rung-test-record-XXXXXX"}), in_the_way), 0);
  assert_int_equal(lab_record_write(in_the_way, records, &error), RUNG_FILE_FAILED);
  assert_int_equal(files_in(directory), 1);
  rmdir(in_the_way);
  assert_int_equal(rmdir(directory), 0);
  json_decref(records);
}

/* A limit on the size of files stands for a disk that is full. */
static void a_full_disk_leaves_the_old_file(void **state) {
  (void)state;
  char directory[] = "/tmp/rung-test-record-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/r.json", directory);
  rung_error error = {0};
  json_t *records = json_array();
  assert_int_equal(lab_record_write(path, records, &error), RUNG_OK);
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {64, before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 100; ++i) json_array_append_new(records, json_object());
  const rung_status status = lab_record_write(path, records, &error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, RUNG_FILE_FAILED);
  char text[64];
  assert_string_equal(file_text(path, text), ""); /* the old one */
  assert_int_equal(files_in(directory), 1);
  unlink(path);
  assert_int_equal(rmdir(directory), 0);
  json_decref(records);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* What is written is read. */
static void what_is_written_is_read(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_candidate candidate = candidate_of();
  const lab_peaks peaks = {.levels = 1, .bandwidth = {{100, 200, 300}}, .fma32 = 1, .fma64 = 1};
  json_t *lines = lines_of(&device, &candidate, &peaks);
  char *text = lab_record_text(lines);
  lab_records records = {0};
  assert_int_equal(lab_read(&records, "it", text, strlen(text), NULL), RUNG_OK);
  assert_int_equal(records.count, 1);
  const lab_read_case *of = &records.cases[0];
  assert_string_equal(of->label, "n=3 width=0.1 type=f32");
  assert_string_equal(of->operation, "copycat");
  assert_true(of->hot && of->bytes == 3e6 && of->flops == 5e6 && of->peak_ms > 0);
  assert_string_equal(lab_read_text(of->device, "name"), "a fake");
  assert_int_equal(of->count, 1);
  const lab_read_candidate *found = &of->candidates[0];
  assert_string_equal(found->rung, "a rung");
  assert_string_equal(found->finding, "wrong-later");
  assert_false(found->good);
  assert_null(found->bits);
  assert_true(found->block == 96 && found->count == 3 && found->time.median == 2.5 &&
              found->clock.median == 1002);
  lab_records_free(&records);
  free(text);
  json_decref(lines);
}

/* A second bench of the same run says only what is new. */
static void nothing_is_said_twice(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_candidate candidate = candidate_of();
  candidate.after = candidate.before;
  candidate.before.bits = candidate.after.bits = 0xabc;
  json_t *lines = lines_of(&device, &candidate, NULL);
  assert_null(json_object_get(line_of(lines, "rung"), "after"));
  assert_text(line_of(lines, "rung"), "bits", "0000000000000abc");
  lab_bench bench = {.context = &device.context,
                     .test_case = {.operation = &copycat_operation, .label = "n=4"},
                     .candidates = &candidate,
                     .count = 1,
                     .rules = {11, 101, 0.01, 9.5, true, 0x8123456789abcdeeu}};
  assert_int_equal(lab_record_add(lines, &bench, "rung bench copycat", NULL), RUNG_OK);
  assert_int_equal(json_array_size(lines), 6);
  assert_int_equal(lab_record_add(lines, &bench, "rung bench again", NULL), RUNG_OK);
  assert_int_equal(json_array_size(lines), 10);
  json_decref(lines);
}

#define HEAD "{\"rung-records\":3,\"provenance\":{},\"rules\":{}}\n"
#define DEVICE "{\"device\":{\"backend\":\"cpu\",\"name\":\"<b>&\",\"identity\":\"i\"}}\n"
#define JOB                                                                                     \
  "{\"operation\":\"reduce\",\"job\":{\"n\":5},\"type\":\"f32\",\"seed\":\"1\",\"bytes\":20.0," \
  "\"flops\":5.0,\"candidates\":1}\n"
#define RUNG_BEFORE                                                                           \
  "{\"rung\":\"`<i>\",\"idea\":\"\",\"order\":\"canonical\",\"block\":0,\"stop\":\"steady\"," \
  "\"before\":{\"finding\":\"good\"},"
#define RUNG RUNG_BEFORE "\"samples_ms\":[1.5],\"clocks_mhz\":[0]}\n"

static void damaged_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"", "holds no records"},
      {"\n", "holds no records"},
      {"[]\n", "line 1 is not a JSON object"},
      {"{\n \"rung-records\": 2,\n \"records\": []\n}\n", "version 1 or 2; expected: 3"},
      {"{\"rung-records\":4}\n", "version 4; expected: 3, the latest"},
      {"{\"rung-records\":\"3\"}\n", "expected: 3"},
      {JOB, "is no beginning"},
      {RUNG, "a rung before its job"},
      {HEAD JOB RUNG, "a job before its device"},
      {HEAD DEVICE JOB, "line 3 is the last, and rungs of its job are missing"},
      {HEAD DEVICE JOB JOB, "line 4 comes where rungs"},
      {HEAD DEVICE JOB RUNG RUNG, "line 5 is a rung too many"},
      {HEAD DEVICE JOB RUNG "{\"rung\":", "line 5 is cut off"},
      {HEAD DEVICE "{\"operation\":\"reduce\",\"job\":{\"n\":[]}}\n", "has no \"type\""},
      {HEAD DEVICE JOB RUNG_BEFORE "\"samples_ms\":[1.5,null],\"clocks_mhz\":[0,0]}\n",
       "samples_ms[1]; expected: one above 0"},
      {HEAD DEVICE JOB RUNG_BEFORE "\"samples_ms\":[NaN],\"clocks_mhz\":[0]}\n",
       "line 4 is not a JSON object"},
      {HEAD DEVICE JOB RUNG_BEFORE "\"samples_ms\":[-1],\"clocks_mhz\":[0]}\n", "above 0"},
      {HEAD DEVICE JOB RUNG_BEFORE "\"samples_ms\":[1],\"clocks_mhz\":[]}\n", "as many clocks_mhz"},
      {HEAD DEVICE JOB RUNG_BEFORE "\"samples_ms\":{},\"clocks_mhz\":[]}\n", "an array"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    lab_records records = {0};
    rung_error error = {0};
    assert_int_equal(lab_read(&records, "it", bad[i].text, strlen(bad[i].text), &error),
                     RUNG_BAD_FILE);
    if (!strstr(error.sentence, bad[i].says)) fail_msg("%s: %s", bad[i].text, error.sentence);
    lab_records_free(&records);
  }
  static const char good[] = HEAD DEVICE JOB RUNG "{\"later\":1}\n\n" HEAD DEVICE JOB RUNG;
  lab_records records = {0};
  assert_int_equal(lab_read(&records, "it", good, sizeof good - 1, NULL), RUNG_OK);
  assert_int_equal(records.count, 2);
  assert_true(lab_read_best(&records.cases[1])->time.median == 1.5);
  assert_true(isnan(lab_read_part(&records.cases[0], &records.cases[0].candidates[0])));
  lab_records_free(&records);
  rung_error error = {0};
  assert_int_equal(lab_read_file(&records, "/dev/null", &error), RUNG_FILE_FAILED);
  assert_int_equal(lab_read_file(&records, "/no/such", &error), RUNG_FILE_FAILED);
  lab_records_free(&records);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_columns_are_swapped),
      cmocka_unit_test(says_where_it_comes_from),
      cmocka_unit_test(what_is_no_number_is_null),
      cmocka_unit_test(names_that_are_no_text_cost_nothing),
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(nothing_is_said_twice),
      cmocka_unit_test(damaged_files_are_refused),
      cmocka_unit_test(files_are_replaced_whole),
      cmocka_unit_test(a_failure_leaves_nothing_behind),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
