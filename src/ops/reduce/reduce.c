/* The entry point of reduce: looks at the arrays once, brings them into a form that rungs take, and
 * hands over. */
#include "ops/reduce/reduce.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/dimensions.h"
#include "core/over.h"

static const char *const array_names[] = {"in", "out"};

/* ---- looking at the arguments -----------------------------------------------------------------
 */

static rung_status check_what(rung_error *error, rung_reduction what) {
  if (what == RUNG_SUM || what == RUNG_MIN || what == RUNG_MAX || what == RUNG_MEAN) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_ARGUMENT,
      "what is %d; expected: RUNG_SUM (0), RUNG_MIN (1), RUNG_MAX (2) or RUNG_MEAN (3)", (int)what);
}

static rung_status view_in(rung_error *error, const DLTensor *in, rung_view *view) {
  if (in != NULL && (in->ndim < 0 || in->ndim > RUNG_MAX_DIMS))
    return rung_fail(error, RUNG_BAD_SHAPE, "in has %d dimensions; expected: 0 ... %d", in->ndim,
                     RUNG_MAX_DIMS);
  return rung_view_stored(error, "in", in, REDUCE_DTYPES, in != NULL ? in->ndim : 0, view);
}

/* *axis from 0 on; RUNG_ALL stays. */
static rung_status check_axis(rung_error *error, const rung_view *in, int *axis) {
  if (*axis == RUNG_ALL) return RUNG_OK;
  if (in->ndim == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "axis is %d, and in has no dimension; expected: RUNG_ALL", *axis);
  if (*axis < -in->ndim || *axis >= in->ndim)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "axis is %d, and in has %d dimensions; expected: %d ... %d, or RUNG_ALL",
                     *axis, in->ndim, -in->ndim, in->ndim - 1);
  if (*axis < 0) *axis += in->ndim;
  return RUNG_OK;
}

static rung_status view_out(rung_error *error, rung_reduction what, const rung_view *in, int axis,
                            const DLTensor *out, rung_view *view) {
  const int ndim = axis == RUNG_ALL ? 0 : in->ndim - 1;
  const unsigned dtype = RUNG_TYPE(reduce_result_of(what, in->dtype));
  if (ndim == 0 && out != NULL && out->ndim == 1) {
    rung_status status = rung_view_of(error, "out", out, dtype, 1, view);
    if (status == RUNG_OK && view->shape[0] != 1)
      status =
          rung_fail(error, RUNG_BAD_SHAPE,
                    "out has %" PRId64 " elements; expected: 1, or no dimension", view->shape[0]);
    return status;
  }
  rung_status status = rung_view_of(error, "out", out, dtype, ndim, view);
  for (int d = 0; d < ndim && status == RUNG_OK; d++) {
    const int64_t wanted = in->shape[d < axis ? d : d + 1];
    if (view->shape[d] != wanted)
      status = rung_fail(error, RUNG_BAD_SHAPE,
                         "out has extent %" PRId64 " in dimension %d; expected: %" PRId64
                         ", in's without its axis %d",
                         view->shape[d], d, wanted, axis);
  }
  return status;
}

/* ---- the forms of a job -----------------------------------------------------------------------
 */

typedef struct plan {
  reduce_form form;
  rung_view in, out; /* as the form wants them, but for gaps */
  int64_t outer, columns, inner;
} plan;

/* Everything to one number. */
static plan plan_whole(const rung_view *in, const rung_view *out, bool any_order) {
  plan plan = {REDUCE_PACKED, *in, *out, 1, in->count, 1};
  rung_dimensions all = rung_dimensions_of(in, RUNG_ALL, NULL);
  if (any_order && in->count > 0) {
    rung_dimensions_forwards(&all, &plan.in);
    rung_dimensions_by_stride(&all);
  }
  if (in->count > 0) rung_dimensions_merge(&all);
  plan.in.ndim = all.count;
  for (int d = 0; d < all.count; d++) {
    plan.in.shape[d] = all.at[d].extent;
    plan.in.stride[d] = all.at[d].in;
  }
  rung_view_reshape(&plan.out, 1, (int64_t[]){1}, (int64_t[]){1});
  return plan;
}

/* Whether memory goes on along `near`, one of the dimensions that stay, and not along lines, whose
 * elements are `step` apart. */
static bool goes_across(const rung_dimension *near, int64_t step) {
  const int64_t across = near->in < 0 ? -near->in : near->in, along = step < 0 ? -step : step;
  return across == 1 ? step != 1 : across > 0 && across < along;
}

