/* Cases of rowmeans: lines such as "n=15360 m=15360 type=f32 rows=random".
 *
 *   n, m   rows and columns
 *   type   f32 (default) or f64
 *   rows   random (default): numbers of both signs over eight binades; from row 61 on, row i is
 *          row i % 61 times a power of two, so that every mean can be checked at the cost of 61
 *          special: NaNs, infinities, zeros of both signs, subnormals, cancellation, overflow */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "lab/line.h"
#include "ops/rowmeans/lab/cases.h"
#include "ops/rowmeans/rowmeans.h"

enum { BASE_ROWS = 61, SCALES = 16, SCALE_LEAST = -8 };

/* A case's problem, and how its rows were drawn. */
typedef struct rowmeans_made {
  rowmeans_problem problem; /* first: what rungs find */
  int kind;
} rowmeans_made;

/* What expect() leaves behind: every row's mean, by the contract and wide, and mean|x|. */
typedef struct rowmeans_expected {
  char *strict; /* in the case's dtype */
  double *wide, *magnitude;
} rowmeans_expected;

static const char *const keys[] = {"n", "m", "type", "rows", NULL};
static const char *const types[] = {"f32", "f64", NULL};
static const char *const kinds[] = {"random", "special", NULL};
enum { RANDOM, SPECIAL };

static void put(const rung_view *view, int64_t i, double value) {
  if (view->dtype == RUNG_F32)
    ((float *)view->data)[i] = (float)value;
  else
    ((double *)view->data)[i] = value;
}

static double get(const void *data, rung_dtype dtype, int64_t i) {
  return dtype == RUNG_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* Both signs, magnitudes in [1/128, 2): digits enough that sums in another order differ. */
static double draw(rung_random *random) {
  const uint64_t bits = rung_random_next(random);
  const double value = ldexp(1.0 + rung_random_double(random), -(int)(bits & 7));
  return bits & 8 ? -value : value;
}

/* The power of two row i carries. */
static int scale_of(int64_t row) {
  return (int)(row / BASE_ROWS % SCALES) + SCALE_LEAST;
}

static void fill_random(const rung_view *in, rung_random *random) {
  const int64_t rows = in->shape[0], columns = in->shape[1];
  for (int64_t i = 0; i < rows && i < BASE_ROWS; ++i)
    for (int64_t j = 0; j < columns; ++j)
      put(in, i * columns + j, ldexp(draw(random), SCALE_LEAST));
  for (int64_t i = BASE_ROWS; i < rows; ++i) {
    const int64_t to = i * columns, from = i % BASE_ROWS * columns;
    const double factor = ldexp(1.0, scale_of(i) - SCALE_LEAST);
    if (in->dtype == RUNG_F32)
      for (int64_t j = 0; j < columns; ++j)
        ((float *)in->data)[to + j] = ((const float *)in->data)[from + j] * (float)factor;
    else
      for (int64_t j = 0; j < columns; ++j)
        ((double *)in->data)[to + j] = ((const double *)in->data)[from + j] * factor;
  }
}

/* One row after the other, each with another thing that goes wrong easily. */
static void fill_special(const rung_view *in, rung_random *random) {
  const bool narrow = in->dtype == RUNG_F32;
  const double least = narrow ? 0x1p-149 : 0x1p-1074,
               most = narrow ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  const int64_t rows = in->shape[0], columns = in->shape[1];
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = i * columns;
    const int kind = (int)(i % 11);
    for (int64_t j = 0; j < columns; ++j) {
      double value = draw(random);
      if (kind == 3) value = -0.0;
      if (kind == 4) value = value < 0 ? -0.0 : 0.0;
      if (kind == 5) value = least * floor(value * 1000);
      if (kind == 6) value *= ldexp(1.0, narrow ? 60 : 500);
      if (kind == 7) value = most;
      if (kind == 8) value = j % 2 ? least : -least;
      put(in, at + j, value);
    }
    const int64_t a = (int64_t)(rung_random_double(random) * (double)columns);
    const int64_t b = (int64_t)(rung_random_double(random) * (double)columns);
    if (kind == 0) put(in, at + a, NAN);
    if (kind == 1) put(in, at + a, i % 2 ? INFINITY : -INFINITY);
    if (kind == 2) put(in, at + a, INFINITY), put(in, at + b, -INFINITY);
    if (kind == 6) /* all but cancels against the sum of the others */
      put(in, at + a, -get(in->data, in->dtype, at + b));
    if (kind == 9) put(in, at + columns - 1, NAN);
  }
}

