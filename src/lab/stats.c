/* Order statistics of a sample. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Linear interpolation at `q` of the way through the sorted values. */
static double quantile(const double *sorted, int count, double q) {
  const double at = q * (count - 1);
  const int low = (int)at;
  if (low + 1 >= count) return sorted[count - 1];
  return sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]);
}

/* How many values may be left out at both ends: as many as fewer than which lie below the median
 * with a probability of 1 in 40 at most, where each does by the toss of a coin. 2^-count of a
 * thousand samples is too small for a double, so logarithms are added. */
static int left_out(int count) {
  double logarithm = -count * log(2), sum = exp(logarithm);
  int tail = 0;
  while (sum <= 0.025 && tail < count / 2) {
    logarithm += log((double)(count - tail) / (tail + 1));
    sum += exp(logarithm);
    tail++;
  }
  return tail;
}

lab_stats lab_stats_of(const double *samples, int count) {
  lab_stats stats = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
  if (!sorted) return stats;
  stats.count = count;
  /* One NaN makes every number NaN: sorted among the others it would stand anywhere. */
  bool numbers = true;
  for (int i = 0; i < count; ++i) numbers = numbers && !isnan(samples[i]);
  if (numbers) {
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    stats.min = sorted[0];
    stats.q1 = quantile(sorted, count, 0.25);
    stats.median = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    stats.q3 = quantile(sorted, count, 0.75);
    stats.max = sorted[count - 1];
    const int tail = left_out(count);
    if (tail > 0) {
      stats.low = sorted[tail - 1];
      stats.high = sorted[count - tail];
    }
  }
  free(sorted);
  return stats;
}

double lab_relative_iqr(const lab_stats *stats) {
  return (stats->q3 - stats->q1) / stats->median;
}

double lab_relative_interval(const lab_stats *stats) {
  return (stats->high - stats->low) / stats->median;
}
