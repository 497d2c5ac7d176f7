/* Pairs over ranks that have not the memory for all points: each keeps its own, and those of the
 * others come by, one rank's after the other. */
#ifndef RUNG_PAIRS_RING_H
#define RUNG_PAIRS_RING_H

#include "core/ranks.h"
#include "ops/pairs/call.h"

typedef struct pairs_ring {
  rung_context *context;
  rung_meeting *meeting;
  pairs_call *call;       /* its problem is that of all points */
  int64_t *firsts[2];     /* of a and b: where every rank's points begin, and the end of all */
  const int64_t *numbers; /* 0, 1, 2 ...: of every rank one thing */
  /* Counts the pairs of a part, for its user. */
  rung_status (*count)(void *of, pairs_problem *part, rung_view *arrays);
  void *of;
  char *memory;
  void *said;                                         /* of all ranks */
  rung_view own[PAIRS_ARRAYS], visitor[PAIRS_ARRAYS]; /* compact, in host memory */
} pairs_ring;

/* Memory for the rank's own points, weights and molecules, and for as many of another's; its own
 * are there then. In every case pairs_ring_end() is due. */
rung_status pairs_ring_begin(pairs_ring *ring);
void pairs_ring_end(pairs_ring *ring);

/* Counts this rank's share, where *own is RUNG_OK; *own: of what is the rank's own. Returns what is
 * the same in all ranks. */
rung_status pairs_ring_count(pairs_ring *ring, rung_status *own);

#endif
