/* What peaks allow a job, level by level, and what is refused for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cheats/copycat.h"
#include "cheats/fake.h"
#include "lab/lab.h"

/* A cache of 6 MB, ten times as fast as memory. */
static const lab_peaks known = {
    .levels = 2, .bandwidth = {{40, 20, 30}, {4, 2, 3}}, .fma32 = 10, .fma64 = 5, .mma64 = 10};
static const rung_device small = {
    .cache_bytes = 6000000, .caches = {{2, 6000000}}, .flush_bytes = 256 << 20};

/* `in` and `out` bytes, of floats. */
static rung_case case_of(int64_t in, int64_t out, double flops, rung_dtype dtype) {
  rung_case test_case = {.types = RUNG_ALIKE(dtype),
                         .inputs = 1,
                         .outputs = 1,
                         .bytes = (double)(in + out),
                         .flops = flops};
  const int64_t ins = in / 4, outs = out / 4;
  test_case.arrays[0] = rung_view_compact(NULL, RUNG_F32, 1, &ins);
  test_case.arrays[1] = rung_view_compact(NULL, RUNG_F32, 1, &outs);
  return test_case;
}

static void assert_limit(const rung_device *device, bool hot, rung_case test_case, double ms,
                         const char *level, const char *bound, const char *caches) {
  const lab_limit limit = lab_limit_of(&known, &test_case, device, hot);
  if (!(fabs(limit.ms - ms) < 1e-9)) fail_msg("%.9g ms where %.9g is wanted", limit.ms, ms);
  assert_string_equal(limit.level, level);
  assert_string_equal(limit.bound, bound);
  assert_string_equal(limit.caches, caches);
}

#define COLD(...) assert_limit(&small, false, case_of(__VA_ARGS__)

static void the_longer_of_bytes_and_arithmetic(void **state) {
  (void)state;
  COLD(60000000, 0, 0, RUNG_F32), 15, "memory", "read", "cold");
  COLD(70000000, 6000000, 0, RUNG_F32), 17.5, "memory", "read", "cold"); /* written: to the cache */
  COLD(60000000, 66000000, 0, RUNG_F32), 40, "memory", "copy", "cold");
  COLD(0, 66000000, 0, RUNG_F32), 30, "memory", "write", "cold");
  COLD(60000000, 66000000, 1e9, RUNG_F32), 50, "", "fma32", "cold"); /* 500e6 FMAs */
  COLD(60000000, 66000000, 1e9, RUNG_F64), 100, "", "fma64", "cold");
  COLD(60000000, 66000000, 1e9, RUNG_U32), 40, "memory", "copy", "cold"); /* integers are free */
  rung_case test_case = case_of(60000000, 66000000, 1e9, RUNG_F64);
  test_case.single = true;
  assert_limit(&small, false, test_case, 50, "", "fma32", "cold");
  test_case.single = false;
  test_case.matrix = true;
  assert_limit(&small, false, test_case, 50, "", "mma64", "cold");
}

/* Cold reads come from memory whatever their number; what is written may stay in the cache. */
static void writes_may_stay_in_the_cache(void **state) {
  (void)state;
  COLD(6000000, 6000000, 0, RUNG_F32), 1.5, "memory", "read", "cold");
  COLD(0, 6000000, 0, RUNG_F32), 0.3, "L2", "write", "cold");
}

static void hot_jobs_are_held_to_the_level_they_live_in(void **state) {
  (void)state;
  assert_limit(&small, true, case_of(6000000, 0, 0, RUNG_F32), 0.15, "L2", "read", "hot");
  assert_limit(&small, true, case_of(10000000, 0, 0, RUNG_F32), 1, "memory", "read", "hot");
}

/* Such a cache may hold the input: the job is not called cold and is held to the cache's peak. */
static void a_cache_that_cannot_be_flushed_makes_nothing_cold(void **state) {
  (void)state;
  rung_device vast = small;
  vast.cache_bytes = vast.caches[0].bytes = 300 << 20;
  const double all = 300 << 20;
  assert_limit(&vast, false, case_of(4194304, 0, 0, RUNG_F32), 4194304 / 40e6, "L2", "read",
               "not flushed");
  assert_limit(&vast, false, case_of(300 << 20, 0, 0, RUNG_F32), all / 40e6, "L2", "read",
               "not flushed");
  assert_limit(&vast, false, case_of(1000 << 20, 0, 0, RUNG_F32), (700 << 20) / 4e6, "memory",
               "read", "cold");
  vast.flush_bytes = 300 << 20;
  assert_limit(&vast, false, case_of(4194304, 0, 0, RUNG_F32), 4194304 / 4e6, "memory", "read",
               "cold");
}

static lab_candidate timed(const rung_row *row, double *ms) {
  return (lab_candidate){
      .row = row, .samples = ms, .count = 1, .time = lab_stats_of(ms, 1), .stop = LAB_STEADY};
}

