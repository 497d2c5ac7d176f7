/* Tiles in the canonical order (scan.h) by one CPU thread. For every scan_operator a row of a
 * table:
 *
 *   totals(in, rows, key, totals, total)    the totals of a tile's first rows, whole ones, to as
 *                                           many numbers; of 64, the tile's to *total as well
 *                                           (narrow_of.h's: that alone, for rows need none)
 *   tile(piece, totals, before)             a tile, or what there is of the last one, to its
 *                                           results. `totals` are those of all rows but the last,
 *                                           `before` is what all tiles before come to
 *   lines(lines)                            short lines, whole
 *   across(strip)                           lines side by side, whole or some of their tiles
 *   last(numbers, m, value)                 K of m numbers, 1 ... 32: the last of it
 *   identity(value), combine(all, value)    nothing; *all combined with *value
 *
 * Numbers are of the operator's own type: float, double, uint32_t, uint64_t, or keys, int32_t or
 * int64_t. Totals are found first, from memory, and the results then, from the cache: no row waits
 * for the one before. For the files under cpu/, which are compiled once per instruction set: each
 * set has one table, tiles.c's. */
#ifndef RUNG_SCAN_CPU_TILE_H
#define RUNG_SCAN_CPU_TILE_H

#include <stdatomic.h>

#include "backend/cpu/isa.h"
#include "ops/scan/scan.h"

enum { SCAN_ROWS = SCAN_EIGHT * SCAN_EIGHT }; /* of a tile */

typedef struct scan_piece {
  const void *in;
  void *out;
  int count; /* elements, 1 ... SCAN_TILE */
  rung_key_code key;
  bool exclusive;
  bool begins;      /* it is its line's first */
  bool past;        /* out is stored past the caches, of types that go through vectors */
  const char *next; /* what will be read after this, prefetched meanwhile: as many rows; or NULL */
} scan_piece;

/* Elements, at most, of a line that is short. */
enum { SCAN_SHORT = SCAN_ROW };

/* Short lines; pitches are in elements. */
typedef struct scan_short_lines {
  const void *in;
  void *out;
  int64_t count, in_pitch, out_pitch;
  rung_key_code key;
  int columns; /* 1 ... SCAN_SHORT */
  bool exclusive, past;
} scan_short_lines;

/* Lines side by side, at most as many as the operator takes (`widest`). Or lines anywhere, as many
 * as SCAN_STRIP_LEAST vectors have lanes: `at` says where each lies. Steps are in elements. */
enum { SCAN_SCATTERED = SCAN_STRIP_LEAST * SCAN_MOST_LANES };
typedef struct scan_strip {
  const char *in;
  char *out;
  int count;      /* lines */
  int vectors;    /* that they take */
  int head;       /* so many of them, fewer than a vector's, come before the first whole vector */
  bool scattered; /* else they are neighbours, the first one at the beginning of in and out */
  int64_t in_at[SCAN_SCATTERED], out_at[SCAN_SCATTERED]; /* where each begins, in elements */
  int64_t columns, in_step, out_step;
  /* The elements of each line that are made: from a tile on, to a tile or the end of the line. */
  int64_t begin, end;
  rung_key_code key;
  bool exclusive, past; /* past: whole vectors are stored past the caches, and aligned to that */
  bool asks;            /* what comes later is asked for: it may not be in the second-level cache */
  const char *next;     /* where the next strip's lines begin, to be prefetched; or NULL */
  char *aggregates;     /* a vector for each vector of lines; NULL where lines have one tile */
  /* Flags of aggregates, where threads share the strip's tiles; NULL: one thread makes them all. */
  atomic_uchar *there;
} scan_strip;

/* Room for a number of any operator, and for a tile's. */
typedef union scan_number {
  float f32;
  double f64;
  uint32_t u32;
  uint64_t u64;
} scan_number;
typedef union scan_numbers {
  float f32[SCAN_ROWS];
  double f64[SCAN_ROWS];
} scan_numbers;

typedef struct scan_operator_tiles {
  void (*totals)(const void *in, int rows, const rung_key_code *key, void *totals, void *total);
  void (*tile)(const scan_piece *piece, const void *totals, const void *before);
  void (*lines)(const scan_short_lines *lines);
  int widest; /* lines of a strip */
  void (*across)(const scan_strip *strip);
  void (*last)(const void *numbers, int m, void *value);
  void (*identity)(void *value);
  void (*combine)(void *all, const void *value);
} scan_operator_tiles;

extern const scan_operator_tiles RUNG_ENTRY(scan_tiles_of)[SCAN_OPERATORS];

#endif
