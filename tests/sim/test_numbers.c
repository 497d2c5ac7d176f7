/* Bits, conversions, loads and textures of the simulated GPU against plain C. */
#include "sim/board.h"
#include "sim/trials.h"

#include <math.h>

static unsigned permuted(unsigned a, unsigned b, const int from[4]) {
  unsigned made = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned word = from[i] < 4 ? a : b;
    made |= (word >> 8 * (from[i] % 4) & 0xff) << 8 * i;
  }
  return made;
}

/* The bits of a and b one by one, the slow way. */
static void expect_bits(unsigned a, unsigned b, long long wanted[12]) {
  const uint64_t wide = (uint64_t)a << 32 | b, both = (uint64_t)b << 32 | a;
  const unsigned by = b % 32;
  int ones = 0, wide_ones = 0, zeros = 32, wide_zeros = 64, first = 0, wide_first = 0;
  uint64_t turned = 0, left = 0, right = 0;
  for (int i = 0; i < 64; i++) {
    const bool in_a = i < 32 && (a >> i & 1), in_wide = wide >> i & 1;
    ones += in_a;
    wide_ones += in_wide;
    if (in_a) zeros = 31 - i;
    if (in_wide) wide_zeros = 63 - i;
    if (in_a && !first) first = i + 1;
    if (in_wide && !wide_first) wide_first = i + 1;
    if (in_a) turned |= 1ull << (31 - i);
  }
  for (unsigned i = 0; i < 32; i++) {
    left |= (both >> (i + 32 - by) & 1) << i;
    right |= (both >> (i + by) & 1) << i;
  }
  wanted[0] = ones + 100 * wide_ones;
  wanted[1] = zeros + 100 * wide_zeros;
  wanted[2] = first + 100 * wide_first;
  wanted[3] = (long long)turned;
  wanted[4] = permuted(a, b, (int[]){0, 4, 1, 5});
  wanted[5] = permuted(a, b, (int[]){2, 6, 3, 7});
  wanted[6] = (long long)left;
  wanted[7] = (long long)right;
  wanted[8] = (long long)floor((double)(int)a * (double)(int)b / 4294967296.0);
  wanted[9] = (long long)((uint64_t)a * b / 4294967296u);
  /* The square of wide, in halves. */
  const uint64_t low = (uint64_t)b * b, mid = (uint64_t)a * b, high = (uint64_t)a * a;
  const uint64_t carry = (low >> 32) + 2 * (mid & 0xffffffffu);
  wanted[10] = (long long)(high + 2 * (mid >> 32) + (carry >> 32));
  wanted[11] = ((int)a < (int)b ? (int)a : (int)b) - (long long)(a > b ? a : b);
}

static void bits_are_counted_and_moved(void **unused) {
  (void)unused;
  enum { PAIRS = 8 };
  const unsigned in[PAIRS][2] = {{0, 0},           {1, 31},          {0x80000000u, 32},
                                 {0xffffffffu, 1}, {0x12345678u, 5}, {0, 0x80000000u},
                                 {7, 0xffffffffu}, {0xdeadbeefu, 17}};
  long long out[PAIRS][12] = {{0}}, wanted[12];
  run_on_board(ENTRIES_OF(trial_bits), NULL, in, sizeof in, out, sizeof out);
  for (int i = 0; i < PAIRS; i++) {
    expect_bits(in[i][0], in[i][1], wanted);
    for (int k = 0; k < 12; k++)
      if (out[i][k] != wanted[k])
        fail_msg("pair %d, result %d is %llx where %llx is wanted", i, k, out[i][k], wanted[k]);
  }
}

static long long held(double value, double low, double high, long long least, long long most,
                      long long of_nan) {
  if (isnan(value)) return of_nan;
  return value <= low ? least : value >= high ? most : (long long)value;
}

/* NaN: 0 from a float, the least value from a double, as PTX states it. */
static void conversions_hold_at_their_ends(void **unused) {
  (void)unused;
  const double in[] = {0,         -0.5, 0.5,        1.5,           2.5,    -1.5,  2147483647.5,
                       3e9,       -3e9, 5e9,        -2147483649.0, 1e19,   -1e19, INFINITY,
                       -INFINITY, NAN,  16777217.0, 4294967295.0,  9.2e18, -7};
  enum { COUNT = sizeof in / sizeof *in };
  long long out[COUNT][11] = {{0}};
  run_on_board(ENTRIES_OF(trial_conversions), NULL, in, sizeof in, out, sizeof out);
  const double least = INT32_MIN, most = INT32_MAX;
  for (int i = 0; i < COUNT; i++) {
    const double x = in[i], y = (float)x, wide = 9223372036854775808.0;
    const long long wanted[11] = {held(trunc(y), least, most, INT32_MIN, INT32_MAX, 0),
                                  held(rint(y), least, most, INT32_MIN, INT32_MAX, 0),
                                  held(floor(y), least, most, INT32_MIN, INT32_MAX, 0),
                                  held(ceil(y), least, most, INT32_MIN, INT32_MAX, 0),
                                  held(trunc(y), 0, UINT32_MAX, 0, UINT32_MAX, 0),
                                  held(rint(y), 0, UINT32_MAX, 0, UINT32_MAX, 0),
                                  held(trunc(x), least, most, INT32_MIN, INT32_MAX, INT32_MIN),
                                  held(rint(x), least, most, INT32_MIN, INT32_MAX, INT32_MIN),
                                  held(floor(x), least, most, INT32_MIN, INT32_MAX, INT32_MIN),
                                  held(trunc(x), -wide, wide, INT64_MIN, INT64_MAX, INT64_MIN),
                                  held(rint(x), -wide, wide, INT64_MIN, INT64_MAX, INT64_MIN)};
    for (int k = 0; k < 11; k++)
      if (out[i][k] != wanted[k])
        fail_msg("%g, conversion %d is %lld where %lld is wanted", x, k, out[i][k], wanted[k]);
  }
}

