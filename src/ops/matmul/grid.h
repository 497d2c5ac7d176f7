/* How ranks share a product out: each makes the rows of C that it has ("as they lie"), or ranks are
 * a grid of `down` by `across`, and rank i * across + j makes block (i, j) of C. Which of them
 * takes the least time is told from what all ranks know, by sums of a few numbers, so that all find
 * the same. */
#ifndef RUNG_MATMUL_GRID_H
#define RUNG_MATMUL_GRID_H

#include "ops/matmul/call.h"
#include "rung/ranks.h"

/* What a rank does in a second, and how long an exchange takes that moves next to nothing. */
typedef struct matmul_rates {
  double madds, bytes, exchange;
} matmul_rates;

/* The product, as all ranks know it. */
typedef struct matmul_shares {
  int ranks;
  const int64_t *a_rows, *b_rows; /* every rank's first row of A and C, and of B; the end of all */
  int64_t n, k;
  int64_t element, result; /* bytes of one of A and B, and of C */
  bool adds;               /* beta is not 0 */
} matmul_shares;

/* down 0: rows as they lie. */
typedef struct matmul_grid {
  int down, across;
} matmul_grid;

typedef struct matmul_span {
  int64_t first, count;
} matmul_span;

#ifdef __cplusplus
extern "C" {
#endif

/* `on_gpus`: all ranks are GPUs, and parcels go from one to the other. */
const matmul_rates *matmul_rates_of(bool on_gpus);

matmul_grid matmul_grid_of(const matmul_shares *shares, const matmul_rates *rates);

/* What it is chosen by: the busiest rank's multiply-adds, then the bytes of the rank that sends and
 * receives the most, then exchanges. */
double matmul_grid_seconds(const matmul_shares *shares, const matmul_rates *rates,
                           matmul_grid grid);

/* Rows and columns of the block that a rank makes: none, if it is beyond the grid. */
matmul_span matmul_grid_rows(const matmul_shares *shares, matmul_grid grid, int rank);
matmul_span matmul_grid_columns(const matmul_shares *shares, matmul_grid grid, int rank);

/* Those of a block's rows that lie with `owner`. */
matmul_span matmul_grid_common(const matmul_shares *shares, matmul_span rows, int owner);

/* Columns of B that a rank has memory for at once: of as many blocks as there are ranks, but at
 * least 16 MB and 64 columns. */
int64_t matmul_grid_step(int64_t n, int64_t k, int64_t element, int ranks);

/* How often a block of B goes to who needs it, the same in all ranks. */
int64_t matmul_grid_steps(const matmul_shares *shares, matmul_grid grid);

/* rung_matmul_ranks(); grid: NULL, or instead of what matmul_grid_of() finds, the same in all
 * ranks. It may have more blocks than C has rows or columns. */
rung_status matmul_ranks(rung_context *context, const rung_ranks *ranks, double alpha,
                         const DLTensor *a, const DLTensor *b, double beta, DLTensor *c,
                         rung_call *call, const matmul_grid *grid);

#ifdef __cplusplus
}
#endif
#endif
