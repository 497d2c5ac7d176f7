#include "core/brief.h"

#include <stdlib.h>

#include "core/ladder.h"

static const rung_view *part_of(const rung_brief *b) {
  return &b->over->job.task.arrays[0];
}

static size_t element_of(rung_dtype dtype) {
  return rung_dtype_bytes(dtype);
}

/* Of all results, of as many elements as there may be. */
static size_t bytes_of(const rung_brief *b, int a) {
  const rung_view *out = &b->over->job.task.arrays[a];
  if (!b->over->job.cut->again) return rung_view_bytes(out);
  return RUNG_BRIEF / element_of(part_of(b)->dtype) * element_of(out->dtype);
}

static bool is_stored(const rung_job *job) {
  for (int a = 0; a < job->arrays; a++)
    if (job->task.arrays[a].place == RUNG_STORED) return true;
  return false;
}

/* A rung that is named is to be every rank's, on its own part. Parts of what has no tiles cannot be
 * cut through, and need no elements of others. A limit of
 * memory is for tests and for who has little; parts need less. */
static bool is_for_it(const rung_brief *b, const rung_meeting *meeting) {
  return b->context->device.kind != RUNG_CPU && b->context->memory_limit == 0 &&
         b->over->tile > 1 && meeting->ranks.count > 1 &&
         rung_view_bytes(part_of(b)) <= RUNG_BRIEF && !is_stored(&b->over->job);
}

bool rung_brief_make(rung_brief *b, rung_context *context, rung_over *over,
                     const rung_meeting *meeting, const rung_call *known) {
  const rung_job *job = &over->job;
  size_t in_room = RUNG_BRIEF, on_host = 0;
  *b = (rung_brief){.context = context, .over = over};
  if (!is_for_it(b, meeting) || !rung_takes_any(known->rung)) return false;
  for (int a = job->inputs; a < job->arrays; a++)
    *(job->task.arrays[a].place == RUNG_HOST ? &on_host : &in_room) +=
        rung_room_bytes(bytes_of(b, a));
  const rung_status status =
      rung_room_make(&b->room, context, meeting, in_room, "all elements and results");
  b->memory = on_host > 0 ? malloc(on_host) : NULL;
  rung_error_clear(&context->error);
  return status == RUNG_OK && (on_host == 0 || b->memory != NULL);
}

void rung_brief_end(rung_brief *b) {
  if (b->room.memory != NULL) rung_room_end(&b->room);
  free(b->memory);
  b->memory = NULL;
}

/* The job as one call on all elements has it. */
static rung_job whole_job(rung_brief *b, int64_t total) {
  rung_job job = b->over->job;
  rung_view *arrays = job.task.arrays;
  const int64_t shape[2] = {1, total};
  char *in_room = b->room.memory + RUNG_BRIEF, *on_host = b->memory;
  if (b->over->origin != NULL) *b->over->origin = 0;
  arrays[0] = rung_room_view(&b->room, b->room.memory, arrays[0].dtype, job.axes,
                             job.axes == 1 ? &shape[1] : shape);
  for (int a = job.inputs; a < job.arrays; a++) {
    const rung_view out = arrays[a];
    const int ndim = job.cut->again ? arrays[0].ndim : out.ndim;
    const int64_t *of = job.cut->again ? arrays[0].shape : out.shape;
    const bool host = out.place == RUNG_HOST;
    char **at = host ? &on_host : &in_room;
    arrays[a] = host ? rung_view_compact(*at, out.dtype, ndim, of)
                     : rung_room_view(&b->room, *at, out.dtype, ndim, of);
    if (out.count == 0 && !job.cut->again) arrays[a] = out; /* not given */
    *at += rung_room_bytes(bytes_of(b, a));
    b->made[a] = arrays[a];
  }
  return job;
}

static rung_status compute(rung_brief *b, int64_t total, const rung_call *known,
                           const char **used) {
  rung_context *context = b->context;
  rung_job job = whole_job(b, total);
  const rung_status status = rung_run_job(context, &job, known, used);
  if (status != RUNG_OK) return status;
  return context->backend->synchronize(context->state, &context->error);
}

/* What is this rank's of all results: of the last axis its own part, where that is cut. */
static rung_status deliver(const rung_brief *b, int64_t first, int64_t count) {
  const rung_job *job = &b->over->job;
  rung_status status = RUNG_OK;
  for (int a = job->inputs; a < job->arrays && status == RUNG_OK; a++) {
    const rung_view *to = &job->task.arrays[a];
    rung_view from = b->made[a];
    if (job->cut->again) rung_view_narrow(&from, job->axes - 1, first, count);
    if (to->count == 0) continue;
    if (to->place == RUNG_HOST)
      rung_view_copy(to, &from);
    else
      status = rung_room_deliver(&b->room, to, &from);
  }
  return status;
}

rung_status rung_brief_run(rung_brief *b, rung_meeting *m, const int64_t *firsts,
                           const rung_call *known, const char **used) {
  const rung_job *job = &b->over->job;
  const int me = m->ranks.rank;
  const size_t element = element_of(part_of(b)->dtype);
  const rung_range part = {part_of(b), 0, part_of(b)->count};
  const char *mine;
  rung_status own =
      rung_room_share(&b->room, &part, b->room.memory + (size_t)firsts[me] * element, &mine);
  rung_status status = rung_ranks_missing(
      m, rung_ranks_gather(m, firsts, element, b->room.memory, mine, b->room.on_device), &own);
  if (status != RUNG_OK) return status;
  if (own == RUNG_OK) own = compute(b, firsts[m->ranks.count], known, used);
  const bool sure = rung_ranks_on_host(&job->task.arrays[job->inputs], job->arrays - job->inputs);
  status = rung_ranks_meet_ready(m, own, 0, sure);
  if (status != RUNG_OK) return status;
  const bool last = rung_ranks_ready(m);
  own = deliver(b, firsts[me], firsts[me + 1] - firsts[me]);
  return last ? own : rung_ranks_meet(m, own, 0);
}
