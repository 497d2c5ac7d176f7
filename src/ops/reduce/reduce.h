/* reduce: sum, minimum, maximum or mean of many elements at once.
 *
 * An array is seen as (outer, columns, inner), and out[o, i] is the reduction over k of
 * in[o, k, i]. Three forms of it reach the rungs; the entry point brings every other into one:
 *
 *   REDUCE_LINES   in (outer, columns): stride 1 along a line, any from line to line; out (outer),
 *                  any stride; inner is 1
 *   REDUCE_ACROSS  in (outer, columns, inner): stride 1 along the last, any along the others; out
 *                  (outer, inner), stride 1 along the last
 *   REDUCE_PACKED  in and out without gaps, of any number of dimensions: `outer` lines of
 *                  `columns`, one after the other; inner is 1
 *
 * A rung that gathers (rung_row.gathers) takes `in` of REDUCE_LINES and REDUCE_PACKED with any
 * strides, or with those it says.
 *
 * in   u8 | i8 | u16 | i16 | i32 | u32 | i64 | u64 | f16 | bf16 | f32 | f64, arrays[REDUCE_IN]
 * out  arrays[REDUCE_OUT]. Minimum, maximum: in's type. Sum: in's type where that is a float, else
 *      u64 of unsigned and i64 of signed integers. Mean: in's type where that is a float, else f64.
 *      Of a part, the sum of f16 or bf16 is an f32.
 * outer, inner >= 1 where a rung is launched; 0 <= columns <= REDUCE_MOST, and at least 1 for
 * minimum and maximum. Data are aligned to their element, no more.
 *
 * Order of arithmetic:
 *   sum of floats      core/sum.h, over the line's elements in the order of their indices; the sum
 *                      of nothing is +0. Of f16 and bf16 it is that of the same numbers in f32,
 *                      rounded to the type at its end
 *   sum of integers    modulo 2^64, in any order
 *   minimum, maximum   IEEE 754-2019 minimum and maximum: a NaN wins, -0 is below +0. Any order
 *                      gives the same
 *   mean               (type)((double)sum / (double)columns), of f16 and bf16 from the sum in f32;
 *                      the mean of nothing is a NaN
 *
 * Error of a sum of floats, eps = 2^-23 (f32, f16, bf16) or 2^-52 (f64); f16 and bf16 add the
 * rounding of the result:
 *   canonical  |sum - exact| <= 26 * levels * eps * sum|x|, levels = 1 up to 2^15 elements, 2 up to
 *              2^30, 3 beyond
 *   textbook   |sum - exact| <= columns * eps * sum|x|
 * as long as the sum of the magnitudes does not overflow; a mean strays by an eps and the smallest
 * subnormal more.
 *
 * Least work: bytes = every element of in and of out once, flops = an addition or comparison for
 * every element of in. */
#ifndef RUNG_REDUCE_H
#define RUNG_REDUCE_H

#include "core/key.h"
#include "core/ladder.h"
#include "core/sum.h"

enum { REDUCE_IN, REDUCE_OUT };

#define REDUCE_MOST ((int64_t)1 << 40)

#define REDUCE_FLOATS (RUNG_HALVES | RUNG_SINGLE_DOUBLE)
#define REDUCE_DTYPES                                                                      \
  (REDUCE_FLOATS | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) | RUNG_TYPE(RUNG_U16) |         \
   RUNG_TYPE(RUNG_I16) | RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | RUNG_TYPE(RUNG_I64) | \
   RUNG_TYPE(RUNG_U64))

typedef enum reduce_form { REDUCE_LINES, REDUCE_ACROSS, REDUCE_PACKED } reduce_form;

typedef struct reduce_problem {
  rung_reduction what;
  rung_dtype dtype, result;
  reduce_form form;
  int64_t outer, columns, inner;
  int axis;       /* the columns' among the job's */
  int64_t origin; /* of the columns that the arrays begin with: over ranks they are a part */
  bool whole;     /* everything to one number: the columns are all elements in row-major order */
  double bytes, flops;
} reduce_problem;

