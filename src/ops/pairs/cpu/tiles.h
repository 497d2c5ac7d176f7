/* All pairs of one set, or of two, by tiles.
 *
 * Boxes around two groups of tiles, then around two tiles, bound the squares of all their pairs,
 * with no slack: rounded subtraction, multiplication and addition never fall as their operands
 * rise, so the contract's arithmetic on the boxes' sides bounds the contract's arithmetic on the
 * points. Where both bounds have one rank all pairs are counted at once.
 *
 * In a box every T(n) of the contract is tried on the two boxes. One whose least square is at or
 * above the last threshold, or above what another's squares are at most, is no pair's nearest that
 * counts; mostly one is left, and the pairs are then as quick as those of open space. */
#ifndef RUNG_PAIRS_CPU_TILES_H
#define RUNG_PAIRS_CPU_TILES_H

#include "core/work.h"
#include "ops/pairs/cpu/run.h"
#include "ops/pairs/cpu/single.h"

enum { PAIRS_IMAGES = 125 };

typedef struct pairs_shifts {
  int count;
  double shift[PAIRS_IMAGES][3];
} pairs_shifts;

typedef struct pairs_sweep {
  const pairs_work *work;
  const pairs_set *a, *b; /* the same: pairs within */
  pairs_shifts shifts;
  int64_t strip;       /* groups of b that a chunk takes */
  double single_least; /* squares of this and more may be bounded in single precision */
} pairs_sweep;

/* ---- bounds ------------------------------------------------------------------------------------
 */

/* Of the squares of points in box a from points in box `lane` of b, moved by a shift. */
LANES_INLINE void pairs_bounds(const pairs_extent *a, const pairs_extents *b, int lane,
                               const double *shift, double *least, double *most) {
  double near[3], far[3];
  for (int i = 0; i < 3; ++i) {
    const double low = a->low[i] - b->high[i][lane] + shift[i],
                 high = a->high[i] - b->low[i][lane] + shift[i];
    const double apart = low > -high ? low : -high;
    near[i] = apart > 0 ? apart : 0;
    far[i] = high > -low ? high : -low;
  }
  *least = (near[0] * near[0] + near[1] * near[1]) + near[2] * near[2];
  *most = (far[0] * far[0] + far[1] * far[1]) + far[2] * far[2];
}

/* The bounds of several boxes of b at once, and the shifts that matter to any of them. */
typedef struct pairs_between {
  double least[PAIRS_GROUP], most[PAIRS_GROUP]; /* least infinite: no shift matters */
  int shifts[PAIRS_GROUP];                      /* how many do */
  unsigned char which[PAIRS_GROUP][PAIRS_IMAGES];
} pairs_between;

/* One shift: nothing to choose from. */
static void pairs_bound_once(const pairs_extent *a, const pairs_extents *b, const double *shift,
                             pairs_between *between) {
  for (int lane = 0; lane < PAIRS_GROUP; ++lane)
    pairs_bounds(a, b, lane, shift, &between->least[lane], &between->most[lane]);
  for (int lane = 0; lane < PAIRS_GROUP; ++lane) {
    between->shifts[lane] = 1;
    between->which[lane][0] = 0;
  }
}

static void pairs_bound(const pairs_extent *a, const pairs_extents *b, const pairs_shifts *shifts,
                        double largest, pairs_between *between) {
  double least[PAIRS_IMAGES][PAIRS_GROUP];
  if (shifts->count == 1) {
    pairs_bound_once(a, b, shifts->shift[0], between);
    return;
  }
  for (int lane = 0; lane < PAIRS_GROUP; ++lane) {
    between->least[lane] = between->most[lane] = (double)INFINITY;
    between->shifts[lane] = 0;
  }
  for (int s = 0; s < shifts->count; ++s)
    for (int lane = 0; lane < PAIRS_GROUP; ++lane) {
      double most;
      pairs_bounds(a, b, lane, shifts->shift[s], &least[s][lane], &most);
      between->most[lane] = most < between->most[lane] ? most : between->most[lane];
    }
  for (int s = 0; s < shifts->count; ++s)
    for (int lane = 0; lane < PAIRS_GROUP; ++lane) {
      const double own = least[s][lane];
      if (!(own < largest) || own > between->most[lane]) continue;
      between->which[lane][between->shifts[lane]++] = (unsigned char)s;
      if (own < between->least[lane]) between->least[lane] = own;
    }
}

static void pairs_some_shifts(const pairs_shifts *all, const pairs_between *between, int lane,
                              pairs_shifts *some) {
  some->count = between->shifts[lane];
  for (int s = 0; s < some->count; ++s)
    memcpy(some->shift[s], all->shift[between->which[lane][s]], sizeof some->shift[s]);
}

