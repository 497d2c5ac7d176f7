/* Pairs over ranks: every rank gets all points, and counts the pairs of its share of them. Points
 * that lie in GPUs' memory go from one to the other, and are counted where they have come.
 *
 *   word      how many points of a has everybody, and are all about the same?
 *   word      of two sets: and of b?
 *             With a cut-off the points of a slab of space and a halo around it go to each rank, if
 *             all are for that (halo.c), and results follow. Else:
 *   word      have all the memory for all points and all results, and their own at hand? Would
 *             all deal out tiles?
 *   points    to all, straight to where they belong; then weights, molecules, and those of b.
 *             Where a rank has not the memory, they go around instead (ring.c), after a word
 *             whether all have it for that
 *   word      have all counted? With it, or to all after it, if they are too many bytes:
 *   results   counts, outside and sums in units of one exponent, which every rank adds up
 *   word      have all come to their end? Not where all write short results to host memory.
 *
 * Few pairs are counted by rank 0 alone, where all ranks are GPUs. Else, where every rank's GPU
 * would count by sorted tiles (rung "exact32"), each sorts all points, in the very same order, and
 * every two tiles are one rank's, in turn: so tiles are as small, and as many far from each other,
 * as one GPU's would be. Else within a set the points are as many ranges as there are ranks, in a
 * ring. A share is the pairs within one range, and of its points with those of the half of the
 * others that come after it. Of two sets it is a range of the longer one, with all of the other.
 * Both are jobs such as parts.c makes; one that must be cut for memory is.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "core/over.h"
#include "core/room.h"
#include "ops/pairs/call.h"
#include "ops/pairs/cuda/grid.h"
#include "ops/pairs/halo.h"
#include "ops/pairs/ring.h"
#include "ops/pairs/space.h"
#include "ops/reduce/reduce.h"

/* They take one GPU as long as a launch. */
enum { FEW_PAIRS = 1 << 25 };

typedef struct run {
  rung_context *context;
  pairs_call *call;
  rung_call known;
  const char *used;
  rung_meeting meeting;
  char name[RUNG_JOB_TEXT];
  int64_t *firsts[2]; /* of a and b: where every rank's points begin, and the end of all */
  int64_t *numbers;   /* 0, 1, 2 ...: of every rank one piece of results */
  double *thresholds;
  rung_view whole[PAIRS_ARRAYS]; /* all ranks' points, and the outputs before they are delivered */
  const char *mine[PAIRS_THRESHOLDS]; /* NULL: among all; or where this rank's points lie */
  rung_room room;                     /* of points and molecules */
  bool dealt;                         /* tiles are, if points make no cells */
  bool one_may;                       /* count all: every rank is a GPU, and takes any rung */
  bool short_of_memory;               /* for all points */
  bool any_rung, on_device; /* every rank takes any rung; is to have a room on its device */
  pairs_ring ring;          /* where a rank is */
  pairs_halo halo;
  char *states; /* results: all ranks', then a job's, then all together */
} run;

static bool is_output(int array) {
  return array >= PAIRS_COUNTS;
}

/* Weights are looked at by the host. */
static bool is_in_room(int array) {
  return array < PAIRS_A_WEIGHTS || (array >= PAIRS_A_MOLECULES && array < PAIRS_THRESHOLDS);
}

/* What words need, and what is to be known from them. */
static rung_status make_ready(run *r, rung_status status) {
  rung_meeting *m = &r->meeting;
  const size_t ranks = (size_t)m->ranks.count;
  size_t bytes = 0;
  const bool there = rung_ranks_make_words(m, &bytes);
  r->firsts[0] = rung_ranks_ask(&bytes, ranks + 1, sizeof *r->firsts[0]);
  r->firsts[1] = rung_ranks_ask(&bytes, ranks + 1, sizeof *r->firsts[1]);
  r->numbers = rung_ranks_ask(&bytes, ranks + 1, sizeof *r->numbers);
  if (there && r->firsts[0] != NULL && r->firsts[1] != NULL && r->numbers != NULL) {
    for (size_t k = 0; k <= ranks; ++k) r->numbers[k] = (int64_t)k;
    return status;
  }
  free(m->words); /* the word goes without it */
  m->words = NULL;
  return status == RUNG_OK ? rung_ranks_no_memory(&r->meeting, bytes, "what ranks say") : status;
}

