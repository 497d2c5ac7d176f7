/* The stencil's entry point: validates once, then hands over. */
#include <stddef.h>
#include <stdlib.h>

#include "core/call.h"
#include "core/layout.h"
#include "ops/stencil/call.h"

const char *const stencil_names[] = {"in", "out", "means"};
const char *const stencil_radiator_names[] = {"start", "grid", "means"};

/* Rows are independent. */
static bool share_rows(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(stencil_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  stencil_problem *p = (stencil_problem *)share->problem.bytes;
  (void)state;
  p->rows = piece->count[0];
  p->start.first_row += piece->first[0];
  for (int a = STENCIL_IN; a <= STENCIL_MEANS; a++)
    rung_view_narrow(&share->arrays[a], 0, piece->first[0], piece->count[0]);
  return true;
}

static const rung_cut cut = {.share = share_rows};

static rung_status check_output(rung_error *error, const stencil_problem *p, rung_view *arrays,
                                const char *name, const DLTensor *out, const DLTensor *means) {
  rung_view *views[] = {&arrays[STENCIL_OUT], &arrays[STENCIL_MEANS]};
  rung_status status = rung_view_stored(error, name, out, RUNG_TYPE(p->dtype), 2, views[0]);
  if (status == RUNG_OK) status = rung_view_writable(error, name, views[0]);
  if (status != RUNG_OK || means == NULL) return status;
  status = rung_view_of(error, "means", means, RUNG_TYPE(p->dtype), 1, views[1]);
  if (status == RUNG_OK) status = rung_view_writable(error, "means", views[1]);
  if (status != RUNG_OK) return status;
  if (views[1]->shape[0] != p->rows)
    return rung_fail(error, RUNG_BAD_SHAPE, "means has %lld elements; one a row, %lld, is needed",
                     (long long)views[1]->shape[0], (long long)p->rows);
  status = rung_refuse_sides(error, "means", views[1], name, views[0]);
  if (status != RUNG_OK) return status;
  return rung_refuse_overlap(error, "means", views[1], name, views[0], false);
}

static rung_status check_size(rung_error *error, const char *name, const rung_view *view,
                              int64_t least_columns) {
  if (view->shape[0] >= 1 && view->shape[1] >= least_columns) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "%s has %lld rows of %lld columns; at least 1 row of %lld is needed", name,
                   (long long)view->shape[0], (long long)view->shape[1], (long long)least_columns);
}

rung_job stencil_job_of(stencil_problem *problem, const rung_view *arrays,
                        const char *const *names) {
  rung_job job = {
      .operation = &stencil_operation,
      .task.problem = problem,
      .types = RUNG_ALIKE(problem->dtype),
      .inputs = 1,
      .arrays = 3,
      .names = names,
      .problem_bytes = sizeof *problem,
      .cut = &cut,
      .axes = 1,
      .axis = {{.extent = problem->rows, .granule = 1}},
  };
  for (int a = 0; a < job.arrays; a++) job.task.arrays[a] = arrays[a];
  return job;
}

static rung_status run(rung_context *context, stencil_problem *problem, const rung_view *arrays,
                       const char *const *names, rung_call *call) {
  rung_call known;
  const rung_status status = rung_call_read(&context->error, call, &known);
  if (status != RUNG_OK) return status;
  problem->math = known.math;
  rung_job job = stencil_job_of(problem, arrays, names);
  return rung_run(context, &job, call);
}

static rung_status stencil(rung_context *context, const rung_stencil_model *model,
                           const DLTensor *in, DLTensor *out, DLTensor *means, rung_call *call) {
  rung_status status;
  rung_error *error = &context->error;
  rung_stencil_model known;
  stencil_problem problem;
  rung_view arrays[3] = {0};
  rung_view *from = &arrays[STENCIL_IN], *to = &arrays[STENCIL_OUT];
  if ((status = rung_read_struct(error, "model", &rung_stencil_layout, model, &known)) != RUNG_OK ||
      (status = rung_view_stored(error, "in", in, RUNG_SINGLE_DOUBLE, 2, from)) != RUNG_OK ||
      (status = check_size(error, "in", from, 1)) != RUNG_OK ||
      (status = stencil_problem_of(error, &known, from->shape[0], from->shape[1], from->dtype,
                                   &problem)) != RUNG_OK ||
      (status = check_output(error, &problem, arrays, "out", out, means)) != RUNG_OK)
    return status;
  if (to->shape[0] != from->shape[0] || to->shape[1] != from->shape[1])
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "out is %lld by %lld; the shape of in, %lld by %lld, is needed",
                     (long long)to->shape[0], (long long)to->shape[1], (long long)from->shape[0],
                     (long long)from->shape[1]);
  if ((status = rung_refuse_sides(error, "out", to, "in", from)) != RUNG_OK ||
      (status = rung_refuse_overlap(error, "out", to, "in", from, true)) != RUNG_OK ||
      (status = rung_refuse_overlap(error, "means", &arrays[STENCIL_MEANS], "in", from, false)) !=
          RUNG_OK)
    return status;
  return run(context, &problem, arrays, stencil_names, call);
}

rung_status rung_stencil(rung_context *context, const rung_stencil_model *model, const DLTensor *in,
                         DLTensor *out, DLTensor *means, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status
                           : rung_end(context, stencil(context, model, in, out, means, call));
}

/* For rungs that take their start from an array: it is made on the host and goes in like any. */
static rung_status run_from_array(rung_context *context, stencil_problem *problem,
                                  rung_view *arrays, rung_call *call) {
  const int64_t shape[] = {problem->rows, problem->columns};
  const size_t bytes = (size_t)shape[0] * (size_t)shape[1] * rung_dtype_bytes(problem->dtype);
  void *start = malloc(bytes);
  if (start == NULL)
    return rung_fail(&context->error, RUNG_OUT_OF_MEMORY,
                     "no memory for the start of the grid: %zu bytes are needed", bytes);
  arrays[STENCIL_IN] = rung_view_compact(start, problem->dtype, 2, shape);
  stencil_fill_start(problem, start);
  problem->start.own = false;
  rung_status status = run(context, problem, arrays, stencil_radiator_names, call);
  /* In any case: copies of the start may be under way. */
  const rung_status done =
      context->backend->synchronize(context->state, status == RUNG_OK ? &context->error : NULL);
  if (status == RUNG_OK) status = done;
  free(start);
  return status;
}

static rung_status radiator(rung_context *context, const rung_radiator_model *model, int64_t steps,
                            DLTensor *grid, DLTensor *means, rung_call *call) {
  rung_status status;
  rung_error *error = &context->error;
  rung_view arrays[3] = {0}, view;
  stencil_problem problem;
  if ((status = rung_view_of(error, "grid", grid, RUNG_SINGLE_DOUBLE, 2, &view)) != RUNG_OK ||
      (status = check_size(error, "grid", &view, 4)) != RUNG_OK ||
      (status = stencil_radiator_problem(error, model, steps, view.shape[0], view.shape[1],
                                         view.dtype, &problem)) != RUNG_OK ||
      (status = check_output(error, &problem, arrays, "grid", grid, means)) != RUNG_OK)
    return status;
  status = run(context, &problem, arrays, stencil_radiator_names, call);
  if (status != RUNG_UNSUPPORTED || context->device.kind == RUNG_CPU) return status;
  return run_from_array(context, &problem, arrays, call);
}

rung_status rung_radiator(rung_context *context, const rung_radiator_model *model, int64_t steps,
                          DLTensor *grid, DLTensor *means, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status
                           : rung_end(context, radiator(context, model, steps, grid, means, call));
}
