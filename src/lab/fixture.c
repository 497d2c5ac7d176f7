/* A case set up on a device: arrays between canaries, poison, launches. */
#include "lab/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/random.h"

/* On a device of its own memory, inputs are fetched and compared in pieces of this size. */
enum { SEEN_BYTES = 16 << 20 };

bool lab_host_take(rung_context *context, size_t bytes, bool pinned, lab_host *host) {
  const rung_backend *backend = context->backend;
  const size_t least = bytes ? bytes : 1;
  void *memory = NULL;
  rung_error unused;
  *host = (lab_host){NULL, false};
  if (pinned && backend->allocate_pinned &&
      backend->allocate_pinned(context->state, least, &memory, &unused) == RUNG_OK)
    host->pinned = true;
  else
    memory = malloc(least); /* slower to fetch into, and as good */
  host->data = memory;
  return memory != NULL;
}

void lab_host_give(rung_context *context, lab_host *host) {
  if (host->pinned)
    context->backend->release_pinned(context->state, host->data);
  else
    free(host->data);
  *host = (lab_host){NULL, false};
}

double lab_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool lab_is_host(const rung_device *device) {
  return device->kind != RUNG_CUDA;
}

void lab_task_of(rung_context *context, const rung_case *test_case, rung_task *task) {
  *task = (rung_task){.problem = test_case->problem,
                      .stream = context->backend->stream(context->state),
                      .state = context->state,
                      .device = &context->device,
                      .test_case = test_case};
  const bool host = lab_is_host(&context->device);
  for (int i = 0; i < test_case->inputs + test_case->outputs; ++i) {
    task->arrays[i] = test_case->arrays[i];
    task->arrays[i].data = NULL;
    task->arrays[i].place = host ? RUNG_HOST : RUNG_DEVICE;
    task->arrays[i].device = host ? 0 : context->device.index;
  }
}

/* Every word differs from every other in every zone, so that a zone copied over another, or moved
 * within itself, is noticed. The seed is fixed: nothing depends on it. */
static void make_canary(char *canary) {
  rung_random random = {0x63616e617279u};
  for (size_t at = 0; at < LAB_CANARIES; at += sizeof(uint64_t)) {
    const uint64_t word = rung_random_next(&random);
    memcpy(canary + at, &word, sizeof word);
  }
}

static rung_status take_arena(rung_context *context, size_t bytes, lab_arena *arena,
                              rung_error *error) {
  void *base = NULL;
  rung_status status =
      context->backend->allocate(context->state, bytes + 2 * (size_t)LAB_ZONE, &base, error);
  if (status != RUNG_OK) return status;
  *arena = (lab_arena){base, (char *)base + LAB_ZONE, bytes, bytes};
  return RUNG_OK;
}

rung_status lab_fixture_load(lab_fixture *fixture, rung_error *error) {
  for (int i = 0; i < fixture->test_case->inputs; ++i) {
    if (!fixture->arenas[i].bytes) continue;
    rung_status status = fixture->context->backend->copy(
        fixture->context->state, fixture->arenas[i].data, fixture->test_case->arrays[i].data,
        fixture->arenas[i].bytes, RUNG_TO_DEVICE, error);
    if (status != RUNG_OK) return status;
  }
  return RUNG_OK;
}

static rung_status take_memory(lab_fixture *fixture, rung_error *error) {
  rung_context *context = fixture->context;
  const rung_case *test_case = fixture->test_case;
  fixture->canary = malloc(LAB_CANARIES);
  fixture->known = calloc(1, sizeof *fixture->known);
  /* On the host things are compared in place; a held stream is peeked past all the same. */
  fixture->seen_bytes = fixture->on_host ? LAB_PIECE : SEEN_BYTES;
  if (!fixture->canary || !fixture->known ||
      !lab_host_take(context, fixture->seen_bytes, true, &fixture->seen))
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for the lab's canaries");
  make_canary(fixture->canary);
  for (int i = 0; i < test_case->inputs + test_case->outputs; ++i) {
    if (!test_case->arrays[i].count) continue;
    const size_t bytes = rung_view_bytes(&test_case->arrays[i]);
    rung_status status = take_arena(context, bytes, &fixture->arenas[i], error);
    if (status != RUNG_OK) return status;
    fixture->task.arrays[i].data = fixture->arenas[i].data;
    if (fixture->on_host || i < test_case->inputs) continue;
    if (!lab_host_take(context, bytes, true, &fixture->outputs[i]))
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory to fetch %s (%zu bytes) into",
                       test_case->array_names[i], bytes);
  }
  return take_arena(context, 0, &fixture->arenas[LAB_SCRATCH], error);
}