static void give_back(run *r) {
  for (int a = 0; a < PAIRS_ARRAYS; ++a)
    if (a != PAIRS_THRESHOLDS && !is_in_room(a)) free(r->whole[a].data);
  rung_room_end(&r->room);
  pairs_ring_end(&r->ring);
  pairs_halo_end(&r->halo);
  free(r->meeting.words);
  free(r->meeting.parcels);
  free(r->firsts[0]);
  free(r->firsts[1]);
  free(r->numbers);
  free(r->thresholds);
  free(r->states);
}

/* ---- all points --------------------------------------------------------------------------------
 */

/* A word, and what it says of the points of a set; and of the rank. */
static rung_status meet_set(run *r, rung_status own, int which) {
  rung_meeting *m = &r->meeting;
  const rung_view *at = &r->call->views[PAIRS_A + which];
  const char on_device = rung_room_goes_on_device(r->context, m);
  rung_status status = rung_ranks_meet_with(m, own, own == RUNG_OK ? at->shape[0] : 0,
                                            rung_takes_any(r->known.rung), &on_device, 1);
  r->any_rung = status == RUNG_OK && rung_ranks_ready(m);
  r->on_device = true;
  for (int k = 0; k < m->ranks.count && status == RUNG_OK; ++k) {
    r->on_device = r->on_device && m->words[k].along == 1 && m->words[k].more[0] == 1;
    if (__builtin_add_overflow(r->firsts[which][k], m->words[k].number, &r->firsts[which][k + 1]))
      status = rung_fail(m->error, RUNG_TOO_LARGE,
                         "the ranks' sets together have more than 2^63 - 1 points");
  }
  return status;
}

static int64_t points_of(const run *r, int which) {
  return r->firsts[which][r->meeting.ranks.count];
}

/* The arrays of the whole, as the caller's are of a part. A set that is not given has none. */
static void lay_out(run *r) {
  const pairs_call *call = r->call;
  for (int a = 0; a < PAIRS_ARRAYS; ++a) {
    const bool asked_for = is_output(a) ? call->views[a].count > 0 : pairs_is_given(call, a);
    if (a == PAIRS_THRESHOLDS || !asked_for) continue;
    rung_view whole = call->views[a];
    if (!is_output(a)) whole.shape[0] = points_of(r, (a - PAIRS_A) % 2);
    r->whole[a] = rung_view_compact(NULL, whole.dtype, whole.ndim, whole.shape);
  }
}

static char *state_at(const run *r, int which) {
  return r->states + (size_t)which * pairs_parts.state_bytes(&r->call->problem, NULL);
}

/* All ranks' points, molecules and weights. A limit of memory is one for them, too. */
static rung_status make_room_of_points(run *r) {
  const int64_t limit = r->context->memory_limit;
  size_t bytes = 0, others = 0;
  for (int a = 0; a < PAIRS_THRESHOLDS; ++a)
    if (is_in_room(a) && r->whole[a].ndim > 0)
      bytes += rung_room_bytes(rung_view_bytes(&r->whole[a]));
  if (limit > 0 && bytes > (size_t)limit)
    return rung_ranks_no_memory(&r->meeting, bytes, "all ranks' points");
  for (int a = PAIRS_A_WEIGHTS; a < PAIRS_A_MOLECULES; ++a) {
    if (r->whole[a].ndim == 0) continue;
    r->whole[a].data = rung_ranks_ask(&others, rung_view_bytes(&r->whole[a]), 1);
    if (r->whole[a].data == NULL)
      return rung_ranks_no_memory(&r->meeting, others, "all ranks' weights");
  }
  const rung_status status =
      rung_room_make(&r->room, r->context, &r->meeting, bytes, "all ranks' points");
  char *at = r->room.memory;
  for (int a = 0; a < PAIRS_THRESHOLDS && status == RUNG_OK; ++a) {
    const rung_view *whole = &r->whole[a];
    if (!is_in_room(a) || whole->ndim == 0) continue;
    r->whole[a] = rung_room_view(&r->room, at, whole->dtype, whole->ndim, whole->shape);
    at += rung_room_bytes(rung_view_bytes(whole));
  }
  return status;
}

