/* Reductions of 8- and 16-bit elements from outside: what those of the same numbers in 32 bits come
 * to, brought into the result's type. */
#include <stdio.h>

#include "core/dtype.h"
#include "ops/reduce/outside.h"

static const struct {
  const char *device, *rung;
  bool across; /* it takes lines side by side */
} places[] = {{"cpu", "serial", true},
              {"cpu", "lanes", true},
              {"cpu", "threads", true},
              {"sim", "single-pass", true},
              {"sim", "vector", true},
              {"sim", "sequential", false},
              {"sim", "shuffle", false},
              {"sim", "finish-host", false},
              {"sim", "finish-last-block", false}};
enum { PLACES = sizeof places / sizeof *places, MOST = 70001 };

static const struct {
  rung_dtype dtype, wide;
  const DLDataType *type, *wide_type;
} types[] = {{RUNG_I8, RUNG_I32, &i8, &i32},   {RUNG_U8, RUNG_U32, &u8, &u32},
             {RUNG_I16, RUNG_I32, &i16, &i32}, {RUNG_U16, RUNG_U32, &u16, &u32},
             {RUNG_F16, RUNG_F32, &f16, &f32}, {RUNG_BF16, RUNG_F32, &bf16, &f32}};
enum { TYPES = sizeof types / sizeof *types };

static char narrow[2 * MOST + 2], wide[4 * MOST + 4], found[8 * MOST], results[8 * MOST];

static rung_context *open_place(int p) {
  return open_on(places[p].device);
}

/* Any bits; or, of floats, numbers of both signs about 1. */
static void fill(int t, bool any) {
  const rung_traits *traits = rung_traits_of(types[t].dtype);
  uint32_t x = 7;
  for (int64_t i = 0; i < MOST; ++i) {
    char *to = narrow + i * (int64_t)traits->bytes;
    x = x * 1664525u + 1013904223u;
    if (any || traits->kind != RUNG_FLOAT)
      memcpy(to, (const char *)&x + 2, traits->bytes);
    else
      traits->store(to, (int32_t)x / 3e9 + 0.1);
    rung_convert(types[t].wide, wide + 4 * i, types[t].dtype, to);
  }
}

static bool same(rung_dtype dtype, const char *a, const char *b) {
  const rung_traits *traits = rung_traits_of(dtype);
  if (memcmp(a, b, traits->bytes) == 0) return true;
  return traits->kind == RUNG_FLOAT && isnan(traits->load(a)) && isnan(traits->load(b));
}

static rung_dtype dtype_of(DLDataType type) {
  rung_dtype dtype = RUNG_DTYPES;
  assert_true(rung_dtype_of_code(type.code, type.bits, &dtype));
  return dtype;
}

