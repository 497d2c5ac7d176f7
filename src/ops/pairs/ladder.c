/* The rungs of pairs, and their scratch. */
#include <inttypes.h>
#include <stdio.h>

#include "core/prefer.h"
#include "ops/pairs/cpu/grid.h"
#include "ops/pairs/cuda/exact32.h"
#include "ops/pairs/space.h"
#include "ops/pairs/sums.h"

RUNG_CPU_DECLARE(pairs_serial);
RUNG_CPU_DECLARE(pairs_lanes);
RUNG_CPU_DECLARE(pairs_threads);
RUNG_CPU_DECLARE(pairs_cells);

static const pairs_problem *problem_of(const rung_task *task) {
  return (const pairs_problem *)task->problem;
}

/* ---- scratch ----------------------------------------------------------------------------------
 */

static size_t serial_scratch(const rung_task *task) {
  const pairs_problem *p = problem_of(task);
  return (size_t)(p->cross ? p->m : p->n) * sizeof(pairs_point) +
         (p->weighted ? (size_t)p->bins * sizeof(pairs_sum) : 0);
}

static size_t lanes_scratch(const rung_task *task) {
  pairs_work work;
  return pairs_lay_out(problem_of(task), 1, false, NULL, &work);
}

static size_t threads_scratch(const rung_task *task) {
  const pairs_problem *p = problem_of(task);
  pairs_work work;
  return pairs_lay_out(p, pairs_threads(p, task->device), false, NULL, &work);
}

static size_t cpu_cells_scratch(const rung_task *task) {
  const pairs_problem *p = problem_of(task);
  pairs_work work;
  return pairs_lay_out(p, pairs_threads(p, task->device), true, NULL, &work);
}

static size_t all_scratch(const rung_task *task) {
  return pairs_all_bytes(problem_of(task));
}

static size_t gpu_cells_scratch(const rung_task *task) {
  pairs_grid grid;
  return pairs_grid_cut(problem_of(task), &grid) ? pairs_cells_bytes(problem_of(task), &grid) : 0;
}

/* ---- what GPU rungs cannot do -------------------------------------------------------------------
 */

static bool counts_only(const rung_task *task, char why[RUNG_REASON]) {
  const pairs_problem *p = problem_of(task);
  if (!p->weighted && !p->excluding) return true;
  snprintf(why, RUNG_REASON, "it knows no %s; expected: rung \"tiled\"",
           p->weighted ? "weights" : "molecules");
  return false;
}

static bool fits(const rung_task *task, pairs_keeps keeps, char why[RUNG_REASON]) {
  const int64_t bytes = (int64_t)pairs_plan_of(task, keeps).bytes;
  if (bytes <= task->device->shared_bytes) return true;
  snprintf(why, RUNG_REASON,
           "%d bins and %d threads take %" PRId64
           " bytes of shared memory, and a block has %" PRId64 "; expected: rung \"tiled\"",
           problem_of(task)->bins, pairs_block(task), bytes, task->device->shared_bytes);
  return false;
}

static bool table_fits(const rung_task *task, char why[RUNG_REASON]) {
  return counts_only(task, why) && fits(task, (pairs_keeps){.table = true}, why);
}

static bool tile_fits(const rung_task *task, char why[RUNG_REASON]) {
  return fits(task, (pairs_keeps){.points = true, .table = true}, why);
}

static bool lanes_fit(const rung_task *task, char why[RUNG_REASON]) {
  return counts_only(task, why) &&
         fits(task, (pairs_keeps){.points = true, .table = true, .lanes = true}, why);
}

static size_t exact32_scratch(const rung_task *task) {
  return pairs_exact_bytes(problem_of(task));
}

static size_t exact32_zeros(const rung_task *task) {
  return pairs_exact_zeros(problem_of(task));
}

enum { EXACT32_BINS = (1 << 14) - 3 };

static bool exact32_can(const rung_task *task, char why[RUNG_REASON]) {
  const pairs_problem *p = problem_of(task);
  const char *other = p->bins < 4096 ? "tiled-privatised" : "tiled";
  if (!counts_only(task, why)) return false;
  const int64_t bytes = (int64_t)pairs_exact_way_of(p).shared + PAIRS_EXACT_STATIC;
  if (!((p->even ? p->width : p->last) >= 1e-140 && p->last <= 1e140))
    snprintf(why, RUNG_REASON,
             "squares of %.6g might under- or overflow in double; expected: rung \"%s\"", p->last,
             other);
  else if (p->bins > EXACT32_BINS)
    snprintf(why, RUNG_REASON, "%d bins are too many; expected: %d, or rung \"%s\"", p->bins,
             EXACT32_BINS, other);
  else if (bytes > task->device->shared_bytes)
    snprintf(why, RUNG_REASON,
             "%d bins take %" PRId64 " bytes of shared memory, and a block has %" PRId64
             "; expected: rung \"%s\"",
             p->bins, bytes, task->device->shared_bytes, other);
  else
    return true;
  return false;
}

