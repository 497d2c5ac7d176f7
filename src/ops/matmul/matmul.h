/* matmul: C = alpha A B + beta C, and a batch of it.
 *
 *   A      (m, k), or turned (k, m)     f32 | f64 | f16 | bf16 | i8     arrays[MATMUL_A]
 *   B      (k, n), or turned (n, k)     A's type                        arrays[MATMUL_B]
 *   added  (m, n)                       C's type                        arrays[MATMUL_ADDED]
 *   C      (m, n)                       f32 | f64 | f32, A's | i32      arrays[MATMUL_C]
 *
 * In front of these come the batch's dimensions, in all arrays but those of A and B that are the
 * same for all of it. One dimension: matrices any distance apart; more: the array has no gaps.
 * Without added (count 0) beta is 0. added may be the very view of C: each of its elements is read
 * before that of C is written, by the same thread. batch, m, n >= 1 where a rung is launched; k may
 * be 0, and A and B are then not given.
 *
 * Order of arithmetic: an element is one chain of fused multiply-adds over rising k,
 *     t = +0;  for l = 0 ... k - 1: t = fma(A[i, l], B[l, j], t)
 *     r = alpha * t;  C[i, j] = added ? fma(beta, added[i, j], r) : r
 * In f32 of f32, f16 and bf16, in f64 of f64; f16 and bf16 results are rounded once, half to even.
 * Of i8: in i32, modulo 2^32. alpha and beta are numbers of the sum's type. Nothing is filled with
 * zeros: fma(0, inf, t) is a NaN, and fma(0, x, -0) is +0.
 *
 * Error against the exact result, eps that of the sum's type (2^-23, 2^-52), stored that of C's
 * type where it is another, else 0, tiny the least number of the sum's type, |A||B| the sum of the
 * products' magnitudes: as long as nothing overflows,
 *     |error| <= ((k + 2) eps + stored) (|alpha| |A||B| + |beta added|) + (k + 2) (|alpha| + 1)
 * tiny
 *
 * Under RUNG_MATH_FAST rungs that are named in modes.h round f32 factors and add up on tensor
 * cores: see docs/NUMERICS.md for what that may cost; f16 and bf16 factors stay what they are.
 *
 * Under RUNG_MATH_FIXED (types.accumulate is RUNG_I64) of f32, f16 and bf16, in whole numbers of b
 * = `bits` bits, 8 ... 31, with n = (b + 8) / 8 digits: e_i: the exponent with 2^(e_i - 1) <= max
 * over l of |A[i, l]| < 2^e_i; 0 where all are 0 q(A[i, l]) = A[i, l] * 2^(b - 1 - e_i), rounded to
 * a whole number, ties to even q * 2^(8n - 1 - b) = sum over p < n of d_p 256^p, each d_p from -128
 * to 127 B's columns the same, with exponents f_j S_ij = sum over l, and over p + r >= n - 1, of
 * d_p(A[i, l]) d_r(B[l, j]) 256^(p + r - n + 1) t = S_ij * 2^(e_i + f_j - 8n - 4), rounded once to
 * f32, also where that is subnormal and then r and C[i, j] as above. S is a whole number that 64
 * bits hold for k <= 2^26, more of which are refused: nothing is rounded, and any order has its
 * bits. A row of A or a column of B with an infinity or a NaN has no exponent: its results' t are
 * NaNs; where k is 0 t is +0.
 *
 * Its error, as long as t does not overflow, with L = 2^-28.4, 2^-20.9, 2^-14 of 4, 3, 2 digits and
 * eps = 2^-23, tiny = 2^-149:
 *     |t - A B| <= sum over l of (|A| 2^(f_j - b) + |B| 2^(e_i - b) + 2^(e_i + f_j - 2b))
 *                  + k L 2^(e_i + f_j) + eps/2 |t| + tiny
 * See docs/NUMERICS.md for why, and docs/FIXED.md for whom it is.
 *
 * Least work: bytes = every element of every array once, flops = 2 batch m n k. */
