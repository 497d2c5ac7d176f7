/* The entry point of pairs: looks at the arguments once, brings the arrays into the form that rungs
 * take, and hands over. */
#include "ops/pairs/call.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/layout.h"

static const char *const array_names[PAIRS_ARRAYS] = {
    "a->at",        "b->at",      "a->weights", "b->weights", "a->molecules",
    "b->molecules", "thresholds", "counts",     "outside",    "sums"};

#define COUNT_DTYPES (RUNG_TYPE(RUNG_I64) | RUNG_TYPE(RUNG_U64))

/* ---- looking at the arguments -----------------------------------------------------------------
 */

static rung_status view_at(rung_error *error, int array, const DLTensor *at, rung_view *view) {
  rung_status status = rung_view_of(error, array_names[array], at, RUNG_SINGLE_DOUBLE, 2, view);
  if (status == RUNG_OK && view->shape[1] != 3)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s has extent %" PRId64 " in dimension 1; expected: 3",
                     array_names[array], view->shape[1]);
  return status;
}

/* A number for every point, or for every bin. */
static rung_status view_line(rung_error *error, int array, const DLTensor *tensor, unsigned dtypes,
                             int64_t length, rung_view *view) {
  rung_status status = rung_view_of(error, array_names[array], tensor, dtypes, 1, view);
  if (status == RUNG_OK && view->shape[0] != length)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s has extent %" PRId64 "; expected: %" PRId64,
                     array_names[array], view->shape[0], length);
  return status;
}

static rung_status view_output(rung_error *error, int array, const DLTensor *tensor,
                               unsigned dtypes, int64_t length, rung_view *view) {
  rung_status status = view_line(error, array, tensor, dtypes, length, view);
  return status == RUNG_OK ? rung_view_writable(error, array_names[array], view) : status;
}

/* A set's tensors; which is 0 for a and 1 for b. Weights are looked at, and kept where `weighted`.
 */
static rung_status view_set(rung_error *error, const rung_points *set, int which, bool weighted,
                            rung_view *views) {
  rung_view *at = &views[PAIRS_A + which], unused = {0},
            *weights = weighted ? &views[PAIRS_A_WEIGHTS + which] : &unused;
  rung_status status = view_at(error, PAIRS_A + which, set->at, at);
  if (status != RUNG_OK) return status;
  if (weighted && set->weights == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s is NULL, and sums are asked for; expected: %" PRId64 " weights",
                     array_names[PAIRS_A_WEIGHTS + which], at->shape[0]);
  if (set->weights != NULL &&
      (status = view_line(error, PAIRS_A_WEIGHTS + which, set->weights, RUNG_TYPE(RUNG_F64),
                          at->shape[0], weights)) != RUNG_OK)
    return status;
  if (set->molecules == NULL) return RUNG_OK;
  return view_line(error, PAIRS_A_MOLECULES + which, set->molecules, RUNG_TYPE(RUNG_I64),
                   at->shape[0], &views[PAIRS_A_MOLECULES + which]);
}

static rung_status read_structs(rung_error *error, const rung_points *a, const rung_points *b,
                                const rung_distances *bins, pairs_call *call) {
  rung_status status = rung_read_struct(error, "a", &rung_points_layout, a, &call->a);
  if (status == RUNG_OK && b != NULL)
    status = rung_read_struct(error, "b", &rung_points_layout, b, &call->b);
  if (status != RUNG_OK) return status;
  return rung_read_struct(error, "bins", &rung_distances_layout, bins, &call->bins);
}

static rung_status view_sets(rung_error *error, const rung_points *a, const rung_points *b,
                             bool weighted, rung_view *views) {
  rung_status status = view_set(error, a, 0, weighted, views);
  if (status != RUNG_OK || b == NULL) return status;
  if ((status = view_set(error, b, 1, weighted, views)) != RUNG_OK) return status;
  if (views[PAIRS_B].dtype != views[PAIRS_A].dtype)
    return rung_fail(error, RUNG_BAD_DTYPE, "b->at holds %s and a->at %s; expected: the same",
                     rung_dtype_name(views[PAIRS_B].dtype), rung_dtype_name(views[PAIRS_A].dtype));
  if ((a->molecules == NULL) != (b->molecules == NULL))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s is NULL and %s is not; expected: both, or neither",
                     array_names[a->molecules == NULL ? PAIRS_A_MOLECULES : PAIRS_B_MOLECULES],
                     array_names[a->molecules == NULL ? PAIRS_B_MOLECULES : PAIRS_A_MOLECULES]);
  return RUNG_OK;
}

static rung_status view_outputs(rung_error *error, int64_t bins, const DLTensor *counts,
                                const DLTensor *outside, const DLTensor *sums, rung_view *views) {
  rung_status status =
      view_output(error, PAIRS_COUNTS, counts, COUNT_DTYPES, bins, &views[PAIRS_COUNTS]);
  if (status == RUNG_OK && outside != NULL)
    status = view_output(error, PAIRS_OUTSIDE, outside, COUNT_DTYPES, PAIRS_OUTER,
                         &views[PAIRS_OUTSIDE]);
  if (status == RUNG_OK && sums != NULL)
    status = view_output(error, PAIRS_SUMS, sums, RUNG_TYPE(RUNG_F64), bins, &views[PAIRS_SUMS]);
  return status;
}

