/* rowmeans: the mean of every row of an array.
 *
 * in    (rows, columns) f32 | f64   arrays[ROWMEANS_IN]: column stride 1, any row stride
 * means (rows) same dtype           arrays[ROWMEANS_MEANS]: any stride but 0
 * rows >= 1, 1 <= columns <= ROWMEANS_MOST. The door packs arrays of other column strides first.
 * Data are aligned to their element, no more.
 *
 * Order of arithmetic: the sum of a row in the canonical order of core/sum.h, in the array's own
 * type: tiles of RUNG_SUM_LANES * RUNG_SUM_ROWS elements, lanes added down their rows, folded by
 * halves, the tiles' sums summed by the same rule. Then
 *     mean = (dtype)((double)sum / (double)columns).
 * A NaN in a row makes its mean a NaN. Infinities of one sign make it that infinity; of both
 * signs, a NaN. A sum that overflows on its way is infinite (or, where infinities of both signs
 * met, NaN), even if the exact mean is not.
 *
 * Error, with eps = 2^-23 (f32) or 2^-52 (f64) and mean|x| the mean of the row's magnitudes:
 *   canonical  |mean - exact| <= (26 * levels + 1) * eps * mean|x|, levels = 1 up to 2^15 columns,
 *              2 up to 2^30, 3 beyond
 *   textbook   |mean - exact| <= columns * eps * mean|x|
 * and in both the smallest subnormal more, for the last rounding; as long as the sum of the
 * magnitudes does not overflow.
 *
 * Least work: bytes = (rows * columns + rows) * element, flops = rows * columns.
 *
 * Sources in this room that other rooms may use: cpu/fold.h (one row, one CPU thread) and
 * cuda/fold.cuh (one row, one block). */
#ifndef RUNG_ROWMEANS_H
#define RUNG_ROWMEANS_H

#include "core/ladder.h"
#include "core/sum.h"

enum { ROWMEANS_IN, ROWMEANS_MEANS };

/* So many columns at most: 2^25 tiles, whose sums are 2^10 tiles, whose sums are one. */
#define ROWMEANS_MOST ((int64_t)1 << 40)

typedef struct rowmeans_problem {
  int64_t rows, columns;
  rung_dtype dtype;
  double bytes, flops;
} rowmeans_problem;

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation rowmeans_operation;

/* Fills *problem; refuses sizes out of range. */
rung_status rowmeans_problem_of(rung_error *error, int64_t rows, int64_t columns, rung_dtype dtype,
                                rowmeans_problem *problem);

/* Tiles in a row of so many elements. */
static inline int64_t rowmeans_tiles(int64_t columns) {
  return (columns + RUNG_SUM_TILE - 1) / RUNG_SUM_TILE;
}

/* Room for a row's tile sums in the scratch of a GPU rung: every row begins where 16 bytes do. */
static inline int64_t rowmeans_pitch(int64_t tiles) {
  return (tiles + 3) / 4 * 4;
}

#ifdef __cplusplus
}
#endif
#endif
