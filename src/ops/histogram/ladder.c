/* The rungs of histogram, and their scratch. */
#include <inttypes.h>
#include <stdio.h>

#include "core/prefer.h"
#include "ops/histogram/cuda/copies.h"
#include "ops/histogram/private.h"

RUNG_CPU_DECLARE(histogram_serial);
RUNG_CPU_DECLARE(histogram_private);
RUNG_CPU_DECLARE(histogram_threads);

static const histogram_problem *problem_of(const rung_task *task) {
  return (const histogram_problem *)task->problem;
}

/* ---- scratch ----------------------------------------------------------------------------------
 */

/* Counters of each of so many threads. */
static size_t tables_scratch(const histogram_problem *problem, int64_t threads) {
  const histogram_private p = histogram_private_of(problem, threads);
  return (size_t)(threads * histogram_counters(&p)) * sizeof(uint32_t);
}

static size_t private_scratch(const rung_task *task) {
  return histogram_guide_bytes(problem_of(task)) + tables_scratch(problem_of(task), 1);
}

static size_t threads_scratch(const rung_task *task) {
  const histogram_problem *problem = problem_of(task);
  return histogram_counted_bytes(problem, task->device) + histogram_guide_bytes(problem) +
         tables_scratch(problem, histogram_threads(problem, task->device));
}

/* The guide of a search, of as many cells as there are and one more. */
static size_t vector_scratch(const rung_task *task) {
  const histogram_problem *problem = problem_of(task);
  return histogram_has_guide(problem) ? (size_t)(problem->rule.cells + 1) * sizeof(uint32_t) : 0;
}

/* Of brief jobs whose rows are shared out: a row's counts so far, and of rows a counter of blocks.
 */
static size_t vector_zeros(const rung_task *task) {
  const histogram_problem *problem = problem_of(task);
  if (!histogram_is_brief(task) || histogram_brief_parts(problem) == 1) return 0;
  return (size_t)problem->rows * (size_t)(problem->rule.slots + 1) * sizeof(unsigned);
}

/* ---- what rungs cannot do -----------------------------------------------------------------------
 */

static bool tables_fit(const rung_task *task, int64_t tables, const char *each, const char *other,
                       char why[RUNG_REASON]) {
  const int64_t table = problem_of(task)->rule.slots * (int64_t)sizeof(uint32_t);
  if (table * tables <= task->device->shared_bytes) return true;
  snprintf(why, RUNG_REASON,
           "it keeps a table of %" PRId64 " bytes a %s in shared memory, %" PRId64
           " bytes in all, and a block has %" PRId64 "; expected: rung \"%s\"",
           table, each, table * tables, task->device->shared_bytes, other);
  return false;
}

static bool one_fits(const rung_task *task, char why[RUNG_REASON]) {
  return tables_fit(task, 1, "block", "vector", why);
}

static bool warps_fit(const rung_task *task, char why[RUNG_REASON]) {
  return tables_fit(task, histogram_warps(task), "warp", "replicated", why);
}

/* ---- what `auto` leaves alone -------------------------------------------------------------------
 */

/* What lies between: where a table fits, rung "shared" is ahead of them for few elements, and
 * "vector" for many. */
static bool between_pays(const rung_task *task) {
  char why[RUNG_REASON];
  return !one_fits(task, why);
}

/* ---- the table ----------------------------------------------------------------------------------
 */

static const int table_blocks[] = {256, 32, 64, 128, 512, 1024, 0};
static const int wide_blocks[] = {512, 128, 256, 1024, 0};

#define ON_CPU .family = RUNG_ON_CPU, .order = RUNG_CANONICAL, .types = HISTOGRAM_TYPES
#define ON_GPU \
  .family = RUNG_ON_GPU, .order = RUNG_CANONICAL, .types = HISTOGRAM_TYPES, .capability = 75

static rung_row rows[] = {
    {ON_CPU, .name = "serial", .idea = "the textbook: one table, one element at a time",
     .launch = RUNG_CPU_ENTRIES(histogram_serial)},
    {ON_CPU, .name = "private",
     .idea = "bins of a strip by vectors, then increments that go to several tables in turn",
     .scratch_bytes = private_scratch, .launch = RUNG_CPU_ENTRIES(histogram_private)},
    {ON_CPU, .name = "threads", .idea = "tables for every thread, added up at the end",
     .scratch_bytes = threads_scratch, .launch = RUNG_CPU_ENTRIES(histogram_threads)},
    {ON_GPU, .name = "global", .blocks = table_blocks,
     .idea = "the textbook: an atomic addition to the result for every element"},
    {ON_GPU, .name = "shared", .blocks = table_blocks,
     .idea = "a table a block in shared memory, added to the result at the end",
     .supports = one_fits},
    {ON_GPU, .name = "per-warp", .blocks = table_blocks,
     .idea = "a table a warp: only its own lanes can meet in a counter", .supports = warps_fit,
     .pays = between_pays},
    {ON_GPU, .name = "replicated", .blocks = table_blocks,
     .idea = "a copy of every counter for each lane, as far as they fit: banks of their own",
     .supports = one_fits, .pays = between_pays},
    {ON_GPU, .name = "aggregated", .blocks = table_blocks,
     .idea = "equal elements of a warp are found first, and one lane adds their number",
     .pays = between_pays},
    {ON_GPU, .name = "vector", .blocks = wide_blocks,
     .idea = "16 bytes a load, blocks that stay, the table by the number of bins, bytes by value",
     .scratch_bytes = vector_scratch, .zeroed_bytes = vector_zeros},
};

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  static const char *const names[] = {[RUNG_BINS_MODULO] = "modulo",
                                      [RUNG_BINS_EVEN] = "even",
                                      [RUNG_BINS_EDGES] = "edges",
                                      [RUNG_BINS_BYTES] = "bytes"};
  const histogram_problem *p = problem;
  char rows[8], columns[8], bins[8];
  snprintf(text, RUNG_CLASS, "%s %s rows=%s n=%s bins=%s", names[p->kind],
           rung_dtype_name(p->dtype), rung_power(p->rows, rows), rung_power(p->columns, columns),
           rung_power(p->rule.bins, bins));
}

const rung_operation histogram_operation = {
    .name = "histogram",
    .summary = "how many elements fall into each bin: modulo, even, given edges, bytes",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .class_of = class_of,
};
