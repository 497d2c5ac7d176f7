/* The references: naive, wide, strict. They share no line with the rungs. */
#include <math.h>
#include <string.h>

#include "ops/reduce/lab/cases.h"

/* ---- the contract's sum of floats ---------------------------------------------------------------
 */

/* One addition in the type that sums are made in. (Rounding a sum of doubles would do, but GCC up
 * to 13 may drop the two conversions where it makes vectors of them.) */
static double add(rung_dtype dtype, double a, double b) {
  return rung_traits_of(dtype)->sum == RUNG_F32 ? (double)((float)a + (float)b) : a + b;
}

/* How many numbers there are at a level: the elements, their tiles' sums, the sums of those ... */
static int64_t length(int64_t columns, int level) {
  return level == 0 ? columns : (length(columns, level - 1) + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
}

/* Number `i` of a level, by the words of core/sum.h. */
static double number(const reduce_problem *problem, const void *line, int64_t stride, int level,
                     int64_t i) {
  if (level == 0) return rung_number_at(problem->dtype, line, i * stride);
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

static void sum_strictly(const reduce_problem *problem, const void *line, int64_t stride,
                         void *result) {
  const double n = (double)problem->columns;
  const rung_traits *in = rung_traits_of(problem->dtype), *out = rung_traits_of(problem->result);
  if (in->kind == RUNG_FLOAT) {
    const double sum = reduce_reference_sum(problem, line, stride);
    out->store(result, problem->what == RUNG_MEAN ? sum / n : sum);
    return;
  }
  uint64_t sum = 0;
  for (int64_t k = 0; k < problem->columns; ++k)
    sum += (uint64_t)in->load_integer((const char *)line + k * stride * (int64_t)in->bytes);
  if (problem->what == RUNG_MEAN)
    out->store(result, (in->kind == RUNG_SIGNED ? (double)(int64_t)sum : (double)sum) / n);
  else
    out->store_integer(result, (int64_t)sum);
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
    if (wins(problem->what, rung_number_exact(problem->dtype, line, k * stride),
             rung_number_exact(problem->dtype, line, best * stride)))
      best = k;
  memcpy(result, (const char *)line + best * stride * (int64_t)size, size);
}

double reduce_reference_wide(const reduce_problem *problem, const void *line, int64_t stride,
                             double *magnitude) {
  long double sum = 0, size = 0;
  for (int64_t k = 0; k < problem->columns; ++k) {
    const long double x = rung_number_exact(problem->dtype, line, k * stride);
    sum += x;
    size += fabsl(x);
  }
  const long double n = problem->what == RUNG_MEAN ? (long double)problem->columns : 1;
  *magnitude = (double)(size / n);
  return (double)(sum / n);
}
