/* A short job over ranks that are GPUs: all elements go to all of them, and each does all of it.
 * That takes less than results of parts, which wait for the host on their way from GPU to GPU. The
 * words are core/over.h's:
 *
 *   word      how many elements has everybody, and has it the memory for all of few? With it, where
 *             all are short:
 *   elements  of all ranks, to all
 *   word      have all computed?
 *   word      have all come to their end? Not where all write to host memory */
#ifndef RUNG_CORE_BRIEF_H
#define RUNG_CORE_BRIEF_H

#include "core/over.h"
#include "core/room.h"

/* Bytes of all elements of a short job: of more, messages take longer than parts would. And of a
 * rank's own, where they go by way of the host. */
enum { RUNG_BRIEF = 8 << 20, RUNG_BRIEF_BY_HOST = 16 << 10 };

typedef struct rung_brief {
  rung_context *context;
  rung_over *over;
  const rung_room *room;            /* all elements, and all results that go to a device */
  char *memory;                     /* results that go to the host */
  char *said, *heard;               /* elements that come along with a word, own and all; NULL: too
                                       many */
  rung_view made[RUNG_TASK_ARRAYS]; /* all results; data: where they lie in the one or the other */
} rung_brief;

#ifdef __cplusplus
extern "C" {
#endif

/* Before the first word: whether this rank is for it, and what it takes of a room; 0: it is not. */
size_t rung_brief_room(const rung_context *context, const rung_over *over,
                       const rung_meeting *meeting, const rung_call *known);

/* With that room. False: there is no memory. In every case rung_brief_end() is due. */
bool rung_brief_make(rung_brief *brief, rung_context *context, rung_over *over,
                     const rung_room *room, int ranks);

/* What this rank's first word is to have with it. */
static inline size_t rung_brief_along(const rung_brief *brief) {
  return brief->said != NULL ? rung_view_bytes(&brief->over->job.task.arrays[0]) : 0;
}
void rung_brief_end(rung_brief *brief);

/* After it, where all ranks are, and whole() has set the problem: the rest of the job. firsts: of
 * all ranks, and the total behind them. */
rung_status rung_brief_run(rung_brief *brief, rung_meeting *meeting, const int64_t *firsts,
                           const rung_call *known, const char **used);

#ifdef __cplusplus
}
#endif
#endif
