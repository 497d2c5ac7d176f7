#include "lab/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "lab/lab.h"

enum { MOST = 1000, EXACTLY = 400, DEALS = 1999 };

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The interval that leaves out `tail` of `count` values at both ends. */
static lab_interval between(double *values, int count, int tail) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  const double middle = (values[(count - 1) / 2] + values[count / 2]) / 2;
  if (tail < 1) return (lab_interval){middle, -INFINITY, INFINITY};
  return (lab_interval){middle, values[tail - 1], values[count - tail]};
}

/* How many of the probabilities, from the first on, sum to half of the misses at most. */
static int tail_of(const double *probability, int count, double whole) {
  double sum = 0;
  int tail = 0;
  while (tail < count && (sum += probability[tail]) <= LAB_MISSES / 2 * whole) tail++;
  return tail;
}

/* Of the sum of the ranks 1 ... n, each of which counts or not by the toss of a coin. */
static bool signed_rank_tail(int n, int *tail) {
  const int sums = n * (n + 1) / 2 + 1;
  double *probability = calloc((size_t)sums, sizeof *probability);
  if (!probability) return false;
  probability[0] = 1;
  for (int rank = 1; rank <= n; ++rank)
    for (int sum = sums - 1; sum >= 0; --sum)
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
  *tail = tail_of(probability, sums, 1);
  free(probability);
  return true;
}

bool lab_interval_paired(const double *differences, int count, lab_interval *interval) {
  const int walsh = count * (count + 1) / 2;
  double *means = malloc((size_t)walsh * sizeof *means + 1);
  int tail = 0, k = 0;
  if (!means || !signed_rank_tail(count, &tail)) {
    free(means);
    return false;
  }
  for (int i = 0; i < count; ++i)
    for (int j = i; j < count; ++j) means[k++] = (differences[i] + differences[j]) / 2;
  *interval = between(means, walsh, tail);
  free(means);
  return true;
}

/* Of the number of pairs with b before a, where all orders are as likely: exact where there are
 * few, else by the normal distribution. The numbers of orders are the coefficients of a Gaussian
 * binomial. */
static bool rank_sum_tail(int m, int n, int *tail) {
  const int pairs = m * n;
  if (pairs > EXACTLY) {
    const double spread = sqrt(pairs * (m + n + 1.) / 12);
    *tail = (int)floor(pairs / 2. - 1.959963985 * spread);
    return true;
  }
  double *orders = calloc((size_t)pairs + 1, sizeof *orders), whole = 0;
  if (!orders) return false;
  orders[0] = 1;
  for (int j = 1; j <= m; ++j) {
    for (int u = pairs; u >= n + j; --u) orders[u] -= orders[u - n - j];
    for (int u = j; u <= pairs; ++u) orders[u] += orders[u - j];
  }
  for (int u = 0; u <= pairs; ++u) whole += orders[u];
  *tail = tail_of(orders, pairs + 1, whole);
  free(orders);
  return true;
}

/* The values in order; of many MOST that stand for all. */
static double *thinned(const double *values, int *count) {
  const int all = *count, kept = all < MOST ? all : MOST;
  double *copy = malloc((size_t)all * sizeof *copy + 1);
  if (!copy) return NULL;
  memcpy(copy, values, (size_t)all * sizeof *copy);
  qsort(copy, (size_t)all, sizeof *copy, ascending);
  for (int i = 0; i < kept; ++i) copy[i] = copy[(int64_t)i * all / kept + (all / kept) / 2];
  *count = kept;
  return copy;
}

bool lab_interval_unpaired(const double *a, int a_count, const double *b, int b_count,
                           lab_interval *interval) {
  double *from = thinned(a, &a_count), *to = thinned(b, &b_count);
  const int pairs = a_count * b_count;
  double *shifts = malloc((size_t)pairs * sizeof *shifts + 1);
  int tail = 0;
  const bool can = from && to && shifts && pairs > 0 && rank_sum_tail(a_count, b_count, &tail);
  if (can) {
    for (int i = 0; i < a_count; ++i)
      for (int j = 0; j < b_count; ++j) shifts[i * b_count + j] = to[j] - from[i];
    *interval = between(shifts, pairs, tail);
  }
  free(from);
  free(to);
  free(shifts);
  return can;
}

/* ---- launches that are not paired ----------------------------------------------------------- */

/* How many ways there are to deal `all` out with `a` of them in one hand; more than DEALS: so many.
 */
static int64_t ways_of(int all, int a) {
  int64_t ways = 1;
  for (int i = 1; i <= a && ways <= DEALS; ++i) ways = ways * (all - a + i) / i;
  return ways;
}

/* What the shift would be at which a deal's means are as far apart as those that were found: the
 * mean of what went from b to a, less that of what went from a to b. `in_a` marks the places of a's
 * hand. False: nothing went anywhere. */
static bool shift_of(const double *a, int a_count, const double *b, int b_count, const bool *in_a,
                     double *shift) {
  double sum = 0;
  int moved = 0;
  for (int i = 0; i < a_count; ++i) {
    if (in_a[i]) continue;
    sum -= a[i];
    moved++;
  }
  for (int j = 0; j < b_count; ++j)
    if (in_a[a_count + j]) sum += b[j];
  *shift = sum / moved;
  return moved > 0;
}

/* The next way in lexical order, from the one with a's places first; false: that was the last. */
static bool next_way(bool *in_a, int all) {
  int last = all - 1, after = 0;
  while (last >= 0 && in_a[last]) last--, after++; /* those at the end cannot move on */
  while (last >= 0 && !in_a[last]) last--;
  if (last < 0) return false;
  for (int i = last; i < all; ++i) in_a[i] = i > last && i <= last + 1 + after;
  return true;
}

