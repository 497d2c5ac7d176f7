/* The rungs of reduce, and their scratch. */
#include <stdio.h>

#include "core/prefer.h"
#include "ops/reduce/cpu/room.h"
#include "ops/reduce/reduce.h"

RUNG_CPU_DECLARE(reduce_serial);
RUNG_CPU_DECLARE(reduce_lanes);
RUNG_CPU_DECLARE(reduce_threads);

/* ---- scratch ----------------------------------------------------------------------------------
 */

static const reduce_problem *problem_of(const rung_task *task) {
  return (const reduce_problem *)task->problem;
}

/* Partial results of so many parts of every line. */
static size_t partials(const reduce_problem *problem, int64_t parts) {
  return (size_t)(problem->outer * parts * problem->inner) *
         rung_dtype_bytes(reduce_partial_of(reduce_operator_of(problem)));
}

/* A room for each of the threads that find something to do, then what the tiles leave, or shares of
 * one. */
static size_t rooms_scratch(const rung_task *task, int64_t threads, int64_t busy) {
  const reduce_units units = reduce_units_of(task, threads);
  const size_t rooms = (size_t)(busy * reduce_room(task, &units));
  return rooms + (units.rows > 0 ? partials(problem_of(task), units.rows) : 0);
}

static size_t lanes_scratch(const rung_task *task) {
  return rooms_scratch(task, 1, 1);
}

static size_t threads_scratch(const rung_task *task) {
  return rooms_scratch(task, task->device->threads, reduce_threads(task));
}

static bool gathers(const rung_task *task) {
  return problem_of(task)->form != REDUCE_ACROSS;
}

static bool takes_rows(const rung_task *task) {
  return reduce_has_rows(task, NULL);
}