#ifndef RUNG_MATMUL_H
#define RUNG_MATMUL_H

#include "core/ladder.h"

enum { MATMUL_A, MATMUL_B, MATMUL_ADDED, MATMUL_C };

/* Rungs of GPUs work in tiles: pieces of a job have no fewer rows and columns. */
enum { MATMUL_GRANULE = 64 };

/* Fixed point: bits, digits and k at most. */
enum { MATMUL_LEAST_BITS = 8, MATMUL_BITS = 31, MATMUL_DIGITS = 4, MATMUL_FIXED_K = 1 << 26 };

#define MATMUL_DTYPES (RUNG_SINGLE_DOUBLE | RUNG_HALVES | RUNG_TYPE(RUNG_I8))
#define MATMUL_SUM_DTYPES (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_I32))
#define MATMUL_FIXED_DTYPES (RUNG_TYPE(RUNG_F32) | RUNG_HALVES)
#define MATMUL_RESULT_DTYPES (MATMUL_SUM_DTYPES | RUNG_HALVES)

typedef struct matmul_problem {
  int64_t batch, m, n, k;
  rung_types types;
  bool a_turned, b_turned;
  int batch_axes; /* of the job's axes the first so many; then m, n */
  int bits;       /* of fixed point; 0: sums of the elements' kind */
  double alpha, beta;
  double bytes, flops;
  /* NULL; or the product of halves that these are the chains of, which is to be ended with them
   * (widened.h). */
  const rung_task *whole;
  bool smallest; /* a piece of a job, and there is none smaller: memory is short */
} matmul_problem;

/* How many elements a matrix is from the next, and within it a row and a column. */
typedef struct matmul_steps {
  int64_t batch, row, column;
} matmul_steps;

static inline matmul_steps matmul_steps_of(const rung_view *view, bool turned) {
  const int last = view->ndim - 1;
  if (view->count == 0) return (matmul_steps){0, 0, 0};
  const int64_t line = view->stride[last - 1];
  const int64_t batch = view->ndim == 2   ? 0
                        : view->ndim == 3 ? view->stride[0]
                                          : view->shape[last - 1] * view->shape[last];
  return turned ? (matmul_steps){batch, 1, line} : (matmul_steps){batch, line, 1};
}

/* Whether 16 bytes can be moved at once along the dimension that goes on in memory. */
static inline bool matmul_is_wide(const rung_view *view, const matmul_steps *steps) {
  const int64_t size = (int64_t)rung_dtype_bytes(view->dtype);
  const int64_t line = steps->row == 1 ? steps->column : steps->row;
  return view->count > 0 &&
         ((uintptr_t)view->data | (uintptr_t)(line * size) | (uintptr_t)(steps->batch * size)) %
                 16 ==
             0;
}

/* Digits of 8 bits, the highest of which is at most 64 in magnitude. */
RUNG_ANYWHERE int matmul_digits_of(int bits) {
  return (bits + 8) / 8;
}

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation matmul_operation;

/* Axes: the batch's, m, n. */
extern const struct rung_cut matmul_parts;

/* What results a type of elements may have: f32 of f32, f32 or f16 of f16 ... */
unsigned matmul_results_of(rung_dtype dtype);
rung_types matmul_types_of(rung_dtype dtype, rung_dtype result, bool fixed);

/* All but `turned` and `batch_axes`. alpha and beta are rounded to the sum's type; refused where
 * that is not finite, or, of integers, no whole number from -2^31 to 2^32 - 1. bits: of fixed
 * point, else not looked at; refused below 8 and beyond 31, and k beyond 2^26 with them. */
rung_status matmul_problem_of(rung_error *error, rung_types types, const int64_t shape[4],
                              double alpha, double beta, int bits, matmul_problem *problem);

/* bytes and flops of the arrays, of which the problem is known. */
void matmul_measure(matmul_problem *problem, const rung_view *arrays);

#ifdef __cplusplus
}
#endif
#endif
