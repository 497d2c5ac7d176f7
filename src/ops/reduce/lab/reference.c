/* The references: naive, wide, strict. They share no line with the rungs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/reduce/lab/cases.h"
#include "ops/rowmeans/lab/cases.h"
#include "ops/rowmeans/rowmeans.h"

/* The contract's sum of floats. rowmeans has it of a line without gaps. */
static double sum_of_floats(const reduce_problem *problem, const char *line, int64_t stride) {
  const int64_t n = problem->columns;
  const size_t size = rung_dtype_bytes(problem->dtype);
  if (n == 0) return 0;
  char *gathered = stride == 1 ? NULL : (char *)malloc((size_t)n * size);
  for (int64_t k = 0; k < n && gathered != NULL; ++k)
    memcpy(gathered + (size_t)k * size, line + k * stride * (int64_t)size, size);
  const rowmeans_problem row = {.rows = 1, .columns = n, .dtype = problem->dtype};
  const double sum =
      stride != 1 && gathered == NULL
          ? (double)NAN /* out of memory: no result passes */
          : rowmeans_reference_sum(&row, gathered != NULL ? (const void *)gathered : line);
  free(gathered);
  return sum;
}

static void sum_strictly(const reduce_problem *problem, const void *line, int64_t stride,
                         void *result) {
  const double n = (double)problem->columns;
  const rung_traits *in = rung_traits_of(problem->dtype), *out = rung_traits_of(problem->result);
  if (in->kind == RUNG_FLOAT) {
    const double sum = sum_of_floats(problem, (const char *)line, stride);
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