static pairs_extent pairs_box_of_tile(const pairs_extents *boxes, int lane) {
  pairs_extent e;
  for (int i = 0; i < 3; ++i) {
    e.low[i] = boxes->low[i][lane];
    e.high[i] = boxes->high[i][lane];
  }
  return e;
}

/* ---- two tiles ---------------------------------------------------------------------------------
 */

/* Each pair: its rank, and its weights' product. Those above are counted by the caller. */
static void pairs_weigh(const pairs_work *work, const double *squares, const double *a,
                        const double *b, const pairs_counted *counted) {
  for (int i = 0; i < PAIRS_TILE; ++i)
    for (int j = 0; j < PAIRS_TILE; ++j) {
      const double square = squares[i * PAIRS_TILE + j];
      if (!(square < work->problem->largest)) continue;
      const uint32_t rank = pairs_rank(&work->ranks, square);
      ++counted->singles[rank];
      if (rank > 0)
        pairs_sum_units(&counted->sums[rank - 1], pairs_units(a[i], b[j], work->exponent));
    }
}

static int pairs_keep_all(const double *squares, double largest, double *kept) {
  int count = 0;
  for (int at = 0; at < PAIRS_SQUARES; at += LANES_F64)
    count = pairs_keep(lanes_load_f64(squares + at), lanes_all_f64(largest), kept, count);
  return count;
}

/* Tile i of a and j of b; within one set i <= j. */
typedef struct pairs_two {
  int64_t i, j, pairs;
  uint32_t lowest, highest; /* ranks of the squares' bounds, not the same unless there are sums */
  double most;              /* the upper bound; of one shift, for all pairs under it */
  const double (*shifts)[3];
  int count; /* of shifts, 1 or more */
} pairs_two;

/* Adds the counters of 32 bits up, and clears them. */
static void pairs_flush_exact(const pairs_work *work, const pairs_counted *counted) {
  for (uint32_t rank = 0; rank <= work->ranks.top; ++rank)
    for (int l = 0; l < PAIRS_EXACT; ++l) {
      counted->singles[rank] += counted->exact[rank][l];
      counted->exact[rank][l] = 0;
    }
  *counted->pending = 0;
}

/* Single precision where its bound holds; a thread in whose tiles many pairs were in doubt (in a
 * lattice distances may well lie on edges) leaves it for a while. */
static bool pairs_try_single(const pairs_sweep *sweep, const pairs_two *two,
                             const pairs_counted *counted) {
  enum { DOUBTED = 2, MOST = 64 };
  const uint32_t lowest = two->lowest, few = two->highest - lowest;
  if (few > PAIRS_SINGLE_FEW) return false;
  if (!(two->most >= sweep->single_least && two->most <= PAIRS_SINGLE_MOST)) return false;
  if (*counted->credit < 0) {
    ++*counted->credit;
    return false;
  }
  if (*counted->pending + PAIRS_SQUARES > sweep->work->problem->flush)
    pairs_flush_exact(sweep->work, counted);
  if (!pairs_count_single(&sweep->a->nears[two->i], &sweep->b->nears[two->j], two->shifts[0],
                          two->most, sweep->work->ranks.thresholds + lowest, (int)few,
                          counted->exact + lowest)) {
    *counted->credit -= DOUBTED;
    if (*counted->credit < 0) *counted->credit = -MOST;
    return false;
  }
  if (*counted->credit < MOST) ++*counted->credit;
  *counted->pending += PAIRS_SQUARES;
  counted->singles[lowest] -= (uint64_t)(PAIRS_SQUARES - two->pairs);
  return true;
}

/* By comparisons with the thresholds between. */
static void pairs_compare(const pairs_sweep *sweep, const pairs_two *two,
                          const pairs_counted *counted) {
  const pairs_tile *a = &sweep->a->tiles[two->i], *b = &sweep->b->tiles[two->j];
  const double *thresholds = sweep->work->ranks.thresholds + two->lowest, *s = two->shifts[0];
  const int between = (int)(two->highest - two->lowest);
  uint64_t(*const below)[PAIRS_COUNTER] = counted->below + two->lowest;
  double squares[PAIRS_SQUARES];
  if (two->count == 1 && a != b && pairs_try_single(sweep, two, counted)) return;
  counted->singles[two->highest] += (uint64_t)two->pairs;
  if (two->count == 1 && a != b) {
    if (between <= PAIRS_FEW && s[0] == 0 && s[1] == 0 && s[2] == 0) {
      pairs_count_open(a, b, thresholds, between, below);
      return;
    }
    if (between <= PAIRS_FEW) {
      pairs_count_shifted(a, b, s, thresholds, between, below);
      return;
    }
  }
  pairs_square_tiles(a, b, two->shifts, two->count, squares);
  pairs_count_squares(squares, thresholds, between, below);
}

