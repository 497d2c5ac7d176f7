#include "core/door.h"

#include <stdlib.h>
#include <string.h>

#include "core/call.h"

/* How one array of the job reaches the rung. */
typedef enum way { DIRECT, PACKED, STAGED } way;

typedef struct plan {
  rung_context *context;
  const rung_job *job;
  const rung_row *row;
  way ways[RUNG_TASK_ARRAYS];
  rung_task task;                    /* of the slice */
  rung_view outer[RUNG_TASK_ARRAYS]; /* the caller's arrays, sliced */
  union {
    char bytes[RUNG_PROBLEM_BYTES];
    double aligned;
  } problem;
} plan;

rung_status rung_refuse_overlap(rung_error *error, const char *name, const rung_view *output,
                                const char *other_name, const rung_view *other, bool same_allowed) {
  if (output->count == 0 || other->count == 0 || !rung_views_overlap(output, other)) return RUNG_OK;
  if (same_allowed && rung_view_same(output, other)) return RUNG_OK;
  return rung_fail(
      error, RUNG_OVERLAP, "%s shares memory with %s; %s", name, other_name,
      same_allowed ? "it may be the very same array, or share none" : "they must share none");
}

rung_status rung_refuse_sides(rung_error *error, const char *name, const rung_view *view,
                              const char *other_name, const rung_view *other) {
  if (view->count == 0 || other->count == 0 || view->place == other->place) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_PLACE,
                   "%s lies in %s memory and %s in %s memory; both on the same side would do", name,
                   view->place == RUNG_HOST ? "host" : "device", other_name,
                   other->place == RUNG_HOST ? "host" : "device");
}

