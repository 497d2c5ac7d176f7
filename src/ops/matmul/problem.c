/* What a product is, in numbers: types, factors, work. */
#include <inttypes.h>
#include <math.h>

#include "ops/matmul/matmul.h"

unsigned matmul_results_of(rung_dtype dtype) {
  switch (dtype) {
    case RUNG_F16:
    case RUNG_BF16:
      return RUNG_TYPE(RUNG_F32) | RUNG_TYPE(dtype);
    case RUNG_I8:
      return RUNG_TYPE(RUNG_I32);
    default:
      return RUNG_TYPE(dtype);
  }
}

rung_types matmul_types_of(rung_dtype dtype, rung_dtype result, bool fixed) {
  if (fixed) return (rung_types){dtype, RUNG_I64, result};
  const rung_dtype sum = dtype == RUNG_F64 ? RUNG_F64 : dtype == RUNG_I8 ? RUNG_I32 : RUNG_F32;
  return (rung_types){dtype, sum, result};
}

static rung_status check_factor(rung_error *error, const char *name, rung_dtype sum,
                                double *factor) {
  const double given = *factor;
  if (!rung_dtype_is_float(sum)) {
    if (given == rint(given) && given >= -2147483648.0 && given < 4294967296.0) return RUNG_OK;
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s is %g; expected: of integers a whole number from -2^31 to 2^32 - 1", name,
                     given);
  }
  *factor = rung_number_rounded(sum, given);
  if (isfinite(*factor)) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s is %g; expected: a finite number of %s", name,
                   given, rung_dtype_name(sum));
}

static rung_status check_fixed(rung_error *error, int bits, int64_t k) {
  if (bits < MATMUL_LEAST_BITS || bits > MATMUL_BITS)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "bits is %d; expected: %d ... %d, or 0 for %d", bits,
                     MATMUL_LEAST_BITS, MATMUL_BITS, MATMUL_BITS);
  if (k <= MATMUL_FIXED_K) return RUNG_OK;
  return rung_fail(error, RUNG_TOO_LARGE,
                   "a has %" PRId64 " columns; expected of fixed point: at most %d", k,
                   MATMUL_FIXED_K);
}

rung_status matmul_problem_of(rung_error *error, rung_types types, const int64_t shape[4],
                              double alpha, double beta, int bits, matmul_problem *problem) {
  const bool fixed = types.accumulate == RUNG_I64;
  const rung_dtype factor = fixed ? RUNG_F32 : types.accumulate;
  rung_status status = check_factor(error, "alpha", factor, &alpha);
  if (status == RUNG_OK) status = check_factor(error, "beta", factor, &beta);
  if (status == RUNG_OK && fixed) status = check_fixed(error, bits, shape[3]);
  if (status != RUNG_OK) return status;
  *problem = (matmul_problem){.batch = shape[0],
                              .m = shape[1],
                              .n = shape[2],
                              .k = shape[3],
                              .types = types,
                              .bits = fixed ? bits : 0,
                              .alpha = alpha,
                              .beta = beta};
  return RUNG_OK;
}

void matmul_measure(matmul_problem *problem, const rung_view *arrays) {
  problem->bytes = 0;
  for (int a = MATMUL_A; a <= MATMUL_C; a++)
    problem->bytes += (double)arrays[a].count * (double)rung_dtype_bytes(arrays[a].dtype);
  problem->flops =
      2 * (double)problem->batch * (double)problem->m * (double)problem->n * (double)problem->k;
}
