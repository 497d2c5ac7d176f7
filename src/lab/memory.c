/* One job end to end, from host memory of one kind and back: what the kinds cost. Every sample is
 * taken twice, once in one go and once stage by stage, idle at both ends of each. */
#include <stdlib.h>
#include <string.h>

#include "core/transfer.h"
#include "lab/fixture.h"

static const char *const names[RUNG_MEMORIES] = {"pageable", "pinned", "write-combined", "mapped",
                                                 "managed"};
static const char *const stages[LAB_STAGES] = {"copy_in", "clear_fill", "clear_copy", "kernel",
                                               "copy_out"};

const char *lab_memory_name(int memory) {
  return memory > 0 && memory <= RUNG_MEMORIES ? names[memory - 1] : "";
}

bool lab_memory_named(const char *name, int *memory) {
  for (int k = 0; k < RUNG_MEMORIES; ++k)
    if (strcmp(names[k], name) == 0) {
      *memory = k + 1;
      return true;
    }
  return false;
}

const char *lab_stage_name(lab_stage stage) {
  return stages[stage];
}

/* ---- arrays ------------------------------------------------------------------------------- */

/* An array on the host, and where kernels find it there; zeros are as long as the largest output.
 */
typedef struct place {
  void *host, *seen;
  size_t bytes;
} place;

typedef struct trip {
  rung_context *context;
  const rung_case *test_case;
  rung_memory kind;
  bool direct; /* kernels work on the host's arrays: nothing is copied */
  place arrays[RUNG_TASK_ARRAYS], zeros;
  void *device[LAB_ARENAS];
  rung_needs room; /* of device[LAB_SCRATCH] and [LAB_ZEROS] */
  rung_task task;
  lab_known *known; /* owned: what was checked in the device's memory */
} trip;

static int arrays_of(const trip *t) {
  return t->test_case->inputs + t->test_case->outputs;
}

static rung_status take_place(trip *t, size_t bytes, place *to, rung_error *error) {
  to->bytes = bytes;
  return t->context->backend->allocate_kind(t->context->state, t->kind, bytes, &to->host, &to->seen,
                                            error);
}

static rung_status take_device(trip *t, int index, size_t bytes, rung_error *error) {
  const rung_backend *backend = t->context->backend;
  if (t->device[index]) backend->release(t->context->state, t->device[index]);
  t->device[index] = NULL;
  return backend->allocate(t->context->state, bytes, &t->device[index], error);
}

static rung_status take_arrays(trip *t, rung_error *error) {
  rung_status status = RUNG_OK;
  size_t largest = 0;
  for (int i = 0; i < arrays_of(t) && !status; ++i) {
    const rung_view *view = &t->test_case->arrays[i];
    const size_t bytes = view->count ? rung_view_bytes(view) : 0;
    if (bytes == 0) continue;
    if (i >= t->test_case->inputs && bytes > largest) largest = bytes;
    status = take_place(t, bytes, &t->arrays[i], error);
    if (!status && !t->direct) status = take_device(t, i, bytes, error);
    t->task.arrays[i].data = t->direct ? t->arrays[i].seen : t->device[i];
  }
  if (!status) status = take_place(t, largest, &t->zeros, error);
  if (!status) memset(t->zeros.host, 0, largest);
  return status;
}

static void give_arrays(trip *t) {
  const rung_backend *backend = t->context->backend;
  backend->synchronize(t->context->state, NULL);
  for (int i = 0; i < RUNG_TASK_ARRAYS; ++i)
    backend->release_kind(t->context->state, t->kind, t->arrays[i].host);
  backend->release_kind(t->context->state, t->kind, t->zeros.host);
  for (int i = 0; i < LAB_ARENAS; ++i)
    if (t->device[i]) backend->release(t->context->state, t->device[i]);
}

