/* How much the CPU's rungs take at a time, and the memory that this needs: for the rungs and for
 * their scratch. */
#ifndef RUNG_REDUCE_CPU_ROOM_H
#define RUNG_REDUCE_CPU_ROOM_H

#include "ops/reduce/reduce.h"

enum {
  REDUCE_SHORT_LINES = 2048, /* so many lines one after the other, at most */
  /* Bytes of partial results of lines side by side. Of a row less is read than memory gives in one
   * go; more, and what sums of floats keep leaves a second-level cache. */
  REDUCE_PIECE = 16384,
  REDUCE_LONG = 4096,  /* bytes of a line that is worth its vectors' lying as memory's lines do */
  REDUCE_NARROW = 512, /* and the fewest, where there are threads without work */
  REDUCE_SHARED = 1 << 17, /* elements of lines side by side whose rows are shared out instead */
  /* Elements a chunk: long enough to be worth dealing out, short enough to balance. */
  REDUCE_CHUNK = 4 * RUNG_SUM_TILE,
  REDUCE_GATHERED = 8192, /* elements of short lines that are brought together at a time */
  REDUCE_GROUP = 4 << 20, /* bytes of tiles that are, at most */
  REDUCE_TOGETHER = 256   /* bytes that lie side by side and are best brought by one */
};

/* Whether the elements of lines do not follow each other, and are brought together in a room. */
static inline bool reduce_gathers(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const rung_view *in = &task->arrays[REDUCE_IN];
  if (problem->form == REDUCE_ACROSS || in->count == 0) return false;
  return problem->form == REDUCE_PACKED ? !rung_view_is_compact(in) : !rung_view_compact_rows(in);
}

/* Tiles of a line that are brought together at a time. Where neighbours in memory are a row or more
 * apart in the line's order, tiles of a few rows each would read every line of memory again. */
static inline int64_t reduce_together(const rung_task *task, int64_t tiles, int64_t threads) {
  const rung_view *in = &task->arrays[REDUCE_IN];
  const int64_t size = (int64_t)rung_dtype_bytes(in->dtype);
  int64_t apart = 1, group;
  int d = in->ndim - 1;
  if (tiles == 1 || !reduce_gathers(task)) return 1;
  for (; d >= 0 && (in->stride[d] != 1 || in->shape[d] == 1); d--) apart *= in->shape[d];
  const int64_t wanted = apart * (REDUCE_TOGETHER / size), most = REDUCE_GROUP / size;
  group = d < 0 ? 1 : ((wanted < most ? wanted : most) + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
  while (group > 1 && tiles < 2 * threads * group) group /= 2;
  return group;
}

/* What a job is cut into: units, of which so many are dealt out together. */
typedef struct reduce_units {
  int64_t tiles;         /* of a line */
  int64_t group;         /* of these a unit has so many */
  int64_t strip, strips; /* of the lines side by side: how many each has, and how many there are */
  int64_t lines;         /* a unit of lines of one tile: so many of them; else 1 */
  /* A tile of lines side by side is cut into so many units, of so many rows or, of sums of floats,
   * of the numbers that its lanes fold to; 1: it is not cut. */
  int64_t shares, share;
  int64_t rows; /* of partial results that a line's are made of; 0: there are none */
  int64_t all, chunk;
} reduce_units;

static inline int64_t reduce_groups(const reduce_units *units) {
  return (units->tiles + units->group - 1) / units->group;
}

/* What sums of floats side by side keep of `count` rows of `width` lines, at most a tile, `bytes` a
 * number: the lanes that six halvings leave, or as few as three where those are a small piece; and
 * a piece of each of sixteen rows more. */
static inline int reduce_left(int64_t count, int64_t width, int64_t bytes) {
  int left = 1;
  while (64 * left < count && 64 * left < RUNG_SUM_LANES) left *= 2;
  while (8 * left < count && 8 * left < RUNG_SUM_LANES && 2 * left * width * bytes <= REDUCE_PIECE)
    left *= 2;
  return left;
}

/* Lines side by side that would leave threads without work, or make their strips so narrow that
 * memory is read in bits: their rows, which follow each other without gaps, are shared out. */
static inline void reduce_share_rows(const rung_task *task, int64_t threads, reduce_units *units) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_operator op = reduce_operator_of(problem);
  const bool ordered = reduce_is_ordered(op);
  const int64_t partial = (int64_t)rung_dtype_bytes(reduce_partial_of(op));
  const int64_t columns = problem->columns, width = problem->inner;
  const int64_t tiles = ordered ? units->tiles : 1;
  const int64_t others = problem->outer * tiles, wanted = 2 * threads;
  if (threads == 1 || others >= wanted) return;
  if (width * partial > REDUCE_PIECE || columns * width < REDUCE_SHARED) return;
  if (reduce_layout_of(task).in_column != width) return;
  const int64_t rows = columns < RUNG_SUM_TILE ? columns : RUNG_SUM_TILE;
  const int64_t left = ordered ? reduce_left(rows, width, partial) : 1;
  const int64_t all = ordered ? left * width : columns, each = (wanted + others - 1) / others;
  const int64_t even = (all + each - 1) / each;
  const int64_t share = ordered ? (even + 15) / 16 * 16 : even, shares = (all + share - 1) / share;
  if (shares == 1) return;
  units->tiles = tiles;
  units->share = share;
  units->shares = shares;
  units->rows = ordered ? tiles * left : shares;
}

