/* The references: naive, wide, strict. They share no line with the rungs. */
#include <math.h>
#include <string.h>

#include "ops/reduce/lab/cases.h"

static long double element(rung_dtype dtype, const void *line, int64_t at) {
  switch (dtype) {
    case RUNG_U8:
      return ((const uint8_t *)line)[at];
    case RUNG_I32:
      return ((const int32_t *)line)[at];
    case RUNG_U32:
      return ((const uint32_t *)line)[at];
    case RUNG_I64:
      return (long double)((const int64_t *)line)[at];
    case RUNG_U64:
      return (long double)((const uint64_t *)line)[at];
    case RUNG_F32:
      return (long double)((const float *)line)[at];
    default:
      return (long double)((const double *)line)[at];
  }
}

static void put(rung_dtype dtype, void *to, double value) {
  if (dtype == RUNG_F32)
    *(float *)to = (float)value;
  else
    *(double *)to = value;
}

/* ---- the contract's sum of floats ---------------------------------------------------------------
 */

static double real(rung_dtype dtype, const void *line, int64_t at) {
  return dtype == RUNG_F32 ? (double)((const float *)line)[at] : ((const double *)line)[at];
}

/* One addition in the problem's type. (Rounding a sum of doubles would do, but GCC up to 13 may
 * drop the two conversions where it makes vectors of them.) */
static double add(rung_dtype dtype, double a, double b) {
  return dtype == RUNG_F32 ? (double)((float)a + (float)b) : a + b;
}

/* How many numbers there are at a level: the elements, their tiles' sums, the sums of those ... */
static int64_t length(int64_t columns, int level) {
  return level == 0 ? columns : (length(columns, level - 1) + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
}

/* Number `i` of a level, by the words of core/sum.h. */
static double number(const reduce_problem *problem, const void *line, int64_t stride, int level,
                     int64_t i) {
  if (level == 0) return real(problem->dtype, line, i * stride);
  const int64_t below = length(problem->columns, level - 1);
  double lane[RUNG_SUM_LANES];
  for (int l = 0; l < RUNG_SUM_LANES; ++l)
    for (int r = 0; r < RUNG_SUM_ROWS; ++r) {
      const int64_t j = i * RUNG_SUM_TILE + (int64_t)r * RUNG_SUM_LANES + l;
      const double x = j < below ? number(problem, line, stride, level - 1, j) : -0.0;
      lane[l] = r == 0 ? x : add(problem->dtype, lane[l], x);
    }
  for (int s = RUNG_SUM_LANES / 2; s >= 1; s /= 2)
    for (int l = 0; l < s; ++l) lane[l] = add(problem->dtype, lane[l], lane[l + s]);
  return lane[0];
}

double reduce_reference_sum(const reduce_problem *problem, const void *line, int64_t stride) {
  int level = 0;
  if (problem->columns == 0) return 0;
  while (length(problem->columns, level) > 1) ++level;
  return number(problem, line, stride, level, 0);
}

/* ---- every reduction ----------------------------------------------------------------------------
 */

static uint64_t integer(rung_dtype dtype, const void *line, int64_t at) {
  if (dtype == RUNG_I32) return (uint64_t)((const int32_t *)line)[at];
  if (dtype == RUNG_I64 || dtype == RUNG_U64) return ((const uint64_t *)line)[at];
  return dtype == RUNG_U8 ? ((const uint8_t *)line)[at] : ((const uint32_t *)line)[at];
}

static void sum_strictly(const reduce_problem *problem, const void *line, int64_t stride,
                         void *result) {
  const double n = (double)problem->columns;
  if (RUNG_FLOATS & RUNG_TYPE(problem->dtype)) {
    const double sum = reduce_reference_sum(problem, line, stride);
    put(problem->result, result, problem->what == RUNG_MEAN ? sum / n : sum);
    return;
  }
  uint64_t sum = 0;
  for (int64_t k = 0; k < problem->columns; ++k) sum += integer(problem->dtype, line, k * stride);
  const bool negative = problem->dtype == RUNG_I32 || problem->dtype == RUNG_I64;
  if (problem->what == RUNG_MEAN)
    *(double *)result = (negative ? (double)(int64_t)sum : (double)sum) / n;
  else
    *(uint64_t *)result = sum;
}

/* IEEE 754-2019 in words. Integers are never NaN, and their zero has one sign. A long double holds
 * every value of every type. */
static bool wins(rung_reduction what, long double x, long double held) {
  if (isnan(held)) return false;
  if (isnan(x)) return true;
  const bool below = signbit(x) && !signbit(held), above = !signbit(x) && signbit(held);
  if (x == held) return what == RUNG_MIN ? below : above;
  return what == RUNG_MIN ? x < held : x > held;
}

void reduce_reference_strict(const reduce_problem *problem, const void *line, int64_t stride,
                             void *result) {
  if (problem->what == RUNG_SUM || problem->what == RUNG_MEAN) {
    sum_strictly(problem, line, stride, result);
    return;
  }
  const size_t size = rung_dtype_bytes(problem->dtype);
  int64_t best = 0;
  for (int64_t k = 1; k < problem->columns; ++k)
    if (wins(problem->what, element(problem->dtype, line, k * stride),
             element(problem->dtype, line, best * stride)))
      best = k;
  memcpy(result, (const char *)line + best * stride * (int64_t)size, size);
}

double reduce_reference_wide(const reduce_problem *problem, const void *line, int64_t stride,
                             double *magnitude) {
  long double sum = 0, size = 0;
  for (int64_t k = 0; k < problem->columns; ++k) {
    const long double x = element(problem->dtype, line, k * stride);
    sum += x;
    size += fabsl(x);
  }
  const long double n = problem->what == RUNG_MEAN ? (long double)problem->columns : 1;
  *magnitude = (double)(size / n);
  return (double)(sum / n);
}
