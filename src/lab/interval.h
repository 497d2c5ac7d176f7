/* Whether B is as fast as A: intervals of log ratios, and what may be said of them.
 *
 * Nothing here assumes a distribution: the interval of paired launches is that of Wilcoxon's
 * signed-rank test, exact; that of two runs' samples the rank-sum test's; that of launches that are
 * not paired the permutation test's of their means. docs/METHOD.md says how launches are paired,
 * and why. */
#ifndef RUNG_LAB_INTERVAL_H
#define RUNG_LAB_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/* The least margin, the rate of intervals that may miss, and the fewest pairs that have one. */
#define LAB_MARGIN 0.01
#define LAB_MISSES 0.05
enum { LAB_BLOCKS_LEAST = 6, LAB_BLOCKS_MOST = 256 };

/* Of the natural logarithm of a ratio. Without enough samples -INFINITY ... INFINITY. */
typedef struct lab_interval {
  double estimate, low, high;
} lab_interval;

/* Of the middle of differences that are symmetric about it. False: memory ran out. */
bool lab_interval_paired(const double *differences, int count, lab_interval *interval);
/* Of the shift from a to b, which are independent; of large samples a thousand order statistics
 * each stand for all. False: memory ran out. */
bool lab_interval_unpaired(const double *a, int a_count, const double *b, int b_count,
                           lab_interval *interval);

/* Of the shift of the mean from a to b, launches that are independent: exact, by all ways to deal
 * them out anew, or where these are many by 1999 drawn from a seed of its own. A launch is one of
 * few kinds (where its memory came to lie), so that order statistics jump from one kind to the
 * other; means do not. From four of each on. False: memory ran out. */
bool lab_interval_means(const double *a, int a_count, const double *b, int b_count,
                        lab_interval *interval);

typedef enum lab_outcome {
  LAB_SAME,   /* the interval lies within the margin */
  LAB_FASTER, /* B takes less time: all of the interval lies beyond the margin */
  LAB_SLOWER,
  LAB_UNSURE, /* the interval crosses the margin */
  LAB_CLOCK,  /* what the time says, the number of clock cycles does not: the clock was another */
  LAB_OUTCOMES
} lab_outcome;
const char *lab_outcome_name(lab_outcome outcome); /* "SAME", "FASTER", ... */

/* `clock`: the logarithm of B's clock over A's, 0 where it is not known. */
lab_outcome lab_outcome_of(const lab_interval *time, double margin, double clock);

/* Launches of A and B in blocks of four, A B B A or B A A B, as many of one as of the other (or one
 * more), in an order drawn from the seed: writes for each block whether B comes first. What drifts
 * in a line, and what the place in a block costs, then favours neither. */
void lab_interleave(uint64_t seed, int blocks, bool *b_first);

/* Logarithms of what launches measured, two of A and two of B a block, in the order they ran. */
typedef struct lab_launches {
  const double *a, *b;
  int blocks;
} lab_launches;

typedef struct lab_judged {
  lab_interval time; /* B over A */
  double margin;     /* the larger of LAB_MARGIN and what A against A may differ */
  lab_outcome outcome;
  double more; /* launches of both that would settle what is unsure, by how intervals shrink */
} lab_judged;
/* False: memory ran out. */
bool lab_compare_launches(const lab_launches *launches, double clock, lab_judged *found);
/* The same of two runs of several launches each, all of A before all of B or at any other time. The
 * margin is as wide as the interval where that is more than LAB_MARGIN: an interval that holds 0,
 * as 95 of 100 of A against A do, then lies within it. */
bool lab_compare_runs(const double *a, int a_count, const double *b, int b_count, double clock,
                      lab_judged *found);

#endif
