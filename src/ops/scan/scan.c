/* The entry point of scan: looks at the arrays once, brings them into a form that rungs take, and
 * hands over. */
#include "ops/scan/scan.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/dimensions.h"
#include "core/over.h"

static const char *const array_names[] = {"in", "out"};

/* ---- looking at the arguments -----------------------------------------------------------------
 */

static rung_status check_what(rung_error *error, rung_reduction what, int exclusive) {
  if (what != RUNG_SUM && what != RUNG_MIN && what != RUNG_MAX)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "what is %d%s; expected: RUNG_SUM (0), RUNG_MIN (1) or RUNG_MAX (2)",
                     (int)what, what == RUNG_MEAN ? " (RUNG_MEAN)" : "");
  if (exclusive != 0 && exclusive != 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "exclusive is %d; expected: 0 or 1", exclusive);
  return RUNG_OK;
}

static rung_status view_in(rung_error *error, const DLTensor *in, rung_view *view) {
  if (in != NULL && (in->ndim < 1 || in->ndim > RUNG_MAX_DIMS))
    return rung_fail(error, RUNG_BAD_SHAPE, "in has %d dimensions; expected: 1 ... %d", in->ndim,
                     RUNG_MAX_DIMS);
  return rung_view_stored(error, "in", in, SCAN_DTYPES, in != NULL ? in->ndim : 1, view);
}

/* *axis from 0 on. */
static rung_status check_axis(rung_error *error, const rung_view *in, int *axis) {
  if (*axis < -in->ndim || *axis >= in->ndim)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "axis is %d, and in has %d dimension%s; expected: %d ... %d", *axis, in->ndim,
                     in->ndim == 1 ? "" : "s", -in->ndim, in->ndim - 1);
  if (*axis < 0) *axis += in->ndim;
  return RUNG_OK;
}

static rung_status view_out(rung_error *error, const rung_view *in, const DLTensor *out,
                            rung_view *view) {
  rung_status status = rung_view_stored(error, "out", out, RUNG_TYPE(in->dtype), in->ndim, view);
  for (int d = 0; d < in->ndim && status == RUNG_OK; d++)
    if (view->shape[d] != in->shape[d])
      status = rung_fail(error, RUNG_BAD_SHAPE,
                         "out has extent %" PRId64 " in dimension %d; expected: %" PRId64 ", in's",
                         view->shape[d], d, in->shape[d]);
  return status;
}

/* ---- the forms of a job -----------------------------------------------------------------------
 */

typedef struct plan {
  rung_view in, out;
  int64_t lines, columns, inner; /* inner > 1: lines side by side, (outer, columns, inner) */
  bool packed;                   /* without gaps, of any number of dimensions */
} plan;

/* Whether what is left of the dimensions is (far, near), neighbours of `near` being neighbours in
 * memory and those of a line not. */
static bool lies_across(const rung_dimensions *kept, int64_t columns, int64_t step) {
  if (kept->count < 1 || kept->count > 2 || columns <= 1 || step == 1) return false;
  return kept->at[kept->count - 1].in == 1;
}

static void reshape_across(plan *plan, const rung_dimensions *kept, int64_t in_step,
                           int64_t out_step) {
  const rung_dimension near = kept->at[kept->count - 1];
  const rung_dimension far = kept->count > 1 ? kept->at[0] : (rung_dimension){1, 0, 0};
  const int64_t shape[3] = {far.extent, plan->columns, near.extent};
  plan->inner = near.extent;
  rung_view_reshape(&plan->in, 3, shape, (int64_t[]){far.in, in_step, near.in});
  rung_view_reshape(&plan->out, 3, shape, (int64_t[]){far.out, out_step, near.out});
}

/* Each array in the other's place. */
static void exchange(rung_dimensions *kept) {
  for (int d = 0; d < kept->count; d++) {
    const rung_dimension at = kept->at[d];
    kept->at[d] = (rung_dimension){at.extent, at.out, at.in};
  }
}