static inline reduce_units reduce_units_of(const rung_task *task, int64_t threads) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  reduce_units units = {
      .tiles = reduce_tiles(problem->columns), .strip = 1, .lines = 1, .shares = 1};
  units.rows = units.tiles > 1 ? units.tiles : 0;
  units.group = reduce_together(task, units.tiles, threads);
  const int64_t columns = problem->columns < RUNG_SUM_TILE ? problem->columns : RUNG_SUM_TILE;
  const int64_t partial = (int64_t)rung_dtype_bytes(reduce_partial_of(reduce_operator_of(problem)));
  int64_t each = columns > 0 ? units.group * columns : 1; /* elements of a unit */
  if (problem->form == REDUCE_ACROSS) reduce_share_rows(task, threads, &units);
  if (units.shares > 1) {
    units.strip = problem->inner;
    each = columns * units.strip / units.shares;
  } else if (problem->form == REDUCE_ACROSS) {
    const int64_t others = problem->outer * units.tiles;
    int64_t strip = REDUCE_PIECE / partial;
    while (threads > 1 && strip > REDUCE_NARROW / partial &&
           others * (problem->inner / strip) < 2 * threads && strip / 2 * each >= REDUCE_CHUNK / 4)
      strip /= 2;
    units.strip = problem->inner < strip ? problem->inner : strip;
    each *= units.strip;
  } else if (units.tiles == 1) {
    const int64_t most = (reduce_gathers(task) ? REDUCE_GATHERED : REDUCE_CHUNK) / each;
    units.lines = most < 1 ? 1 : most < REDUCE_SHORT_LINES ? most : REDUCE_SHORT_LINES;
    each *= units.lines;
  }
  units.strips = (problem->inner + units.strip - 1) / units.strip;
  units.all =
      (problem->outer + units.lines - 1) / units.lines * reduce_groups(&units) * units.strips;
  units.all *= units.shares;
  units.chunk = each < REDUCE_CHUNK ? REDUCE_CHUNK / each : 1;
  return units;
}

static inline int64_t reduce_chunks(const reduce_units *units) {
  return (units->all + units->chunk - 1) / units->chunk;
}

/* Numbers of a piece, whole cache lines. */
static inline int64_t reduce_piece(int64_t count, int64_t width, int64_t bytes) {
  const int64_t all = reduce_left(count, width, bytes) * width, most = REDUCE_PIECE / bytes;
  return all < most ? (all + 15) / 16 * 16 : most;
}

/* Bytes that a thread needs for itself. */
static inline int64_t reduce_room(const rung_task *task, const reduce_units *units) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_operator op = reduce_operator_of(problem);
  if (reduce_gathers(task)) {
    const int64_t most =
        units->tiles > 1 ? units->group * RUNG_SUM_TILE : units->lines * problem->columns;
    return (most * (int64_t)rung_dtype_bytes(problem->dtype) + 63) / 64 * 64;
  }
  if (problem->form != REDUCE_ACROSS || !reduce_is_ordered(op)) return 0;
  const int64_t bytes = (int64_t)rung_dtype_bytes(reduce_partial_of(op));
  const int64_t width = (units->strip + 15) / 16 * 16;
  const int64_t left = reduce_left(problem->columns, units->strip, bytes);
  return (16 * reduce_piece(problem->columns, units->strip, bytes) + left * width) * bytes;
}

/* Threads that find something to do. */
static inline int64_t reduce_threads(const rung_task *task) {
  const int64_t threads = task->device->threads;
  const reduce_units units = reduce_units_of(task, threads);
  const int64_t chunks = reduce_chunks(&units);
  return threads < chunks ? threads : chunks;
}

#endif
