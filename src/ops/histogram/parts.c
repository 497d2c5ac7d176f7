/* A histogram in parts: counts of ranges of a row's elements, which are added up. */
#include <string.h>

#include "core/dimensions.h"
#include "core/plan.h"
#include "ops/histogram/histogram.h"

enum { ROWS, ELEMENTS };

/* The elements of one histogram may have any number of dimensions. */
static void share_elements(const rung_piece *piece, rung_share *share) {
  rung_view *in = &share->arrays[HISTOGRAM_IN];
  const int64_t first = piece->first[ELEMENTS], count = piece->count[ELEMENTS];
  if (in->ndim == 2 && in->shape[0] == 1) {
    rung_view_narrow(in, 1, first, count);
    return;
  }
  const rung_view part = rung_view_compact(NULL, in->dtype, 2, (int64_t[]){1, count});
  share->flat[HISTOGRAM_IN] = first;
  rung_view_reshape(in, 2, part.shape, part.stride);
  in->count = count;
}

static bool share_piece(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(histogram_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  histogram_problem *p = (histogram_problem *)share->problem.bytes;
  rung_view *counts = &share->arrays[HISTOGRAM_COUNTS],
            *outside = &share->arrays[HISTOGRAM_OUTSIDE];
  const int64_t first = piece->first[ROWS], rows = piece->count[ROWS];
  (void)state;
  if (rows < p->rows) rung_view_narrow(&share->arrays[HISTOGRAM_IN], 0, first, rows);
  rung_view_narrow(counts, 0, first, rows);
  rung_view_narrow(outside, 0, first, rows);
  p->rows = rows;
  if (piece->stage != RUNG_PARTS) return true;
  share_elements(piece, share);
  p->columns = piece->count[ELEMENTS];
  *counts = rung_view_compact(NULL, RUNG_U64, 2, (int64_t[]){1, p->rule.bins});
  *outside = rung_view_compact(NULL, RUNG_U64, 2, (int64_t[]){1, HISTOGRAM_OUTER});
  return true;
}

/* A counter a bin, then those outside. */
static size_t state_bytes(const void *problem, const rung_piece *piece) {
  (void)piece;
  const histogram_problem *p = (const histogram_problem *)problem;
  return (size_t)(p->rule.bins + HISTOGRAM_OUTER) * sizeof(uint64_t);
}

static bool take(const void *problem, const rung_piece *piece, const rung_view *results,
                 void *state) {
  const int bins = ((const histogram_problem *)problem)->rule.bins;
  uint64_t *slots = (uint64_t *)state;
  (void)piece;
  if (rung_view_bytes(&results[HISTOGRAM_COUNTS]) != (size_t)bins * sizeof *slots ||
      rung_view_bytes(&results[HISTOGRAM_OUTSIDE]) != HISTOGRAM_OUTER * sizeof *slots)
    return false;
  for (int k = 0; k < bins; ++k) slots[k] += ((const uint64_t *)results[HISTOGRAM_COUNTS].data)[k];
  for (int k = 0; k < HISTOGRAM_OUTER; ++k)
    slots[bins + k] += ((const uint64_t *)results[HISTOGRAM_OUTSIDE].data)[k];
  return true;
}

static void finish(const void *problem, const rung_piece *piece, void *state,
                   const rung_view *outputs) {
  const int bins = ((const histogram_problem *)problem)->rule.bins;
  const uint64_t *slots = (const uint64_t *)state;
  const rung_view *outside = &outputs[HISTOGRAM_OUTSIDE];
  (void)piece;
  memcpy(outputs[HISTOGRAM_COUNTS].data, slots, (size_t)bins * sizeof *slots);
  if (outside->count > 0) memcpy(outside->data, slots + bins, HISTOGRAM_OUTER * sizeof *slots);
}

const rung_cut histogram_parts = {
    .share = share_piece, .state_bytes = state_bytes, .take = take, .finish = finish};