/* Few pairs, of which most of the time goes into clearing tables and adding them up: `shuffle` has
 * the smallest, and no tile of points to wait for. */
static bool tables_pay(const rung_task *task) {
  char why[RUNG_REASON];
  return pairs_number(problem_of(task)) >= 0x1p22 || !table_fits(task, why);
}

/* What a point has within the last edge, if points are evenly spread. */
static double neighbours(const pairs_problem *p) {
  const double *extent = pairs_cut_extent(p);
  double share = 4.19;
  for (int i = 0; i < 3; i++) share *= p->last / fmax(extent[i], p->last);
  return share * (double)(p->cross ? p->m : p->n);
}

/* In a box sorted tiles of few points are so wide that many images of each are in reach. In one
 * that leans the other rungs look for the nearest image pair by pair, wherever there may be another
 * one. A tile of a has 512 points. */
static bool exact32_pays(const rung_task *task) {
  const pairs_problem *p = problem_of(task);
  const double pairs = pairs_number(p);
  if (p->box.space == PAIRS_OPEN && p->even && !p->cross) return p->n >= 32;
  if (p->box.space == PAIRS_OPEN)
    return (pairs >= 0x1p22 || p->bins > 24) && (p->n >= 384 || pairs >= 0x1p24);
  return pairs >=
         (p->box.space == PAIRS_TRICLINIC && 3 * p->last > p->box.height[0] ? 0x1p23 : 0x1p30);
}

/* Microseconds on an H200: seven kernels that sort, and walks over a point's neighbours, against a
 * look at every pair. */
static bool cells_pay(const rung_task *task) {
  static const double each[] = {
      [PAIRS_OPEN] = 0.9e-6, [PAIRS_RECTANGULAR] = 2.9e-6, [PAIRS_TRICLINIC] = 4.8e-6};
  const pairs_problem *p = problem_of(task);
  const double walks = 36 + 0.6 * neighbours(p);
  char why[RUNG_REASON];
  return !counts_only(task, why) || pairs_number(p) * each[p->box.space] >
                                        (p->box.space == PAIRS_TRICLINIC ? 1.5 * walks : walks);
}

static bool no_cells(const pairs_problem *p, const char *other, char why[RUNG_REASON]) {
  const bool box = p->box.space != PAIRS_OPEN;
  const double *extent = pairs_cut_extent(p);
  if (!box && !p->known)
    snprintf(
        why, RUNG_REASON,
        "it must know how far points reach, and they are in a GPU's memory or reach beyond all "
        "numbers; expected: rung \"%s\"",
        other);
  else
    snprintf(
        why, RUNG_REASON,
        "it needs cells as wide as the last edge, %s; %.6g is too much for %s of %.6g x %.6g x "
        "%.6g; expected: rung \"%s\"",
        box ? "3 along every vector of the box" : "27 in all", p->last,
        box ? "a box" : "points in a space", extent[0], extent[1], extent[2], other);
  return false;
}

static bool has_cells(const rung_task *task, char why[RUNG_REASON]) {
  pairs_grid grid;
  return pairs_grid_cut(problem_of(task), &grid) || no_cells(problem_of(task), "tiled", why);
}

static bool has_cpu_cells(const rung_task *task, char why[RUNG_REASON]) {
  const pairs_problem *p = problem_of(task);
  pairs_cut cut;
  return ((p->box.space != PAIRS_OPEN || p->known) && pairs_cut_of(p, pairs_cut_extent(p), &cut)) ||
         no_cells(p, "threads", why);
}

/* ---- the table ----------------------------------------------------------------------------------
 */

/* Counts are made in 64 bits. */
#define PAIRS_TYPES \
  { RUNG_SINGLE_DOUBLE, RUNG_TYPE(RUNG_U64), RUNG_TYPE(RUNG_I64) | RUNG_TYPE(RUNG_U64) }
