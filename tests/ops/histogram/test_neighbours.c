/* Elements of every type on each edge of even bins and next to it on both sides, what is special of
 * the type, and remainders of all: each rung counts them where a search of the edges finds them. So
 * many that a thread's words hold some that a guess proves and some that it does not, and that
 * several blocks share them. The edges are worked out here, as numpy.linspace does it. */
#include "core/dtype.h"
#include "ops/histogram/outside.h"

enum { MOST_BINS = 65536, LEAST = 10007, MOST = 3 * MOST_BINS + LEAST };
static double edges[MOST_BINS + 1];
static int64_t wanted[MOST_BINS + 3], found[MOST_BINS + 3];
static _Alignas(16) char data[MOST * 8];

static const struct {
  rung_dtype dtype;
  const DLDataType *type;
} types[] = {{RUNG_U8, &u8},     {RUNG_I8, &i8},   {RUNG_U16, &u16}, {RUNG_I16, &i16},
             {RUNG_I32, &i32},   {RUNG_U32, &u32}, {RUNG_I64, &i64}, {RUNG_F16, &f16},
             {RUNG_BF16, &bf16}, {RUNG_F32, &f32}, {RUNG_F64, &f64}};

static const struct {
  int64_t count;
  double low, high;
} bins[] = {{16, 0, 16},
            {1, 0, 1},
            {16, 0, 256},
            {10, 0, 1},
            {100, -50, 50},
            {256, 0, 256},
            {77, -0.3, 0.9},
            {1000, -7, 993},
            {7, 1000, 1001},
            {33, -3.5, 77.25},
            {4096, 0, 4096},
            {1024, 0, 65504},
            {99, 60000, 61000},
            {12, -128, 127},
            {5, 16777213, 16777219},
            {1024, 0, 4294967296},
            {64, -2147483648.0, 2147483647},
            {50, -1e18, 9.2e18}};

static char *at(rung_dtype dtype, int64_t i) {
  return data + i * (int64_t)rung_dtype_bytes(dtype);
}

/* x, or of an integer the whole number below it, or as near as the type has one; then so many steps
 * of the type's numbers further. */
static void put(rung_dtype dtype, int64_t i, double x, int steps) {
  const rung_traits *traits = rung_traits_of(dtype);
  if (traits->kind != RUNG_FLOAT) {
    const double least = traits->least, most = dtype == RUNG_I64 ? 0x1p62 : traits->largest;
    const double whole = floor(x) + steps;
    const double held = whole < least ? least : whole > most ? most : whole;
    traits->store_integer(at(dtype, i), (int64_t)held);
    return;
  }
  traits->store(at(dtype, i), x);
  const uint64_t sign = (uint64_t)1 << (8 * traits->bytes - 1);
  uint64_t bits = 0;
  memcpy(&bits, at(dtype, i), traits->bytes);
  if (steps != 0 && (bits & ~sign) == 0)
    bits = (steps < 0 ? sign : 0) | 1;
  else if (steps != 0)
    bits += ((bits & sign) == 0) == (steps > 0) ? 1 : -1;
  memcpy(at(dtype, i), &bits, traits->bytes);
}

static int64_t fill(rung_dtype dtype, int64_t count) {
  static const double special[] = {0.0,   -0.0,     1,         -1,        0.5, 1e30,
                                   -1e30, 0x1p-149, -0x1p-149, 0x1p-1074, 255, -128,
                                   65504, INFINITY, -INFINITY, NAN};
  enum { SPECIAL = sizeof special / sizeof *special };
  const bool real = rung_dtype_is_float(dtype);
  int64_t n = 0;
  while (n < LEAST) {
    for (int64_t k = 0; k <= count; ++k)
      for (int side = -1; side <= 1; ++side) put(dtype, n++, edges[k], side);
    for (int s = 0; s < (real ? SPECIAL : SPECIAL - 3); ++s) put(dtype, n++, special[s], 0);
  }
  return n;
}

static int64_t slot_of(int64_t count, double x) {
  if (isnan(x)) return count + 2;
  if (x < edges[0]) return count;
  if (x > edges[count]) return count + 1;
  int64_t under = 0, over = count;
  while (over - under > 1) {
    const int64_t middle = (under + over) / 2;
    if (edges[middle] <= x)
      under = middle;
    else
      over = middle;
  }
  return under;
}

static void check(rung_context *context, int p, size_t type, int64_t count, double low,
                  double high) {
  const rung_dtype dtype = types[type].dtype;
  const bool real = rung_dtype_is_float(dtype);
  const double step = (high - low) / (double)count;
  for (int64_t k = 0; k <= count; ++k) {
    const double edge = k == count ? high : (double)k * step + low;
    edges[k] = real ? rung_number_rounded(dtype, edge) : edge;
    if (!isfinite(edges[k])) return; /* beyond the type's range: refused */
  }
  const int64_t n = fill(dtype, count);
  memset(wanted, 0, (size_t)(count + 3) * sizeof *wanted);
  for (int64_t i = 0; i < n; ++i) wanted[slot_of(count, rung_number_at(dtype, data, i))] += 1;
  const rung_bins even = {0, RUNG_BINS_EVEN, count, low, high, NULL};
  count_all(context, &even, *types[type].type, data, n, found, places[p].rung);
  for (int64_t k = 0; k < count + 3; ++k)
    if (found[k] != wanted[k])
      fail_msg("%s on %s, %s, %ld bins, %a ... %a: slot %ld has %ld, not %ld", places[p].rung,
               places[p].device, rung_dtype_name(dtype), (long)count, low, high, (long)k,
               (long)found[k], (long)wanted[k]);
}

static void of_every_type(void **state) {
  (void)state;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (size_t t = 0; t < sizeof types / sizeof *types && context != NULL; ++t)
      for (size_t b = 0; b < sizeof bins / sizeof *bins; b += INSTRUMENTED ? 5 : 1)
        check(context, p, t, bins[b].count, bins[b].low, bins[b].high);
    rung_close(context);
  }
}

/* More bins than have counters of 32 bits in a block's shared memory. */
static void of_many_bins(void **state) {
  (void)state;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = strcmp(places[p].rung, "replicated") == 0 ? NULL : open_place(p);
    for (size_t t = 0; t < sizeof types / sizeof *types && context != NULL; ++t) {
      if (rung_dtype_bytes(types[t].dtype) < 2) continue;
      check(context, p, t, MOST_BINS, 0, 65504);
      if (rung_dtype_bytes(types[t].dtype) > 2) check(context, p, t, MOST_BINS - 1, -5, 1e6);
    }
    rung_close(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_every_type),
                                     cmocka_unit_test(of_many_bins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
