/* The stencil's rungs, one row each, from the simplest to the fastest of a family. */
#include <stdio.h>

#include "core/prefer.h"
#include "ops/stencil/composed.h"
#include "ops/stencil/cpu/cpu.h"
#include "ops/stencil/cuda/cuda.h"
#include "ops/stencil/stencil.h"

static const stencil_problem *problem_of(const rung_task *task) {
  return task->problem;
}

/* ---- CPU ------------------------------------------------------------------------------------ */

enum { PANEL_COLUMNS = 1 << 20 };

static size_t grid_scratch(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  return p->steps > 0 ? stencil_grid_bytes(p) : 0;
}

static size_t rowwise_scratch(const rung_task *task) {
  return 2 * (size_t)task->device->threads * stencil_row_bytes(problem_of(task));
}

static size_t panel_scratch(const rung_task *task) {
  return (size_t)task->device->threads * stencil_panel_bytes(problem_of(task));
}

/* The short rows; then the panels of their steps or those of the filter, one after the other. */
static size_t composed_scratch(const rung_task *task) {
  const stencil_problem *p = problem_of(task), ends = stencil_ends_problem(p);
  const size_t steps = stencil_panel_bytes(&ends), filter = stencil_cells_bytes(p);
  return stencil_grid_bytes(&ends) +
         (size_t)task->device->threads * (steps > filter ? steps : filter);
}

static bool panel_supports(const rung_task *task, char why[RUNG_REASON]) {
  const int64_t columns = problem_of(task)->columns;
  if (columns <= PANEL_COLUMNS) return true;
  snprintf(why, RUNG_REASON,
           "a panel of %lld columns is far larger than the cache; rows of at most %d do, and "
           "`rowwise` takes any",
           (long long)columns, PANEL_COLUMNS);
  return false;
}

static bool composed_supports(const rung_task *task, char why[RUNG_REASON]) {
  stencil_filter filter;
  return panel_supports(task, why) && stencil_compose(problem_of(task), &filter, why);
}

/* ---- GPU ------------------------------------------------------------------------------------ */

static const int block_sizes[] = {64, 32, 128, 256, 512, 1024, 0};

static bool array_supports(const rung_task *task, char why[RUNG_REASON]) {
  if (!problem_of(task)->start.own) return true;
  snprintf(why, RUNG_REASON,
           "it takes its start from an array; `selfstart` and the rungs above make it themselves");
  return false;
}

static bool onchip_supports(const rung_task *task, char why[RUNG_REASON]) {
  const stencil_problem *p = problem_of(task);
  int64_t most = 0;
  if (p->radius > STENCIL_ONCHIP_RADIUS) {
    snprintf(why, RUNG_REASON, "the radius is %d; it is made for 1 ... %d", p->radius,
             STENCIL_ONCHIP_RADIUS);
    return false;
  }
  if (stencil_onchip_fits(p, task->device, &most)) return true;
  snprintf(why, RUNG_REASON,
           "a row of %lld %s does not fit in one multiprocessor; rows of at most %lld do",
           (long long)p->columns, rung_dtype_name(p->dtype), (long long)most);
  return false;
}

static size_t overlapped_scratch(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  return stencil_overlap_of(p, task->device).passes > 1 ? stencil_grid_bytes(p) : 0;
}

/* Whether every row begins where two floats can be loaded at once. */
static bool rows_are_even(const rung_view *view) {
  return (uintptr_t)view->data % 8 == 0 && view->stride[0] % 2 == 0;
}

/* One or two steps of rows that are not short: `reciprocal`, which fills the GPU whatever the
 * shape, is at the speed of memory. Floats it loads and stores by twos, or takes twice as long; and
 * it knows no means, which take a pass of their own then. */
static bool reciprocal_is_ahead(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  const bool wide = p->dtype == RUNG_F64, far = p->radius > STENCIL_ONCHIP_RADIUS;
  const rung_view *in = &task->arrays[STENCIL_IN], *out = &task->arrays[STENCIL_OUT];
  if (task->arrays[STENCIL_MEANS].count > 0) return false;
  if (!wide && !(rows_are_even(in) && rows_are_even(out))) return false;
  if (p->steps == 1) return p->columns >= (wide || far ? 200 : 300);
  return p->steps == 2 && p->columns >= 1000 && (far || p->columns <= 2048);
}

