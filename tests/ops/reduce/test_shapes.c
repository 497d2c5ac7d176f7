/* Sums of floats of many shapes: lines as short as they come, of every rest of a vector, side by
 * side by ones and by thousands, with and without gaps, from starts that no vector likes; on every
 * instruction set, with 1, 2 and 5 threads. Against the contract's order, told here once more. */
#include "core/half.h"
#include "ops/reduce/outside.h"
#include "ops/rungs.h"

enum { LANES = 2048, TILE = 16 * LANES, MOST = 1 << 19 };

static float numbers[MOST + 64];
static double wide[MOST + 64];
static uint16_t halves[MOST + 64];

/* One tile, then the tiles' sums: at most two levels here. */
#define TELL(type)                                                                          \
  static type tell_tile_##type(const type *x, int64_t n, int64_t step) {                    \
    type lane[LANES];                                                                       \
    for (int l = 0; l < LANES; l++) lane[l] = -(type)0;                                     \
    for (int64_t i = 0; i < n; i++) lane[i % LANES] += x[i * step];                         \
    for (int s = LANES / 2; s > 0; s /= 2)                                                  \
      for (int l = 0; l < s; l++) lane[l] += lane[l + s];                                   \
    return lane[0];                                                                         \
  }                                                                                         \
  static type tell_##type(const type *x, int64_t n, int64_t step) {                         \
    type sums[MOST / TILE + 1];                                                             \
    int64_t tiles = 0;                                                                      \
    if (n == 0) return 0;                                                                   \
    for (int64_t at = 0; at < n; at += TILE)                                                \
      sums[tiles++] = tell_tile_##type(x + at * step, n - at < TILE ? n - at : TILE, step); \
    return tiles == 1 ? sums[0] : tell_tile_##type(sums, tiles, 1);                         \
  }
TELL(float)
TELL(double)

/* (outer, n, inner), `gap` elements after every row of what follows; the axis in the middle. */
typedef struct shape {
  int64_t outer, n, inner, gap;
} shape;

static float result_f32[MOST];
static double result_f64[MOST];