static void loads_stores_and_roundings(void **unused) {
  (void)unused;
  const float in[4] = {1.0000001f, 3.3333333f, -3.3333335f, 2.0f};
  float out[20] = {0};
  run_on_board(ENTRIES_OF(trial_loads), NULL, in, sizeof in, out, sizeof out);
  const float *rest = out + 8;
  assert_memory_equal(out, in, sizeof in);
  assert_memory_equal(out + 4, in, sizeof in);
  assert_memory_equal(rest, in, sizeof in);
  const float product = in[0] * in[1];
  const float wanted[8] = {in[0],
                           in[1],
                           fmaf(in[0], in[1], in[2]),
                           product + in[2],
                           in[0] / in[1],
                           sqrtf(in[3]),
                           in[0] + in[1],
                           (float)((double)in[0] * (double)in[1] + (double)in[2])};
  assert_memory_equal(rest + 4, wanted, sizeof wanted);
  assert_true(wanted[2] != wanted[3]); /* else nothing tells a fused from a rounded product */
}

static void textures_have_borders(void **unused) {
  (void)unused;
  float in[4][128] = {{0}}, out[148] = {0};
  const unsigned char *bytes = (const unsigned char *)in;
  const unsigned short *shorts = (const unsigned short *)in;
  for (int i = 0; i < 16; i++) in[i / 4][i % 4] = (float)(i + 1);
  for (int i = 4; i < 8; i++)
    in[0][i] = -(float)i; /* beside the texture, and in the lines of pairs */
  run_on_board(ENTRIES_OF(trial_texture), NULL, in, sizeof in, out, sizeof out);
  for (int t = 0; t < 64; t++) {
    const int column = t % 8 - 2, row = t / 8 - 2;
    const int near_column = column < 0 ? 0 : column > 3 ? 3 : column;
    const int near_row = row < 0 ? 0 : row > 3 ? 3 : row;
    const bool inside = near_column == column && near_row == row;
    assert_true(out[t] == in[near_row][near_column]);
    assert_true(out[64 + t] == (inside ? in[row][column] : 0));
  }
  for (int t = 0; t < 4; t++) {
    assert_true(out[128 + t] == in[0][t]);
    assert_true(out[132 + t] == bytes[t]);
    assert_true(out[136 + t] == shorts[t]);
    assert_true(out[140 + t] == in[0][2 * t]);
    assert_true(out[144 + t] == in[0][2 * t + 1]);
  }
}

static void textures_may_be_many(void **unused) {
  (void)unused;
  float in[256], out[TRIAL_TEXTURES] = {0};
  for (int i = 0; i < 256; i++) in[i] = (float)(3 * i);
  run_on_board(ENTRIES_OF(trial_many_textures), NULL, in, sizeof in, out, sizeof out);
  assert_memory_equal(out, in, sizeof out);
}

/* What a texture unit cannot show. */
static void textures_have_limits(void **unused) {
  (void)unused;
  static const rung_texture shown[] = {
      {(void *)4, RUNG_TEXEL_F32, 4, 4, 512, false},   /* where it begins */
      {NULL, RUNG_TEXEL_F32, 4, 4, 500, false},        /* how far apart rows are */
      {NULL, RUNG_TEXEL_F32, 129, 4, 512, false},      /* rows that overlap */
      {NULL, RUNG_TEXEL_U8, 4, 70000, 32, false},      /* rows */
      {NULL, RUNG_TEXEL_U8, 140000, 1, 140032, false}, /* columns */
      {NULL, RUNG_TEXEL_F32, 0, 4, 512, false},        /* nothing */
  };
  char none[16] = {0};
  if (!here.state) skip();
  for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
    const rung_status status =
        launch_once(ENTRIES_OF(trial_no_texture), &shown[k], none, sizeof none, none, sizeof none);
    if (status != RUNG_DEVICE_FAILED || !strstr(here.error.sentence, "a texture of"))
      fail_msg("texture %zu: status %d, %s", k, (int)status, here.error.sentence);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(bits_are_counted_and_moved), EACH(conversions_hold_at_their_ends),
      EACH(loads_stores_and_roundings), EACH(textures_have_borders),
      EACH(textures_may_be_many),       EACH(textures_have_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
