/* What a stencil job is: its weights, its edges, where its rows start. */
#include <math.h>

#include "ops/stencil/stencil.h"

void stencil_grid_weights(const double *weights, int taps, double divide, int bits,
                          double *scaled) {
  /* Quotients to twice double's precision: high + low. */
  double high[STENCIL_TAPS], low[STENCIL_TAPS], largest = 0;
  for (int k = 0; k < taps; k++) {
    high[k] = weights[k] / divide;
    low[k] = fma(-high[k], divide, weights[k]) / divide;
    largest = fmax(largest, fabs(high[k]));
  }
  int exponent = 0;
  frexp(largest, &exponent); /* largest < 2^exponent */
  const int least = bits == 24 ? -149 : -1074;
  const int unit = exponent - bits < least ? least : exponent - bits;
  /* The weights' sum as their giver sees it, rounded to double, less their exact sum: decimal
   * weights such as 1.7 and 0.3 are not exact, and what they lack adds up. */
  double sum = 0, lost = 0, magnitude = 0;
  for (int k = 0; k < taps; k++) magnitude += fabs(weights[k]);
  const double scale = isfinite(magnitude) ? 1 : 0x1p-8; /* sums of the largest numbers there are */
  for (int k = 0; k < taps; k++) {
    const double weight = weights[k] * scale, t = sum + weight, part = t - sum;
    lost += (sum - (t - part)) + (weight - part);
    sum = t;
  }
  const double whole_sum = sum + lost, lacking = (whole_sum - sum) - lost;
  /* What rounding has left over so far, in units. */
  double carry = ldexp(lacking / (divide * scale), -unit);
  for (int k = 0; k < taps; k++) {
    const double t = ldexp(high[k], -unit), whole = nearbyint(t);
    const double rest = (t - whole) + (ldexp(low[k], -unit) + carry), more = nearbyint(rest);
    scaled[k] = ldexp(whole + more, unit);
    carry = rest - more;
  }
}

double stencil_start_value(const stencil_start *start, int64_t i, int64_t j, int64_t m) {
  if (j >= start->fixed && !start->falling) return start->value;
  const double height = (double)(start->first_row + i + 1) / (double)start->all_rows;
  const double heat = start->power == 2 ? height * height : height;
  if (j < start->fixed) return start->hot[j] * heat;
  const double left = (double)(m - j);
  return start->hot[0] * heat * (left * left) / ((double)m * (double)m);
}

static rung_status check_model(rung_error *error, const rung_stencil_model *model,
                               int64_t columns) {
  if (model->radius < 1 || model->radius > RUNG_STENCIL_MAX_RADIUS)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "radius is %d; expected: 1 ... %d", model->radius,
                     RUNG_STENCIL_MAX_RADIUS);
  if (model->weights == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "weights is NULL; expected: %d values",
                     2 * model->radius + 1);
  for (int k = 0; k <= 2 * model->radius; k++)
    if (!isfinite(model->weights[k]))
      return rung_fail(error, RUNG_BAD_ARGUMENT, "weights[%d] is %g; expected: a finite number", k,
                       model->weights[k]);
  if (!isfinite(model->divide) || model->divide == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "divide is %g; expected: a finite number, not 0",
                     model->divide);
  if (model->steps < 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "steps is %lld; expected: 0 or more",
                     (long long)model->steps);
  if (model->fixed < 0 || model->fixed > columns)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "fixed is %lld; expected: 0 ... %lld, the number of columns",
                     (long long)model->fixed, (long long)columns);
  if ((int)model->edge < RUNG_EDGE_WRAP || model->edge > RUNG_EDGE_MIRROR)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "edge is %d; expected: wrap (0), constant (1), nearest (2), reflect (3) or "
                     "mirror (4)",
                     (int)model->edge);
  return RUNG_OK;
}

rung_status stencil_problem_of(rung_error *error, const rung_stencil_model *model, int64_t rows,
                               int64_t columns, rung_dtype dtype, stencil_problem *problem) {
  const rung_status status = check_model(error, model, columns);
  if (status != RUNG_OK) return status;
  const int taps = 2 * model->radius + 1;
  *problem = (stencil_problem){
      .rows = rows,
      .columns = columns,
      .steps = model->steps,
      .fixed = model->fixed,
      .radius = model->radius,
      .edge = model->edge,
      .edge_value = rung_number_rounded(dtype, model->edge_value),
      .dtype = dtype,
      .divide = model->divide,
  };
  for (int k = 0; k < taps; k++) problem->weights[k] = model->weights[k];
  stencil_grid_weights(model->weights, taps, model->divide, 1 - ilogb(rung_traits_of(dtype)->eps),
                       problem->scaled);
  for (int k = 0; k < taps; k++) {
    const double w = problem->scaled[k];
    if (!isfinite(rung_number_rounded(dtype, w)))
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "weights[%d] / divide is %g; expected: a finite number of %s", k,
                       model->weights[k] / model->divide, rung_dtype_name(dtype));
  }
  const double elements = (double)rows * (double)columns;
  problem->bytes = 2 * elements * (double)rung_dtype_bytes(dtype);
  problem->flops =
      2.0 * taps * (double)model->steps * (double)rows * (double)(columns - model->fixed);
  return RUNG_OK;
}
