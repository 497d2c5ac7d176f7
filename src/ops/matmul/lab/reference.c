/* What a product is, as its header states it: naive, and once more in long double. */
#include <math.h>

#include "lab/fma.h"
#include "lab/numbers.h"
#include "ops/matmul/lab/cases.h"

/* A row of A, B, and a row of what is added. */
typedef struct line {
  const rung_view *a, *b, *added;
  int64_t a_at, a_step, b_at, b_row, b_column, added_at;
} line;

static line line_of(const matmul_problem *p, const matmul_place *at) {
  const rung_view *arrays = at->arrays;
  const matmul_steps a = matmul_steps_of(&arrays[MATMUL_A], p->a_turned),
                     b = matmul_steps_of(&arrays[MATMUL_B], p->b_turned),
                     added = matmul_steps_of(&arrays[MATMUL_ADDED], false);
  return (line){.a = &arrays[MATMUL_A],
                .b = &arrays[MATMUL_B],
                .added = arrays[MATMUL_ADDED].count > 0 ? &arrays[MATMUL_ADDED] : NULL,
                .a_at = at->batch * a.batch + at->row * a.row,
                .a_step = a.column,
                .b_at = at->batch * b.batch,
                .b_row = b.row,
                .b_column = b.column,
                .added_at = at->batch * added.batch + at->row * added.row};
}

/* The two that most jobs are of without a call an element, which is asked for m * n * k times. */
static inline double number(const rung_view *view, int64_t at) {
  if (view->dtype == RUNG_F32) return ((const float *)view->data)[at];
  if (view->dtype == RUNG_F64) return ((const double *)view->data)[at];
  return rung_number_at(view->dtype, view->data, at);
}

LAB_WITH_FMA static void strict_f64(const matmul_problem *p, const line *of, double *t,
                                    void *result) {
  const rung_view b = *of->b; /* of our own: no sum that is written can change it */
  const int64_t n = p->n, step = of->b_column;
  for (int64_t j = 0; j < n; j++) t[j] = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const double a = number(of->a, of->a_at + l * of->a_step);
    const int64_t row = of->b_at + l * of->b_row;
    if (b.dtype == RUNG_F64)
      for (int64_t j = 0; j < n; j++) t[j] = fma(a, ((const double *)b.data)[row + j * step], t[j]);
    else
      for (int64_t j = 0; j < n; j++) t[j] = fma(a, number(&b, row + j * step), t[j]);
  }
  for (int64_t j = 0; j < p->n; j++) {
    const double r = p->alpha * t[j];
    ((double *)result)[j] = of->added ? fma(p->beta, number(of->added, of->added_at + j), r) : r;
  }
}

LAB_WITH_FMA static void strict_f32(const matmul_problem *p, const line *of, float *t,
                                    void *result) {
  const rung_traits *to = rung_traits_of(p->types.out);
  const rung_view b = *of->b;
  const int64_t n = p->n, step = of->b_column;
  for (int64_t j = 0; j < n; j++) t[j] = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const float a = (float)number(of->a, of->a_at + l * of->a_step);
    const int64_t row = of->b_at + l * of->b_row;
    if (b.dtype == RUNG_F32)
      for (int64_t j = 0; j < n; j++) t[j] = fmaf(a, ((const float *)b.data)[row + j * step], t[j]);
    else
      for (int64_t j = 0; j < n; j++) t[j] = fmaf(a, (float)number(&b, row + j * step), t[j]);
  }
  for (int64_t j = 0; j < p->n; j++) {
    float r = (float)p->alpha * t[j];
    if (of->added) r = fmaf((float)p->beta, (float)number(of->added, of->added_at + j), r);
    to->store((char *)result + j * (int64_t)to->bytes, r);
  }
}

static void strict_i32(const matmul_problem *p, const line *of, uint32_t *t, void *result) {
  for (int64_t j = 0; j < p->n; j++) t[j] = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const int a = (int)number(of->a, of->a_at + l * of->a_step);
    const int64_t row = of->b_at + l * of->b_row;
    for (int64_t j = 0; j < p->n; j++)
      t[j] += (uint32_t)(a * (int)number(of->b, row + j * of->b_column));
  }
  for (int64_t j = 0; j < p->n; j++) {
    uint32_t r = (uint32_t)(int64_t)p->alpha * t[j];
    if (of->added)
      r += (uint32_t)(int64_t)p->beta * (uint32_t)(int64_t)number(of->added, of->added_at + j);
    ((uint32_t *)result)[j] = r;
  }
}

/* ---- fixed point, from the definition -------------------------------------------------------- */

/* A column of B, or a row of A: its sum, and its largest magnitude, infinite where it has a NaN. */
typedef struct column {
  int64_t sum;
  double largest;
} column;
_Static_assert(sizeof(column) <= MATMUL_CHAIN, "a row's memory holds a column an element");

static double larger(double largest, double x) {
  if (isnan(x)) return INFINITY;
  return fabs(x) > largest ? fabs(x) : largest;
}

static int exponent_of(double largest) {
  int exponent = 0;
  if (isfinite(largest)) frexp(largest, &exponent);
  return exponent;
}

/* The digits of x, the least significant first. */
static void digits_of(const matmul_problem *p, double x, double largest, int *digit) {
  const int bits = p->bits, count = (bits + 8) / 8;
  int64_t q = 0;
  if (isfinite(largest)) q = (int64_t)nearbyint(ldexp(x, bits - 1 - exponent_of(largest)));
  q *= INT64_C(1) << (8 * count - 1 - bits);
  for (int d = 0; d < count; d++) {
    digit[d] = (int)((q + 128) & 255) - 128;
    q = (q - digit[d]) / 256;
  }
}

