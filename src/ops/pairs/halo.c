/* A cut-off over ranks. Space is cut into layers about as thick as the last edge, and every rank
 * has a run of them, its slab, of about as much work as the others' (slabs.c). Within a set a pair
 * is counted by the rank of the lower slab, which needs the points of higher ones that may be
 * within the last edge of its own: its halo. Of two sets it is counted where the point of a is, to
 * which the points of b around come.
 *
 *   word      has everybody the memory for its own points? How far do all reach?
 *   numbers   how many points of every rank each layer has, to all
 *   word      do all cut alike, and have the memory for what comes?
 *   points    to their slabs and to the halos; then weights and molecules
 *
 * Pairs that are in no rank's job are above all bins. How many these are follows from how many
 * pairs there are, where no point is missing; of those that molecules exclude, each rank finds some
 * molecules', whose numbers all send it.
 *
 * Points that have no layer, NaN or infinite or outside their box, would be near to and far from
 * nothing: where there are any, all points go to all ranks as without a cut-off. */
#include "ops/pairs/halo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "ops/pairs/space.h"

/* Fewer points are sorted sooner than cut; and a rank is to have less than three quarters of all,
 * and no more than 3/2 of its share of the work. */
enum { LEAST = 2048, DEALT = 1 << 14 };
#define MOST_POINTS 0.75
#define MOST_WORK 1.5

static int ranks_of(const pairs_halo *h) {
  return h->spread.meeting->ranks.count;
}

static int me(const pairs_halo *h) {
  return h->spread.meeting->ranks.rank;
}

static const pairs_problem *problem_of(const pairs_halo *h) {
  return &h->spread.call->problem;
}

static int sets_of(const pairs_halo *h) {
  return problem_of(h)->cross ? 2 : 1;
}

static int64_t own_points(const pairs_halo *h, int set) {
  return pairs_spread_points(&h->spread, set, me(h));
}

static int64_t all_points(const pairs_halo *h, int set) {
  return h->spread.firsts[set][ranks_of(h)];
}

/* Whether pairs above all bins are asked for, of which molecules exclude some. */
static bool finds_molecules(const pairs_halo *h) {
  return problem_of(h)->excluding && h->spread.call->views[PAIRS_OUTSIDE].count > 0;
}

