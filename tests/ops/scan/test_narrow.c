/* Scans of 8- and 16-bit elements from outside: what those of the same numbers in 32 bits come to,
 * brought into the type: modulo 2^bits, or rounded once. */
#include "core/dtype.h"
#include "core/half.h"
#include "ops/scan/outside.h"

static const struct {
  const char *device, *rung;
} places[] = {{"cpu", "serial"},
              {"cpu", "tiles"},
              {"cpu", "threads"},
              {"sim", "tiles"},
              {"sim", "single-pass"}};
enum { PLACES = sizeof places / sizeof *places, MOST = 20011 };

static const struct {
  rung_dtype dtype, wide;
  const DLDataType *type, *wide_type;
} types[] = {{RUNG_U8, RUNG_U32, &u8, &u32},   {RUNG_I8, RUNG_I32, &i8, &i32},
             {RUNG_U16, RUNG_U32, &u16, &u32}, {RUNG_I16, RUNG_I32, &i16, &i32},
             {RUNG_F16, RUNG_F32, &f16, &f32}, {RUNG_BF16, RUNG_F32, &bf16, &f32}};
enum { TYPES = sizeof types / sizeof *types };

static char narrow[2 * MOST + 2], found[2 * MOST + 2], wide[4 * MOST], results[4 * MOST];

static rung_context *open_place(int p) {
  return open_on(places[p].device);
}

/* Any bits; or, of floats, numbers of both signs about 1. */
static void fill(int t, int64_t n, bool any) {
  const rung_traits *traits = rung_traits_of(types[t].dtype);
  uint32_t x = 7;
  for (int64_t i = 0; i < n; ++i) {
    char *to = narrow + i * (int64_t)traits->bytes;
    x = x * 1664525u + 1013904223u;
    if (any || traits->kind != RUNG_FLOAT)
      memcpy(to, (const char *)&x + 2, traits->bytes);
    else
      traits->store(to, (int32_t)x / 3e9 + 0.1);
    rung_convert(types[t].wide, wide + 4 * i, types[t].dtype, to);
  }
}

/* Least numbers, or largest, that are surpassed again and again up to the end. */
static void fill_steps(int t, int64_t n, int what) {
  const rung_traits *traits = rung_traits_of(types[t].dtype);
  for (int64_t i = 0; i < n; ++i) {
    char *to = narrow + i * (int64_t)traits->bytes;
    const int64_t step = i % 37 == 0 ? 100 * i / n : -5;
    traits->store(to, (double)(what == RUNG_MIN ? 110 - step : 10 + step));
    rung_convert(types[t].wide, wide + 4 * i, types[t].dtype, to);
  }
}

static bool same(rung_dtype dtype, const char *a, const char *b) {
  const rung_traits *traits = rung_traits_of(dtype);
  if (memcmp(a, b, traits->bytes) == 0) return true;
  return traits->kind == RUNG_FLOAT && isnan(traits->load(a)) && isnan(traits->load(b));
}

/* Of exclusive minima and maxima the first element is the type's own. */
static void empty_of(int t, int what, char *to) {
  const rung_traits *traits = rung_traits_of(types[t].dtype);
  const bool real = traits->kind == RUNG_FLOAT;
  traits->store(to, what == RUNG_SUM   ? 0
                    : what == RUNG_MIN ? (real ? (double)INFINITY : traits->largest)
                                       : (real ? -(double)INFINITY : traits->least));
}

static void check(rung_context *context, int p, int t, int64_t n, int what, int exclusive) {
  const size_t bytes = rung_dtype_bytes(types[t].dtype);
  /* The textbook's order has its own counterpart. */
  const char *const rung = places[p].rung;
  scan_line(context, (rung_reduction)what, *types[t].wide_type, wide, n, exclusive, results, rung);
  memset(found, 0x55, sizeof found);
  scan_line(context, (rung_reduction)what, *types[t].type, narrow, n, exclusive, found, rung);
  for (int64_t i = 0; i < n; ++i) {
    char wanted[2];
    rung_convert(types[t].dtype, wanted, types[t].wide, results + 4 * i);
    if (exclusive && i == 0) empty_of(t, what, wanted);
    if (!same(types[t].dtype, found + i * (int64_t)bytes, wanted))
      fail_msg("%s %s: %s, n=%ld, what=%d, exclusive=%d: element %ld", places[p].device, rung,
               rung_dtype_name(types[t].dtype), (long)n, what, exclusive, (long)i);
  }
  assert_int_equal(found[(size_t)n * bytes], 0x55);
}

static void as_in_32_bits(void **state) {
  (void)state;
  static const int64_t lengths[] = {1, 3, 31, 32, 33, 127, 129, 1000, 1025, 8192, MOST};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (int t = 0; t < TYPES && context != NULL; ++t)
      for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
        for (int job = 0; job < 6; ++job) {
          if (INSTRUMENTED && (k + (size_t)job) % 4 > 0) continue;
          const int what = job / 2;
          fill(t, lengths[k], what != RUNG_SUM);
          check(context, p, t, lengths[k], what, job % 2);
          if (what == RUNG_SUM) continue;
          fill_steps(t, lengths[k], what);
          check(context, p, t, lengths[k], what, job % 2);
        }
    rung_close(context);
  }
}

