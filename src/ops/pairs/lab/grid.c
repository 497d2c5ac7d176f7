/* The reference of a cut-off, for jobs too large for all pairs: points in cells at least as wide as
 * the last edge, every cell with itself and the 26 around it. Open space or a rectangular box; no
 * sums, no molecules. It shares nothing with the rungs but the places of points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/pairs/lab/cases.h"
#include "ops/pairs/space.h"

enum { MOST_CELLS = 128 }; /* along an axis */

typedef struct grid {
  const pairs_problem *problem;
  const double *thresholds;
  double low[3], length[3], scale[3]; /* length: of the period; 0 in open space */
  int cells[3];
  int64_t all;     /* cells; after them one of the points that are in none */
  pairs_point *at; /* a's points, or all of b's, by cell */
  int64_t *first;  /* of every cell, and one more */
} grid;

static bool finite_point(pairs_point p) {
  return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

static int cell_along(const grid *g, double x, int axis) {
  const int cells = g->cells[axis];
  int at = (int)floor((x - g->low[axis]) * g->scale[axis]);
  if (g->length[axis] > 0) return ((at % cells) + cells) % cells;
  if (at < 0) at = 0;
  return at < cells ? at : cells - 1;
}

static int64_t cell_at(const grid *g, const int at[3]) {
  return ((int64_t)at[0] * g->cells[1] + at[1]) * g->cells[2] + at[2];
}

static int64_t cell_of(const grid *g, pairs_point p) {
  if (!finite_point(p)) return g->all;
  const int at[3] = {cell_along(g, p.x, 0), cell_along(g, p.y, 1), cell_along(g, p.z, 2)};
  return cell_at(g, at);
}

static void lay_cells(grid *g) {
  const pairs_problem *p = g->problem;
  for (int i = 0; i < 3; ++i) {
    g->length[i] = p->box.space == PAIRS_OPEN ? 0 : p->box.height[i];
    const double side = g->length[i] > 0 ? g->length[i] : p->extent[i];
    /* A little wider than the last edge, for roundings. */
    const double fit = floor(side / (1.001 * p->last));
    g->cells[i] = fit < MOST_CELLS ? (int)fit : MOST_CELLS;
    g->scale[i] = g->cells[i] / side;
  }
  g->all = (int64_t)g->cells[0] * g->cells[1] * g->cells[2];
}

static void find_low(grid *g, const void *data, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const pairs_point p = pairs_place_of(g->problem, data, i);
    if (!finite_point(p)) continue;
    g->low[0] = fmin(g->low[0], p.x);
    g->low[1] = fmin(g->low[1], p.y);
    g->low[2] = fmin(g->low[2], p.z);
  }
}

static void sort_points(grid *g, const void *data, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    g->first[cell_of(g, pairs_place_of(g->problem, data, i)) + 1] += 1;
  for (int64_t c = 0; c <= g->all; ++c) g->first[c + 1] += g->first[c];
  for (int64_t i = 0; i < n; ++i) { /* each cell's end comes down to its beginning */
    const pairs_point p = pairs_place_of(g->problem, data, i);
    g->at[--g->first[cell_of(g, p) + 1]] = p;
  }
  for (int64_t c = 0; c <= g->all; ++c) g->first[c] = g->first[c + 1];
  g->first[g->all + 1] = n;
}

/* The least square along one axis, over the images next to it. */
static double axis_square(double d, double length) {
  const double before = (d - length) * (d - length), after = (d + length) * (d + length);
  double least = d * d;
  if (before < least) least = before;
  if (after < least) least = after;
  return least;
}

static int64_t slot_of(const grid *g, double d2) {
  const pairs_problem *p = g->problem;
  if (isnan(d2)) return p->bins + PAIRS_NAN;
  if (d2 < g->thresholds[0]) return p->bins + PAIRS_BELOW;
  if (p->even) return (int64_t)(sqrt(d2) / p->width);
  int64_t under = 0, over = p->bins;
  while (over - under > 1) {
    const int64_t middle = (under + over) / 2;
    *(g->thresholds[middle] <= d2 ? &under : &over) = middle;
  }
  return under;
}