/* All on one side, and no output with anything. */
static rung_status check_places(rung_error *error, const rung_view *views) {
  rung_status status = RUNG_OK;
  for (int i = 0; i < PAIRS_ARRAYS && status == RUNG_OK; ++i)
    status = rung_refuse_sides(error, array_names[PAIRS_COUNTS], &views[PAIRS_COUNTS],
                               array_names[i], &views[i]);
  for (int out = PAIRS_COUNTS; out < PAIRS_ARRAYS; ++out)
    for (int i = 0; i < out && status == RUNG_OK; ++i)
      status = rung_refuse_overlap(error, array_names[out], &views[out], array_names[i], &views[i],
                                   false);
  return status;
}

rung_status pairs_call_read(rung_error *error, const rung_points *a, const rung_points *b,
                            const rung_box *box, const rung_distances *bins, const DLTensor *counts,
                            const DLTensor *outside, const DLTensor *sums, pairs_call *call) {
  rung_view *views = call->views;
  *call = (pairs_call){.box = box, .cross = b != NULL, .weighted = sums != NULL};
  rung_status status = read_structs(error, a, b, bins, call);
  if (status == RUNG_OK)
    status = view_sets(error, &call->a, call->cross ? &call->b : NULL, call->weighted, views);
  if (status == RUNG_OK)
    status =
        pairs_call_problem(error, call, views[PAIRS_A].shape[0], views[PAIRS_B].shape[0], NULL);
  if (status == RUNG_OK)
    status = view_outputs(error, call->bins.count, counts, outside, sums, views);
  return status == RUNG_OK ? check_places(error, views) : status;
}

/* ---- the job ----------------------------------------------------------------------------------
 */

rung_status pairs_call_problem(rung_error *error, pairs_call *call, int64_t n, int64_t m,
                               double *thresholds) {
  const rung_status status = pairs_problem_of(error, &call->bins, call->box, n, m, call->cross,
                                              &call->problem, thresholds);
  if (status != RUNG_OK) return status;
  call->problem.dtype = call->views[PAIRS_A].dtype;
  call->problem.weighted = call->weighted;
  call->problem.excluding = call->a.molecules != NULL;
  if (thresholds != NULL)
    call->views[PAIRS_THRESHOLDS] =
        rung_view_compact(thresholds, RUNG_F64, 1, (int64_t[]){call->bins.count + 1});
  return RUNG_OK;
}

rung_job pairs_job_of(pairs_problem *problem, const rung_view *views, bool may_cut) {
  rung_job job = {.operation = &pairs_operation,
                  .task = {.problem = problem},
                  .types = {problem->dtype, RUNG_U64, views[PAIRS_COUNTS].dtype},
                  .problem_bytes = sizeof *problem,
                  .inputs = PAIRS_COUNTS,
                  .arrays = PAIRS_ARRAYS,
                  .names = array_names,
                  .compact = (1u << PAIRS_ARRAYS) - 1,
                  .cut = &pairs_parts,
                  .axes = may_cut ? 2 : 0};
  for (int k = 0; k < 2; ++k)
    job.axis[k] = (rung_axis){.extent = k == 1 && problem->cross ? problem->m : problem->n,
                              .granule = 1,
                              .combined = true,
                              .dear = true};
  for (int i = 0; i < PAIRS_ARRAYS; ++i) job.task.arrays[i] = views[i];
  return job;
}

rung_status pairs_thresholds(rung_error *error, const pairs_call *call, double **thresholds) {
  const int64_t count = call->bins.count + 1;
  *thresholds = (double *)malloc((size_t)count * sizeof **thresholds);
  if (*thresholds != NULL) return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %" PRId64 " thresholds", count);
}

static rung_status pairs(rung_context *context, const rung_points *a, const rung_points *b,
                         const rung_box *box, const rung_distances *bins, DLTensor *counts,
                         DLTensor *outside, DLTensor *sums, rung_call *how) {
  rung_error *error = &context->error;
  pairs_call call;
  double *thresholds;
  rung_status status = pairs_call_read(error, a, b, box, bins, counts, outside, sums, &call);
  if (status == RUNG_OK) status = pairs_thresholds(error, &call, &thresholds);
  if (status != RUNG_OK) return status;
  status = pairs_call_problem(error, &call, call.problem.n, call.problem.m, thresholds);
  if (status == RUNG_OK) {
    pairs_look(&call.problem, &call.views[PAIRS_A], &call.views[PAIRS_B]);
    const bool may_cut = pairs_may_cut(&call.problem, call.views);
    rung_job job = pairs_job_of(&call.problem, call.views, may_cut);
    status = rung_run(context, &job, how);
  }
  free(thresholds);
  return status;
}

rung_status rung_pairs(rung_context *context, const rung_points *a, const rung_points *b,
                       const rung_box *box, const rung_distances *bins, DLTensor *counts,
                       DLTensor *outside, DLTensor *sums, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK
             ? status
             : rung_end(context, pairs(context, a, b, box, bins, counts, outside, sums, call));
}

static rung_status box_reach(rung_error *error, const rung_box *box, double *reach) {
  pairs_box reduced;
  if (box == NULL) return rung_fail(error, RUNG_BAD_ARGUMENT, "box is NULL; expected: a rung_box");
  if (reach == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "reach is NULL; expected: the address of a double");
  const rung_status status = pairs_box_of(error, box, 0, &reduced);
  if (status == RUNG_OK) *reach = reduced.reach;
  return status;
}

rung_status rung_box_reach(rung_context *context, const rung_box *box, double *reach) {
  rung_status status = context != NULL ? rung_ready(context) : RUNG_OK;
  if (status != RUNG_OK) return status;
  rung_float_mode callers;
  rung_float_mode_enter(&callers);
  status = box_reach(context != NULL ? &context->error : NULL, box, reach);
  rung_float_mode_leave(&callers);
  return status;
}
