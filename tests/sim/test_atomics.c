/* Atomic operations of the simulated GPU: every one takes effect once, and gives what was there. */
#include "sim/board.h"
#include "sim/trials.h"

enum { BLOCK = 64, THREADS = TRIAL_BLOCKS * BLOCK };

/* After threads first ... first + count worked on a row of counters. [6] and [7] are known in sum
 * only. `bits`: of the type; results are the low ones. */
static void check_row(const uint64_t *found, int first, int count, int bits, bool is_signed) {
  const uint64_t low = bits == 32 ? UINT32_MAX : UINT64_MAX;
  uint64_t wanted[TRIAL_COUNTERS] = {0, 0, 0, UINT64_MAX}, put = 0, olds = 0;
  for (int i = first; i < first + count; i++) {
    const uint64_t own = (uint64_t)(int64_t)(i % 1000 - 300) & low;
    const bool less = is_signed ? (int32_t)own < (int32_t)wanted[1] : own < wanted[1];
    const bool more = is_signed ? (int32_t)own > (int32_t)wanted[2] : own > wanted[2];
    wanted[0]++;
    if (less) wanted[1] = own;
    if (more) wanted[2] = own;
    wanted[3] &= ~(1ull << i % 31);
    wanted[4] |= 1ull << i % 29;
    wanted[5] ^= (uint64_t)(i * 977);
    put += (uint64_t)i + 1;
    wanted[8] += 3;
    olds += (uint64_t)(i - first);
  }
  wanted[9] = olds;
  for (int k = 0; k < 10; k++)
    if (k != 6 && k != 7) assert_int_equal(found[k] & low, wanted[k] & low);
  assert_int_equal((found[6] + found[7]) & low, put & low);
  assert_true(found[7] > (uint64_t)first && found[7] <= (uint64_t)(first + count));
}

static void check_atomics(rung_launch *const *entries, int bits, bool is_signed) {
  enum { ROWS = TRIAL_BLOCKS + 1, COUNT = ROWS * TRIAL_COUNTERS };
  const size_t bytes = (size_t)bits / 8;
  static uint64_t wide[COUNT];
  uint32_t narrow[COUNT] = {0};
  const char none[1] = {0};
  if (!here.state) skip();
  /* The type's "all ones" is where the counter of `and` begins. */
  memset(wide, 0, sizeof wide);
  memset((char *)(bits == 32 ? (void *)narrow : (void *)wide) + 3 * bytes, 0xff, bytes);
  /* Swapped values race for the last place: what is left to be the same every time is the rest. */
  must(launch_once(entries, NULL, none, 1, bits == 32 ? (void *)narrow : (void *)wide,
                   COUNT * bytes));
  for (int i = 0; i < COUNT && bits == 32; i++) wide[i] = narrow[i];
  check_row(wide, 0, THREADS, bits, is_signed);
  for (int b = 0; b < TRIAL_BLOCKS; b++)
    check_row(wide + (b + 1) * TRIAL_COUNTERS, b * BLOCK, BLOCK, bits, is_signed);
}

/* Plain, and examined: in whatever order. */
static void check_in_every_order(rung_launch *const *entries, int bits, bool is_signed) {
  check_atomics(entries, bits, is_signed);
  for (uint64_t seed = 1; seed <= 3 && here.backend->examine; seed++) {
    here.backend->examine(here.state, true, seed);
    check_atomics(entries, bits, is_signed);
    here.backend->examine(here.state, false, 0);
  }
}

static void atomics_on_int(void **unused) {
  (void)unused;
  check_in_every_order(ENTRIES_OF(trial_atomics_int), 32, true);
}
static void atomics_on_unsigned(void **unused) {
  (void)unused;
  check_in_every_order(ENTRIES_OF(trial_atomics_unsigned), 32, false);
}
static void atomics_on_unsigned_long_long(void **unused) {
  (void)unused;
  check_in_every_order(ENTRIES_OF(trial_atomics_long), 64, false);
}

/* The sums are of quarters, and exact in any order. */
#define SUMS(type)                                                                      \
  static void atomics_on_##type(void **unused) {                                        \
    (void)unused;                                                                       \
    type out[3 + TRIAL_BLOCKS] = {0}, sum = 0, put = 0;                                 \
    const char none[1] = {0};                                                           \
    if (!here.state) skip();                                                            \
    must(launch_once(ENTRIES_OF(trial_atomic_##type), NULL, none, 1, out, sizeof out)); \
    for (int b = 0; b < TRIAL_BLOCKS; b++) {                                            \
      type own = 0;                                                                     \
      for (int i = b * BLOCK; i < (b + 1) * BLOCK; i++) {                               \
        own += (type)i / 4;                                                             \
        put += (type)(i + 1);                                                           \
      }                                                                                 \
      assert_true(out[3 + b] == own);                                                   \
      sum += own;                                                                       \
    }                                                                                   \
    assert_true(out[0] == sum);                                                         \
    assert_true(out[1] + out[2] == put);                                                \
  }
SUMS(float)
SUMS(double)

static void counters_wrap(void **unused) {
  (void)unused;
  unsigned out[203] = {0};
  const char none[1] = {0};
  run_on_board(ENTRIES_OF(trial_atomic_wraps), NULL, none, 1, out, sizeof out);
  assert_int_equal(out[0], THREADS % 100);
  assert_int_equal(out[1], (100 - THREADS % 100) % 100);
  for (unsigned k = 0; k < 100; k++) {
    assert_int_equal(out[2 + k], THREADS / 100 + (k < THREADS % 100));
    assert_int_equal(out[102 + k], THREADS / 100 + ((100 - k) % 100 < THREADS % 100));
  }
  assert_int_equal(out[202], 0u - 2u * THREADS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(atomics_on_int),   EACH(atomics_on_unsigned), EACH(atomics_on_unsigned_long_long),
      EACH(atomics_on_float), EACH(atomics_on_double),   EACH(counters_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