static size_t whole(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/* A view's rows [first, first + rows). */
static rung_view rows_of(const rung_view *view, int64_t first, int64_t rows) {
  rung_view part = *view;
  if (view->count == 0) return part;
  part.data += first * view->stride[0] * (int64_t)rung_dtype_bytes(view->dtype);
  part.count = view->count / view->shape[0] * rows;
  part.shape[0] = rows;
  return part;
}

static bool is_compact(const rung_view *view) {
  int64_t expected = 1;
  for (int d = view->ndim - 1; d >= 0; d--) {
    if (view->shape[d] > 1 && view->stride[d] != expected) return false;
    expected *= view->shape[d];
  }
  return true;
}

static bool strides_fit(const rung_job *job, int a) {
  const rung_view *view = &job->task.arrays[a];
  if (job->compact >> a & 1) return is_compact(view);
  return view->ndim < 2 || rung_view_compact_rows(view);
}

static rung_status choose_ways(plan *plan) {
  const rung_job *job = plan->job;
  rung_context *context = plan->context;
  for (int a = 0; a < job->arrays; a++) {
    const rung_view *view = &job->task.arrays[a];
    if (view->count == 0) continue;
    if (rung_is_local(context, view))
      plan->ways[a] = strides_fit(job, a) ? DIRECT : PACKED;
    else if (view->place == RUNG_HOST)
      plan->ways[a] = STAGED;
    else
      return rung_fail(&context->error, RUNG_BAD_PLACE,
                       "%s lies in the memory of cuda:%d, which %s cannot reach; give an array in "
                       "host memory, or open the context on that device",
                       job->names[a], view->device, context->device.name);
  }
  return RUNG_OK;
}

/* An input that is also the output must be copied for rungs that cannot work in place. */
static void guard_in_place(plan *plan) {
  const rung_job *job = plan->job;
  if (plan->row->in_place) return;
  for (int in = 0; in < job->inputs; in++)
    for (int out = job->inputs; out < job->arrays; out++)
      if (plan->ways[in] == DIRECT && job->task.arrays[in].count > 0 &&
          job->task.arrays[out].count > 0 &&
          rung_views_overlap(&job->task.arrays[in], &job->task.arrays[out]))
        plan->ways[in] = PACKED;
}

/* Sets the slice's task: problem, arrays; those that are not direct get compact views whose data
 * are offsets into scratch. Returns the bytes of scratch, the rung's own last. */
static size_t lay_out(plan *plan, int64_t first, int64_t rows, size_t *own) {
  const rung_job *job = plan->job;
  size_t bytes = 0;
  job->slice(job->task.problem, first, rows, plan->problem.bytes);
  plan->task = job->task;
  plan->task.problem = plan->problem.bytes;
  plan->task.device = &plan->context->device;
  plan->task.error = &plan->context->error;
  for (int a = 0; a < job->arrays; a++) {
    rung_view *inner = &plan->task.arrays[a];
    const bool uncut = job->whole || (job->shared >> a & 1);
    plan->outer[a] = uncut ? job->task.arrays[a] : rows_of(&job->task.arrays[a], first, rows);
    *inner = plan->outer[a];
    if (inner->count == 0 || plan->ways[a] == DIRECT) continue;
    *inner = rung_view_compact((void *)bytes, inner->dtype, inner->ndim, inner->shape);
    inner->place = plan->context->device.kind == RUNG_CPU ? RUNG_HOST : RUNG_DEVICE;
    inner->device = plan->context->device.index;
    bytes += whole(rung_view_bytes(inner));
  }
  *own = bytes;
  return bytes + whole(rung_row_needs(plan->row, &plan->task).scratch);
}

static rung_status settle(plan *plan, size_t bytes, size_t own) {
  void *scratch = NULL;
  const rung_needs needs = rung_row_needs(plan->row, &plan->task);
  rung_status status = rung_scratch(plan->context, bytes, &scratch);
  if (status == RUNG_OK) status = rung_zeros(plan->context, needs.zeros, &plan->task.zeros);
  if (status == RUNG_OK)
    status = rung_host_scratch(plan->context, needs.host_scratch, &plan->task.host_scratch);
  if (status != RUNG_OK) return status;
  for (int a = 0; a < plan->job->arrays; a++)
    if (plan->task.arrays[a].count > 0 && plan->ways[a] != DIRECT)
      plan->task.arrays[a].data = (char *)scratch + (size_t)plan->task.arrays[a].data;
  plan->task.scratch = (char *)scratch + own;
  plan->task.stream = plan->context->backend->stream(plan->context->state);
  return RUNG_OK;
}

/* Between a host view and compact device memory, by way of host memory of our own where the view
 * is not compact. */
static rung_status stage(plan *plan, int a, rung_copy way) {
  const rung_backend *backend = plan->context->backend;
  rung_error *error = &plan->context->error;
  rung_view *inner = &plan->task.arrays[a];
  const rung_view *outer = &plan->outer[a];
  const size_t bytes = rung_view_bytes(outer);
  void *spare = NULL, *host = outer->data;
  if (!is_compact(outer)) {
    host = spare = malloc(bytes);
    if (spare == NULL)
      return rung_fail(error, RUNG_OUT_OF_MEMORY,
                       "no memory for a compact copy of %s: %zu bytes are needed",
                       plan->job->names[a], bytes);
  }
  const rung_view compact = rung_view_compact(host, outer->dtype, outer->ndim, outer->shape);
  rung_status status;
  if (way == RUNG_TO_DEVICE) {
    if (spare != NULL) rung_view_copy(&compact, outer);
    status = backend->copy(plan->context->state, inner->data, host, bytes, way, error);
  } else {
    status = backend->copy(plan->context->state, host, inner->data, bytes, way, error);
  }
  if (status == RUNG_OK && (spare != NULL || way == RUNG_TO_HOST))
    status = backend->synchronize(plan->context->state, error);
  if (status == RUNG_OK && spare != NULL && way == RUNG_TO_HOST) rung_view_copy(outer, &compact);
  free(spare);
  return status;
}

/* Leaves dimension `d` out: what is left has the index 0 there. */
static void drop_dimension(rung_view *view, int d) {
  view->count /= view->shape[d];
  view->ndim--;
  for (; d < view->ndim; d++) {
    view->shape[d] = view->shape[d + 1];
    view->stride[d] = view->stride[d + 1];
  }
}

/* Backends pack two dimensions at a time: of more, the two longest, for every index of the
 * others. Neither view is empty. */
static rung_status pack(plan *plan, const rung_view *to, const rung_view *from) {
  if (to->ndim <= 2)
    return plan->context->backend->pack(plan->context->state, to, from, &plan->context->error);
  int shortest = 0;
  for (int d = 1; d < to->ndim; d++)
    if (to->shape[d] < to->shape[shortest]) shortest = d;
  const int64_t element = (int64_t)rung_dtype_bytes(to->dtype);
  rung_view to_part = *to, from_part = *from;
  drop_dimension(&to_part, shortest);
  drop_dimension(&from_part, shortest);
  rung_status status = RUNG_OK;
  for (int64_t i = 0; i < to->shape[shortest] && status == RUNG_OK; i++) {
    status = pack(plan, &to_part, &from_part);
    to_part.data += to->stride[shortest] * element;
    from_part.data += from->stride[shortest] * element;
  }
  return status;
}

static rung_status bring(plan *plan, int a, bool in) {
  rung_view *inner = &plan->task.arrays[a], *outer = &plan->outer[a];
  if (inner->count == 0 || plan->ways[a] == DIRECT) return RUNG_OK;
  if (plan->ways[a] == STAGED) return stage(plan, a, in ? RUNG_TO_DEVICE : RUNG_TO_HOST);
  return pack(plan, in ? inner : outer, in ? outer : inner);
}

static rung_status run_slice(plan *plan) {
  const rung_job *job = plan->job;
  rung_status status = RUNG_OK;
  for (int a = 0; a < job->inputs && status == RUNG_OK; a++) status = bring(plan, a, true);
  if (status == RUNG_OK) {
    status = rung_row_run(plan->row, &plan->task);
    if (status != RUNG_OK) rung_zeros_spoilt(plan->context);
  }
  for (int a = job->inputs; a < job->arrays && status == RUNG_OK; a++)
    status = bring(plan, a, false);
  return status;
}

/* Bytes of packed and staged arrays a slice may take: enough rows for all processors. */
static double slice_bytes(const rung_device *device) {
  const double least = 64 << 20, busy = (double)device->processors * (4 << 20);
  return busy > least ? busy : least;
}

/* How many rows at once: all, unless packing or staging them takes much, or more than there is. */
static rung_status rows_at_once(plan *plan, int64_t *rows) {
  rung_context *context = plan->context;
  size_t own, bytes = lay_out(plan, 0, *rows = plan->job->rows, &own);
  if (own == 0 || *rows == 1)
    return RUNG_OK; /* nothing to halve: nobody need ask how much is free */
  int64_t available = 0;
  const rung_status status =
      context->backend->available(context->state, &available, &context->error);
  if (status != RUNG_OK) return status;
  const double budget = 0.9 * ((double)available + (double)context->scratch_bytes);
  while (*rows > 1 && ((double)own > slice_bytes(&context->device) || (double)bytes > budget))
    bytes = lay_out(plan, 0, *rows = (*rows + 1) / 2, &own);
  return RUNG_OK;
}

static rung_status run_job(rung_context *context, rung_job *job, const rung_call *call,
                           const char **used) {
  plan plan = {.context = context, .job = job};
  job->task.device = &context->device;
  job->task.error = &context->error;
  job->task.block = call->block;
  rung_status status = choose_ways(&plan);
  if (status != RUNG_OK) return status;
  status = rung_choose(job->operation, &job->task, job->types, call, &plan.row, &context->error);
  if (status != RUNG_OK) return status;
  guard_in_place(&plan);
  int64_t rows;
  status = rows_at_once(&plan, &rows);
  for (int64_t first = 0; first < job->rows && status == RUNG_OK; first += rows) {
    const int64_t left = job->rows - first;
    size_t own;
    const size_t bytes = lay_out(&plan, first, left < rows ? left : rows, &own);
    status = settle(&plan, bytes, own);
    if (status == RUNG_OK) status = run_slice(&plan);
  }
  *used = plan.row->name;
  return status;
}

rung_status rung_run(rung_context *context, rung_job *job, rung_call *call) {
  rung_call known;
  const char *used = NULL;
  rung_status status = rung_call_begin(context, call, &known);
  if (status != RUNG_OK) return status;
  status = run_job(context, job, &known, &used);
  return rung_call_end(context, status, call, used);
}
