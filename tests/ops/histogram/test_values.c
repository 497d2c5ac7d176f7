/* rung_histogram() of chosen numbers: nothing is lost or counted twice, whatever their order, their
 * number and their bins. */
#include "ops/histogram/outside.h"

enum { ROOM = 40000 };
static float floats[ROOM];
static double doubles[ROOM];
static int64_t longs[ROOM], found[ROOM + 3], wanted[ROOM + 3];
static int32_t ints[ROOM];
static uint8_t bytes[ROOM];

static void same(const int64_t *a, const int64_t *b, int64_t n, const char *rung,
                 const char *what) {
  for (int64_t k = 0; k < n; ++k)
    if (a[k] != b[k])
      fail_msg("%s, %s: slot %ld has %ld, not %ld", what, rung, (long)k, (long)a[k], (long)b[k]);
}

/* The total is n for every length around the tiles' and the vectors', in every order. */
static void counts_everything_once(void **state) {
  (void)state;
  static const int lengths[] = {0,   1,   2,   3,    31,   32,   33,   63,   255,   257,
                                511, 512, 513, 1021, 2047, 2049, 8191, 8193, 20011, 39989};
  static const rung_bins bins = {0, RUNG_BINS_EVEN, 100, 0, 1, NULL};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (int order = 0; order < 4 && context != NULL; ++order)
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; ++l) {
        const int n = lengths[l];
        memset(wanted, 0, sizeof wanted);
        for (int i = 0; i < n; ++i) {
          const int k = order == 0   ? 42
                        : order == 1 ? (int)((int64_t)i * 100 / n)
                        : order == 2 ? (i % 2 ? 7 : 93)
                                     : (int)((uint32_t)i * 2654435761u >> 7) % 100;
          floats[i] = ((float)k + 0.5f) / 100;
          wanted[k] += 1;
        }
        memset(found, 0xff, sizeof found);
        count_all(context, &bins, f32, floats, n, found, places[p].rung);
        same(found, wanted, 103, places[p].rung, "orders");
        assert_int_equal(found[103], -1);
      }
    rung_close(context);
  }
}

static void counts_apart_what_is_outside(void **state) {
  (void)state;
  static const double x[] = {
      -0.0,        0,       0x1p-1074, -0x1p-1074, 1,    0x1.fffffffffffffp-1,
      NAN,         -NAN,    INFINITY,  -INFINITY,  -1,   2,
      1 + 0x1p-52, 0x1p-20, 0.5,       0.25,       0.75, 1e308};
  /* four bins of [0, 1] */
  static const int64_t counts[] = {4, 1, 1, 3, 3, 4, 2};
  static const double given[] = {0, 0.25, 0.5, 0.75, 1};
  for (int p = 0; p < PLACES; ++p)
    for (int kind = RUNG_BINS_EVEN; kind <= RUNG_BINS_EDGES; ++kind) {
      rung_context *context = open_place(p);
      const rung_bins bins = {0, (rung_bins_kind)kind, 4, 0, 1, given};
      if (context == NULL) continue;
      count_all(context, &bins, f64, x, sizeof x / sizeof *x, found, places[p].rung);
      same(found, counts, 7, places[p].rung, "f64");
      for (size_t i = 0; i < sizeof x / sizeof *x; ++i) floats[i] = (float)x[i];
      count_all(context, &bins, f32, floats, sizeof x / sizeof *x, found, places[p].rung);
      /* As floats the tiniest are zeros, and both neighbours of 1 are 1. */
      static const int64_t narrow[] = {5, 1, 1, 4, 2, 3, 2};
      same(found, narrow, 7, places[p].rung, "f32");
      rung_close(context);
    }
}

/* x mod count, for counts of every kind and numbers at both ends of the types. */
static void takes_the_remainder(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 3, 5, 8, 10, 255, 256, 257, 1000, 4096, 30011};
  for (int i = 0; i < 3000; ++i) {
    const uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u ^ (uint64_t)i >> 3;
    ints[i] = i < 500 ? INT32_MIN + i : i < 1000 ? INT32_MAX - i + 500 : (int32_t)(x >> 20);
    longs[i] = i < 500 ? INT64_MIN + i : i < 1000 ? INT64_MAX - i + 500 : (int64_t)x;
  }
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (size_t c = 0; c < sizeof counts / sizeof *counts && context != NULL; ++c) {
      const rung_bins bins = {.kind = RUNG_BINS_MODULO, .count = counts[c]};
      const int64_t m = counts[c];
      for (int wide = 0; wide < 3; ++wide) {
        memset(wanted, 0, sizeof wanted);
        for (int i = 0; i < 3000; ++i) {
          const int64_t x = wide == 0 ? ints[i] : wide == 1 ? (int64_t)(uint32_t)ints[i] : longs[i];
          wanted[(x % m + m) % m] += 1;
        }
        count_all(context, &bins,
                  wide == 0   ? i32
                  : wide == 1 ? u32
                              : i64,
                  wide < 2 ? (void *)ints : longs, 3000, found, places[p].rung);
        same(found, wanted, m + 3, places[p].rung, "remainders");
      }
    }
    rung_close(context);
  }
}

