/* The references: naive, wide, strict. They share no line with the rungs. */
#include <math.h>

#include "ops/rowmeans/lab/cases.h"

static double element(const rowmeans_problem *problem, const void *row, int64_t j) {
  return problem->dtype == RUNG_F32 ? (double)((const float *)row)[j] : ((const double *)row)[j];
}

/* One addition in the problem's type. (Rounding a sum of doubles would do, but GCC up to 13 may
 * drop the two conversions where it makes vectors of them.) */
static double add(const rowmeans_problem *problem, double a, double b) {
  return problem->dtype == RUNG_F32 ? (double)((float)a + (float)b) : a + b;
}

/* How many numbers there are at a level: the elements, their tiles' sums, the sums of those ... */
static int64_t length(int64_t columns, int level) {
  return level == 0 ? columns : (length(columns, level - 1) + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
}

/* Number `i` of a level, by the words of core/sum.h. */
static double number(const rowmeans_problem *problem, const void *row, int level, int64_t i) {
  if (level == 0) return element(problem, row, i);
  const int64_t below = length(problem->columns, level - 1);
  double lane[RUNG_SUM_LANES];
  for (int l = 0; l < RUNG_SUM_LANES; ++l)
    for (int r = 0; r < RUNG_SUM_ROWS; ++r) {
      const int64_t j = i * RUNG_SUM_TILE + (int64_t)r * RUNG_SUM_LANES + l;
      const double x = j < below ? number(problem, row, level - 1, j) : -0.0;
      lane[l] = r == 0 ? x : add(problem, lane[l], x);
    }
  for (int s = RUNG_SUM_LANES / 2; s >= 1; s /= 2)
    for (int l = 0; l < s; ++l) lane[l] = add(problem, lane[l], lane[l + s]);
  return lane[0];
}

double rowmeans_reference_sum(const rowmeans_problem *problem, const void *row) {
  int level = 0;
  while (length(problem->columns, level) > 1) ++level;
  return number(problem, row, level, 0);
}

void rowmeans_reference_strict(const rowmeans_problem *problem, const void *row, void *mean) {
  const double quotient = rowmeans_reference_sum(problem, row) / (double)problem->columns;
  if (problem->dtype == RUNG_F32)
    *(float *)mean = (float)quotient;
  else
    *(double *)mean = quotient;
}

/* Adds x to *sum and what rounding lost to *lost (Knuth's two-sum). */
static void add_compensated(double *sum, double *lost, double x) {
  const double total = *sum + x, back = total - *sum;
  *lost += (*sum - (total - back)) + (x - back);
  *sum = total;
}

double rowmeans_reference_wide(const rowmeans_problem *problem, const void *row,
                               double *magnitude) {
  double sum = 0, lost = 0, size = 0, size_lost = 0;
  for (int64_t j = 0; j < problem->columns; ++j) {
    const double x = element(problem, row, j);
    add_compensated(&sum, &lost, x);
    add_compensated(&size, &size_lost, fabs(x));
  }
  /* Infinite or not a number: what was lost means nothing. */
  *magnitude = (isfinite(size) ? size + size_lost : size) / (double)problem->columns;
  return (isfinite(sum) ? sum + lost : sum) / (double)problem->columns;
}
