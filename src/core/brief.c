#include "core/brief.h"

#include <stdlib.h>
#include <string.h>

#include "core/ladder.h"

/* Of an array of results, of as many elements as there may be. */
static size_t bytes_of(const rung_job *job, int a) {
  const rung_view *out = &job->task.arrays[a];
  const size_t bytes = job->cut->again ? RUNG_BRIEF / rung_dtype_bytes(job->task.arrays[0].dtype) *
                                             rung_dtype_bytes(out->dtype)
                                       : rung_view_bytes(out);
  return rung_room_bytes(bytes);
}

static bool is_on_host(const rung_job *job, int a) {
  return job->task.arrays[a].place == RUNG_HOST;
}

/* Of all that go to the host, or to a device. */
static size_t bytes_of_results(const rung_job *job, bool on_host) {
  size_t bytes = 0;
  for (int a = job->inputs; a < job->arrays; a++)
    if (is_on_host(job, a) == on_host) bytes += bytes_of(job, a);
  return bytes;
}

static bool is_stored(const rung_job *job) {
  for (int a = 0; a < job->arrays; a++)
    if (job->task.arrays[a].place == RUNG_STORED) return true;
  return false;
}

/* A rung that is named is to be every rank's, on its own part. Parts of what has no tiles cannot be
 * cut through, and need no elements of others. A limit of memory is for tests and for who has
 * little; parts need less. */
static bool is_for_it(const rung_context *context, const rung_over *over,
                      const rung_meeting *meeting, const rung_call *known) {
  const size_t most = meeting->ranks.exchange_anywhere != NULL ? RUNG_BRIEF : RUNG_BRIEF_BY_HOST;
  return context->device.kind != RUNG_CPU && context->memory_limit == 0 && over->tile > 1 &&
         meeting->ranks.count > 1 && rung_takes_any(known->rung) && !is_stored(&over->job) &&
         rung_view_bytes(&over->job.task.arrays[0]) <= most;
}

size_t rung_brief_room(const rung_context *context, const rung_over *over,
                       const rung_meeting *meeting, const rung_call *known) {
  if (!is_for_it(context, over, meeting, known)) return 0;
  return RUNG_BRIEF + bytes_of_results(&over->job, false);
}

/* Few elements are fetched at once, for a word. */
static bool make_few(rung_brief *b, int ranks) {
  const rung_view *part = &b->over->job.task.arrays[0];
  const size_t bytes = rung_view_bytes(part);
  if (bytes > RUNG_MORE) return true;
  b->said = malloc((size_t)(ranks + 1) * RUNG_MORE);
  if (b->said == NULL) return false;
  b->heard = b->said + RUNG_MORE;
  return rung_fetch(b->context, &(rung_range){part, 0, part->count}, b->said) == RUNG_OK;
}

bool rung_brief_make(rung_brief *b, rung_context *context, rung_over *over, const rung_room *room,
                     int ranks) {
  const size_t bytes = bytes_of_results(&over->job, true);
  *b = (rung_brief){.context = context, .over = over, .room = room};
  if (bytes > 0) b->memory = malloc(bytes);
  const bool made = (bytes == 0 || b->memory != NULL) && make_few(b, ranks);
  if (!made) rung_error_clear(&context->error);
  return made;
}

void rung_brief_end(rung_brief *b) {
  free(b->memory);
  free(b->said);
}

/* The job as one call on all elements has it. */
static rung_job whole_job(rung_brief *b, int64_t total) {
  rung_job job = b->over->job;
  rung_view *arrays = job.task.arrays;
  const int64_t shape[2] = {1, total};
  char *in_room = b->room->memory + RUNG_BRIEF, *on_host = b->memory;
  if (b->over->origin != NULL) *b->over->origin = 0;
  arrays[0] = rung_room_view(b->room, b->room->memory, arrays[0].dtype, job.axes,
                             job.axes == 1 ? &shape[1] : shape);
  for (int a = job.inputs; a < job.arrays; a++) {
    const rung_view out = arrays[a];
    const int ndim = job.cut->again ? arrays[0].ndim : out.ndim;
    const int64_t *of = job.cut->again ? arrays[0].shape : out.shape;
    const bool host = is_on_host(&b->over->job, a);
    char **at = host ? &on_host : &in_room;
    arrays[a] = host ? rung_view_compact(*at, out.dtype, ndim, of)
                     : rung_room_view(b->room, *at, out.dtype, ndim, of);
    if (out.count == 0 && !job.cut->again) arrays[a] = out; /* not given */
    *at += bytes_of(&b->over->job, a);
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
    if (is_on_host(job, a))
      rung_view_copy(to, &from);
    else
      status = rung_room_deliver(b->room, to, &from);
  }
  return status;
}

/* Whether all elements have come along with the words. */
static bool has_heard_all(const rung_meeting *m, size_t element) {
  for (int k = 0; k < m->ranks.count; k++)
    if ((size_t)m->words[k].number * element != (size_t)m->words[k].along) return false;
  return true;
}

/* Into the room, by way of what has been heard. */
static rung_status take_heard(const rung_brief *b, const rung_meeting *m, const int64_t *firsts) {
  const rung_dtype dtype = b->over->job.task.arrays[0].dtype;
  const int64_t total = firsts[m->ranks.count];
  for (int k = 0; k < m->ranks.count; k++)
    memcpy(b->heard + (size_t)firsts[k] * rung_dtype_bytes(dtype), m->words[k].more,
           (size_t)m->words[k].along);
  const rung_view all = rung_view_compact(b->heard, dtype, 1, &total);
  return rung_room_queue(b->room, &(rung_range){&all, 0, total}, b->room->memory);
}

/* All elements into the room. *own: of what is the rank's own. */
static rung_status bring(const rung_brief *b, rung_meeting *m, const int64_t *firsts,
                         rung_status *own) {
  const rung_view *part = &b->over->job.task.arrays[0];
  const size_t element = rung_dtype_bytes(part->dtype);
  char *all = b->room->memory, *place = all + (size_t)firsts[m->ranks.rank] * element;
  const char *mine;
  if (has_heard_all(m, element)) {
    *own = take_heard(b, m, firsts);
    return RUNG_OK;
  }
  *own = rung_room_share(b->room, &(rung_range){part, 0, part->count}, place, &mine);
  return rung_ranks_missing(m, rung_ranks_gather(m, firsts, element, all, mine, b->room->on_device),
                            own);
}

rung_status rung_brief_run(rung_brief *b, rung_meeting *m, const int64_t *firsts,
                           const rung_call *known, const char **used) {
  const rung_job *job = &b->over->job;
  const int me = m->ranks.rank;
  rung_status own, status = bring(b, m, firsts, &own);
  if (status != RUNG_OK) return status;
  if (own == RUNG_OK) own = compute(b, firsts[m->ranks.count], known, used);
  const bool sure = rung_ranks_on_host(&job->task.arrays[job->inputs], job->arrays - job->inputs);
  status = rung_ranks_meet_ready(m, own, 0, sure);
  if (status != RUNG_OK) return status;
  const bool last = rung_ranks_ready(m);
  own = deliver(b, firsts[me], firsts[me + 1] - firsts[me]);
  return last ? own : rung_ranks_meet(m, own, 0);
}
