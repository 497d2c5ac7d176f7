/* The entry points of correlate: look at the arguments once, and hand over. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/layout.h"
#include "ops/correlate/call.h"

static const char *const array_names[] = {"in", "out"};

/* A piece has so many rows at least: those that its neighbours read too are few beside them. */
enum { PIECE = 256 };

/* ---- looking at the arguments -----------------------------------------------------------------
 */

static rung_status view_image(rung_error *error, const DLTensor *in, rung_view *view) {
  if (in != NULL && in->ndim != 2 && in->ndim != 3)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "in has %d dimensions; expected: 2 (height, width) or 3 (and channels)",
                     in->ndim);
  const rung_status status =
      rung_view_of(error, "in", in, CORRELATE_DTYPES, in != NULL ? in->ndim : 2, view);
  if (status != RUNG_OK || view->ndim == 2) return status;
  if (view->shape[2] >= 1 && view->shape[2] <= CORRELATE_CHANNELS) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE, "in has %" PRId64 " channels; expected: 1 ... %d",
                   view->shape[2], CORRELATE_CHANNELS);
}

static rung_status view_kernel(rung_error *error, const DLTensor *kernel, rung_view *view) {
  if (kernel != NULL && kernel->ndim != 2 && kernel->ndim != 3)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "kernel has %d dimensions; expected: 2 (rows, columns) or 3 (count in front)",
                     kernel->ndim);
  const rung_status status = rung_view_of(error, "kernel", kernel, CORRELATE_TAP_DTYPES,
                                          kernel != NULL ? kernel->ndim : 2, view);
  if (status != RUNG_OK) return status;
  for (int d = 0; d < view->ndim; d++) {
    const bool many = view->ndim == 3 && d == 0;
    if (view->shape[d] >= 1 && (many || view->shape[d] <= RUNG_KERNEL_MOST)) continue;
    if (many) return rung_fail(error, RUNG_BAD_SHAPE, "kernel has 0 kernels; expected: at least 1");
    return rung_fail(error, RUNG_BAD_SHAPE, "kernel has %" PRId64 " %s; expected: 1 ... %d",
                     view->shape[d], d == view->ndim - 1 ? "columns" : "rows", RUNG_KERNEL_MOST);
  }
  if (view->place == RUNG_HOST) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_PLACE,
                   "kernel is in the memory of a device; expected: host memory");
}

static rung_status check_model(rung_error *error, const rung_filter_model *model,
                               const rung_view *kernel) {
  if (model->edge < RUNG_EDGE_WRAP || model->edge > RUNG_EDGE_MIRROR)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "model.edge is %d; expected: 0 ... %d",
                     (int)model->edge, (int)RUNG_EDGE_MIRROR);
  for (int d = 0; d < 2; d++) {
    const int64_t extent = kernel->shape[kernel->ndim - 2 + d], origin = model->origin[d];
    if (origin >= -(extent / 2) && origin <= (extent - 1) / 2) continue;
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "model.origin[%d] is %" PRId64 "; expected: %" PRId64 " ... %" PRId64
                     " for a kernel of %" PRId64 " %s",
                     d, origin, -(extent / 2), (extent - 1) / 2, extent,
                     d == 0 ? "rows" : "columns");
  }
  return RUNG_OK;
}

/* Of out without its axis of kernels. */
static rung_status check_out(rung_error *error, const rung_filter_model *model, const rung_view *in,
                             const rung_view *out) {
  for (int d = 0; d < 2; d++) {
    const int64_t room = in->shape[d], extent = out->shape[d], first = model->region[d];
    if (first < 0 || first > room)
      return rung_fail(error, RUNG_BAD_ARGUMENT,
                       "model.region[%d] is %" PRId64 "; expected: 0 ... %" PRId64
                       ", the extent of in",
                       d, first, room);
    if (extent > room - first)
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "out has %" PRId64 " %s from number %" PRId64
                       " of in on; expected: at most "
                       "%" PRId64,
                       extent, d == 0 ? "rows" : "columns", first, room - first);
  }
  if (in->ndim == 2 || out->shape[2] == in->shape[2]) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "out has %" PRId64 " channels; expected: %" PRId64 ", as in", out->shape[2],
                   in->shape[2]);
}

static rung_status view_out(rung_error *error, const rung_filter_model *model,
                            const DLTensor *tensor, const rung_view *in, const rung_view *kernel,
                            rung_view *out) {
  const int ndim = in->ndim + (kernel->ndim == 3);
  rung_status status = rung_view_of(error, "out", tensor, CORRELATE_DTYPES, ndim, out);
  if (status == RUNG_OK) status = rung_view_writable(error, "out", out);
  if (status != RUNG_OK) return status;
  if (kernel->ndim == 3 && out->shape[0] != kernel->shape[0])
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "out is of %" PRId64 " kernels; expected: %" PRId64 ", as many as there are",
                     out->shape[0], kernel->shape[0]);
  rung_view one = *out;
  if (kernel->ndim == 3) rung_view_drop(&one, 0, 0);
  if ((status = check_out(error, model, in, &one)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "out", out, "in", in)) != RUNG_OK)
    return status;
  return rung_refuse_overlap(error, "out", out, "in", in, false);
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* Pixels and channels as one dimension, where they follow one another without gaps; false: they
 * must be packed. */