/* Where a multiprocessor holds a row, `onchip` is ahead of `overlapped` but where blocks are large
 * and few, or the row's ends must be looked up at every step: as 4746 jobs on an H200 have it
 * (docs/results/h200/stencil-choice.csv). */
static bool overlapped_is_ahead(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  const bool wide = p->dtype == RUNG_F64, moves = stencil_onchip_moves(p);
  const int64_t carried = p->steps > 64 ? 65 : p->steps * p->radius;
  if (p->steps == 1 || stencil_onchip_shape_of(p).snug) return false;
  if (p->columns <= 2048)
    return moves && p->edge == RUNG_EDGE_CONSTANT && carried >= 32 && (!wide || carried <= 64);
  if (!wide) return moves && p->steps >= 12;
  return carried <= 64 || (moves && p->columns > 4096 &&
                           (p->edge == RUNG_EDGE_WRAP || p->edge == RUNG_EDGE_CONSTANT));
}

static bool onchip_pays(const rung_task *task) {
  return !reciprocal_is_ahead(task);
}

static bool overlapped_pays(const rung_task *task) {
  char why[RUNG_REASON];
  if (reciprocal_is_ahead(task)) return false;
  if (onchip_supports(task, why)) return overlapped_is_ahead(task);
  return problem_of(task)->steps > 1 || problem_of(task)->columns < 200;
}

static bool short_supports(const rung_task *task, char why[RUNG_REASON]) {
  const int64_t columns = problem_of(task)->columns;
  if (columns <= STENCIL_SHORT_COLUMNS) return true;
  snprintf(why, RUNG_REASON, "a block takes whole rows, of at most %d columns, and here are %lld",
           STENCIL_SHORT_COLUMNS, (long long)columns);
  return false;
}

/* Rows of up to 16 columns, where there are enough of them for all multiprocessors; longer ones
 * where they fill these eight times over, and up to 110 where steps are few or ask for what the
 * rungs above have not got: by 2080 jobs on an H200 (docs/results/h200/stencil-short.csv). */
static bool short_pays(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  const bool far = p->radius > STENCIL_ONCHIP_RADIUS, few = p->steps <= 4 && p->radius <= 2;
  if (p->columns <= 16) return p->rows >= 2000;
  if (p->columns > 110 || p->rows < (1 << 20) / p->columns) return false;
  return p->columns <= 48 || p->steps <= 1 || few || (far && p->edge != RUNG_EDGE_CONSTANT);
}

static bool composed_gpu_supports(const rung_task *task, char why[RUNG_REASON]) {
  stencil_filter filter;
  if (!stencil_compose(problem_of(task), &filter, why)) return false;
  const stencil_problem ends = stencil_ends_problem(problem_of(task));
  rung_task short_task;
  stencil_ends_task(task, &ends, NULL, 0, &short_task);
  return onchip_supports(&short_task, why); /* it takes the steps of the rows' ends */
}

static size_t composed_gpu_scratch(const rung_task *task) {
  const stencil_problem ends = stencil_ends_problem(problem_of(task));
  return stencil_grid_bytes(&ends);
}

/* A row that leaves a second-level cache is read again and again, as the whole grid is by the rungs
 * below, but by one thread. */
static bool rowwise_pays(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  const int64_t bytes = p->columns * (int64_t)rung_dtype_bytes(p->dtype);
  return p->steps > (bytes <= 1 << 20 ? 1 : 8);
}

/* Turning rows costs as much as a few steps, which hides behind memory but not in a cache. */
static bool panel_pays(const rung_task *task) {
  const stencil_problem *p = problem_of(task);
  const double bytes =
      2. * (double)p->rows * (double)p->columns * (double)rung_dtype_bytes(p->dtype);
  return p->steps > 4 || bytes > (double)task->device->cache_bytes / 2;
}

#define ON_CPU .family = RUNG_ON_CPU, .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE)
#define ON_GPU .family = RUNG_ON_GPU, .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE), .capability = 75
#define SWEPT ON_GPU, .blocks = block_sizes, .scratch_bytes = grid_scratch, .then = stencil_means