/* Rows of `columns` with three elements between them, along and across: as in 32 bits. */
static void check_rows(rung_context *context, int t, int64_t rows, int64_t columns, int axis,
                       int what, int exclusive) {
  const size_t bytes = rung_dtype_bytes(types[t].dtype);
  int64_t shape[2] = {rows, columns}, strides[2] = {columns + 3, 1};
  const DLTensor in = tensor(narrow, *types[t].type, 2, shape, strides);
  const DLTensor wide_in = tensor(wide, *types[t].wide_type, 2, shape, strides);
  DLTensor out = tensor(found + bytes, *types[t].type, 2, shape, strides);
  DLTensor wide_out = tensor(results, *types[t].wide_type, 2, shape, strides);
  memset(found, 0x55, sizeof found);
  assert_int_equal(rung_scan(context, (rung_reduction)what, &in, axis, exclusive, &out, NULL), 0);
  assert_int_equal(
      rung_scan(context, (rung_reduction)what, &wide_in, axis, exclusive, &wide_out, NULL), 0);
  for (int64_t i = 0; i < rows * (columns + 3) - 3; ++i) {
    const int64_t row = i / (columns + 3), column = i % (columns + 3);
    char wanted[2] = {0x55, 0x55};
    if (column < columns) rung_convert(types[t].dtype, wanted, types[t].wide, results + 4 * i);
    if (column < columns && exclusive && (axis == 0 ? row : column) == 0) empty_of(t, what, wanted);
    if (!same(types[t].dtype, found + ((size_t)i + 1) * bytes, wanted))
      fail_msg("%s, %ld x %ld, axis %d, what=%d, exclusive=%d: element %ld, %ld",
               rung_dtype_name(types[t].dtype), (long)rows, (long)columns, axis, what, exclusive,
               (long)row, (long)column);
  }
}

static void rows_as_in_32_bits(void **state) {
  (void)state;
  static const char *const sets[] = {"baseline", "avx2", "avx512"};
  static const int64_t shapes[][2] = {{5, 1},    {1200, 13}, {900, 15},  {700, 16}, {600, 17},
                                      {400, 33}, {130, 100}, {100, 128}, {90, 129}, {40, 300},
                                      {9, 2047}, {8, 2048},  {3, 5000},  {1, 200}};
  for (size_t s = 0; s < sizeof sets / sizeof *sets; ++s) {
    rung_context *context = NULL;
    const rung_options options = {.device = "cpu", .isa = sets[s], .threads = 2};
    const bool there = rung_open(&context, &options) == RUNG_OK;
    for (int t = 0; t < TYPES && there; ++t)
      for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k)
        for (int job = 0; job < 12; ++job) {
          const int what = job / 4, axis = job / 2 % 2;
          const int64_t n = shapes[k][0] * (shapes[k][1] + 3);
          if (INSTRUMENTED && (k + (size_t)job) % 4 > 0) continue;
          assert_true(n <= MOST);
          fill(t, n, what != RUNG_SUM);
          check_rows(context, t, shapes[k][0], shapes[k][1], axis, what, job % 2);
          if (what == RUNG_SUM) continue;
          fill_steps(t, n, what);
          check_rows(context, t, shapes[k][0], shapes[k][1], axis, what, job % 2);
        }
    rung_close(context);
  }
}

/* A sum of f16 goes on where its own type would stand still; and what is stored is rounded to the
 * even neighbour, overflows to infinity, and is subnormal. */
static void by_hand(void **state) {
  (void)state;
  static uint16_t ones[6] = {0x6800, 0x3c00, 0x3c00, 0x3c00, 0x7bff, 0x7bff};
  static const uint16_t sums[6] = {0x6800, 0x6800, 0x6801, 0x6802, 0x7c00, 0x7c00};
  static uint16_t less[4] = {0x0001, 0x0003, 0x8004, 0x8001};
  static const uint16_t left[4] = {0x0001, 0x0004, 0x0000, 0x8001};
  static uint16_t odd[5] = {0x0000, 0x8000, 0x7e01, 0xfc00, 0x3c00};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    uint16_t out[6];
    if (context == NULL) continue;
    scan_line(context, RUNG_SUM, f16, ones, 6, 0, out, places[p].rung);
    assert_memory_equal(out, sums, sizeof sums);
    scan_line(context, RUNG_SUM, f16, less, 4, 0, out, places[p].rung);
    assert_memory_equal(out, left, sizeof left);
    scan_line(context, RUNG_MIN, f16, odd, 5, 0, out, places[p].rung);
    assert_true(out[0] == 0 && out[1] == 0x8000 && (out[2] & 0x7fff) > 0x7c00);
    assert_true((out[4] & 0x7fff) > 0x7c00);
    scan_line(context, RUNG_MAX, f16, odd, 2, 1, out, places[p].rung);
    assert_true(out[0] == 0xfc00 && out[1] == 0);
    rung_close(context);
  }
}

