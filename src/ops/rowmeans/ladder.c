/* The rungs of rowmeans, and their scratch. */
#include "ops/rowmeans/rowmeans.h"

RUNG_CPU_DECLARE(rowmeans_serial);
RUNG_CPU_DECLARE(rowmeans_lanes);
RUNG_CPU_DECLARE(rowmeans_threads);

/* Tile sums of rows of several tiles: one array, row after row. */
static size_t threads_scratch(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  const int64_t tiles = rowmeans_tiles(problem->columns);
  if (tiles == 1) return 0;
  return (size_t)(problem->rows * tiles) * rung_dtype_bytes(problem->dtype);
}

/* The same for every level, each row's sums padded to where the next row may be read in wide
 * loads. */
static size_t levels_scratch(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  int64_t numbers = 0;
  for (int64_t tiles = rowmeans_tiles(problem->columns); tiles > 1; tiles = rowmeans_tiles(tiles))
    numbers += problem->rows * rowmeans_pitch(tiles);
  return (size_t)numbers * rung_dtype_bytes(problem->dtype);
}

static const int thread_blocks[] = {32, 64, 128, 256, 512, 1024, 0};
static const int warp_blocks[] = {32, 64, 128, 256, 0};
static const int tile_blocks[] = {64, 128, 256, 512, 0};

static rung_row rows[] = {
    {.name = "serial",
     .idea = "the textbook: one running sum a row",
     .family = RUNG_ON_CPU,
     .order = RUNG_TEXTBOOK,
     .dtypes = RUNG_FLOATS,
     .launch = RUNG_CPU_ENTRIES(rowmeans_serial)},
    {.name = "lanes",
     .idea = "2048 running sums, kept in vector registers strip by strip",
     .family = RUNG_ON_CPU,
     .order = RUNG_CANONICAL,
     .dtypes = RUNG_FLOATS,
     .launch = RUNG_CPU_ENTRIES(rowmeans_lanes)},
    {.name = "threads",
     .idea = "the tiles of all rows shared out to all cores",
     .family = RUNG_ON_CPU,
     .order = RUNG_CANONICAL,
     .dtypes = RUNG_FLOATS,
     .scratch_bytes = threads_scratch,
     .launch = RUNG_CPU_ENTRIES(rowmeans_threads)},
    {.name = "row-per-thread",
     .idea = "a thread a row, four running sums, four elements a load",
     .family = RUNG_ON_GPU,
     .order = RUNG_TEXTBOOK,
     .dtypes = RUNG_FLOATS,
     .capability = 75,
     .blocks = thread_blocks},
    {.name = "warp-per-row",
     .idea = "a warp a tile: neighbours read neighbours, lanes fold in registers, no barrier",
     .family = RUNG_ON_GPU,
     .order = RUNG_CANONICAL,
     .dtypes = RUNG_FLOATS,
     .capability = 75,
     .blocks = warp_blocks,
     .scratch_bytes = levels_scratch},
    {.name = "block-per-row",
     .idea = "a block a tile: more loads under way at once, lanes fold in shared memory",
     .family = RUNG_ON_GPU,
     .order = RUNG_CANONICAL,
     .dtypes = RUNG_FLOATS,
     .capability = 75,
     .blocks = tile_blocks,
     .scratch_bytes = levels_scratch},
};

const rung_operation rowmeans_operation = {
    .name = "rowmeans",
    .summary = "the mean of every row",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};