rung_status lab_fixture_open(rung_context *context, const rung_case *test_case,
                             lab_fixture **fixture, rung_error *error) {
  lab_fixture *made = *fixture = calloc(1, sizeof *made);
  if (!made) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for the lab's fixture");
  made->context = context;
  made->test_case = test_case;
  made->on_host = lab_is_host(&context->device);
  lab_task_of(context, test_case, &made->task);
  rung_status status = take_memory(made, error);
  /* The watcher is opened now, before anything is held: opening may wait for the whole device. */
  if (status == RUNG_OK && context->backend->hold)
    status = context->backend->open(&context->device, NULL, &made->watcher, error);
  if (status == RUNG_OK) status = lab_fixture_load(made, error);
  if (status == RUNG_OK) status = lab_fixture_poison(made, error);
  if (status != RUNG_OK) {
    lab_fixture_close(made);
    *fixture = NULL;
  }
  return status;
}

void lab_fixture_close(lab_fixture *fixture) {
  if (!fixture) return;
  rung_context *context = fixture->context;
  context->backend->synchronize(context->state, NULL); /* nothing may still use the memory */
  for (int i = 0; i < LAB_ARENAS; ++i)
    if (fixture->arenas[i].base) context->backend->release(context->state, fixture->arenas[i].base);
  for (int i = 0; i < RUNG_TASK_ARRAYS; ++i) lab_host_give(context, &fixture->outputs[i]);
  lab_host_give(context, &fixture->seen);
  if (fixture->watcher) context->backend->close(fixture->watcher);
  free(fixture->canary);
  free(fixture->known);
  free(fixture);
}

static rung_status poison_arena(lab_fixture *fixture, int index, rung_error *error) {
  const lab_arena *arena = &fixture->arenas[index];
  const rung_backend *backend = fixture->context->backend;
  rung_state *state = fixture->context->state;
  if (!arena->base) return RUNG_OK;
  rung_status status = RUNG_OK;
  if (index >= fixture->test_case->inputs && arena->bytes)
    status = backend->fill(state, arena->data, index == LAB_ZEROS ? 0 : RUNG_POISON_BYTE,
                           arena->bytes, error);
  if (status == RUNG_OK)
    status = backend->copy(state, arena->base, fixture->canary + lab_zone_offset(index, 0),
                           LAB_ZONE, RUNG_TO_DEVICE, error);
  if (status == RUNG_OK)
    status =
        backend->copy(state, arena->data + arena->bytes,
                      fixture->canary + lab_zone_offset(index, 1), LAB_ZONE, RUNG_TO_DEVICE, error);
  return status;
}

rung_status lab_fixture_poison(lab_fixture *fixture, rung_error *error) {
  rung_status status = RUNG_OK;
  for (int i = 0; i < LAB_ARENAS && status == RUNG_OK; ++i)
    status = poison_arena(fixture, i, error);
  if (status == RUNG_OK && fixture->host_scratch_bytes > 0)
    status = fixture->context->backend->fill(fixture->context->state, fixture->task.host_scratch,
                                             RUNG_POISON_BYTE, fixture->host_scratch_bytes, error);
  return status;
}

/* The task of a launch, all but its scratch. Shapes only are shown to a rung that is asked what it
 * supports or needs: an answer must not depend on data, nor do work. */
static rung_task question_of(const lab_fixture *fixture, int block, rung_error *error) {
  rung_task task = fixture->task;
  for (int i = 0; i < RUNG_TASK_ARRAYS; ++i) task.arrays[i].data = NULL;
  task.block = block;
  task.error = error;
  return task;
}

static rung_status grow_arena(lab_fixture *fixture, int index, size_t bytes, rung_error *error) {
  lab_arena *arena = &fixture->arenas[index];
  const rung_backend *backend = fixture->context->backend;
  if (bytes > arena->capacity) {
    rung_status status = backend->synchronize(fixture->context->state, error);
    if (status != RUNG_OK) return status;
    if (arena->base) backend->release(fixture->context->state, arena->base);
    *arena = (lab_arena){0};
    status = take_arena(fixture->context, bytes, arena, error);
    if (status != RUNG_OK) return status;
  }
  arena->bytes = bytes;
  return RUNG_OK;
}

