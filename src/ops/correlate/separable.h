/* Kernels of rank one, in two passes: what the `separable` rungs share, on every device.
 *
 * A kernel is separable where a column and a row of doubles have products that are its taps: each
 * product, rounded to double and then to the type of the sums, is the tap, bit for bit (but for the
 * signs of zeros). Two factorisations are tried, and are the canonical ones:
 *
 *   1. the row of the tap of the largest magnitude (the first such) over the greatest common
 *      divisor of its taps, and the column that this leaves: of a kernel that is of rank one
 * exactly no number in it is rounded, for its rows are multiples of one row of integers;
 *   2. of a square kernel, the roots of the diagonal, in double and in f32: those that a square
 *      outer product of numbers of either type was made of.
 *
 * The row is scaled by a power of two, so that its magnitudes sum to 1/4 ... 1/2 and no sum of it
 * overflows, the column by its inverse; then both are rounded to the sums' type. A kernel with a
 * subnormal tap or factor is not taken, for its factors may be far from it. Where sums are exact
 * (of integers), so are the factors.
 *
 *   h[r, x] = one chain of fused multiply-adds over the row's taps from left to right, from +0,
 *             on row r of the image
 *   out[y, x] = one chain over the column's taps from above down, from +0, on h[y ..., x]
 *
 * Error against the exact result of the kernel that was given:
 *     |error| <= ((rows + columns + 4) eps + stored) |taps||in|
 *              + (columns |column| + rows + 2) tiny
 * where |column| is the sum of its magnitudes; derived in docs/NUMERICS.md. */
#ifndef RUNG_CORRELATE_SEPARABLE_H
#define RUNG_CORRELATE_SEPARABLE_H

#include "ops/correlate/correlate.h"

/* Numbers of the type of correlate_number_of(). */
typedef struct correlate_factors {
  double column[RUNG_KERNEL_MOST], row[RUNG_KERNEL_MOST];
} correlate_factors;

#ifdef __cplusplus
extern "C" {
#endif

/* False, with the reason, where kernel k is not separable or nothing is saved. */
bool correlate_separate(const correlate_problem *p, int64_t k, correlate_factors *factors,
                        char why[RUNG_REASON]);

/* Whether all kernels are. */
bool correlate_is_separable(const correlate_problem *p, char why[RUNG_REASON]);

#ifdef __cplusplus
}
#endif
#endif
