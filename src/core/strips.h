/* A call whose ranks have contiguous parts, one after another, of something that is counted in
 * units: elements, rows. Who has which, and the units that a rank needs and others have. */
#ifndef RUNG_CORE_STRIPS_H
#define RUNG_CORE_STRIPS_H

#include "core/over.h"

typedef struct rung_strips {
  rung_context *context;
  rung_call known;
  const char *used;
  rung_meeting meeting;
  char name[RUNG_JOB_TEXT]; /* of what must be the same in all ranks, in words */
  int64_t *firsts;          /* every rank's first unit, and the end of all */
  char *sent, *received;
  bool begun;
} rung_strips;

/* The units that ranks need. */
typedef struct rung_wants {
  size_t each; /* bytes of a unit */
  /* Range number `index` of those that `rank` needs, the same whoever asks; false: there are no
   * more. first < 0: so many units are left alone. */
  bool (*want)(const void *of, int rank, int64_t index, int64_t *first, int64_t *count);
  /* This rank's own units, to `to`. */
  rung_status (*own)(void *of, int64_t first, int64_t count, char *to);
  void *of;
} rung_wants;

#ifdef __cplusplus
extern "C" {
#endif

/* rung_over_begin(), and *strips for what follows. After it succeeded, and then in every case,
 * comes rung_strips_end(), whose status is the call's. */
rung_status rung_strips_begin(rung_context *context, const rung_ranks *ranks, rung_strips *strips);
rung_status rung_strips_end(rung_strips *strips, rung_status status, rung_call *call);

/* What comes before the first word: `status` is what this rank's arguments came to; strips->name is
 * set. The first word, by its outcome: if all is well the rank has `units`, and is `ready` to
 * compute without another word, or not. Returns the same in all ranks, and so does
 * rung_strips_ready(): whether all are. */
rung_status rung_strips_enter(rung_strips *strips, rung_status status, const rung_call *call);
rung_status rung_strips_meet(rung_strips *strips, rung_status status, int64_t units, bool ready);
/* The same, with bytes that come along (rung_ranks_meet_with()). */
rung_status rung_strips_meet_with(rung_strips *strips, rung_status status, int64_t units,
                                  bool ready, const void *more, size_t bytes);
bool rung_strips_ready(const rung_strips *strips);

/* A word: what all ranks came to. */
rung_status rung_strips_word(rung_strips *strips, rung_status own);

/* Memory for what rung_strips_bring() moves, which may want as much, but not more. */
rung_status rung_strips_room(rung_strips *strips, const rung_wants *wants);

/* Brings what every rank wants to `to`, range after range; this rank's own units too. *own: what is
 * the rank's own failure, which the next word tells. Not OK: there are no more words. */
rung_status rung_strips_bring(rung_strips *strips, const rung_wants *wants, char *to,
                              rung_status *own);

static inline int64_t rung_strips_first(const rung_strips *strips) {
  return strips->firsts[strips->meeting.ranks.rank];
}
static inline int64_t rung_strips_end_of(const rung_strips *strips) {
  return strips->firsts[strips->meeting.ranks.rank + 1];
}
static inline int64_t rung_strips_total(const rung_strips *strips) {
  return strips->firsts[strips->meeting.ranks.count];
}

#ifdef __cplusplus
}
#endif
#endif