/* What a rung needs beside its arrays; zeros are zero, for a rung leaves them so. */
static rung_status take_scratch(trip *t, const lab_candidate *candidate, rung_error *error) {
  rung_context *context = t->context;
  t->task.block = candidate->block;
  t->task.error = error;
  const rung_needs needs = rung_row_needs(candidate->row, &t->task);
  rung_status status = RUNG_OK;
  if (needs.scratch > t->room.scratch) {
    status = take_device(t, LAB_SCRATCH, needs.scratch, error);
    t->room.scratch = status ? 0 : needs.scratch;
  }
  if (!status && needs.zeros > t->room.zeros) {
    status = take_device(t, LAB_ZEROS, needs.zeros, error);
    t->room.zeros = status ? 0 : needs.zeros;
    if (!status)
      status = context->backend->fill(context->state, t->device[LAB_ZEROS], 0, needs.zeros, error);
  }
  if (status) return status;
  t->task.scratch = t->device[LAB_SCRATCH];
  t->task.zeros = t->device[LAB_ZEROS];
  status = rung_host_scratch(context, needs.host_scratch, &t->task.host_scratch);
  return status ? rung_fail(error, status, "%s", context->error.sentence) : status;
}

/* ---- stages ------------------------------------------------------------------------------- */

/* The two queues, one behind the other, where large arrays are copied beside the work. */
static rung_status order(trip *t, rung_queue queue, rung_queue after, rung_error *error) {
  const rung_backend *backend = t->context->backend;
  if (!backend->record) return RUNG_OK;
  const rung_status status = backend->record(t->context->state, after, RUNG_EVENT_INPUTS, error);
  return status ? status : backend->await(t->context->state, queue, RUNG_EVENT_INPUTS, error);
}

static rung_view compact(const trip *t, int index, void *data) {
  const rung_view *view = &t->test_case->arrays[index];
  return rung_view_compact(data, view->dtype, view->ndim, view->shape);
}

/* As calls copy. */
static rung_status bring(trip *t, int index, void *host, rung_error *error) {
  const bool beside = rung_goes_beside(t->context, t->arrays[index].bytes);
  const rung_view view = compact(t, index, host);
  rung_status status = beside ? order(t, RUNG_COPIES, RUNG_WORK, error) : RUNG_OK;
  if (status) return status;
  status = rung_copy_in(t->context, &(rung_range){&view, 0, view.count}, t->device[index], beside);
  if (status) return rung_fail(error, status, "%s", t->context->error.sentence);
  return beside ? order(t, RUNG_WORK, RUNG_COPIES, error) : status;
}

static rung_status copy_in(trip *t, const lab_candidate *candidate, rung_error *error) {
  (void)candidate;
  rung_status status = RUNG_OK;
  for (int i = 0; i < t->test_case->inputs && !status && !t->direct; ++i)
    if (t->arrays[i].bytes) status = bring(t, i, t->arrays[i].host, error);
  return status;
}

static rung_status clear_fill(trip *t, const lab_candidate *candidate, rung_error *error) {
  (void)candidate;
  rung_status status = RUNG_OK;
  for (int i = t->test_case->inputs; i < arrays_of(t) && !status; ++i)
    if (t->arrays[i].bytes)
      status = t->context->backend->fill(t->context->state, t->task.arrays[i].data, 0,
                                         t->arrays[i].bytes, error);
  return status;
}

static rung_status clear_copy(trip *t, const lab_candidate *candidate, rung_error *error) {
  (void)candidate;
  rung_status status = RUNG_OK;
  for (int i = t->test_case->inputs; i < arrays_of(t) && !status; ++i) {
    if (t->arrays[i].bytes == 0) continue;
    status = t->direct
                 ? t->context->backend->copy(t->context->state, t->arrays[i].seen, t->zeros.seen,
                                             t->arrays[i].bytes, RUNG_ON_DEVICE, error)
                 : bring(t, i, t->zeros.host, error);
  }
  return status;
}

static rung_status launch(trip *t, const lab_candidate *candidate, rung_error *error) {
  t->task.error = error;
  return lab_launch(candidate->row, &t->task);
}

/* Of arrays that kernels write where they are: every page is looked at, once all is done. */
static rung_status look_at(trip *t, rung_error *error) {
  enum { PAGE = 4096 };
  const rung_status status = t->context->backend->synchronize(t->context->state, error);
  for (int i = t->test_case->inputs; i < arrays_of(t) && !status; ++i)
    for (size_t at = 0; at < t->arrays[i].bytes; at += PAGE)
      (void)*((volatile const char *)t->arrays[i].host + at);
  return status;
}

