/* Order statistics, against numbers worked out with numpy's default method. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "core/random.h"
#include "lab/interval.h"
#include "lab/lab.h"

static void assert_stats(const double *samples, int count, double min, double q1, double median,
                         double q3, double max) {
  const lab_stats stats = lab_stats_of(samples, count);
  assert_int_equal(stats.count, count);
  assert_true(stats.min == min);
  assert_true(fabs(stats.q1 - q1) < 1e-12);
  assert_true(fabs(stats.median - median) < 1e-12);
  assert_true(fabs(stats.q3 - q3) < 1e-12);
  assert_true(stats.max == max);
}

static void known_quartiles(void **state) {
  (void)state;
  /* numpy.percentile(x, [0, 25, 50, 75, 100]) */
  assert_stats((const double[]){5}, 1, 5, 5, 5, 5, 5);
  assert_stats((const double[]){4, 2}, 2, 2, 2.5, 3, 3.5, 4);
  assert_stats((const double[]){3, 1, 2}, 3, 1, 1.5, 2, 2.5, 3);
  assert_stats((const double[]){10, 1, 4, 2}, 4, 1, 1.75, 3, 5.5, 10);
  assert_stats((const double[]){7, 15, 36, 39, 40, 41}, 6, 7, 20.25, 37.5, 39.75, 41);
  assert_stats((const double[]){9, 1, 8, 2, 7, 3, 6, 4, 5, 20, 0}, 11, 0, 2.5, 5, 7.5, 20);
}

static void even_counts_take_the_middle_two(void **state) {
  (void)state;
  const double samples[] = {1, 2, 4, 8, 16, 32, 64, 128};
  assert_true(lab_stats_of(samples, 8).median == 12);
  assert_true(lab_stats_of(samples, 6).median == 6);
  assert_true(lab_stats_of(samples, 2).median == 1.5);
}

static void the_order_of_samples_does_not_matter(void **state) {
  (void)state;
  const double up[] = {1, 2, 3, 4, 5, 6, 7}, mixed[] = {4, 7, 1, 6, 2, 5, 3};
  const lab_stats a = lab_stats_of(up, 7), b = lab_stats_of(mixed, 7);
  assert_true(a.q1 == b.q1 && a.median == b.median && a.q3 == b.q3);
  assert_true(mixed[0] == 4 && mixed[6] == 3); /* and the samples stay in the order taken */
}

static void nothing_is_not_a_number(void **state) {
  (void)state;
  const lab_stats none = lab_stats_of(NULL, 0);
  assert_int_equal(none.count, 0);
  assert_true(isnan(none.min) && isnan(none.q1) && isnan(none.median) && isnan(none.q3) &&
              isnan(none.max));
}

static void one_nan_spoils_all(void **state) {
  (void)state;
  const lab_stats stats = lab_stats_of((const double[]){1, NAN, 2}, 3);
  assert_true(isnan(stats.min) && isnan(stats.median) && isnan(stats.max));
  assert_false(lab_relative_iqr(&stats) < 1e9); /* so a stop rule never takes it for steady */
}

/* From the distribution of tosses of a coin: of 11, fewer than 2 heads in 12 of 2048 orders, fewer
 * than 3 in 67; of 101 and 1000 by sums of Python's math.comb. */
static void the_median_has_an_interval(void **state) {
  (void)state;
  static const struct {
    int count, tail;
  } known[] = {{6, 1}, {8, 1}, {9, 2}, {11, 2}, {20, 6}, {101, 41}, {1000, 469}, {5000, 2431}};
  static double values[5000];
  for (int i = 0; i < 5000; i++) values[i] = (i * 7919 + 13) % 5000; /* each once, out of order */
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    const int count = known[k].count;
    double few[1000], *samples = count > 1000 ? values : few;
    for (int i = 0; i < count && count <= 1000; i++) few[i] = (i * 7 + 3) % count;
    const lab_stats stats = lab_stats_of(samples, count);
    assert_true(stats.low == known[k].tail - 1);
    assert_true(stats.high == count - known[k].tail);
  }
  const lab_stats five = lab_stats_of((const double[]){1, 2, 3, 4, 5}, 5);
  assert_true(isnan(five.low) && isnan(five.high) && five.median == 3);
}