/* Any way, all of them as likely. */
static void draw_way(rung_random *random, bool *in_a, int all, int a_count) {
  for (int i = 0; i < all; ++i) in_a[i] = i < a_count;
  for (int i = all - 1; i > 0; --i) {
    const int other = (int)(rung_random_next(random) % (unsigned)(i + 1));
    const bool kept = in_a[i];
    in_a[i] = in_a[other];
    in_a[other] = kept;
  }
}

bool lab_interval_means(const double *a, int a_count, const double *b, int b_count,
                        lab_interval *interval) {
  const int all = a_count + b_count;
  const int64_t ways = ways_of(all, a_count);
  const int most = ways <= DEALS ? (int)ways - 1 : DEALS;
  double *shifts = malloc(((size_t)most + 1) * sizeof *shifts);
  bool *in_a = malloc((size_t)all * sizeof *in_a + 1);
  rung_random random = {1};
  const bool can = shifts && in_a;
  for (int i = 0; i < all && can; ++i) in_a[i] = i < a_count;
  for (int count = 0; count < most && can;) {
    if (ways <= DEALS)
      next_way(in_a, all);
    else
      draw_way(&random, in_a, all, a_count);
    count += shift_of(a, a_count, b, b_count, in_a, &shifts[count]);
  }
  if (can) {
    /* The way that was found is one of them all. */
    *interval = between(shifts, most, (int)((most + 1) * (LAB_MISSES / 2)));
    interval->estimate = lab_mean(b, b_count) - lab_mean(a, a_count);
  }
  free(shifts);
  free(in_a);
  return can;
}

/* ---- what may be said ----------------------------------------------------------------------- */

const char *lab_outcome_name(lab_outcome outcome) {
  static const char *const names[LAB_OUTCOMES] = {"SAME", "FASTER", "SLOWER", "UNSURE", "CLOCK"};
  return names[outcome];
}

static lab_outcome side_of(double low, double high, double margin) {
  if (low >= -margin && high <= margin) return LAB_SAME;
  if (high < -margin) return LAB_FASTER;
  return low > margin ? LAB_SLOWER : LAB_UNSURE;
}

lab_outcome lab_outcome_of(const lab_interval *time, double margin, double clock) {
  const lab_outcome said = side_of(time->low, time->high, margin);
  if (said != LAB_FASTER && said != LAB_SLOWER) return said;
  return side_of(time->low + clock, time->high + clock, margin) == said ? said : LAB_CLOCK;
}

void lab_interleave(uint64_t seed, int blocks, bool *b_first) {
  rung_random random = {seed};
  for (int i = 0; i < blocks; ++i) b_first[i] = i % 2;
  for (int i = blocks - 1; i > 0; --i) {
    const int other = (int)(rung_random_next(&random) % (unsigned)(i + 1));
    const bool kept = b_first[i];
    b_first[i] = b_first[other];
    b_first[other] = kept;
  }
}

/* Launches that an interval as wide as the gap to the margin would take, by the square root. */
static double more_launches(const lab_judged *found, int blocks) {
  const double half = (found->time.high - found->time.low) / 2;
  const double gap = fabs(fabs(found->time.estimate) - found->margin);
  return 4 * ceil(fmax(blocks * (half / gap) * (half / gap) - blocks, 1));
}

bool lab_compare_launches(const lab_launches *launches, double clock, lab_judged *found) {
  const int blocks = launches->blocks;
  const double *a = launches->a, *b = launches->b;
  double *ratios = malloc((size_t)blocks * sizeof *ratios + 1);
  double *alone = malloc((size_t)blocks * sizeof *alone + 1);
  lab_interval same;
  bool can = ratios && alone;
  for (int i = 0; i < blocks && can; ++i) {
    ratios[i] = (b[2 * i] + b[2 * i + 1] - a[2 * i] - a[2 * i + 1]) / 2;
    alone[i] = (a[2 * i] - a[2 * i + 1]) / sqrt(2); /* as far as a mean of two is from another */
  }
  can = can && lab_interval_paired(ratios, blocks, &found->time) &&
        lab_interval_paired(alone, blocks, &same);
  free(ratios);
  free(alone);
  if (!can) return false;
  found->margin = fmax(LAB_MARGIN, fmax(fabs(same.low), fabs(same.high)));
  found->outcome = lab_outcome_of(&found->time, found->margin, clock);
  found->more = found->outcome == LAB_UNSURE ? more_launches(found, blocks) : 0;
  return true;
}

/* Launches of both that would make an interval narrow enough, by the square root: for SAME all of
 * it within the least margin, else beyond a margin as wide as it. */
static double more_of_runs(const lab_judged *found, int launches) {
  const double half = (found->time.high - found->time.low) / 2;
  const double far = fabs(found->time.estimate);
  const double wanted = far < LAB_MARGIN ? LAB_MARGIN - far : fmin(far - LAB_MARGIN, far / 3);
  return ceil(fmax(launches * (half / wanted) * (half / wanted) - launches, 1));
}

bool lab_compare_runs(const double *a, int a_count, const double *b, int b_count, double clock,
                      lab_judged *found) {
  if (!lab_interval_means(a, a_count, b, b_count, &found->time)) return false;
  const double width = found->time.high - found->time.low;
  found->margin = isfinite(width) ? fmax(LAB_MARGIN, width) : LAB_MARGIN;
  found->outcome = lab_outcome_of(&found->time, found->margin, clock);
  const bool settles = found->outcome == LAB_UNSURE && isfinite(width);
  found->more = settles ? more_of_runs(found, a_count + b_count) : 0;
  return true;
}
