/* Cuts along the batch, the rows and the columns of C: every element has its whole chain in one
 * piece. */
#include "core/plan.h"
#include "ops/matmul/matmul.h"

/* Leaves of an array what the piece has of it: `rows` and `columns` are axes of the job, or -1. */
static void narrow(const matmul_problem *p, const rung_piece *piece, int rows, int columns,
                   rung_view *view) {
  const int last = view->ndim - 1;
  if (view->count == 0) return;
  for (int d = 0; d + 2 < view->ndim && d < p->batch_axes; d++)
    rung_view_narrow(view, d, piece->first[d], piece->count[d]);
  if (rows >= 0) rung_view_narrow(view, last - 1, piece->first[rows], piece->count[rows]);
  if (columns >= 0) rung_view_narrow(view, last, piece->first[columns], piece->count[columns]);
}

static bool share_piece(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(matmul_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  matmul_problem *p = (matmul_problem *)share->problem.bytes;
  const int m = p->batch_axes, n = m + 1;
  (void)state;
  narrow(p, piece, p->a_turned ? -1 : m, p->a_turned ? m : -1, &share->arrays[MATMUL_A]);
  narrow(p, piece, p->b_turned ? n : -1, p->b_turned ? -1 : n, &share->arrays[MATMUL_B]);
  narrow(p, piece, m, n, &share->arrays[MATMUL_ADDED]);
  narrow(p, piece, m, n, &share->arrays[MATMUL_C]);
  const matmul_problem job = *p;
  p->batch = 1;
  for (int d = 0; d < p->batch_axes; d++) p->batch *= piece->count[d];
  p->m = piece->count[m];
  p->n = piece->count[n];
  p->smallest = p->batch == 1 && p->m <= MATMUL_GRANULE && p->n <= MATMUL_GRANULE &&
                (job.batch > 1 || job.m > p->m || job.n > p->n);
  return true;
}

const rung_cut matmul_parts = {.share = share_piece};
