/* scan: the sums, minima or maxima of all beginnings of a line.
 *
 *   in   (lines, columns)   u8 | i8 | u16 | i16 | i32 | u32 | i64 | u64 | f16 | bf16 | f32 | f64
 *                                        arrays[SCAN_IN]
 *   out  (lines, columns)   in's type    arrays[SCAN_OUT]
 *
 * inclusive: out[l, i] is the sum (minimum, maximum) of in[l, 0 ... i]; exclusive: of
 * in[l, 0 ... i - 1], and out[l, 0] that of nothing: +0, the largest number for a minimum (+inf of
 * floats), the least for a maximum (-inf). Both arrays have stride 1 along a line and any from line
 * to line, or are compact with any number of dimensions, the last one being the line. out may be
 * the very view of in. lines >= 1 and 1 <= columns <= SCAN_MOST where a rung is launched. Data are
 * aligned to their element, no more.
 *
 * Where lines lie side by side (problem.across) both arrays are (outer, columns, inner), inner > 1
 * neighbours in memory, any strides of the other two, and a line is in[o, 0 ... columns - 1, i].
 * Its order of arithmetic is that of its own elements, as everywhere.
 *
 * Order of arithmetic. Integers are summed modulo 2^bits; minimum and maximum are those of
 * IEEE 754-2019 (core/key.h): any order gives the same. For sums of floats it is this one. What is
 * missing, and nothing, is -0.0, which changes no sum and may as well be left out. f16 and bf16 are
 * summed as the floats they are, by f32's order, and every result is rounded once, half to even.
 *
 *   K of t[0 ... m): for s = 1, 2, 4 ... while s < m, all at once: t[i] becomes t[i - s] + t[i]
 *   where i >= s. (Kogge and Stone's prefix; where m is a power of two, the last one is the
 *   balanced tree over all.) A running sum goes left to right and begins with the first number.
 *
 *   group   4 elements            e = K of them                      total e[3]
 *   row     32 groups, 128        g = K of the groups' totals        total g[31]
 *   band    8 rows, 1024          R(r) = running sum of the totals of the rows before r
 *   tile    8 bands, 8192         B(b) = running sum of the totals of the bands before b
 *           The total of a band or a tile is the running sum of all eight.
 *   Above: the aggregates of level 0 are the tiles' totals; 32 consecutive ones of level k are a
 *   family, and the last of K of a full family is an aggregate of level k + 1.
 *
 *   E(k)    of a tile: where the ancestor of level k is number i > 0 of its family, K of the
 *           family's aggregates at i - 1; else nothing
 *   P       = (... (E(top) + E(top - 1)) + ... ) + E(0), nothings left out
 *   offset  of group j of row r of band b = ((P + B(b)) + R(r)) + g[j - 1], nothings left out
 *
 *   inclusive[i] = offset + e[i % 4]
 *   exclusive[i] = offset + e[i % 4 - 1], the offset alone where i % 4 = 0, and +0 at i = 0
 *
 * So exclusive[i + 1] need not have the bits of inclusive[i] in floats.
 *
 * Error of a sum of floats, eps = 2^-23 (f32, f16, bf16) or 2^-52 (f64), the magnitudes those of
 * the elements that are summed; f16 and bf16 add the rounding of the result: canonical  |sum -
 * exact| <= (24 + 6 * levels) * eps * sum|x|, levels = 0 of one tile, 1 up to 32 tiles, 2 up to
 * 32^2 ... textbook   |sum - exact| <= columns * eps * sum|x| as long as the sum of the magnitudes
 * does not overflow.
 *
 * Least work: bytes = every element of in and of out once, flops = an addition or comparison for
 * every element. */
#ifndef RUNG_SCAN_H
#define RUNG_SCAN_H

#include "core/key.h"
#include "core/ladder.h"

enum { SCAN_IN, SCAN_OUT };

/* The numbers of the contract. SCAN_LEVELS is enough for SCAN_MOST elements. */
enum {
  SCAN_GROUP = 4,
  SCAN_FAMILY = 32,
  SCAN_ROW = SCAN_GROUP * SCAN_FAMILY,
  SCAN_EIGHT = 8,
  SCAN_BAND = SCAN_EIGHT * SCAN_ROW,
  SCAN_TILE = SCAN_EIGHT * SCAN_BAND,
  SCAN_LEVELS = 6
};

#define SCAN_MOST ((int64_t)1 << 40)

/* Of 4 and 8 bytes, and with the narrow ones. */
#define SCAN_WIDE_DTYPES                                                                  \
  (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | RUNG_TYPE(RUNG_I64) | \
   RUNG_TYPE(RUNG_U64))
#define SCAN_DTYPES                                                           \
  (SCAN_WIDE_DTYPES | RUNG_HALVES | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) | \
   RUNG_TYPE(RUNG_U16) | RUNG_TYPE(RUNG_I16))

