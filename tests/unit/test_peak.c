/* Peaks: measured, kept, measured again where the keeping went wrong or they are out of date. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cheats/fake.h"
#include "lab/lab.h"

static char directory[] = "/tmp/rung-test-peak-XXXXXX";
static char cache[128];

static int make_directory(void **state) {
  (void)state;
  strcpy(directory + sizeof directory - 7, "XXXXXX");
  if (!mkdtemp(directory)) return -1;
  snprintf(cache, sizeof cache, "%s/rung/peaks.json", directory);
  return setenv("XDG_CACHE_HOME", directory, 1);
}

static int drop_directory(void **state) {
  (void)state;
  char inner[128];
  snprintf(inner, sizeof inner, "%s/rung", directory);
  if (unlink(cache) != 0) rmdir(cache);
  rmdir(inner);
  return rmdir(directory); /* fails where a temporary file was left behind */
}

static void write_cache(const char *text) {
  FILE *file = fopen(cache, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* Of memory and the fake's one cache three probes each, and three of arithmetic; a warm-up and
 * seven samples each. */
enum { A_MEASUREMENT = (2 * 3 + 3) * 8, DAY = 24 * 3600 };

static const lab_conditions quiet = {.date = 1800000000, .load = 0.1};

static lab_peaks peaks_at(fake *device, const lab_conditions *now, int measurements) {
  lab_peaks peaks;
  rung_error error = {0};
  const int before = device->state.probes;
  assert_int_equal(lab_peaks_of(&device->context, now, &peaks, &error), RUNG_OK);
  assert_int_equal(device->state.probes - before, measurements * A_MEASUREMENT);
  assert_int_equal(peaks.kept, measurements == 0);
  return peaks;
}

static lab_peaks peaks_of(fake *device, int measurements) {
  return peaks_at(device, &quiet, measurements);
}

static void measured_once_and_kept(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_peaks peaks = peaks_of(&device, 1);
  for (int i = 0; i < 2; ++i) { /* as measured, then as kept: no column swapped on the way */
    assert_int_equal(peaks.levels, 2);
    const lab_bandwidth cache = peaks.bandwidth[0], memory = peaks.bandwidth[1];
    assert_true(memory.read == 1 && memory.write == 2 && memory.copy == 3);
    assert_true(cache.read == 10 && cache.write == 20 && cache.copy == 30);
    assert_true(peaks.fma32 == 4 && peaks.fma64 == 5 && peaks.mma64 == 6);
    assert_true(peaks.conditions.date == quiet.date && peaks.conditions.load == quiet.load);
    peaks = peaks_of(&device, 0);
  }
  device.state.probe_rate = 2e6;
  assert_true(peaks_of(&device, 0).bandwidth[1].read == 1);
}

/* Most of it may be others', or another processor's. */
static void a_large_cache_is_tried_by_less_than_half_of_it_too(void **state) {
  (void)state;
  for (int64_t has = 4000000; has <= 40000000; has *= 10) {
    fake device;
    fake_open(&device, false);
    device.context.device.caches[0] = (rung_cache){2, 1000000};
    device.context.device.caches[1] = (rung_cache){3, 60000000};
    device.state.cache_has = has;
    lab_peaks peaks = {0};
    assert_int_equal(lab_peaks_again(&device.context, &quiet, &peaks, NULL), RUNG_OK);
    assert_int_equal(peaks.levels, 3);
    assert_true(peaks.bandwidth[2].read == 1 && peaks.bandwidth[1].read == 10 &&
                peaks.bandwidth[1].copy == 30 && peaks.bandwidth[0].write == 20);
  }
}

static void a_second_measurement_only_raises_them(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_peaks peaks = peaks_of(&device, 1);
  const lab_conditions later = {.date = quiet.date + 60, .load = 0.3};
  for (int i = 0; i < 2; ++i) { /* twice as fast, then half as fast */
    device.state.probe_rate = i == 0 ? 2e6 : 5e5;
    assert_int_equal(lab_peaks_again(&device.context, &later, &peaks, NULL), RUNG_OK);
    assert_true(!peaks.kept && peaks.bandwidth[1].read == 2 && peaks.bandwidth[0].copy == 60 &&
                peaks.fma64 == 10 && peaks.mma64 == 12);
  }
  peaks = peaks_at(&device, &later, 0); /* and they are what is kept */
  assert_true(peaks.bandwidth[1].read == 2 && peaks.conditions.date == later.date);
}

static void asking_what_is_kept_measures_nothing(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_peaks peaks = {.fma32 = 77};
  assert_false(lab_peaks_kept(&device.context.device, &quiet, &peaks));
  assert_true(peaks.fma32 == 77);
  peaks_of(&device, 1);
  assert_true(lab_peaks_kept(&device.context.device, &quiet, &peaks));
  assert_true(peaks.bandwidth[1].read == 1 && peaks.kept);
  assert_int_equal(device.state.probes, A_MEASUREMENT);
}

static void every_device_and_setting_has_its_own(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  device.context.device.threads = 2;
  peaks_of(&device, 1);
  device.context.device.isa = RUNG_AVX2;
  peaks_of(&device, 1);
  strcpy(device.context.device.identity, "fake-1");
  peaks_of(&device, 1);
  device.context.device.caches[1] = (rung_cache){3, 60000000}; /* what is kept lacks a level */
  lab_peaks found;
  assert_false(lab_peaks_kept(&device.context.device, &quiet, &found));
  fake_open(&device, false);
  peaks_of(&device, 0); /* the first is still there */
}

static void old_ones_are_measured_again(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  const int64_t age = (int64_t)LAB_PEAK_DAYS * DAY;
  peaks_at(&device, &(lab_conditions){.date = quiet.date + age}, 0);
  peaks_at(&device, &(lab_conditions){.date = quiet.date + age + 1}, 1);
  peaks_at(&device, &(lab_conditions){.date = quiet.date}, 1); /* these are of the future */
}

static void those_of_a_busy_machine_are_not_used_on_a_quieter_one(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  const lab_conditions busy = {.date = quiet.date, .load = 3}, less = {quiet.date, 2.9};
  peaks_at(&device, &busy, 1);
  peaks_at(&device, &busy, 0);
  peaks_at(&device, &less, 1);
  peaks_at(&device, &less, 0);
  peaks_of(&device, 1);
  peaks_at(&device, &busy, 0); /* a quiet machine's are good for a busy one */
}

static void a_bad_file_is_measured_again(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  static const char *const bad[] = {"",
                                    "{",
                                    "[]",
                                    "nonsense",
                                    "{\"rung-peaks\": 99, \"devices\": {}}",
                                    "{\"rung-peaks\": 1, \"rung-peaks\": 1, \"devices\": {}}",
                                    "{\"rung-peaks\": 1}",
                                    "{\"rung-peaks\": 1, \"devices\": 3}",
                                    "{\"rung-peaks\": 1.0, \"devices\": {}}",
                                    "{\"rung-peaks\": \"1\", \"devices\": {}}",
                                    "{\"rung-peaks\": 18446744073709551617, \"devices\": {}}",
                                    "{\"rung-peaks\": 1, \"devices\": {\"\xff\": 1}}",
                                    "{\"rung-peaks\": 1, \"devices\": {\"\033[31m\": 1}}",
                                    "\x7f"
                                    "ELF\002\001\001"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    write_cache(bad[i]);
    peaks_of(&device, 1);
    peaks_of(&device, 0);
  }
}

/* Jansson gives up long before the stack does. */
static void a_deep_file_is_measured_again(void **state) {
  (void)state;
  enum { DEEP = 1000000 };
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  static char deep[DEEP + 1];
  memset(deep, '[', DEEP);
  write_cache(deep);
  peaks_of(&device, 1);
  for (int i = 0; i + 5 < DEEP; i += 5) memcpy(deep + i, "{\"a\":", 5);
  write_cache(deep);
  peaks_of(&device, 1);
}

/* One entry of the file, right but for what is given. */
typedef struct entry {
  const char *date, *load, *memory_read, *cache_read, *fma64;
} entry;

static void write_entry(const entry *of) {
  char text[768];
  snprintf(text, sizeof text,
           "{\"rung-peaks\": 1, \"devices\": {\"fake-0 threads=1 isa=baseline rung=%s\": "
           "{\"date\": %s, \"load\": %s, \"L2\": {\"read\": %s, \"write\": 20, \"copy\": 30}, "
           "\"memory\": {\"read\": %s, \"write\": 2, \"copy\": 3}, \"fma32\": 4, \"fma64\": %s, "
           "\"mma64\": 6}}}",
           RUNG_VERSION, of->date ? of->date : "\"2027-01-15T08:00:00Z\"",
           of->load ? of->load : "0.1", of->cache_read ? of->cache_read : "10",
           of->memory_read ? of->memory_read : "1", of->fma64 ? of->fma64 : "5");
  write_cache(text);
}

static void nothing_impossible_in_the_file_is_believed(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  write_entry(&(entry){0});
  peaks_of(&device, 0); /* as it stands it is believed */
  static const entry bad[] = {
      {.fma64 = "0"},
      {.fma64 = "-1"},
      {.fma64 = "null"},
      {.fma64 = "\"4\""},
      {.fma64 = "true"},
      {.fma64 = "1e308"},
      {.fma64 = "1e999"},
      {.fma64 = "NaN"},
      {.memory_read = "1e308"},
      {.memory_read = "1e-300"},
      {.memory_read = "11"}, /* memory faster than the cache before it */
      {.cache_read = "1e308"},
      {.cache_read = "null"},
      {.load = "-1"},
      {.load = "null"},
      {.load = "1e999"},
      {.fma64 = "5, \"fma64\": 5"},
      {.date = "null"},
      {.date = "\"yesterday\""},
      {.date = "\"2027-01-15\""},
      {.date = "\"2027-02-31T00:00:00Z\""},
      {.date = "\"9999999-01-01T00:00:00Z\""},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    write_entry(&bad[i]);
    peaks_of(&device, 1);
  }
}

/* Cut anywhere, it is not believed, or for what it was when whole. */
static void a_cut_file_is_not_believed(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  const lab_peaks whole = peaks_of(&device, 0);
  int believed = 0;
  off_t length = 0;
  for (struct stat is = {0}; stat(cache, &is) == 0 && is.st_size > 0;) {
    lab_peaks found = {0};
    assert_int_equal(truncate(cache, is.st_size - 1), 0);
    length++;
    if (!lab_peaks_kept(&device.context.device, &quiet, &found)) continue;
    believed++;
    assert_memory_equal(&found, &whole, sizeof whole);
  }
  assert_true(length > 300 && believed == 1); /* without the end of its last line */
}

/* A FIFO that nobody writes, a folder, a link to what never ends: nothing is waited for. */
static void what_is_no_file_is_not_read(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  peaks_of(&device, 1);
  unlink(cache);
  assert_int_equal(mkfifo(cache, 0600), 0);
  peaks_of(&device, 1);
  peaks_of(&device, 0); /* a file took its place */
  unlink(cache);
  assert_int_equal(symlink("/dev/zero", cache), 0);
  peaks_of(&device, 1);
  unlink(cache);
  assert_int_equal(symlink("peaks.json", cache), 0); /* to itself */
  peaks_of(&device, 1);
  peaks_of(&device, 0);
  assert_int_equal(truncate(cache, INT64_C(1) << 32), 0);
  peaks_of(&device, 1);
  peaks_of(&device, 0);
  unlink(cache);
  assert_int_equal(mkdir(cache, 0700), 0);
  peaks_of(&device, 1);
  peaks_of(&device, 1); /* that stays */
}

static void no_place_to_keep_is_no_error(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
  peaks_of(&device, 1);
  peaks_of(&device, 1);
  char path[5000];
  memset(path, 'x', sizeof path - 1);
  path[0] = '/';
  path[sizeof path - 1] = '\0';
  setenv("XDG_CACHE_HOME", path, 1);
  peaks_of(&device, 1);
  snprintf(path, sizeof path, "%s/round", directory);
  assert_int_equal(symlink("round", path), 0);
  setenv("XDG_CACHE_HOME", path, 1);
  peaks_of(&device, 1);
  unlink(path);
  setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored, and not to be made */
  const char *home = getenv("HOME");
  char *kept = home ? strdup(home) : NULL;
  unsetenv("HOME");
  peaks_of(&device, 1);
  assert_int_not_equal(access("relative", F_OK), 0);
  if (kept) setenv("HOME", kept, 1);
  free(kept);
  setenv("XDG_CACHE_HOME", directory, 1);
}

#define APART(name) cmocka_unit_test_setup_teardown(name, make_directory, drop_directory)

int main(void) {
  const struct CMUnitTest tests[] = {
      APART(measured_once_and_kept),
      APART(a_large_cache_is_tried_by_less_than_half_of_it_too),
      APART(a_second_measurement_only_raises_them),
      APART(asking_what_is_kept_measures_nothing),
      APART(every_device_and_setting_has_its_own),
      APART(old_ones_are_measured_again),
      APART(those_of_a_busy_machine_are_not_used_on_a_quieter_one),
      APART(a_bad_file_is_measured_again),
      APART(a_deep_file_is_measured_again),
      APART(a_cut_file_is_not_believed),
      APART(nothing_impossible_in_the_file_is_believed),
      APART(what_is_no_file_is_not_read),
      APART(no_place_to_keep_is_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