/* Lines are independent, so their order is free: where they follow one another in even steps, in
 * both arrays, they are the rows of a matrix. Where they lie side by side in memory they stay so,
 * if the rung can take them (`across`): in the input, or (`turns`) in the output, whose order the
 * input is then brought into; a CPU brings lines together while it reads them. */
static plan plan_of(const rung_view *in, int axis, const rung_view *out, bool across, bool turns) {
  const int64_t columns = in->shape[axis];
  plan plan = {.in = *in, .out = *out, .columns = columns, .inner = 1};
  int64_t shape[RUNG_MAX_DIMS], from[RUNG_MAX_DIMS], to[RUNG_MAX_DIMS];
  rung_dimensions kept = {0};
  if (in->count > 0) {
    plan.lines = in->count / columns;
    kept = rung_dimensions_of(in, axis, out);
    rung_dimensions_by_stride(&kept);
    rung_dimensions_merge(&kept);
  }
  if (across && lies_across(&kept, columns, in->stride[axis])) {
    reshape_across(&plan, &kept, in->stride[axis], out->stride[axis]);
    return plan;
  }
  rung_dimensions beside = kept;
  exchange(&beside);
  rung_dimensions_by_stride(&beside);
  rung_dimensions_merge(&beside);
  if (across && turns && kept.count > 1 && lies_across(&beside, columns, out->stride[axis])) {
    exchange(&beside);
    reshape_across(&plan, &beside, in->stride[axis], out->stride[axis]);
    return plan;
  }
  plan.packed = kept.count > 1;
  if (kept.count == 0) kept.at[kept.count++] = (rung_dimension){plan.lines, 0, 0};
  for (int d = 0; d < kept.count; d++) {
    shape[d] = kept.at[d].extent;
    from[d] = kept.at[d].in;
    to[d] = kept.at[d].out;
  }
  shape[kept.count] = columns;
  from[kept.count] = in->stride[axis];
  to[kept.count] = out->stride[axis];
  rung_view_reshape(&plan.in, kept.count + 1, shape, from);
  rung_view_reshape(&plan.out, kept.count + 1, shape, to);
  return plan;
}

static rung_job job_of(const plan *plan, rung_reduction what) {
  return (rung_job){
      .operation = &scan_operation,
      .task = {.arrays = {plan->in, plan->out}},
      .types = scan_types_of(what, plan->in.dtype),
      .problem_bytes = sizeof(scan_problem),
      .inputs = 1,
      .arrays = 2,
      .names = array_names,
      .compact = plan->packed ? 1u << SCAN_IN | 1u << SCAN_OUT : 0,
      .cut = &scan_parts,
      .axes = plan->in.ndim,
  };
}

/* What comes before a range is a sum of f32 for which out's type has no room: such lines are not
 * cut. */
static bool stays_whole(const rung_job *job) {
  return job->types.accumulate != job->types.out;
}

/* The problem, of `columns` in a line, and with it the job. */
static rung_status set_problem(rung_error *error, rung_reduction what, bool exclusive,
                               const plan *plan, int64_t columns, rung_job *job,
                               scan_problem *problem) {
  const rung_status status = scan_problem_of(error, what, plan->in.dtype, exclusive, plan->lines,
                                             columns, plan->inner, problem);
  if (status != RUNG_OK) return status;
  job->task.problem = problem;
  problem->axis = job->axes - 1;
  for (int d = 0; d < problem->axis; d++)
    job->axis[d] =
        (rung_axis){.extent = plan->in.shape[scan_dimension_of(problem, d)], .granule = 1};
  job->axis[problem->axis] =
      (rung_axis){.extent = columns,
                  .granule = stays_whole(job) && columns > 0 ? columns : SCAN_TILE,
                  .radix = SCAN_FAMILY,
                  .combined = true,
                  .dear = true};
  return RUNG_OK;
}

static rung_status look(rung_error *error, rung_reduction what, const DLTensor *in, int *axis,
                        int exclusive, const DLTensor *out, rung_view *from, rung_view *to) {
  rung_status status;
  if ((status = check_what(error, what, exclusive)) != RUNG_OK ||
      (status = view_in(error, in, from)) != RUNG_OK ||
      (status = check_axis(error, from, axis)) != RUNG_OK ||
      (status = view_out(error, from, out, to)) != RUNG_OK ||
      (status = rung_view_writable(error, "out", to)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "out", to, "in", from)) != RUNG_OK)
    return status;
  return rung_refuse_overlap(error, "out", to, "in", from, true);
}

