/* The door of rowmeans: looks at the arrays once, chooses a rung, brings the rows to where and how
 * the rung wants them, slice by slice where that needs memory. */
#include "ops/rowmeans/rowmeans.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/context.h"

/* Rows are packed or staged in slices of so many bytes (at least one row): enough to keep the
 * device busy, little enough to have beside anything. */
#define SLICE_BYTES ((int64_t)64 << 20)

typedef struct job {
  rung_context *context;
  rung_view in, means;
  rowmeans_problem problem;
  const rung_row *row;
  int block;
  bool staged;   /* host arrays for another device's memory */
  bool packed;   /* rows must be made contiguous first */
  int64_t slice; /* rows at a time */
} job;

rung_status rowmeans_problem_of(rung_error *error, int64_t rows, int64_t columns, rung_dtype dtype,
                                rowmeans_problem *problem) {
  if (rows < 1)
    return rung_fail(error, RUNG_BAD_SHAPE, "in has %" PRId64 " rows: at least 1 is accepted",
                     rows);
  if (columns < 1)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "in has %" PRId64
                     " columns: at least 1 is accepted, as the mean of nothing "
                     "is no number",
                     columns);
  if (columns > ROWMEANS_MOST)
    return rung_fail(error, RUNG_TOO_LARGE, "in has %" PRId64 " columns: at most 2^40 are accepted",
                     columns);
  int64_t count = 0, bytes = 0;
  if (!rung_multiply(rows, columns, &count) ||
      !rung_multiply(count, 2 * (int64_t)rung_dtype_bytes(dtype), &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " rows of %" PRId64
                     " columns: their bytes do not fit in 64 "
                     "bits",
                     rows, columns);
  *problem = (rowmeans_problem){.rows = rows, .columns = columns, .dtype = dtype};
  problem->bytes = ((double)count + (double)rows) * (double)rung_dtype_bytes(dtype);
  problem->flops = (double)count;
  return RUNG_OK;
}

/* ---- looking at the arrays ------------------------------------------------------------------ */

static rung_status check_places(job *job) {
  rung_error *error = &job->context->error;
  const rung_view *views[] = {&job->in, &job->means};
  static const char *const names[] = {"in", "means"};
  for (int i = 0; i < 2; ++i)
    if (!rung_is_local(job->context, views[i]) && views[i]->place != RUNG_HOST)
      return rung_fail(error, RUNG_BAD_PLACE,
                       "%s lies in the memory of CUDA device %d, which the context's device (%s) "
                       "cannot reach: host memory%s is accepted",
                       names[i], views[i]->device, job->context->device.name,
                       job->context->device.kind == RUNG_CUDA ? " or its own" : "");
  if (job->in.place != job->means.place)
    return rung_fail(error, RUNG_BAD_PLACE,
                     "in lies in %s memory and means in %s memory: both on the same side are "
                     "accepted",
                     job->in.place == RUNG_HOST ? "host" : "device",
                     job->means.place == RUNG_HOST ? "host" : "device");
  return RUNG_OK;
}

static rung_status look(job *job, const DLTensor *in, const DLTensor *means) {
  rung_error *error = &job->context->error;
  rung_status status = rung_view_of(error, "in", in, RUNG_FLOATS, 2, &job->in);
  if (status == RUNG_OK)
    status = rung_view_of(error, "means", means, RUNG_TYPE(job->in.dtype), 1, &job->means);
  if (status == RUNG_OK)
    status = rowmeans_problem_of(error, job->in.shape[0], job->in.shape[1], job->in.dtype,
                                 &job->problem);
  if (status != RUNG_OK) return status;
  if (job->means.shape[0] != job->problem.rows)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "means has %" PRId64 " elements: %" PRId64 ", the rows of in, are accepted",
                     job->means.shape[0], job->problem.rows);
  status = rung_view_writable(error, "means", &job->means);
  if (status == RUNG_OK) status = check_places(job);
  if (status != RUNG_OK) return status;
  if (rung_views_overlap(&job->in, &job->means))
    return rung_fail(error, RUNG_OVERLAP,
                     "means lies between the first and the last byte of in: memory of its own is "
                     "accepted");
  return RUNG_OK;
}

/* ---- running --------------------------------------------------------------------------------- */

static rung_view rows_of(const rung_view *view, int64_t first, int64_t count) {
  rung_view rows = *view;
  rows.data += first * view->stride[0] * (int64_t)rung_dtype_bytes(view->dtype);
  rows.shape[0] = count;
  rows.count = view->count / view->shape[0] * count;
  return rows;
}

/* Compact views of a slice over memory of the device. */
static rung_view compact_like(const rung_view *view, int64_t rows, void *data,
                              const rung_context *context) {
  int64_t shape[RUNG_MAX_DIMS] = {rows, view->ndim == 2 ? view->shape[1] : 1};
  rung_view compact = rung_view_compact(data, view->dtype, view->ndim, shape);
  if (context->device.kind != RUNG_CPU) {
    compact.place = RUNG_DEVICE;
    compact.device = context->device.index;
  }
  return compact;
}

static rung_task task_of(job *job, rowmeans_problem *problem, const rung_view *in,
                         const rung_view *means) {
  rung_context *context = job->context;
  *problem = job->problem;
  problem->rows = in->shape[0];
  rung_task task = {.problem = problem,
                    .block = job->block,
                    .stream = context->backend->stream(context->state),
                    .device = &context->device,
                    .error = &context->error};
  task.arrays[ROWMEANS_IN] = *in;
  task.arrays[ROWMEANS_MEANS] = *means;
  return task;
}

/* Brings one slice of host rows over, has the rung run, takes the means back. `bounce` holds the
 * rows where they are not compact already, then the means. */
