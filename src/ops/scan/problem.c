/* What a scan is, in numbers: sizes, work, and how its elements are taken. */
#include <inttypes.h>

#include "ops/scan/scan.h"

rung_status scan_problem_of(rung_error *error, rung_reduction what, rung_dtype dtype,
                            bool exclusive, int64_t lines, int64_t columns, scan_problem *problem) {
  if (columns > SCAN_MOST)
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " elements in a line: at most 2^40 are accepted", columns);
  int64_t count = 0, bytes = 0;
  if (!rung_multiply(lines, columns, &count) || !rung_multiply(count, 16, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " times %" PRId64
                     " elements: their bytes do not fit in 64 bits",
                     lines, columns);
  *problem = (scan_problem){.what = what,
                            .dtype = dtype,
                            .exclusive = exclusive,
                            .lines = lines,
                            .columns = columns,
                            .bytes = 2 * (double)count * (double)rung_dtype_bytes(dtype),
                            .flops = (double)count};
  return RUNG_OK;
}

scan_source scan_source_of(const scan_problem *problem) {
  static const scan_source sums[RUNG_DTYPES] = {
      [RUNG_I32] = SCAN_ADD_32, [RUNG_U32] = SCAN_ADD_32,  [RUNG_I64] = SCAN_ADD_64,
      [RUNG_U64] = SCAN_ADD_64, [RUNG_F32] = SCAN_ADD_F32, [RUNG_F64] = SCAN_ADD_F64,
  };
  static const scan_source leasts[RUNG_DTYPES] = {
      [RUNG_I32] = SCAN_LEAST_32, [RUNG_U32] = SCAN_LEAST_32,  [RUNG_I64] = SCAN_LEAST_64,
      [RUNG_U64] = SCAN_LEAST_64, [RUNG_F32] = SCAN_LEAST_F32, [RUNG_F64] = SCAN_LEAST_F64,
  };
  return (problem->what == RUNG_SUM ? sums : leasts)[problem->dtype];
}

int64_t scan_turn_of(const scan_problem *problem) {
  return problem->what == RUNG_SUM ? 0 : rung_key_turn(problem->dtype, problem->what == RUNG_MAX);
}

int64_t scan_pitch_of(const scan_problem *problem, const rung_view *view) {
  return view->ndim == 2 ? view->stride[0] : problem->columns;
}

int scan_levels_of(int64_t columns) {
  int levels = 0;
  for (int64_t most = SCAN_TILE; most < columns; most *= SCAN_FAMILY) ++levels;
  return levels;
}
