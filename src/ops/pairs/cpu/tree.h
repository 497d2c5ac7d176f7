/* Points into tiles of neighbours: halves of halves, each across its longest side, cut where whole
 * tiles and whole groups of tiles end. Boxes so drawn are tight and hardly overlap. */
#ifndef RUNG_PAIRS_CPU_TREE_H
#define RUNG_PAIRS_CPU_TREE_H

#include "ops/pairs/cpu/work.h"

static inline pairs_extent pairs_extent_of(const pairs_entry *entries, int64_t count) {
  pairs_extent e;
  for (int i = 0; i < 3; ++i) e.low[i] = e.high[i] = entries[0].at[i];
  for (int64_t k = 1; k < count; ++k)
    for (int i = 0; i < 3; ++i) {
      const double x = entries[k].at[i];
      e.low[i] = x < e.low[i] ? x : e.low[i];
      e.high[i] = x > e.high[i] ? x : e.high[i];
    }
  return e;
}

/* Brings the `left` least along an axis to the front: quickselect around pivots drawn at random, so
 * that no order of points is a bad one. */
static inline void pairs_select(pairs_entry *entries, int64_t count, int64_t left, int axis) {
  uint64_t drawn = 1;
  int64_t first = 0, last = count - 1;
  while (first < last) {
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    const uint64_t among = (uint64_t)(last - first + 1);
    const double pivot = entries[first + (int64_t)((drawn >> 33) % among)].at[axis];
    int64_t i = first, j = last;
    while (i <= j) {
      while (entries[i].at[axis] < pivot) ++i;
      while (pivot < entries[j].at[axis]) --j;
      if (i > j) break;
      const pairs_entry moved = entries[i];
      entries[i++] = entries[j];
      entries[j--] = moved;
    }
    if (left <= j)
      last = j;
    else if (left >= i)
      first = i;
    else
      return;
  }
}

/* Sorts entries into tiles. No deeper than the logarithm of their number. */
static inline void pairs_halve(pairs_entry *entries, int64_t count) {
  while (count > PAIRS_TILE) {
    const int64_t tiles = (count + PAIRS_TILE - 1) / PAIRS_TILE;
    const pairs_extent e = pairs_extent_of(entries, count);
    int64_t left = tiles / 2;
    if (tiles > PAIRS_GROUP) {
      left = (left + PAIRS_GROUP / 2) / PAIRS_GROUP * PAIRS_GROUP;
      if (left == 0) left = PAIRS_GROUP;
    }
    int axis = 0;
    for (int i = 1; i < 3; ++i)
      if (e.high[i] / 2 - e.low[i] / 2 > e.high[axis] / 2 - e.low[axis] / 2) axis = i;
    left *= PAIRS_TILE;
    pairs_select(entries, count, left, axis);
    pairs_halve(entries, left);
    entries += left;
    count -= left;
  }
}

static inline void pairs_tile_of(const pairs_set *set, int64_t tile, pairs_extents *inner,
                                 const double *weights) {
  const int64_t first = tile * PAIRS_TILE, left = set->points - first;
  const int64_t count = left < PAIRS_TILE ? left : PAIRS_TILE;
  const int lane = (int)(tile % PAIRS_GROUP);
  pairs_extent e = {{0}, {0}};
  if (count > 0) e = pairs_extent_of(set->entries + first, count);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < PAIRS_TILE; ++k)
      set->tiles[tile].at[i][k] = k < count ? set->entries[first + k].at[i] : (double)NAN;
    const double centre = e.low[i] / 2 + e.high[i] / 2;
    for (int k = 0; k < PAIRS_TILE; ++k)
      set->nears[tile].at[i][k] = (float)(set->tiles[tile].at[i][k] - centre);
    set->nears[tile].centre[i] = centre;
    inner->low[i][lane] = e.low[i];
    inner->high[i][lane] = e.high[i];
  }
  if (set->weights != NULL)
    for (int k = 0; k < PAIRS_TILE; ++k)
      set->weights[first + k] = k < count ? weights[set->entries[first + k].index] : 0;
}

/* From set->entries, points of them; `weights` in the caller's order, or NULL. */
static inline void pairs_build(pairs_set *set, const double *weights) {
  pairs_halve(set->entries, set->points);
  for (int64_t group = 0; group < (int64_t)pairs_groups(set->points); ++group) {
    const int64_t first = group * PAIRS_GROUP_POINTS, left = set->points - first;
    for (int64_t k = 0; k < PAIRS_GROUP; ++k)
      pairs_tile_of(set, group * PAIRS_GROUP + k, &set->inner[group], weights);
    set->outer[group] = pairs_extent_of(set->entries + first,
                                        left < PAIRS_GROUP_POINTS ? left : PAIRS_GROUP_POINTS);
  }
}

#endif