static rung_status copy_out(trip *t, const lab_candidate *candidate, rung_error *error) {
  (void)candidate;
  rung_status status = RUNG_OK;
  if (t->direct) return look_at(t, error);
  for (int i = t->test_case->inputs; i < arrays_of(t) && !status; ++i) {
    if (t->arrays[i].bytes == 0) continue;
    const bool beside = rung_goes_beside(t->context, t->arrays[i].bytes);
    const rung_view view = compact(t, i, t->arrays[i].host);
    if (beside && (status = order(t, RUNG_COPIES, RUNG_WORK, error)) != RUNG_OK) return status;
    status = rung_copy_out(t->context, &(rung_range){&view, 0, view.count}, t->device[i], beside);
    if (status) rung_fail(error, status, "%s", t->context->error.sentence);
  }
  return status;
}

/* ---- a sample ----------------------------------------------------------------------------- */

typedef rung_status stage(trip *t, const lab_candidate *candidate, rung_error *error);
static stage *const run_stage[LAB_STAGES] = {copy_in, clear_fill, clear_copy, launch, copy_out};

/* Nothing of the run before can pass for this one's, nor lie in a cache, nor on the device. */
static rung_status get_ready(trip *t, rung_error *error) {
  const rung_backend *backend = t->context->backend;
  rung_state *state = t->context->state;
  rung_status status = backend->synchronize(state, error);
  for (int i = 0; i < arrays_of(t) && !status; ++i) {
    const size_t bytes = t->arrays[i].bytes;
    if (bytes == 0) continue;
    if (i < t->test_case->inputs)
      memcpy(t->arrays[i].host, t->test_case->arrays[i].data, bytes);
    else
      memset(t->arrays[i].host, RUNG_POISON_BYTE, bytes);
    if (!t->direct) status = backend->fill(state, t->device[i], RUNG_POISON_BYTE, bytes, error);
  }
  if (!status) status = backend->flush(state, error);
  return status ? status : backend->synchronize(state, error);
}

/* From idle to idle. */
static rung_status timed(trip *t, const lab_candidate *candidate, const lab_stage *which, int count,
                         double *milliseconds, rung_error *error) {
  const double begun = lab_seconds();
  rung_status status = RUNG_OK;
  for (int k = 0; k < count && !status; ++k) status = run_stage[which[k]](t, candidate, error);
  if (!status) status = t->context->backend->synchronize(t->context->state, error);
  *milliseconds = 1e3 * (lab_seconds() - begun);
  return status;
}

/* *all: in one go, the output cleared by a fill; each: the stages, LAB_STAGES of them. */
static rung_status run_once(trip *t, const lab_candidate *candidate, double *all, double *each,
                            rung_error *error) {
  static const lab_stage whole[] = {LAB_COPY_IN, LAB_CLEAR_FILL, LAB_KERNEL, LAB_COPY_OUT};
  rung_status status = take_scratch(t, candidate, error);
  if (!status) status = get_ready(t, error);
  if (!status) status = timed(t, candidate, whole, 4, all, error);
  if (!status) status = get_ready(t, error);
  for (lab_stage s = 0; s < LAB_STAGES && !status; ++s)
    status = timed(t, candidate, &s, 1, &each[s], error);
  return status;
}

static bool has_room(lab_candidate *c, int most) {
  if (!c->samples) c->samples = calloc((size_t)most, sizeof *c->samples);
  if (!c->clocks) c->clocks = calloc((size_t)most, sizeof *c->clocks);
  if (!c->stages) c->stages = calloc((size_t)most * LAB_STAGES, sizeof *c->stages);
  return c->samples && c->clocks && c->stages;
}

/* What the run that was timed last left on the host. */
static void check(const trip *t, lab_candidate *c) {
  rung_view outputs[RUNG_TASK_ARRAYS];
  for (int k = 0; k < t->test_case->outputs; ++k) {
    outputs[k] = t->test_case->arrays[t->test_case->inputs + k];
    outputs[k].data = t->arrays[t->test_case->inputs + k].host;
  }
  c->after = (lab_verdict){.finding = LAB_GOOD};
  lab_check_outputs(t->test_case, t->known, c->row, outputs, &c->after);
  if (c->after.finding != LAB_GOOD) c->stop = LAB_REFUSED;
}

