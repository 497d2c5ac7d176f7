/* The textbook: one running result a line, from the first element to the last. Every addition of
 * floats waits for the one before, and their rounding errors add up with the line's length. Across
 * lines it walks down one column after the other, and takes one element of every cache line it
 * touches. */
#include <math.h>

#include "backend/cpu/isa.h"
#include "ops/reduce/reduce.h"

#define SUM(name, type, total)                                             \
  static total name(const char *line, int64_t n, int64_t step) {           \
    total sum = 0;                                                         \
    for (int64_t k = 0; k < n; ++k) sum += ((const type *)line)[k * step]; \
    return sum;                                                            \
  }
SUM(sum_f32, float, float)
SUM(sum_f64, double, double)
SUM(sum_u8, uint8_t, uint64_t)
SUM(sum_u32, uint32_t, uint64_t)
SUM(sum_64, uint64_t, uint64_t)

static uint64_t sum_i32(const char *line, int64_t n, int64_t step) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += (uint64_t)((const int32_t *)line)[k * step];
  return sum;
}

/* The first element that no later one beats. Of floats a NaN beats all, and of zeros the sign
 * decides. */
#define EXTREME(name, type, beats)                                                     \
  static void name(const char *line, int64_t n, int64_t step, bool largest, char *out, \
                   int64_t at) {                                                       \
    type best = ((const type *)line)[0];                                               \
    for (int64_t k = 1; k < n; ++k) {                                                  \
      const type x = ((const type *)line)[k * step];                                   \
      if (beats) best = x;                                                             \
    }                                                                                  \
    ((type *)out)[at] = best;                                                          \
  }
#define INTEGER (largest ? x > best : x < best)
#define FLOATING (isnan(x) || (x == best ? !signbit(x) == largest : INTEGER && !isnan(best)))
EXTREME(extreme_u8, uint8_t, INTEGER)
EXTREME(extreme_i32, int32_t, INTEGER)
EXTREME(extreme_u32, uint32_t, INTEGER)
EXTREME(extreme_i64, int64_t, INTEGER)
EXTREME(extreme_u64, uint64_t, INTEGER)
EXTREME(extreme_f32, float, FLOATING)
EXTREME(extreme_f64, double, FLOATING)

static void find(const reduce_problem *problem, const char *line, int64_t step, char *out,
                 int64_t at) {
  static void (*const extremes[RUNG_DTYPES])(const char *line, int64_t n, int64_t step,
                                             bool largest, char *out, int64_t at) = {
      [RUNG_U8] = extreme_u8,   [RUNG_I32] = extreme_i32, [RUNG_U32] = extreme_u32,
      [RUNG_I64] = extreme_i64, [RUNG_U64] = extreme_u64, [RUNG_F32] = extreme_f32,
      [RUNG_F64] = extreme_f64,
  };
  extremes[problem->dtype](line, problem->columns, step, problem->what == RUNG_MAX, out, at);
}

static uint64_t add(const reduce_problem *problem, const char *line, int64_t step) {
  switch (problem->dtype) {
    case RUNG_U8:
      return sum_u8(line, problem->columns, step);
    case RUNG_I32:
      return sum_i32(line, problem->columns, step);
    case RUNG_U32:
      return sum_u32(line, problem->columns, step);
    default:
      return sum_64(line, problem->columns, step);
  }
}

static void sum_up(const reduce_problem *problem, const char *line, int64_t step, char *out,
                   int64_t at) {
  const bool mean = problem->what == RUNG_MEAN;
  const double n = (double)problem->columns;
  if (problem->dtype == RUNG_F32) {
    const float sum = sum_f32(line, problem->columns, step);
    ((float *)out)[at] = mean ? (float)((double)sum / n) : sum;
  } else if (problem->dtype == RUNG_F64) {
    const double sum = sum_f64(line, problem->columns, step);
    ((double *)out)[at] = mean ? sum / n : sum;
  } else {
    const uint64_t sum = add(problem, line, step);
    const bool negative = problem->dtype == RUNG_I32 || problem->dtype == RUNG_I64;
    if (mean)
      ((double *)out)[at] = (negative ? (double)(int64_t)sum : (double)sum) / n;
    else
      ((uint64_t *)out)[at] = sum;
  }
}

rung_status RUNG_ENTRY(reduce_serial)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_layout layout = reduce_layout_of(task);
  const char *in = task->arrays[REDUCE_IN].data;
  char *out = task->arrays[REDUCE_OUT].data;
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const bool sum = problem->what == RUNG_SUM || problem->what == RUNG_MEAN;
  for (int64_t o = 0; o < problem->outer; ++o)
    for (int64_t i = 0; i < problem->inner; ++i) {
      const char *line = problem->columns > 0 ? in + (o * layout.in_outer + i) * size : NULL;
      (sum ? sum_up : find)(problem, line, layout.in_column, out, o * layout.out_outer + i);
    }
  return RUNG_OK;
}
