/* What a filter is, in numbers: types, taps, work. */
#include <inttypes.h>
#include <math.h>

#include "ops/correlate/correlate.h"

rung_dtype correlate_sum_of(rung_dtype in, rung_dtype taps, rung_dtype out) {
  if ((RUNG_TYPE(in) & CORRELATE_INTEGERS) != 0 && (RUNG_TYPE(taps) & CORRELATE_INTEGER_TAPS) != 0)
    return RUNG_I64;
  return in == RUNG_F64 || out == RUNG_F64 ? RUNG_F64 : RUNG_F32;
}

static void set_tap(rung_dtype sum, void *taps, int64_t at, double value) {
  if (sum == RUNG_F32)
    ((float *)taps)[at] = (float)value;
  else if (sum == RUNG_F64)
    ((double *)taps)[at] = value;
  else
    ((int32_t *)taps)[at] = (int32_t)value;
}

/* The largest sum of integers that f32 holds with all its parts. */
static const double small_sum = 0x1p24;

/* Whether an image of integers meets taps of floats that are integers too, so small that a chain of
 * multiply-adds rounds nothing: it leaves their exact sum then, and of zeros +0. */
static bool are_whole(const correlate_problem *p, rung_dtype dtype, const void *from) {
  const int64_t each = (int64_t)p->kernel_rows * p->kernel_columns;
  const double most = small_sum / rung_traits_of(p->types.in)->largest;
  if ((RUNG_TYPE(p->types.in) & CORRELATE_INTEGERS) == 0) return false;
  for (int64_t k = 0; k < p->kernels; k++) {
    double magnitudes = 0;
    for (int64_t i = 0; i < each; i++) {
      const double tap = rung_number_at(dtype, from, k * each + i);
      magnitudes += fabs(tap);
      if (!(magnitudes <= most) || tap != rint(tap)) return false;
    }
  }
  return true;
}

rung_status correlate_set_taps(rung_error *error, correlate_problem *p, rung_dtype dtype,
                               const void *from, bool reversed, void *to) {
  const int64_t each = (int64_t)p->kernel_rows * p->kernel_columns;
  if (are_whole(p, dtype, from)) p->types.accumulate = RUNG_I64;
  const rung_dtype sum = p->types.accumulate;
  double *as_given = (double *)to + p->kernels * each, largest = 0;
  for (int64_t k = 0; k < p->kernels; k++) {
    double magnitudes = 0;
    for (int64_t i = 0; i < each; i++) {
      const double given = rung_number_at(dtype, from, k * each + i);
      const double value = sum == RUNG_F32 ? rung_number_rounded(sum, given) : given;
      if (!isfinite(value))
        return rung_fail(error, RUNG_BAD_ARGUMENT,
                         "kernel has %g in row %" PRId64 ", column %" PRId64
                         "; expected: finite numbers of %s",
                         given, i / p->kernel_columns, i % p->kernel_columns, rung_dtype_name(sum));
      const int64_t at = k * each + (reversed ? each - 1 - i : i);
      set_tap(sum, to, at, value);
      as_given[at] = given;
      magnitudes += fabs(value);
    }
    if (magnitudes > largest) largest = magnitudes;
  }
  largest *= rung_traits_of(p->types.in)->largest;
  p->taps = to;
  p->given = as_given;
  p->small = sum == RUNG_I64 && largest <= small_sum;
  return RUNG_OK;
}

/* Whether f64 holds all sums of integers, and all of their parts. */
static bool fits_f64(const correlate_problem *p) {
  const int64_t each = (int64_t)p->kernel_rows * p->kernel_columns;
  const int32_t *taps = (const int32_t *)p->taps;
  int64_t most = 0;
  for (int64_t k = 0; k < p->kernels; k++, taps += each) {
    int64_t sum = 0;
    for (int64_t i = 0; i < each; i++) sum += taps[i] < 0 ? -(int64_t)taps[i] : taps[i];
    if (sum > most) most = sum;
  }
  return (double)most * rung_traits_of(p->types.in)->largest <= 0x1p53;
}

rung_dtype correlate_number_of(const correlate_problem *p) {
  if (p->types.accumulate != RUNG_I64) return p->types.accumulate;
  return p->small ? RUNG_F32 : fits_f64(p) ? RUNG_F64 : RUNG_I64;
}

void correlate_rows_needed(const correlate_problem *p, int64_t first, int64_t count, int64_t *row,
                           int64_t *rows) {
  const int64_t from = p->first_row + first, until = from + count + p->kernel_rows - 1;
  int64_t least = from > 0 ? from : 0, most = (until < p->height ? until : p->height) - 1;
  for (int64_t r = from; r < until; r++) {
    if (r >= 0 && r < p->height) {
      r = p->height - 1;
      continue;
    }
    const int64_t in = rung_edge_index(p->edge, r, p->height);
    if (in < 0) continue;
    if (in < least) least = in;
    if (in > most) most = in;
  }
  *row = least;
  *rows = most - least + 1;
}

void correlate_measure(correlate_problem *p) {
  const double of_out = (double)p->rows * (double)p->columns * p->channels * (double)p->kernels;
  const int64_t down = p->rows + p->kernel_rows - 1, across = p->columns + p->kernel_columns - 1;
  const double of_in = (double)(down < p->height ? down : p->height) *
                       (double)(across < p->width ? across : p->width) * p->channels;
  p->bytes = of_out * (double)rung_dtype_bytes(p->types.out) +
             of_in * (double)rung_dtype_bytes(p->types.in);
  p->flops = 2 * of_out * p->kernel_rows * p->kernel_columns;
}