static void relative_iqr(void **state) {
  (void)state;
  const lab_stats stats = lab_stats_of((const double[]){7, 15, 36, 39, 40, 41}, 6);
  assert_true(fabs(lab_relative_iqr(&stats) - 19.5 / 37.5) < 1e-15);
}

/* ---- intervals, by simulation: numbers drawn from a seed, no clock -------------------------- */

static double normal(rung_random *random) {
  const double radius = sqrt(-2 * log(1 - rung_random_double(random)));
  return radius * cos(2 * 3.14159265358979323846 * rung_random_double(random));
}

/* Nearly always quiet, now and then ten times as loud. */
static double loud(rung_random *random) {
  return normal(random) * (rung_random_double(random) < 0.1 ? 10 : 1);
}

static double index_of(int n, bool paired) {
  double a[32], b[32];
  lab_interval interval;
  for (int i = 0; i < n; ++i) a[i] = b[i] = i;
  if (paired)
    assert_true(lab_interval_paired(a, n, &interval));
  else
    assert_true(lab_interval_unpaired(a, n, b, n, &interval));
  return interval.high;
}

/* Critical values as tables have them: signed rank 0, 3, 8, 52 of 6, 8, 10, 20 pairs; rank sum 2
 * and 23 of 5 and 10. So many of the averages, or differences, are left out at each end. */
static void exact_intervals(void **state) {
  (void)state;
  static const struct {
    int n, critical;
    bool paired;
  } known[] = {{6, 0, true},   {8, 3, true},  {10, 8, true},
               {20, 52, true}, {5, 2, false}, {10, 23, false}};
  for (size_t t = 0; t < sizeof known / sizeof *known; ++t) {
    double all[512];
    int count = 0;
    const int n = known[t].n;
    for (int i = 0; i < n; ++i)
      for (int j = known[t].paired ? i : 0; j < n; ++j)
        all[count++] = known[t].paired ? (i + j) / 2. : j - i;
    const lab_stats stats = lab_stats_of(all, count);
    for (int i = 0; i < count; ++i) /* sorted by counting */
      for (int j = i + 1; j < count; ++j)
        if (all[j] < all[i]) {
          const double kept = all[i];
          all[i] = all[j];
          all[j] = kept;
        }
    assert_true(stats.max == all[count - 1]);
    assert_true(index_of(n, known[t].paired) == all[count - 1 - known[t].critical]);
  }
  lab_interval few;
  assert_true(lab_interval_paired((const double[]){1, 2, 3, 4, 5}, 5, &few));
  assert_true(few.estimate == 3 && isinf(few.low) && isinf(few.high));
}

static void intervals_hold_the_truth(void **state) {
  (void)state;
  enum { TRIALS = 2000 };
  rung_random random = {7};
  int paired = 0, unpaired = 0, many = 0;
  for (int t = 0; t < TRIALS; ++t) {
    double d[8], a[11], b[11], c[40];
    lab_interval interval;
    for (int i = 0; i < 8; ++i) d[i] = 0.02 + 0.01 * loud(&random);
    assert_true(lab_interval_paired(d, 8, &interval));
    paired += !(interval.low <= 0.02 && 0.02 <= interval.high);
    for (int i = 0; i < 11; ++i) a[i] = loud(&random);
    for (int i = 0; i < 11; ++i) b[i] = 3 + loud(&random);
    assert_true(lab_interval_unpaired(a, 11, b, 11, &interval));
    unpaired += !(interval.low <= 3 && 3 <= interval.high);
    for (int i = 0; i < 40; ++i) c[i] = 3 + loud(&random);
    assert_true(lab_interval_unpaired(a, 11, c, 40, &interval));
    many += !(interval.low <= 3 && 3 <= interval.high);
  }
  /* 100 are allowed, and three times their spread of 10. */
  assert_in_range(paired, 30, 130);
  assert_in_range(unpaired, 60, 130);
  assert_in_range(many, 60, 130);
}

/* A machine: what it adds to the logarithm of a time by the launch's number and place. */
typedef struct machine {
  double noise, drift, slots[4];
  bool calm; /* never ten times as loud */
} machine;

