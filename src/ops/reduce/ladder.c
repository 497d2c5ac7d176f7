/* The rungs of reduce, and their scratch. */
#include <stdio.h>

#include "ops/reduce/reduce.h"

RUNG_CPU_DECLARE(reduce_serial);
RUNG_CPU_DECLARE(reduce_lanes);
RUNG_CPU_DECLARE(reduce_threads);
RUNG_GPU_DECLARE(reduce_modulo);
RUNG_GPU_DECLARE(reduce_strided);
RUNG_GPU_DECLARE(reduce_sequential);
RUNG_GPU_DECLARE(reduce_first_add);
RUNG_GPU_DECLARE(reduce_unrolled);
RUNG_GPU_DECLARE(reduce_shuffle);
RUNG_GPU_DECLARE(reduce_vector);
RUNG_GPU_DECLARE(reduce_single_pass);

/* ---- scratch ----------------------------------------------------------------------------------
 */

static const reduce_problem *problem_of(const rung_task *task) {
  return (const reduce_problem *)task->problem;
}

/* Partial results of so many parts of every line. */
static size_t partials(const reduce_problem *problem, int64_t parts) {
  return (size_t)(problem->outer * parts * problem->inner) *
         reduce_partial_bytes(reduce_source_of(problem));
}

static size_t threads_scratch(const rung_task *task) {
  const int64_t tiles = reduce_tiles(problem_of(task)->columns);
  return tiles > 1 ? partials(problem_of(task), tiles) : 0;
}

/* Partial results of every launch but the last, where each leaves one of `part` elements. */
static size_t parts_scratch(const reduce_problem *problem, int64_t part) {
  size_t bytes = 0;
  for (int64_t n = problem->columns; n > part;) {
    n = (n + part - 1) / part;
    bytes += partials(problem, reduce_pitch(n));
  }
  return bytes;
}

/* Enough for the rungs that leave one of a block's elements; those that take two a thread leave
 * half as many. */
static size_t relaunch_scratch(const rung_task *task) {
  return parts_scratch(problem_of(task), task->block == 0 ? REDUCE_BLOCK : task->block);
}

static size_t levels_scratch(const rung_task *task) {
  return parts_scratch(problem_of(task), RUNG_SUM_TILE);
}

/* The counters of lines come first. */
static size_t single_pass_scratch(const rung_task *task) {
  const size_t bytes = levels_scratch(task);
  return bytes == 0 ? 0 : bytes + reduce_counter_bytes(problem_of(task));
}

/* ---- what rungs cannot do -----------------------------------------------------------------------
 */

static bool takes_lines(const rung_task *task, char why[RUNG_REASON]) {
  const int block = task->block == 0 ? REDUCE_BLOCK : task->block;
  if (problem_of(task)->form == REDUCE_ACROSS) {
    snprintf(why, RUNG_REASON,
             "it takes lines without gaps only, and here an element's neighbours in memory belong "
             "to other lines; rung \"vector\" would do");
    return false;
  }
  if (block < 32 || (block & (block - 1)) != 0) {
    snprintf(why, RUNG_REASON,
             "it folds a block by halves, and the block is %d; 32, 64, 128, 256, 512 or 1024 would "
             "do",
             block);
    return false;
  }
  return true;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

static const int fold_blocks[] = {256, 32, 64, 128, 512, 1024, 0};
static const int tile_blocks[] = {512, 64, 128, 256, 0};

#define ON_CPU .family = RUNG_ON_CPU, .dtypes = REDUCE_DTYPES
#define ON_GPU .family = RUNG_ON_GPU, .dtypes = REDUCE_DTYPES, .capability = 75
#define RELAUNCHED                                                                \
  ON_GPU, .order = RUNG_TEXTBOOK, .blocks = fold_blocks, .supports = takes_lines, \
          .scratch_bytes = relaunch_scratch

static const rung_row rows[] = {
    {ON_CPU, .name = "serial", .order = RUNG_TEXTBOOK,
     .idea = "the textbook: one running result a line", .launch = RUNG_CPU_ENTRIES(reduce_serial)},
    {ON_CPU, .name = "lanes", .order = RUNG_CANONICAL,
     .idea = "2048 running sums, kept in vector registers strip by strip",
     .launch = RUNG_CPU_ENTRIES(reduce_lanes)},
    {ON_CPU, .name = "threads", .order = RUNG_CANONICAL,
     .idea = "the tiles of all lines shared out to all cores", .scratch_bytes = threads_scratch,
     .launch = RUNG_CPU_ENTRIES(reduce_threads)},
    {RELAUNCHED, .name = "modulo",
     .idea = "the textbook: neighbours fold, every second thread idle, then every fourth ...",
     .launch = RUNG_GPU_ENTRIES(reduce_modulo)},
    {RELAUNCHED, .name = "strided",
     .idea = "the first threads do the work, no remainder: warps stay whole, banks collide",
     .launch = RUNG_GPU_ENTRIES(reduce_strided)},
    {RELAUNCHED, .name = "sequential",
     .idea = "folds by halves: neighbours read neighbours, no bank is asked twice",
     .launch = RUNG_GPU_ENTRIES(reduce_sequential)},
    {RELAUNCHED, .name = "first-add",
     .idea = "a thread joins two elements as it loads them: half the blocks",
     .launch = RUNG_GPU_ENTRIES(reduce_first_add)},
    {RELAUNCHED, .name = "unrolled",
     .idea = "the last warp folds alone, without barriers of the block",
     .launch = RUNG_GPU_ENTRIES(reduce_unrolled)},
    {RELAUNCHED, .name = "shuffle",
     .idea = "warps fold in registers; shared memory holds one value a warp",
     .launch = RUNG_GPU_ENTRIES(reduce_shuffle)},
    {ON_GPU, .name = "vector", .order = RUNG_CANONICAL,
     .idea = "16 bytes a load, a block a tile of 32768 elements, its sums in registers",
     .blocks = tile_blocks, .scratch_bytes = levels_scratch,
     .launch = RUNG_GPU_ENTRIES(reduce_vector)},
    {ON_GPU, .name = "single-pass", .order = RUNG_CANONICAL,
     .idea = "one launch: the last block of a line to finish folds the tiles' results",
     .blocks = tile_blocks, .scratch_bytes = single_pass_scratch,
     .launch = RUNG_GPU_ENTRIES(reduce_single_pass)},
};

const rung_operation reduce_operation = {
    .name = "reduce",
    .summary = "sum, minimum, maximum or mean, of everything or along an axis",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .trials = &reduce_trials,
};
