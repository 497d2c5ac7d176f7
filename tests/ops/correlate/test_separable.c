/* Kernels of rank one in two passes, from outside: which kernels are taken so, and when; every bit
 * of the order that separable.h states, on every instruction set, by one thread and several, and on
 * the simulated GPU; and every element within the stated bound of a sum in long double. */
#include <stdio.h>

#include "core/half.h"
#include "core/random.h"
#include "ops/correlate/fold.h"
#include "ops/rungs.h"

static const DLDataType types[] = {
    {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLFloat, 16, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}};
enum { U8, U16, F16, F32, F64 };

static double get(int type, const void *from, int64_t at) {
  switch (type) {
    case U8:
      return ((const uint8_t *)from)[at];
    case U16:
      return ((const uint16_t *)from)[at];
    case F16:
      return rung_f16_to_f32(((const uint16_t *)from)[at]);
    case F32:
      return ((const float *)from)[at];
    default:
      return ((const double *)from)[at];
  }
}

/* Of numbers that a float has, where the type is not f64. */
static void put(int type, void *to, int64_t at, double value) {
  if (type == U8)
    ((uint8_t *)to)[at] = (uint8_t)(value > 0 ? nearbyint(fmin(value, 255)) : 0);
  else if (type == U16)
    ((uint16_t *)to)[at] = (uint16_t)(value > 0 ? nearbyint(fmin(value, 65535)) : 0);
  else if (type == F16)
    ((uint16_t *)to)[at] = rung_f32_to_f16((float)value);
  else if (type == F32)
    ((float *)to)[at] = (float)value;
  else
    ((double *)to)[at] = value;
}

/* An image of `channels` and a kernel that is a column times a row. */
typedef struct job {
  int in, out;
  int64_t height, width, channels;
  int rows, columns;
  double column[63], row[63], taps[63 * 63];
  rung_filter_model model;
  bool reversed;
  int64_t gap; /* elements between the rows of the result */
  void *image, *result, *wanted;
} job;

static int64_t line_of(const job *j) {
  return j->width * j->channels + j->gap;
}

static void make(job *j, uint64_t seed) {
  rung_random random = {seed};
  const int64_t count = j->height * j->width * j->channels;
  j->image = malloc((size_t)count * 8 + 1);
  j->result = calloc((size_t)(j->height * line_of(j)) + 1, 8);
  j->wanted = calloc((size_t)(j->height * line_of(j)) + 1, 8);
  assert_true(j->image != NULL && j->result != NULL && j->wanted != NULL);
  for (int64_t i = 0; i < count; i++)
    put(j->in, j->image, i, rung_random_double(&random) * 300 - (j->in <= U16 ? 0 : 100));
  for (int i = 0; i < j->rows * j->columns; i++)
    j->taps[i] = j->column[i / j->columns] * j->row[i % j->columns];
}

static void drop(job *j) {
  free(j->image);
  free(j->result);
  free(j->wanted);
}

static rung_status filter(rung_context *context, job *j, DLDataType of_taps, const void *taps,
                          void *result, rung_call *call) {
  int64_t shape[] = {j->height, j->width, j->channels}, of_kernel[] = {j->rows, j->columns};
  int64_t strides[] = {line_of(j), j->channels, 1};
  const DLTensor in = tensor(j->image, types[j->in], 3, shape, NULL);
  const DLTensor kernel = tensor(taps, of_taps, 2, of_kernel, NULL);
  DLTensor out = tensor(result, types[j->out], 3, shape, strides);
  return (j->reversed ? rung_convolve : rung_correlate)(context, &j->model, &in, &kernel, &out,
                                                        call);
}

/* ---- the order --------------------------------------------------------------------------------
 */