typedef struct scan_problem {
  rung_reduction what; /* not RUNG_MEAN */
  rung_dtype dtype;
  bool exclusive;
  int64_t lines, columns;
  bool across;
  int64_t inner;  /* lines side by side; 1 where they are not */
  int axis;       /* the columns' among the job's */
  int64_t origin; /* of the line that the arrays begin with: over ranks they are a part of it */
  /* Whether the lines are ranges of the one that is longer, one behind the other, each SCAN_TILE *
   * SCAN_FAMILY^k elements from a multiple of as many; of one alone there may be less. Then:
   * whether that line begins with the first of them, and where, before_step bytes apart, each has
   * the number (of the source's type) that stands for E(top) ... E(k) of all its tiles. */
  bool range, begins;
  const char *before;
  int64_t before_step;
  /* Of such ranges, whole ones, the aggregates of level k are asked for, and no results: out is
   * (lines, 1), numbers as they are combined, of RUNG_U32 or RUNG_U64. */
  bool aggregates;
  double bytes, flops;
} scan_problem;

/* What rungs compute with: minima and maxima are the least of keys (core/key.h). */
typedef enum scan_operator {
  SCAN_ADD_F32,
  SCAN_ADD_F64,
  SCAN_ADD_32, /* integers, modulo 2^32 or 2^64 */
  SCAN_ADD_64,
  SCAN_LEAST_32, /* keys */
  SCAN_LEAST_F32,
  SCAN_LEAST_64,
  SCAN_LEAST_F64,
  SCAN_ADD_8, /* narrow types, in 32 bits: integers modulo 2^8 or 2^16 */
  SCAN_ADD_16,
  SCAN_ADD_HALF, /* f16 and bf16, in float */
  SCAN_LEAST_8,
  SCAN_LEAST_16, /* f16 and bf16 too */
  SCAN_OPERATORS
} scan_operator;

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation scan_operation;

/* Axes: the arrays' dimensions. Results of a part, ranges of columns of one level side by side, are
 * the ranges' aggregates. */
extern const struct rung_cut scan_parts;

/* Fills *problem; refuses sizes out of range. `inner` > 1: that many of the lines lie side by side.
 */
rung_status scan_problem_of(rung_error *error, rung_reduction what, rung_dtype dtype,
                            bool exclusive, int64_t lines, int64_t columns, int64_t inner,
                            scan_problem *problem);

/* Whether a rung of this name, which may be NULL, takes lines side by side as they lie; others get
 * them packed. */
bool scan_takes_across(const char *rung);

scan_operator scan_operator_of(const scan_problem *problem);

/* What becomes of a problem's types: sums of f16 and bf16 are made in f32. */
rung_types scan_types_of(rung_reduction what, rung_dtype dtype);

/* How a problem's elements are loaded as numbers and stored again. */
rung_key_code scan_key_of(const scan_problem *problem);

/* Bytes of a number that is combined. */
int64_t scan_number_bytes(const scan_problem *problem);

/* The dimension of the arrays that the job's axis k is: of lines side by side the columns are the
 * middle one, and the job's last axis. */
static inline int scan_dimension_of(const scan_problem *problem, int k) {
  return problem->across && k > 0 ? 3 - k : k;
}

/* Elements from a line to the next, where they are not side by side. */
int64_t scan_pitch_of(const scan_problem *problem, const rung_view *view);

/* Levels above the tiles of the longest line. */
int scan_levels_of(int64_t columns);

/* Tiles of so many elements. */
RUNG_ANYWHERE int64_t scan_tiles(int64_t columns) {
  return (columns + SCAN_TILE - 1) / SCAN_TILE;
}

/* Aggregates of all levels that a line of so many tiles has: those of a level one after the other,
 * then those of the next, of full families only. */
RUNG_ANYWHERE int64_t scan_aggregates(int64_t tiles) {
  int64_t all = 0;
  for (; tiles > 0; tiles /= SCAN_FAMILY) all += tiles;
  return all;
}

/* Threads a block of the GPU's textbook rungs. */
static inline int64_t scan_block_of(const rung_task *task) {
  return task->block == 0 ? 256 : task->block;
}

/* The CPU rung "across" takes lines side by side in strips of vectors, which are at most 64 bytes:
 * of at most SCAN_STRIP_VECTORS, and shared out between threads down to SCAN_STRIP_LEAST (of
 * numbers that stay narrow, so many bytes). Rows are asked for so many ahead, unless both arrays
 * are no more than SCAN_STRIP_NEAR bytes. Lines fewer than a vector has lanes, which is at most
 * SCAN_MOST_LANES, are brought together where they have at least SCAN_LONG elements. */
enum { SCAN_STRIP_LEAST = 4, SCAN_STRIP_VECTORS = 32 };
enum { SCAN_STRIP_BYTES = 1024, SCAN_STRIP_BYTES_SHORT = 2048 }; /* of lines shorter than a row */
enum { SCAN_STRIP_ROWS = 16, SCAN_STRIP_NEAR = 1 << 20 };
enum { SCAN_MOST_LANES = 64 / 4, SCAN_LONG = 2 * SCAN_ROW };

/* Words of 8 bytes before the aggregates of GPU rungs whose blocks wait for one another. */
enum { SCAN_COUNTER_WORDS = 2 };

typedef struct scan_wide {
  long double sum, magnitude;
} scan_wide;

#ifdef __cplusplus
}
#endif
#endif