/* Every line to one number. Lines are independent, so their order is free: memory's. */
static plan plan_lines(const rung_view *in, int axis, const rung_view *out) {
  const int64_t columns = in->shape[axis], step = in->stride[axis];
  plan plan = {REDUCE_LINES, *in, *out, 1, columns, 1};
  rung_dimensions kept = rung_dimensions_of(in, axis, out);
  if (out->count == 0) kept.count = 0;
  plan.outer = out->count;
  rung_dimensions_by_stride(&kept);
  rung_dimensions_merge(&kept);
  const int last = kept.count - 1;
  if (kept.count >= 1 && kept.count <= 2 && columns > 1 && goes_across(&kept.at[last], step)) {
    const rung_dimension near = kept.at[last];
    const rung_dimension far = kept.count > 1 ? kept.at[0] : (rung_dimension){1, 0, 0};
    plan.form = REDUCE_ACROSS;
    plan.outer = far.extent;
    plan.inner = near.extent;
    rung_view_reshape(&plan.in, 3, (int64_t[]){far.extent, columns, near.extent},
                      (int64_t[]){far.in, step, near.in});
    rung_view_reshape(&plan.out, 2, (int64_t[]){far.extent, near.extent},
                      (int64_t[]){far.out, near.out});
  } else if (kept.count <= 1) {
    const rung_dimension line = kept.count > 0 ? kept.at[0] : (rung_dimension){plan.outer, 0, 1};
    rung_view_reshape(&plan.in, 2, (int64_t[]){plan.outer, columns}, (int64_t[]){line.in, step});
    rung_view_reshape(&plan.out, 1, (int64_t[]){plan.outer}, (int64_t[]){line.out});
  } else {
    plan.form = REDUCE_PACKED;
    plan.in.ndim = kept.count + 1;
    plan.out.ndim = kept.count;
    for (int d = 0; d < kept.count; d++) {
      plan.in.shape[d] = plan.out.shape[d] = kept.at[d].extent;
      plan.in.stride[d] = kept.at[d].in;
      plan.out.stride[d] = kept.at[d].out;
    }
    plan.in.shape[kept.count] = columns;
    plan.in.stride[kept.count] = step;
  }
  return plan;
}

/* The job of a plan, its problem and the axis that is cut by the way of parts aside. */
static rung_job job_of(const plan *plan, rung_reduction what, int axes) {
  rung_job job = {
      .operation = &reduce_operation,
      .task = {.arrays = {plan->in, plan->out}},
      .types = reduce_types_of(what, plan->in.dtype),
      .problem_bytes = sizeof(reduce_problem),
      .inputs = 1,
      .arrays = 2,
      .names = array_names,
      .compact = plan->form == REDUCE_PACKED ? 1u << REDUCE_IN | 1u << REDUCE_OUT : 0,
      .cut = &reduce_parts,
      .axes = axes,
  };
  for (int d = 0; d + 1 < axes; d++)
    job.axis[d] = (rung_axis){.extent = plan->out.shape[d], .granule = 1};
  return job;
}

/* The problem, of `columns` in a line, and with it the job. */
static rung_status set_problem(rung_error *error, rung_reduction what, const plan *plan,
                               int64_t columns, bool whole, rung_job *job,
                               reduce_problem *problem) {
  const rung_status status = reduce_problem_of(error, what, plan->in.dtype, plan->form, plan->outer,
                                               columns, plan->inner, problem);
  if (status != RUNG_OK) return status;
  problem->axis = job->axes - 1;
  problem->whole = whole;
  job->task.problem = problem;
  job->axis[problem->axis] =
      (rung_axis){.extent = columns, .granule = RUNG_SUM_TILE, .combined = true};
  return RUNG_OK;
}

static rung_status look(rung_error *error, rung_reduction what, const DLTensor *in, int *axis,
                        const DLTensor *out, rung_view *from, rung_view *to) {
  rung_status status;
  if ((status = check_what(error, what)) != RUNG_OK ||
      (status = view_in(error, in, from)) != RUNG_OK ||
      (status = check_axis(error, from, axis)) != RUNG_OK ||
      (status = view_out(error, what, from, *axis, out, to)) != RUNG_OK ||
      (status = rung_view_writable(error, "out", to)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "out", to, "in", from)) != RUNG_OK)
    return status;
  return rung_refuse_overlap(error, "out", to, "in", from, false);
}

