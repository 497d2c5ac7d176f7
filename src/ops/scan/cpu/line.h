/* Lines of tiles: what the canonical rungs of the CPU share. A line's aggregates lie in the
 * scratch, those of a level after the other (scan_aggregates()), as numbers of the operator's type.
 * Where several threads work on a line a flag stands for every aggregate: it is there. A thread
 * waits for flags of tiles before its own only, which somebody else has under way: tiles are taken
 * in order. */
#ifndef RUNG_SCAN_CPU_LINE_H
#define RUNG_SCAN_CPU_LINE_H

#include <sched.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "ops/scan/cpu/tile.h"

typedef struct scan_line {
  const scan_operator_tiles *of;
  const char *in;
  char *out;
  int64_t columns, tiles, size; /* bytes of an element */
  int64_t number;               /* and of an aggregate */
  rung_key_code key;
  bool exclusive, past;
  bool begins;
  const char *range; /* NULL, or the number that comes before all of the line */
  char *aggregates;
  atomic_uchar *there; /* NULL: all by one thread */
} scan_line;

/* Everything of a task's line but where its aggregates are. */
static inline scan_line scan_line_of(const rung_task *task, int64_t number) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const rung_view *in = &task->arrays[SCAN_IN], *out = &task->arrays[SCAN_OUT];
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  return (scan_line){
      .of = &RUNG_ENTRY(scan_tiles_of)[scan_operator_of(problem)],
      .in = in->data + number * scan_pitch_of(problem, in) * size,
      .out = out->data + number * scan_pitch_of(problem, out) * size,
      .columns = problem->columns,
      .tiles = scan_tiles(problem->columns),
      .size = size,
      .number = scan_number_bytes(problem),
      .key = scan_key_of(problem),
      .exclusive = problem->exclusive,
      .begins = !problem->range || (problem->begins && number == 0),
      .range = problem->range ? problem->before + number * problem->before_step : NULL};
}

/* Lines [first, first + count) of a task, if they are short; `past` as a line has it. */
static inline bool scan_short_ones(const rung_task *task, int64_t first, int64_t count, bool past) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  if (problem->columns > SCAN_SHORT || problem->range) return false;
  const scan_line line = scan_line_of(task, first);
  const scan_short_lines lines = {.in = line.in,
                                  .out = line.out,
                                  .count = count,
                                  .in_pitch = scan_pitch_of(problem, &task->arrays[SCAN_IN]),
                                  .out_pitch = scan_pitch_of(problem, &task->arrays[SCAN_OUT]),
                                  .key = line.key,
                                  .columns = (int)line.columns,
                                  .exclusive = line.exclusive,
                                  .past = past};
  line.of->lines(&lines);
  return true;
}

/* `there` may be NULL: nothing is waited for. */
static inline void scan_await(atomic_uchar *there, int64_t first, int64_t count) {
  for (int64_t i = first; i < first + count && there != NULL; ++i)
    for (int looks = 0; !atomic_load_explicit(&there[i], memory_order_acquire); ++looks)
      if (looks > 1000) sched_yield(); /* its thread may want this core */
}

/* Puts a tile's total in, and the aggregates of the families that it is the last of. */
static inline void scan_publish(const scan_line *line, int64_t tile, const scan_number *total) {
  int64_t first = 0, count = line->tiles, at = tile;
  scan_number value = *total;
  for (;;) {
    memcpy(line->aggregates + (first + at) * line->number, &value, (size_t)line->number);
    if (line->there != NULL)
      atomic_store_explicit(&line->there[first + at], 1, memory_order_release);
    if (at % SCAN_FAMILY != SCAN_FAMILY - 1) return;
    const int64_t family = first + at - (SCAN_FAMILY - 1);
    scan_await(line->there, family, SCAN_FAMILY);
    line->of->last(line->aggregates + family * line->number, SCAN_FAMILY, &value);
    first += count;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
  }
}