/* (rows, columns) from element `first` on, along an axis; the results of as many as there are. */
static void reduce_some(rung_context *context, int p, rung_reduction what, DLDataType type,
                        char *data, int64_t rows, int64_t columns, int axis, void *out) {
  int64_t shape[2] = {rows, columns}, kept[1] = {axis == 0 ? columns : rows};
  DLTensor in = tensor(data, type, 2, shape, NULL);
  DLTensor to = tensor(out, result_type(what, type), axis == RUNG_ALL ? 0 : 1, kept, NULL);
  rung_call call = {.rung = places[p].rung};
  if (rung_reduce(context, what, &in, axis, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
}

static void check(rung_context *context, int p, int t, rung_reduction what, const int64_t shape[2],
                  int axis, int64_t first) {
  const int64_t size = (int64_t)rung_dtype_bytes(types[t].dtype);
  const int64_t count = axis == RUNG_ALL ? 1 : axis == 0 ? shape[1] : shape[0];
  const rung_dtype to = dtype_of(result_type(what, *types[t].type)),
                   from = dtype_of(result_type(what, *types[t].wide_type));
  const int64_t bytes = (int64_t)rung_dtype_bytes(to);
  reduce_some(context, p, what, *types[t].wide_type, wide + 4 * first, shape[0], shape[1], axis,
              results);
  memset(found, 0x55, (size_t)(bytes * count + 1));
  reduce_some(context, p, what, *types[t].type, narrow + size * first, shape[0], shape[1], axis,
              found);
  for (int64_t i = 0; i < count; ++i) {
    char wanted[8];
    rung_convert(to, wanted, from, results + i * (int64_t)rung_dtype_bytes(from));
    /* A mean of halves is rounded once, of floats twice: it is made anew. */
    if (what == RUNG_MEAN && rung_dtype_is_float(to)) continue;
    if (!same(to, found + i * bytes, wanted))
      fail_msg("%s %s: %s, what %d, %ld x %ld, axis %d, from %ld: result %ld", places[p].device,
               places[p].rung, rung_dtype_name(types[t].dtype), (int)what, (long)shape[0],
               (long)shape[1], axis, (long)first, (long)i);
  }
  assert_int_equal(found[bytes * count], 0x55);
}

static void as_in_32_bits(void **state) {
  (void)state;
  static const struct {
    int64_t shape[2];
    int axis;
  } jobs[] = {{{1, 1}, RUNG_ALL},     {{1, 7}, RUNG_ALL},  {{1, 33}, RUNG_ALL},
              {{1, 1000}, RUNG_ALL},  {{1, 2049}, 1},      {{1, 32768}, RUNG_ALL},
              {{1, 32801}, RUNG_ALL}, {{1, 70000}, 1},     {{5, 777}, 1},
              {{70, 3}, 1},           {{777, 5}, 0},       {{33000, 2}, 0},
              {{3, 300}, 0},          {{40, 33}, RUNG_ALL}};
  for (int t = 0; t < TYPES; ++t)
    for (int any = 0; any < 2; ++any) {
      fill(t, any);
      for (int p = 0; p < PLACES; ++p) {
        rung_context *context = open_place(p);
        /* A simulated GPU takes a quarter of the jobs, and checks in the code a ninth. */
        const bool simulated = strcmp(places[p].device, "sim") == 0;
        const size_t each = (INSTRUMENTED ? 9 : 1) * (simulated ? 4 : 1);
        for (size_t k = 0; k < sizeof jobs / sizeof *jobs && context != NULL; ++k)
          for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what) {
            if ((what == RUNG_MIN || what == RUNG_MAX) != any) continue;
            if ((k + (size_t)(what + p + t)) % each > 0) continue;
            if (jobs[k].axis == 0 && !places[p].across) continue;
            check(context, p, t, (rung_reduction)what, jobs[k].shape, jobs[k].axis, (int64_t)k % 2);
          }
        rung_close(context);
      }
    }
}

static void reduce_halves(rung_context *context, int p, rung_reduction what, DLDataType type,
                          const uint16_t *x, int64_t n, uint16_t wanted) {
  uint16_t data[64], out = 0;
  memcpy(data, x, (size_t)n * 2);
  reduce_line(context, what, type, data, n, &out, places[p].rung);
  if (out != wanted) fail_msg("%s: 0x%04x, not 0x%04x", places[p].rung, out, wanted);
}

/* Sums go on where their own type would stand still, and are rounded once, half to even, to
 * infinity or a subnormal; of zeros the sign decides, and a NaN wins. */
static void by_hand(void **state) {
  (void)state;
  static const uint16_t ones[4] = {0x6800, 0x3c00, 0x3c00, 0x3c00}; /* 2048 + 3: a tie */
  static const uint16_t large[3] = {0x7bff, 0x7bff, 0xfbff}, most[2] = {0x7bff, 0x7bff};
  static const uint16_t small[3] = {0x0001, 0x0003, 0x8002};
  static const uint16_t zeros[2] = {0x0000, 0x8000}, none[2] = {0x8000, 0x8000};
  static const uint16_t brain[3] = {0x4380, 0x3f80, 0x3f80};  /* 256 + 1 + 1 */
  static const uint16_t thirds[3] = {0x3c00, 0x0000, 0x0000}; /* 1 / 3 */
  static const uint16_t mixed[3] = {0x3c00, 0xfc00, 0x7c00};
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    uint16_t nan[3] = {0x3c00, 0xfe01, 0xfc00}, out = 0;
    if (context == NULL) continue;
    reduce_halves(context, p, RUNG_SUM, f16, ones, 4, 0x6802);
    reduce_halves(context, p, RUNG_SUM, f16, large, 3, 0x7bff);
    reduce_halves(context, p, RUNG_SUM, f16, most, 2, 0x7c00);
    reduce_halves(context, p, RUNG_MEAN, f16, most, 2, 0x7bff);
    reduce_halves(context, p, RUNG_SUM, f16, small, 3, 0x0002);
    reduce_halves(context, p, RUNG_SUM, bf16, brain, 3, 0x4381);
    reduce_halves(context, p, RUNG_MEAN, f16, thirds, 3, 0x3555);
    reduce_halves(context, p, RUNG_MIN, f16, zeros, 2, 0x8000);
    reduce_halves(context, p, RUNG_MAX, bf16, zeros, 2, 0x0000);
    reduce_halves(context, p, RUNG_SUM, f16, zeros, 2, 0x0000);
    reduce_halves(context, p, RUNG_MAX, f16, none, 2, 0x8000);
    reduce_halves(context, p, RUNG_MIN, f16, mixed, 3, 0xfc00);
    reduce_halves(context, p, RUNG_MAX, f16, mixed, 3, 0x7c00);
    for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what) {
      reduce_line(context, (rung_reduction)what, f16, nan, 3, &out, places[p].rung);
      assert_true((out & 0x7fff) > 0x7c00);
    }
    rung_close(context);
  }
}

