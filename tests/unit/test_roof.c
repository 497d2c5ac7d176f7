/* Roofs: measured, kept, measured again where the keeping went wrong; and what they allow. */
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

#include "cheats/fake.h"
#include "lab/lab.h"

static char directory[] = "/tmp/rung-test-roof-XXXXXX";
static char cache[128];

static int make_directory(void **state) {
  (void)state;
  strcpy(directory + sizeof directory - 7, "XXXXXX");
  if (!mkdtemp(directory)) return -1;
  snprintf(cache, sizeof cache, "%s/rung/roofs.json", directory);
  return setenv("XDG_CACHE_HOME", directory, 1);
}

static int drop_directory(void **state) {
  (void)state;
  char inner[128];
  snprintf(inner, sizeof inner, "%s/rung", directory);
  unlink(cache);
  rmdir(inner);
  return rmdir(directory); /* fails where a temporary file was left behind */
}

static void write_cache(const char *text) {
  FILE *file = fopen(cache, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

enum { A_MEASUREMENT = 5 * 8 }; /* five probes, a warm-up and seven samples each */

static lab_roofs roofs_of(fake *device, bool again, int measurements) {
  lab_roofs roofs;
  rung_error error = {0};
  const int before = device->state.probes;
  assert_int_equal(lab_roofs_of(&device->context, again, &roofs, &error), RUNG_OK);
  assert_int_equal(device->state.probes - before, measurements * A_MEASUREMENT);
  assert_int_equal(roofs.cached, measurements == 0);
  return roofs;
}

static void measured_once_and_kept(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_roofs roofs = roofs_of(&device, false, 1);
  for (int i = 0; i < 2; ++i) { /* as measured, then as kept: no column swapped on the way */
    assert_true(roofs.read == 1 && roofs.write == 2 && roofs.copy == 3 && roofs.fma32 == 4 &&
                roofs.fma64 == 5);
    roofs = roofs_of(&device, false, 0);
  }
  device.state.probe_rate = 2e6;
  assert_true(roofs_of(&device, false, 0).read == 1);
  assert_true(roofs_of(&device, true, 1).read == 2); /* again */
  assert_true(roofs_of(&device, false, 0).read == 2);
}

static void asking_what_is_known_measures_nothing(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  lab_roofs roofs = {.read = 77};
  assert_false(lab_roofs_known(&device.context, &roofs));
  assert_true(roofs.read == 77);
  roofs_of(&device, false, 1);
  assert_true(lab_roofs_known(&device.context, &roofs));
  assert_true(roofs.read == 1 && roofs.cached);
  assert_int_equal(device.state.probes, A_MEASUREMENT);
}

static void every_device_and_setting_has_its_own(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  roofs_of(&device, false, 1);
  device.context.device.threads = 2;
  roofs_of(&device, false, 1);
  device.context.device.isa = RUNG_AVX2;
  roofs_of(&device, false, 1);
  strcpy(device.context.device.identity, "fake-1");
  roofs_of(&device, false, 1);
  fake_open(&device, false);
  roofs_of(&device, false, 0); /* the first is still there */
}

static void a_bad_cache_is_measured_again(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  roofs_of(&device, false, 1);
  static const char *const bad[] = {"",
                                    "{",
                                    "[]",
                                    "nonsense",
                                    "{\"rung-roofs\": 99, \"devices\": {}}",
                                    "{\"rung-roofs\": 1}",
                                    "{\"rung-roofs\": 1, \"devices\": 3}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    write_cache(bad[i]);
    roofs_of(&device, false, 1);
    roofs_of(&device, false, 0);
  }
  static const char *const rates[] = {"0", "-1", "null", "\"4\"", "true"};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; ++i) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"rung-roofs\": 1, \"devices\": {\"fake-0 threads=1 isa=baseline rung=%s\": "
             "{\"read\": 1, \"write\": 2, \"copy\": 3, \"fma32\": 4, \"fma64\": %s}}}",
             RUNG_VERSION, rates[i]);
    write_cache(text);
    roofs_of(&device, false, 1);
  }
}

