/* A program that rounds another way, flushes subnormal numbers to zero or traps floating-point
 * exceptions gets the same bits, and finds its mode and its exceptions as they were. */
#include <fenv.h>

#include "ops/guest/jobs.h"

#if defined(__x86_64__)
enum { FLUSH_BITS = 0x8040, TRAPS = 1 };
#define FLUSH __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | FLUSH_BITS)
#elif defined(__aarch64__)
enum { FLUSH_BITS = 1 << 24, TRAPS = 0 }; /* trapping is optional there */
#define FLUSH __builtin_aarch64_set_fpcr64(__builtin_aarch64_get_fpcr64() | FLUSH_BITS)
#else
enum { TRAPS = 0 };
#define FLUSH (void)0
#endif

typedef enum mode { NEAREST, UPWARD, DOWNWARD, TO_ZERO, FLUSHED, TRAPPING, SEEN, MODES } mode;

static void set_mode(mode mode) {
  static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  fesetenv(FE_DFL_ENV);
  if (mode < FLUSHED) fesetround(roundings[mode]);
  if (mode == FLUSHED) FLUSH;
  if (mode == TRAPPING && TRAPS)
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
  if (mode == SEEN) feraiseexcept(FE_DIVBYZERO | FE_OVERFLOW);
}

/* All that makes a mode, and what it has seen. */
typedef struct found {
  uint64_t mode;
  int64_t rounding, traps, seen;
} found;

static found find_mode(void) {
  found now = {0, fegetround(), fegetexcept(), fetestexcept(FE_ALL_EXCEPT)};
#if defined(__x86_64__)
  now.mode = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  now.mode = __builtin_aarch64_get_fpcr64();
#endif
  return now;
}

static rung_context *open_with(const char *device, int threads) {
  rung_context *context;
  const rung_options options = {.device = device, .threads = threads};
  const rung_status status = rung_open(&context, &options);
  if (status == RUNG_OK) return context;
  rung_close(context);
  return NULL;
}

static void compare_in_all_modes(const char *device, int threads) {
  static results expected, made;
  set_mode(NEAREST);
  rung_context *context = open_with(device, threads);
  if (context == NULL) skip();
  const numbers *numbers = make_numbers();
  run_jobs(context, numbers, &expected);
  expect_statuses(&expected);
  rung_close(context);
  assert_true(expected.tiny != 0);
  for (mode mode = UPWARD; mode < MODES; mode++) {
    set_mode(mode);
    const found before = find_mode();
    context = open_with(device, threads);
    const found opened = find_mode();
    run_jobs(context, numbers, &made);
    const found after = find_mode();
    rung_close(context);
    set_mode(NEAREST);
    assert_memory_equal(&opened, &before, sizeof before);
    if (memcmp(&after, &before, sizeof before) != 0)
      fail_msg("%s, %d threads, mode %d: %lx became %lx", device, threads, (int)mode,
               (unsigned long)before.mode, (unsigned long)after.mode);
    const char *a = (const char *)&made, *b = (const char *)&expected;
    for (size_t i = 0; i < sizeof made; i++)
      if (a[i] != b[i])
        fail_msg("%s, %d threads, mode %d: byte %zu of the results differs", device, threads,
                 (int)mode, i);
  }
}

static void one_thread(void **state) {
  (void)state;
  compare_in_all_modes("cpu", 1);
}

static void three_threads(void **state) {
  (void)state;
  compare_in_all_modes("cpu", 3);
}

static void simulator(void **state) {
  (void)state;
  compare_in_all_modes("sim", 0);
}

static void ignore(void *to, const char *key, const char *value) {
  (void)key;
  (void)value;
  (*(int *)to)++;
}

static void what_is_here(void **state) {
  (void)state;
  rung_device_info info = {0};
  rung_context *context = open_with("cpu", 1);
  for (mode mode = UPWARD; mode < MODES; mode++) {
    int facts = 0;
    set_mode(mode);
    const found before = find_mode();
    const rung_status status[] = {rung_device_at(0, &info), rung_opened(context, &info),
                                  rung_device_facts("cpu", ignore, &facts, NULL),
                                  rung_synchronize(context)};
    const found after = find_mode();
    set_mode(NEAREST);
    for (int k = 0; k < 4; k++) assert_int_equal(status[k], RUNG_OK);
    assert_true(facts > 3);
    assert_memory_equal(&after, &before, sizeof before);
  }
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread),
      cmocka_unit_test(three_threads),
      cmocka_unit_test(simulator),
      cmocka_unit_test(what_is_here),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