/* What tap (a, b) of the kernel, turned where it is a convolution's, meets from pixel (y, x). */
static double met(const job *j, int64_t y, int64_t x, int64_t channel, int a, int b) {
  const int64_t *o = j->model.origin;
  const int64_t up = j->reversed ? j->rows - 1 - j->rows / 2 - o[0] : j->rows / 2 + o[0];
  const int64_t left = j->reversed ? j->columns - 1 - j->columns / 2 - o[1] : j->columns / 2 + o[1];
  const int64_t row = fold(j->model.edge, y + a - up, j->height),
                pixel = fold(j->model.edge, x + b - left, j->width);
  if (row < 0 || pixel < 0) return j->model.edge_value;
  return get(j->in, j->image, (row * j->width + pixel) * j->channels + channel);
}

static bool is_double(const job *j) {
  return j->in == F64 || j->out == F64;
}

/* Two chains, by factors that are what canonical ones are but for a power of two. */
static double two_passes(const job *j, int64_t y, int64_t x, int64_t channel) {
  double t = 0;
  float narrow = 0;
  for (int a = 0; a < j->rows; a++) {
    const double column = j->column[j->reversed ? j->rows - 1 - a : a];
    double h = 0;
    float narrow_h = 0;
    for (int b = 0; b < j->columns; b++) {
      const double row = j->row[j->reversed ? j->columns - 1 - b : b];
      const double value = met(j, y, x, channel, a, b);
      h = fma(row, value, h);
      narrow_h = fmaf((float)row, (float)value, narrow_h);
    }
    t = fma(column, h, t);
    narrow = fmaf((float)column, narrow_h, narrow);
  }
  return is_double(j) ? t : (double)narrow;
}

static void expect_two_passes(job *j) {
  memcpy(j->wanted, j->result, (size_t)(j->height * line_of(j)) * 8);
  for (int64_t y = 0; y < j->height; y++)
    for (int64_t x = 0; x < j->width; x++)
      for (int64_t c = 0; c < j->channels; c++)
        put(j->out, j->wanted, y * line_of(j) + x * j->channels + c, two_passes(j, y, x, c));
}