static lab_outcome compared(const machine *on, double ratio, double clock, uint64_t seed,
                            int blocks, lab_judged *found) {
  double a[128], b[128];
  bool b_first[64];
  rung_random random = {seed * 1000003};
  lab_interleave(seed, blocks, b_first);
  for (int i = 0; i < blocks; ++i)
    for (int slot = 0, as = 0, bs = 0; slot < 4; ++slot) {
      const bool is_b = (slot == 1 || slot == 2) != b_first[i];
      const double time = on->noise * (on->calm ? normal(&random) : loud(&random)) +
                          on->slots[slot] + on->drift * (4 * i + slot) / (4 * blocks) +
                          (is_b ? ratio : 0);
      if (is_b)
        b[2 * i + bs++] = time;
      else
        a[2 * i + as++] = time;
    }
  assert_true(lab_compare_launches(&(lab_launches){a, b, blocks}, clock, found));
  return found->outcome;
}

/* Of 1000 comparisons, how many come out so. */
static int times_of(lab_outcome outcome, const machine *on, double ratio) {
  lab_judged found;
  int count = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed)
    count += compared(on, ratio, 0, seed, 8, &found) == outcome;
  return count;
}

static const machine quiet = {.noise = 0.002, .calm = true}, noisy = {.noise = 0.03},
                     drifting = {.noise = 0.005, .drift = 0.2},
                     placed = {.noise = 0.005, .slots = {0.04, 0, 0.01, 0.05}},
                     both = {.noise = 0.01, .drift = -0.1, .slots = {-0.03, 0.02, 0, 0}};

static void a_against_a_is_seldom_another(void **state) {
  (void)state;
  const machine *const machines[] = {&quiet, &noisy, &drifting, &placed, &both};
  for (size_t m = 0; m < sizeof machines / sizeof *machines; ++m) {
    const int alarms = times_of(LAB_FASTER, machines[m], 0) + times_of(LAB_SLOWER, machines[m], 0);
    if (alarms > 50) fail_msg("machine %zu: %d false alarms of 1000", m, alarms);
  }
  assert_true(times_of(LAB_SAME, &quiet, 0) >= 950);
}

static void three_percent_are_found(void **state) {
  (void)state;
  assert_true(times_of(LAB_SLOWER, &quiet, log(1.03)) >= 990);
  assert_true(times_of(LAB_FASTER, &quiet, log(0.97)) >= 990);
  assert_int_equal(times_of(LAB_SAME, &quiet, log(1.03)), 0);
}

/* ---- two runs of several launches each ------------------------------------------------------ */

/* What a launch adds to the logarithm of all its times: one of few values (where its memory came to
 * lie), any, or mostly none. */
typedef enum placing { PLACED_TWO_WAYS, PLACED_ANYHOW, PLACED_NOW_AND_THEN, PLACINGS } placing;

static double place(placing how, rung_random *random) {
  if (how == PLACED_TWO_WAYS) return rung_random_double(random) < 0.5 ? 0 : 0.015;
  return how == PLACED_ANYHOW ? 0.0075 * normal(random) : 0.002 * loud(random);
}

/* Of 500 comparisons of n launches with as many, how many come out so. */
enum { RUNS = 500 };
static void runs_of(placing how, int n, double ratio, int counts[LAB_OUTCOMES]) {
  rung_random random = {(uint64_t)(100 * n + how)};
  for (int o = 0; o < LAB_OUTCOMES; ++o) counts[o] = 0;
  for (int t = 0; t < RUNS; ++t) {
    double times[2][16];
    lab_judged found;
    for (int which = 0; which < 2; ++which)
      for (int i = 0; i < n; ++i)
        times[which][i] = place(how, &random) + 0.001 * normal(&random) + (which ? ratio : 0);
    assert_true(lab_compare_runs(times[0], n, times[1], n, 0, &found));
    assert_true(found.margin >= LAB_MARGIN && found.margin >= found.time.high - found.time.low);
    counts[found.outcome]++;
  }
}

static void runs_of_one_thing_are_the_same(void **state) {
  (void)state;
  static const int launches[] = {4, 5, 8, 12, 16};
  int counts[LAB_OUTCOMES];
  for (placing how = 0; how < PLACINGS; ++how)
    for (size_t k = 0; k < sizeof launches / sizeof *launches; ++k) {
      runs_of(how, launches[k], 0, counts);
      /* 475, less three times the spread of so many tosses. */
      if (counts[LAB_SAME] < 460)
        fail_msg("placing %d, %d launches: %d SAME", how, launches[k], counts[LAB_SAME]);
      if (counts[LAB_FASTER] + counts[LAB_SLOWER] > 10)
        fail_msg("placing %d, %d launches: %d false alarms", how, launches[k],
                 counts[LAB_FASTER] + counts[LAB_SLOWER]);
    }
}