static bool takes_planes(const rung_task *task) {
  const reduce_problem *problem = problem_of(task);
  const int64_t bytes = problem->columns * (int64_t)rung_dtype_bytes(problem->dtype);
  reduce_planes planes;
  if (problem->columns <= REDUCE_SUBWARP_TINY || !reduce_has_planes(task, &planes)) return false;
  return bytes >= REDUCE_SUBWARP_PLANES || reduce_is_dense(problem->columns, planes.pitch);
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

/* Slices of floats' sums leave several lanes' results each, others one. */
static size_t single_pass_scratch(const rung_task *task) {
  const reduce_problem *problem = problem_of(task);
  const int slices = reduce_slices_of(task);
  const int64_t tiles = reduce_tiles(problem->columns);
  if (reduce_is_few(task)) return tiles == 1 ? 0 : partials(problem, tiles * slices * REDUCE_SLICE);
  return parts_scratch(problem, RUNG_SUM_TILE / slices);
}

static size_t single_pass_zeros(const rung_task *task) {
  return reduce_tiles(problem_of(task)->columns) > 1 ? reduce_counter_bytes(problem_of(task)) : 0;
}

/* How many elements may be loaded at once is not known before the launch: enough for all of 1, 2, 4
 * that it may be. */
static int64_t walk_most(const rung_task *task, int64_t (*needs)(const reduce_walk *walk)) {
  int64_t most = 0;
  for (int at_once = 1; at_once <= reduce_walk_wide(task); at_once *= 2) {
    const reduce_walk walk = reduce_walk_of(task, at_once);
    if (needs(&walk) > most) most = needs(&walk);
  }
  return most;
}

static size_t walk_scratch(const rung_task *task) {
  return (size_t)walk_most(task, reduce_walk_partials) *
         rung_dtype_bytes(reduce_partial_of(reduce_operator_of(problem_of(task))));
}

static size_t walk_zeros(const rung_task *task) {
  return (size_t)walk_most(task, reduce_walk_counters) * sizeof(unsigned);
}

/* Partial results of the first launch, where a block leaves one of two elements a thread; 0 where a
 * line is one block. */
static size_t blocks_scratch(const rung_task *task) {
  const int64_t part = 2 * (int64_t)(task->block == 0 ? REDUCE_BLOCK : task->block);
  const int64_t parts = (problem_of(task)->columns + part - 1) / part;
  return parts > 1 ? partials(problem_of(task), reduce_pitch(parts)) : 0;
}

/* The counters of lines come first. */
static size_t last_block_scratch(const rung_task *task) {
  const size_t bytes = blocks_scratch(task);
  return bytes > 0 ? bytes + reduce_counter_bytes(problem_of(task)) : 0;
}

static size_t host_scratch(const rung_task *task) {
  const size_t bytes = blocks_scratch(task);
  return bytes > 0 ? bytes + REDUCE_NOTE : 0;
}

/* What the device's scratch holds, then the results. */
static size_t host_memory(const rung_task *task) {
  const reduce_problem *problem = problem_of(task);
  const size_t bytes = host_scratch(task);
  return bytes > 0 ? bytes + (size_t)problem->outer * rung_dtype_bytes(problem->result) : 0;
}

static int64_t timed_blocks(const rung_task *task) {
  return problem_of(task)->outer;
}

static size_t timed_scratch(const rung_task *task) {
  return (size_t)timed_blocks(task) * sizeof(rung_block_time);
}

/* ---- what rungs cannot do -----------------------------------------------------------------------
 */

static bool takes_lines(const rung_task *task, char why[RUNG_REASON]) {
  const int block = task->block == 0 ? REDUCE_BLOCK : task->block;
  if (problem_of(task)->form == REDUCE_ACROSS) {
    snprintf(why, RUNG_REASON,
             "it takes lines without gaps only, and here an element's neighbours in memory belong "
             "to other lines; expected: the last axis, or rung \"vector\"");
    return false;
  }
  if (block < 32 || (block & (block - 1)) != 0) {
    snprintf(why, RUNG_REASON,
             "it folds a block by halves, and the block is %d; expected: 32, 64, 128, 256, 512 or "
             "1024",
             block);
    return false;
  }
  return true;
}

static bool counts_blocks(const rung_task *task, char why[RUNG_REASON]) {
  const int block = task->block == 0 ? REDUCE_BLOCK : task->block;
  if (!takes_lines(task, why)) return false;
  if (problem_of(task)->columns / (2 * block) < UINT32_MAX) return true;
  snprintf(why, RUNG_REASON,
           "it counts a line's blocks in 32 bits, and lines of %lld elements have more of %d "
           "threads; expected: block 1024",
           (long long)problem_of(task)->columns, block);
  return false;
}

static bool copies_results(const rung_task *task, char why[RUNG_REASON]) {
  if (!takes_lines(task, why)) return false;
  if (problem_of(task)->outer == 1 || task->arrays[REDUCE_OUT].stride[0] == 1) return true;
  snprintf(why, RUNG_REASON,
           "it copies the results back in one piece, and here they lie %lld elements apart; "
           "expected: an out without gaps",
           (long long)task->arrays[REDUCE_OUT].stride[0]);
  return false;
}

static bool takes_short_lines(const rung_task *task, char why[RUNG_REASON]) {
  if (!takes_lines(task, why)) return false;
  if (problem_of(task)->columns <= RUNG_SUM_TILE) return true;
  snprintf(why, RUNG_REASON,
           "a block takes a whole line, and here a line has %lld elements; expected: at most %d",
           (long long)problem_of(task)->columns, RUNG_SUM_TILE);
  return false;
}

static bool adds_lines(const rung_task *task, char why[RUNG_REASON]) {
  const reduce_problem *problem = problem_of(task);
  const bool sum = problem->what == RUNG_SUM || problem->what == RUNG_MEAN;
  if (sum && problem->form != REDUCE_ACROSS) return true;
  if (!sum)
    snprintf(why, RUNG_REASON, "it adds floats, and here a %s is asked for; expected: sum or mean",
             problem->what == RUNG_MIN ? "minimum" : "maximum");
  else
    snprintf(why, RUNG_REASON,
             "it takes lines without gaps, and here an element's neighbours in memory belong to "
             "other lines; expected: the last axis, or rung \"vector\"");
  return false;
}

static bool walks_across(const rung_task *task, char why[RUNG_REASON]) {
  const reduce_problem *problem = problem_of(task);
  const int64_t most = (int64_t)RUNG_SUM_TILE * RUNG_SUM_TILE;
  if (problem->form == REDUCE_ACROSS && problem->columns <= most) return true;
  if (problem->form == REDUCE_ACROSS)
    snprintf(
        why, RUNG_REASON,
        "it folds the tiles of a line at once, and here a line has %lld elements; expected: at "
        "most 2^30, or rung \"single-pass\"",
        (long long)problem->columns);
  else
    snprintf(why, RUNG_REASON,
             "it takes lines side by side, and here a line's elements are neighbours in memory; "
             "expected: another axis than the last, or rung \"single-pass\"");
  return false;
}

static bool takes_many_short_lines(const rung_task *task, char why[RUNG_REASON]) {
  const reduce_problem *problem = problem_of(task);
  if (problem->form == REDUCE_ACROSS) return takes_lines(task, why);
  const int most = reduce_has_planes(task, NULL) ? (int)RUNG_SUM_TILE : (int)REDUCE_SUBWARP_LINE;
  if (problem->columns > most)
    snprintf(why, RUNG_REASON,
             "a warp takes a whole line, and here a line has %lld elements; expected: at most %d",
             (long long)problem->columns, most);
  else if (!reduce_is_many(task))
    snprintf(why, RUNG_REASON,
             "%lld lines of %lld elements are too few to share out to warps; expected: rung "
             "\"single-pass\"",
             (long long)problem->outer, (long long)problem->columns);
  else
    return true;
  return false;
}

/* ---- what `auto` leaves alone -------------------------------------------------------------------
 */

/* Measured on an H200: a float line of one tile that is no short one is a block's either way, and
 * rung "vector" then has fewer steps: 5.5 us instead of 6.2 of 16384 elements. */
static bool single_pass_pays(const rung_task *task) {
  const reduce_problem *p = problem_of(task);
  return p->dtype != RUNG_F32 || p->outer != 1 || p->form == REDUCE_ACROSS ||
         !reduce_is_few(task) || p->columns <= REDUCE_SHORT || p->columns > 16384;
}

/* ---- the table ----------------------------------------------------------------------------------
 */

static const int fold_blocks[] = {256, 32, 64, 128, 512, 1024, 0};
static const int timed_blocks_swept[] = {REDUCE_TIMED_BLOCK, 32, 128, 256, 512, 1024, 0};
static const int thread_blocks[] = {REDUCE_THREAD_BLOCK, 32, 128, 256, 512, 1024, 0};
static const int warp_blocks[] = {128, 32, 64, 256, 0};
static const int subwarp_blocks[] = {REDUCE_SUBWARP_BLOCK, 64, 128, 0};
static const int tile_blocks[] = {512, 64, 128, 256, 0};

#define ON_CPU .family = RUNG_ON_CPU, .types = RUNG_ALIKE(REDUCE_DTYPES)
#define ON_GPU .family = RUNG_ON_GPU, .types = RUNG_ALIKE(REDUCE_DTYPES), .capability = 75
#define FOLDED ON_GPU, .order = RUNG_TEXTBOOK, .blocks = fold_blocks
#define BY_ROW                                                                 \
  .family = RUNG_ON_GPU, .types = RUNG_ALIKE(REDUCE_FLOATS), .capability = 75, \
  .supports = adds_lines
#define RELAUNCHED FOLDED, .supports = takes_lines, .scratch_bytes = relaunch_scratch

static rung_row rows[] = {
    {ON_CPU, .name = "serial", .order = RUNG_TEXTBOOK,
     .idea = "the textbook: one running result a line", .launch = RUNG_CPU_ENTRIES(reduce_serial)},
    {ON_CPU, .name = "lanes", .order = RUNG_CANONICAL,
     .idea = "2048 running sums, eight rows of elements read side by side", .gathers = gathers,
     .scratch_bytes = lanes_scratch, .launch = RUNG_CPU_ENTRIES(reduce_lanes)},
    {ON_CPU, .name = "threads", .order = RUNG_CANONICAL,
     .idea = "the tiles of all lines shared out to all cores", .gathers = gathers,
     .scratch_bytes = threads_scratch, .launch = RUNG_CPU_ENTRIES(reduce_threads)},
    {ON_GPU, .name = "timed", .order = RUNG_TEXTBOOK, .blocks = timed_blocks_swept,
     .idea = "a block a line, which writes down when it ran and where",
     .supports = takes_short_lines, .scratch_bytes = timed_scratch, .block_times = timed_blocks},
    {RELAUNCHED, .name = "modulo",
     .idea = "the textbook: neighbours fold, every second thread idle, then every fourth ..."},
    {RELAUNCHED, .name = "strided",
     .idea = "the first threads do the work, no remainder: warps stay whole, banks collide"},
    {RELAUNCHED, .name = "sequential",
     .idea = "a tree reduction by halves: neighbours read neighbours, no bank is asked twice"},
    {RELAUNCHED, .name = "first-add",
     .idea = "a thread combines two elements as it loads them: half the blocks"},
    {RELAUNCHED, .name = "unrolled",
     .idea = "the last warp folds alone, without barriers of the block"},
    {RELAUNCHED, .name = "shuffle",
     .idea = "warps fold in registers; shared memory holds one value a warp"},
    {FOLDED, .name = "finish-host",
     .idea = "one launch of shuffle's kernel; the host adds up the blocks' results",
     .supports = copies_results, .scratch_bytes = host_scratch, .host_scratch_bytes = host_memory},
    {RELAUNCHED, .name = "finish-relaunch",
     .idea = "the same kernel in a loop over the blocks' results, until one is left"},
    {RELAUNCHED, .name = "finish-recursion",
     .idea = "the blocks' results are an array like any other: the function calls itself (by the "
             "kernels of shuffle)"},
    {FOLDED, .name = "finish-last-block",
     .idea = "one launch: blocks count themselves in, and a line's last adds up the results",
     .supports = counts_blocks, .scratch_bytes = last_block_scratch},
    {BY_ROW, .name = "row-per-thread", .order = RUNG_TEXTBOOK, .blocks = thread_blocks,
     .idea = "a thread a row, four running sums, four elements a load"},
    {BY_ROW, .name = "warp-per-row", .order = RUNG_CANONICAL, .blocks = warp_blocks,
     .idea = "a warp a tile: neighbours read neighbours, lanes fold in registers, no barrier",
     .scratch_bytes = levels_scratch},
    {BY_ROW, .name = "block-per-row", .order = RUNG_CANONICAL, .blocks = tile_blocks,
     .idea = "a block a tile: more loads under way at once, lanes fold in shared memory",
     .scratch_bytes = levels_scratch},
    {ON_GPU, .name = "vector", .order = RUNG_CANONICAL,
     .idea = "16 bytes a load, a block a tile of 32768 elements, its sums in registers",
     .blocks = tile_blocks, .scratch_bytes = levels_scratch},
    {ON_GPU, .name = "single-pass", .order = RUNG_CANONICAL,
     .idea = "one launch, nothing cleared; few tiles are shared out to many blocks",
     .blocks = tile_blocks, .pays = single_pass_pays, .gathers = takes_rows,
     .scratch_bytes = single_pass_scratch, .zeroed_bytes = single_pass_zeros},
    {ON_GPU, .name = "subwarp", .order = RUNG_CANONICAL,
     .idea = "a power of two of threads a short line, several lines a warp: only shuffles",
     .blocks = subwarp_blocks, .supports = takes_many_short_lines, .gathers = takes_planes},
    {ON_GPU, .name = "tree-walk", .order = RUNG_CANONICAL,
     .idea = "lines side by side: a thread walks a subtree of their lanes, eight loads at a time",
     .supports = walks_across, .scratch_bytes = walk_scratch, .zeroed_bytes = walk_zeros},
};

static void class_of(const void *problem, char text[RUNG_CLASS]) {
  static const char *const names[] = {
      [RUNG_SUM] = "sum", [RUNG_MIN] = "min", [RUNG_MAX] = "max", [RUNG_MEAN] = "mean"};
  const reduce_problem *p = problem;
  char outer[8], columns[8], inner[8];
  snprintf(text, RUNG_CLASS, "%s %s %s%s outer=%s n=%s inner=%s", names[p->what],
           rung_dtype_name(p->dtype), rung_dtype_name(p->result),
           p->form == REDUCE_ACROSS ? " across" : "", rung_power(p->outer, outer),
           rung_power(p->columns, columns), rung_power(p->inner, inner));
}

const rung_operation reduce_operation = {
    .name = "reduce",
    .summary = "sum, minimum, maximum or mean, of everything or along an axis",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .class_of = class_of,
};
