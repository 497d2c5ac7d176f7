/* In step s every rank has the points of the one s after it, which come straight from there. Within
 * a set that goes half way around: of two ranks that face each other, the earlier one takes its
 * points with the first half of the other's, and the later one the second half of its own with all
 * of the other's. Of two sets b goes all around, and every rank takes its points of a with it.
 */
#include "ops/pairs/ring.h"

#include <stdlib.h>
#include <string.h>

/* The set whose points go around. */
static int going(const pairs_ring *g) {
  return g->spread.call->cross ? 1 : 0;
}

static int64_t points_of(const pairs_ring *g, int set, int rank) {
  return pairs_spread_points(&g->spread, set, rank);
}

static int64_t most_points(const pairs_ring *g, int set) {
  int64_t most = 0;
  for (int k = 0; k < g->spread.meeting->ranks.count; ++k)
    if (points_of(g, set, k) > most) most = points_of(g, set, k);
  return most;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Lays all arrays out from `at` on (NULL: only says how far they go). */
static size_t lay_out(pairs_ring *g, char *at) {
  const int me = g->spread.meeting->ranks.rank;
  size_t used = 0;
  for (int a = PAIRS_A; a < PAIRS_THRESHOLDS; ++a) {
    const rung_view *given = &g->spread.call->views[a];
    if (!pairs_is_given(g->spread.call, a)) continue;
    const int64_t points = points_of(g, pairs_set_of(a), me),
                  most = most_points(g, pairs_set_of(a));
    if (at != NULL) g->spread.own[a] = pairs_spread_view(given, at + used, points);
    used += pairs_spread_bytes(given, points);
    if (pairs_set_of(a) != going(g)) continue;
    if (at != NULL) g->visitor[a] = pairs_spread_view(given, at + used, most);
    used += pairs_spread_bytes(given, most);
  }
  return used;
}

/* Memory for the rank's own points, weights and molecules, and for as many of another's; its own
 * are there then. */
static rung_status make_room(pairs_ring *g) {
  size_t bytes = 0;
  g->memory = rung_ranks_ask(&bytes, lay_out(g, NULL), 1);
  if (g->memory == NULL)
    return rung_ranks_no_memory(g->spread.meeting, bytes, "its own points and another rank's");
  (void)lay_out(g, g->memory);
  return pairs_spread_fetch(&g->spread);
}

void pairs_ring_end(pairs_ring *g) {
  free(g->memory);
}

/* ---- going around ------------------------------------------------------------------------------
 */

/* The points of the rank `step` after this one come, and this one's go to the one as far before it.
 */
static rung_status bring(pairs_ring *g, int step, rung_status *own) {
  rung_meeting *m = g->spread.meeting;
  const int ranks = m->ranks.count, me = m->ranks.rank, set = going(g);
  const int from = (me + step) % ranks, to = (me - step + ranks) % ranks;
  rung_status status = RUNG_OK;
  for (int a = PAIRS_A + set; a < PAIRS_THRESHOLDS && status == RUNG_OK; a += 2) {
    int sends = 0, receives = 0;
    if (!pairs_is_given(g->spread.call, a)) continue;
    const size_t mine = rung_view_bytes(&g->spread.own[a]);
    g->visitor[a] =
        pairs_spread_view(&g->spread.own[a], g->visitor[a].data, points_of(g, set, from));
    const size_t others = rung_view_bytes(&g->visitor[a]);
    if (mine > 0) m->parcels[sends++] = (rung_parcel){to, g->spread.own[a].data, mine, 0};
    if (others > 0)
      m->parcels[sends + receives++] = (rung_parcel){from, g->visitor[a].data, others, 0};
    status = rung_ranks_missing(m, rung_ranks_move(m, sends, receives, false), own);
  }
  return status;
}

/* Pairs of own points [first[0], + count[0]) and those [first[1], + count[1]) of `others`, or where
 * that is NULL within own ones. */
static rung_status count(pairs_ring *g, const rung_view *others, const int64_t first[2],
                         const int64_t counts[2]) {
  pairs_problem part = g->spread.call->problem;
  rung_view arrays[PAIRS_ARRAYS];
  memcpy(arrays, g->spread.own, sizeof arrays);
  arrays[PAIRS_THRESHOLDS] = g->spread.call->views[PAIRS_THRESHOLDS];
  for (int a = PAIRS_B; a < PAIRS_THRESHOLDS && others != NULL; a += 2)
    arrays[a] = others[a - 1 + going(g)];
  part.cross = others != NULL;
  pairs_part_of(&part, arrays, first, counts, false);
  return g->spread.count(g->spread.of, &part, arrays);
}

static rung_status count_step(pairs_ring *g, int step) {
  const int ranks = g->spread.meeting->ranks.count, me = g->spread.meeting->ranks.rank;
  const int from = (me + step) % ranks;
  const int64_t mine = points_of(g, 0, me), others = points_of(g, going(g), from);
  int64_t first[2] = {0, 0}, counts[2] = {mine, others};
  if (!g->spread.call->cross && 2 * step == ranks && me < from) counts[1] = others / 2;
  if (!g->spread.call->cross && 2 * step == ranks && me > from) {
    first[0] = mine / 2;
    counts[0] = mine - first[0];
  }
  return count(g, g->visitor, first, counts);
}

rung_status pairs_ring_count(pairs_ring *g, rung_status *own) {
  const int ranks = g->spread.meeting->ranks.count, me = g->spread.meeting->ranks.rank;
  const bool cross = g->spread.call->cross;
  double low[3], high[3];
  rung_status status = pairs_spread_agree(&g->spread, make_room(g), 0, low, high);
  if (status == RUNG_OK && *own == RUNG_OK)
    *own = count(g, cross ? g->spread.own : NULL, (int64_t[]){0, 0},
                 (int64_t[]){points_of(g, 0, me), points_of(g, cross ? 1 : 0, me)});
  for (int step = 1; status == RUNG_OK && (cross ? step < ranks : 2 * step <= ranks); ++step) {
    status = bring(g, step, own);
    if (status == RUNG_OK && *own == RUNG_OK) *own = count_step(g, step);
  }
  return status;
}