static void runs_three_percent_apart_are_found(void **state) {
  (void)state;
  int counts[LAB_OUTCOMES];
  for (placing how = 0; how < PLACINGS; ++how) {
    runs_of(how, 16, log(1.03), counts);
    if (counts[LAB_SLOWER] < 480 || counts[LAB_SAME] + counts[LAB_FASTER] > 2)
      fail_msg("placing %d: %d SLOWER, %d SAME", how, counts[LAB_SLOWER], counts[LAB_SAME]);
    runs_of(how, 16, log(0.97), counts);
    assert_true(counts[LAB_FASTER] >= 480);
    runs_of(how, 5, log(1.03), counts); /* too few to be sure, and said to be */
    assert_true(counts[LAB_SAME] <= 15 && counts[LAB_UNSURE] > 50);
  }
}

/* All shifts of few, by hand: a 0 and 1 with b 10 and 13 moves 10, 13, 9, 12, and both 11.5 - 0.5;
 * of 6 ways none may be left out. Of 4 and 4 the least and the largest count. */
static void means_have_an_interval(void **state) {
  (void)state;
  lab_interval found;
  assert_true(lab_interval_means((const double[]){0, 1}, 2, (const double[]){10, 13}, 2, &found));
  assert_true(found.estimate == 11 && isinf(found.low) && isinf(found.high));
  assert_true(lab_interval_means((const double[]){0, 1, 2, 3}, 4, (const double[]){10, 11, 12, 13},
                                 4, &found));
  assert_true(found.estimate == 10 && found.low == 7 && found.high == 13);
  /* 1 of 39 and one more: as few as 40 ways leave one out. */
  double many[39];
  for (int i = 0; i < 39; ++i) many[i] = i;
  assert_true(lab_interval_means(many, 39, (const double[]){100}, 1, &found));
  assert_true(found.low == 62 && found.high == 100 && found.estimate == 81);
  assert_true(lab_interval_means(many, 38, (const double[]){100}, 1, &found));
  assert_true(isinf(found.low));
}

/* Beyond some thousand ways some are drawn: the interval holds the truth as often. */
static void intervals_of_means_hold_the_truth(void **state) {
  (void)state;
  static const int counts[][2] = {{4, 4}, {5, 9}, {10, 10}, {3, 30}};
  rung_random random = {3};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k) {
    int missed = 0;
    for (int t = 0; t < 1000; ++t) {
      double a[32], b[32];
      lab_interval found;
      for (int i = 0; i < counts[k][0]; ++i) a[i] = loud(&random);
      for (int i = 0; i < counts[k][1]; ++i) b[i] = 3 + loud(&random);
      assert_true(lab_interval_means(a, counts[k][0], b, counts[k][1], &found));
      missed += !(found.low <= 3 && 3 <= found.high);
    }
    assert_in_range(missed, 10, 70);
  }
}

static void runs_say_what_would_settle_them(void **state) {
  (void)state;
  lab_judged found;
  const double a[] = {0, 0.004, 0.008, 0.002, 0.006}, b[] = {0.02, 0.024, 0.028, 0.022, 0.026};
  assert_true(lab_compare_runs(a, 5, b, 5, 0, &found));
  assert_int_equal(found.outcome, LAB_SLOWER);
  const double c[] = {0.01, 0.014, 0.018, 0.012, 0.016};
  assert_true(lab_compare_runs(a, 5, c, 5, 0, &found));
  assert_int_equal(found.outcome, LAB_UNSURE);
  assert_true(found.more >= 1 && isfinite(found.more));
  assert_true(lab_compare_runs(a, 5, b, 5, -0.02, &found)); /* the clock was another */
  assert_int_equal(found.outcome, LAB_CLOCK);
  assert_true(lab_compare_runs(a, 2, b, 2, 0, &found)); /* too few */
  assert_true(found.outcome == LAB_UNSURE && isinf(found.time.low) && found.margin == LAB_MARGIN);
}

