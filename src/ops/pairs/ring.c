/* In step s every rank has the points of the one s after it, which come straight from there. Within
 * a set that goes half way around: of two ranks that face each other, the earlier one takes its
 * points with the first half of the other's, and the later one the second half of its own with all
 * of the other's. Of two sets b goes all around, and every rank takes its points of a with it.
 *
 * What decides how pairs are counted, and in which units sums are, must be known of all points
 * before: every rank says how far its own reach and which of its weights is the largest. */
#include "ops/pairs/ring.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/transfer.h"
#include "ops/pairs/sums.h"

/* What a rank says of its points. */
typedef struct ends {
  double low[3], high[3], largest[2];
} ends;

static int set_of(int array) {
  return (array - PAIRS_A) % 2;
}

/* The set whose points go around. */
static int going(const pairs_ring *g) {
  return g->call->cross ? 1 : 0;
}

static int64_t points_of(const pairs_ring *g, int set, int rank) {
  return g->firsts[set][rank + 1] - g->firsts[set][rank];
}

static int64_t most_points(const pairs_ring *g, int set) {
  int64_t most = 0;
  for (int k = 0; k < g->meeting->ranks.count; ++k)
    if (points_of(g, set, k) > most) most = points_of(g, set, k);
  return most;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static size_t bytes_of(const rung_view *view, int64_t points) {
  return (size_t)points * (view->ndim == 2 ? (size_t)view->shape[1] : 1) *
         rung_dtype_bytes(view->dtype);
}

static rung_view view_of(const rung_view *like, char *data, int64_t points) {
  int64_t shape[2] = {points, like->ndim == 2 ? like->shape[1] : 1};
  return rung_view_compact(data, like->dtype, like->ndim, shape);
}

static size_t aligned(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/* Lays all arrays out from `at` on (NULL: only says how far they go). */
static size_t lay_out(pairs_ring *g, char *at) {
  const int me = g->meeting->ranks.rank;
  size_t used = 0;
  for (int a = PAIRS_A; a < PAIRS_THRESHOLDS; ++a) {
    const rung_view *given = &g->call->views[a];
    if (!pairs_is_given(g->call, a)) continue;
    const int64_t points = points_of(g, set_of(a), me), most = most_points(g, set_of(a));
    if (at != NULL) g->own[a] = view_of(given, at + used, points);
    used += aligned(bytes_of(given, points));
    if (set_of(a) != going(g)) continue;
    if (at != NULL) g->visitor[a] = view_of(given, at + used, most);
    used += aligned(bytes_of(given, most));
  }
  return used;
}

rung_status pairs_ring_begin(pairs_ring *g) {
  size_t bytes = 0;
  g->memory = rung_ranks_ask(&bytes, lay_out(g, NULL), 1);
  g->said = rung_ranks_ask(&bytes, (size_t)g->meeting->ranks.count, sizeof(ends));
  if (g->memory == NULL || g->said == NULL)
    return rung_ranks_no_memory(g->meeting, bytes, "its own points and another rank's");
  (void)lay_out(g, g->memory);
  for (int a = PAIRS_A; a < PAIRS_THRESHOLDS; ++a) {
    if (!pairs_is_given(g->call, a)) continue;
    const rung_view *given = &g->call->views[a];
    const rung_status status =
        rung_fetch(g->context, &(rung_range){given, 0, given->count}, g->own[a].data);
    if (status != RUNG_OK) return status;
  }
  return RUNG_OK;
}

void pairs_ring_end(pairs_ring *g) {
  free(g->memory);
  free(g->said);
}

/* ---- what all must know ------------------------------------------------------------------------
 */

static ends own_ends(const pairs_ring *g) {
  ends mine = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, {0, 0}};
  for (int a = PAIRS_A; a <= PAIRS_B; ++a) pairs_find_ends(&g->own[a], mine.low, mine.high);
  for (int set = 0; set < 2 && g->call->weighted; ++set)
    mine.largest[set] = pairs_largest(&g->own[PAIRS_A_WEIGHTS + set]);
  return mine;
}

static void take_in(ends *all, const ends *one) {
  for (int k = 0; k < 3; ++k) {
    if (one->low[k] < all->low[k]) all->low[k] = one->low[k];
    if (one->high[k] > all->high[k]) all->high[k] = one->high[k];
  }
  for (int set = 0; set < 2; ++set)
    if (pairs_magnitude(one->largest[set]) > pairs_magnitude(all->largest[set]))
      all->largest[set] = one->largest[set];
}

static rung_status agree(pairs_ring *g, rung_status *own) {
  const int ranks = g->meeting->ranks.count;
  ends *said = (ends *)g->said;
  pairs_problem *p = &g->call->problem;
  said[g->meeting->ranks.rank] = own_ends(g);
  const rung_status status = rung_ranks_missing(
      g->meeting,
      rung_ranks_gather(g->meeting, g->numbers, sizeof *said, (char *)said, NULL, false), own);
  if (status != RUNG_OK || *own != RUNG_OK) return status;
  ends all = said[0];
  for (int k = 1; k < ranks; ++k) take_in(&all, &said[k]);
  p->known = false;
  if (p->box.space == PAIRS_OPEN) pairs_set_reach(p, all.low, all.high);
  if (p->weighted) p->exponent = pairs_exponent(all.largest[0], all.largest[p->cross ? 1 : 0]);
  return RUNG_OK;
}

/* ---- going around ------------------------------------------------------------------------------
 */

/* The points of the rank `step` after this one come, and this one's go to the one as far before it.
 */
static rung_status bring(pairs_ring *g, int step, rung_status *own) {
  rung_meeting *m = g->meeting;
  const int ranks = m->ranks.count, me = m->ranks.rank, set = going(g);
  const int from = (me + step) % ranks, to = (me - step + ranks) % ranks;
  rung_status status = RUNG_OK;
  for (int a = PAIRS_A + set; a < PAIRS_THRESHOLDS && status == RUNG_OK; a += 2) {
    int sends = 0, receives = 0;
    if (!pairs_is_given(g->call, a)) continue;
    const size_t mine = rung_view_bytes(&g->own[a]);
    g->visitor[a] = view_of(&g->own[a], g->visitor[a].data, points_of(g, set, from));
    const size_t others = rung_view_bytes(&g->visitor[a]);
    if (mine > 0) m->parcels[sends++] = (rung_parcel){to, g->own[a].data, mine, 0};
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
  pairs_problem part = g->call->problem;
  rung_view arrays[PAIRS_ARRAYS];
  memcpy(arrays, g->own, sizeof arrays);
  arrays[PAIRS_THRESHOLDS] = g->call->views[PAIRS_THRESHOLDS];
  for (int a = PAIRS_B; a < PAIRS_THRESHOLDS && others != NULL; a += 2)
    arrays[a] = others[a - 1 + going(g)];
  part.cross = others != NULL;
  pairs_part_of(&part, arrays, first, counts, false);
  return g->count(g->of, &part, arrays);
}

static rung_status count_step(pairs_ring *g, int step) {
  const int ranks = g->meeting->ranks.count, me = g->meeting->ranks.rank;
  const int from = (me + step) % ranks;
  const int64_t mine = points_of(g, 0, me), others = points_of(g, going(g), from);
  int64_t first[2] = {0, 0}, counts[2] = {mine, others};
  if (!g->call->cross && 2 * step == ranks && me < from) counts[1] = others / 2;
  if (!g->call->cross && 2 * step == ranks && me > from) {
    first[0] = mine / 2;
    counts[0] = mine - first[0];
  }
  return count(g, g->visitor, first, counts);
}

rung_status pairs_ring_count(pairs_ring *g, rung_status *own) {
  const int ranks = g->meeting->ranks.count, me = g->meeting->ranks.rank;
  const bool cross = g->call->cross;
  rung_status status = agree(g, own);
  if (status == RUNG_OK && *own == RUNG_OK)
    *own = count(g, cross ? g->own : NULL, (int64_t[]){0, 0},
                 (int64_t[]){points_of(g, 0, me), points_of(g, cross ? 1 : 0, me)});
  for (int step = 1; status == RUNG_OK && (cross ? step < ranks : 2 * step <= ranks); ++step) {
    status = bring(g, step, own);
    if (status == RUNG_OK && *own == RUNG_OK) *own = count_step(g, step);
  }
  return status;
}
