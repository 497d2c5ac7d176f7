/* The reference against a second telling of the contract, and the CPU's folds against both, with
 * tiles so small that lines have up to four levels: along a line, and of lines side by side in
 * strips of every width. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In place of core/sum.h: tiles of 64. */
#define RUNG_CORE_SUM_H
#define RUNG_SUM_LANES 32
#define RUNG_SUM_ROWS 2
#define RUNG_SUM_TILE (RUNG_SUM_LANES * RUNG_SUM_ROWS)

#include "core/random.h"
#include "ops/reduce/cpu/fold.h"
#include "ops/reduce/lab/cases.h"
#include "ops/reduce/lab/reference.c"

static const int64_t lengths[] = {1,    2,    31,   32,   33,   63,   64,   65,     127,    128,
                                  2047, 2049, 4095, 4096, 4097, 4161, 9999, 262144, 262145, 300000};

static double draw(rung_random *random) {
  return ldexp(rung_random_double(random) - 0.5, (int)(rung_random_next(random) % 20));
}

static double partial_at(const reduce_partials *partials, rung_dtype dtype, int w) {
  return dtype == RUNG_F64 ? partials->f64[w] : (double)partials->f32[w];
}

/* Lines side by side, tile by tile and level by level, as the rungs do it. */
static void fold_across(const reduce_problem *problem, const char *x, int64_t step, int width,
                        reduce_partials *sums) {
  const reduce_operator op = reduce_operator_of(problem), next = reduce_operator_next(op);
  const rung_key_code key = reduce_key_of(problem);
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const int64_t partial = (int64_t)rung_dtype_bytes(reduce_partial_of(op));
  char *room = (char *)malloc(64 * REDUCE_PIECE);
  char *level = (char *)malloc((size_t)(reduce_tiles(problem->columns) * width * partial));
  int64_t n = problem->columns, from_step = step, bytes = size;
  const char *from = x;
  for (bool first = true; first || n > 1; first = false, n = reduce_tiles(n)) {
    for (int64_t t = 0; t < reduce_tiles(n); ++t) {
      const int64_t left = n - t * RUNG_SUM_TILE;
      reduce_folds[first ? op : next].across(from + t * RUNG_SUM_TILE * from_step * bytes,
                                             from_step, left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE,
                                             width, width % 2 == 0, &key, room, sums);
      memcpy(level + t * width * partial, sums, (size_t)(width * partial));
    }
    from = level;
    from_step = width;
    bytes = partial;
  }
  free(room);
  free(level);
}

/* (n, width) numbers; every column against its gathered self. */
static void check(rung_dtype dtype, int64_t n, int width) {
  const rung_traits *traits = rung_traits_of(dtype);
  const int64_t step = width + 3, size = (int64_t)traits->bytes;
  char *x = (char *)malloc((size_t)(n * step * size));
  char *line = (char *)malloc((size_t)(n * size));
  rung_random random = {(uint64_t)n};
  for (int64_t i = 0; i < n * step; ++i) traits->store(x + i * size, draw(&random) / 1024);
  reduce_partials across, along;
  const reduce_problem problem = {.what = RUNG_SUM, .dtype = dtype, .columns = n};
  const reduce_fold *fold = &reduce_folds[reduce_operator_of(&problem)];
  const rung_key_code key = reduce_key_of(&problem);
  fold_across(&problem, x, step, width, &across);
  for (int w = 0; w < width; ++w) {
    for (int64_t k = 0; k < n; ++k)
      memcpy(line + k * size, x + (k * step + w) * size, traits->bytes);
    const double wanted = reduce_reference_sum(&problem, line, 1);
    const double strided = reduce_reference_sum(&problem, x + w * size, step);
    if (!(strided == wanted)) fail_msg("n=%ld: the reference goes by strides", (long)n);
    fold->lines(line, 0, 1, n, w % 2 == 0, &key, &along); /* as if from memory, or from a cache */
    const double side = partial_at(&across, dtype, w), alone = partial_at(&along, dtype, 0);
    if (!(side == wanted)) fail_msg("n=%ld, across: %a, not %a", (long)n, side, wanted);
    if (!(alone == wanted)) fail_msg("n=%ld, along: %a, not %a", (long)n, alone, wanted);
  }
  free(x);
  free(line);
}

static void keeps_the_order_of_floats(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
    check(RUNG_F32, lengths[k], lengths[k] > 10000 ? 2 : 1 + (int)(lengths[k] % 37));
  check(RUNG_F32, 70, 256);
}

static void keeps_the_order_of_doubles(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
    check(RUNG_F64, lengths[k], lengths[k] > 10000 ? 2 : 1 + (int)(lengths[k] % 29));
  check(RUNG_F64, 70, 256);
}

static void keeps_the_order_of_halves(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k)
    check(k % 2 == 0 ? RUNG_F16 : RUNG_BF16, lengths[k],
          lengths[k] > 10000 ? 2 : 1 + (int)(lengths[k] % 31));
  check(RUNG_F16, 70, 256);
  check(RUNG_BF16, 70, 256);
}