static plan plan_of(rung_reduction what, int axis, const rung_view *from, const rung_view *to) {
  const bool floats = rung_dtype_is_float(from->dtype);
  const bool any_order = !floats || what == RUNG_MIN || what == RUNG_MAX;
  return axis == RUNG_ALL ? plan_whole(from, to, any_order) : plan_lines(from, axis, to);
}

static rung_status reduce(rung_context *context, rung_reduction what, const DLTensor *in, int axis,
                          DLTensor *out, rung_call *call) {
  rung_error *error = &context->error;
  rung_view from, to;
  reduce_problem problem;
  rung_status status = look(error, what, in, &axis, out, &from, &to);
  if (status != RUNG_OK) return status;
  const bool whole = axis == RUNG_ALL;
  const plan plan = plan_of(what, axis, &from, &to);
  rung_job job = job_of(&plan, what, whole ? 1 : plan.out.ndim + 1);
  status = set_problem(error, what, &plan, plan.columns, whole, &job, &problem);
  return status == RUNG_OK ? rung_run(context, &job, call) : status;
}

rung_status reduce_along(rung_context *context, rung_reduction what, const rung_view *in, int axis,
                         const rung_view *out) {
  reduce_problem problem;
  const char *used;
  const plan plan = plan_of(what, axis, in, out);
  rung_job job = job_of(&plan, what, plan.out.ndim + 1);
  const rung_status status =
      set_problem(&context->error, what, &plan, plan.columns, false, &job, &problem);
  return status == RUNG_OK ? rung_run_job(context, &job, &(rung_call){0}, &used) : status;
}

rung_status rung_reduce(rung_context *context, rung_reduction what, const DLTensor *in, int axis,
                        DLTensor *out, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status : rung_end(context, reduce(context, what, in, axis, out, call));
}

/* ---- over ranks --------------------------------------------------------------------------------
 */

typedef struct whole {
  rung_reduction what;
  plan plan; /* of this rank's part */
  reduce_problem problem;
} whole;

static rung_status set_whole(rung_error *error, int64_t total, rung_over *over) {
  whole *w = (whole *)over->to;
  over->problem = &w->problem;
  over->origin = &w->problem.origin;
  return set_problem(error, w->what, &w->plan, total, true, &over->job, &w->problem);
}

static void set_over(rung_reduction what, const rung_view *from, const rung_view *to, whole *w,
                     rung_over *over) {
  static const char *const names[] = {"sum", "min", "max", "mean"};
  *w = (whole){.what = what, .plan = plan_of(what, RUNG_ALL, from, to)};
  if (w->plan.in.ndim == 0) /* one element, of an array that is cut all the same */
    rung_view_reshape(&w->plan.in, 1, (int64_t[]){w->plan.in.count}, (int64_t[]){1});
  *over = (rung_over){.job = job_of(&w->plan, what, 1),
                      .tile = RUNG_SUM_TILE,
                      .family = RUNG_SUM_TILE,
                      .whole = set_whole,
                      .to = w};
  snprintf(over->name, sizeof over->name, "rung_reduce_ranks(%s of %s)", names[what],
           rung_dtype_name(from->dtype));
}

static rung_status reduce_over(rung_context *context, const rung_ranks *ranks, rung_reduction what,
                               const DLTensor *in, DLTensor *out, rung_call *call) {
  rung_view from, to;
  int axis = RUNG_ALL;
  whole w;
  rung_over over = {.tile = RUNG_SUM_TILE, .family = RUNG_SUM_TILE};
  const rung_status status = look(&context->error, what, in, &axis, out, &from, &to);
  if (status == RUNG_OK) set_over(what, &from, &to, &w, &over);
  return rung_over_run(context, ranks, status, &over, call);
}

rung_status reduce_within(rung_context *context, const rung_ranks *ranks, rung_status own,
                          rung_reduction what, const rung_view *in, const rung_view *out) {
  whole w;
  rung_over over;
  const char *used;
  set_over(what, in, out, &w, &over);
  return rung_over_within(context, ranks, own, &over, &(rung_call){0}, &used);
}

rung_status rung_reduce_ranks(rung_context *context, const rung_ranks *ranks, rung_reduction what,
                              const DLTensor *in, DLTensor *out, rung_call *call) {
  rung_ranks known;
  const rung_status status = rung_over_begin(context, ranks, &known);
  return status != RUNG_OK ? status
                           : rung_end(context, reduce_over(context, &known, what, in, out, call));
}
