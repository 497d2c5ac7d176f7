/* What decides how pairs are counted, and in which units sums are, must be known of all points:
 * every rank says how far its own reach and which of its weights is the largest. */
#include "ops/pairs/spread.h"

#include <float.h>
#include <string.h>

#include "core/transfer.h"
#include "ops/pairs/sums.h"

/* What a rank says of its points. */
typedef struct ends {
  double low[3], high[3], largest[2];
} ends;

size_t pairs_spread_bytes(const rung_view *like, int64_t points) {
  return ((size_t)points * pairs_element_bytes(like) + 63) / 64 * 64;
}

rung_view pairs_spread_view(const rung_view *like, char *data, int64_t points) {
  int64_t shape[2] = {points, like->ndim == 2 ? like->shape[1] : 1};
  return rung_view_compact(data, like->dtype, like->ndim, shape);
}

rung_status pairs_spread_fetch(const pairs_spread *s) {
  for (int a = PAIRS_A; a < PAIRS_THRESHOLDS; ++a) {
    if (!pairs_is_given(s->call, a)) continue;
    const rung_view *given = &s->call->views[a];
    const rung_status status =
        rung_fetch(s->context, &(rung_range){given, 0, given->count}, s->own[a].data);
    if (status != RUNG_OK) return status;
  }
  return RUNG_OK;
}

static ends own_ends(const pairs_spread *s) {
  ends mine = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, {0, 0}};
  for (int a = PAIRS_A; a <= PAIRS_B; ++a) pairs_find_ends(&s->own[a], mine.low, mine.high);
  for (int set = 0; set < 2 && s->call->weighted; ++set)
    mine.largest[set] = pairs_largest(&s->own[PAIRS_A_WEIGHTS + set]);
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

rung_status pairs_spread_agree(const pairs_spread *s, rung_status status, int64_t number,
                               double low[3], double high[3]) {
  rung_meeting *m = s->meeting;
  pairs_problem *p = &s->call->problem;
  ends all = {{0}, {0}, {0}};
  if (status == RUNG_OK && number == 0) all = own_ends(s);
  status = rung_ranks_meet_with(m, status, number, false, &all, sizeof all);
  for (int k = 0; k < m->ranks.count && status == RUNG_OK; ++k) {
    if (m->words[k].along != (int64_t)sizeof all)
      return rung_fail(m->error, RUNG_RANKS_FAILED, "rank %d does not say how far its points reach",
                       k);
    if (m->words[k].number != 0) return RUNG_OK;
    take_in(&all, (const ends *)m->words[k].more);
  }
  if (status != RUNG_OK) return status;
  memcpy(low, all.low, sizeof all.low);
  memcpy(high, all.high, sizeof all.high);
  p->known = false;
  if (p->box.space == PAIRS_OPEN) pairs_set_reach(p, low, high);
  if (p->weighted) p->exponent = pairs_exponent(all.largest[0], all.largest[p->cross ? 1 : 0]);
  return RUNG_OK;
}
