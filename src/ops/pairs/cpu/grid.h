/* The grid of a cut-off: cells of which a few in a row are as wide as the last edge, so that pairs
 * within it lie in cells near each other. Plain C: the ladder asks whether there is one. */
#ifndef RUNG_PAIRS_CPU_GRID_H
#define RUNG_PAIRS_CPU_GRID_H

#include <math.h>

#include "ops/pairs/pairs.h"

/* So much wider than the last edge, and so many cells beyond its border a point may lie: both are
 * far above what roundings do. */
#define PAIRS_CUT_MARGIN 0x1p-20
#define PAIRS_CUT_STRAY 0x1p-24

/* Squares of shorter distances than this might underflow. */
#define PAIRS_CUT_LEAST 1e-150

enum { PAIRS_CUT_ALONG = 1 << 20 }; /* cells along an axis, at most */

typedef struct pairs_cut {
  int cells[3]; /* along each axis, in a box along its vectors; those along axis 0 are neighbours */
  int reach[3]; /* pairs within the last edge are at most so many cells apart */
  int64_t count;
} pairs_cut;

/* Cells no narrower than `edge` over reach[]. In a box there are more than two reaches, so that no
 * two images of a cell are in reach. */
static inline double pairs_cut_by(const double extent[3], bool box, double edge, pairs_cut *cut) {
  double product = 1;
  for (int i = 0; i < 3; ++i) {
    const double most = floor(extent[i] * cut->reach[i] / edge),
                 least = box ? 2 * cut->reach[i] + 1 : 1;
    const double cells = most > PAIRS_CUT_ALONG ? PAIRS_CUT_ALONG : most > least ? most : least;
    cut->cells[i] = (int)cells;
    product *= cells;
  }
  return product;
}

/* extent: of the points in open space, of a box its heights. At most `most` cells. False where
 * there are fewer than three along a vector of a box, or than 27 in open space. */
static inline bool pairs_cut_of(const pairs_problem *problem, const double extent[3],
                                int64_t most_cells, pairs_cut *cut) {
  const bool box = problem->box.space != PAIRS_OPEN;
  const double most = most_cells < 64 ? 64 : (double)most_cells;
  double edge = problem->last * (1 + PAIRS_CUT_MARGIN), product;
  if (!(edge >= PAIRS_CUT_LEAST)) return false;
  for (int i = 0; i < 3; ++i)
    if (!isfinite(extent[i]) || (box && extent[i] < 3 * edge)) return false;
  *cut = (pairs_cut){.reach = {4, 1, 1}};
  product = pairs_cut_by(extent, box, edge, cut);
  if (product > most) {
    cut->reach[0] = 1;
    while ((product = pairs_cut_by(extent, box, edge, cut)) > most) edge *= 1.125;
  }
  cut->count = (int64_t)product;
  return product >= 27;
}

#endif