static void compare(rung_context *context, const char *where, job *j) {
  const size_t bytes = (size_t)(j->height * line_of(j)) * 8;
  void *found = malloc(bytes + 1);
  rung_call call = {.rung = "separable", .math = RUNG_MATH_FAST};
  assert_non_null(found);
  memcpy(found, j->result, bytes);
  if (filter(context, j, f64, j->taps, found, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  assert_string_equal(call.used, "separable");
  if (memcmp(found, j->wanted, bytes) != 0)
    fail_msg("%s: types %d, %d, image %ld by %ld by %ld, kernel %d by %d, edge %d: other bits",
             where, j->in, j->out, (long)j->height, (long)j->width, (long)j->channels, j->rows,
             j->columns, (int)j->model.edge);
  free(found);
}

/* Every instruction set, one thread and several, and the simulator; whole and in pieces. */
static void compare_everywhere(job *j, rung_context *sim) {
  for (int isa = first_isa(); isa <= widest_isa(); isa++)
    for (int threads = 1; threads <= 3; threads += 2) {
      rung_context *context = open_with(isas[isa], threads);
      if (context == NULL) continue;
      compare(context, isas[isa], j);
      rung_close(context);
    }
  if (sim != NULL) compare(sim, "sim", j);
}

/* Whole numbers without a common divisor, of both signs. */
static void draw_factors(job *j) {
  for (int i = 0; i < j->rows; i++) j->column[i] = (1 + (i * 7 + 2) % 9) * (i % 3 == 1 ? -1 : 1);
  for (int b = 0; b < j->columns; b++) j->row[b] = (1 + b * 5 % 11) * (b % 4 == 2 ? -1 : 1);
}

static void has_one_order(void **state) {
  (void)state;
  static const int pairs[][2] = {{F32, F32}, {F64, F64}, {U8, U8},   {U16, F32},
                                 {F16, F16}, {F32, F64}, {F64, F32}, {U8, F64}};
  static const int64_t images[][3] = {{1, 1, 1},  {2, 3, 1},    {37, 70, 1},
                                      {9, 21, 3}, {70, 300, 1}, {5, 269, 4}};
  static const int kernels[][2] = {{3, 3},  {5, 5},  {2, 3},   {7, 4},
                                   {9, 16}, {31, 5}, {17, 33}, {63, 63}};
  rung_context *sim = open_on("sim");
  int number = 0;
  for (size_t i = 0; i < sizeof images / sizeof *images; i++)
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++, number++) {
      const int *pair = pairs[number % 8];
      job j = {.in = pair[0],
               .out = pair[1],
               .height = images[i][0],
               .width = images[i][1],
               .channels = images[i][2],
               .rows = kernels[k][0],
               .columns = kernels[k][1],
               .reversed = number % 3 == 2,
               .gap = number % 4 == 1 ? 3 : 0,
               .model = {.edge = (rung_edge)(number % 5), .edge_value = 3}};
      if (INSTRUMENTED && number % 5 != 0) continue;
      if (j.height * j.width * j.channels * j.rows * j.columns > 12000000) continue;
      if (number % 2 == 1) {
        j.model.origin[0] = -(j.rows / 2);
        j.model.origin[1] = (j.columns - 1) / 2;
      }
      draw_factors(&j);
      make(&j, 7 + (uint64_t)number);
      expect_two_passes(&j);
      compare_everywhere(&j, sim);
      drop(&j);
    }
  rung_close(sim);
}

/* Larger than a panel and several bands, with results past the caches. */
static void a_large_image(void **state) {
  (void)state;
  job j = {.in = F32,
           .out = F32,
           .height = INSTRUMENTED ? 300 : 1100,
           .width = 2000,
           .channels = 1,
           .rows = 5,
           .columns = 3,
           .model = {.edge = RUNG_EDGE_MIRROR}};
  draw_factors(&j);
  make(&j, 3);
  expect_two_passes(&j);
  compare_everywhere(&j, NULL);
  drop(&j);
}

/* More than fits in the memory of a device: 1.3 MB of the image alone; or a fifth of both. */
static void an_image_in_pieces(void **state) {
  (void)state;
  job j = {.in = F32,
           .out = F32,
           .height = 1100,
           .width = INSTRUMENTED ? 60 : 300,
           .channels = 1,
           .rows = 7,
           .columns = 3};
  setenv("RUNG_MEMORY_LIMIT", INSTRUMENTED ? "200K" : "1M", 1);
  rung_context *sim = open_on("sim");
  unsetenv("RUNG_MEMORY_LIMIT");
  if (sim == NULL) return;
  for (int edge = RUNG_EDGE_CONSTANT; edge <= RUNG_EDGE_MIRROR; edge++) {
    j.model.edge = (rung_edge)edge;
    draw_factors(&j);
    make(&j, 3);
    expect_two_passes(&j);
    compare(sim, "sim in pieces", &j);
    drop(&j);
  }
  rung_close(sim);
}

/* ---- within the bound -------------------------------------------------------------------------
 */

static void check_bound(const job *j, const double *taps, double mass, const void *result) {
  const double eps = is_double(j) ? 0x1p-52 : 0x1p-23, tiny = is_double(j) ? 0x1p-1074 : 0x1p-149;
  for (int64_t y = 0; y < j->height; y++)
    for (int64_t x = 0; x < j->width; x++) {
      long double sum = 0, magnitude = 0;
      for (int a = 0; a < j->rows; a++)
        for (int b = 0; b < j->columns; b++) {
          const long double term = (long double)taps[a * j->columns + b] * met(j, y, x, 0, a, b);
          sum += term;
          magnitude += fabsl(term);
        }
      const long double bound =
          (j->rows + j->columns + 4) * eps * magnitude + (j->columns * mass + j->rows + 2) * tiny;
      const double found = get(j->out, result, y * line_of(j) + x);
      if (!(fabsl(found - sum) <= bound))
        fail_msg("%d by %d: %.17g is not %.17Lg within %.3Lg", j->rows, j->columns, found, sum,
                 bound);
    }
}

static void gauss(int side, double sigma, double *line) {
  double sum = 0;
  for (int i = 0; i < side; i++)
    sum += line[i] = exp(-(i - (side - 1) / 2.0) * (i - (side - 1) / 2.0) / (2 * sigma * sigma));
  for (int i = 0; i < side; i++) line[i] /= sum;
}

/* Factors that are rounded, of values of very different sizes. */
static void keeps_the_bound(void **state) {
  (void)state;
  rung_context *context = open_on("cpu"), *sim = open_on("sim");
  for (int type = F32; type <= F64; type++)
    for (int side = 3; side <= 31; side += 4) {
      job j = {.in = type,
               .out = type,
               .height = 40,
               .width = 41,
               .channels = 1,
               .rows = side,
               .columns = side,
               .model = {.edge = RUNG_EDGE_MIRROR}};
      gauss(side, side / 5.0, j.column);
      memcpy(j.row, j.column, sizeof j.row);
      make(&j, 11);
      for (int64_t i = 0; i < j.height * j.width; i++)
        put(type, j.image, i, get(type, j.image, i) * ldexp(1, (int)(i % 41) - 20));
      double taps[31 * 31];
      for (int i = 0; i < side * side; i++)
        taps[i] = type == F32 ? (double)(float)j.taps[i] : j.taps[i];
      for (int d = 0; d < 2; d++) {
        rung_call call = {.rung = "separable", .math = RUNG_MATH_FAST};
        rung_context *on = d == 0 ? context : sim;
        if (on == NULL) continue;
        assert_int_equal(filter(on, &j, f64, j.taps, j.result, &call), RUNG_OK);
        assert_string_equal(call.used, "separable");
        check_bound(&j, taps, 4, j.result);
      }
      drop(&j);
    }
  rung_close(context);
  rung_close(sim);
}

/* ---- which kernels ----------------------------------------------------------------------------
 */

static double small_image[12 * 12], small_result[12 * 12];

/* What a kernel of doubles is run by under fast math; NULL: refused. */
static const char *used_by(rung_context *context, DLDataType image, int rows, int columns,
                           DLDataType of_taps, const void *taps, const char *rung, rung_math math) {
  int64_t shape[] = {12, 12}, of_kernel[] = {rows, columns};
  const DLTensor in = tensor(small_image, image, 2, shape, NULL),
                 kernel = tensor(taps, of_taps, 2, of_kernel, NULL);
  DLTensor out = tensor(small_result, image, 2, shape, NULL);
  rung_call call = {.rung = rung, .math = math};
  return rung_correlate(context, NULL, &in, &kernel, &out, &call) == RUNG_OK ? call.used : NULL;
}

/* Whether a kernel is one that two passes take, and so that auto does where it is large. */
static void expect_taken(rung_context *context, bool taken, const char *name, int rows, int columns,
                         const double *taps) {
  const bool pays = rows * columns > 3 * (rows + columns);
  for (int wide = 0; wide < 2; wide++) {
    const DLDataType image = wide ? f64 : f32;
    const char *fast = used_by(context, image, rows, columns, f64, taps, NULL, RUNG_MATH_FAST);
    const char *strict = used_by(context, image, rows, columns, f64, taps, NULL, RUNG_MATH_STRICT);
    if (fast == NULL || strict == NULL) fail_msg("%s: %s", name, rung_last_error(context));
    if (strcmp(strict, "threads") != 0 ||
        strcmp(fast, taken && pays ? "separable" : "threads") != 0)
      fail_msg("%s, f%d: %s, and strictly %s", name, wide ? 64 : 32, fast, strict);
    const char *named =
        used_by(context, image, rows, columns, f64, taps, "separable", RUNG_MATH_FAST);
    if (taken ? named == NULL : named != NULL) fail_msg("%s by name: %s", name, named);
    if (!taken) assert_non_null(strstr(rung_last_error(context), "expected: "));
    assert_null(used_by(context, image, rows, columns, f64, taps, "separable", RUNG_MATH_STRICT));
    assert_non_null(strstr(rung_last_error(context), "`--math fast`"));
  }
}

static void outer(int rows, int columns, const double *column, const double *row, double *taps) {
  for (int i = 0; i < rows * columns; i++) taps[i] = column[i / columns] * row[i % columns];
}

static void takes_what_is_of_rank_one(void **state) {
  (void)state;
  rung_context *context = open_on("cpu");
  double taps[63 * 63], line[63], other[63];
  for (int side = 3; side <= 63; side++) { /* by name: box and gauss */
    for (int i = 0; i < side * side; i++) taps[i] = 1.0 / (side * side);
    expect_taken(context, true, "box", side, side, taps);
    gauss(side, .3 * ((side - 1) * .5 - 1) + .8, line);
    outer(side, side, line, line, taps);
    expect_taken(context, true, "gauss", side, side, taps);
  }
  expect_taken(context, true, "sobel", 3, 3, (double[]){-1, 0, 1, -2, 0, 2, -1, 0, 1});
  expect_taken(context, true, "scharr", 3, 3, (double[]){3, 10, 3, 0, 0, 0, -3, -10, -3});
  expect_taken(context, true, "prewitt", 3, 3, (double[]){1, 1, 1, 0, 0, 0, -1, -1, -1});
  expect_taken(context, true, "one tap", 3, 3, (double[]){0, 0, 0, 0, 0, -7, 0, 0, 0});
  /* Exact products of numbers whose quotients are not doubles. */
  static const double primes[] = {3, 7, 49, 97, 4093, 1021, -2039};
  outer(7, 7, primes, primes, taps);
  expect_taken(context, true, "primes", 7, 7, taps);
  outer(7, 5, primes, primes + 2, taps);
  expect_taken(context, true, "more primes", 7, 5, taps);
  /* Rounded products of numbers of the kernel's own type: of one line with itself. */
  rung_random random = {5};
  for (int trial = 0; trial < 200; trial++) {
    float narrow[9], products[81];
    for (int i = 0; i < 9; i++) {
      line[i] = rung_random_double(&random) * 4 - 2;
      narrow[i] = (float)line[i];
    }
    outer(9, 9, line, line, taps);
    expect_taken(context, true, "a line with itself", 9, 9, taps);
    for (int i = 0; i < 81; i++) products[i] = -narrow[i / 9] * narrow[i % 9];
    assert_string_equal(used_by(context, f32, 9, 9, f32, products, NULL, RUNG_MATH_FAST),
                        "separable");
  }
  /* Two different lines: doubles whose products are rounded twice, where sums are f32. */
  for (int trial = 0; trial < 200; trial++) {
    for (int i = 0; i < 9; i++) {
      line[i] = rung_random_double(&random) * 4 - 2;
      other[i] = rung_random_double(&random) * 1e-3;
    }
    outer(9, 7, line, other, taps);
    assert_string_equal(used_by(context, f32, 9, 7, f64, taps, NULL, RUNG_MATH_FAST), "separable");
  }
  rung_close(context);
}

static void leaves_the_rest(void **state) {
  (void)state;
  rung_context *context = open_on("cpu");
  double taps[63 * 63];
  rung_random random = {9};
  expect_taken(context, false, "laplace", 3, 3, (double[]){0, 1, 0, 1, -4, 1, 0, 1, 0});
  expect_taken(context, false, "sharpen", 3, 3, (double[]){0, -1, 0, -1, 5, -1, 0, -1, 0});
  expect_taken(context, false, "nothing but zeros", 3, 3, (double[9]){0});
  expect_taken(context, false, "a row", 1, 9, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_taken(context, false, "a column", 5, 1, (double[]){1, 2, 3, 4, 5});
  expect_taken(context, false, "four taps", 2, 2, (double[]){1, 2, 2, 4});
  expect_taken(context, false, "sixes", 2, 3, (double[]){1, 2, 3, 2, 4, 7});
  for (int i = 0; i < 49; i++) taps[i] = rung_random_double(&random);
  expect_taken(context, false, "random numbers", 7, 7, taps);
  /* Almost: one tap of a box or of whole numbers is off by a unit in the last place of f32. */
  for (int at = 0; at < 25; at++) {
    for (int i = 0; i < 25; i++) taps[i] = .25;
    taps[at] += at % 6 == 0 ? 0x1p-23 : 0x1p-25; /* roots of a diagonal are rounded */
    expect_taken(context, false, "almost a box", 5, 5, taps);
    for (int i = 0; i < 25; i++) taps[i] = (1 + i / 5) * (3 + i % 5);
    taps[at] *= 1 + 0x1p-23;
    expect_taken(context, false, "almost whole numbers", 5, 5, taps);
  }
  /* Factors that no number of the type is near enough to. */
  static const double subnormal[9] = {1e-310, 1e-310, 1e-310, 1e-2, 1e-2, 1e-2, 1, 1, 1};
  assert_string_equal(used_by(context, f64, 3, 3, f64, subnormal, NULL, RUNG_MATH_FAST), "threads");
  float tails[9] = {1, 1, 1, 1e-30f, 1e-30f, 1e-30f, 1e-42f, 1e-42f, 1e-42f};
  assert_string_equal(used_by(context, f32, 3, 3, f32, tails, NULL, RUNG_MATH_FAST), "threads");
  rung_close(context);
}

/* ---- what is not finite, and what is exact ----------------------------------------------------
 */

static void meets_nan_and_infinity(void **state) {
  (void)state;
  static float in[12 * 12], strict[12 * 12], fast[12 * 12];
  const float taps[9] = {0, 1, -1, 0, 0, 0, 0, 2, -2};
  rung_context *contexts[] = {open_on("cpu"), open_on("sim")};
  int64_t shape[] = {12, 12}, of_kernel[] = {3, 3};
  const DLTensor image = tensor(in, f32, 2, shape, NULL),
                 kernel = tensor(taps, f32, 2, of_kernel, NULL);
  for (int trial = 0; trial < (INSTRUMENTED ? 60 : 300); trial++)
    for (int c = 0; c < 2; c++) {
      if (contexts[c] == NULL) continue;
      rung_random random = {(uint64_t)trial};
      for (int i = 0; i < 144; i++) in[i] = (float)(int)(rung_random_double(&random) * 9);
      for (int i = 0; i < 3; i++)
        in[(int)(rung_random_double(&random) * 144)] = i == trial % 3 ? NAN
                                                       : i % 2        ? INFINITY
                                                                      : -INFINITY;
      DLTensor out = tensor(strict, f32, 2, shape, NULL), two = tensor(fast, f32, 2, shape, NULL);
      rung_call call = {.rung = "separable", .math = RUNG_MATH_FAST};
      assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernel, &out, NULL), RUNG_OK);
      assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernel, &two, &call), RUNG_OK);
      for (int i = 0; i < 144; i++)
        assert_true(isnan(strict[i]) ? isnan(fast[i]) : strict[i] == fast[i]);
    }
  rung_close(contexts[0]);
  rung_close(contexts[1]);
}