static void no_place_to_keep_is_no_error(void **state) {
  (void)state;
  fake device;
  fake_open(&device, false);
  setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
  roofs_of(&device, false, 1);
  roofs_of(&device, false, 1);
  setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored, and not to be made */
  const char *home = getenv("HOME");
  char *kept = home ? strdup(home) : NULL;
  unsetenv("HOME");
  roofs_of(&device, false, 1);
  assert_int_not_equal(access("relative", F_OK), 0);
  if (kept) setenv("HOME", kept, 1);
  free(kept);
  setenv("XDG_CACHE_HOME", directory, 1);
}

/* ---- what they allow ---------------------------------------------------------------------- */

static const lab_roofs known = {.read = 4, .write = 2, .copy = 3, .fma32 = 10, .fma64 = 5};

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

static void assert_roof(rung_case test_case, double ms, const char *bound) {
  const char *found = NULL;
  assert_true(fabs(lab_roof_ms(&known, &test_case, &found) - ms) < 1e-12);
  assert_string_equal(found, bound);
  assert_true(lab_roof_ms(&known, &test_case, NULL) > 0);
}

static void the_larger_of_bytes_and_arithmetic(void **state) {
  (void)state;
  assert_roof(case_of(6000000, 6000000, 0, RUNG_F32), 4, "copy");
  assert_roof(case_of(12000000, 0, 0, RUNG_F32), 3, "read");
  assert_roof(case_of(7000000, 1000000, 0, RUNG_F32), 2, "read");   /* an eighth written */
  assert_roof(case_of(6900000, 1200000, 0, RUNG_F32), 2.7, "copy"); /* a little more */
  assert_roof(case_of(0, 12000000, 0, RUNG_F32), 6, "write");
  assert_roof(case_of(6000000, 6000000, 100e6, RUNG_F32), 5, "fma32"); /* 50e6 FMAs */
  assert_roof(case_of(6000000, 6000000, 100e6, RUNG_F64), 10, "fma64");
  assert_roof(case_of(6000000, 6000000, 100e6, RUNG_U32), 4, "copy"); /* integers are free */
  rung_case test_case = case_of(6000000, 6000000, 100e6, RUNG_F64);
  test_case.single = true;
  assert_roof(test_case, 5, "fma32");
}

static void the_floor_leaves_out_what_a_cache_may_hold(void **state) {
  (void)state;
  const rung_device none = {.cache_bytes = 0}, some = {.cache_bytes = 6000000};
  rung_case test_case = case_of(6000000, 6000000, 0, RUNG_F32);
  assert_true(fabs(lab_floor_of(&known, &test_case, &none).ms - 4) < 1e-12);
  assert_true(fabs(lab_floor_of(&known, &test_case, &some).ms - 1.5) < 1e-12); /* reading is left */
  test_case = case_of(12000000, 12000000, 0, RUNG_F32);
  assert_true(fabs(lab_floor_of(&known, &test_case, &some).ms - 6) < 1e-12);
  const rung_device vast = {.cache_bytes = 300 << 20}; /* not to be flushed for sure */
  test_case = case_of(400 << 20, 400 << 20, 0, RUNG_F32);
  assert_true(fabs(lab_floor_of(&known, &test_case, &vast).ms - (200 << 20) / 3e6) < 1e-9);
  test_case = case_of(0, 6000000, 20e6, RUNG_F32);
  assert_true(fabs(lab_floor_of(&known, &test_case, &some).ms - 1) < 1e-12); /* arithmetic stays */
  assert_true(lab_floor_of(&known, &test_case, &some).memory_ms == 0);       /* and is apart */
}

#define APART(name) cmocka_unit_test_setup_teardown(name, make_directory, drop_directory)

int main(void) {
  const struct CMUnitTest tests[] = {
      APART(measured_once_and_kept),
      APART(asking_what_is_known_measures_nothing),
      APART(every_device_and_setting_has_its_own),
      APART(a_bad_cache_is_measured_again),
      APART(no_place_to_keep_is_no_error),
      cmocka_unit_test(the_larger_of_bytes_and_arithmetic),
      cmocka_unit_test(the_floor_leaves_out_what_a_cache_may_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
