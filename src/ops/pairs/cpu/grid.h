/* The grid of the CPU's `cells`. Plain C: the ladder asks whether there is one. */
#ifndef RUNG_PAIRS_CPU_GRID_H
#define RUNG_PAIRS_CPU_GRID_H

#include "ops/pairs/cpu/work.h"
#include "ops/pairs/cut.h"

typedef struct pairs_cut {
  int cells[3]; /* along each axis, in a box along its vectors; those along axis 0 are neighbours */
  int reach[3]; /* pairs within the last edge are at most so many cells apart */
  int64_t count;
} pairs_cut;

/* extent: of the points in open space, of a box its heights. Finer along axis 0, where a point
 * meets the cells in reach as one run. False where a grid would not do: see pairs_cut_cells(). */
static inline bool pairs_cut_of(const pairs_problem *problem, const double extent[3],
                                pairs_cut *cut) {
  const pairs_cut_wish wish = {.most = (int64_t)pairs_most_cells(problem),
                               .finer = {{4, 1, 1}},
                               .tries = 1,
                               .share = 1,
                               .whole = false};
  cut->count = pairs_cut_cells(problem, extent, &wish, cut->cells, cut->reach);
  return cut->count > 0;
}

#endif
