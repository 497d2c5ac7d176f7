/* The grid of a cut-off: cells of which a few in a row, the reach, are as wide as the last edge, so
 * that pairs within it lie in cells near each other. Plain C, for the CPU's and for GPUs' `cells`
 * and for the ladder, which asks whether there is one. */
#ifndef RUNG_PAIRS_CUT_H
#define RUNG_PAIRS_CUT_H

#include <math.h>

#include "ops/pairs/pairs.h"

/* Cells in reach are so much wider than the last edge, and so many cells may a point lie outside
 * the box and still be counted to the cell at its border: roundings are far below both, and no pair
 * within the last edge is out of reach. */
#define PAIRS_CUT_MARGIN 0x1p-20
#define PAIRS_CUT_STRAY 0x1p-22

/* Squares of less than this might underflow. */
#define PAIRS_CUT_LEAST 1e-150

/* Cells along an axis, at most; cells in all that there may always be; and the fewest: of less,
 * next to nothing is far enough from anything to be left out. */
#define PAIRS_CUT_ALONG 0x1p20
#define PAIRS_CUT_SMALL ((int64_t)64)
#define PAIRS_CUT_FEW 27.0

/* What is asked of a grid. The more cells to the last edge, the fewer of the points around are too
 * far away; the fewer points a cell, the more of the time goes into walking over cells. */
typedef struct pairs_cut_wish {
  int64_t most;    /* cells */
  int finer[2][3]; /* reaches tried before {1, 1, 1}, in turn: the first that makes no more cells */
  int tries;       /*   than most / share; so many of them */
  int share;
  bool whole; /* PAIRS_CUT_FEW cells as wide as the last edge fit in; else so many of any kind */
} pairs_cut_wish;

/* How far the grid goes: in a box between its faces; in open space between the points, where that
 * is known. */
static inline const double *pairs_cut_extent(const pairs_problem *problem) {
  return problem->box.space != PAIRS_OPEN ? problem->box.height : problem->extent;
}

/* Cells along the axes of which reach[] are no narrower than `edge`: their product. In a box that
 * is 3 edges wide there are more than two reaches, so that no two images of a cell are in reach. */
static inline double pairs_cut_by(const double extent[3], bool box, double edge, const int reach[3],
                                  int cells[3]) {
  double product = 1;
  for (int i = 0; i < 3; ++i) {
    const double most = floor(extent[i] * reach[i] / edge);
    const int least = box ? 2 * reach[i] + 1 : 1;
    cells[i] = most >= PAIRS_CUT_ALONG ? (int)PAIRS_CUT_ALONG : most >= least ? (int)most : least;
    product *= cells[i];
  }
  return product;
}

/* Cells along each axis of the extent (of a box, along its vectors), and how many of them apart
 * pairs within the last edge are at most. Returns how many cells there are in all; 0 where a grid
 * would not do: a box less than 3 last edges wide, too few cells, an extent without end, squares
 * that might underflow. */
static inline int64_t pairs_cut_cells(const pairs_problem *problem, const double extent[3],
                                      const pairs_cut_wish *wish, int cells[3], int reach[3]) {
  const bool box = problem->box.space != PAIRS_OPEN;
  const int64_t most = wish->most > PAIRS_CUT_SMALL ? wish->most : PAIRS_CUT_SMALL;
  double edge = problem->last * (1 + PAIRS_CUT_MARGIN), product;
  if (!(edge >= PAIRS_CUT_LEAST)) return 0;
  for (int i = 0; i < 3; ++i) {
    if (!isfinite(extent[i]) || (box && extent[i] < 3 * edge)) return 0;
    reach[i] = 1;
  }
  product = pairs_cut_by(extent, box, edge, reach, cells);
  if (wish->whole && product < PAIRS_CUT_FEW) return 0;
  const int *finer = NULL;
  for (int t = 0; t < wish->tries && finer == NULL; ++t) {
    product = pairs_cut_by(extent, box, edge, wish->finer[t], cells);
    if (product <= (double)(most / wish->share)) finer = wish->finer[t];
  }
  for (int i = 0; i < 3 && finer != NULL; ++i) reach[i] = finer[i];
  while (finer == NULL && (product = pairs_cut_by(extent, box, edge, reach, cells)) > (double)most)
    edge *= 1.125;
  return wish->whole || product >= PAIRS_CUT_FEW ? (int64_t)product : 0;
}

#endif
