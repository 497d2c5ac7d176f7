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

/* The quartiles of a launch into the columns of `of`, one launch a column. */
static bool add_launch(const double *samples, int count, int at, double *const of[3], double *least,
                       double *most) {
  const lab_stats one = lab_stats_of(samples, count);
  of[0][at] = one.median;
  of[1][at] = one.q1;
  of[2][at] = one.q3;
  *least = at == 0 ? one.min : fmin(*least, one.min);
  *most = at == 0 ? one.max : fmax(*most, one.max);
  return one.count > 0;
}

lab_stats lab_stats_of_launches(const double *samples, const int *counts, int *launches,
                                double *medians) {
  const int given = *launches;
  double *quartiles = malloc(2 * (size_t)given * sizeof *quartiles + 1), least = NAN, most = NAN;
  lab_stats stats = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  bool whole = quartiles != NULL;
  int all = 0, used = 0;
  for (int i = 0; i < given && whole; ++i) {
    double *const of[] = {medians, quartiles, quartiles + given};
    if (counts[i] == 0) continue;
    whole = add_launch(samples + all, counts[i], used++, of, &least, &most);
    all += counts[i];
  }
  if (whole && used > 0) {
    const lab_stats low = lab_stats_of(quartiles, used),
                    high = lab_stats_of(quartiles + given, used);
    stats = lab_stats_of(medians, used);
    whole = stats.count > 0 && low.count > 0 && high.count > 0;
    stats.count = whole ? all : 0;
    stats.q1 = low.median;
    stats.q3 = high.median;
    stats.min = least;
    stats.max = most;
  }
  free(quartiles);
  *launches = used;
  return stats;
}

double lab_launches_apart(const double *medians, int launches, double median) {
  double least = NAN, most = NAN;
  for (int i = 0; i < launches; ++i) {
    least = fmin(least, medians[i]); /* of a NaN and a number the number */
    most = fmax(most, medians[i]);
  }
  return (most - least) / median;
}

double lab_mean(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum / count;
}

double lab_relative_iqr(const lab_stats *stats) {
  return (stats->q3 - stats->q1) / stats->median;
}

double lab_relative_interval(const lab_stats *stats) {
  return (stats->high - stats->low) / stats->median;
}