static void pairs_of_tiles(const pairs_sweep *sweep, const pairs_two *two,
                           const pairs_counted *counted) {
  const pairs_work *work = sweep->work;
  const pairs_ranks *ranks = &work->ranks;
  double squares[PAIRS_SQUARES], kept[PAIRS_SQUARES + PAIRS_SPARE];
  if (two->highest - two->lowest <= PAIRS_COMPARED && counted->below != NULL &&
      counted->sums == NULL) {
    pairs_compare(sweep, two, counted);
    return;
  }
  pairs_square_tiles(&sweep->a->tiles[two->i], &sweep->b->tiles[two->j], two->shifts, two->count,
                     squares);
  const int left = pairs_keep_all(squares, work->problem->largest, kept);
  counted->singles[ranks->top] += (uint64_t)(two->pairs - left);
  if (counted->sums != NULL)
    pairs_weigh(work, squares, sweep->a->weights + two->i * PAIRS_TILE,
                sweep->b->weights + two->j * PAIRS_TILE, counted);
  else
    pairs_count_singly(ranks, kept, left, counted->singles);
}

/* ---- two groups --------------------------------------------------------------------------------
 */

static int64_t pairs_points_of(const pairs_set *set, int64_t part, int64_t size) {
  const int64_t left = set->points - part * size;
  return left < size ? left > 0 ? left : 0 : size;
}

/* Pairs of part i of a with part j of b, parts of `size` points. */
static int64_t pairs_between_parts(const pairs_sweep *sweep, int64_t i, int64_t j, int64_t size) {
  const int64_t n = pairs_points_of(sweep->a, i, size), m = pairs_points_of(sweep->b, j, size);
  return sweep->a == sweep->b && i == j ? n * (n - 1) / 2 : n * m;
}

/* Counts them at once where the bounds have one rank, and sums need none of them. */
static bool pairs_at_once(const pairs_counted *counted, const pairs_ranks *ranks, int64_t pairs,
                          double least, double most, uint32_t *lowest, uint32_t *highest) {
  *highest = pairs_rank(ranks, most);
  *lowest = least < (double)INFINITY ? pairs_rank(ranks, least) : ranks->top;
  const bool summed = counted->sums != NULL && *lowest > 0 && *lowest < ranks->top;
  if (*lowest < *highest || summed) return false;
  counted->singles[*highest] += (uint64_t)pairs;
  return true;
}

/* Tile i against the tiles of group j, with the shifts that matter to the groups. */
static void pairs_of_tile(const pairs_sweep *sweep, int64_t i, int64_t group,
                          const pairs_shifts *shifts, const pairs_counted *counted) {
  const pairs_ranks *ranks = &sweep->work->ranks;
  const bool within = sweep->a == sweep->b;
  const pairs_extent box =
      pairs_box_of_tile(&sweep->a->inner[i / PAIRS_GROUP], (int)(i % PAIRS_GROUP));
  pairs_between between;
  pairs_shifts some;
  pairs_bound(&box, &sweep->b->inner[group], shifts, sweep->work->problem->largest, &between);
  for (int lane = 0; lane < PAIRS_GROUP; ++lane) {
    pairs_two two = {.i = i, .j = group * PAIRS_GROUP + lane, .most = between.most[lane]};
    if (two.j * PAIRS_TILE >= sweep->b->points) break;
    if (within && two.j < i) continue;
    two.pairs = pairs_between_parts(sweep, i, two.j, PAIRS_TILE);
    if (pairs_at_once(counted, ranks, two.pairs, between.least[lane], two.most, &two.lowest,
                      &two.highest))
      continue;
    two.shifts = shifts->shift;
    two.count = 1;
    if (shifts->count > 1) {
      double least;
      pairs_some_shifts(shifts, &between, lane, &some);
      two.shifts = some.shift;
      two.count = some.count;
      if (some.count == 1)
        pairs_bounds(&box, &sweep->b->inner[group], lane, some.shift[0], &least, &two.most);
    }
    pairs_of_tiles(sweep, &two, counted);
  }
}

static void pairs_of_groups(const pairs_sweep *sweep, int64_t one, int64_t other,
                            const pairs_counted *counted) {
  const pairs_extent *box = &sweep->b->outer[other];
  const int64_t pairs = pairs_between_parts(sweep, one, other, PAIRS_GROUP_POINTS);
  pairs_extents boxes;
  pairs_between between;
  pairs_shifts shifts;
  uint32_t lowest, highest;
  for (int i = 0; i < 3; ++i)
    for (int lane = 0; lane < PAIRS_GROUP; ++lane) {
      boxes.low[i][lane] = box->low[i];
      boxes.high[i][lane] = box->high[i];
    }
  pairs_bound(&sweep->a->outer[one], &boxes, &sweep->shifts, sweep->work->problem->largest,
              &between);
  if (pairs_at_once(counted, &sweep->work->ranks, pairs, between.least[0], between.most[0], &lowest,
                    &highest))
    return;
  pairs_some_shifts(&sweep->shifts, &between, 0, &shifts);
  for (int64_t i = one * PAIRS_GROUP; i < (one + 1) * PAIRS_GROUP; ++i)
    if (i * PAIRS_TILE < sweep->a->points) pairs_of_tile(sweep, i, other, &shifts, counted);
}

