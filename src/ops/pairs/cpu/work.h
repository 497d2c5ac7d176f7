/* What the CPU's rungs of pairs keep in their scratch: laid out by one function, for the rungs and
 * for the size of their scratch. */
#ifndef RUNG_PAIRS_CPU_WORK_H
#define RUNG_PAIRS_CPU_WORK_H

#include "ops/pairs/cpu/ranks.h"
#include "ops/pairs/sums.h"

/* Points of a tile, and tiles of a group: what boxes are drawn around. */
enum { PAIRS_TILE = 16, PAIRS_GROUP = 16, PAIRS_GROUP_POINTS = PAIRS_TILE * PAIRS_GROUP };

/* Lanes of a counter of 64 and of 32 bits, whatever the instruction set; and bins up to which
 * threads have such. */
enum { PAIRS_COUNTER = 8, PAIRS_EXACT = 16, PAIRS_COUNTER_BINS = 4096 };

typedef struct pairs_tile {
  double at[3][PAIRS_TILE]; /* NaN beyond the last point */
} pairs_tile;

/* The same in single precision, from the centre of the tile's box. */
typedef struct pairs_near {
  float at[3][PAIRS_TILE];
  double centre[3];
  double spare[5]; /* a multiple of the widest load */
} pairs_near;

typedef struct pairs_extent {
  double low[3], high[3];
} pairs_extent;

/* Of the tiles of a group, by axis. */
typedef struct pairs_extents {
  double low[3][PAIRS_GROUP], high[3][PAIRS_GROUP];
} pairs_extents;

typedef struct pairs_entry {
  double at[3];
  int64_t index; /* in the caller's array */
} pairs_entry;

/* The finite points of a set, each at its place. */
typedef struct pairs_set {
  int64_t points;
  pairs_entry *entries;
  pairs_tile *tiles;
  pairs_near *nears;
  pairs_extents *inner; /* by group */
  pairs_extent *outer;  /* by group */
  double *weights;      /* in the tiles' order; NULL without */
} pairs_set;

/* What one thread has counted, modulo 2^64. A pair of rank r is one in singles[r] or exact[r]. Of
 * many pairs at once, whose ranks are lowest ... highest, singles[highest] has all and below[r]
 * those of rank r or less, for each r from the lowest to the last but one. So rank r has singles[r]
 * + exact[r] + below[r] - below[r - 1], their lanes added up. */
typedef struct pairs_counted {
  uint64_t *singles;                /* bins + 2 ranks, then NaN */
  uint64_t (*below)[PAIRS_COUNTER]; /* bins + 1; NULL of too many bins */
  uint32_t (*exact)[PAIRS_EXACT];   /* bins + 2; NULL where `below` is */
  int64_t *pending;                 /* pairs in `exact`: flushed before a counter could wrap */
  int64_t *credit;                  /* of single precision: below 0 it is not tried */
  pairs_sum *sums;                  /* bins; NULL without weights */
} pairs_counted;

/* A point that is in a molecule. */
typedef struct pairs_member {
  int64_t molecule;
  uint32_t index, side; /* 0: of a, 1: of b */
} pairs_member;

/* The points of one set by cells. */
typedef struct pairs_ordered {
  double *at[3]; /* in the cells' order */
  double *weights;
  uint32_t *cell;  /* by the caller's index */
  uint32_t *start; /* by cell: its first point; one more than there are cells */
} pairs_ordered;

typedef struct pairs_work {
  const rung_task *task;
  const pairs_problem *problem;
  int64_t threads;
  int exponent; /* of sums */
  double *padded;
  uint32_t *guide;
  pairs_ranks ranks;
  uint64_t *slots; /* the result by rank, NaN last */
  pairs_sum *sums; /* the result by bin */
  char *tables;    /* of the threads, `each` bytes apart */
  size_t each;
  pairs_set sets[2];
  pairs_ordered ordered[2];
  pairs_member *members, *spare; /* n + m */
} pairs_work;

/* ---- layout -------------------------------------------------------------------------------------
 */

/* Takes memory from `at` on; from NULL it only adds up. */
typedef struct pairs_room {
  char *at;
  size_t used;
} pairs_room;

static inline void *pairs_take(pairs_room *room, size_t count, size_t size) {
  void *taken = room->at != NULL ? room->at + room->used : NULL;
  room->used += (count * size + 63) / 64 * 64;
  return taken;
}

static inline size_t pairs_ranks_count(const pairs_problem *problem) {
  return (size_t)problem->bins + 3;
}