/* This rank's points, weights or molecules to where they belong among all. */
static rung_status fetch_own(run *r, int a) {
  const rung_view *whole = &r->whole[a], *own = &r->call->views[a];
  const rung_range range = {own, 0, own->count};
  char *to =
      whole->data + (size_t)r->firsts[a % 2][r->meeting.ranks.rank] * pairs_element_bytes(whole);
  return is_in_room(a) ? rung_room_share(&r->room, &range, to, &r->mine[a])
                       : rung_fetch(r->context, &range, to);
}

/* Memory for all results. */
static rung_status make_room_of_results(run *r) {
  const int ranks = r->meeting.ranks.count;
  const pairs_call *call = r->call;
  size_t bytes = 0;
  rung_status status = pairs_thresholds(&r->context->error, call, &r->thresholds);
  if (status == RUNG_OK)
    status = pairs_call_problem(&r->context->error, r->call, points_of(r, 0), points_of(r, 1),
                                r->thresholds);
  if (status != RUNG_OK) return status;
  lay_out(r);
  r->states =
      rung_ranks_ask(&bytes, (size_t)ranks + 2, pairs_parts.state_bytes(&call->problem, NULL));
  bool there = r->states != NULL;
  for (int a = PAIRS_COUNTS; a < PAIRS_ARRAYS; ++a) {
    if (r->whole[a].ndim == 0) continue;
    r->whole[a].data = rung_ranks_ask(&bytes, rung_view_bytes(&r->whole[a]), 1);
    there &= r->whole[a].data != NULL;
  }
  r->whole[PAIRS_THRESHOLDS] = call->views[PAIRS_THRESHOLDS];
  return there ? RUNG_OK : rung_ranks_no_memory(&r->meeting, bytes, "all ranks' results");
}

/* Memory for all points, and the rank's own where they belong. */
static rung_status make_room(run *r) {
  rung_status status = make_room_of_points(r);
  r->short_of_memory = status == RUNG_OUT_OF_MEMORY;
  if (r->short_of_memory) rung_error_clear(&r->context->error);
  if (r->short_of_memory) return RUNG_OK;
  for (int a = 0; a < PAIRS_THRESHOLDS && status == RUNG_OK; ++a)
    if (r->whole[a].ndim > 0) status = fetch_own(r, a);
  return status;
}

/* All arrays of both sets; *own: of what is the rank's own. */
static rung_status gather(run *r, rung_status *own) {
  rung_status status = RUNG_OK;
  for (int a = 0; a < PAIRS_THRESHOLDS && status == RUNG_OK; ++a)
    if (r->whole[a].ndim > 0)
      status = rung_ranks_missing(
          &r->meeting,
          rung_ranks_gather(&r->meeting, r->firsts[a % 2], pairs_element_bytes(&r->whole[a]),
                            r->whole[a].data, r->mine[a], is_in_room(a) && r->room.on_device),
          own);
  return status;
}

/* ---- a rank's share ----------------------------------------------------------------------------
 */

static rung_status count_job(run *r, pairs_problem *part, rung_view *arrays, rung_job *job,
                             const rung_call *how) {
  const int me = r->meeting.ranks.rank;
  const rung_status status = rung_run_job(r->context, job, how, &r->used);
  if (status == RUNG_OK) (void)pairs_parts.take(part, NULL, arrays, state_at(r, me));
  return status;
}