/* Told otherwise: the array is replaced by its tiles' sums, in place, until one is left. */
static float sum_in_place(float *x, int64_t n) {
  while (n > 1) {
    int64_t tiles = 0;
    for (int64_t first = 0; first < n; first += RUNG_SUM_TILE) {
      float lane[RUNG_SUM_LANES];
      for (int l = 0; l < RUNG_SUM_LANES; ++l) {
        const int64_t a = first + l, b = a + RUNG_SUM_LANES;
        lane[l] = (a < n ? x[a] : -0.0f) + (b < n ? x[b] : -0.0f);
      }
      for (int half = RUNG_SUM_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
      x[tiles++] = lane[0];
    }
    n = tiles;
  }
  return x[0];
}

static void tells_the_same_twice(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
    const int64_t n = lengths[k];
    const reduce_problem problem = {.what = RUNG_SUM, .dtype = RUNG_F32, .columns = n};
    float *x = (float *)malloc((size_t)n * sizeof *x);
    rung_random random = {(uint64_t)n};
    for (int64_t i = 0; i < n; ++i) x[i] = (float)draw(&random);
    double magnitude;
    const double sum = reduce_reference_sum(&problem, x, 1);
    const double wide = reduce_reference_wide(&problem, x, 1, &magnitude);
    /* 6 additions a level here, and at most 4 levels. */
    assert_true(fabs(sum - wide) <= 0x1p-24 * 25 * magnitude);
    assert_true(reduce_sum_f32(x, n, false) == (float)sum);
    assert_true(reduce_sum_f32(x, n, true) == (float)sum);
    const float told = sum_in_place(x, n);
    if (!((float)sum == told)) fail_msg("n=%ld: reference %a, told %a", (long)n, sum, told);
    free(x);
  }
}

/* 2^24 + 1 is 2^24 in float, so the order decides what a one is worth. */
static void is_the_contracts_order(void **state) {
  (void)state;
  float x[RUNG_SUM_TILE] = {0};
  const reduce_problem problem = {
      .what = RUNG_SUM, .dtype = RUNG_F32, .result = RUNG_F32, .columns = RUNG_SUM_TILE};
  float sum;
  /* Lane 0: big + 1 is big. Lane 16 takes it away when the lanes fold: 0 is left. */
  x[0] = 0x1p24f, x[32] = 1, x[16] = -0x1p24f;
  reduce_reference_strict(&problem, x, 1, &sum);
  assert_true(sum == 0);
  /* Both big ones in lane 0: they meet first, and the 1 of lane 16 stays. */
  x[0] = 0x1p24f, x[32] = -0x1p24f, x[16] = 1;
  reduce_reference_strict(&problem, x, 1, &sum);
  assert_true(sum == 1);
  /* Lanes 1 and 17 meet before lanes 0 and 1 do. */
  x[0] = 1, x[32] = 0, x[16] = 0, x[1] = 0x1p24f, x[17] = -0x1p24f;
  reduce_reference_strict(&problem, x, 1, &sum);
  assert_true(sum == 1);
  /* Lanes 0 and 8 meet before lanes 0 and 1 do. */
  x[0] = 1, x[1] = -0x1p24f, x[17] = 0, x[8] = 0x1p24f;
  reduce_reference_strict(&problem, x, 1, &sum);
  assert_true(sum == 0);
}

static void keeps_the_sign_of_nothing(void **state) {
  (void)state;
  const float zeros[40] = {-0.0f, -0.0f};
  const reduce_problem two = {.what = RUNG_SUM, .dtype = RUNG_F32, .columns = 2};
  const reduce_problem many = {.what = RUNG_SUM, .dtype = RUNG_F32, .columns = 40};
  assert_true(signbit(reduce_reference_sum(&two, zeros, 1)));
  assert_true(signbit(reduce_sum_f32(zeros, 2, false)));
  assert_false(signbit(reduce_reference_sum(&many, zeros, 1)));
  assert_false(signbit(reduce_sum_f32(zeros, 40, false)));
}

/* A tile of bytes, or of numbers of 16 bits, is summed in 32 bits: no sum of one wraps. */
static void tiles_of_narrow_numbers_do_not_wrap(void **state) {
  (void)state;
  assert_true((uint64_t)RUNG_SUM_TILE * UINT16_MAX <= UINT32_MAX);
  assert_true(UINT64_C(2048) * 16 * UINT16_MAX <= UINT32_MAX);
}

/* Keys fall in the order of the floats they stand for, and lead back. */
static void keys_are_in_order(void **state) {
  (void)state;
  static const float rising[] = {
      -INFINITY, -0x1.fffffep127f, -1.5f, -1,       -0x1p-149f, -0.0f,
      0.0f,      0x1p-149f,        1,     0x1.8p0f, 0x1p127f,   INFINITY};
  for (size_t k = 0; k < sizeof rising / sizeof *rising; ++k)
    for (int largest = 0; largest < 2; ++largest) {
      const int32_t mask = largest ? -1 : 0;
      int32_t bits, before = 0;
      memcpy(&bits, &rising[k], sizeof bits);
      const int32_t key = rung_key_f32(bits, mask);
      assert_true(rung_ordered_32(key ^ mask) == bits);
      assert_true(key > rung_key_f32(0x7fc00000, mask) && key > rung_key_f32(-1, mask));
      if (k == 0) continue;
      memcpy(&before, &rising[k - 1], sizeof before);
      assert_true(largest ? key < rung_key_f32(before, mask) : key > rung_key_f32(before, mask));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_the_order_of_floats),
      cmocka_unit_test(keeps_the_order_of_doubles),
      cmocka_unit_test(keeps_the_order_of_halves),
      cmocka_unit_test(tells_the_same_twice),
      cmocka_unit_test(is_the_contracts_order),
      cmocka_unit_test(keeps_the_sign_of_nothing),
      cmocka_unit_test(tiles_of_narrow_numbers_do_not_wrap),
      cmocka_unit_test(keys_are_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