static void check(rung_context *context, const char *rung, const shape *s, int start,
                  const char *where) {
  const int64_t row = s->inner + s->gap, line = s->inner == 1 ? s->n + s->gap : s->n * row;
  int64_t step[3] = {line, s->inner == 1 ? 1 : row, 1}, shape[3] = {s->outer, s->n, s->inner};
  int64_t kept[2] = {s->outer, s->inner};
  assert_true(s->outer * line + start <= MOST);
  for (int bits = 16; bits <= 64; bits *= 2) {
    const DLDataType type = {kDLFloat, (uint8_t)bits, 1};
    void *data = bits == 16   ? (void *)(halves + start)
                 : bits == 32 ? (void *)(numbers + start)
                              : (void *)(wide + start);
    DLTensor in = tensor(data, type, 3, shape, step);
    uint16_t *half = (uint16_t *)result_f32;
    DLTensor out =
        tensor(bits == 64 ? (void *)result_f64 : (void *)result_f32, type, 2, kept, NULL);
    rung_call call = {.rung = rung};
    if (rung_reduce(context, RUNG_SUM, &in, 1, &out, &call) != RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    for (int64_t o = 0; o < s->outer; ++o)
      for (int64_t i = 0; i < s->inner; ++i) {
        const int64_t at = start + o * line + i, to = o * s->inner + i;
        bool same;
        if (bits == 64) {
          const double told = tell_double(wide + at, s->n, step[1]);
          same = memcmp(&told, &result_f64[to], sizeof told) == 0;
        } else {
          const float told = tell_float(numbers + at, s->n, step[1]);
          same = bits == 32 ? memcmp(&told, &result_f32[to], sizeof told) == 0
                            : half[to] == rung_f64_to_half((double)told, false);
        }
        if (!same)
          fail_msg("%s, %s, f%d (%ld, %ld, %ld) gap %ld start %d: other bits at (%ld, %ld)", where,
                   rung, bits, (long)s->outer, (long)s->n, (long)s->inner, (long)s->gap, start,
                   (long)o, (long)i);
      }
  }
}

static const shape shapes[] = {
    {700, 1, 1, 0},    {601, 2, 1, 0},    {513, 3, 1, 1},    {300, 4, 1, 0},   {299, 5, 1, 0},
    {259, 7, 1, 2},    {511, 8, 1, 0},    {257, 9, 1, 0},    {100, 13, 1, 3},  {99, 15, 1, 0},
    {67, 16, 1, 0},    {66, 17, 1, 0},    {65, 31, 1, 0},    {35, 33, 1, 1},   {34, 63, 1, 0},
    {33, 64, 1, 0},    {31, 65, 1, 0},    {19, 100, 1, 5},   {18, 127, 1, 0},  {17, 128, 1, 0},
    {17, 129, 1, 0},   {9, 200, 1, 0},    {9, 255, 1, 1},    {7, 257, 1, 0},   {5, 1000, 1, 0},
    {3, 1023, 1, 0},   {9, 1024, 1, 3},   {2, 2047, 1, 0},   {17, 2048, 1, 0}, {2, 2049, 1, 0},
    {3, 40000, 1, 0},  {1, 70001, 1, 0},  {1, 2, 3, 0},      {2, 3, 5, 1},     {3, 4, 7, 0},
    {50, 4, 4, 0},     {5, 5, 16, 0},     {4, 7, 17, 3},     {3, 8, 8, 0},     {3, 9, 31, 0},
    {2, 15, 3, 0},     {2, 16, 64, 2},    {2, 17, 100, 0},   {1, 33, 5000, 0}, {2, 63, 65, 1},
    {1, 64, 64, 0},    {1, 65, 4097, 0},  {1, 100, 300, 0},  {1, 127, 9, 0},   {1, 129, 1, 4},
    {1, 500, 33, 0},   {1, 513, 600, 1},  {1, 1000, 3, 0},   {1, 1025, 12, 3}, {1, 2047, 20, 0},
    {1, 2048, 130, 0}, {1, 2049, 21, 0},  {1, 3000, 50, 1},  {1, 4097, 37, 0}, {1, 9001, 5, 0},
    {1, 20000, 20, 0}, {1, 32768, 3, 0},  {1, 32769, 7, 0},  {2, 66000, 2, 1}, {1, 100000, 3, 0},
    {1, 64, 4096, 0},  {1, 129, 1100, 0}, {1, 2049, 200, 0}, {2, 3000, 80, 0}, {1, 33000, 9, 0},
    {1, 65537, 7, 0},  {3, 32769, 5, 0},  {1, 131072, 2, 0}, {1, 98305, 5, 0}, {5, 2600, 30, 0},
    {3, 64, 64, 0},    {1, 5000, 9, 0},   {1, 33333, 2, 0},  {70, 1, 6, 0},    {1, 4001, 100, 28},
    {0, 5, 3, 0},      {3, 0, 4, 0},      {3, 5, 0, 0},
};

static void sums_every_shape(void **state) {
  (void)state;
  uint32_t x = 1;
  for (int64_t i = 0; i < MOST + 64; ++i) {
    x = x * 1664525u + 1013904223u;
    halves[i] = rung_f64_to_half(ldexp((int32_t)x, -31 + (int)(x >> 5 & 7)), false);
    numbers[i] = rung_f16_to_f32(halves[i]);
    if (i % 977 == 5) numbers[i] = -0.0f, halves[i] = 0x8000;
    wide[i] = (double)numbers[i] / 3;
  }
  for (int i = first_isa(); i < ISAS; ++i)
    for (int t = 0; t < 3; ++t) {
      rung_context *context = open_with(isas[i], thread_counts[t]);
      for (size_t k = 0; context != NULL && k < sizeof shapes / sizeof *shapes; ++k) {
        if (INSTRUMENTED && (k + (size_t)t) % 3 != 0) continue;
        check(context, "threads", &shapes[k], (int)(k % 19), isas[i]);
        if (t == 0) check(context, "lanes", &shapes[k], (int)(k % 7), isas[i]);
      }
      rung_close(context);
    }
}

/* What has no order, against the textbook's rung: of every width, from anywhere. */
static void check_free(rung_context *context, rung_reduction what, DLDataType type, const shape *s,
                       int start) {
  static uint64_t found[MOST], expected[MOST];
  const int64_t row = s->inner + s->gap, line = s->inner == 1 ? s->n + s->gap : s->n * row;
  const int64_t results = s->outer * s->inner, bytes = what == RUNG_SUM ? 8 : type.bits / 8;
  int64_t step[3] = {line, s->inner == 1 ? 1 : row, 1}, shape[3] = {s->outer, s->n, s->inner};
  int64_t kept[2] = {s->outer, s->inner};
  if (s->n == 0 && what != RUNG_SUM) return;
  DLTensor in = tensor((char *)wide + start * type.bits / 8, type, 3, shape, step);
  DLTensor one = tensor(expected, result_type(what, type), 2, kept, NULL);
  DLTensor two = tensor(found, result_type(what, type), 2, kept, NULL);
  rung_call serial = {.rung = "serial"}, threads = {.rung = "threads"};
  assert_int_equal(rung_reduce(context, what, &in, 1, &one, &serial), RUNG_OK);
  assert_int_equal(rung_reduce(context, what, &in, 1, &two, &threads), RUNG_OK);
  if (memcmp(found, expected, (size_t)(results * bytes)) != 0)
    fail_msg("%d of type %d, %d bits, (%ld, %ld, %ld) gap %ld start %d", (int)what, type.code,
             type.bits, (long)s->outer, (long)s->n, (long)s->inner, (long)s->gap, start);
}

static void finds_the_same_of_every_shape(void **state) {
  (void)state;
  const DLDataType types[] = {u8, i8, u16, i16, u32, i32, i64};
  uint32_t x = 7, *bits = (uint32_t *)(void *)wide;
  for (int64_t i = 0; i < 2 * (MOST + 64); ++i) bits[i] = x = x * 1664525u + 1013904223u;
  for (int i = first_isa(); i < ISAS; ++i) {
    rung_context *context = open_with(isas[i], 2);
    for (size_t k = 0; context != NULL && k < sizeof shapes / sizeof *shapes; ++k)
      for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        check_free(context, (rung_reduction)((k + t + (size_t)i) % 3), types[t], &shapes[k],
                   (int)((k + 5 * t) % 31));
    rung_close(context);
  }
}

/* -0 is the sum of nothing but -0: what a vector is filled up with may not show. */
static void keeps_the_sign_of_zeros(void **state) {
  (void)state;
  for (int i = first_isa(); i < ISAS; ++i) {
    rung_context *context = open_with(isas[i], 1);
    for (int64_t n = 1; context != NULL && n <= 300; ++n) {
      static float zeros[3 * 300], sums[300];
      for (int64_t k = 0; k < 3 * n; ++k) zeros[k] = k < 2 * n ? -0.0f : 0.0f;
      int64_t shape[2] = {3, n}, kept[1] = {3};
      DLTensor in = tensor(zeros, f32, 2, shape, NULL), out = tensor(sums, f32, 1, kept, NULL);
      assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 1, &out, NULL), RUNG_OK);
      if (!signbit(sums[0]) || !signbit(sums[1]) || signbit(sums[2])) fail_msg("n=%ld", (long)n);
    }
    rung_close(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_every_shape),
      cmocka_unit_test(finds_the_same_of_every_shape),
      cmocka_unit_test(keeps_the_sign_of_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
