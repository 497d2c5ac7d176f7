/* The rungs of scan, and their scratch. */
#include <stdio.h>
#include <string.h>

#include "core/prefer.h"
#include "ops/scan/scan.h"

RUNG_CPU_DECLARE(scan_serial);
RUNG_CPU_DECLARE(scan_tiles);
RUNG_CPU_DECLARE(scan_threads);
RUNG_CPU_DECLARE(scan_across);

/* ---- scratch ----------------------------------------------------------------------------------
 */

static const scan_problem *problem_of(const rung_task *task) {
  return (const scan_problem *)task->problem;
}

/* Aggregates of a line, where it has more than one tile. */
static size_t aggregates_of(const rung_task *task) {
  const int64_t tiles = scan_tiles(problem_of(task)->columns);
  return tiles > 1 ? (size_t)scan_aggregates(tiles) : 0;
}

static size_t a_line_scratch(const rung_task *task) {
  return aggregates_of(task) * (size_t)scan_number_bytes(problem_of(task));
}

static size_t all_lines_scratch(const rung_task *task) {
  return (size_t)problem_of(task)->lines * a_line_scratch(task);
}

/* Of one line after the other; but who is asked for their aggregates finds those of all at once. */
static size_t one_line_scratch(const rung_task *task) {
  return problem_of(task)->aggregates ? all_lines_scratch(task) : a_line_scratch(task);
}

static size_t aggregates_scratch(const rung_task *task) {
  return problem_of(task)->aggregates ? all_lines_scratch(task) : 0;
}

/* With a flag of a byte for each. */
static size_t threads_scratch(const rung_task *task) {
  return all_lines_scratch(task) + (size_t)problem_of(task)->lines * aggregates_of(task);
}

/* A strip of lines side by side for every thread, with flags; or its tile, and all lines'
 * aggregates with flags. */
static size_t across_scratch(const rung_task *task) {
  const scan_problem *problem = problem_of(task);
  const size_t threads = (size_t)task->device->threads;
  const int64_t vectors = problem->inner * scan_number_bytes(problem) / 64 + 2;
  const size_t strip = 64 * (size_t)(vectors < SCAN_STRIP_LEAST     ? SCAN_STRIP_LEAST
                                     : vectors > SCAN_STRIP_VECTORS ? SCAN_STRIP_VECTORS
                                                                    : vectors);
  const size_t strips = threads * aggregates_of(task) * (strip + 1);
  const size_t tile = SCAN_TILE * rung_dtype_bytes(problem->dtype);
  if (problem->columns < SCAN_LONG || problem->inner >= SCAN_MOST_LANES) return strips;
  const size_t few = threads * tile + threads_scratch(task);
  return few > strips ? few : strips;
}

/* With half of every word for its flag, and two counters. */
static size_t queue_zeros(const rung_task *task) {
  const size_t bytes = all_lines_scratch(task);
  return bytes == 0 || problem_of(task)->aggregates ? 0 : 8 * SCAN_COUNTER_WORDS + 2 * bytes;
}

/* Totals of the parts of `size` elements, and of those totals' parts, until there is one part. */
static size_t parts_scratch(const rung_task *task, int64_t size) {
  const scan_problem *problem = problem_of(task);
  size_t bytes = 0;
  for (int64_t n = problem->columns; n > size;) {
    n = (n + size - 1) / size;
    bytes += (size_t)(problem->lines * n * scan_number_bytes(problem));
  }
  return bytes;
}

/* An element a thread. */
static size_t steps_scratch(const rung_task *task) {
  return parts_scratch(task, scan_block_of(task));
}

static size_t warp_scratch(const rung_task *task) {
  const int64_t warps = scan_block_of(task) / 32;
  return parts_scratch(task, 32 * (warps < 1 ? 1 : warps));
}

static size_t blelloch_scratch(const rung_task *task) {
  return parts_scratch(task, 2 * scan_block_of(task));
}

