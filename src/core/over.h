/* A job over ranks: each has a part of the array, and all come to the bits of the whole.
 *
 * What is cut, computed and put together is core/plan.h's: every rank runs RUNG_PARTS of the tiles
 * that lie in its part, all get the results of all parts, take() them into a state each and
 * finish() it; where the operation has RUNG_AGAIN, each runs that for its part. A tile that a cut
 * goes through is computed by the rank that has its last element, and brought together in the
 * memory of its device, where parcels may lie there (core/room.h), else in the host's. A short job
 * of GPUs goes another way (core/brief.h).
 *
 *   word      how many elements has everybody, and are all about the same?
 *   elements  of cut tiles, to the ranks behind that have more of them
 *   word      have all computed, and the memory to end with? With it, where all are short:
 *   results   of parts, to all; else after another word, have all the memory for them?
 *   word      have all come to their end? Not where all write short results to host memory, which
 *             cannot fail. */
#ifndef RUNG_CORE_OVER_H
#define RUNG_CORE_OVER_H

#include "core/plan.h"
#include "core/ranks.h"

typedef struct rung_over {
  /* The job of this rank's part, arrays[0], whose last axis is the one that is cut; whole() sets
   * the problem. Of an operation with RUNG_AGAIN all arrays are (1, elements). */
  rung_job job;
  char name[RUNG_JOB_TEXT]; /* of what must be the same in all ranks, in words */
  int64_t tile, family;     /* elements of a tile; tiles of a tile of tiles, 0: there is none */
  bool single;              /* a range is one of them, not many side by side */
  /* The job's problem, whose arrays are all `total` elements: *problem. */
  rung_status (*whole)(rung_error *error, int64_t total, struct rung_over *over);
  void *to; /* whole()'s own */
  void *problem;
  int64_t *origin; /* NULL, or of the problem: the element that the job's arrays begin with */
  bool adds;       /* results of parts are numbers of 64 bits, and add up */
} rung_over;

#ifdef __cplusplus
extern "C" {
#endif

/* What an entry point does once its arguments are looked at: `status`, with the context's sentence
 * where they are refused, and then of *over the name alone is read. ranks: as rung_ranks_read()
 * left it. */
rung_status rung_over_run(rung_context *context, const rung_ranks *ranks, rung_status status,
                          rung_over *over, rung_call *call);

/* The same within a call, between rung_over_enter() and rung_call_end(). */
rung_status rung_over_within(rung_context *context, const rung_ranks *ranks, rung_status status,
                             rung_over *over, const rung_call *known, const char **used);

/* rung_call_begin(), and refuses a stream under capture. *begun: rung_call_end() is to come. */
rung_status rung_over_enter(rung_context *context, const rung_call *call, rung_call *known,
                            bool *begun);

/* rung_begin(), and where that fails the other ranks hear of it. */
rung_status rung_over_begin(rung_context *context, const rung_ranks *given, rung_ranks *ranks);

#ifdef __cplusplus
}
#endif
#endif