/* Two launches of five samples each, one of three, one of none. */
static void launches_have_medians_of_their_own(void **state) {
  (void)state;
  const double samples[] = {5, 1, 2, 3, 4, 16, 17, 15, 18, 14, 10, 30, 20};
  const int counts[] = {5, 5, 0, 3};
  double medians[4];
  int launches = 4;
  const lab_stats stats = lab_stats_of_launches(samples, counts, &launches, medians);
  assert_int_equal(launches, 3);
  assert_true(medians[0] == 3 && medians[1] == 16 && medians[2] == 20);
  assert_true(stats.count == 13 && stats.median == 16 && stats.min == 1 && stats.max == 30);
  assert_true(stats.q1 == 15 && stats.q3 == 17); /* of 2, 15, 15 and 4, 17, 25 */
  assert_true(isnan(stats.low) && isnan(stats.high));
  launches = 0;
  assert_int_equal(lab_stats_of_launches(samples, counts, &launches, medians).count, 0);
  const int ones[] = {1, 1, 1, 1, 1, 1};
  double six[6];
  launches = 6;
  const lab_stats interval = lab_stats_of_launches(samples, ones, &launches, six);
  assert_true(interval.low == 1 && interval.high == 16 && interval.median == 3.5);
}

static void more_launches_settle_it(void **state) {
  (void)state;
  lab_judged found;
  int unsure = 0, settled = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    if (compared(&noisy, 0.04, 0, seed, 8, &found) != LAB_UNSURE) continue;
    assert_true(found.more >= 4);
    const double blocks = 8 + found.more / 4;
    if (blocks > 64) continue;
    unsure++;
    settled += compared(&noisy, 0.04, 0, seed, (int)blocks, &found) != LAB_UNSURE;
  }
  assert_true(unsure > 20 && settled > unsure / 4);
}

static void a_against_a_makes_the_margin(void **state) {
  (void)state;
  static const machine apart = {.noise = 0.0001, .slots = {0.07, 0.07, 0, 0}, .calm = true};
  lab_judged found;
  compared(&quiet, 0, 0, 1, 8, &found);
  assert_true(found.margin == LAB_MARGIN);
  compared(&apart, 0, 0, 1, 8, &found);
  assert_true(fabs(found.margin - 0.07 / sqrt(2)) < 0.001);
}

static void a_slower_clock_is_told(void **state) {
  (void)state;
  lab_judged found;
  assert_int_equal(compared(&quiet, 0.05, -0.05, 3, 8, &found), LAB_CLOCK);
  assert_int_equal(compared(&quiet, -0.05, 0.05, 3, 8, &found), LAB_CLOCK);
  assert_int_equal(compared(&quiet, 0.05, -0.001, 3, 8, &found), LAB_SLOWER);
  assert_int_equal(compared(&quiet, 0.05, 0.05, 3, 8, &found), LAB_SLOWER);
  assert_int_equal(compared(&quiet, 0, 0.05, 3, 8, &found), LAB_SAME);
}

static void as_many_begin_with_a_as_with_b(void **state) {
  (void)state;
  bool first[LAB_BLOCKS_MOST], other[LAB_BLOCKS_MOST];
  int bs = 0, differ = 0;
  lab_interleave(1, 100, first);
  lab_interleave(2, 100, other);
  for (int i = 0; i < 100; ++i) {
    bs += first[i];
    differ += first[i] != other[i];
  }
  assert_int_equal(bs, 50);
  assert_true(differ > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_quartiles),
      cmocka_unit_test(even_counts_take_the_middle_two),
      cmocka_unit_test(the_order_of_samples_does_not_matter),
      cmocka_unit_test(nothing_is_not_a_number),
      cmocka_unit_test(one_nan_spoils_all),
      cmocka_unit_test(the_median_has_an_interval),
      cmocka_unit_test(relative_iqr),
      cmocka_unit_test(exact_intervals),
      cmocka_unit_test(intervals_hold_the_truth),
      cmocka_unit_test(a_against_a_is_seldom_another),
      cmocka_unit_test(three_percent_are_found),
      cmocka_unit_test(runs_of_one_thing_are_the_same),
      cmocka_unit_test(runs_three_percent_apart_are_found),
      cmocka_unit_test(means_have_an_interval),
      cmocka_unit_test(intervals_of_means_hold_the_truth),
      cmocka_unit_test(runs_say_what_would_settle_them),
      cmocka_unit_test(launches_have_medians_of_their_own),
      cmocka_unit_test(more_launches_settle_it),
      cmocka_unit_test(a_against_a_makes_the_margin),
      cmocka_unit_test(a_slower_clock_is_told),
      cmocka_unit_test(as_many_begin_with_a_as_with_b),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