static rung_status count_pairs(void *of, pairs_problem *part, rung_view *arrays) {
  run *r = (run *)of;
  if (pairs_all(part) == 0) return RUNG_OK;
  pairs_results_at(part, state_at(r, r->meeting.ranks.count), arrays);
  rung_job job = pairs_job_of(part, arrays, true);
  return count_job(r, part, arrays, &job, &r->known);
}

/* Pairs of a range of a and one of b or, `apart`, of a again; otherwise within the one of a. */
static rung_status count_part(run *r, const int64_t first[2], const int64_t count[2], bool apart) {
  pairs_problem part = r->call->problem;
  rung_view arrays[PAIRS_ARRAYS];
  memcpy(arrays, r->whole, sizeof arrays);
  pairs_part_of(&part, arrays, first, count, apart);
  return count_pairs(r, &part, arrays);
}

/* Every two tiles of all points whose turn is this rank's; or (reserve) only finds the memory for
 * it. The job is never cut: ranks that were short of memory would have other tiles. */
static const char dealing[] = "exact32";
static rung_status count_dealt(run *r, bool reserve) {
  pairs_problem part = r->call->problem;
  rung_view arrays[PAIRS_ARRAYS];
  rung_call how = r->known;
  memcpy(arrays, r->whole, sizeof arrays);
  how.rung = dealing;
  pairs_part_of(&part, arrays, (int64_t[]){0, 0}, (int64_t[]){part.n, part.cross ? part.m : part.n},
                false);
  if (pairs_all(&part) == 0) return RUNG_OK;
  part.dealt = r->meeting.ranks.count;
  part.turn = r->meeting.ranks.rank;
  pairs_results_at(&part, state_at(r, r->meeting.ranks.count), arrays);
  rung_job job = pairs_job_of(&part, arrays, false);
  job.reserve = reserve;
  return reserve ? rung_run_job(r->context, &job, &how, &r->used)
                 : count_job(r, &part, arrays, &job, &how);
}

/* A rung that is named is to be every rank's. */
static bool takes_any(const run *r) {
  return r->room.on_device && rung_takes_any(r->known.rung);
}

/* Whether this rank's GPU would count all pairs by sorted tiles, and has the memory. */
static bool may_deal(run *r) {
  rung_error none = {RUNG_OK, ""};
  const rung_row *row = NULL;
  if (r->meeting.ranks.count == 1 || !r->room.on_device) return false;
  if (takes_any(r) && pairs_all(&r->call->problem) <= FEW_PAIRS) return false;
  rung_job job = pairs_job_of(&r->call->problem, r->whole, true);
  job.task.device = &r->context->device;
  job.task.block = r->known.block;
  if (rung_choose(&pairs_operation, &job.task, job.types, &r->known, &row, &none) != RUNG_OK ||
      strcmp(row->name, dealing) != 0)
    return false;
  if (count_dealt(r, true) == RUNG_OK) return true;
  rung_error_clear(&r->context->error);
  return false;
}

/* What a rank says with the word about memory. */
enum { HAS_ALL, DEALS, HAS_NOT_ALL };

static bool all_deal(const rung_meeting *m) {
  for (int k = 0; k < m->ranks.count; ++k)
    if (m->words[k].number != DEALS) return false;
  return true;
}

static bool any_has_not_all(const rung_meeting *m) {
  for (int k = 0; k < m->ranks.count; ++k)
    if (m->words[k].number == HAS_NOT_ALL) return true;
  return false;
}

/* Where range `k` of a begins, of as many as there are ranks; from their count on, once more around
 * the ring. */
static int64_t ring_at(const run *r, int k) {
  const int64_t n = r->call->problem.n, ranks = r->meeting.ranks.count;
  return k < ranks ? n * k / ranks : n + n * (k - ranks) / ranks;
}

static int64_t ring_middle(const run *r, int k) {
  return ring_at(r, k) + (ring_at(r, k + 1) - ring_at(r, k)) / 2;
}