/* Sums of signed elements are of unsigned ones inside, which must not show. */
static void ends_of_the_range(void **state) {
  (void)state;
  for (int p = 0; p < PLACES; ++p) {
    rung_context *context = open_place(p);
    int64_t sum = 0;
    double mean = 0;
    if (context == NULL) continue;
    for (int fills = 0; fills < 2; ++fills) {
      memset(narrow, fills == 0 ? 0x80 : 0x7f, sizeof narrow);
      reduce_line(context, RUNG_SUM, i8, narrow, MOST, &sum, places[p].rung);
      assert_true(sum == (fills == 0 ? -128 : 127) * (int64_t)MOST);
      reduce_line(context, RUNG_SUM, i16, narrow, MOST, &sum, places[p].rung);
      assert_true(sum == (fills == 0 ? -32640 : 32639) * (int64_t)MOST);
      reduce_line(context, RUNG_SUM, u16, narrow, MOST, &sum, places[p].rung);
      assert_true(sum == (fills == 0 ? 32896 : 32639) * (int64_t)MOST);
      reduce_line(context, RUNG_MEAN, i8, narrow, MOST, &mean, places[p].rung);
      assert_true(mean == (fills == 0 ? -128 : 127));
    }
    reduce_line(context, RUNG_SUM, i8, narrow, 0, &sum, places[p].rung);
    assert_true(sum == 0);
    rung_close(context);
  }
}

/* A job that is cut for want of memory has the bits of the whole: the sums of its parts are not
 * rounded to the type. */
static void cut_sums_keep_their_bits(void **state) {
  (void)state;
  for (int t = 0; t < TYPES; ++t)
    for (int what = RUNG_SUM; what <= RUNG_MEAN; ++what) {
      char whole[8] = {0}, part[8];
      int cuts = 0;
      if (INSTRUMENTED && (t + what) % 4 > 0) continue;
      rung_context *context = open_place(3);
      if (context == NULL) skip();
      fill(t, what == RUNG_MIN || what == RUNG_MAX);
      reduce_line(context, (rung_reduction)what, *types[t].type, narrow, MOST, whole, NULL);
      rung_close(context);
      for (int limit = 256; limit >= 64; limit /= 2) {
        char text[16];
        int64_t shape[1] = {MOST};
        DLTensor in = tensor(narrow, *types[t].type, 1, shape, NULL);
        DLTensor out =
            tensor(part, result_type((rung_reduction)what, *types[t].type), 0, NULL, NULL);
        snprintf(text, sizeof text, "%dK", limit);
        setenv("RUNG_MEMORY_LIMIT", text, 1);
        context = open_place(3);
        unsetenv("RUNG_MEMORY_LIMIT");
        memset(part, 0, sizeof part);
        if (rung_reduce(context, (rung_reduction)what, &in, RUNG_ALL, &out, NULL) == RUNG_OK) {
          cuts += limit * 1024 < (int)types[t].type->bits / 8 * MOST;
          if (memcmp(whole, part, sizeof part) != 0)
            fail_msg("%s, what %d, %s: other bits", rung_dtype_name(types[t].dtype), what, text);
        }
        rung_close(context);
      }
      if (cuts == 0) fail_msg("%s, what %d: never cut", rung_dtype_name(types[t].dtype), what);
    }
}

/* The rungs of rows add halves, too. */
static void rows_of_halves(void **state) {
  (void)state;
  static const char *const rungs[] = {"row-per-thread", "warp-per-row", "block-per-row"};
  enum { ROWS = 3, COLUMNS = 3001 };
  rung_context *context = open_place(3);
  if (context == NULL) skip();
  for (int t = 4; t < TYPES; ++t)
    for (int r = 0; r < 3; ++r)
      for (int64_t columns = COLUMNS - 1; columns <= COLUMNS; ++columns) {
        int64_t shape[2] = {ROWS, columns}, kept[1] = {ROWS};
        uint16_t sums[2][ROWS];
        fill(t, false);
        DLTensor in = tensor(narrow, *types[t].type, 2, shape, NULL);
        DLTensor by_rung = tensor(sums[0], *types[t].type, 1, kept, NULL);
        DLTensor by_best = tensor(sums[1], *types[t].type, 1, kept, NULL);
        rung_call call = {.rung = rungs[r]};
        assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 1, &by_rung, &call), RUNG_OK);
        assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 1, &by_best, NULL), RUNG_OK);
        if (r > 0) assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
        for (int i = 0; i < ROWS; ++i) {
          const rung_traits *traits = rung_traits_of(types[t].dtype);
          const double a = traits->load(&sums[0][i]), b = traits->load(&sums[1][i]);
          assert_true(fabs(a - b) <= 2 * traits->eps * fabs(b));
        }
      }
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_in_32_bits),     cmocka_unit_test(by_hand),
      cmocka_unit_test(ends_of_the_range), cmocka_unit_test(cut_sums_keep_their_bits),
      cmocka_unit_test(rows_of_halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
