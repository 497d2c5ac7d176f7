/* Cuts along the rows of out: a piece sees the rows of the image that its own need. */
#include "core/plan.h"
#include "ops/correlate/correlate.h"

static bool share_rows(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(correlate_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  correlate_problem *p = (correlate_problem *)share->problem.bytes;
  int64_t row, rows;
  (void)state;
  correlate_rows_needed(p, piece->first[0], piece->count[0], &row, &rows);
  rung_view_narrow(&share->arrays[CORRELATE_IN], 0, row - p->view_row, rows);
  rung_view_narrow(&share->arrays[CORRELATE_OUT], p->kernels > 1, piece->first[0], piece->count[0]);
  p->view_row = row;
  p->first_row += piece->first[0];
  p->rows = piece->count[0];
  return true;
}

const rung_cut correlate_parts = {.share = share_rows};
