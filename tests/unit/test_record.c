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
#include "lab/lab.h"

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
      .time = {3, 11, 12, 16, 18, 15},
      .clock = {3, 21, 22, 23, 24, 25},
      .stop = LAB_TIME_OUT};
  return candidate;
}

static json_t *record_of(fake *device, const lab_candidate *candidate, const lab_peaks *peaks) {
  rung_case test_case = {.operation = &copycat_operation,
                         .label = "n=3 type=f32",
                         .seed = 0x8123456789abcdefu,
                         .types = RUNG_ALIKE(RUNG_F32),
                         .bytes = 3e6,
                         .flops = 5e6};
  const lab_rules rules = {11, 101, 0.01, 9.5, true, 0x8123456789abcdeeu};
  json_t *record =
      lab_record(&device->context, &test_case, candidate, 1, &rules, peaks, "rung bench copycat");
  assert_non_null(record);
  return record;
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
  json_t *record = record_of(&device, &candidate, &peaks);
  const json_t *found = json_array_get(json_object_get(record, "candidates"), 0);
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
  const json_t *time = json_object_get(found, "time_ms"),
               *clock = json_object_get(found, "clock_mhz");
  assert_true(number_at(time, "count") == 3 && number_at(time, "min") == 11 &&
              number_at(time, "q1") == 12 && number_at(time, "median") == 16 &&
              number_at(time, "q3") == 18 && number_at(time, "max") == 15 &&
              number_at(time, "relative_iqr") == 0.375);
  assert_true(number_at(clock, "min") == 21 && number_at(clock, "max") == 25);
  const json_t *kept = json_object_get(record, "peaks"), *levels = json_object_get(kept, "levels"),
               *cache = json_array_get(levels, 0), *memory = json_array_get(levels, 1);
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
  json_decref(record);
}

static void says_where_it_comes_from(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  const lab_candidate candidate = candidate_of();
  json_t *record = record_of(&device, &candidate, NULL);
  assert_true(number_at(record, "rung-record") == LAB_RECORD_VERSION);
  assert_text(record, "operation", "copycat");
  assert_null(json_object_get(record, "peaks")); /* none were given */
  const json_t *test_case = json_object_get(record, "trial"),
               *rules = json_object_get(record, "rules");
  assert_text(test_case, "label", "n=3 type=f32");
  assert_text(test_case, "type", "f32");
  assert_text(test_case, "seed", "9305357566071262703"); /* all 64 bits */
  assert_true(number_at(test_case, "bytes") == 3e6 && number_at(test_case, "flops") == 5e6);
  assert_text(rules, "seed", "9305357566071262702");
  assert_true(number_at(rules, "least") == 11 && number_at(rules, "most") == 101 &&
              number_at(rules, "spread") == 0.01 && number_at(rules, "seconds") == 9.5);
  assert_true(json_is_true(json_object_get(rules, "hot")));
  const json_t *from = json_object_get(record, "provenance");
  static const char *const keys[] = {"date", "command", "version", "commit", "compiler", "flags",
                                     "cuda", "build",   "host",    "system", "kernel",   "machine"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    assert_true(json_is_string(json_object_get(from, keys[i])));
  assert_text(from, "command", "rung bench copycat");
  assert_text(from, "version", RUNG_VERSION);
  int year, month, day, hour, minute, second, length = 0;
  const char *date = json_string_value(json_object_get(from, "date"));
  assert_int_equal(sscanf(date, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute,
                          &second, &length),
                   6);
  assert_int_equal(length, strlen(date));
  const json_t *on = json_object_get(record, "device");
  assert_text(on, "backend", "fake");
  assert_text(on, "name", "a fake");
  assert_text(on, "identity", "fake-0");
  assert_text(json_object_get(on, "facts"), "made of", "imagination");
  json_decref(record);
}

/* JSON has no NaN: it must come out as null, and not cost the record. */
static void what_is_no_number_is_null(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_candidate candidate = candidate_of();
  candidate.count = 0;
  candidate.samples = candidate.clocks = NULL;
  candidate.time = candidate.clock = lab_stats_of(NULL, 0);
  candidate.before.comparison.worst = NAN;
  candidate.before.comparison.bound = INFINITY;
  json_t *record = record_of(&device, &candidate, NULL);
  const json_t *found = json_array_get(json_object_get(record, "candidates"), 0);
  assert_true(json_is_null(json_object_get(json_object_get(found, "time_ms"), "median")));
  assert_true(json_is_null(json_object_get(json_object_get(found, "before"), "worst_error")));
  assert_int_equal(json_array_size(json_object_get(found, "samples_ms")), 0);
  json_decref(record);
}

static void names_that_are_no_text_cost_nothing(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  strcpy(device.context.device.name, "\xff\xfe");
  const lab_candidate candidate = candidate_of();
  json_t *record = record_of(&device, &candidate, NULL);
  assert_text(json_object_get(record, "device"), "name", "\\xff\\xfe");
  json_decref(record);
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

static void files_are_replaced_whole(void **state) {
  (void)state;
  char directory[] = "/tmp/rung-test-record-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/r.json", directory);
  rung_error error = {0};
  json_t *records = json_array();
  for (int i = 1; i <= 2; ++i) {
    json_array_append_new(records, json_integer(i));
    assert_int_equal(lab_record_write(path, records, &error), RUNG_OK);
    json_t *read = json_load_file(path, 0, NULL);
    assert_true(number_at(read, "rung-records") == LAB_RECORD_VERSION);
    assert_true(json_equal(json_object_get(read, "records"), records));
    json_decref(read);
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
  for (int i = 0; i < 100; ++i) json_array_append_new(records, json_integer(i));
  const rung_status status = lab_record_write(path, records, &error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, RUNG_FILE_FAILED);
  json_t *read = json_load_file(path, 0, NULL);
  assert_int_equal(json_array_size(json_object_get(read, "records")), 0); /* the old one */
  json_decref(read);
  assert_int_equal(files_in(directory), 1);
  unlink(path);
  assert_int_equal(rmdir(directory), 0);
  json_decref(records);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_columns_are_swapped),
      cmocka_unit_test(says_where_it_comes_from),
      cmocka_unit_test(what_is_no_number_is_null),
      cmocka_unit_test(names_that_are_no_text_cost_nothing),
      cmocka_unit_test(files_are_replaced_whole),
      cmocka_unit_test(a_failure_leaves_nothing_behind),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