/* What rungs compute with. Minimum and maximum of all types are the minimum of signed integers,
 * their keys (core/key.h), and sums of integers are of unsigned ones in 64 bits, modulo 2^64: to a
 * signed element of up to 32 bits 2^(bits - 1) is added, which turns one bit over, and `columns`
 * times that is taken off the sum at the end. */
typedef enum reduce_operator {
  REDUCE_ADD_F32,
  REDUCE_ADD_HALF, /* f16 and bf16, in float */
  REDUCE_ADD_F64,  /* the last whose order matters */
  REDUCE_ADD_8,
  REDUCE_ADD_16,
  REDUCE_ADD_32,
  REDUCE_ADD_64,
  REDUCE_LEAST_8, /* keys of 32 bits */
  REDUCE_LEAST_16,
  REDUCE_LEAST_32,
  REDUCE_LEAST_F32,
  REDUCE_LEAST_64, /* keys of 64 bits */
  REDUCE_LEAST_F64,
  REDUCE_OPERATORS
} reduce_operator;

/* Where elements lie: strides in elements. */
typedef struct reduce_layout {
  int64_t in_outer, in_column; /* in's last dimension has stride 1 */
  int64_t out_outer;           /* out's last has, where the form is REDUCE_ACROSS */
} reduce_layout;

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation reduce_operation;

/* Axes: the dimensions of out, but where everything becomes one number, and the columns. Results of
 * a part are those of its tiles, of RUNG_SUM_TILE columns, or of tiles of as many tiles: a mean's
 * are sums. */
extern const struct rung_cut reduce_parts;

/* A rank's part of a reduction to one number, as rung_reduce_ranks() does it, within another call
 * over ranks; of arrays that are good. `own` is what the rank has come to so far. Returns the same
 * in all ranks. */
struct rung_ranks;
rung_status reduce_within(rung_context *context, const struct rung_ranks *ranks, rung_status own,
                          rung_reduction what, const rung_view *in, const rung_view *out);

/* As rung_reduce() along an axis, within another call, of arrays that are good, wherever each lies.
 * On the host the results are there when it returns. */
rung_status reduce_along(rung_context *context, rung_reduction what, const rung_view *in, int axis,
                         const rung_view *out);

rung_dtype reduce_result_of(rung_reduction what, rung_dtype dtype);
rung_types reduce_types_of(rung_reduction what, rung_dtype dtype);

/* Fills *problem; refuses sizes out of range, and the minimum or maximum of nothing. */
rung_status reduce_problem_of(rung_error *error, rung_reduction what, rung_dtype dtype,
                              reduce_form form, int64_t outer, int64_t columns, int64_t inner,
                              reduce_problem *problem);

reduce_operator reduce_operator_of(const reduce_problem *problem);

/* The operator that combines what another leaves, and the type of that: f32, f64, u64, or i32 or
 * i64 of keys. Numbers of these types are loaded as they are: a key code of zeros. */
reduce_operator reduce_operator_next(reduce_operator op);
rung_dtype reduce_partial_of(reduce_operator op);
static inline bool reduce_is_ordered(reduce_operator op) {
  return op <= REDUCE_ADD_F64;
}

/* How elements become numbers: of minimum and maximum their key's code; the mask of a sum of
 * integers is the bit that is turned over, 0 where they are unsigned or of 64 bits. */
rung_key_code reduce_key_of(const reduce_problem *problem);

/* What finishing (ops/reduce/finish.h) has to know of a problem. */
typedef struct reduce_end {
  bool last; /* on a GPU: the partial result is a whole line's; otherwise it is stored as it is */
  bool mean;
  bool negative; /* elements can be: of the mean of integers */
  rung_dtype result;
  int64_t columns;
  rung_key_code key;
} reduce_end;
reduce_end reduce_end_of(const reduce_problem *problem);

reduce_layout reduce_layout_of(const rung_task *task);