static rung_status take_host_scratch(lab_fixture *fixture, size_t bytes, rung_error *error) {
  rung_context *context = fixture->context;
  const rung_status status = rung_host_scratch(context, bytes, &fixture->task.host_scratch);
  fixture->host_scratch_bytes = status == RUNG_OK ? bytes : 0;
  return status == RUNG_OK ? status : rung_fail(error, status, "%s", context->error.sentence);
}

/* Zeros for the next rung: those of the rung before may have been fewer, and then the canaries
 * behind them lie where this one's are to be. */
static rung_status take_zeros(lab_fixture *fixture, size_t bytes, rung_error *error) {
  const size_t before = fixture->arenas[LAB_ZEROS].bytes;
  const rung_status status = grow_arena(fixture, LAB_ZEROS, bytes, error);
  return status == RUNG_OK && bytes != before ? poison_arena(fixture, LAB_ZEROS, error) : status;
}

rung_status lab_fixture_prepare(lab_fixture *fixture, const rung_row *row, int block,
                                rung_error *error) {
  const rung_task task = question_of(fixture, block, error);
  rung_status status = rung_row_supports(row, &task, fixture->test_case->types, error);
  if (status != RUNG_OK) return status;
  const rung_needs needs = rung_row_needs(row, &task);
  status = grow_arena(fixture, LAB_SCRATCH, needs.scratch, error);
  if (status == RUNG_OK) status = take_zeros(fixture, needs.zeros, error);
  if (status == RUNG_OK) status = take_host_scratch(fixture, needs.host_scratch, error);
  return status;
}

const rung_row *lab_fixture_auto(const lab_fixture *fixture) {
  const rung_row *row = NULL;
  rung_error refused;
  const rung_task task = question_of(fixture, 0, &refused);
  const rung_case *test_case = fixture->test_case;
  return rung_choose(test_case->operation, &task, test_case->types, NULL, &row, &refused) ? NULL
                                                                                          : row;
}

rung_status lab_fixture_shot(lab_fixture *fixture, const rung_row *row, int block, lab_shot *shot,
                             rung_error *error) {
  const rung_task question = question_of(fixture, block, error);
  const rung_needs needs = rung_row_needs(row, &question);
  const size_t given = fixture->arenas[LAB_SCRATCH].bytes;
  if (needs.scratch > given || needs.zeros > fixture->arenas[LAB_ZEROS].bytes ||
      needs.host_scratch > fixture->host_scratch_bytes)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s needs %zu bytes of scratch where %zu are prepared: prepare it first",
                     row->name, needs.scratch, given);
  if (!rung_row_launch(row, &fixture->context->device))
    return rung_fail(error, RUNG_UNSUPPORTED, "rung %s is not in this build for %s", row->name,
                     fixture->context->device.name);
  shot->row = row;
  shot->task = fixture->task;
  shot->task.scratch = fixture->arenas[LAB_SCRATCH].data;
  shot->task.zeros = fixture->arenas[LAB_ZEROS].data;
  shot->task.block = block;
  shot->task.error = error;
  return RUNG_OK;
}

/* Where a device can watch its kernels, whoever touches a canary is caught in the act. */
static void guard(lab_fixture *fixture, bool on) {
  const rung_backend *backend = fixture->context->backend;
  rung_state *state = fixture->context->state;
  for (int i = 0; i < LAB_ARENAS && backend->guard; ++i) {
    const lab_arena *arena = &fixture->arenas[i];
    if (!arena->base) continue;
    backend->guard(state, arena->base, LAB_ZONE, on);
    backend->guard(state, arena->data + arena->bytes, arena->capacity - arena->bytes + LAB_ZONE,
                   on);
  }
}

rung_status lab_settle(const rung_row *row, const rung_task *task) {
  return row->settle ? row->settle(task) : RUNG_OK;
}

rung_status lab_launch(const rung_row *row, const rung_task *task) {
  const rung_status status = rung_row_run(row, task);
  return status == RUNG_OK ? lab_settle(row, task) : status;
}

rung_status lab_fixture_launch(lab_fixture *fixture, const rung_row *row, int block,
                               rung_error *error) {
  lab_shot shot;
  rung_status status = lab_fixture_shot(fixture, row, block, &shot, error);
  if (status != RUNG_OK) return status;
  guard(fixture, true);
  status = lab_launch(shot.row, &shot.task);
  guard(fixture, false);
  return status;
}
