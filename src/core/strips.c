#include "core/strips.h"

#include <stdlib.h>
#include <string.h>

#include "core/call.h"

/* ---- a call ------------------------------------------------------------------------------------
 */

rung_status rung_strips_begin(rung_context *context, const rung_ranks *ranks, rung_strips *strips) {
  *strips = (rung_strips){.context = context};
  const rung_status status = rung_over_begin(context, ranks, &strips->meeting.ranks);
  if (status != RUNG_OK) return status;
  strips->meeting.error = &context->error;
  strips->meeting.job = strips->name;
  return RUNG_OK;
}

rung_status rung_strips_end(rung_strips *s, rung_status status, rung_call *call) {
  free(s->meeting.words);
  free(s->meeting.parcels);
  free(s->firsts);
  free(s->sent);
  free(s->received);
  return rung_end(s->context, s->begun ? rung_call_end(s->context, status, call, s->used) : status);
}

/* What words need. */
static rung_status make_ready(rung_strips *s, rung_status status) {
  rung_meeting *m = &s->meeting;
  const size_t ranks = (size_t)m->ranks.count;
  size_t bytes = 0;
  const bool there = rung_ranks_make_words(m, &bytes);
  s->firsts = rung_ranks_ask(&bytes, ranks + 1, sizeof *s->firsts);
  if (there && s->firsts != NULL) return status;
  free(m->words); /* the word goes without it */
  m->words = NULL;
  return status == RUNG_OK ? rung_ranks_no_memory(m, bytes, "what ranks say") : status;
}

rung_status rung_strips_enter(rung_strips *s, rung_status status, const rung_call *call) {
  if (status == RUNG_OK) status = rung_over_enter(s->context, call, &s->known, &s->begun);
  return make_ready(s, status);
}

rung_status rung_strips_meet(rung_strips *s, rung_status status, int64_t units, bool ready) {
  return rung_strips_meet_with(s, status, units, ready, NULL, 0);
}

rung_status rung_strips_meet_with(rung_strips *s, rung_status status, int64_t units, bool ready,
                                  const void *more, size_t bytes) {
  rung_meeting *m = &s->meeting;
  status = rung_ranks_meet_with(m, status, status == RUNG_OK ? units : 0, ready, more, bytes);
  for (int k = 0; k < m->ranks.count && status == RUNG_OK; k++)
    if (__builtin_add_overflow(s->firsts[k], m->words[k].number, &s->firsts[k + 1]))
      status = rung_fail(m->error, RUNG_TOO_LARGE,
                         "the ranks' parts together have more than 2^63 - 1 elements or rows");
  return status;
}

bool rung_strips_ready(const rung_strips *s) {
  return rung_ranks_ready(&s->meeting);
}

rung_status rung_strips_word(rung_strips *s, rung_status own) {
  return rung_ranks_meet(&s->meeting, own, 0);
}

/* ---- bringing ----------------------------------------------------------------------------------
 */

/* The next range, of those that go on where one ends made one. */
static bool next_range(const rung_wants *w, int rank, int64_t *index, int64_t *first,
                       int64_t *count) {
  int64_t later, more;
  if (!w->want(w->of, rank, (*index)++, first, count)) return false;
  while (w->want(w->of, rank, *index, &later, &more)) {
    if (*first < 0 ? later >= 0 : later != *first + *count) break;
    *count += more;
    ++*index;
  }
  return true;
}

/* Leaves of a range what `rank` has of it; false: nothing. */
static bool part_of(const rung_strips *s, int rank, int64_t *first, int64_t *count) {
  int64_t end = *first + *count;
  if (*first < 0) return false;
  if (end > s->firsts[rank + 1]) end = s->firsts[rank + 1];
  if (*first < s->firsts[rank]) *first = s->firsts[rank];
  *count = end - *first;
  return *count > 0;
}

/* Bytes that go from one rank to another. */
static size_t bytes_between(const rung_strips *s, const rung_wants *w, int from, int to) {
  int64_t first, count, units = 0;
  for (int64_t i = 0; from != to && next_range(w, to, &i, &first, &count);)
    if (part_of(s, from, &first, &count)) units += count;
  return (size_t)units * w->each;
}

rung_status rung_strips_room(rung_strips *s, const rung_wants *w) {
  const int me = s->meeting.ranks.rank;
  size_t sent = 0, received = 0, bytes = 0;
  for (int k = 0; k < s->meeting.ranks.count; k++) {
    sent += bytes_between(s, w, me, k);
    received += bytes_between(s, w, k, me);
  }
  s->sent = rung_ranks_ask(&bytes, sent, 1);
  s->received = rung_ranks_ask(&bytes, received, 1);
  if (s->sent != NULL && s->received != NULL) return RUNG_OK;
  return rung_ranks_no_memory(&s->meeting, bytes, "what ranks need of each other");
}

/* What another rank needs of this one's, packed. */
static char *pack(const rung_strips *s, const rung_wants *w, int rank, char *to, rung_status *own) {
  int64_t first, count;
  for (int64_t i = 0; next_range(w, rank, &i, &first, &count);) {
    if (!part_of(s, s->meeting.ranks.rank, &first, &count)) continue;
    if (*own == RUNG_OK) *own = w->own(w->of, first, count, to);
    to += (size_t)count * w->each;
  }
  return to;
}

/* What has come from a rank, or is this one's own, to its place. */
static const char *unpack(const rung_strips *s, const rung_wants *w, int rank, const char *from,
                          char *to, rung_status *own) {
  const int me = s->meeting.ranks.rank;
  int64_t first, count;
  for (int64_t i = 0; next_range(w, me, &i, &first, &count);) {
    char *const place = to;
    const int64_t begin = first;
    to += (size_t)count * w->each;
    if (!part_of(s, rank, &first, &count)) continue;
    char *at = place + (size_t)(first - begin) * w->each;
    const size_t bytes = (size_t)count * w->each;
    if (rank != me) {
      memcpy(at, from, bytes);
      from += bytes;
    } else if (*own == RUNG_OK) {
      *own = w->own(w->of, first, count, at);
    }
  }
  return from;
}

rung_status rung_strips_bring(rung_strips *s, const rung_wants *w, char *to, rung_status *own) {
  rung_meeting *m = &s->meeting;
  const int me = m->ranks.rank;
  int sends = 0, receives = 0;
  char *at = s->sent, *came = s->received;
  for (int k = 0; k < m->ranks.count; k++) {
    if (k == me) continue;
    char *begin = at;
    at = pack(s, w, k, at, own);
    if (at > begin) m->parcels[sends++] = (rung_parcel){k, begin, (size_t)(at - begin), 0};
  }
  for (int k = 0; k < m->ranks.count; k++) {
    const size_t bytes = bytes_between(s, w, k, me);
    if (bytes == 0) continue;
    m->parcels[sends + receives++] = (rung_parcel){k, came, bytes, 0};
    came += bytes;
  }
  const rung_status status = rung_ranks_missing(m, rung_ranks_move(m, sends, receives, false), own);
  const char *from = s->received;
  for (int k = 0; k < m->ranks.count && status == RUNG_OK; k++)
    from = unpack(s, w, k, from, to, own);
  return status;
}