/* A sample more, or the end; what the rung did wrong is a finding. */
static rung_status step(trip *t, lab_candidate *c, const lab_rules *rules, double *spent,
                        bool *active, rung_error *error) {
  double warm_up[1 + LAB_STAGES];
  rung_error run = {0};
  const double begun = lab_seconds();
  if (!has_room(c, rules->most))
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory for %d samples", rules->most);
  rung_status status = c->count > 0 ? RUNG_OK : run_once(t, c, warm_up, warm_up + 1, &run);
  if (!status)
    status = run_once(t, c, &c->samples[c->count], &c->stages[c->count * LAB_STAGES], &run);
  if (status) {
    lab_find_failure(&c->after, &run);
    c->stop = LAB_REFUSED;
    *active = false;
    return RUNG_OK;
  }
  c->count++;
  *spent += lab_seconds() - begun;
  if (!lab_is_done(rules, c, *spent, &c->stop)) return RUNG_OK;
  *active = false;
  check(t, c);
  return RUNG_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

static rung_status verify_all(trip *t, lab_candidate *candidates, int count, rung_error *error) {
  lab_fixture *fixture = NULL;
  const rung_status status = lab_fixture_open(t->context, t->test_case, &fixture, error);
  if (status) return status;
  for (int i = 0; i < count; ++i) {
    lab_candidate *c = &candidates[i];
    *c = (lab_candidate){.row = c->row, .block = c->block, .stop = LAB_REFUSED};
    lab_verify(fixture, c->row, c->block, &c->before);
  }
  t->known = fixture->known;
  fixture->known = NULL;
  lab_fixture_close(fixture);
  return RUNG_OK;
}

/* One sample of each in turn, until all have enough. */
static rung_status sample_all(trip *t, lab_candidate *candidates, int count, const lab_rules *rules,
                              double *spent, bool *active,
                              void (*progress)(void *to, double done, const char *what), void *to,
                              rung_error *error) {
  rung_status status = RUNG_OK;
  int left = 0;
  for (int i = 0; i < count; ++i) left += active[i] = candidates[i].before.finding == LAB_GOOD;
  const int all = left;
  while (left > 0 && !status) {
    for (int i = 0; i < count && !status; ++i) {
      if (!active[i]) continue;
      status = step(t, &candidates[i], rules, &spent[i], &active[i], error);
      left -= !active[i];
      if (progress) progress(to, (double)(all - left) / all, candidates[i].row->name);
    }
  }
  return status;
}

rung_status lab_sample_memory(rung_context *context, const rung_case *test_case,
                              lab_candidate *candidates, int count, const lab_rules *rules,
                              void (*progress)(void *to, double done, const char *what), void *to,
                              rung_error *error) {
  const rung_memory kind = (rung_memory)(rules->memory - 1);
  if (!context->backend->allocate_kind)
    return rung_fail(error, RUNG_UNSUPPORTED,
                     "memory is %s, and device \"%s\" has one kind of host memory; expected: "
                     "device \"cuda\"",
                     lab_memory_name(rules->memory), rung_kind_name(context->device.kind));
  trip t = {.context = context,
            .test_case = test_case,
            .kind = kind,
            .direct = kind == RUNG_MAPPED || kind == RUNG_MANAGED};
  lab_task_of(context, test_case, &t.task);
  double *spent = calloc((size_t)count + 1, sizeof *spent);
  bool *active = calloc((size_t)count + 1, sizeof *active);
  rung_status status = spent && active ? RUNG_OK
                                       : rung_fail(error, RUNG_OUT_OF_MEMORY,
                                                   "no host memory for %d candidates", count);
  if (!status) status = verify_all(&t, candidates, count, error);
  if (!status) status = take_arrays(&t, error);
  if (!status)
    status = sample_all(&t, candidates, count, rules, spent, active, progress, to, error);
  for (int i = 0; i < count; ++i) {
    candidates[i].time = lab_stats_of(candidates[i].samples, candidates[i].count);
    candidates[i].clock = lab_stats_of(candidates[i].clocks, candidates[i].count);
  }
  give_arrays(&t);
  free(t.known);
  free(spent);
  free(active);
  return status;
}
