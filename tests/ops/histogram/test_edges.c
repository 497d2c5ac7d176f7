/* Every edge of many even bins, and the numbers next to it on both sides, fall where comparisons
 * with the edges say. The edges are worked out here, as numpy.linspace does it. */
#include "ops/histogram/outside.h"

enum { MOST_BINS = 1 << 20, MANY_BINS = INSTRUMENTED ? 1 << 17 : MOST_BINS };
static double edges[MOST_BINS + 1];
static int64_t wanted[MOST_BINS + 3], found[MOST_BINS + 3];
static float floats[3 * MOST_BINS + 3];
static double doubles[3 * MOST_BINS + 3];

static void make_edges(const rung_bins *bins, bool narrow) {
  const double step = (bins->high - bins->low) / (double)bins->count;
  for (int64_t k = 0; k <= bins->count; ++k) {
    edges[k] =
        step == 0 ? (double)k / (double)bins->count * (bins->high - bins->low) : (double)k * step;
    edges[k] += bins->low;
    if (k == bins->count) edges[k] = bins->high;
    if (narrow) { /* GCC up to 13 takes vectors of the two conversions for nothing */
      volatile float rounded = (float)edges[k];
      edges[k] = (double)rounded;
    }
  }
}

/* The largest k < count with edges[k] <= x. Many edges may be one number, where floats are far
 * apart. */
static int64_t slot_of(int64_t count, double x) {
  if (x < edges[0]) return count;
  if (x > edges[count]) return count + 1;
  int64_t k = 0;
  for (int64_t step = MOST_BINS; step > 0; step /= 2)
    if (k + step < count && edges[k + step] <= x) k += step;
  return k;
}

static void check(rung_context *context, const char *rung, int64_t count, double low, double high,
                  bool narrow) {
  const rung_bins bins = {0, RUNG_BINS_EVEN, count, low, high, NULL};
  make_edges(&bins, narrow);
  memset(wanted, 0, (size_t)(count + 3) * sizeof *wanted);
  for (int64_t k = 0; k <= count; ++k)
    for (int side = -1; side <= 1; ++side) {
      const int64_t i = 3 * k + side + 1;
      const double to = side * (double)INFINITY;
      floats[i] = side ? nextafterf((float)edges[k], (float)to) : (float)edges[k];
      doubles[i] = side ? nextafter(edges[k], to) : edges[k];
      wanted[slot_of(count, narrow ? (double)floats[i] : doubles[i])] += 1;
    }
  count_all(context, &bins, narrow ? f32 : f64, narrow ? (void *)floats : doubles, 3 * count + 3,
            found, rung);
  for (int64_t k = 0; k < count + 3; ++k)
    if (found[k] != wanted[k])
      fail_msg("%s, f%d, %ld bins, %a ... %a: bin %ld has %ld, not %ld", rung, narrow ? 32 : 64,
               (long)count, low, high, (long)k, (long)found[k], (long)wanted[k]);
}

static const int64_t counts[] = {1, 2, 3, 7, 10, 49, 64, 100, 255, 256, 1000, 1023, 1024, 4099};
static const double ranges[][2] = {{0, 1},
                                   {-1, 1},
                                   {0.1, 0.3},
                                   {-0.3, 0.9},
                                   {0, 255},
                                   {-1e-3, 2e5},
                                   {1000, 1001},
                                   {1e6, 1e6 + 1},
                                   {-1e9, -1e9 + 3},
                                   {0, 1e-37},
                                   {0, 1e-40},
                                   {-1e-44, 1e-44},
                                   {-3.4e38, 3.4e38},
                                   {1, 1.0000001},
                                   {0x1p100, 0x1.8p100},
                                   {16777215, 16777217},
                                   {3, 3.14159265358979},
                                   {-1e-300, 1e30}};
static const double wide_ranges[][2] = {
    {0, 5e-324},      {0, 1e-310}, {-1e-308, 1e-308}, {-8e307, 8e307}, {1, 1.0000000000000004},
    {1e15, 1e15 + 2}, {0, 1e300},  {-1e-320, 3e-320}};

static void places_every_edge(void **state) {
  (void)state;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    const bool few = strcmp(places[p].device, "cpu") != 0;
    for (size_t c = 0; c < sizeof counts / sizeof *counts && context != NULL; c += few ? 3 : 1) {
      for (size_t r = 0; r < sizeof ranges / sizeof *ranges; ++r)
        for (int narrow = 0; narrow < 2; ++narrow)
          check(context, places[p].rung, counts[c], ranges[r][0], ranges[r][1], narrow);
      for (size_t r = 0; r < sizeof wide_ranges / sizeof *wide_ranges; ++r)
        check(context, places[p].rung, counts[c], wide_ranges[r][0], wide_ranges[r][1], false);
    }
    rung_close(context);
  }
}

