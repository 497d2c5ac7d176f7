/* What a scan is, in numbers: sizes, work, and how its elements are taken. */
#include <inttypes.h>

#include "ops/scan/scan.h"

rung_status scan_problem_of(rung_error *error, rung_reduction what, rung_dtype dtype,
                            bool exclusive, int64_t lines, int64_t columns, int64_t inner,
                            scan_problem *problem) {
  if (columns > SCAN_MOST)
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " elements in a line; expected: at most 2^40", columns);
  int64_t count = 0, bytes = 0;
  if (!rung_multiply(lines, columns, &count) || !rung_multiply(count, 16, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " times %" PRId64
                     " elements: their bytes do not fit in 64 bits; expected: fewer",
                     lines, columns);
  *problem = (scan_problem){.what = what,
                            .dtype = dtype,
                            .exclusive = exclusive,
                            .lines = lines,
                            .columns = columns,
                            .across = inner > 1,
                            .inner = inner,
                            .bytes = 2 * (double)count * (double)rung_dtype_bytes(dtype),
                            .flops = (double)count};
  return RUNG_OK;
}

rung_types scan_types_of(rung_reduction what, rung_dtype dtype) {
  const bool in_another = what == RUNG_SUM && rung_dtype_is_float(dtype);
  return (rung_types){dtype, in_another ? rung_traits_of(dtype)->sum : dtype, dtype};
}

static scan_operator sum_of(rung_dtype dtype) {
  switch (dtype) {
    case RUNG_U8:
    case RUNG_I8:
      return SCAN_ADD_8;
    case RUNG_U16:
    case RUNG_I16:
      return SCAN_ADD_16;
    case RUNG_I32:
    case RUNG_U32:
      return SCAN_ADD_32;
    case RUNG_I64:
    case RUNG_U64:
      return SCAN_ADD_64;
    case RUNG_F16:
    case RUNG_BF16:
      return SCAN_ADD_HALF;
    case RUNG_F32:
      return SCAN_ADD_F32;
    case RUNG_F64:
      return SCAN_ADD_F64;
    case RUNG_DTYPES:
      break;
  }
  return SCAN_OPERATORS;
}

static scan_operator least_of(rung_dtype dtype) {
  switch (dtype) {
    case RUNG_U8:
    case RUNG_I8:
      return SCAN_LEAST_8;
    case RUNG_U16:
    case RUNG_I16:
    case RUNG_F16:
    case RUNG_BF16:
      return SCAN_LEAST_16;
    case RUNG_I32:
    case RUNG_U32:
      return SCAN_LEAST_32;
    case RUNG_I64:
    case RUNG_U64:
      return SCAN_LEAST_64;
    case RUNG_F32:
      return SCAN_LEAST_F32;
    case RUNG_F64:
      return SCAN_LEAST_F64;
    case RUNG_DTYPES:
      break;
  }
  return SCAN_OPERATORS;
}

scan_operator scan_operator_of(const scan_problem *problem) {
  return (problem->what == RUNG_SUM ? sum_of : least_of)(problem->dtype);
}

rung_key_code scan_key_of(const scan_problem *problem) {
  return rung_key_of(problem->dtype, problem->what == RUNG_MAX);
}

int64_t scan_number_bytes(const scan_problem *problem) {
  return rung_dtype_bytes(problem->dtype) == 8 ? 8 : 4;
}

int64_t scan_pitch_of(const scan_problem *problem, const rung_view *view) {
  return view->ndim == 2 ? view->stride[0] : problem->columns;
}

int scan_levels_of(int64_t columns) {
  int levels = 0;
  for (int64_t most = SCAN_TILE; most < columns; most *= SCAN_FAMILY) ++levels;
  return levels;
}