static rung_status count_across(run *r, int64_t row, int64_t rows, int64_t first, int64_t end) {
  if (first >= end) return RUNG_OK;
  return count_part(r, (int64_t[]){row, first}, (int64_t[]){rows, end - first}, true);
}

/* Pairs within range `me`, and with those after it, up to half way around. Where that is the middle
 * of a range, of the two ranges that face each other the earlier one has the other's first half,
 * and the later one has its own second half with all of the other. */
static rung_status count_ring(run *r) {
  const int64_t n = r->call->problem.n;
  const int ranks = r->meeting.ranks.count, me = r->meeting.ranks.rank, half = ranks / 2;
  const bool faces = ranks % 2 == 0, earlier = me < half;
  const int64_t row = ring_at(r, me), rows = ring_at(r, me + 1) - row, first = row + rows;
  const int64_t end = !faces    ? ring_at(r, me + half + 1)
                      : earlier ? ring_middle(r, me + half)
                                : ring_at(r, me + half);
  rung_status status = count_part(r, (int64_t[]){row, row}, (int64_t[]){rows, rows}, false);
  if (status == RUNG_OK) status = count_across(r, row, rows, first, end < n ? end : n);
  if (status == RUNG_OK) status = count_across(r, row, rows, first < n ? 0 : first - n, end - n);
  if (status != RUNG_OK || !faces || earlier) return status;
  const int64_t middle = ring_middle(r, me);
  return count_across(r, middle, first - middle, ring_at(r, me - half), ring_at(r, me - half + 1));
}

/* The least (greatest) coordinates of a set, by the device that has it. */
static rung_status find_ends(run *r, rung_reduction what, const rung_view *at, double ends[3]) {
  char found[3 * sizeof(double)];
  const rung_view out = rung_view_compact(found, at->dtype, 1, (int64_t[]){3});
  const rung_status status = reduce_along(r->context, what, at, 0, &out);
  for (int k = 0; k < 3 && status == RUNG_OK; ++k) {
    const double end = rung_number_at(at->dtype, found, k);
    const bool further = what == RUNG_MIN ? end < ends[k] : end > ends[k];
    if (further || isnan(end)) ends[k] = end;
  }
  return status;
}

/* How far all points reach, where that decides how they are counted. */
static rung_status look(run *r) {
  pairs_problem *p = &r->call->problem;
  double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  rung_status status = RUNG_OK;
  if (!r->room.on_device || p->box.space != PAIRS_OPEN) {
    pairs_look(p, &r->whole[PAIRS_A], &r->whole[PAIRS_B]);
    return RUNG_OK;
  }
  for (int a = PAIRS_A; a <= PAIRS_B && status == RUNG_OK; ++a) {
    if (r->whole[a].count == 0) continue;
    status = find_ends(r, RUNG_MIN, &r->whole[a], low);
    if (status == RUNG_OK) status = find_ends(r, RUNG_MAX, &r->whole[a], high);
  }
  pairs_set_reach(p, low, high);
  return status;
}

/* Few pairs are all rank 0's, where ranks are GPUs: one job takes less than two or three. */
static bool one_counts(const run *r) {
  return r->one_may && pairs_all(&r->call->problem) <= FEW_PAIRS;
}

static rung_status count_share(run *r) {
  pairs_problem *p = &r->call->problem;
  const int ranks = r->meeting.ranks.count, me = r->meeting.ranks.rank;
  const rung_status looked = one_counts(r) ? RUNG_OK : look(r);
  if (looked != RUNG_OK) return looked;
  (void)pairs_may_cut(p, r->whole); /* weights are in host memory: it may */
  if (one_counts(r))
    return me > 0
               ? RUNG_OK
               : count_part(r, (int64_t[]){0, 0}, (int64_t[]){p->n, p->cross ? p->m : p->n}, false);
  if (r->dealt && !pairs_grid_cut(p, &(pairs_grid){.count = 0})) return count_dealt(r, false);
  if (p->cross) {
    const bool by_b = p->m > p->n;
    const int64_t all = by_b ? p->m : p->n, row = all * me / ranks;
    const int64_t count = all * (me + 1) / ranks - row;
    return by_b ? count_part(r, (int64_t[]){0, row}, (int64_t[]){p->n, count}, false)
                : count_part(r, (int64_t[]){row, 0}, (int64_t[]){count, p->m}, false);
  }
  return count_ring(r);
}

