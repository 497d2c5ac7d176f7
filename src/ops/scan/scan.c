/* The entry point of scan: looks at the arrays once, brings them into a form that rungs take, and
 * hands over. */
#include "ops/scan/scan.h"

#include <inttypes.h>

#include "core/dimensions.h"
#include "core/plan.h"

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
  return rung_view_of(error, "in", in, SCAN_DTYPES, in != NULL ? in->ndim : 1, view);
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
  rung_status status = rung_view_of(error, "out", out, RUNG_TYPE(in->dtype), in->ndim, view);
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

/* Lines are independent, so their order is free: where they follow one another in even steps, in
 * both arrays, they are the rows of a matrix. Where they lie side by side in memory they stay so,
 * if the rung can take them (`across`). */
static plan plan_of(const rung_view *in, int axis, const rung_view *out, bool across) {
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
  plan.packed = kept.count > 1;
  if (kept.count == 0) kept.at[kept.count++] = (rung_dimension){plan.lines, 0, 0};
  if (plan.packed) rung_dimensions_by_extent(&kept); /* pieces are cut along the longest */
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

static rung_status run(rung_context *context, rung_reduction what, bool exclusive, const plan *plan,
                       rung_call *call) {
  scan_problem problem;
  const rung_status status = scan_problem_of(&context->error, what, plan->in.dtype, exclusive,
                                             plan->lines, plan->columns, plan->inner, &problem);
  if (status != RUNG_OK) return status;
  rung_job job = {
      .operation = &scan_operation,
      .task = {.problem = &problem, .arrays = {plan->in, plan->out}},
      .types = scan_types_of(what, problem.dtype),
      .problem_bytes = sizeof problem,
      .inputs = 1,
      .arrays = 2,
      .names = array_names,
      .compact = plan->packed ? 1u << SCAN_IN | 1u << SCAN_OUT : 0,
      .cut = &scan_parts,
      .axes = plan->in.ndim,
  };
  problem.axis = job.axes - 1;
  for (int d = 0; d < problem.axis; d++)
    job.axis[d] =
        (rung_axis){.extent = plan->in.shape[scan_dimension_of(&problem, d)], .granule = 1};
  /* What comes before a range is a sum of f32 for which out's type has no room: such lines are not
   * cut. */
  const bool whole = job.types.accumulate != job.types.out && plan->columns > 0;
  job.axis[problem.axis] = (rung_axis){.extent = plan->columns,
                                       .granule = whole ? plan->columns : SCAN_TILE,
                                       .radix = SCAN_FAMILY,
                                       .combined = true,
                                       .dear = true};
  return rung_run(context, &job, call);
}

static rung_status scan(rung_context *context, rung_reduction what, const DLTensor *in, int axis,
                        int exclusive, DLTensor *out, rung_call *call) {
  rung_status status;
  rung_error *error = &context->error;
  rung_view from, to;
  if ((status = check_what(error, what, exclusive)) != RUNG_OK ||
      (status = view_in(error, in, &from)) != RUNG_OK ||
      (status = check_axis(error, &from, &axis)) != RUNG_OK ||
      (status = view_out(error, &from, out, &to)) != RUNG_OK ||
      (status = rung_view_writable(error, "out", &to)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "out", &to, "in", &from)) != RUNG_OK ||
      (status = rung_refuse_overlap(error, "out", &to, "in", &from, true)) != RUNG_OK)
    return status;
  const plan plan = plan_of(&from, axis, &to, scan_takes_across(call != NULL ? call->rung : NULL));
  return run(context, what, exclusive == 1, &plan, call);
}

rung_status rung_scan(rung_context *context, rung_reduction what, const DLTensor *in, int axis,
                      int exclusive, DLTensor *out, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status
                           : rung_end(context, scan(context, what, in, axis, exclusive, out, call));
}