/* ---- what rungs cannot do -----------------------------------------------------------------------
 */

static bool takes_rows(const rung_task *task, char why[RUNG_REASON]) {
  if (!problem_of(task)->across) return true;
  snprintf(why, RUNG_REASON,
           "it takes lines without gaps, and here an element's neighbours in memory belong to "
           "other lines; expected: rung \"across\"");
  return false;
}

static bool takes_across(const rung_task *task, char why[RUNG_REASON]) {
  if (problem_of(task)->across) return true;
  snprintf(why, RUNG_REASON,
           "it takes lines that lie side by side, and here an element's neighbours in memory are "
           "its line's, or nobody's; expected: rung \"%s\"",
           task->device->kind == RUNG_CPU ? "threads" : "single-pass");
  return false;
}

/* For rungs that do not know of ranges. */
static bool takes_lines(const rung_task *task, char why[RUNG_REASON]) {
  if (!takes_rows(task, why)) return false;
  if (!problem_of(task)->range && !problem_of(task)->aggregates) return true;
  snprintf(why, RUNG_REASON,
           "the line is cut for want of memory, and it takes whole lines only; expected: rung "
           "\"%s\"",
           task->device->kind == RUNG_CPU ? "threads" : "tiles");
  return false;
}

/* Longer ones are more than a warp. */
static bool takes_short_lines(const rung_task *task, char why[RUNG_REASON]) {
  if (!takes_lines(task, why)) return false;
  if (problem_of(task)->columns <= SCAN_BAND) return true;
  snprintf(why, RUNG_REASON,
           "a warp takes whole lines, and here a line has %lld elements; expected: at most %d",
           (long long)problem_of(task)->columns, SCAN_BAND);
  return false;
}

/* A part of one element would never come to an end. */
static bool takes_block(const rung_task *task, char why[RUNG_REASON]) {
  if (!takes_lines(task, why)) return false;
  if (task->block != 1) return true;
  snprintf(why, RUNG_REASON,
           "it scans blocks of threads, and the block is 1; expected: 2 ... 1024");
  return false;
}

static bool takes_halves(const rung_task *task, char why[RUNG_REASON]) {
  const int64_t block = scan_block_of(task);
  if (!takes_lines(task, why)) return false;
  if ((block & (block - 1)) == 0) return true;
  snprintf(why, RUNG_REASON,
           "its tree is of a power of two, and the block is %d; expected: 1, 2, 4 ... 1024",
           (int)block);
  return false;
}

/* ---- what `auto` leaves alone -------------------------------------------------------------------
 */

/* Waking a thread takes as long as 2^15 elements do: on two cores of a Zen 5, caches cold, these
 * took 9 us by one and by two, twice as many 17 and 13 to 15. */
static bool threads_pay(const rung_task *task) {
  return problem_of(task)->lines * problem_of(task)->columns > 1 << 15;
}

/* Measured on an H200: where there is nothing to wait for, the kernel that knows of no waiting is
 * up to 9 % faster. */
static bool single_pass_pays(const rung_task *task) {
  return problem_of(task)->lines != 1 || problem_of(task)->columns > SCAN_TILE;
}