/* Points to where they are counted, and that. */
static rung_status bring_and_count(run *r, rung_status *own) {
  const rung_status status = gather(r, own);
  if (status == RUNG_OK && *own == RUNG_OK) *own = count_share(r);
  return status;
}

static pairs_spread spread_of(run *r) {
  return (pairs_spread){.context = r->context,
                        .meeting = &r->meeting,
                        .call = r->call,
                        .firsts = {r->firsts[0], r->firsts[1]},
                        .numbers = r->numbers,
                        .count = count_pairs,
                        .of = r};
}

/* By slabs and halos, where these will do and would pay. */
static rung_status count_slabs(run *r, rung_status *own, bool *counted) {
  *counted = false;
  if (!r->any_rung || !pairs_halo_may(&r->call->problem, r->meeting.ranks.count)) return RUNG_OK;
  r->halo = (pairs_halo){.spread = spread_of(r)};
  const rung_status status =
      pairs_halo_count(&r->halo, state_at(r, r->meeting.ranks.rank), own, counted);
  pairs_halo_end(&r->halo);
  return status;
}

/* The same with less memory: what there is for all points is given back. */
static rung_status count_around(run *r, rung_status *own) {
  bool counted = false;
  for (int a = PAIRS_A_WEIGHTS; a < PAIRS_A_MOLECULES; ++a) {
    free(r->whole[a].data);
    r->whole[a].data = NULL;
  }
  rung_room_end(&r->room);
  const rung_status status = r->on_device ? count_slabs(r, own, &counted) : RUNG_OK;
  if (status != RUNG_OK || counted) return status;
  r->ring = (pairs_ring){.spread = spread_of(r)};
  return pairs_ring_count(&r->ring, own);
}

/* By all points in all ranks, or around the ring. */
static rung_status count_all(run *r, rung_status *own) {
  rung_meeting *m = &r->meeting;
  if (*own == RUNG_OK) *own = make_room(r);
  const int64_t says = *own != RUNG_OK      ? HAS_ALL
                       : r->short_of_memory ? HAS_NOT_ALL
                       : may_deal(r)        ? DEALS
                                            : HAS_ALL;
  const rung_status status = rung_ranks_meet_ready(m, *own, says, takes_any(r));
  if (status != RUNG_OK) return status;
  r->dealt = all_deal(m);
  r->one_may = rung_ranks_ready(m);
  return any_has_not_all(m) ? count_around(r, own) : bring_and_count(r, own);
}

/* Every rank's results: with the word that all have counted, or after it. */
static rung_status gather_results(run *r, rung_status *own) {
  rung_meeting *m = &r->meeting;
  const size_t bytes = pairs_parts.state_bytes(&r->call->problem, NULL);
  const bool sure = rung_ranks_on_host(&r->call->views[PAIRS_COUNTS], PAIRS_ARRAYS - PAIRS_COUNTS);
  const rung_status status = rung_ranks_tell(m, *own, state_at(r, m->ranks.rank), bytes, sure);
  if (status != RUNG_OK) return status;
  if (!rung_ranks_told(m))
    return rung_ranks_missing(m, rung_ranks_gather(m, r->numbers, bytes, r->states, NULL, false),
                              own);
  for (int k = 0; k < m->ranks.count; ++k) memcpy(state_at(r, k), m->words[k].more, bytes);
  return RUNG_OK;
}

