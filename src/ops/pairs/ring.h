/* Pairs over ranks that have not the memory for all points: each keeps its own, and those of the
 * others come by, one rank's after the other. */
#ifndef RUNG_PAIRS_RING_H
#define RUNG_PAIRS_RING_H

#include "ops/pairs/spread.h"

typedef struct pairs_ring {
  pairs_spread spread;
  char *memory;
  rung_view visitor[PAIRS_ARRAYS]; /* as the rank's own are */
} pairs_ring;

/* Finds the memory, and counts this rank's share, where *own is RUNG_OK; *own: of what is the
 * rank's own. Returns what is the same in all ranks. In every case pairs_ring_end() is due. */
rung_status pairs_ring_count(pairs_ring *ring, rung_status *own);
void pairs_ring_end(pairs_ring *ring);

#endif
