/* How a GPU sorts points: the grid of cells whose order they are put in, and the memory it takes.
 * Plain C: the ladder asks for the bytes, kernels go by it. */
#ifndef RUNG_PAIRS_CUDA_GRID_H
#define RUNG_PAIRS_CUDA_GRID_H

#include <stddef.h>

#include "ops/pairs/cut.h"

/* Points of a cell of a Morton grid: 4 to 32, if they are evenly spread. */
enum { PAIRS_CELL_POINTS = 32, PAIRS_MORTON_BITS = 7 };
#define PAIRS_MOST_CELLS ((int64_t)1 << 23) /* of a cut-off */

typedef struct pairs_grid {
  bool morton; /* cells of the points' bounding box, along a Morton curve; or those of a cut-off, by
                  row: those along axis 0 are neighbours */
  int bits;    /* morton: of a coordinate */
  int cells[3];  /* along each axis; of a cut-off in a box, along its vectors */
  int reach[3];  /* a cut-off's: pairs within the last edge are at most so many cells apart */
  int64_t count; /* cells in all. Key `count` is that of points that have no cell: those that are
                    not finite */
} pairs_grid;

/* A Morton grid for the larger of the two sets. */
static inline pairs_grid pairs_grid_morton(const pairs_problem *problem) {
  const int64_t n = problem->m > problem->n ? problem->m : problem->n;
  pairs_grid grid = {.morton = true, .bits = 0, .cells = {1, 1, 1}, .reach = {0, 0, 0}, .count = 1};
  while (grid.bits < PAIRS_MORTON_BITS && (n >> (3 * grid.bits)) > PAIRS_CELL_POINTS) ++grid.bits;
  grid.cells[0] = grid.cells[1] = grid.cells[2] = 1 << grid.bits;
  grid.count = (int64_t)1 << (3 * grid.bits);
  return grid;
}

/* The grid of a cut-off: finer cells as long as they hold 2 points; where even cells as wide as the
 * last edge hold less than one, wider ones. False where it would not do: see pairs_cut_cells(), or
 * how far points reach is not known. */
static inline bool pairs_grid_cut(const pairs_problem *problem, pairs_grid *grid) {
  const int64_t n = problem->m > problem->n ? problem->m : problem->n;
  const pairs_cut_wish wish = {.most = n < PAIRS_MOST_CELLS ? n : PAIRS_MOST_CELLS,
                               .finer = {{4, 2, 2}, {3, 1, 1}},
                               .tries = 2,
                               .share = 2,
                               .whole = true};
  pairs_grid cut = {.morton = false, .bits = 0, .cells = {1, 1, 1}, .reach = {1, 1, 1}, .count = 0};
  if (problem->box.space == PAIRS_OPEN && !problem->known) return false;
  cut.count = pairs_cut_cells(problem, pairs_cut_extent(problem), &wish, cut.cells, cut.reach);
  if (cut.count == 0) return false;
  *grid = cut;
  return true;
}

/* Where the arrays of a sorted set lie, in bytes from where its memory begins. */
typedef struct pairs_sort_room {
  size_t start;   /* (cells + 2) u32: where a key's points begin; at last n. It comes first, for it
                     is cleared together with the bounds before it */
  size_t x, y, z; /* (n) f64: coordinates of places, sorted */
  size_t origin;  /* (n) i32: which points these were */
  size_t keys;    /* (n) u32, of points as they came */
  size_t ranks;   /* (n) u32: the how manieth of its key each is */
  size_t sums;    /* of parts of `start`, while it is summed up */
  size_t bytes;
} pairs_sort_room;

/* Keys that a block sums up at a time. */
enum { PAIRS_SORT_PART = 1024 };

static inline int64_t pairs_sort_parts(const pairs_grid *grid) {
  return (grid->count + 2 + PAIRS_SORT_PART - 1) / PAIRS_SORT_PART;
}

/* `count` elements laid down at *end, which moves behind them. */
static inline size_t pairs_lay(size_t *end, int64_t count, size_t bytes) {
  const size_t at = *end;
  *end = at + ((size_t)count * bytes + 255) / 256 * 256;
  return at;
}

/* Places in their own order. */
static inline size_t pairs_places_bytes(int64_t n) {
  size_t end = 0;
  pairs_lay(&end, n, 3 * sizeof(double));
  return end;
}

static inline pairs_sort_room pairs_sort_room_of(int64_t n, const pairs_grid *grid) {
  pairs_sort_room room;
  size_t end = 0;
  room.start = pairs_lay(&end, grid->count + 2, sizeof(uint32_t));
  room.x = pairs_lay(&end, n, sizeof(double));
  room.y = pairs_lay(&end, n, sizeof(double));
  room.z = pairs_lay(&end, n, sizeof(double));
  room.origin = pairs_lay(&end, n, sizeof(int32_t));
  room.keys = pairs_lay(&end, n, sizeof(uint32_t));
  room.ranks = pairs_lay(&end, n, sizeof(uint32_t));
  room.sums = pairs_lay(&end, pairs_sort_parts(grid), sizeof(uint32_t));
  room.bytes = end;
  return room;
}

/* Before the sets: what both have in common, the bounds of all finite points. */
enum { PAIRS_BOUNDS_BYTES = 256 };

/* The memory of pairs_sort(), a multiple of 256. */
static inline size_t pairs_sort_bytes(const pairs_problem *problem, const pairs_grid *grid) {
  return PAIRS_BOUNDS_BYTES + pairs_sort_room_of(problem->n, grid).bytes +
         (problem->cross ? pairs_sort_room_of(problem->m, grid).bytes : 0);
}

#endif
