/* The CUDA backend's measuring, through backend.h alone: hold, marks, clock, flush, probes. */
#include "device/gpu.h"

#include <string.h>
#include <time.h>

static void sleep_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void a_fill_behind_a_hold_waits_for_its_release(void **unused) {
  (void)unused;
  NEED_DEVICE();
  void *memory, *seen;
  OK(cuda->allocate(gpu, 4096, &memory, &failure));
  OK(cuda->allocate_pinned(gpu, 4096, &seen, &failure));
  volatile unsigned char *byte = seen;
  OK(cuda->release_hold(gpu, &failure));
  for (int i = 0; i < 50; i++) {
    unsigned char before = (unsigned char)(2 * i), after = (unsigned char)(2 * i + 1);
    OK(cuda->fill(gpu, memory, before, 4096, &failure));
    OK(cuda->copy(gpu, seen, memory, 4096, RUNG_TO_HOST, &failure));
    OK(cuda->synchronize(gpu, &failure));
    assert_int_equal(*byte, before);
    OK(cuda->hold(gpu, &failure));
    OK(cuda->fill(gpu, memory, after, 4096, &failure));
    OK(cuda->copy(gpu, seen, memory, 4096, RUNG_TO_HOST, &failure));
    sleep_ms(i == 0 ? 100 : 2);
    assert_int_equal(*byte, before);
    OK(cuda->release_hold(gpu, &failure));
    OK(cuda->synchronize(gpu, &failure));
    assert_int_equal(*byte, after);
  }
  cuda->release(gpu, memory);
  cuda->release_pinned(gpu, seen);
}

static void a_hold_that_is_forgotten_gives_up_and_says_so(void **unused) {
  (void)unused;
  NEED_DEVICE();
  double start = seconds(), ms;
  OK(cuda->mark(gpu, 0, &failure));
  OK(cuda->hold(gpu, &failure));
  OK(cuda->mark(gpu, 1, &failure));
  FAILS(RUNG_DEVICE_FAILED, cuda->elapsed(gpu, &ms, &failure));
  assert_non_null(strstr(failure.sentence, "2 s"));
  double took = seconds() - start;
  assert_true(took > 1.9 && took < 10);
  OK(cuda->synchronize(gpu, &failure));
  OK(cuda->release_hold(gpu, &failure));
  OK(cuda->hold(gpu, &failure));
  OK(cuda->release_hold(gpu, &failure));
  OK(cuda->synchronize(gpu, &failure));
}