static rung_status put_together(run *r) {
  const pairs_problem *p = &r->call->problem;
  const int ranks = r->meeting.ranks.count;
  void *all = state_at(r, ranks + 1);
  rung_status status = RUNG_OK;
  for (int k = 0; k < ranks; ++k) {
    rung_view results[PAIRS_ARRAYS] = {{0}};
    pairs_results_at(p, state_at(r, k), results);
    (void)pairs_parts.take(p, NULL, results, all);
  }
  pairs_parts.finish(p, NULL, all, r->whole);
  for (int a = PAIRS_COUNTS; a < PAIRS_ARRAYS && status == RUNG_OK; ++a)
    if (r->whole[a].count > 0) status = rung_deliver(r->context, &r->call->views[a], &r->whole[a]);
  return status;
}

/* ---- a call ------------------------------------------------------------------------------------
 */

static rung_status go_on(run *r, rung_status own) {
  rung_meeting *m = &r->meeting;
  rung_status status = meet_set(r, own, 0);
  if (status == RUNG_OK && r->call->cross) status = meet_set(r, RUNG_OK, 1);
  if (status == RUNG_OK) /* says the same in all ranks */
    status =
        pairs_call_problem(&r->context->error, r->call, points_of(r, 0), points_of(r, 1), NULL);
  if (status != RUNG_OK) return status;
  bool counted = false;
  own = make_room_of_results(r);
  if (!r->on_device) status = count_slabs(r, &own, &counted);
  if (status == RUNG_OK && !counted) status = count_all(r, &own);
  if (status != RUNG_OK || (status = gather_results(r, &own)) != RUNG_OK) return status;
  const bool sure = rung_ranks_sure(m);
  if (own == RUNG_OK) own = put_together(r);
  if (sure) return own;
  if (own == RUNG_OK) own = r->context->backend->synchronize(r->context->state, &r->context->error);
  return rung_ranks_meet(m, own, 0);
}

/* What must be the same in all ranks: edges and boxes by a hash, for they are too many numbers. */
static void name_job(const pairs_call *call, char name[RUNG_JOB_TEXT]) {
  char bins[64], box[48] = "";
  if (call->bins.edges == NULL)
    snprintf(bins, sizeof bins, "of width %.17g", call->bins.width);
  else
    snprintf(bins, sizeof bins, "of edges with the hash %016" PRIx64,
             rung_ranks_hash(call->bins.edges,
                             (size_t)(call->bins.count + 1) * sizeof *call->bins.edges));
  if (call->box != NULL)
    snprintf(box, sizeof box, " in a box with the hash %016" PRIx64,
             rung_ranks_hash(call->box, sizeof *call->box));
  snprintf(name, RUNG_JOB_TEXT, "rung_pairs_ranks(%d bins %s%s, of %s%s%s%s)", call->problem.bins,
           bins, box, rung_dtype_name(call->problem.dtype), call->cross ? ", two sets" : "",
           call->weighted ? ", sums" : "", call->problem.excluding ? ", molecules" : "");
}

rung_status rung_pairs_ranks(rung_context *context, const rung_ranks *ranks, const rung_points *a,
                             const rung_points *b, const rung_box *box, const rung_distances *bins,
                             DLTensor *counts, DLTensor *outside, DLTensor *sums, rung_call *how) {
  pairs_call call;
  run r = {.context = context, .call = &call};
  bool begun = false;
  rung_status status = rung_over_begin(context, ranks, &r.meeting.ranks);
  if (status != RUNG_OK) return status;
  r.meeting.error = &context->error;
  r.meeting.job = r.name;
  status = pairs_call_read(&context->error, a, b, box, bins, counts, outside, sums, &call);
  if (status == RUNG_OK) {
    name_job(&call, r.name);
    status = rung_over_enter(context, how, &r.known, &begun);
  }
  if (status == RUNG_OK) {
    const rung_job given = pairs_job_of(&call.problem, call.views, false);
    status = rung_run_reaches(context, &given);
  }
  status = go_on(&r, make_ready(&r, status));
  give_back(&r);
  return rung_end(context, begun ? rung_call_end(context, status, how, r.used) : status);
}