bool pairs_halo_may(const pairs_problem *p, int ranks) {
  const bool box = p->box.space != PAIRS_OPEN;
  pairs_slabs slabs;
  if (ranks < 2 || p->n + p->m < LEAST) return false;
  return !box || pairs_slabs_of(p, NULL, ranks, &slabs);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* NULL: there is none, or what may be had is less. */
static void *ask(pairs_halo *h, int64_t count, size_t each) {
  const int64_t limit = h->spread.context->memory_limit;
  void *memory = h->memories < PAIRS_HALO_MEMORY && !h->short_of_memory
                     ? rung_ranks_ask(&h->bytes, (size_t)count, each)
                     : NULL;
  if (memory != NULL) h->memory[h->memories++] = memory;
  if (limit > 0 && h->bytes > (size_t)limit) h->short_of_memory = true;
  h->short_of_memory |= memory == NULL;
  return memory;
}

void pairs_halo_end(pairs_halo *h) {
  for (int k = 0; k < h->memories; ++k) free(h->memory[k]);
  h->memories = 0;
}

/* Arrays like those of a set that are given, of so many points. */
static void lay_out(pairs_halo *h, int set, int64_t points, rung_view *arrays) {
  for (int a = PAIRS_A + set; a < PAIRS_THRESHOLDS; a += 2) {
    if (!pairs_is_given(h->spread.call, a)) continue;
    const rung_view *like = &h->spread.call->views[a];
    char *data = ask(h, (int64_t)pairs_spread_bytes(like, points), 1);
    arrays[a] = pairs_spread_view(like, data, points);
  }
}

/* The rank's own points, and what it takes to say how they lie. */
static rung_status begin(pairs_halo *h) {
  const int64_t ranks = ranks_of(h), layers = PAIRS_LAYERS;
  const int sets = sets_of(h);
  for (int s = 0; s < sets; ++s) {
    lay_out(h, s, own_points(h, s), h->spread.own);
    h->layer[s] = ask(h, own_points(h, s), sizeof *h->layer[s]);
  }
  h->begins = ask(h, ranks + 1, sizeof *h->begins);
  h->said = ask(h, ranks * sets * (layers + (finds_molecules(h) ? ranks : 0)), sizeof *h->said);
  h->sums = ask(h, sets * layers, sizeof *h->sums);
  h->cursor = ask(h, ranks + 1, sizeof *h->cursor);
  return h->short_of_memory ? RUNG_OK : pairs_spread_fetch(&h->spread);
}

/* ---- how points lie ----------------------------------------------------------------------------
 */

/* What a rank says: how many points of each set every layer has, and, where molecules are to be
 * found, how many numbers of them it has for every rank. */
static int64_t *layers_said(const pairs_halo *h, int rank, int set) {
  return h->said + rank * h->each + (int64_t)set * h->slabs.layers;
}

static int64_t *members_said(const pairs_halo *h, int rank, int set) {
  return h->said + rank * h->each + (int64_t)sets_of(h) * h->slabs.layers +
         (int64_t)set * ranks_of(h);
}

/* Points of a set, DEALT at a time, on as many threads as the rank's device uses of the host's. */
typedef struct dealt {
  pairs_halo *h;
  int set;
  void (*body)(const struct dealt *dealt, int64_t first, int64_t end);
  int64_t count;
  const char *from; /* of what is gathered */
  size_t bytes;
} dealt;

static void take_chunk(void *arg, int64_t chunk, int thread) {
  const dealt *d = (const dealt *)arg;
  const int64_t first = chunk * DEALT, left = d->count - first;
  (void)thread;
  d->body(d, first, first + (left < DEALT ? left : DEALT));
}

static void deal(dealt *d) {
  const rung_device *device = &d->h->spread.context->device;
  rung_parallel(device->kind == RUNG_CPU ? device->threads : 1, (d->count + DEALT - 1) / DEALT,
                take_chunk, d);
}

static void find_some(const dealt *d, int64_t first, int64_t end) {
  const pairs_halo *h = d->h;
  const void *data = h->spread.own[PAIRS_A + d->set].data;
  for (int64_t i = first; i < end; ++i)
    h->layer[d->set][i] = (uint16_t)(pairs_layer_of(&h->slabs, problem_of(h), data, i) + 1);
}

/* Layers of points are counted from 1; 0: it has none. */
static void find_layers(pairs_halo *h, int set) {
  int64_t *counts = layers_said(h, me(h), set);
  deal(&(dealt){.h = h, .set = set, .body = find_some, .count = own_points(h, set)});
  for (int64_t i = 0; i < own_points(h, set); ++i)
    if (h->layer[set][i] > 0) ++counts[h->layer[set][i] - 1];
}

/* The rank that finds the pairs of a molecule. */
static int finder_of(const pairs_halo *h, int64_t molecule) {
  const uint64_t mixed = (uint64_t)molecule * 0x9e3779b97f4a7c15u;
  return (int)((mixed >> 32) % (uint64_t)ranks_of(h));
}

static void count_members(pairs_halo *h, int set) {
  int64_t *counts = members_said(h, me(h), set);
  const int64_t *molecules = (const int64_t *)h->spread.own[PAIRS_A_MOLECULES + set].data;
  for (int64_t i = 0; i < own_points(h, set); ++i)
    if (molecules[i] >= 0) ++counts[finder_of(h, molecules[i])];
}

/* Tells all ranks, and hears of all. */
static rung_status say(pairs_halo *h, rung_status *own) {
  rung_meeting *m = h->spread.meeting;
  const bool members = finds_molecules(h);
  h->each = (int64_t)sets_of(h) * (h->slabs.layers + (members ? ranks_of(h) : 0));
  for (int s = 0; s < sets_of(h); ++s) {
    find_layers(h, s);
    if (members) count_members(h, s);
  }
  return rung_ranks_missing(
      m,
      rung_ranks_gather(m, h->spread.numbers, (size_t)h->each * sizeof *h->said, (char *)h->said,
                        NULL, false),
      own);
}

static rung_status cannot_be(const pairs_halo *h, int rank) {
  return rung_fail(h->spread.meeting->error, RUNG_RANKS_FAILED,
                   "rank %d says of its points what cannot be", rank);
}

/* What all have said, together. *all: every point has a layer. */
static rung_status add_up(pairs_halo *h, bool *all) {
  *all = true;
  for (int k = 0; k < ranks_of(h); ++k)
    for (int s = 0; s < sets_of(h); ++s) {
      const int64_t points = pairs_spread_points(&h->spread, s, k);
      int64_t layered = 0, members = 0;
      for (int l = 0; l < h->slabs.layers; ++l) {
        const int64_t count = layers_said(h, k, s)[l];
        if (count < 0 || count > points - layered) return cannot_be(h, k);
        layered += count;
        h->sums[s * h->slabs.layers + l] += count;
      }
      for (int r = 0; r < ranks_of(h) && finds_molecules(h); ++r) {
        const int64_t count = members_said(h, k, s)[r];
        if (count < 0 || count > points - members) return cannot_be(h, k);
        members += count;
      }
      *all = *all && layered == points;
    }
  return RUNG_OK;
}

/* ---- routes ------------------------------------------------------------------------------------
 */

/* Whether a layer's points go to a rank. Of one set the halo is of higher slabs alone. */
static bool goes_to(const pairs_halo *h, const pairs_route *route, int rank, int layer) {
  if (!route->halo) return layer >= h->begins[rank] && layer < h->begins[rank + 1];
  if (!problem_of(h)->cross && layer < h->begins[rank + 1]) return false;
  return pairs_slabs_reaches(&h->slabs, h->begins, rank, layer);
}

/* How many points of a route a rank gets. */
static int64_t arriving(const pairs_halo *h, const pairs_route *route, int rank) {
  int64_t points = 0;
  for (int l = 0; l < h->slabs.layers; ++l)
    if (goes_to(h, route, rank, l)) points += h->sums[route->set * h->slabs.layers + l];
  return points;
}

/* Every rank's slab; false: it is better that all points go to all ranks. */
static bool share(pairs_halo *h) {
  const double all = (double)(all_points(h, 0) + (sets_of(h) == 2 ? all_points(h, 1) : 0));
  const int64_t *b = sets_of(h) == 2 ? h->sums + h->slabs.layers : NULL;
  h->routes[0] = (pairs_route){.set = 0};
  h->routes[1] = (pairs_route){.set = sets_of(h) - 1, .halo = true};
  const double work = pairs_slabs_share(&h->slabs, h->sums, b, ranks_of(h), h->begins);
  for (int k = 0; k < ranks_of(h); ++k) {
    const int64_t points = arriving(h, &h->routes[0], k) + arriving(h, &h->routes[1], k);
    if ((double)points > MOST_POINTS * all) return false;
  }
  return work <= MOST_WORK;
}

static void find_way(pairs_halo *h, pairs_route *route) {
  const int ranks = ranks_of(h);
  const int64_t *mine = layers_said(h, me(h), route->set);
  int64_t used = 0;
  for (int l = 0; l < h->slabs.layers; ++l)
    for (int r = 0; r < ranks; ++r) route->starts[l + 1] += goes_to(h, route, r, l);
  for (int l = 0; l < h->slabs.layers; ++l) route->starts[l + 1] += route->starts[l];
  route->to = ask(h, route->starts[h->slabs.layers], sizeof *route->to);
  for (int l = 0; l < h->slabs.layers && route->to != NULL; ++l)
    for (int r = 0; r < ranks; ++r) {
      if (!goes_to(h, route, r, l)) continue;
      route->to[used++] = r;
      route->leaves[r + 1] += mine[l];
      for (int k = 0; k < ranks && r == me(h); ++k)
        route->arrives[k + 1] += layers_said(h, k, route->set)[l];
    }
  for (int r = 0; r < ranks; ++r) {
    route->leaves[r + 1] += route->leaves[r];
    route->arrives[r + 1] += route->arrives[r];
  }
}

/* Memory for all that leaves and arrives. */
static void make_ways(pairs_halo *h) {
  int64_t leaving = 0, members = 0;
  for (int k = 0; k < PAIRS_ROUTES; ++k) {
    pairs_route *route = &h->routes[k];
    route->starts = ask(h, h->slabs.layers + 1, sizeof *route->starts);
    route->leaves = ask(h, ranks_of(h) + 1, sizeof *route->leaves);
    route->arrives = ask(h, ranks_of(h) + 1, sizeof *route->arrives);
    if (h->short_of_memory) return;
    find_way(h, route);
    lay_out(h, route->set, route->arrives[ranks_of(h)], route->at);
    if (route->leaves[ranks_of(h)] > leaving) leaving = route->leaves[ranks_of(h)];
  }
  h->order = ask(h, leaving, sizeof *h->order);
  for (int s = 0; s < sets_of(h) && finds_molecules(h); ++s) {
    int64_t arriving_members = 0;
    for (int k = 0; k < ranks_of(h); ++k) arriving_members += members_said(h, k, s)[me(h)];
    h->members[s] = ask(h, arriving_members, sizeof *h->members[s]);
    if (arriving_members > members) members = arriving_members;
    if (own_points(h, s) > leaving) leaving = own_points(h, s);
  }
  if (finds_molecules(h)) h->spare = ask(h, members, sizeof *h->spare);
  h->leaving = ask(h, leaving, 3 * sizeof(double));
}

/* Of how space is cut, in which units sums are, and how points lie. */
static uint64_t hash(const pairs_halo *h) {
  const double space[] = {h->slabs.low, h->slabs.scale};
  const int64_t parts[] = {
      h->slabs.axis,
      h->slabs.layers,
      h->slabs.reach,
      problem_of(h)->exponent,
      (int64_t)rung_ranks_hash(space, sizeof space),
      (int64_t)rung_ranks_hash(h->said, (size_t)(ranks_of(h) * h->each) * sizeof *h->said)};
  return rung_ranks_hash(parts, sizeof parts);
}

/* A word: all must know the same. *goes: and have the memory. */
static rung_status compare(pairs_halo *h, rung_status own, bool *goes) {
  rung_meeting *m = h->spread.meeting;
  const rung_status status =
      rung_ranks_meet_ready(m, own, (int64_t)(hash(h) >> 4), *goes && !h->short_of_memory);
  for (int k = 0; k < m->ranks.count && status == RUNG_OK; ++k)
    if (m->words[k].number != m->words[0].number)
      return rung_fail(m->error, RUNG_RANKS_FAILED,
                       "rank %d has heard other things of all points than rank 0", k);
  *goes = rung_ranks_ready(m);
  return status;
}

/* ---- moving ------------------------------------------------------------------------------------
 */

/* Puts elements into the order of their ranks; of so many bytes, a constant. */
static inline void pick(const dealt *d, int64_t first, int64_t end, size_t bytes) {
  for (int64_t k = first; k < end; ++k)
    memcpy(d->h->leaving + bytes * (size_t)k, d->from + bytes * d->h->order[k], bytes);
}

static void pick_some(const dealt *d, int64_t first, int64_t end) {
  if (d->bytes == 3 * sizeof(double))
    pick(d, first, end, 3 * sizeof(double));
  else if (d->bytes == 3 * sizeof(float))
    pick(d, first, end, 3 * sizeof(float));
  else
    pick(d, first, end, sizeof(double));
}

/* `leaving` to all ranks, and what they have of the kind to `to`, by where each one's begins. */
static rung_status move(pairs_halo *h, const int64_t *leaves, const int64_t *arrives, size_t bytes,
                        char *to, rung_status *own) {
  rung_meeting *m = h->spread.meeting;
  int sends = 0, receives = 0;
  for (int r = 0; r < ranks_of(h); ++r) {
    const size_t count = (size_t)(leaves[r + 1] - leaves[r]) * bytes;
    char *from = h->leaving + (size_t)leaves[r] * bytes;
    if (count == 0) continue;
    if (r == me(h))
      memcpy(to + (size_t)arrives[r] * bytes, from, count);
    else
      m->parcels[sends++] = (rung_parcel){r, from, count, 0};
  }
  for (int r = 0; r < ranks_of(h); ++r) {
    const size_t count = (size_t)(arrives[r + 1] - arrives[r]) * bytes;
    if (count > 0 && r != me(h))
      m->parcels[sends + receives++] = (rung_parcel){r, to + (size_t)arrives[r] * bytes, count, 0};
  }
  return rung_ranks_missing(m, rung_ranks_move(m, sends, receives, false), own);
}

static rung_status send(pairs_halo *h, pairs_route *route, rung_status *own) {
  const int64_t leaving = route->leaves[ranks_of(h)];
  rung_status status = RUNG_OK;
  const uint16_t *layer = h->layer[route->set];
  memcpy(h->cursor, route->leaves, (size_t)ranks_of(h) * sizeof *h->cursor);
  for (int64_t i = 0; i < own_points(h, route->set); ++i)
    for (int64_t k = route->starts[layer[i] - 1]; k < route->starts[layer[i]]; ++k)
      h->order[h->cursor[route->to[k]]++] = (uint32_t)i;
  for (int a = PAIRS_A + route->set; a < PAIRS_THRESHOLDS && status == RUNG_OK; a += 2) {
    if (!pairs_is_given(h->spread.call, a)) continue;
    const rung_view *from = &h->spread.own[a];
    const size_t bytes = pairs_element_bytes(from);
    deal(&(dealt){.h = h, .body = pick_some, .count = leaving, .from = from->data, .bytes = bytes});
    status = move(h, route->leaves, route->arrives, bytes, route->at[a].data, own);
  }
  return status;
}

/* ---- molecules ---------------------------------------------------------------------------------
 */

static rung_status send_members(pairs_halo *h, int set, rung_status *own) {
  int64_t *leaves = h->routes[0].leaves, *arrives = h->routes[0].arrives; /* used no more */
  const int64_t *molecules = (const int64_t *)h->spread.own[PAIRS_A_MOLECULES + set].data;
  leaves[0] = arrives[0] = 0;
  for (int r = 0; r < ranks_of(h); ++r) {
    leaves[r + 1] = leaves[r] + members_said(h, me(h), set)[r];
    arrives[r + 1] = arrives[r] + members_said(h, r, set)[me(h)];
  }
  memcpy(h->cursor, leaves, (size_t)ranks_of(h) * sizeof *h->cursor);
  for (int64_t i = 0; i < own_points(h, set); ++i)
    if (molecules[i] >= 0)
      ((int64_t *)h->leaving)[h->cursor[finder_of(h, molecules[i])]++] = molecules[i];
  return move(h, leaves, arrives, sizeof(int64_t), (char *)h->members[set], own);
}

/* A byte at a time from the last; bytes that all have in common are passed over. */
static int64_t *sorted(int64_t *numbers, int64_t *spare, int64_t count) {
  int64_t *from = numbers, *to = spare;
  for (int shift = 0; shift < 64; shift += 8) {
    int64_t at[257] = {0};
    for (int64_t k = 0; k < count; ++k) ++at[(from[k] >> shift & 255) + 1];
    if (count == 0 || at[(from[0] >> shift & 255) + 1] == count) continue;
    for (int d = 0; d < 256; ++d) at[d + 1] += at[d];
    for (int64_t k = 0; k < count; ++k) to[at[from[k] >> shift & 255]++] = from[k];
    int64_t *const done = to;
    to = from;
    from = done;
  }
  return from;
}

static int64_t run_of(const int64_t *numbers, int64_t first, int64_t count) {
  int64_t end = first;
  while (end < count && numbers[end] == numbers[first]) ++end;
  return end - first;
}

static int64_t members_of(const pairs_halo *h, int set) {
  int64_t count = 0;
  for (int k = 0; k < ranks_of(h); ++k) count += members_said(h, k, set)[me(h)];
  return count;
}

/* Pairs of one molecule, of those whose numbers have come here. */
static uint64_t excluded(pairs_halo *h) {
  const int64_t count[2] = {members_of(h, 0), problem_of(h)->cross ? members_of(h, 1) : 0};
  const int64_t *in[2] = {NULL, NULL};
  uint64_t pairs = 0;
  for (int s = 0; s < sets_of(h); ++s) {
    in[s] = sorted(h->members[s], h->spare, count[s]);
    if (in[s] == h->spare) in[s] = memcpy(h->members[s], in[s], (size_t)count[s] * sizeof *in[s]);
  }
  for (int64_t a = 0, b = 0, size; a < count[0]; a += size) {
    size = run_of(in[0], a, count[0]);
    if (!problem_of(h)->cross) {
      pairs += (uint64_t)size * (uint64_t)(size - 1) / 2;
      continue;
    }
    while (b < count[1] && in[1][b] < in[0][a]) ++b;
    if (b < count[1] && in[1][b] == in[0][a])
      pairs += (uint64_t)size * (uint64_t)run_of(in[1], b, count[1]);
  }
  return pairs;
}

/* Above all bins is what is neither in a bin nor below nor excluded: of all ranks together, modulo
 * 2^64. A finite distance is never NaN. */
static void set_above(const pairs_halo *h, void *state, uint64_t not_counted) {
  const pairs_problem *p = problem_of(h);
  rung_view results[PAIRS_ARRAYS] = {{0}};
  pairs_results_at(p, state, results);
  const uint64_t *counts = (const uint64_t *)results[PAIRS_COUNTS].data;
  uint64_t *outside = (uint64_t *)results[PAIRS_OUTSIDE].data;
  uint64_t above = (me(h) == 0 ? (uint64_t)pairs_all(p) : 0) - not_counted - outside[PAIRS_BELOW];
  for (int k = 0; k < p->bins; ++k) above -= counts[k];
  outside[PAIRS_ABOVE] = above;
}

/* ---- counting ----------------------------------------------------------------------------------
 */

/* Pairs within a's points that have come here, or (across) of these and the others. */
static rung_status count(pairs_halo *h, bool across) {
  pairs_problem part = *problem_of(h);
  rung_view arrays[PAIRS_ARRAYS];
  const pairs_route *own = &h->routes[0], *others = &h->routes[1];
  int64_t counts[2] = {own->arrives[ranks_of(h)], own->arrives[ranks_of(h)]};
  memcpy(arrays, own->at, sizeof arrays);
  arrays[PAIRS_THRESHOLDS] = h->spread.call->views[PAIRS_THRESHOLDS];
  if (across) counts[1] = others->arrives[ranks_of(h)];
  for (int a = PAIRS_B; a < PAIRS_THRESHOLDS && across; a += 2)
    arrays[a] = others->at[a - 1 + others->set];
  part.cross = across;
  if (part.box.space == PAIRS_OPEN) pairs_look(&part, &arrays[PAIRS_A], &arrays[PAIRS_B]);
  pairs_part_of(&part, arrays, (int64_t[]){0, 0}, counts, false);
  return h->spread.count(h->spread.of, &part, arrays);
}

static rung_status count_all(pairs_halo *h, void *state, rung_status *own) {
  rung_status status = RUNG_OK;
  for (int k = 0; k < PAIRS_ROUTES && status == RUNG_OK; ++k) status = send(h, &h->routes[k], own);
  if (status == RUNG_OK && *own == RUNG_OK && !problem_of(h)->cross) *own = count(h, false);
  if (status == RUNG_OK && *own == RUNG_OK) *own = count(h, true);
  for (int s = 0; s < sets_of(h) && finds_molecules(h) && status == RUNG_OK; ++s)
    status = send_members(h, s, own);
  if (status == RUNG_OK && *own == RUNG_OK)
    set_above(h, state, finds_molecules(h) ? excluded(h) : 0);
  return status;
}

rung_status pairs_halo_count(pairs_halo *h, void *state, rung_status *own, bool *counted) {
  rung_meeting *m = h->spread.meeting;
  double low[3], high[3];
  bool goes = true;
  *counted = false;
  if (*own == RUNG_OK) *own = begin(h);
  rung_status status = pairs_spread_agree(&h->spread, *own, h->short_of_memory, low, high);
  for (int k = 0; k < m->ranks.count && status == RUNG_OK; ++k) goes &= m->words[k].number == 0;
  if (status != RUNG_OK || !goes) return status;
  if (!pairs_slabs_of(problem_of(h), low, ranks_of(h), &h->slabs)) return RUNG_OK;
  status = say(h, own);
  if (status != RUNG_OK) return status;
  if (*own == RUNG_OK) *own = add_up(h, &goes);
  goes = goes && *own == RUNG_OK && share(h);
  if (goes) make_ways(h);
  status = compare(h, *own, &goes);
  if (status != RUNG_OK || !goes) return status;
  *counted = true;
  return count_all(h, state, own);
}