/* Tiles in a line of so many elements; a line of none has one, empty. */
RUNG_ANYWHERE int64_t reduce_tiles(int64_t columns) {
  return columns > RUNG_SUM_TILE ? (columns + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE : 1;
}

/* Room for a line's partial results of a level on a GPU: every line's begin where 16 bytes do. */
RUNG_ANYWHERE int64_t reduce_pitch(int64_t tiles) {
  return (tiles + 3) / 4 * 4;
}

/* Threads a block of the GPU rungs that fold blocks, where the caller does not say. */
enum { REDUCE_BLOCK = 256 };

/* How many lines side by side a GPU's block takes: the power of two that holds all of them, at most
 * a warp. */
static inline int reduce_group(int64_t inner) {
  int group = 1;
  while (group < inner && group < 32) group *= 2;
  return group;
}

/* Of `timed` and `row-per-thread`: the old report's. */
enum { REDUCE_TIMED_BLOCK = 64, REDUCE_THREAD_BLOCK = 64 };

/* Room for what finish-host's kernel leaves the host to know, before the partial results. */
enum { REDUCE_NOTE = 64 };

/* Where there are fewer tiles than keep a GPU busy, single-pass shares each out to several blocks,
 * a power of two of them. A block's slice is, of floats' sums, every group of REDUCE_SLICE
 * neighbouring lanes that is so many groups after the last: what folding by halves makes of these
 * is again REDUCE_SLICE neighbours, and the slices' results lie side by side as the tile's lanes
 * would after as many halvings. Of anything else a slice is a piece of the tile, and one partial
 * result. */
enum {
  REDUCE_SLICE = 16,
  REDUCE_FEW_BLOCK = 512,  /* threads that fold what the slices of floats' sums left */
  REDUCE_FEW_TILES = 128,  /* their tiles, and the blocks that these are shared out to */
  REDUCE_FEW_SLICES = 8,   /* of a tile */
  REDUCE_SHORT = 4096,     /* elements of a line that such a block sums in one go */
  REDUCE_MOST_SLICES = 64, /* of a tile of anything else */
  REDUCE_MOST_SLICED = 256 /* its blocks */
};

/* Whether a task is a sum of floats over few tiles, which single-pass takes in slices, all of them
 * folded by one block in one go. Not where the caller asks for another block size. */
bool reduce_is_few(const rung_task *task);

/* Whether a task is of few lines, each so short that a block takes it in one go. Likewise. */
bool reduce_is_short(const rung_task *task);

/* Whether short lines are so many that a warp may take them whole: not such as single-pass folds by
 * a block each, and of more than RUNG_SUM_LANES elements enough to keep a device's warps busy. */
bool reduce_is_many(const rung_task *task);

/* Slices a tile; 1: a block takes it whole. */
int reduce_slices_of(const rung_task *task);

/* Counters of finished tiles, one for the lines that a block takes together; 16 bytes on, what
 * follows them is aligned again. */
static inline size_t reduce_counter_bytes(const reduce_problem *problem) {
  const int64_t group = reduce_group(problem->inner);
  const int64_t counters = problem->outer * ((problem->inner + group - 1) / group);
  return (size_t)(counters + 3) / 4 * 16;
}

/* ---- rows that lie apart -----------------------------------------------------------------------
 *
 * Everything of an array whose rows are runs of memory, and these of as many planes: single-pass
 * takes them where they lie. The elements, in their order, are `width` to a row and `height` rows
 * to a plane; `gap` elements are passed over after a row, and `plane_gap` more after a plane. */
enum {
  REDUCE_ROW = 16,            /* the fewest elements of such a row, */
  REDUCE_ROWS = 4,            /* the fewest rows of one plane of several, */
  REDUCE_ROWS_LEAST = 1 << 16 /* and elements: of fewer a copy is as soon done */
};
typedef struct reduce_rows {
  int64_t width, height, gap, plane_gap;
} reduce_rows;

/* Whether a job's input is such; *rows may be NULL. */
bool reduce_has_rows(const rung_task *task, reduce_rows *rows);

/* Lines of planes: runs of memory `pitch` apart, `lines` to a plane, after which `gap` elements
 * more are passed over. subwarp takes them where they lie, up to a tile of them, but for short ones
 * far apart, and tiny ones: these are as soon copied. */
typedef struct reduce_planes {
  int64_t lines, pitch, gap;
} reduce_planes;

/* Whether a job's input is such; *planes may be NULL. */
bool reduce_has_planes(const rung_task *task, reduce_planes *planes);

/* ---- tree-walk: lines side by side ------------------------------------------------------------
 *
 * A thread has `at_once` neighbouring lines and, of their lanes, every parties * split-th: folding
 * by halves is a tree, and what it makes of these is a subtree, which the thread walks depth first.
 * A block has `width` such threads side by side, in `parties` rows, whose results it folds; what
 * `split` blocks leave of a tile, and the tiles, the last of the blocks folds. All are powers of
 * two. */
enum {
  REDUCE_WALK_THREADS = 256, /* of a block, at most */
  REDUCE_WALK_ALONE = 64,    /* of one whose threads have whole lines: the last are done sooner */
  REDUCE_WALK_WIDTH = 16,    /* of them side by side, where there are enough lanes for the others */
  REDUCE_WALK_LANES = 128,   /* of a thread, at most, */
  REDUCE_WALK_DEEP = 1024,   /* and of one that has a single line of a ragged row */
  REDUCE_WALK_ROW = 256,     /* bytes of such a row that a block takes at least */
  REDUCE_WALK_WANTED = 384,  /* threads a multiprocessor, at least */
  REDUCE_LEAVES = 8,         /* elements of lines that a thread has whole, at once; */
  REDUCE_LEAVES_THREADS = 128 /* a block of such */
};
typedef struct reduce_walk {
  int at_once, width, width_bits, parties, split;
  int64_t across, columns; /* threads side by side: of one of outer, and of all */
  int64_t strips, tiles;   /* groups of `width` of them; tiles of a line */
  uint64_t inverse;        /* (2^64 - 1) / across; 0 where there is one of outer */
} reduce_walk;

/* How many neighbours a thread loads at once, where their places in memory allow it. */
int reduce_walk_wide(const rung_task *task);
reduce_walk reduce_walk_of(const rung_task *task, int at_once);

/* Partial results, of blocks that share tiles and then of tiles; counters of these blocks. */
int64_t reduce_walk_partials(const reduce_walk *walk);
int64_t reduce_walk_counters(const reduce_walk *walk);

/* ---- subwarp: short lines ----------------------------------------------------------------------
 */
enum {
  REDUCE_SUBWARP_LINE = 8191,    /* elements at most: of so few rows that a warp is enough */
  REDUCE_SUBWARP_LOADS = 8,      /* of a thread, under way at once */
  REDUCE_SUBWARP_BLOCK = 256,    /* threads at most */
  REDUCE_SUBWARP_BYTES = 12288,  /* of lines that a warp takes at once, through shared memory */
  REDUCE_SUBWARP_LINES = 512,    /* and how many of them at most; */
  REDUCE_SUBWARP_LITTLE = 2048,  /* bytes that such a warp has soon done, */
  REDUCE_SUBWARP_FEW = 8,        /* so many of which a multiprocessor should have, */
  REDUCE_SUBWARP_ALL = 48,       /* and of others */
  REDUCE_SUBWARP_RAGGED = 12000, /* bytes of sums' lines that are rather loaded where they are */
  REDUCE_SUBWARP_SHARED = 49152, /* a block's shared memory, */
  REDUCE_SUBWARP_ROOM = 49088,   /* so that a line is at most */
  REDUCE_SUBWARP_BANKED =
      256, /* elements of lines that are not brought where banks would collide */
  REDUCE_SUBWARP_HALVES = 256, /* of longer lines of f16 and bf16 that is the better way */
  REDUCE_SUBWARP_TINY = 4,     /* elements of lines that are not brought either */
  REDUCE_SUBWARP_PLANES = 3072 /* bytes of planes' lines that a warp loads where they are */
};

/* Whether lines so far apart are brought with what lies between them. */
static inline bool reduce_is_dense(int64_t columns, int64_t pitch) {
  return pitch >= columns && pitch - columns <= columns / 8;
}

#ifdef __cplusplus
}
#endif
#endif
