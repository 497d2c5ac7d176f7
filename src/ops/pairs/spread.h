/* Points that are spread over ranks, none of which has all: what the ways to count them have in
 * common (ring.c, halo.c). */
#ifndef RUNG_PAIRS_SPREAD_H
#define RUNG_PAIRS_SPREAD_H

#include "core/ranks.h"
#include "ops/pairs/call.h"

typedef struct pairs_spread {
  rung_context *context;
  rung_meeting *meeting;
  pairs_call *call;       /* its problem is that of all points */
  int64_t *firsts[2];     /* of a and b: where every rank's points begin, and the end of all */
  const int64_t *numbers; /* 0, 1, 2 ...: of every rank one thing */
  /* Counts the pairs of a part, for its user. */
  rung_status (*count)(void *of, pairs_problem *part, rung_view *arrays);
  void *of;
  rung_view own[PAIRS_ARRAYS]; /* this rank's points, weights and molecules: compact, in host
                                  memory */
} pairs_spread;

/* The set that an array belongs to: 0 is a. */
static inline int pairs_set_of(int array) {
  return (array - PAIRS_A) % 2;
}

static inline int64_t pairs_spread_points(const pairs_spread *spread, int set, int rank) {
  return spread->firsts[set][rank + 1] - spread->firsts[set][rank];
}

/* Compact arrays of so many points, as the given one is; and where the next one may begin. */
rung_view pairs_spread_view(const rung_view *like, char *data, int64_t points);
size_t pairs_spread_bytes(const rung_view *like, int64_t points);

/* Fills all of own[], whose data is there, with the caller's. */
rung_status pairs_spread_fetch(const pairs_spread *spread);

/* A word, with what must be known of all points before some are counted: the ends of all finite
 * ones (low, high; open space: the problem's extent), and the exponent of sums. status: of this
 * rank's own points; number: 0, or it has not the memory for them; where a rank has not, nothing is
 * known. */
rung_status pairs_spread_agree(const pairs_spread *spread, rung_status status, int64_t number,
                               double low[3], double high[3]);

#endif