/* A warp alone, with all of a line: 5.7 us where a block takes 4.0. */
static bool lines_pay(const rung_task *task) {
  return problem_of(task)->lines != 1;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

#define ON_CPU .family = RUNG_ON_CPU, .types = RUNG_ALIKE(SCAN_DTYPES), .in_place = true
#define ON_GPU .family = RUNG_ON_GPU, .capability = 75, .in_place = true
/* What their steps leave in `out` they read again: it has to hold it. */
#define STEPS \
  ON_GPU, .order = RUNG_TEXTBOOK, .types = RUNG_ALIKE(SCAN_WIDE_DTYPES), .blocks = step_blocks
#define TILES ON_GPU, .order = RUNG_CANONICAL, .types = RUNG_ALIKE(SCAN_DTYPES)

static const int step_blocks[] = {256, 32, 64, 128, 512, 1024, 0};

static rung_row rows[] = {
    {ON_CPU, .name = "serial", .order = RUNG_TEXTBOOK,
     .idea = "the textbook: one running result a line", .supports = takes_lines,
     .launch = RUNG_CPU_ENTRIES(scan_serial)},
    {ON_CPU, .name = "tiles", .order = RUNG_CANONICAL,
     .idea =
         "prefixes of 32 groups at once in vector registers, a tile's totals before its results",
     .supports = takes_rows, .scratch_bytes = one_line_scratch,
     .launch = RUNG_CPU_ENTRIES(scan_tiles)},
    {ON_CPU, .name = "threads", .order = RUNG_CANONICAL,
     .idea = "tiles shared out to all cores, one pass over memory", .supports = takes_rows,
     .pays = threads_pay, .scratch_bytes = threads_scratch,
     .launch = RUNG_CPU_ENTRIES(scan_threads)},
    {ON_CPU, .name = "across", .order = RUNG_CANONICAL,
     .idea = "lines side by side stay so: a lane of a vector a line, a block of columns in cache",
     .supports = takes_across, .scratch_bytes = across_scratch,
     .launch = RUNG_CPU_ENTRIES(scan_across)},
    {STEPS, .name = "double-buffered",
     .idea = "the textbook: Hillis and Steele's steps between two buffers, few and full of work",
     .supports = takes_block, .scratch_bytes = steps_scratch},
    {STEPS, .name = "blelloch",
     .idea = "up a tree and down again: two additions an element, however long the block",
     .supports = takes_halves, .scratch_bytes = blelloch_scratch},
    {STEPS, .name = "blelloch-padded",
     .idea = "an empty place every 128 bytes: the tree's strides miss one another's banks",
     .supports = takes_halves, .scratch_bytes = blelloch_scratch},
    {STEPS, .name = "warp",
     .idea = "warps scan in registers; shared memory holds one number a warp",
     .supports = takes_lines, .scratch_bytes = warp_scratch},
    {TILES, .name = "tiles",
     .idea = "a block a tile of 8192 elements, 32 a thread in registers; totals, prefixes, results",
     .supports = takes_rows, .scratch_bytes = all_lines_scratch},
    {TILES, .name = "single-pass",
     .idea = "one pass over memory: a tile waits in shared memory for the totals before it",
     .supports = takes_rows, .pays = single_pass_pays, .scratch_bytes = aggregates_scratch,
     .zeroed_bytes = queue_zeros},
    {TILES, .name = "lines",
     .idea = "short lines: as many a warp as its lanes hold, no lane idle; no flags, no barrier",
     .supports = takes_short_lines, .pays = lines_pay},
    {TILES, .name = "across",
     .idea =
         "lines side by side stay so: a lane scans a row of a line in its registers, and a warp's "
         "lines are neighbours",
     .supports = takes_across, .scratch_bytes = all_lines_scratch},
};

bool scan_takes_across(const char *rung) {
  if (rung_takes_any(rung)) return true;
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
    if (strcmp(rows[k].name, rung) == 0) return rows[k].supports == takes_across;
  return true;
}

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  static const char *const names[] = {[RUNG_SUM] = "sum", [RUNG_MIN] = "min", [RUNG_MAX] = "max"};
  const scan_problem *p = problem;
  char lines[8], columns[8], inner[8];
  snprintf(text, RUNG_CLASS, "%s %s%s%s lines=%s n=%s inner=%s", names[p->what],
           rung_dtype_name(p->dtype), p->exclusive ? " exclusive" : "", p->across ? " across" : "",
           rung_power(p->lines, lines), rung_power(p->columns, columns),
           rung_power(p->inner, inner));
}

const rung_operation scan_operation = {
    .name = "scan",
    .summary = "prefix sums, minima or maxima along an axis",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .class_of = class_of,
};