static void places_a_million_edges(void **state) {
  (void)state;
  for (int p = 0; p < 3; ++p) {
    rung_context *context = open_place(p);
    for (int narrow = 0; narrow < 2; ++narrow) {
      check(context, places[p].rung, MANY_BINS, 0, 1, narrow);
      check(context, places[p].rung, MANY_BINS, -5, 1, narrow);
      check(context, places[p].rung, MANY_BINS - 1, 1e6, 1e6 + 1, narrow);
      check(context, places[p].rung, 65537, 0.1, 0.7, narrow);
    }
    rung_close(context);
  }
}

/* Of integers the edges lie between them: each of 16 bits is compared with all of them. */
static void places_every_integer(void **state) {
  (void)state;
  static uint16_t x[65536];
  static const double places_of[][2] = {{0, 65536},  {0, 65535},   {-0.5, 65535.5}, {10.25, 999.75},
                                        {-1e5, 1e5}, {65534, 1e9}, {7, 8}};
  for (int i = 0; i < 65536; ++i) x[i] = (uint16_t)i;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (size_t r = 0; r < sizeof places_of / sizeof *places_of && context != NULL; ++r)
      for (int64_t count = 1; count <= 100000; count = count * 7 + 3) {
        const rung_bins bins = {0, RUNG_BINS_EVEN, count, places_of[r][0], places_of[r][1], NULL};
        make_edges(&bins, false);
        memset(wanted, 0, (size_t)(count + 3) * sizeof *wanted);
        for (int i = 0; i < 65536; ++i) wanted[slot_of(count, i)] += 1;
        count_all(context, &bins, u16, x, 65536, found, places[p].rung);
        assert_memory_equal(found, wanted, (size_t)(count + 3) * sizeof *wanted);
      }
    rung_close(context);
  }
}

/* Steps that are powers of two, from a multiple of them on: bins that are found by other means. */
static void places_edges_of_a_grid(void **state) {
  (void)state;
  static const double steps[] = {0x1p-120, 0x1p-20, 0.25, 1, 16, 1024, 0x1p40, 0x1p110};
  static const int64_t many[] = {1, 2, 7, 16, 100, 256, 1000, 4096};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    const bool few = strcmp(places[p].device, "cpu") != 0;
    for (size_t s = 0; s < sizeof steps / sizeof *steps && context != NULL; s += few ? 3 : 1)
      for (size_t c = 0; c < sizeof many / sizeof *many; c += few ? 3 : 1)
        for (int from = 0; from < 4; ++from) {
          const double at = from == 3 ? -(double)(many[c] / 2) : from == 2 ? 5 : -3.0 * from;
          for (int narrow = 0; narrow < 2; ++narrow)
            check(context, places[p].rung, many[c], at * steps[s],
                  (at + (double)many[c]) * steps[s], narrow);
        }
    rung_close(context);
  }
}

/* The same of integers of 32 bits: edges, their neighbours, and the ends of the type. */
static void places_integers_of_a_grid(void **state) {
  (void)state;
  static uint32_t x[3 * 4097 + 6];
  static const double lows[] = {0, -5, 7, -100000, -0x1p31, -0x1p31 - 1, 0x1p31 - 64, -0x1p32};
  static const double steps[] = {1, 2, 64, 0x1p20, 0x1p24, 0x1p31, 0x1p32};
  static const int64_t many[] = {1, 2, 7, 16, 64, 256, 4096};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    const bool few = strcmp(places[p].device, "cpu") != 0;
    for (size_t l = 0; l < sizeof lows / sizeof *lows && context != NULL; l += few ? 3 : 1)
      for (size_t s = 0; s < sizeof steps / sizeof *steps; s += few ? 2 : 1)
        for (size_t c = 0; c < sizeof many / sizeof *many; c += few ? 3 : 1)
          for (int sign = 0; sign < 2; ++sign) {
            const rung_bins bins = {
                0, RUNG_BINS_EVEN, many[c], lows[l], lows[l] + steps[s] * (double)many[c], NULL};
            make_edges(&bins, false);
            memset(wanted, 0, (size_t)(bins.count + 3) * sizeof *wanted);
            int64_t n = 0;
            for (int64_t k = 0; k <= bins.count; ++k)
              for (int side = -1; side <= 1; ++side) x[n++] = (uint32_t)((int64_t)edges[k] + side);
            for (int k = -3; k < 3; ++k)
              x[n++] = UINT32_C(0x80000000) * (uint32_t)(k & 1) + (uint32_t)k;
            for (int64_t i = 0; i < n; ++i)
              wanted[slot_of(bins.count, sign ? (double)(int32_t)x[i] : (double)x[i])] += 1;
            count_all(context, &bins, sign ? i32 : u32, x, n, found, places[p].rung);
            for (int64_t k = 0; k < bins.count + 3; ++k)
              if (found[k] != wanted[k])
                fail_msg("%s, %s32, %ld bins from %g by %g: bin %ld has %ld, not %ld",
                         places[p].rung, sign ? "i" : "u", (long)bins.count, lows[l], steps[s],
                         (long)k, (long)found[k], (long)wanted[k]);
          }
    rung_close(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_every_edge), cmocka_unit_test(places_edges_of_a_grid),
      cmocka_unit_test(places_integers_of_a_grid), cmocka_unit_test(places_a_million_edges),
      cmocka_unit_test(places_every_integer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