static rung_status run_staged(job *job, int64_t first, const rung_view *in, const rung_view *means,
                              char *bounce, void *scratch) {
  rung_context *context = job->context;
  const rung_backend *backend = context->backend;
  const int64_t rows = in->shape[0];
  rung_view from = rows_of(&job->in, first, rows), to = rows_of(&job->means, first, rows);
  const char *host = from.data;
  if (!rung_view_compact_rows(&from) || (rows > 1 && from.stride[0] != from.shape[1])) {
    rung_view copy = rung_view_compact(bounce, from.dtype, 2, from.shape);
    rung_view_copy(&copy, &from);
    host = bounce;
  }
  rung_status status = backend->copy(context->state, in->data, host, rung_view_bytes(&from),
                                     RUNG_TO_DEVICE, &context->error);
  rowmeans_problem problem;
  rung_task task = task_of(job, &problem, in, means);
  task.scratch = scratch;
  if (status == RUNG_OK) status = rung_row_launch(job->row, &context->device)(&task);
  /* The rows in `bounce` have arrived once this is done, so the means may take their place. */
  if (status == RUNG_OK) status = backend->synchronize(context->state, &context->error);
  if (status == RUNG_OK)
    status = backend->copy(context->state, bounce, means->data, rung_view_bytes(means),
                           RUNG_TO_HOST, &context->error);
  if (status == RUNG_OK) status = backend->synchronize(context->state, &context->error);
  if (status != RUNG_OK) return status;
  rung_view copy = rung_view_compact(bounce, to.dtype, 1, to.shape);
  rung_view_copy(&to, &copy);
  return RUNG_OK;
}

/* One slice where the arrays already lie on the device. */
static rung_status run_local(job *job, int64_t first, const rung_view *in, const rung_view *means,
                             void *scratch) {
  rung_context *context = job->context;
  if (job->packed) {
    const rung_view from = rows_of(&job->in, first, in->shape[0]);
    rung_status status = context->backend->pack(context->state, in, &from, &context->error);
    if (status != RUNG_OK) return status;
  }
  rowmeans_problem problem;
  rung_task task = task_of(job, &problem, in, means);
  task.scratch = scratch;
  return rung_row_launch(job->row, &context->device)(&task);
}

static size_t rounded(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/* What the slices of a job share, and where it lies in the context's scratch. */
typedef struct room {
  size_t in, means, rung; /* bytes */
  char *memory;
  char *bounce; /* host memory, where staged */
} room;

static rung_status take_room(job *job, room *room) {
  const bool own = job->packed || job->staged;
  const size_t element = rung_dtype_bytes(job->in.dtype);
  *room = (struct room){0};
  if (own) room->in = rounded((size_t)(job->slice * job->problem.columns) * element);
  if (job->staged) room->means = rounded((size_t)job->slice * element);
  const rung_view in = own ? compact_like(&job->in, job->slice, NULL, job->context) : job->in;
  rowmeans_problem problem;
  rung_task task = task_of(job, &problem, &in, &job->means);
  if (job->row->scratch_bytes != NULL) room->rung = job->row->scratch_bytes(&task);
  void *memory = NULL;
  rung_status status = rung_scratch(job->context, room->in + room->means + room->rung, &memory);
  if (status != RUNG_OK) return status;
  room->memory = (char *)memory;
  if (!job->staged) return RUNG_OK;
  room->bounce = (char *)malloc(room->in > room->means ? room->in : room->means);
  if (room->bounce == NULL)
    return rung_fail(&job->context->error, RUNG_OUT_OF_MEMORY,
                     "host memory ran out for %zu bytes to stage in", room->in);
  return RUNG_OK;
}

static rung_status run(job *job) {
  room room;
  rung_status status = take_room(job, &room);
  for (int64_t first = 0; status == RUNG_OK && first < job->problem.rows; first += job->slice) {
    const int64_t left = job->problem.rows - first, rows = left < job->slice ? left : job->slice;
    rung_view in = rows_of(&job->in, first, rows), means = rows_of(&job->means, first, rows);
    if (job->packed || job->staged) in = compact_like(&in, rows, room.memory, job->context);
    if (job->staged) means = compact_like(&means, rows, room.memory + room.in, job->context);
    void *scratch = room.rung == 0 ? NULL : room.memory + room.in + room.means;
    status = job->staged ? run_staged(job, first, &in, &means, room.bounce, scratch)
                         : run_local(job, first, &in, &means, scratch);
  }
  free(room.bounce);
  return status;
}

rung_status rung_rowmeans(rung_context *context, const DLTensor *in, DLTensor *means,
                          rung_call *call) {
  rung_status status = rung_begin(context);
  if (status != RUNG_OK) return status;
  job job = {.context = context, .block = call == NULL ? 0 : call->block};
  status = look(&job, in, means);
  if (status != RUNG_OK) return status;
  job.staged = !rung_is_local(context, &job.in);
  job.packed = !job.staged && !rung_view_compact_rows(&job.in);
  job.slice = job.problem.rows;
  if (job.staged || job.packed) {
    const int64_t row_bytes = job.problem.columns * (int64_t)rung_dtype_bytes(job.in.dtype);
    const int64_t rows = row_bytes < SLICE_BYTES ? SLICE_BYTES / row_bytes : 1;
    if (rows < job.slice) job.slice = rows;
  }
  rowmeans_problem problem;
  const rung_task task = task_of(&job, &problem, &job.in, &job.means);
  status = rung_choose(&rowmeans_operation, &task, job.in.dtype, call, &job.row, &context->error);
  if (status != RUNG_OK) return status;
  status = run(&job);
  if (status == RUNG_OK && call != NULL) call->used = job.row->name;
  return status;
}
