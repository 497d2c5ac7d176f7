/* The kernels behind the measured peaks, and what the probes say they did. */
#include "backend/cpu/cpu.h"
#include "core/context.h"
#include "ops/outside.h"

static const rung_backend *const cpu = &rung_cpu_backend;

static rung_context *opened(int threads, rung_isa isa) {
  rung_context *context = NULL;
  rung_options options = {.device = "cpu", .threads = threads, .isa = rung_isa_name(isa)};
  if (rung_open(&context, &options) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  return context;
}

/* What the kernels of a table do, element by element. */
static void check_kernels(const rung_cpu_kernels *kernels) {
  enum { WORDS = 1024, BYTES = WORDS * 8 };
  static uint64_t from[WORDS + 8] __attribute__((aligned(64)));
  static uint64_t to[WORDS + 8] __attribute__((aligned(64)));
  memset(from, 0, sizeof from);
  assert_int_equal(kernels->read(from, BYTES), 0);
  from[WORDS] = 99; /* past the end */
  for (int i = 0; i < WORDS; i++) {
    from[i] = UINT64_C(1) << (i % 64);
    assert_true(kernels->read(from, BYTES) == from[i]); /* no word is left out */
    from[i] = 0;
  }
  for (int past = 0; past < 2; past++) {
    void (*write)(void *, size_t) = past ? kernels->write_past : kernels->write;
    void (*copy)(void *, const void *, size_t) = past ? kernels->copy_past : kernels->copy;
    if (write == NULL) continue;
    memset(to, 0xAA, sizeof to);
    write(to, BYTES);
    for (int i = 0; i < WORDS; i++) assert_true(to[i] == 1);
    assert_true(to[WORDS] == UINT64_C(0xAAAAAAAAAAAAAAAA));
    for (int i = 0; i < WORDS; i++) from[i] = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    copy(to, from, BYTES);
    assert_memory_equal(to, from, BYTES);
    assert_true(to[WORDS] == UINT64_C(0xAAAAAAAAAAAAAAAA));
  }
  /* Every accumulator halves and gains one (on aarch64: gains a half). */
  assert_int_equal(kernels->fmas32, 2 * kernels->fmas64);
  double floats = kernels->fmas32, doubles = kernels->fmas64;
  double single = kernels->fma32(0, 0.5f, 1.0f), wide = kernels->fma64(0, 0.5, 1.0);
  assert_true(single > 0 && wide > 0);
#if defined(__aarch64__)
  assert_true(kernels->fma32(1000, 0.5f, 1.0f) == single + 500 * floats);
  assert_true(kernels->fma64(1000, 0.5, 1.0) == wide + 500 * doubles);
#else
  assert_true(kernels->fma32(1, 0.5f, 1.0f) == single / 2 + floats);
  assert_true(kernels->fma64(1, 0.5, 1.0) == wide / 2 + doubles);
  assert_true(kernels->fma32(1000, 0.5f, 1.0f) == 2 * floats);
  assert_true(kernels->fma64(1000, 0.5, 1.0) == 2 * doubles);
#endif
}

static void probe_kernels_do_their_work(void **state) {
  (void)state;
  check_kernels(&rung_cpu_kernels_baseline);
#if defined(__x86_64__)
  rung_device best;
  assert_int_equal(cpu->describe(0, &best, NULL), RUNG_OK);
  if (best.isa >= RUNG_AVX2) check_kernels(&rung_cpu_kernels_avx2);
  if (best.isa >= RUNG_AVX512) check_kernels(&rung_cpu_kernels_avx512);
#endif
}

/* A probe whose chains the compiler merged reports more than any CPU has. */
static void arithmetic_is_not_faster_than_the_units(void **state) {
  (void)state;
  static const int lanes[RUNG_ISAS] = {4, 8, 16};
  rung_device best;
  assert_int_equal(cpu->describe(0, &best, NULL), RUNG_OK);
  for (int isa = 0; isa <= (int)best.isa; isa++) {
    for (int probe = RUNG_PROBE_FMA32; probe <= RUNG_PROBE_FMA64; probe++) {
      rung_context *context = opened(1, (rung_isa)isa);
      double work = 0, took = 1e9, mhz = 0;
      for (int i = 0; i < 5; i++) { /* the best: on a busy machine a fault would hide */
        double again;
        assert_int_equal(cpu->probe(context->state, (rung_probe)probe, 0, &work, &again, NULL),
                         RUNG_OK);
        if (again < took) took = again;
      }
      for (int i = 0; i < 100; i++) { /* likewise: too low a clock would look like a fault */
        double again;
        cpu->clock_begin(context->state, NULL);
        cpu->clock_end(context->state, NULL);
        cpu->clock_mhz(context->state, &again, NULL);
        if (again > mhz) mhz = again;
      }
      rung_close(context);
      double units = work / (took * mhz * 1e3) / lanes[isa] * (probe == RUNG_PROBE_FMA64 ? 2 : 1);
#if defined(__OPTIMIZE__)
      double most = isa == RUNG_BASELINE ? 4 : 2; /* Arm has up to four units of 128 bits */
      if (!(units > 0 && units < most * 1.3))
        fail_msg("%s: %.2f vectors a cycle", rung_isa_name((rung_isa)isa), units);
#else
      assert_true(units > 0);
#endif
    }
  }
}

static void bandwidth_probes_count_their_bytes(void **state) {
  (void)state;
  rung_context *context = opened(2, RUNG_BASELINE);
  static const int64_t sets[] = {0, 1, 40000, 3 << 20}; /* memory, and what caches may hold */
  for (int probe = RUNG_PROBE_READ; probe <= RUNG_PROBE_COPY; probe++)
    /* All memory there is to spare, and its shadow, take ThreadSanitizer half a minute. */
    for (size_t i = THREADS_ONLY; i < sizeof sets / sizeof *sets; i++) {
      double work = 0, took = 0;
      rung_error error = {0};
      if (cpu->probe(context->state, (rung_probe)probe, sets[i], &work, &took, &error) != RUNG_OK)
        fail_msg("%s", error.sentence);
      assert_true(took > 0);
      assert_true(work > 0 && work <= 2147483648.0);
      if (sets[i] == 0) assert_true(work <= (double)context->state->spare_bytes);
      double rate = work / took * 1e-6;
      if (!(rate > 0 && rate < 5000)) fail_msg("probe %d: %.3g GB/s", probe, rate);
    }
  assert_int_equal(cpu->probe(context->state, RUNG_PROBES, 0, &(double){0}, &(double){0}, NULL),
                   RUNG_BAD_ARGUMENT);
  rung_close(context);
}

/* Nearest first, each larger, and the last what a flush has to cover. */
static void caches_are_told_from_the_nearest_on(void **state) {
  (void)state;
  rung_device device;
  assert_int_equal(cpu->describe(0, &device, NULL), RUNG_OK);
  int count = 0;
  for (; count < RUNG_CACHES && device.caches[count].bytes > 0; count++)
    if (count > 0) assert_true(device.caches[count].level > device.caches[count - 1].level);
  assert_true(count > 0);
  assert_true(device.caches[count - 1].bytes == device.cache_bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probe_kernels_do_their_work),
      cmocka_unit_test(arithmetic_is_not_faster_than_the_units),
      cmocka_unit_test(bandwidth_probes_count_their_bytes),
      cmocka_unit_test(caches_are_told_from_the_nearest_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