/* What all tiles before come to: the contract's P. */
static inline void scan_before(const scan_line *line, int64_t tile, scan_number *p) {
  int64_t family[SCAN_LEVELS], first = 0, count = line->tiles, at = tile;
  int number[SCAN_LEVELS], level = 0;
  for (; at > 0; ++level) {
    number[level] = (int)(at % SCAN_FAMILY);
    family[level] = first + at - number[level];
    first += count;
    count /= SCAN_FAMILY;
    at /= SCAN_FAMILY;
  }
  if (line->range != NULL)
    memcpy(p, line->range, sizeof *p);
  else
    line->of->identity(p);
  while (--level >= 0) {
    scan_number e;
    if (number[level] == 0) continue;
    scan_await(line->there, family[level], number[level]);
    line->of->last(line->aggregates + family[level] * line->number, number[level], &e);
    line->of->combine(p, &e);
  }
}

/* A tile's `count` elements at `in` to its results at `out`; `next`: see scan_piece. */
static inline void scan_tile_at(const scan_line *line, int64_t tile, const void *in, void *out,
                                int count, const char *next) {
  const scan_piece piece = {.in = in,
                            .out = out,
                            .count = count,
                            .key = line->key,
                            .exclusive = line->exclusive,
                            .begins = tile == 0 && line->begins,
                            .past = line->past,
                            .next = next};
  scan_numbers totals;
  scan_number total, before;
  /* The last row's total is of no use but for the tile's. */
  line->of->totals(in, tile + 1 < line->tiles ? SCAN_ROWS : (count - 1) / SCAN_ROW, &line->key,
                   &totals, &total);
  if (tile + 1 < line->tiles) scan_publish(line, tile, &total);
  scan_before(line, tile, &before);
  line->of->tile(&piece, &totals, &before);
}

static inline int scan_tile_count(const scan_line *line, int64_t tile) {
  const int64_t left = line->columns - tile * SCAN_TILE;
  return left < SCAN_TILE ? (int)left : SCAN_TILE;
}

static inline void scan_one_tile(const scan_line *line, int64_t tile, const char *next) {
  const int64_t at = tile * SCAN_TILE * line->size;
  scan_tile_at(line, tile, line->in + at, line->out + at, scan_tile_count(line, tile), next);
}

/* ---- ranges of which the aggregates are asked for ----------------------------------------------
 */

/* A family's tiles; `arg` is all ranges as one line. */
static inline void scan_take_totals(void *arg, int64_t family, int thread) {
  const scan_line *all = (const scan_line *)arg;
  scan_numbers rows;
  (void)thread;
  for (int64_t tile = family * SCAN_FAMILY; tile < (family + 1) * SCAN_FAMILY && tile < all->tiles;
       ++tile) {
    scan_number total;
    all->of->totals(all->in + tile * SCAN_TILE * all->size, SCAN_ROWS, &all->key, &rows, &total);
    memcpy(all->aggregates + tile * all->number, &total, (size_t)all->number);
  }
}

/* By so many threads. */
static inline void scan_leave_aggregates(const rung_task *task, int threads) {
  const int64_t lines = ((const scan_problem *)task->problem)->lines;
  scan_line all = scan_line_of(task, 0);
  int64_t tiles = all.tiles, left = all.tiles * lines;
  all.tiles = left;
  all.aggregates = tiles > 1 ? (char *)task->scratch : all.out;
  rung_parallel(threads, (left + SCAN_FAMILY - 1) / SCAN_FAMILY, scan_take_totals, &all);
  for (; tiles > 1; tiles /= SCAN_FAMILY) {
    char *to = tiles > SCAN_FAMILY ? all.aggregates : all.out;
    left /= SCAN_FAMILY;
    for (int64_t i = 0; i < left; ++i) {
      scan_number family;
      all.of->last(all.aggregates + i * SCAN_FAMILY * all.number, SCAN_FAMILY, &family);
      memcpy(to + i * all.number, &family, (size_t)all.number);
    }
  }
}

#endif