/* Of whole numbers the sums are exact in any order; where no double holds them, they are not taken.
 */
static void integers_stay_exact(void **state) {
  (void)state;
  static uint16_t in[30 * 50];
  static double strict[30 * 50], fast[30 * 50];
  rung_context *contexts[] = {open_on("cpu"), open_on("sim")};
  int64_t shape[] = {30, 50}, of_kernel[] = {5, 7};
  const DLTensor image = tensor(in, u16, 2, shape, NULL);
  rung_random random = {77};
  for (int i = 0; i < 30 * 50; i++) in[i] = (uint16_t)rung_random_next(&random);
  for (int32_t scale = 1; scale < INT32_MAX / 12; scale *= 3) { /* sums stay below 2^53 */
    int32_t taps[35];
    const DLTensor kernel = tensor(taps, i32, 2, of_kernel, NULL);
    for (int i = 0; i < 35; i++) taps[i] = scale * (i / 7 - 1) * (i % 7 - 4);
    for (int c = 0; c < 2; c++) {
      if (contexts[c] == NULL) continue;
      DLTensor out = tensor(strict, f64, 2, shape, NULL), two = tensor(fast, f64, 2, shape, NULL);
      rung_call call = {.rung = c == 0 ? "separable" : NULL, .math = RUNG_MATH_FAST};
      assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernel, &out, NULL), RUNG_OK);
      assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernel, &two, &call), RUNG_OK);
      if (c == 0) assert_string_equal(call.used, "separable");
      assert_memory_equal(strict, fast, sizeof fast);
    }
  }
  rung_close(contexts[0]);
  rung_close(contexts[1]);
}