/* Every half, and half a unit of its last place more: each sum lies between two halves, and the
 * even one is stored; with infinities, NaNs and subnormal numbers among them. By every instruction
 * set, along lines and across them. */
static void sums_between_two_go_to_the_even_one(void **state) {
  (void)state;
  enum { HALVES = 1 << 16 };
  static const char *const sets[] = {"baseline", "avx2", "avx512"};
  static uint16_t pairs[HALVES][2], side_by_side[2][HALVES], sums[HALVES][2], across[2][HALVES];
  int64_t lines[2] = {HALVES, 2}, rows[2] = {2, HALVES};
  for (size_t s = 0; s < sizeof sets / sizeof *sets; ++s) {
    rung_context *context = NULL;
    const bool there =
        rung_open(&context, &(rung_options){.device = "cpu", .isa = sets[s]}) == RUNG_OK;
    for (int bfloat = 0; bfloat < 2 && there; ++bfloat) {
      const int digits = bfloat ? 7 : 10, unit = digits + 1;
      for (int a = 0; a < HALVES; ++a) {
        const int exponent = (a & 0x7fff) >> digits;
        const int half = exponent > unit ? (exponent - unit) << digits : 1;
        pairs[a][0] = side_by_side[0][a] = (uint16_t)a;
        pairs[a][1] = side_by_side[1][a] = (uint16_t)(half | (a & 0x8000));
      }
      const DLDataType type = bfloat ? bf16 : f16;
      DLTensor in = tensor(pairs, type, 2, lines, NULL), out = tensor(sums, type, 2, lines, NULL);
      assert_int_equal(rung_scan(context, RUNG_SUM, &in, 1, 0, &out, NULL), RUNG_OK);
      in = tensor(side_by_side, type, 2, rows, NULL), out = tensor(across, type, 2, rows, NULL);
      assert_int_equal(rung_scan(context, RUNG_SUM, &in, 0, 0, &out, NULL), RUNG_OK);
      for (int a = 0; a < HALVES; ++a) {
        const float exact =
            rung_half_to_f32(pairs[a][0], bfloat) + rung_half_to_f32(pairs[a][1], bfloat);
        const uint16_t even = rung_f32_to_half(exact, bfloat);
        const rung_dtype dtype = bfloat ? RUNG_BF16 : RUNG_F16;
        if (!same(dtype, (const char *)&even, (const char *)&sums[a][1]) ||
            !same(dtype, (const char *)&even, (const char *)&across[1][a]))
          fail_msg("%s, %s: %04x + %04x is %04x and %04x, not %04x", sets[s],
                   rung_dtype_name(dtype), a, pairs[a][1], sums[a][1], across[1][a], even);
      }
    }
    rung_close(context);
  }
}

/* Lines with gaps, backwards, and in place. */
static void views(void **state) {
  (void)state;
  enum { ROWS = 7, COLUMNS = 1100 };
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    for (int t = 0; t < TYPES && context != NULL; ++t) {
      const int64_t size = (int64_t)rung_dtype_bytes(types[t].dtype);
      int64_t shape[2] = {ROWS, COLUMNS}, back[2] = {COLUMNS, -1};
      char plain[2 * ROWS * COLUMNS];
      rung_call call = {.rung = places[p].rung};
      fill(t, ROWS * COLUMNS, false);
      DLTensor in = tensor(narrow + (COLUMNS - 1) * size, *types[t].type, 2, shape, back),
               out = tensor(found, *types[t].type, 2, shape, NULL);
      assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 0, &out, &call), RUNG_OK);
      for (int64_t i = 0; i < ROWS * COLUMNS; ++i)
        memcpy(plain + i * size,
               narrow + (i / COLUMNS * COLUMNS + COLUMNS - 1 - i % COLUMNS) * size, (size_t)size);
      in = out = tensor(plain, *types[t].type, 2, shape, NULL);
      assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 0, &out, &call), RUNG_OK);
      assert_memory_equal(plain, found, (size_t)(ROWS * COLUMNS * size));
    }
    rung_close(context);
  }
}

/* The textbook's GPU rungs read what they have stored: they do not take what it is rounded to. */
static void some_rungs_refuse(void **state) {
  (void)state;
  rung_context *context = open_place(3);
  int64_t shape[1] = {4};
  DLTensor in = tensor(narrow, f16, 1, shape, NULL), out = tensor(found, f16, 1, shape, NULL);
  rung_call call = {.rung = "blelloch"};
  if (context == NULL) skip();
  assert_int_equal(rung_scan(context, RUNG_SUM, &in, -1, 0, &out, &call), RUNG_UNSUPPORTED);
  assert_non_null(strstr(rung_last_error(context), "it does not take f16"));
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_in_32_bits), cmocka_unit_test(rows_as_in_32_bits),
      cmocka_unit_test(by_hand),       cmocka_unit_test(sums_between_two_go_to_the_even_one),
      cmocka_unit_test(views),         cmocka_unit_test(some_rungs_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