/* ---- making -------------------------------------------------------------------------------- */

static rung_status allocate_input(rung_case *test_case, rung_error *error) {
  rowmeans_problem *problem = (rowmeans_problem *)test_case->problem;
  rung_view *in = &test_case->arrays[ROWMEANS_IN], *means = &test_case->arrays[ROWMEANS_MEANS];
  const size_t bytes =
      (size_t)(problem->rows * problem->columns) * rung_dtype_bytes(test_case->dtype);
  void *data = malloc(bytes);
  if (data == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY,
                     "n=%" PRId64 " m=%" PRId64 " needs %zu bytes for its input", problem->rows,
                     problem->columns, bytes);
  *in = rung_view_compact(data, test_case->dtype, 2, (int64_t[]){problem->rows, problem->columns});
  *means = rung_view_compact(NULL, test_case->dtype, 1, (int64_t[]){problem->rows});
  return RUNG_OK;
}

static rung_status make(const char *text, uint64_t seed, rung_case *test_case, rung_error *error) {
  rung_line line;
  int64_t rows = 0, columns = 0;
  int type = 0, kind = 0;
  rung_status status = rung_line_parse(error, text, keys, &line);
  if (status == RUNG_OK) status = rung_line_int(error, &line, "n", 1000, 1, ROWMEANS_MOST, &rows);
  if (status == RUNG_OK)
    status = rung_line_int(error, &line, "m", 1000, 1, ROWMEANS_MOST, &columns);
  if (status == RUNG_OK) status = rung_line_choice(error, &line, "type", types, 0, &type);
  if (status == RUNG_OK) status = rung_line_choice(error, &line, "rows", kinds, RANDOM, &kind);
  if (status != RUNG_OK) return status;

  *test_case = (rung_case){.operation = rung_operation_named("rowmeans"),
                           .cases = &rowmeans_cases,
                           .seed = seed,
                           .dtype = type == 0 ? RUNG_F32 : RUNG_F64,
                           .inputs = 1,
                           .outputs = 1,
                           .array_names = {"in", "means"}};
  snprintf(test_case->label, sizeof test_case->label, "n=%" PRId64 " m=%" PRId64 " type=%s rows=%s",
           rows, columns, types[type], kinds[kind]);
  rowmeans_made *made = (rowmeans_made *)malloc(sizeof *made);
  if (made == NULL) return rung_fail(error, RUNG_OUT_OF_MEMORY, "host memory ran out");
  made->kind = kind;
  rowmeans_problem *problem = &made->problem;
  test_case->problem = made;
  status = rowmeans_problem_of(error, rows, columns, test_case->dtype, problem);
  if (status == RUNG_OK) status = allocate_input(test_case, error);
  if (status != RUNG_OK) {
    free(made);
    return status;
  }
  test_case->bytes = problem->bytes;
  test_case->flops = problem->flops;
  rung_random random = {seed};
  (kind == RANDOM ? fill_random : fill_special)(&test_case->arrays[ROWMEANS_IN], &random);
  return RUNG_OK;
}

static void drop(rung_case *test_case) {
  rowmeans_expected *expected = (rowmeans_expected *)test_case->expected;
  if (expected != NULL) {
    free(expected->strict);
    free(expected->wide);
    free(expected->magnitude);
  }
  free(expected);
  free(test_case->arrays[ROWMEANS_IN].data);
  free(test_case->problem);
  memset(test_case, 0, sizeof *test_case);
}

/* ---- what must come out --------------------------------------------------------------------- */

/* Row i's references. Those of a row that is another one times a power of two are that one's
 * times the power: nothing in between is subnormal or overflows, so scaling is exact throughout. */
