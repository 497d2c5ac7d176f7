/* Whether a kernel is the product of a column and a row. */
#include "ops/correlate/separable.h"

#include <math.h>
#include <stdio.h>

/* A kernel: its taps as they were given, and as sums have them. */
typedef struct kernel {
  const double *given;
  const void *taps; /* the first of the problem's */
  int64_t first;    /* this kernel's */
  rung_dtype type;  /* of the taps */
  int rows, columns;
  int row, column; /* of the largest magnitude */
} kernel;

static double given_at(const kernel *k, int i, int j) {
  return k->given[i * k->columns + j];
}

static double tap_at(const kernel *k, int i, int j) {
  const int64_t at = k->first + (int64_t)i * k->columns + j;
  if (k->type == RUNG_F32) return ((const float *)k->taps)[at];
  if (k->type == RUNG_F64) return ((const double *)k->taps)[at];
  return ((const int32_t *)k->taps)[at];
}

static kernel kernel_of(const correlate_problem *p, int64_t number) {
  const int64_t first = number * p->kernel_rows * p->kernel_columns;
  kernel k = {p->given + first, p->taps,           first, p->types.accumulate,
              p->kernel_rows,   p->kernel_columns, 0,     0};
  for (int i = 0; i < k.rows; i++)
    for (int j = 0; j < k.columns; j++)
      if (fabs(given_at(&k, i, j)) > fabs(given_at(&k, k.row, k.column))) {
        k.row = i;
        k.column = j;
      }
  return k;
}

/* ---- factorisations ---------------------------------------------------------------------------
 */

/* Euclid's: no remainder of doubles is ever rounded. */
static double common_divisor(double a, double b) {
  while (b > 0) {
    const double rest = fmod(a, b);
    a = b;
    b = rest;
  }
  return a;
}

static void by_divisor(const kernel *k, correlate_factors *f) {
  double divisor = 0;
  for (int j = 0; j < k->columns; j++)
    divisor = common_divisor(fabs(given_at(k, k->row, j)), divisor);
  for (int j = 0; j < k->columns; j++) f->row[j] = given_at(k, k->row, j) / divisor;
  for (int i = 0; i < k->rows; i++) f->column[i] = given_at(k, i, k->column) / f->row[k->column];
}

/* sqrt(x * x) is |x| in either type. The largest tap is on the diagonal. */
static double root_of(const kernel *k, int i, bool single) {
  const double square = fabs(given_at(k, i, i));
  return single ? sqrtf((float)square) : sqrt(square);
}

static void by_roots(const kernel *k, bool single, correlate_factors *f) {
  const double sign = copysign(1, given_at(k, k->row, k->column));
  for (int i = 0; i < k->rows; i++) {
    const double root = root_of(k, i, single);
    f->row[i] = copysign(root, given_at(k, k->row, i));
    f->column[i] = sign * copysign(root, given_at(k, i, k->column));
  }
}

/* ---- whether they are the kernel ---------------------------------------------------------------
 */

/* Where sums are exact, the products of factors as rounded are asked for. */
static bool product_is(const kernel *k, double column, double row, rung_dtype number, double tap) {
  const double a = rung_number_rounded(number, column), b = rung_number_rounded(number, row);
  const double normal = rung_traits_of(number)->tiny / rung_traits_of(number)->eps;
  if (tap == 0) return a == 0 || b == 0;
  if (k->type == RUNG_I64) return a * b == tap;
  return fabs(tap) >= normal && fabs(a) >= normal && isfinite(a) && fabs(b) >= normal &&
         rung_number_rounded(number, column * row) == tap;
}

/* Scales the factors, and rounds them where they are good. */
static bool finish(const kernel *k, rung_dtype number, correlate_factors *f) {
  double sum = 0;
  int exponent;
  for (int j = 0; j < k->columns; j++) sum += fabs(f->row[j]);
  if (!(sum > 0) || !isfinite(sum)) return false;
  frexp(sum, &exponent);
  for (int j = 0; j < k->columns; j++) f->row[j] = ldexp(f->row[j], -exponent - 1);
  for (int i = 0; i < k->rows; i++) f->column[i] = ldexp(f->column[i], exponent + 1);
  for (int i = 0; i < k->rows; i++)
    for (int j = 0; j < k->columns; j++)
      if (!product_is(k, f->column[i], f->row[j], number, tap_at(k, i, j))) return false;
  for (int j = 0; j < k->columns; j++) f->row[j] = rung_number_rounded(number, f->row[j]);
  for (int i = 0; i < k->rows; i++) f->column[i] = rung_number_rounded(number, f->column[i]);
  return true;
}

static bool saves(const correlate_problem *p, char why[RUNG_REASON]) {
  if (p->kernel_rows + p->kernel_columns < p->kernel_rows * p->kernel_columns) return true;
  snprintf(why, RUNG_REASON,
           "two passes of %d and %d taps save nothing against %d by %d; expected: a larger kernel",
           p->kernel_rows, p->kernel_columns, p->kernel_rows, p->kernel_columns);
  return false;
}

bool correlate_separate(const correlate_problem *p, int64_t number, correlate_factors *f,
                        char why[RUNG_REASON]) {
  const rung_dtype type = correlate_number_of(p);
  if (!saves(p, why)) return false;
  if (type == RUNG_I64) {
    snprintf(why, RUNG_REASON,
             "sums of these integers may be beyond 2^53, which no f64 holds; expected: smaller "
             "numbers in the kernel");
    return false;
  }
  const kernel k = kernel_of(p, number);
  by_divisor(&k, f);
  if (finish(&k, type, f)) return true;
  for (int single = 0; single < 2 && k.rows == k.columns && k.type != RUNG_I64; single++) {
    by_roots(&k, single, f);
    if (finish(&k, type, f)) return true;
  }
  snprintf(why, RUNG_REASON,
           "kernel %lld is not separable; expected: taps that are products of a column and a row, "
           "each rounded to %s",
           (long long)number, rung_dtype_name(type));
  return false;
}

bool correlate_is_separable(const correlate_problem *p, char why[RUNG_REASON]) {
  correlate_factors factors;
  for (int64_t k = 0; k < p->kernels; k++)
    if (!correlate_separate(p, k, &factors, why)) return false;
  return true;
}
