/* Pairs over ranks with a cut-off: every rank gets the points of a slab of space and of a halo
 * around it, and counts their pairs, instead of getting all points. */
#ifndef RUNG_PAIRS_HALO_H
#define RUNG_PAIRS_HALO_H

#include "ops/pairs/slabs.h"
#include "ops/pairs/spread.h"

/* Points on their way to where they are counted. */
typedef struct pairs_route {
  int set;
  bool halo;                  /* not to their slabs alone */
  int64_t *starts;            /* (layers + 1): where the ranks begin that a layer's points go to */
  int *to;                    /* those ranks */
  int64_t *leaves, *arrives;  /* (ranks + 1): where points to and of each rank begin */
  rung_view at[PAIRS_ARRAYS]; /* what has arrived; as own[] of pairs_spread */
} pairs_route;

enum { PAIRS_ROUTES = 2, PAIRS_HALO_MEMORY = 32 };

typedef struct pairs_halo {
  pairs_spread spread;
  pairs_slabs slabs;
  int *begins;        /* (ranks + 1) */
  int64_t *said;      /* (ranks, each): what ranks say of their points, see halo.c */
  int64_t each;       /* numbers that a rank says */
  int64_t *sums;      /* (sets, layers): of all ranks */
  uint16_t *layer[2]; /* of every point of its own */
  int64_t *cursor;    /* (ranks) */
  pairs_route routes[PAIRS_ROUTES];
  uint32_t *order;             /* points by the rank they leave for */
  char *leaving;               /* one of their arrays, in that order */
  int64_t *members[2], *spare; /* molecules whose pairs this rank finds */
  size_t bytes;                /* asked for so far */
  bool short_of_memory;
  void *memory[PAIRS_HALO_MEMORY]; /* to be freed */
  int memories;
} pairs_halo;

/* Whether slabs may be of use for so many points over so many ranks. */
bool pairs_halo_may(const pairs_problem *problem, int ranks);

/* Counts this rank's share, where *own is RUNG_OK; *own: of what is the rank's own. state: of
 * pairs_parts. Returns what is the same in all ranks, as is *counted; false: slabs will not do or
 * would not pay, and nothing has been counted. In every case pairs_halo_end() is due. */
rung_status pairs_halo_count(pairs_halo *halo, void *state, rung_status *own, bool *counted);
void pairs_halo_end(pairs_halo *halo);

#endif
