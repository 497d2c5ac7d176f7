/* stencil: a weighted row stencil applied p times, and where its rows start.
 *
 * in    (rows, columns) f32 | f64   arrays[STENCIL_IN]; count 0 where the rows start themselves
 * out   (rows, columns) same        arrays[STENCIL_OUT]
 * means (rows) same                 arrays[STENCIL_MEANS]; count 0: not wanted
 *
 * One step, for columns fixed <= j < columns:
 *     new[j] = w[0]*old[j-r] + ... + w[2r]*old[j+r]
 * in this order, every product fused with its sum:
 *     t = w[2r] * old[j+r];  for k = 2r-1 ... 0: t = fma(w[k], old[j+k-r], t);  new[j] = t
 * where w are the given weights over `divide`, put on a grid (grid_weights() below). From the
 * right because the radiator's weights fall from left to right, and small terms first lose least;
 * docs/NUMERICS.md has the orders tried and their measured errors. What lies outside a row comes
 * from the edge rule, at every step anew. Columns j < fixed keep their start.
 *
 * Least work: bytes = rows*columns*element*(in? 2 : 1) (+ means), flops = 2*(2r+1)*p*rows*
 * (columns-fixed).
 *
 * Error of the canonical chain against the weights as given, per step and element, to first order:
 *     |error| <= (2r+1) * eps * (sum|w| + 2 * max|w|) * max|old|      (eps = 2^-24, 2^-53)
 * The first part is the chain's 2r+1 roundings, the second the grid: a weight moves by at most one
 * unit of it, and a unit is at most 2 * eps * max|w|. p steps add at most p times that while
 * sum|w| <= 1.
 *
 * RUNG_MATH_FAST allows p steps to be one filter inside a row (composed.h): for the columns that
 * feel neither an edge nor a fixed column, from max(fixed - r, 0) + p*r to columns - p*r. The
 * others keep the contract's bits. The taps c[0 ... K), first to last, are the p-fold convolution
 * of w / divide, made in extended precision, less at either end what sums to at most eps/8 of all
 * magnitudes, each rounded once; one chain of fused multiply-adds in this order. Then, to first
 * order,
 *     |error| <= (eps * (sum over k of (K - k + 1) * |c[k]|) + eps/4 + a little) * max|row|
 * where the first part is the roundings each tap's product goes through (about K/2 of them, for
 * the taps lie like a bell), the second what is cut, and a little is what the composing rounds,
 * added up as it is made. A value that is not finite reaches no column that p steps would not carry
 * it to, but may reach fewer. */
#ifndef RUNG_STENCIL_H
#define RUNG_STENCIL_H

#include "core/edge.h"
#include "core/ladder.h"

enum { STENCIL_IN, STENCIL_OUT, STENCIL_MEANS };
enum { STENCIL_TAPS = 2 * RUNG_STENCIL_MAX_RADIUS + 1 };

/* Where rows start: from the input array, or by the radiator's own rule. */
typedef struct stencil_start {
  bool own; /* false: arrays[STENCIL_IN] */
  double hot[2], value;
  int power, falling;
  int fixed;         /* the model's: 1 or 2 */
  int64_t first_row; /* of the grid, where the task is a slice of its rows */
  int64_t all_rows;  /* the grid's n */
} stencil_start;

typedef struct stencil_problem {
  int64_t rows, columns, steps, fixed;
  int radius;
  rung_edge edge;
  double edge_value; /* already rounded to dtype */
  rung_dtype dtype;
  rung_math math;
  double weights[STENCIL_TAPS]; /* as given */
  double divide;
  double scaled[STENCIL_TAPS]; /* on the grid: each exact in dtype */
  stencil_start start;
  double bytes, flops;
} stencil_problem;

/* Scratch of the rungs that sweep: a second copy of the grid, in whole 256 bytes. */
static inline size_t stencil_grid_bytes(const stencil_problem *p) {
  return ((size_t)p->rows * (size_t)p->columns * rung_dtype_bytes(p->dtype) + 255) / 256 * 256;
}

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation stencil_operation;

/* weights[k] / divide, rounded to multiples of one power of two, the unit in the last place of
 * the largest of them in a type of `bits` significant bits, each rounding's error carried into
 * the next. So every scaled weight is exact in the type, and their sum is the nearest multiple of
 * (the weights' sum, rounded to double) / divide: weights that sum to `divide` keep a constant row
 * within an ulp of itself for ever (the chain's roundings may move it once, then it stands), where
 * separately rounded ones drift on with every step. */
void stencil_grid_weights(const double *weights, int taps, double divide, int bits, double *scaled);

/* Row i, column j of the radiator's start, in double. */
double stencil_start_value(const stencil_start *start, int64_t i, int64_t j, int64_t m);

/* Writes the whole start of a problem whose rows start themselves into a compact host grid. */
void stencil_fill_start(const stencil_problem *problem, void *grid);

/* Fills a problem (all but `start` and `math`, left zero) and validates every member of the model.
 */
rung_status stencil_problem_of(rung_error *error, const rung_stencil_model *model, int64_t rows,
                               int64_t columns, rung_dtype dtype, stencil_problem *problem);

/* Likewise for the radiator: a problem whose rows start themselves. */
rung_status stencil_radiator_problem(rung_error *error, const rung_radiator_model *model,
                                     int64_t steps, int64_t rows, int64_t columns, rung_dtype dtype,
                                     stencil_problem *problem);

/* A row's then(): the means of the output's rows by the best rung of reduce, where the task wants
 * them. */
rung_status stencil_means(const rung_task *task, rung_step *step);

#ifdef __cplusplus
}
#endif
#endif