static void counts_bytes(void **state) {
  (void)state;
  static const int lengths[] = {0, 1, 7, 8, 9, 255, 256, 4095, 32769, 39999};
  for (int i = 0; i < ROOM; ++i) bytes[i] = (uint8_t)((uint32_t)i * 2654435761u >> 11);
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths && context != NULL; ++l)
      for (int offset = 0; offset < 3; offset += 2) { /* begins at any address */
        const int n = lengths[l] > offset ? lengths[l] - offset : 0;
        const rung_bins all = {.kind = RUNG_BINS_BYTES},
                        some = {0, RUNG_BINS_EVEN, 9, 3.5, 200, NULL};
        memset(wanted, 0, sizeof wanted);
        for (int i = 0; i < n; ++i) wanted[bytes[offset + i]] += 1;
        count_all(context, &all, u8, bytes + offset, n, found, places[p].rung);
        same(found, wanted, 259, places[p].rung, "bytes");
        memset(wanted, 0, sizeof wanted);
        for (int i = 0; i < n; ++i) {
          const int x = bytes[offset + i];
          int k = 0;
          while (k < 8 && (k + 1) * (196.5 / 9) + 3.5 <= x) ++k;
          wanted[x < 3.5 ? 9 : x > 200 ? 10 : k] += 1;
        }
        count_all(context, &some, u8, bytes + offset, n, found, places[p].rung);
        same(found, wanted, 12, places[p].rung, "bytes in even bins");
      }
    rung_close(context);
  }
}

/* An i64 is compared as the nearest double. */
static void rounds_long_integers(void **state) {
  (void)state;
  static const int64_t x[] = {((int64_t)1 << 53) - 1, (int64_t)1 << 53, ((int64_t)1 << 53) + 1,
                              ((int64_t)1 << 53) + 2, INT64_MAX,        INT64_MIN};
  static const double given[] = {0, 0x1p53, 0x1.0000000000001p53, 0x1p63};
  static const int64_t counts[] = {1, 2, 2, 1, 0, 0};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    const rung_bins bins = {0, RUNG_BINS_EDGES, 3, 0, 0, given};
    if (context == NULL) continue;
    count_all(context, &bins, i64, x, 6, found, places[p].rung);
    same(found, counts, 6, places[p].rung, "i64");
    rung_close(context);
  }
}

/* Many edges that are not even at all. */
static void finds_given_edges(void **state) {
  (void)state;
  enum { N = 9001 };
  static double given[4001];
  for (int count = 1; count <= 4000; count = count * 3 + 1) {
    for (int k = 0; k <= count; ++k) given[k] = k == 0 ? -1 : given[k - 1] + exp(k % 21 - 10);
    memset(wanted, 0, sizeof wanted);
    for (int i = 0; i < N; ++i) {
      doubles[i] = given[i % (count + 1)];
      if (i % 3) doubles[i] = nextafter(doubles[i], i % 3 == 1 ? INFINITY : -INFINITY);
      int k = 0;
      while (k + 1 < count && given[k + 1] <= doubles[i]) ++k;
      wanted[doubles[i] < given[0] ? count : doubles[i] > given[count] ? count + 1 : k] += 1;
    }
    for (int p = 0; p < PLACES; ++p) {
      rung_context *context = open_place(p);
      const rung_bins bins = {0, RUNG_BINS_EDGES, count, 0, 0, given};
      if (context == NULL) continue;
      count_all(context, &bins, f64, doubles, N, found, places[p].rung);
      same(found, wanted, count + 3, places[p].rung, "given edges");
      rung_close(context);
    }
  }
}

/* More equal bytes than a signed counter of 32 bits holds, and others behind them. Memory that
 * nobody has written to costs next to nothing. */
static void counts_beyond_32_bits(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
  skip(); /* instrumented or emulated, that many take minutes */
#endif
  const int64_t n = ((int64_t)1 << 31) + 5;
  uint8_t *bytes = (uint8_t *)calloc((size_t)n, 1);
  if (bytes == NULL) skip();
  for (int64_t k = n - 4; k < n; ++k) bytes[k] = (uint8_t)(n - k); /* 4, 3, 2, 1 */
  static const char *const rungs[] = {"private", "threads"};
  for (int r = 0; r < 2; ++r) {
    rung_context *context = open_place(0);
    count_all(context, &(rung_bins){.kind = RUNG_BINS_BYTES}, u8, bytes, n, found, rungs[r]);
    rung_close(context);
    assert_true(found[0] == n - 4);
    for (int v = 1; v < 256 + 3; ++v) assert_true(found[v] == (v <= 4));
  }
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_everything_once), cmocka_unit_test(counts_apart_what_is_outside),
      cmocka_unit_test(takes_the_remainder),    cmocka_unit_test(counts_bytes),
      cmocka_unit_test(rounds_long_integers),   cmocka_unit_test(finds_given_edges),
      cmocka_unit_test(counts_beyond_32_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
