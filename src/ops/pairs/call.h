/* A call of pairs, its arguments looked at: of one set of points, or of a rank's part of it. */
#ifndef RUNG_PAIRS_CALL_H
#define RUNG_PAIRS_CALL_H

#include "core/plan.h"
#include "ops/pairs/pairs.h"

typedef struct pairs_call {
  rung_points a, b; /* the structs, of whatever header they are */
  rung_distances bins;
  const rung_box *box;
  bool cross, weighted;
  rung_view views[PAIRS_ARRAYS];
  pairs_problem problem;
} pairs_call;

/* Looks at all arguments and fills *call, but for the thresholds. */
rung_status pairs_call_read(rung_error *error, const rung_points *a, const rung_points *b,
                            const rung_box *box, const rung_distances *bins, const DLTensor *counts,
                            const DLTensor *outside, const DLTensor *sums, pairs_call *call);

/* Whether there are such points, weights or molecules. */
static inline bool pairs_is_given(const pairs_call *call, int array) {
  if (array >= PAIRS_A_WEIGHTS && array < PAIRS_A_MOLECULES && !call->weighted) return false;
  if (array >= PAIRS_A_MOLECULES && !call->problem.excluding) return false;
  return (array - PAIRS_A) % 2 == 0 || call->cross;
}

/* Of a point's coordinates, weight or molecule. */
static inline size_t pairs_element_bytes(const rung_view *view) {
  return (view->ndim == 2 ? (size_t)view->shape[1] : 1) * rung_dtype_bytes(view->dtype);
}

/* Its problem, of n and m points; with room for thresholds (may be NULL), which become a view, too.
 * Refuses too many points. */
rung_status pairs_call_problem(rung_error *error, pairs_call *call, int64_t n, int64_t m,
                               double *thresholds);

/* Room for its thresholds, for the caller to free. */
rung_status pairs_thresholds(rung_error *error, const pairs_call *call, double **thresholds);

/* The job of a problem; may_cut: its exponent is known (pairs_may_cut()). */
rung_job pairs_job_of(pairs_problem *problem, const rung_view *views, bool may_cut);

/* parts.c: makes of a job's problem and arrays those of a part: of the points [first[0], +
 * count[0]) of a and the others of b or, `apart`, of a again; within one set that is not, of those
 * of a alone. Outputs: of a part, and data is for the caller to set. */
void pairs_part_of(pairs_problem *problem, rung_view *arrays, const int64_t first[2],
                   const int64_t count[2], bool apart);

/* parts.c: the largest of some weights that lie in host memory, by pairs_magnitude(). */
double pairs_largest(const rung_view *weights);

/* parts.c: a part's outputs, which lie as in the state of pairs_parts. */
void pairs_results_at(const pairs_problem *problem, void *state, rung_view *arrays);

#endif
