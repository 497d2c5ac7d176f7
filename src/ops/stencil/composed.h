/* p steps as one filter: what the `composed` rungs share, on every device.
 *
 * Inside a row, where no edge and no fixed column is felt, p steps are one filter: the p-fold
 * convolution of the weights with themselves. Its taps fall off like a bell's flanks, so most of
 * the 2rp+1 of them are too small to matter and are cut. The columns within p * r of either end
 * do feel an edge: a shorter row, made of these alone, takes the steps by the contract's chain. */
#ifndef RUNG_STENCIL_COMPOSED_H
#define RUNG_STENCIL_COMPOSED_H

#include "ops/stencil/stencil.h"

enum {
  STENCIL_COMPOSED_TAPS = 1024, /* at most: kernels take them by value */
  STENCIL_COMPOSED_STEPS = 4    /* at least: fewer are no work worth saving */
};

/* out[j] = taps[0] * in[j + first] + ... + taps[count - 1] * in[j + first + count - 1], one chain
 * of fused multiply-adds in this order, from +0. */
typedef struct stencil_filter {
  int count;
  int64_t first;
  double error;     /* taps as they are less taps as they ought to be: sum of magnitudes, at most */
  double roundings; /* sum of |taps[k]| times how many roundings it goes through */
  double taps[STENCIL_COMPOSED_TAPS];
} stencil_filter;

/* Where the filter does not reach, and the row that stands for it: columns 0 ... prefix - 1 of the
 * grid, which a wrapped edge asks for, then `reach` * 2 columns from `low`, then the row's last
 * `reach` * 2. The steps spoil half of both stretches from the seam between them; the outer
 * halves are what the whole row would have: columns [low, from) and [to, m). */
typedef struct stencil_ends {
  int64_t prefix, low, reach;
  int64_t from, to; /* the inside */
  int64_t columns;  /* of the short row */
} stencil_ends;

/* The grid's column at column c of the short row. */
static inline int64_t stencil_ends_column(const stencil_ends *e, int64_t c) {
  if (c < e->prefix) return c;
  if (c < e->prefix + 2 * e->reach) return e->low + (c - e->prefix);
  return e->to + e->reach - (e->columns - c);
}

#ifdef __cplusplus
extern "C" {
#endif

/* False, with the reason, where the problem's steps cannot be one filter or nothing is saved. */
bool stencil_compose(const stencil_problem *problem, stencil_filter *filter, char why[RUNG_REASON]);

/* How far the filter's result may be from the exact one, for a row of magnitudes up to `size`. */
double stencil_filter_bound(const stencil_problem *problem, const stencil_filter *filter,
                            double size);

/* The ends of a problem that can be composed, and the problem of its short rows. */
stencil_ends stencil_ends_of(const stencil_problem *problem);
stencil_problem stencil_ends_problem(const stencil_problem *problem);

/* The task that takes the steps of the short rows, in place at `data`; its scratch lies `offset`
 * bytes into the task's. `problem` must outlive it. */
void stencil_ends_task(const rung_task *task, const stencil_problem *problem, void *data,
                       size_t offset, rung_task *ends);

#ifdef __cplusplus
}
#endif
#endif