static bool flatten(rung_view *view, int64_t channels, bool has_channels) {
  if (!has_channels) return true;
  const int x = view->ndim - 2, c = view->ndim - 1;
  if (channels > 1 && view->stride[c] != 1) return false;
  if (view->shape[x] > 1 && view->stride[x] != channels) return false;
  view->shape[x] *= channels;
  view->stride[x] = 1;
  view->ndim--;
  return true;
}

rung_job correlate_job_of(correlate_problem *p, const rung_view *in, const rung_view *out) {
  rung_job job = {.operation = &correlate_operation,
                  .task = {.problem = p, .arrays = {*in, *out}},
                  .types = p->types,
                  .problem_bytes = sizeof *p,
                  .elsewhere = true, /* taps */
                  .inputs = 1,
                  .arrays = 2,
                  .names = array_names,
                  .cut = &correlate_parts,
                  .axes = 1,
                  .axis = {{.extent = out->count > 0 ? p->rows : 0, .granule = PIECE}}};
  /* The first and the last piece need the whole image. */
  job.axis[0].dear = p->edge == RUNG_EDGE_WRAP;
  for (int a = CORRELATE_IN; a <= CORRELATE_OUT; a++)
    if (!flatten(&job.task.arrays[a], p->channels, in->ndim == 3)) job.compact |= 1u << a;
  return job;
}

/* Sets all of *p but the taps. */
static void find_problem(const rung_filter_model *model, const rung_view *in,
                         const rung_view *kernel, const rung_view *out, bool reversed,
                         correlate_problem *p) {
  const int k = kernel->ndim - 2, y = kernel->ndim == 3;
  int64_t centre[2];
  for (int d = 0; d < 2; d++) {
    const int64_t extent = kernel->shape[k + d], half = extent / 2 + model->origin[d];
    centre[d] = reversed ? extent - 1 - half : half;
  }
  *p = (correlate_problem){
      .kernels = kernel->ndim == 3 ? kernel->shape[0] : 1,
      .rows = out->shape[y],
      .columns = out->shape[y + 1],
      .channels = in->ndim == 3 ? (int)in->shape[2] : 1,
      .kernel_rows = (int)kernel->shape[k],
      .kernel_columns = (int)kernel->shape[k + 1],
      .height = in->shape[0],
      .width = in->shape[1],
      .first_row = model->region[0] - centre[0],
      .first_column = model->region[1] - centre[1],
      .edge = model->edge,
      .edge_value = rung_number_rounded(in->dtype, model->edge_value),
      .types = {in->dtype, correlate_sum_of(in->dtype, kernel->dtype, out->dtype), out->dtype}};
  correlate_measure(p);
}

rung_status correlate_read(rung_error *error, const rung_filter_model *model, const DLTensor *in,
                           const DLTensor *kernel, const DLTensor *out, bool reversed,
                           correlate_call *call) {
  rung_status status;
  *call = (correlate_call){.model = {.edge = RUNG_EDGE_CONSTANT}};
  if (model != NULL && (status = rung_read_struct(error, "model", &rung_filter_layout, model,
                                                  &call->model)) != RUNG_OK)
    return status;
  if ((status = view_image(error, in, &call->in)) != RUNG_OK ||
      (status = view_kernel(error, kernel, &call->kernel)) != RUNG_OK ||
      (status = check_model(error, &call->model, &call->kernel)) != RUNG_OK ||
      (status = view_out(error, &call->model, out, &call->in, &call->kernel, &call->out)) !=
          RUNG_OK ||
      (status = rung_refuse_overlap(error, "out", &call->out, "kernel", &call->kernel, false)) !=
          RUNG_OK)
    return status;
  const rung_view *taps = &call->kernel;
  find_problem(&call->model, &call->in, taps, &call->out, reversed, &call->problem);
  if (taps->ndim == 3 && call->problem.kernels == 1) rung_view_drop(&call->out, 0, 0);
  const size_t count = (size_t)taps->count, bytes = rung_view_bytes(taps);
  char *memory = (char *)malloc(2 * count * sizeof(double) + bytes);
  if (memory == NULL)
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a kernel of %zu elements", count);
  call->taps = memory;
  char *compact = memory + 2 * count * sizeof(double);
  const rung_view copy = rung_view_compact(compact, taps->dtype, taps->ndim, taps->shape);
  rung_view_copy(&copy, taps);
  return correlate_set_taps(error, &call->problem, taps->dtype, compact, reversed, memory);
}

static rung_status filter(rung_context *context, const rung_filter_model *model, const DLTensor *in,
                          const DLTensor *kernel, DLTensor *out, bool reversed, rung_call *how) {
  correlate_call call;
  rung_status status = correlate_read(&context->error, model, in, kernel, out, reversed, &call);
  if (status == RUNG_OK) {
    rung_job job = correlate_job_of(&call.problem, &call.in, &call.out);
    status = rung_run(context, &job, how);
  }
  free(call.taps);
  return status;
}

rung_status rung_correlate(rung_context *context, const rung_filter_model *model,
                           const DLTensor *in, const DLTensor *kernel, DLTensor *out,
                           rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK
             ? status
             : rung_end(context, filter(context, model, in, kernel, out, false, call));
}

rung_status rung_convolve(rung_context *context, const rung_filter_model *model, const DLTensor *in,
                          const DLTensor *kernel, DLTensor *out, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status
                           : rung_end(context, filter(context, model, in, kernel, out, true, call));
}
