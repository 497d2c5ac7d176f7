/* What a product is, as its header states it: naive, and once more in long double. */
#include <math.h>

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

static double number(const rung_view *view, int64_t at) {
  return rung_number_at(view->dtype, view->data, at);
}

static void strict_f64(const matmul_problem *p, const line *of, double *t, void *result) {
  for (int64_t j = 0; j < p->n; j++) t[j] = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const double a = number(of->a, of->a_at + l * of->a_step);
    const int64_t row = of->b_at + l * of->b_row;
    for (int64_t j = 0; j < p->n; j++) t[j] = fma(a, number(of->b, row + j * of->b_column), t[j]);
  }
  for (int64_t j = 0; j < p->n; j++) {
    const double r = p->alpha * t[j];
    ((double *)result)[j] = of->added ? fma(p->beta, number(of->added, of->added_at + j), r) : r;
  }
}

static void strict_f32(const matmul_problem *p, const line *of, float *t, void *result) {
  const rung_traits *to = rung_traits_of(p->types.out);
  for (int64_t j = 0; j < p->n; j++) t[j] = 0;
  for (int64_t l = 0; l < p->k; l++) {
    const float a = (float)number(of->a, of->a_at + l * of->a_step);
    const int64_t row = of->b_at + l * of->b_row;
    for (int64_t j = 0; j < p->n; j++)
      t[j] = fmaf(a, (float)number(of->b, row + j * of->b_column), t[j]);
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

void matmul_reference_strict(const matmul_problem *p, const matmul_place *at, void *chain,
                             void *result) {
  const line of = line_of(p, at);
  if (p->types.accumulate == RUNG_F64)
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