/* A point with those of a cell that come after place `own`. */
static void count_cell(const grid *g, pairs_point p, int64_t own, int64_t cell, int64_t *slots) {
  const double largest = g->thresholds[g->problem->bins];
  const bool open = g->problem->box.space == PAIRS_OPEN;
  for (int64_t k = g->first[cell] > own ? g->first[cell] : own + 1; k < g->first[cell + 1]; ++k) {
    const double dx = p.x - g->at[k].x, dy = p.y - g->at[k].y, dz = p.z - g->at[k].z;
    const double d2 = open ? pairs_square_open(dx, dy, dz)
                           : (axis_square(dx, g->length[0]) + axis_square(dy, g->length[1])) +
                                 axis_square(dz, g->length[2]);
    if (!(d2 >= largest)) slots[slot_of(g, d2)] += 1; /* above: what is left of all */
  }
}

static void count_around(const grid *g, pairs_point p, int64_t own, int64_t *slots) {
  const int home[3] = {cell_along(g, p.x, 0), cell_along(g, p.y, 1), cell_along(g, p.z, 2)};
  for (int n = 0; n < 27; ++n) {
    int at[3] = {home[0] + n / 9 - 1, home[1] + n / 3 % 3 - 1, home[2] + n % 3 - 1};
    bool there = true;
    for (int i = 0; i < 3; ++i) {
      if (g->length[i] > 0) at[i] = (at[i] + g->cells[i]) % g->cells[i];
      there = there && at[i] >= 0 && at[i] < g->cells[i];
    }
    if (there) count_cell(g, p, own, cell_at(g, at), slots);
  }
}

/* Points of a; of one set in the order of cells, each with those after it. */
static void count_all(const grid *g, const void *data, int64_t n, int64_t *slots) {
  const pairs_problem *problem = g->problem;
  for (int64_t i = 0; i < n; ++i) {
    const pairs_point p = problem->cross ? pairs_place_of(problem, data, i) : g->at[i];
    const int64_t own = problem->cross ? -1 : i;
    if (finite_point(p))
      count_around(g, p, own, slots);
    else
      for (int64_t c = 0; c < g->all; ++c) count_cell(g, p, own, c, slots);
    count_cell(g, p, own, g->all, slots);
  }
  int64_t others = 0;
  for (int k = 0; k < problem->bins + PAIRS_OUTER; ++k) others += slots[k];
  slots[problem->bins + PAIRS_ABOVE] = pairs_all(problem) - others;
}

bool pairs_reference_grid(const pairs_problem *problem, const rung_view *arrays, int64_t *slots) {
  const void *a = arrays[PAIRS_A].data, *b = arrays[problem->cross ? PAIRS_B : PAIRS_A].data;
  const int64_t others = problem->cross ? problem->m : problem->n;
  grid g = {.problem = problem,
            .thresholds = (const double *)arrays[PAIRS_THRESHOLDS].data,
            .low = {0, 0, 0}};
  lay_cells(&g);
  if (problem->box.space == PAIRS_OPEN) {
    g.low[0] = g.low[1] = g.low[2] = (double)INFINITY;
    find_low(&g, a, problem->n);
    find_low(&g, b, others);
  }
  g.at = (pairs_point *)malloc((size_t)(others + 1) * sizeof *g.at);
  g.first = (int64_t *)calloc((size_t)g.all + 3, sizeof *g.first);
  const bool room = g.at != NULL && g.first != NULL;
  if (room) {
    memset(slots, 0, (size_t)(problem->bins + PAIRS_OUTER) * sizeof *slots);
    sort_points(&g, b, others);
    count_all(&g, a, problem->n, slots);
  }
  free(g.at);
  free(g.first);
  return room;
}