static void expect_row(const rung_case *test_case, rowmeans_expected *expected, int64_t i) {
  const rowmeans_problem *problem = (const rowmeans_problem *)test_case->problem;
  const rung_view *in = &test_case->arrays[ROWMEANS_IN];
  const size_t element = rung_dtype_bytes(test_case->dtype);
  if (((const rowmeans_made *)test_case->problem)->kind != RANDOM || i < BASE_ROWS) {
    const char *row = in->data + (size_t)(i * problem->columns) * element;
    rowmeans_reference_strict(problem, row, expected->strict + (size_t)i * element);
    expected->wide[i] = rowmeans_reference_wide(problem, row, &expected->magnitude[i]);
    return;
  }
  const int64_t base = i % BASE_ROWS;
  const int power = scale_of(i) - SCALE_LEAST;
  const rung_view strict = {.data = expected->strict, .dtype = test_case->dtype};
  put(&strict, i, ldexp(get(expected->strict, test_case->dtype, base), power));
  expected->wide[i] = ldexp(expected->wide[base], power);
  expected->magnitude[i] = ldexp(expected->magnitude[base], power);
}

static rung_status expect(rung_case *test_case, rung_error *error) {
  if (test_case->expected != NULL) return RUNG_OK;
  const int64_t rows = ((const rowmeans_problem *)test_case->problem)->rows;
  rowmeans_expected *expected = (rowmeans_expected *)calloc(1, sizeof *expected);
  test_case->expected = expected;
  if (expected != NULL) {
    expected->strict = (char *)malloc((size_t)rows * rung_dtype_bytes(test_case->dtype));
    expected->wide = (double *)malloc((size_t)rows * sizeof(double));
    expected->magnitude = (double *)malloc((size_t)rows * sizeof(double));
  }
  if (expected == NULL || expected->strict == NULL || expected->wide == NULL ||
      expected->magnitude == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no host memory for the references",
                     test_case->label);
  for (int64_t i = 0; i < rows; ++i) expect_row(test_case, expected, i);
  return RUNG_OK;
}

/* ---- judging -------------------------------------------------------------------------------- */

/* The contract's bounds (rowmeans.h), as a multiple of a row's mean|x|. */
static double bound_of(const rowmeans_problem *problem, rung_order order) {
  const double eps = problem->dtype == RUNG_F32 ? 0x1p-23 : 0x1p-52;
  if (order != RUNG_CANONICAL) return (double)problem->columns * eps;
  int levels = 1;
  for (int64_t left = rowmeans_tiles(problem->columns); left > 1; left = rowmeans_tiles(left))
    ++levels;
  return (26 * levels + 1) * eps;
}

static bool is_poison(const char *element, size_t bytes) {
  for (size_t b = 0; b < bytes; ++b)
    if ((unsigned char)element[b] != RUNG_POISON_BYTE) return false;
  return true;
}

/* The same number, and of zeros the same sign; or both NaN. */
static bool same_bits(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* One mean: its error in units of mean|x| in *error; whether it may stand. */
static bool check_mean(const rung_case *test_case, rung_order order, int64_t i, double found,
                       double *error) {
  const rowmeans_problem *problem = (const rowmeans_problem *)test_case->problem;
  const rowmeans_expected *expected = (const rowmeans_expected *)test_case->expected;
  const double wide = expected->wide[i], magnitude = expected->magnitude[i];
  const bool narrow = problem->dtype == RUNG_F32;
  const double least = narrow ? 0x1p-149 : 0x1p-1074;
  const double most = narrow ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  const double distance = same_bits(found, wide) ? 0 : fabs(found - wide);
  *error = distance > least ? distance / magnitude : 0;
  if (order == RUNG_CANONICAL) return same_bits(found, get(expected->strict, problem->dtype, i));
  if (!isfinite(wide)) return same_bits(found, wide);
  /* Where the magnitudes' sum overflows, the contract leaves textbook orders free. */
  if (!(magnitude <= most / (double)problem->columns)) return true;
  return distance <= bound_of(problem, order) * magnitude + least;
}

static void explain(const rung_case *test_case, rung_order order, rung_comparison *comparison) {
  if (comparison->pass) return;
  const rowmeans_problem *problem = (const rowmeans_problem *)test_case->problem;
  const int digits = problem->dtype == RUNG_F32 ? 9 : 17;
  if (comparison->unwritten > 0)
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64
             " means were not written; the first wrong one is row %" PRId64,
             comparison->unwritten, problem->rows, comparison->first);
  else
    snprintf(comparison->sentence, sizeof comparison->sentence,
             "%" PRId64 " of %" PRId64 " means are wrong; row %" PRId64 " is %.*g where %.*g %s",
             comparison->wrong, problem->rows, comparison->first, digits, comparison->found, digits,
             comparison->wanted,
             order == RUNG_CANONICAL ? "is the contract's" : "is the wide reference's");
}