static rung_row rows[] = {
    {ON_CPU, .name = "sweep", .order = RUNG_TEXTBOOK, .in_place = true,
     .idea = "the textbook: one thread, step after step over the whole grid, a division a sum",
     .scratch_bytes = grid_scratch, .launch = RUNG_CPU_ENTRIES(stencil_sweep)},
    {ON_CPU, .name = "scaled", .order = RUNG_CANONICAL, .in_place = true,
     .idea = "weights divided once, before the first step; products fused with sums",
     .scratch_bytes = grid_scratch, .launch = RUNG_CPU_ENTRIES(stencil_scaled)},
    {ON_CPU, .name = "threads", .order = RUNG_CANONICAL, .in_place = true,
     .idea = "rows are independent: threads share them", .scratch_bytes = grid_scratch,
     .launch = RUNG_CPU_ENTRIES(stencil_threads)},
    {ON_CPU, .name = "rowwise", .order = RUNG_CANONICAL, .in_place = true,
     .idea = "all steps of a row while it is in the cache", .pays = rowwise_pays,
     .scratch_bytes = rowwise_scratch, .launch = RUNG_CPU_ENTRIES(stencil_rowwise)},
    {ON_CPU, .name = "panel", .order = RUNG_CANONICAL, .in_place = true,
     .idea = "a row in every vector lane, several steps pipelined in registers",
     .supports = panel_supports, .pays = panel_pays, .scratch_bytes = panel_scratch,
     .launch = RUNG_CPU_ENTRIES(stencil_panel)},
    {ON_CPU, .name = "composed", .order = RUNG_LOOSE, .in_place = true,
     .idea = "inside a row all steps are one filter; its negligible taps are cut",
     .supports = composed_supports, .scratch_bytes = composed_scratch,
     .launch = RUNG_CPU_ENTRIES(stencil_composed)},

    {SWEPT, .name = "global", .order = RUNG_TEXTBOOK,
     .idea = "a thread an element, a launch a step, every tap from global memory behind an if",
     .supports = array_supports},
    {SWEPT, .name = "window", .order = RUNG_TEXTBOOK,
     .idea = "a sliding window in registers: one new load an output", .supports = array_supports},
    {SWEPT, .name = "pairs", .order = RUNG_TEXTBOOK,
     .idea = "two columns a load and a store (float2, double2)", .supports = array_supports},
    {SWEPT, .name = "peeled", .order = RUNG_TEXTBOOK,
     .idea = "the row's ends handled apart: no if inside", .supports = array_supports},
    {SWEPT, .name = "selfstart", .order = RUNG_TEXTBOOK,
     .idea = "rows compute their own start: no copy to the device"},
    {SWEPT, .name = "reciprocal", .order = RUNG_CANONICAL,
     .idea = "weights divided once, on the host; products fused with sums"},
    {ON_GPU, .name = "onchip", .order = RUNG_CANONICAL, .in_place = true,
     .idea = "a whole row in registers for all steps; memory touched once",
     .supports = onchip_supports, .pays = onchip_pays},
    {ON_GPU, .name = "overlapped", .order = RUNG_CANONICAL,
     .idea = "rows in tiles that overlap by what the steps carry: any length, read once for many",
     .pays = overlapped_pays, .scratch_bytes = overlapped_scratch, .then = stencil_means},
    {ON_GPU, .name = "short-rows", .order = RUNG_CANONICAL, .in_place = true,
     .idea = "as many short rows as a block has threads for, all steps in its shared memory",
     .supports = short_supports, .pays = short_pays, .then = stencil_means},
    {ON_GPU, .name = "composed", .order = RUNG_LOOSE,
     .idea = "inside a row all steps are one filter; its negligible taps are cut",
     .supports = composed_gpu_supports, .scratch_bytes = composed_gpu_scratch,
     .then = stencil_means},
};

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  const stencil_problem *p = problem;
  char rows[8], columns[8], steps[8];
  snprintf(text, RUNG_CLASS, "%s rows=%s columns=%s steps=%s radius=%d edge=%d",
           rung_dtype_name(p->dtype), rung_power(p->rows, rows), rung_power(p->columns, columns),
           rung_power(p->steps, steps), p->radius, (int)p->edge);
}

const rung_operation stencil_operation = {
    .name = "stencil",
    .summary = "a weighted row stencil applied p times (the radiator's heat flow)",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .class_of = class_of,
};