#define ON_CPU .family = RUNG_ON_CPU, .order = RUNG_CANONICAL, .types = PAIRS_TYPES
#define ON_GPU \
  .family = RUNG_ON_GPU, .order = RUNG_CANONICAL, .types = PAIRS_TYPES, .capability = 75

static const int gpu_blocks[] = {PAIRS_BLOCK, 32, 64, 256, 512, 1024, 0};

static rung_row rows[] = {
    {ON_CPU, .name = "serial", .idea = "the textbook: one pair after the other, a root each",
     .scratch_bytes = serial_scratch, .launch = RUNG_CPU_ENTRIES(pairs_serial)},
    {ON_CPU, .name = "lanes",
     .idea = "tiles of neighbours: few thresholds lie between their distances, compared in lanes",
     .scratch_bytes = lanes_scratch, .launch = RUNG_CPU_ENTRIES(pairs_lanes)},
    {ON_CPU, .name = "threads", .idea = "tables for every thread, added up at the end",
     .scratch_bytes = threads_scratch, .launch = RUNG_CPU_ENTRIES(pairs_threads)},
    {ON_CPU, .name = "cells",
     .idea = "a cut-off: points sorted into cells, each against those of cells in reach",
     .supports = has_cpu_cells, .scratch_bytes = cpu_cells_scratch,
     .launch = RUNG_CPU_ENTRIES(pairs_cells)},
    {ON_GPU, .name = "naive", .blocks = gpu_blocks,
     .idea = "the textbook: a thread a point, every pair an addition to the result",
     .scratch_bytes = all_scratch},
    {ON_GPU, .name = "privatised", .blocks = gpu_blocks,
     .idea = "a table a block in shared memory, added to the result at the end",
     .supports = table_fits, .scratch_bytes = all_scratch},
    {ON_GPU, .name = "tiled", .blocks = gpu_blocks,
     .idea = "a tile of points in shared memory against one in registers",
     .scratch_bytes = all_scratch},
    {ON_GPU, .name = "shuffle", .blocks = gpu_blocks,
     .idea = "both tiles in registers, one passed around the warp", .supports = table_fits,
     .scratch_bytes = all_scratch},
    {ON_GPU, .name = "lane", .blocks = gpu_blocks,
     .idea = "copies of every counter by lane, as far as there is room", .supports = lanes_fit,
     .pays = tables_pay, .scratch_bytes = all_scratch},
    {ON_GPU, .name = "tiled-privatised", .blocks = gpu_blocks,
     .idea = "both: points and the table in shared memory", .supports = tile_fits,
     .pays = tables_pay, .scratch_bytes = all_scratch},
    {ON_GPU, .name = "exact32",
     .idea = "sorted tiles in single precision, double only near an edge: the same counts",
     .supports = exact32_can, .pays = exact32_pays, .scratch_bytes = exact32_scratch,
     .zeroed_bytes = exact32_zeros},
    {ON_GPU, .name = "cells", .blocks = gpu_blocks,
     .idea = "a cut-off: points sorted into cells, each against those around it",
     .supports = has_cells, .pays = cells_pay, .scratch_bytes = gpu_cells_scratch},
};

/* How many cut-offs long the box or the points are: what cells are good for. */
static int64_t cut_offs(const pairs_problem *p) {
  double longest = 0;
  for (int i = 0; i < 3; i++) {
    const double length = p->box.space == PAIRS_OPEN ? p->extent[i] : p->box.height[i];
    if (length > longest) longest = length;
  }
  const double times = longest / p->last;
  return times > 0 && times < 1e9 ? (int64_t)times : 0;
}

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  static const char *const spaces[] = {
      [PAIRS_OPEN] = "open", [PAIRS_RECTANGULAR] = "rectangular", [PAIRS_TRICLINIC] = "triclinic"};
  const pairs_problem *p = problem;
  char n[8], m[8], bins[8], reach[8];
  snprintf(text, RUNG_CLASS, "%s %s%s%s%s%s n=%s m=%s bins=%s length=%s", spaces[p->box.space],
           rung_dtype_name(p->dtype), p->cross ? " cross" : "", p->weighted ? " weighted" : "",
           p->excluding ? " excluding" : "", p->even ? " even" : "", rung_power(p->n, n),
           rung_power(p->m, m), rung_power(p->bins, bins), rung_power(cut_offs(p), reach));
}

const rung_operation pairs_operation = {
    .name = "pairs",
    .summary = "histograms of the distances of points, in open space or a periodic box",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .class_of = class_of,
};