static void check(const rung_case *test_case, rung_order order, const rung_view *outputs,
                  rung_comparison *comparison) {
  const rowmeans_problem *problem = (const rowmeans_problem *)test_case->problem;
  const rowmeans_expected *expected = (const rowmeans_expected *)test_case->expected;
  const size_t bytes = rung_dtype_bytes(problem->dtype);
  *comparison = (rung_comparison){.first = -1, .bound = bound_of(problem, order)};
  for (int64_t i = 0; i < problem->rows; ++i) {
    const double found = get(outputs[0].data, problem->dtype, i);
    const double wanted =
        order == RUNG_CANONICAL ? get(expected->strict, problem->dtype, i) : expected->wide[i];
    const bool unwritten = is_poison(outputs[0].data + (size_t)i * bytes, bytes);
    double error = 0;
    const bool good = check_mean(test_case, order, i, found, &error) && !unwritten;
    if (error > comparison->worst) comparison->worst = error;
    if (good) continue;
    comparison->wrong += 1;
    comparison->unwritten += unwritten;
    comparison->nans += !unwritten && isnan(found) && !isnan(wanted);
    if (comparison->first >= 0) continue;
    comparison->first = i;
    comparison->found = found;
    comparison->wanted = wanted;
  }
  comparison->pass = comparison->wrong == 0;
  explain(test_case, order, comparison);
}

/* ---- lines ---------------------------------------------------------------------------------- */

#define WIDTHS(n, type)                                                                 \
  n " m=1 type=" type, n " m=2 type=" type, n " m=31 type=" type, n " m=32 type=" type, \
      n " m=33 type=" type, n " m=2047 type=" type, n " m=2048 type=" type,             \
      n " m=2049 type=" type, n " m=32767 type=" type, n " m=32768 type=" type,         \
      n " m=32769 type=" type, n " m=65543 type=" type
#define SPECIALS(type)                                                    \
  "n=33 m=1 rows=special type=" type, "n=33 m=7 rows=special type=" type, \
      "n=33 m=2050 rows=special type=" type, "n=33 m=40000 rows=special type=" type

static const char *const verify[] = {WIDTHS("n=1", "f32"),
                                     WIDTHS("n=2", "f32"),
                                     WIDTHS("n=33", "f32"),
                                     WIDTHS("n=1", "f64"),
                                     WIDTHS("n=2", "f64"),
                                     WIDTHS("n=33", "f64"),
                                     SPECIALS("f32"),
                                     SPECIALS("f64"),
                                     "n=1000 m=777 type=f32",
                                     "n=1000 m=777 type=f64",
                                     NULL};
static const char *const bench[] = {"n=15360 m=15360 type=f32", "n=15360 m=15360 type=f64",
                                    "n=64 m=4194304 type=f32", "n=1048576 m=64 type=f32", NULL};
static const char *const explain_lines[] = {"n=64 m=4096 type=f32", "n=64 m=4096 type=f64", NULL};
static const char *const tour[] = {"n=4096 m=4096 type=f32", "n=4096 m=4096 type=f64", NULL};

const rung_cases rowmeans_cases = {.operation = "rowmeans",
                                   .verify = verify,
                                   .bench = bench,
                                   .tour = tour,
                                   .explain = explain_lines,
                                   .make = make,
                                   .drop = drop,
                                   .expect = expect,
                                   .check = check};
