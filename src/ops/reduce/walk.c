/* How tree-walk shares out a job. */
#include "ops/reduce/reduce.h"

static bool is_ordered(const reduce_problem *problem) {
  return reduce_is_ordered(reduce_operator_of(problem));
}

/* 16 bytes, or four elements. Sums of floats whose lanes have several rows keep as many sums as
 * loads, and so take half of that. */
int reduce_walk_wide(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const int bytes = (int)rung_dtype_bytes(problem->dtype), wide = bytes == 8 ? 2 : 4;
  const bool half = is_ordered(problem) && bytes >= 4 && problem->columns > RUNG_SUM_LANES;
  return half ? wide / 2 : wide;
}

static int64_t power_of_two(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

/* Lanes that a thread loads at once: as many as its registers hold. Where the order is free there
 * is one sum a line, and what is short is the loads' own registers. */
static int leaves_of(const reduce_problem *problem, int at_once) {
  if (!is_ordered(problem)) return at_once == 1 ? 16 : 8;
  return at_once * (int)rung_dtype_bytes(reduce_partial_of(reduce_operator_of(problem))) <= 8 ? 16
                                                                                              : 8;
}

/* Whether lines are loaded one by one though there are many beside each other: no row begins where
 * a sector does, and a row of few bytes is half sectors that are another block's. Of narrow
 * elements more threads are worth more. */
static bool is_ragged(const reduce_problem *problem, int at_once) {
  const int bytes = (int)rung_dtype_bytes(problem->dtype);
  return at_once == 1 && bytes >= 4 && problem->inner * bytes >= REDUCE_WALK_ROW;
}

reduce_walk reduce_walk_of(const rung_task *task, int at_once) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const int64_t rows = problem->columns < RUNG_SUM_LANES ? problem->columns : RUNG_SUM_LANES;
  const int lanes = (int)power_of_two(rows), most = lanes / leaves_of(problem, at_once);
  const bool ragged = is_ragged(problem, at_once);
  const int deep = ragged ? REDUCE_WALK_DEEP : REDUCE_WALK_LANES;
  const int width =
      ragged ? REDUCE_WALK_ROW / (int)rung_dtype_bytes(problem->dtype) : REDUCE_WALK_WIDTH;
  const int64_t wanted = REDUCE_WALK_WANTED * (int64_t)task->device->processors;
  reduce_walk walk = {.at_once = at_once, .width = 1, .parties = 1, .split = 1};
  walk.across = (problem->inner + at_once - 1) / at_once;
  walk.columns = problem->outer * walk.across;
  walk.inverse = problem->outer > 1 && walk.across > 0 ? UINT64_MAX / (uint64_t)walk.across : 0;
  walk.tiles = reduce_tiles(problem->columns);
  const int64_t busy = walk.columns * walk.tiles;
  while (walk.parties < lanes / deep) walk.parties *= 2;
  while (walk.width < width && walk.width < walk.columns &&
         2 * walk.parties * walk.width <= REDUCE_WALK_THREADS)
    walk.width *= 2;
  while (walk.parties < most && 2 * walk.parties * walk.width <= REDUCE_WALK_THREADS &&
         busy * walk.parties < wanted)
    walk.parties *= 2;
  const int threads = walk.parties == 1 ? REDUCE_WALK_ALONE : REDUCE_WALK_THREADS;
  while (2 * walk.parties * walk.width <= threads && walk.width < walk.columns) walk.width *= 2;
  while (walk.parties * walk.split < most && busy * walk.parties * walk.split < wanted)
    walk.split *= 2;
  while (1 << walk.width_bits < walk.width) walk.width_bits++;
  walk.strips = (walk.columns + walk.width - 1) / walk.width;
  return walk;
}

int64_t reduce_walk_partials(const reduce_walk *walk) {
  const int64_t tiles = walk->tiles > 1 ? walk->tiles : 0;
  const int64_t parts = walk->split > 1 ? walk->tiles * walk->split : 0;
  return (tiles + parts) * walk->columns * walk->at_once;
}

int64_t reduce_walk_counters(const reduce_walk *walk) {
  const int64_t tiles = walk->tiles > 1 ? 1 : 0;
  const int64_t parts = walk->split > 1 ? walk->tiles : 0;
  return (tiles + parts) * walk->strips;
}