static double largest_of_row(const matmul_problem *p, const line *of) {
  double largest = 0;
  for (int64_t l = 0; l < p->k; l++)
    largest = larger(largest, number(of->a, of->a_at + l * of->a_step));
  return largest;
}

static double largest_of_column(const matmul_problem *p, const line *of, int64_t j) {
  double largest = 0;
  for (int64_t l = 0; l < p->k; l++)
    largest = larger(largest, number(of->b, of->b_at + l * of->b_row + j * of->b_column));
  return largest;
}

static void strict_fixed(const matmul_problem *p, const line *of, column *columns, void *result) {
  const rung_traits *to = rung_traits_of(p->types.out);
  const int count = (p->bits + 8) / 8;
  const double row = largest_of_row(p, of);
  int a[8], b[8];
  for (int64_t j = 0; j < p->n; j++) columns[j] = (column){0, largest_of_column(p, of, j)};
  for (int64_t l = 0; l < p->k; l++) {
    digits_of(p, number(of->a, of->a_at + l * of->a_step), row, a);
    for (int64_t j = 0; j < p->n; j++) {
      digits_of(p, number(of->b, of->b_at + l * of->b_row + j * of->b_column), columns[j].largest,
                b);
      for (int x = 0; x < count; x++)
        for (int y = count - 1 - x; y < count; y++)
          columns[j].sum += (int64_t)(a[x] * b[y]) * (INT64_C(1) << (8 * (x + y - count + 1)));
    }
  }
  for (int64_t j = 0; j < p->n; j++) {
    const int power = exponent_of(row) + exponent_of(columns[j].largest) - 8 * count - 4;
    const bool good = isfinite(row) && isfinite(columns[j].largest);
    /* A long double has a place for every digit of the sum. */
    const float t = good ? (float)ldexpl((long double)columns[j].sum, power) : NAN;
    float r = (float)p->alpha * t;
    if (of->added) r = fmaf((float)p->beta, (float)number(of->added, of->added_at + j), r);
    to->store((char *)result + j * (int64_t)to->bytes, r);
  }
}

long double matmul_reference_fixed_error(const matmul_problem *p, const matmul_place *at,
                                         int64_t column) {
  static const double left_out[] = {0, 0, 0x1p-14, 0x1.01p-21, 0x1.82p-29}; /* by digits */
  const line of = line_of(p, at);
  const int e = exponent_of(largest_of_row(p, &of)),
            f = exponent_of(largest_of_column(p, &of, column)), bits = p->bits;
  long double error = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const double a = number(of.a, of.a_at + l * of.a_step),
                 b = number(of.b, of.b_at + l * of.b_row + column * of.b_column);
    error += ldexpl(fabs(a), f - bits) + ldexpl(fabs(b), e - bits) + ldexpl(1, e + f - 2 * bits);
  }
  return fabs(p->alpha) * (error + (long double)p->k * ldexpl(left_out[(bits + 8) / 8], e + f));
}

void matmul_reference_strict(const matmul_problem *p, const matmul_place *at, void *chain,
                             void *result) {
  const line of = line_of(p, at);
  if (p->bits > 0)
    strict_fixed(p, &of, (column *)chain, result);
  else if (p->types.accumulate == RUNG_F64)
    strict_f64(p, &of, (double *)chain, result);
  else if (p->types.accumulate == RUNG_F32)
    strict_f32(p, &of, (float *)chain, result);
  else
    strict_i32(p, &of, (uint32_t *)chain, result);
}

matmul_wide matmul_reference_wide(const matmul_problem *p, const matmul_place *at, int64_t column) {
  const line of = line_of(p, at);
  matmul_wide wide = {0, 0};
  for (int64_t l = 0; l < p->k; l++) {
    const long double product =
        (long double)number(of.a, of.a_at + l * of.a_step) *
        (long double)number(of.b, of.b_at + l * of.b_row + column * of.b_column);
    wide.sum += product;
    wide.magnitude += fabsl(product);
  }
  wide.sum *= p->alpha;
  wide.magnitude *= fabs(p->alpha);
  if (of.added == NULL) return wide;
  const long double added = (long double)p->beta * number(of.added, of.added_at + column);
  wide.sum += added;
  wide.magnitude += fabsl(added);
  return wide;
}

/* How large a factor is where its rounding is concerned. */
static double size_of(const matmul_mode *mode, double factor) {
  if (mode == NULL) return fabs(factor);
  return fabs(factor) > mode->beyond ? fabs(factor) * INFINITY : fabs(factor) + mode->least;
}

void matmul_reference_magnitudes(const matmul_problem *p, const matmul_mode *mode,
                                 const matmul_place *at, double *row) {
  const line of = line_of(p, at);
  for (int64_t j = 0; j < p->n; j++) row[j] = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const double a = fabs(p->alpha) * size_of(mode, number(of.a, of.a_at + l * of.a_step));
    const int64_t first = of.b_at + l * of.b_row;
    for (int64_t j = 0; j < p->n; j++)
      row[j] += a * size_of(mode, number(of.b, first + j * of.b_column));
  }
  for (int64_t j = 0; j < p->n && of.added != NULL; j++)
    row[j] += fabs(p->beta * number(of.added, of.added_at + j));
}