static rung_status scan(rung_context *context, rung_reduction what, const DLTensor *in, int axis,
                        int exclusive, DLTensor *out, rung_call *call) {
  rung_error *error = &context->error;
  rung_view from, to;
  scan_problem problem;
  rung_status status = look(error, what, in, &axis, exclusive, out, &from, &to);
  if (status != RUNG_OK) return status;
  const plan plan = plan_of(&from, axis, &to, scan_takes_across(call != NULL ? call->rung : NULL),
                            context->device.kind != RUNG_CPU);
  rung_job job = job_of(&plan, what);
  status = set_problem(error, what, exclusive == 1, &plan, plan.columns, &job, &problem);
  return status == RUNG_OK ? rung_run(context, &job, call) : status;
}

rung_status rung_scan(rung_context *context, rung_reduction what, const DLTensor *in, int axis,
                      int exclusive, DLTensor *out, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status
                           : rung_end(context, scan(context, what, in, axis, exclusive, out, call));
}

/* ---- over ranks --------------------------------------------------------------------------------
 */

typedef struct whole {
  rung_reduction what;
  bool exclusive;
  plan plan; /* of this rank's part */
  scan_problem problem;
} whole;

static rung_status set_whole(rung_error *error, int64_t total, rung_over *over) {
  whole *w = (whole *)over->to;
  over->problem = &w->problem;
  over->origin = &w->problem.origin;
  w->plan.lines = 1; /* of an empty part too */
  return set_problem(error, w->what, w->exclusive, &w->plan, total, &over->job, &w->problem);
}

static rung_status look_at_line(rung_error *error, rung_reduction what, const DLTensor *in,
                                int exclusive, const DLTensor *out, rung_view *from,
                                rung_view *to) {
  int axis = -1;
  const rung_status status = look(error, what, in, &axis, exclusive, out, from, to);
  if (status == RUNG_OK && from->ndim != 1)
    return rung_fail(error, RUNG_BAD_SHAPE, "in has %d dimensions; expected: 1 over ranks",
                     from->ndim);
  return status;
}

static rung_status scan_over(rung_context *context, const rung_ranks *ranks, rung_reduction what,
                             const DLTensor *in, int exclusive, DLTensor *out, rung_call *call) {
  static const char *const names[] = {"sums", "minima", "maxima"};
  rung_error *error = &context->error;
  rung_view from, to;
  whole w = {.what = what, .exclusive = exclusive == 1};
  rung_over over = {
      .tile = SCAN_TILE, .family = SCAN_FAMILY, .single = true, .whole = set_whole, .to = &w};
  rung_status status = look_at_line(error, what, in, exclusive, out, &from, &to);
  if (status == RUNG_OK) {
    w.plan = plan_of(&from, 0, &to, false, false);
    over.job = job_of(&w.plan, what);
    snprintf(over.name, sizeof over.name, "rung_scan_ranks(%s%s of %s)",
             exclusive ? "exclusive " : "", names[what], rung_dtype_name(from.dtype));
    if (stays_whole(&over.job))
      status = rung_fail(error, RUNG_BAD_DTYPE,
                         "in holds %s, whose sums are made in f32; expected: another type, or a "
                         "minimum or maximum, over ranks",
                         rung_dtype_name(from.dtype));
  }
  return rung_over_run(context, ranks, status, &over, call);
}

rung_status rung_scan_ranks(rung_context *context, const rung_ranks *ranks, rung_reduction what,
                            const DLTensor *in, int exclusive, DLTensor *out, rung_call *call) {
  rung_ranks known;
  const rung_status status = rung_over_begin(context, ranks, &known);
  return status != RUNG_OK
             ? status
             : rung_end(context, scan_over(context, &known, what, in, exclusive, out, call));
}
