/* The slot of a square of a distance: the contract's comparisons with the thresholds. */
#ifndef RUNG_PAIRS_FIND_H
#define RUNG_PAIRS_FIND_H

#include <math.h>

#include "ops/pairs/pairs.h"

/* The bin from a guess of 0 ... bins - 1, of a d2 that is in one: right whatever the guess. */
PAIRS_ANYWHERE int pairs_settle(const double *thresholds, double d2, int guess) {
  while (d2 < thresholds[guess]) --guess;
  while (d2 >= thresholds[guess + 1]) ++guess;
  return guess;
}

/* The bin by halving, of a d2 that is in one. */
PAIRS_ANYWHERE int pairs_search(const double *thresholds, int bins, double d2) {
  int under = 0, over = bins;
  while (over - under > 1) {
    const int middle = under + (over - under) / 2;
    if (thresholds[middle] <= d2)
      under = middle;
    else
      over = middle;
  }
  return under;
}

/* 0 ... bins - 1, or bins + PAIRS_BELOW, PAIRS_ABOVE, PAIRS_NAN. */
PAIRS_ANYWHERE int pairs_slot(const pairs_problem *problem, const double *thresholds, double d2) {
  const int bins = problem->bins;
  if (!(d2 < problem->largest)) return bins + (d2 >= problem->largest ? PAIRS_ABOVE : PAIRS_NAN);
  if (d2 < problem->least) return bins + PAIRS_BELOW;
  if (!problem->even) return pairs_search(thresholds, bins, d2);
  const double at = sqrt(d2) / problem->width;
  return pairs_settle(thresholds, d2, at < bins ? (int)at : bins - 1);
}

#endif