/* ---- all pairs ---------------------------------------------------------------------------------
 */

static int64_t pairs_strips(const pairs_sweep *sweep) {
  return ((int64_t)pairs_groups(sweep->b->points) + sweep->strip - 1) / sweep->strip;
}

static void pairs_sweep_chunk(void *arg, int64_t chunk, int thread) {
  const pairs_sweep *sweep = (const pairs_sweep *)arg;
  const pairs_counted counted = pairs_counted_of(sweep->work, thread);
  const int64_t strips = pairs_strips(sweep), one = chunk / strips;
  const int64_t first = chunk % strips * sweep->strip, end = first + sweep->strip,
                groups = (int64_t)pairs_groups(sweep->b->points);
  for (int64_t other = first; other < end && other < groups; ++other)
    if (sweep->a != sweep->b || other >= one) pairs_of_groups(sweep, one, other, &counted);
}

/* The box around a set's points. */
static pairs_extent pairs_around(const pairs_set *set) {
  pairs_extent all = set->outer[0];
  for (int64_t group = 1; group < (int64_t)pairs_groups(set->points); ++group)
    for (int i = 0; i < 3; ++i) {
      const pairs_extent *e = &set->outer[group];
      all.low[i] = e->low[i] < all.low[i] ? e->low[i] : all.low[i];
      all.high[i] = e->high[i] > all.high[i] ? e->high[i] : all.high[i];
    }
  return all;
}

/* All images of the contract; of open space none but the point itself. */
static void pairs_all_shifts(const pairs_box *box, pairs_shifts *shifts) {
  *shifts = (pairs_shifts){.count = 1};
  if (box->space == PAIRS_OPEN) return;
  shifts->count = 0;
  for (int n0 = -2; n0 <= 2; ++n0)
    for (int n1 = -2; n1 <= 2; ++n1)
      for (int n2 = -2; n2 <= 2; ++n2) {
        const pairs_point t = pairs_shift(box, n0, n1, n2);
        double *shift = shifts->shift[shifts->count++];
        shift[0] = t.x;
        shift[1] = t.y;
        shift[2] = t.z;
      }
}

/* Those that matter to the boxes around all points. */
static void pairs_sweep_shifts(pairs_sweep *sweep) {
  const pairs_extent a = pairs_around(sweep->a), b = pairs_around(sweep->b);
  pairs_shifts all;
  int kept = 0;
  pairs_all_shifts(&sweep->work->problem->box, &all);
  for (int s = 0; s < all.count; ++s) {
    pairs_extents boxes;
    double least, most;
    for (int i = 0; i < 3; ++i) {
      boxes.low[i][0] = b.low[i];
      boxes.high[i][0] = b.high[i];
    }
    pairs_bounds(&a, &boxes, 0, all.shift[s], &least, &most);
    if (all.count > 1 && !(least < sweep->work->problem->largest)) continue;
    memcpy(sweep->shifts.shift[kept++], all.shift[s], sizeof all.shift[s]);
  }
  sweep->shifts.count = kept;
  sweep->single_least = PAIRS_SINGLE_LEAST;
  for (int s = 0; s < kept; ++s) {
    const double *t = sweep->shifts.shift[s],
                 least = PAIRS_SINGLE_SHIFT * ((t[0] * t[0] + t[1] * t[1]) + t[2] * t[2]);
    if (least > sweep->single_least) sweep->single_least = least;
  }
}

/* Into the threads' tables. Sets are built; b is a for pairs within. */
void RUNG_ENTRY(pairs_sweep_sets)(const pairs_work *work, const pairs_set *a, const pairs_set *b) {
  pairs_sweep sweep = {.work = work, .a = a, .b = b};
  if (a->points == 0 || b->points == 0) return;
  const int64_t groups = (int64_t)pairs_groups(b->points);
  sweep.strip = groups / 64 > 64 ? groups / 64 : 64;
  pairs_sweep_shifts(&sweep);
  const int64_t chunks = (int64_t)pairs_groups(a->points) * pairs_strips(&sweep);
  if (a == b)
    rung_parallel_triangle((int)work->threads, chunks, pairs_sweep_chunk, &sweep);
  else
    rung_parallel((int)work->threads, chunks, pairs_sweep_chunk, &sweep);
}

#endif