/* Several kernels: all of them are, or none is; results of no elements. */
static void several_kernels_and_none(void **state) {
  (void)state;
  static float in[300], out[600], taps[18];
  rung_context *contexts[] = {open_on("cpu"), open_on("sim")};
  int64_t shape[] = {20, 15}, several[] = {2, 20, 15}, of_kernels[] = {2, 3, 3}, none[] = {20, 0};
  for (int i = 0; i < 300; i++) in[i] = (float)i;
  for (int c = 0; c < 2; c++) {
    if (contexts[c] == NULL) continue;
    const DLTensor image = tensor(in, f32, 2, shape, NULL),
                   kernels = tensor(taps, f32, 3, of_kernels, NULL),
                   kernel = tensor(taps, f32, 2, of_kernels + 1, NULL);
    DLTensor result = tensor(out, f32, 3, several, NULL), empty = tensor(out, f32, 2, none, NULL);
    rung_call call = {.rung = "separable", .math = RUNG_MATH_FAST};
    for (int i = 0; i < 18; i++) taps[i] = i < 9 ? 1 : (float)((i - 9) / 3 + 1);
    assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernels, &result, &call), RUNG_OK);
    assert_string_equal(call.used, "separable");
    assert_true(out[7 * 15 + 7] == 9 * in[7 * 15 + 7]);
    assert_true(out[300 + 7 * 15 + 7] == 3 * (6 * in[7 * 15 + 7] + 2 * 15));
    assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernel, &empty, &call), RUNG_OK);
    taps[9] = 5;
    call.rung = NULL;
    assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernels, &result, &call), RUNG_OK);
    assert_string_not_equal(call.used, "separable");
    call.rung = "separable";
    assert_int_equal(rung_correlate(contexts[c], NULL, &image, &kernels, &result, &call),
                     RUNG_UNSUPPORTED);
    assert_non_null(strstr(rung_last_error(contexts[c]), "kernel 1 is not separable; expected"));
  }
  rung_close(contexts[0]);
  rung_close(contexts[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(has_one_order),
      cmocka_unit_test(a_large_image),
      cmocka_unit_test(an_image_in_pieces),
      cmocka_unit_test(keeps_the_bound),
      cmocka_unit_test(takes_what_is_of_rank_one),
      cmocka_unit_test(leaves_the_rest),
      cmocka_unit_test(meets_nan_and_infinity),
      cmocka_unit_test(integers_stay_exact),
      cmocka_unit_test(several_kernels_and_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