static void nothing_above_a_peak_is_good(void **state) {
  (void)state;
  const lab_limit limit = {.ms = 10, .memory_ms = 1, .bound = "fma32", .load = 2.5};
  const rung_row canonical = {.name = "x", .order = RUNG_CANONICAL},
                 loose = {.name = "y", .order = RUNG_LOOSE};
  double times[] = {20, 9.9, 9.7, NAN, 9.7, 0.97};
  lab_candidate all[6];
  for (int i = 0; i < 6; ++i) all[i] = timed(i < 4 ? &canonical : &loose, &times[i]);
  lab_refuse_impossible(&limit, all, 6);
  static const bool good[] = {true, true, false, false, true, false};
  for (int i = 0; i < 6; ++i) {
    assert_int_equal(all[i].after.finding, good[i] ? LAB_GOOD : LAB_TOO_FAST);
    assert_int_equal(all[i].stop, good[i] ? LAB_STEADY : LAB_REFUSED);
  }
  assert_non_null(strstr(all[2].after.sentence, "9.7 ms is below 10 ms"));
  assert_non_null(strstr(all[2].after.sentence, "peak of fma32 allows, measured at a load of 2.5"));
  assert_non_null(strstr(all[5].after.sentence, "0.97 ms is below 1 ms"));
  assert_true(lab_part_of_peak(&limit, &all[0]) == 0.5);
  assert_true(lab_part_of_peak(&limit, &all[1]) == 1); /* a peak is known to 2 % */
  assert_true(isnan(lab_part_of_peak(&limit, &all[2])));
  assert_true(isnan(lab_part_of_peak(&limit, &all[4]))); /* it does other arithmetic */
}

/* ---- a bench that meets its peaks ---------------------------------------------------------- */

static char directory[] = "/tmp/rung-test-limit-XXXXXX";

static int make_directory(void **state) {
  (void)state;
  strcpy(directory + sizeof directory - 7, "XXXXXX");
  return mkdtemp(directory) && setenv("XDG_CACHE_HOME", directory, 1) == 0 ? 0 : -1;
}

static int drop_directory(void **state) {
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/rung/peaks.json", directory);
  unlink(path);
  snprintf(path, sizeof path, "%s/rung", directory);
  rmdir(path);
  return rmdir(directory);
}

static void twice(const rung_task *task) {
  const float *in = (const float *)task->arrays[COPYCAT_IN].data;
  float *out = (float *)task->arrays[COPYCAT_OUT].data;
  for (int64_t i = 0; i < task->arrays[COPYCAT_OUT].count; ++i) out[i] = 2 * in[i];
}

static rung_status queued(const rung_task *task) {
  return fake_queue(task, twice);
}

/* Peaks of a busy minute are kept; then 4 KB are read in 1 ms, twice as fast as these allow. */
static lab_finding bench_against_slow_peaks(double rate_now, int *probes) {
  static rung_row rows[] = {{.name = "honest",
                             .idea = "",
                             .family = RUNG_ON_CPU,
                             .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
                             .launch = {queued}}};
  rung_operation operation = copycat_operation;
  operation.rows = rows;
  operation.count = 1;
  fake device;
  rung_error error = {0};
  fake_open(&device, true);
  device.state.probe_rate = 2000;
  lab_peaks peaks;
  lab_conditions now = lab_conditions_now();
  now.load = 0;
  assert_int_equal(lab_peaks_of(&device.context, &now, &peaks, &error), RUNG_OK);
  device.state.probe_rate = rate_now;
  lab_bench bench;
  lab_bench_set_up set_up = {.context = &device.context, .rules = lab_rules_default()};
  if (lab_bench_run(&set_up, &operation, &copycat_cases, "n=1000", &bench, &error) != RUNG_OK)
    fail_msg("%s", error.sentence);
  assert_int_equal(bench.count, 1);
  assert_int_equal(bench.candidates[0].count, bench.rules.least);
  const lab_finding finding = lab_candidate_verdict(&bench.candidates[0])->finding;
  assert_int_equal(lab_bench_failures(&bench), finding != LAB_GOOD);
  assert_true((lab_bench_fastest(&bench) != NULL) == (finding == LAB_GOOD));
  *probes = device.state.probes;
  lab_bench_free(&bench);
  fake_close(&device);
  return finding;
}

enum { A_MEASUREMENT = (2 * 3 + 3) * 8 };

static void a_result_above_the_peak_has_it_measured_again(void **state) {
  (void)state;
  int probes;
  assert_int_equal(bench_against_slow_peaks(1e6, &probes), LAB_GOOD);
  assert_int_equal(probes, 2 * A_MEASUREMENT);
}

static void what_stays_above_it_is_refused(void **state) {
  (void)state;
  int probes;
  assert_int_equal(bench_against_slow_peaks(2000, &probes), LAB_TOO_FAST);
  assert_int_equal(probes, 2 * A_MEASUREMENT);
}

#define APART(name) cmocka_unit_test_setup_teardown(name, make_directory, drop_directory)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_longer_of_bytes_and_arithmetic),
      cmocka_unit_test(writes_may_stay_in_the_cache),
      cmocka_unit_test(hot_jobs_are_held_to_the_level_they_live_in),
      cmocka_unit_test(a_cache_that_cannot_be_flushed_makes_nothing_cold),
      cmocka_unit_test(nothing_above_a_peak_is_good),
      APART(a_result_above_the_peak_has_it_measured_again),
      APART(what_stays_above_it_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