static void a_held_stream_holds_no_other(void **unused) {
  (void)unused;
  NEED_DEVICE();
  rung_state *other, *guest;
  void *memory, *seen;
  OK(cuda->open(&device, NULL, &other, &failure));
  OK(cuda->open(&device, cuda->stream(other), &guest, &failure));
  assert_ptr_equal(cuda->stream(guest), cuda->stream(other));
  OK(cuda->allocate(other, 64, &memory, &failure));
  OK(cuda->allocate_pinned(other, 64, &seen, &failure));
  OK(cuda->fill(other, memory, 3, 64, &failure));
  OK(cuda->synchronize(other, &failure));
  OK(cuda->hold(gpu, &failure));
  double start = seconds();
  OK(cuda->fill(guest, memory, 7, 64, &failure));
  OK(cuda->copy(other, seen, memory, 64, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(other, &failure));
  assert_int_equal(*(unsigned char *)seen, 7);
  assert_true(seconds() - start < 1);
  OK(cuda->release_hold(gpu, &failure));
  OK(cuda->synchronize(gpu, &failure));
  cuda->close(guest); /* leaves the stream to its owner */
  OK(cuda->fill(other, memory, 9, 64, &failure));
  OK(cuda->synchronize(other, &failure));
  cuda->release(other, memory);
  cuda->release_pinned(other, seen);
  cuda->close(other);
}

static void elapsed_time_is_the_time_between_the_marks(void **unused) {
  (void)unused;
  NEED_DEVICE();
  double ms = -1;
  OK(cuda->hold(gpu, &failure)); /* loads what hold needs, outside the marks */
  OK(cuda->release_hold(gpu, &failure));
  OK(cuda->synchronize(gpu, &failure));
  OK(cuda->mark(gpu, 0, &failure));
  OK(cuda->hold(gpu, &failure));
  OK(cuda->mark(gpu, 1, &failure));
  double start = seconds();
  sleep_ms(50);
  double slept = 1e3 * (seconds() - start);
  OK(cuda->release_hold(gpu, &failure));
  OK(cuda->elapsed(gpu, &ms, &failure));
  assert_true(ms > 0.9 * slept - 5 && ms < slept + 500);
  OK(cuda->mark(gpu, 0, &failure));
  OK(cuda->mark(gpu, 1, &failure));
  OK(cuda->elapsed(gpu, &ms, &failure));
  assert_true(ms >= 0 && ms < 1);
}

static void measuring_out_of_order_is_refused(void **unused) {
  (void)unused;
  NEED_DEVICE();
  rung_state *fresh;
  double value;
  OK(cuda->open(&device, NULL, &fresh, &failure));
  FAILS(RUNG_BAD_ARGUMENT, cuda->elapsed(fresh, &value, &failure));
  FAILS(RUNG_BAD_ARGUMENT, cuda->clock_mhz(fresh, &value, &failure));
  FAILS(RUNG_BAD_ARGUMENT, cuda->clock_end(fresh, &failure));
  FAILS(RUNG_BAD_ARGUMENT, cuda->mark(fresh, 2, &failure));
  FAILS(RUNG_BAD_ARGUMENT, cuda->probe(fresh, RUNG_PROBES, 0, &value, &value, &failure));
  OK(cuda->release_hold(fresh, &failure));
  cuda->close(fresh);
}

static void the_clock_is_a_clock(void **unused) {
  (void)unused;
  NEED_DEVICE();
  for (int i = 0; i < 20; i++) {
    double mhz = 0, ms = -1;
    OK(cuda->flush(gpu, &failure));
    OK(cuda->synchronize(gpu, &failure));
    OK(cuda->hold(gpu, &failure));
    OK(cuda->clock_begin(gpu, &failure));
    OK(cuda->mark(gpu, 0, &failure));
    OK(cuda->mark(gpu, 1, &failure));
    OK(cuda->clock_end(gpu, &failure));
    OK(cuda->release_hold(gpu, &failure));
    OK(cuda->elapsed(gpu, &ms, &failure));
    OK(cuda->clock_mhz(gpu, &mhz, &failure));
    assert_true(mhz > 100 && mhz < 4000);
    assert_true(ms >= 0 && ms < 1);
  }
}

/* Whether a flush makes the caches cold is a matter of times, which no test looks at; that it takes
 * nothing else with it is not. */
static void a_flush_leaves_arrays_as_they_are(void **unused) {
  (void)unused;
  NEED_DEVICE();
  enum { BYTES = 1 << 20 };
  static unsigned char seen[BYTES];
  void *memory;
  OK(cuda->allocate(gpu, BYTES, &memory, &failure));
  OK(cuda->fill(gpu, memory, 5, BYTES, &failure));
  OK(cuda->flush(gpu, &failure));
  OK(cuda->copy(gpu, seen, memory, BYTES, RUNG_TO_HOST, &failure));
  OK(cuda->synchronize(gpu, &failure));
  for (int i = 0; i < BYTES; i++) assert_int_equal(seen[i], 5);
  cuda->release(gpu, memory);
}

static void probes_find_plausible_peaks(void **unused) {
  (void)unused;
  NEED_DEVICE();
  static const char *const names[] = {"read", "write", "copy", "fma32", "fma64", "mma64"};
  double rate[RUNG_PROBES];
  for (int p = 0; p < RUNG_PROBES; p++) {
    double work = 0, ms = 0;
    OK(cuda->probe(gpu, (rung_probe)p, 0, &work, &ms, &failure));
    assert_true(work > 0 && ms > 0);
    rate[p] = work / ms / 1e6;
    print_message("probe %s: %.1f G/s over %.3f ms\n", names[p], rate[p], ms);
    if (p >= RUNG_PROBE_FMA32) assert_true(ms >= 4);
    assert_true(rate[p] > 1 && rate[p] < 1e6);
  }
  /* No multiprocessor does more than 256 float multiply-adds a cycle, at 4 GHz at most. */
  assert_true(rate[RUNG_PROBE_FMA32] < 256.0 * 4 * device.processors);
  assert_true(rate[RUNG_PROBE_FMA64] <= rate[RUNG_PROBE_FMA32] * 1.05);
  assert_true(rate[RUNG_PROBE_MMA64] >= rate[RUNG_PROBE_FMA64] * 0.95);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fill_behind_a_hold_waits_for_its_release),
      cmocka_unit_test(a_hold_that_is_forgotten_gives_up_and_says_so),
      cmocka_unit_test(a_held_stream_holds_no_other),
      cmocka_unit_test(elapsed_time_is_the_time_between_the_marks),
      cmocka_unit_test(measuring_out_of_order_is_refused),
      cmocka_unit_test(the_clock_is_a_clock),
      cmocka_unit_test(a_flush_leaves_arrays_as_they_are),
      cmocka_unit_test(probes_find_plausible_peaks),
  };
  return cmocka_run_group_tests_name("cuda measuring", tests, open_gpu, close_gpu);
}
