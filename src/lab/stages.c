/* One job end to end, each stage timed apart. */
#include <string.h>

#include "core/transfer.h"
#include "lab/fixture.h"

typedef struct stages {
  rung_context *context;
  const rung_case *test_case;
  const rung_row *row;
  rung_task task;
  lab_host host[RUNG_TASK_ARRAYS]; /* outputs, and inputs where they are to be pinned */
  void *device[LAB_ARENAS];
} stages;

static size_t bytes_of(const stages *job, int index) {
  return job->test_case->arrays[index].count ? rung_view_bytes(&job->test_case->arrays[index]) : 0;
}

static int arrays_of(const stages *job) {
  return job->test_case->inputs + job->test_case->outputs;
}

static rung_status take_host(stages *job, bool pinned, rung_error *error) {
  for (int i = 0; i < arrays_of(job); ++i) {
    const bool output = i >= job->test_case->inputs;
    const size_t bytes = bytes_of(job, i);
    if (!bytes || (!output && !pinned)) continue;
    if (!lab_host_take(job->context, bytes, pinned, &job->host[i]))
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for %s (%zu bytes)",
                       job->test_case->array_names[i], bytes);
    if (output)
      memset(job->host[i].data, 0, bytes); /* pages there before the clock starts */
    else
      memcpy(job->host[i].data, job->test_case->arrays[i].data, bytes);
  }
  return RUNG_OK;
}

static rung_status allocate(stages *job, rung_error *error) {
  rung_context *context = job->context;
  rung_status status = RUNG_OK;
  for (int i = 0; i < arrays_of(job) && status == RUNG_OK; ++i) {
    if (!bytes_of(job, i)) continue;
    status = context->backend->allocate(context->state, bytes_of(job, i), &job->device[i], error);
    job->task.arrays[i].data = job->device[i];
  }
  const rung_needs needs = rung_row_needs(job->row, &job->task);
  if (status == RUNG_OK && needs.scratch)
    status =
        context->backend->allocate(context->state, needs.scratch, &job->device[LAB_SCRATCH], error);
  if (status == RUNG_OK && needs.zeros)
    status =
        context->backend->allocate(context->state, needs.zeros, &job->device[LAB_ZEROS], error);
  job->task.scratch = job->device[LAB_SCRATCH];
  job->task.zeros = job->device[LAB_ZEROS];
  if (status == RUNG_OK && needs.zeros)
    status = context->backend->fill(context->state, job->task.zeros, 0, needs.zeros, error);
  if (status != RUNG_OK) return status;
  status = rung_host_scratch(context, needs.host_scratch, &job->task.host_scratch);
  return status == RUNG_OK ? status : rung_fail(error, status, "%s", context->error.sentence);
}

static rung_view compact_host(const stages *job, int index, void *data) {
  const rung_view *view = &job->test_case->arrays[index];
  return rung_view_compact(data, view->dtype, view->ndim, view->shape);
}

/* As calls copy: large arrays by chunks, beside the work. */
static rung_status copy_in(stages *job, rung_error *error) {
  rung_context *context = job->context;
  rung_status status = RUNG_OK;
  for (int i = 0; i < job->test_case->inputs && status == RUNG_OK; ++i) {
    if (!bytes_of(job, i)) continue;
    const char *from = job->host[i].data ? job->host[i].data : job->test_case->arrays[i].data;
    const rung_view host = compact_host(job, i, (void *)(uintptr_t)from);
    status = rung_copy_in(context, &(rung_range){&host, 0, host.count}, job->device[i],
                          rung_goes_beside(context, bytes_of(job, i)));
  }
  return status == RUNG_OK ? status : rung_fail(error, status, "%s", context->error.sentence);
}

static rung_status launch(stages *job, rung_error *error) {
  job->task.error = error;
  return lab_launch(job->row, &job->task);
}

static rung_status copy_out(stages *job, rung_error *error) {
  rung_context *context = job->context;
  rung_status status = RUNG_OK;
  for (int i = job->test_case->inputs; i < arrays_of(job) && status == RUNG_OK; ++i)
    if (bytes_of(job, i)) {
      const rung_view host = compact_host(job, i, job->host[i].data);
      status = rung_copy_out(context, &(rung_range){&host, 0, host.count}, job->device[i],
                             rung_goes_beside(context, bytes_of(job, i)));
    }
  return status == RUNG_OK ? status : rung_fail(error, status, "%s", context->error.sentence);
}

static rung_status release(stages *job, rung_error *error) {
  (void)error;
  for (int i = 0; i < LAB_ARENAS; ++i) {
    if (job->device[i]) job->context->backend->release(job->context->state, job->device[i]);
    job->device[i] = NULL;
  }
  return RUNG_OK;
}

/* Runs one stage from idle to idle. Does nothing after a failure. */
static void timed(stages *job, rung_status (*stage)(stages *, rung_error *), double *milliseconds,
                  rung_status *status, rung_error *error) {
  if (*status != RUNG_OK) return;
  const rung_backend *backend = job->context->backend;
  *status = backend->synchronize(job->context->state, error);
  const double begun = lab_seconds();
  if (*status == RUNG_OK) *status = stage(job, error);
  if (*status == RUNG_OK) *status = backend->synchronize(job->context->state, error);
  *milliseconds = 1e3 * (lab_seconds() - begun);
}

static rung_status run(stages *job, lab_stage_times *times, rung_error *error) {
  rung_status status = RUNG_OK;
  timed(job, allocate, &times->allocate, &status, error);
  timed(job, copy_in, &times->copy_in, &status, error);
  if (status == RUNG_OK) status = job->context->backend->flush(job->context->state, error);
  timed(job, launch, &times->kernel, &status, error);
  timed(job, copy_out, &times->copy_out, &status, error);
  timed(job, release, &times->free, &status, error);
  return status;
}

rung_status lab_stages_of(rung_context *context, const rung_case *test_case, const rung_row *row,
                          int block, bool pinned, lab_stage_times *times, rung_error *error) {
  stages job = {.context = context, .test_case = test_case, .row = row};
  lab_task_of(context, test_case, &job.task);
  job.task.block = block;
  job.task.error = error;
  rung_status status = rung_row_supports(row, &job.task, test_case->types, error);
  if (status == RUNG_OK) status = take_host(&job, pinned, error);
  lab_stage_times warm_up;
  if (status == RUNG_OK) status = run(&job, &warm_up, error);
  if (status == RUNG_OK) status = run(&job, times, error);
  if (status != RUNG_OK) context->backend->synchronize(context->state, NULL);
  release(&job, NULL);
  for (int i = 0; i < RUNG_TASK_ARRAYS; ++i) lab_host_give(context, &job.host[i]);
  return status;
}
