/* The rank of a square of a distance: how many thresholds are not above it. 0 is below the first
 * edge, k + 1 is bin k, bins + 1 is at or above the last edge.
 *
 * The bits of a double that is not negative rise with it: the upper ones say in which cell of a
 * guide it lies, the guide how many thresholds lie in the cells before, and comparisons with those
 * of the cell itself settle the rest. No root, no division, and edges of any kind cost the same. */
#ifndef RUNG_PAIRS_CPU_RANKS_H
#define RUNG_PAIRS_CPU_RANKS_H

#include <math.h>
#include <string.h>

#include "ops/pairs/pairs.h"

typedef struct pairs_ranks {
  const double *thresholds; /* bins + 1, then NaN: no square is at or above that */
  const uint32_t *guide;
  uint64_t base, cells; /* cell 0 holds all whose upper bits are at most base, the last one all
                           from there on */
  int shift;            /* the upper bits are those from here */
  uint32_t most;        /* a power of two; twice it is above the thresholds of any cell; or 0 */
  uint32_t top;         /* bins + 1 */
} pairs_ranks;

/* Entries of the two tables. Steps within a cell may lead as far beyond the thresholds as there
 * are, and a few may be loaded at once. Eight cells to a bin leave one threshold or none in most.
 */
static inline size_t pairs_padded(const pairs_problem *problem) {
  return 2 * ((size_t)problem->bins + 2) + 16;
}

static inline size_t pairs_guide_cells(const pairs_problem *problem) {
  const size_t cells = 8 * (size_t)problem->bins, least = 1024, most = (size_t)1 << 20;
  return cells < least ? least : cells > most ? most : cells;
}

static inline uint64_t pairs_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t pairs_cell_of(const pairs_ranks *ranks, double square) {
  const uint64_t upper = pairs_bits(square) >> ranks->shift;
  const uint64_t cell = upper > ranks->base ? upper - ranks->base : 0;
  return cell < ranks->cells ? cell : ranks->cells - 1;
}

/* `square` is not a NaN. */
static inline uint32_t pairs_rank(const pairs_ranks *ranks, double square) {
  uint32_t rank = ranks->guide[pairs_cell_of(ranks, square)];
  for (uint32_t step = ranks->most; step > 0; step /= 2)
    rank += ranks->thresholds[rank + step - 1] <= square ? step : 0;
  return rank;
}

/* padded: pairs_padded() of them; guide: pairs_guide_cells(). */
static inline pairs_ranks pairs_ranks_of(const pairs_problem *problem, const double *thresholds,
                                         double *padded, uint32_t *guide) {
  const uint32_t count = (uint32_t)problem->bins + 1;
  pairs_ranks ranks = {.thresholds = padded, .guide = guide, .top = count};
  uint32_t first = 0, cell = 0, most = 0;
  for (size_t k = 0; k < pairs_padded(problem); ++k)
    padded[k] = k < count ? thresholds[k] + 0.0 : (double)NAN;
  while (first + 1 < count && padded[first] == 0) ++first;
  const uint64_t low = pairs_bits(padded[first]), high = pairs_bits(padded[count - 1]);
  while ((high >> ranks.shift) - (low >> ranks.shift) + 2 > pairs_guide_cells(problem))
    ++ranks.shift;
  ranks.base = low >> ranks.shift;
  if (ranks.base > 0) --ranks.base;
  ranks.cells = (high >> ranks.shift) - ranks.base + 1;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t own = (uint32_t)pairs_cell_of(&ranks, padded[k]);
    if (k == 0) guide[0] = 0;
    while (cell < own) guide[++cell] = k;
    if (k + 1 - guide[cell] > most) most = k + 1 - guide[cell];
  }
  for (ranks.most = 1; ranks.most <= most / 2; ranks.most *= 2) continue;
  return ranks;
}

#endif
