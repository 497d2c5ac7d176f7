/* What a filter is, as its header states it: naive, and once more in long double. */
#include <math.h>

#include "lab/fma.h"
#include "lab/numbers.h"
#include "ops/correlate/lab/cases.h"

static double tap(const correlate_problem *p, int64_t k, int i, int j) {
  const int64_t at = (k * p->kernel_rows + i) * p->kernel_columns + j;
  switch (p->types.accumulate) {
    case RUNG_F32:
      return ((const float *)p->taps)[at];
    case RUNG_F64:
      return ((const double *)p->taps)[at];
    default:
      return ((const int32_t *)p->taps)[at];
  }
}

/* Channel c of the image's pixel (y, x), wherever that is. */
static double pixel(const correlate_problem *p, const rung_view *in, int64_t y, int64_t x, int c) {
  const int64_t row = rung_edge_index(p->edge, y, p->height),
                column = rung_edge_index(p->edge, x, p->width);
  if (row < 0 || column < 0) return p->edge_value;
  return rung_number_at(in->dtype, in->data, (row * p->width + column) * p->channels + c);
}

/* All that a tap's row reads. */
static void load_line(const correlate_problem *p, const correlate_place *at, int i, double *line) {
  const int64_t pixels = correlate_line(p) / p->channels;
  for (int64_t x = 0; x < pixels; x++)
    for (int c = 0; c < p->channels; c++)
      line[x * p->channels + c] =
          pixel(p, at->in, p->first_row + at->y + i, p->first_column + x, c);
}

LAB_WITH_FMA void correlate_reference_strict(const correlate_problem *p, const correlate_place *at,
                                             void *line, void *sums, void *result) {
  const int64_t n = p->columns * p->channels;
  const rung_traits *to = rung_traits_of(p->types.out);
  const double *values = (const double *)line;
  float *f32 = (float *)sums;
  double *f64 = (double *)sums;
  int64_t *i64 = (int64_t *)sums;
  const rung_dtype sum = p->types.accumulate;
  for (int64_t x = 0; x < n; x++)
    if (sum == RUNG_F32)
      f32[x] = 0;
    else if (sum == RUNG_F64)
      f64[x] = 0;
    else
      i64[x] = 0;
  for (int i = 0; i < p->kernel_rows; i++) {
    load_line(p, at, i, (double *)line);
    for (int j = 0; j < p->kernel_columns; j++) {
      const double weight = tap(p, at->k, i, j);
      const double *from = values + (int64_t)j * p->channels;
      for (int64_t x = 0; x < n; x++)
        if (sum == RUNG_F32)
          f32[x] = fmaf((float)weight, (float)from[x], f32[x]);
        else if (sum == RUNG_F64)
          f64[x] = fma(weight, from[x], f64[x]);
        else
          i64[x] += (int64_t)weight * (int64_t)from[x];
    }
  }
  for (int64_t x = 0; x < n; x++) {
    const double value = sum == RUNG_F32 ? f32[x] : sum == RUNG_F64 ? f64[x] : (double)i64[x];
    to->store((char *)result + x * (int64_t)to->bytes, value);
  }
}

correlate_wide correlate_reference_wide(const correlate_problem *p, const correlate_place *at,
                                        int64_t x) {
  correlate_wide wide = {0, 0};
  for (int i = 0; i < p->kernel_rows; i++)
    for (int j = 0; j < p->kernel_columns; j++) {
      const long double term =
          (long double)tap(p, at->k, i, j) *
          (long double)pixel(p, at->in, p->first_row + at->y + i,
                             p->first_column + x / p->channels + j, (int)(x % p->channels));
      wide.sum += term;
      wide.magnitude += fabsl(term);
    }
  return wide;
}