static inline pairs_counted pairs_lay_counted(const pairs_problem *problem, pairs_room *room) {
  const size_t bins = (size_t)problem->bins;
  pairs_counted counted = {0};
  counted.singles = (uint64_t *)pairs_take(room, pairs_ranks_count(problem), sizeof(uint64_t));
  if (bins <= PAIRS_COUNTER_BINS) {
    counted.below = (uint64_t(*)[PAIRS_COUNTER])pairs_take(room, bins + 1, sizeof *counted.below);
    counted.exact = (uint32_t(*)[PAIRS_EXACT])pairs_take(room, bins + 2, sizeof *counted.exact);
  }
  counted.credit = (int64_t *)pairs_take(room, 2, sizeof(int64_t));
  counted.pending = counted.credit + 1;
  if (problem->weighted) counted.sums = (pairs_sum *)pairs_take(room, bins, sizeof(pairs_sum));
  return counted;
}

static inline size_t pairs_groups(int64_t points) {
  return (size_t)((points + PAIRS_GROUP_POINTS - 1) / PAIRS_GROUP_POINTS);
}

static inline void pairs_lay_set(const pairs_problem *problem, int64_t points, pairs_room *room,
                                 pairs_set *set) {
  const size_t groups = pairs_groups(points), n = (size_t)points;
  set->entries = (pairs_entry *)pairs_take(room, n, sizeof(pairs_entry));
  set->tiles = (pairs_tile *)pairs_take(room, groups * PAIRS_GROUP, sizeof(pairs_tile));
  set->nears = (pairs_near *)pairs_take(room, groups * PAIRS_GROUP, sizeof(pairs_near));
  set->inner = (pairs_extents *)pairs_take(room, groups, sizeof(pairs_extents));
  set->outer = (pairs_extent *)pairs_take(room, groups, sizeof(pairs_extent));
  if (problem->weighted)
    set->weights = (double *)pairs_take(room, groups * PAIRS_GROUP_POINTS, sizeof(double));
}

/* Lanes may be loaded beyond the last point. */
static inline void pairs_lay_ordered(const pairs_problem *problem, int64_t points, size_t cells,
                                     pairs_room *room, pairs_ordered *set) {
  const size_t n = (size_t)points;
  for (int i = 0; i < 3; ++i)
    set->at[i] = (double *)pairs_take(room, n + PAIRS_COUNTER, sizeof(double));
  if (problem->weighted) set->weights = (double *)pairs_take(room, n, sizeof(double));
  set->cell = (uint32_t *)pairs_take(room, n, sizeof(uint32_t));
  set->start = (uint32_t *)pairs_take(room, cells + 2, sizeof(uint32_t));
}

/* Cells of a grid, at most. */
static inline size_t pairs_most_cells(const pairs_problem *problem) {
  const int64_t m = problem->cross ? problem->m : 0, most = problem->n > m ? problem->n : m;
  return most > 64 ? (size_t)most : 64;
}

/* Returns the bytes. Grids and tiles are never there at once, and share their memory. */
static inline size_t pairs_lay_out(const pairs_problem *problem, int64_t threads, bool grids,
                                   void *scratch, pairs_work *work) {
  pairs_room room = {(char *)scratch, 0}, one = {NULL, 0};
  *work = (pairs_work){.problem = problem, .threads = threads};
  work->padded = (double *)pairs_take(&room, pairs_padded(problem), sizeof(double));
  work->guide = (uint32_t *)pairs_take(&room, pairs_guide_cells(problem), sizeof(uint32_t));
  work->slots = (uint64_t *)pairs_take(&room, pairs_ranks_count(problem), sizeof(uint64_t));
  if (problem->weighted)
    work->sums = (pairs_sum *)pairs_take(&room, (size_t)problem->bins, sizeof(pairs_sum));
  pairs_lay_counted(problem, &one);
  work->each = one.used;
  work->tables = (char *)pairs_take(&room, (size_t)threads, one.used);
  if (problem->excluding) {
    const size_t all = (size_t)problem->n + (problem->cross ? (size_t)problem->m : 0);
    work->members = (pairs_member *)pairs_take(&room, all, sizeof(pairs_member));
    work->spare = (pairs_member *)pairs_take(&room, all, sizeof(pairs_member));
  }
  pairs_room other = room;
  pairs_lay_set(problem, problem->n, &room, &work->sets[0]);
  if (problem->cross) pairs_lay_set(problem, problem->m, &room, &work->sets[1]);
  if (!grids) return room.used;
  pairs_lay_ordered(problem, problem->n, pairs_most_cells(problem), &other, &work->ordered[0]);
  if (problem->cross)
    pairs_lay_ordered(problem, problem->m, pairs_most_cells(problem), &other, &work->ordered[1]);
  return room.used > other.used ? room.used : other.used;
}

static inline pairs_counted pairs_counted_of(const pairs_work *work, int64_t thread) {
  pairs_room room = {work->tables + (size_t)thread * work->each, 0};
  return pairs_lay_counted(work->problem, &room);
}

/* As many threads as find something to do. */
static inline int64_t pairs_threads(const pairs_problem *problem, const rung_device *device) {
  const int64_t m = problem->cross ? problem->m : 0;
  const int64_t groups = (int64_t)(pairs_groups(problem->n) + pairs_groups(m));
  return device->threads < groups ? device->threads : groups > 1 ? groups : 1;
}

#endif
