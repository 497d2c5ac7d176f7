/* Pairs in parts: the sets are cut into blocks, and every two blocks are a job of their own, within
 * one block or across two. Counts and sums, which are integers, add up. */
#include <string.h>

#include "ops/pairs/call.h"
#include "ops/pairs/sums.h"

static void narrow_set(rung_view *arrays, int which, int64_t first, int64_t count) {
  rung_view_narrow(&arrays[PAIRS_A + which], 0, first, count);
  rung_view_narrow(&arrays[PAIRS_A_WEIGHTS + which], 0, first, count);
  rung_view_narrow(&arrays[PAIRS_A_MOLECULES + which], 0, first, count);
}

void pairs_part_of(pairs_problem *p, rung_view *arrays, const int64_t first[2],
                   const int64_t count[2], bool apart) {
  if (apart) {
    arrays[PAIRS_B] = arrays[PAIRS_A];
    arrays[PAIRS_B_WEIGHTS] = arrays[PAIRS_A_WEIGHTS];
    arrays[PAIRS_B_MOLECULES] = arrays[PAIRS_A_MOLECULES];
    p->cross = true;
  }
  narrow_set(arrays, 0, first[0], count[0]);
  narrow_set(arrays, 1, first[1], count[1]);
  p->n = count[0];
  p->m = p->cross ? count[1] : 0;
  p->part = true;
  arrays[PAIRS_COUNTS] = rung_view_compact(NULL, RUNG_U64, 1, (int64_t[]){p->bins});
  arrays[PAIRS_OUTSIDE] = rung_view_compact(NULL, RUNG_U64, 1, (int64_t[]){PAIRS_OUTER});
  if (p->weighted)
    arrays[PAIRS_SUMS] = rung_view_compact(NULL, RUNG_I64, 2, (int64_t[]){p->bins, 2});
}

static bool share_blocks(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(pairs_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  pairs_problem *p = (pairs_problem *)share->problem.bytes;
  const bool apart = !p->cross && piece->first[1] > piece->first[0];
  (void)state;
  if (piece->stage != RUNG_PARTS) return true; /* no axis that could be cut apart from these */
  if (!p->cross && piece->first[1] < piece->first[0]) return false;
  pairs_part_of(p, share->arrays, piece->first, piece->count, apart);
  return true;
}

/* ---- the state: sums, if there are any, counts, outside ----------------------------------------
 */

static size_t sums_bytes(const pairs_problem *p) {
  return p->weighted ? (size_t)p->bins * sizeof(pairs_sum) : 0;
}

static size_t state_bytes(const void *problem, const rung_piece *piece) {
  const pairs_problem *p = (const pairs_problem *)problem;
  (void)piece;
  return sums_bytes(p) + (size_t)(p->bins + PAIRS_OUTER) * sizeof(uint64_t);
}

static uint64_t *slots_of(const pairs_problem *p, void *state) {
  return (uint64_t *)((char *)state + sums_bytes(p));
}

void pairs_results_at(const pairs_problem *p, void *state, rung_view *arrays) {
  uint64_t *slots = slots_of(p, state);
  arrays[PAIRS_COUNTS].data = (char *)slots;
  arrays[PAIRS_OUTSIDE].data = (char *)(slots + p->bins);
  if (p->weighted) arrays[PAIRS_SUMS].data = (char *)state;
}

static bool take(const void *problem, const rung_piece *piece, const rung_view *results,
                 void *state) {
  const pairs_problem *p = (const pairs_problem *)problem;
  uint64_t *slots = slots_of(p, state);
  (void)piece;
  for (int k = 0; k < p->bins; ++k) {
    slots[k] += ((const uint64_t *)results[PAIRS_COUNTS].data)[k];
    if (p->weighted)
      pairs_sum_add((pairs_sum *)state + k, ((const pairs_sum *)results[PAIRS_SUMS].data)[k]);
  }
  for (int k = 0; k < PAIRS_OUTER; ++k)
    slots[p->bins + k] += ((const uint64_t *)results[PAIRS_OUTSIDE].data)[k];
  return true;
}

static void finish(const void *problem, const rung_piece *piece, void *state,
                   const rung_view *outputs) {
  const pairs_problem *p = (const pairs_problem *)problem;
  const uint64_t *slots = slots_of(p, state);
  const pairs_sum *sums = (const pairs_sum *)state;
  (void)piece;
  memcpy(outputs[PAIRS_COUNTS].data, slots, (size_t)p->bins * sizeof *slots);
  if (outputs[PAIRS_OUTSIDE].count > 0)
    memcpy(outputs[PAIRS_OUTSIDE].data, slots + p->bins, PAIRS_OUTER * sizeof *slots);
  for (int k = 0; k < p->bins && p->weighted; ++k)
    pairs_put_sum(p, sums[k], p->exponent, outputs[PAIRS_SUMS].data, k);
}

const rung_cut pairs_parts = {
    .share = share_blocks, .state_bytes = state_bytes, .take = take, .finish = finish};

/* ---- one exponent for all parts ----------------------------------------------------------------
 */

double pairs_largest(const rung_view *weights) {
  uint64_t most = 0;
  for (int64_t i = 0; i < weights->count; ++i) {
    const uint64_t bits = pairs_magnitude(((const double *)weights->data)[i * weights->stride[0]]);
    if (bits > most) most = bits;
  }
  return pairs_of_magnitude(most);
}

bool pairs_may_cut(pairs_problem *problem, const rung_view *arrays) {
  if (!problem->weighted) return true;
  if (arrays[PAIRS_A_WEIGHTS].place != RUNG_HOST) return false;
  const double a = pairs_largest(&arrays[PAIRS_A_WEIGHTS]);
  problem->exponent =
      pairs_exponent(a, problem->cross ? pairs_largest(&arrays[PAIRS_B_WEIGHTS]) : a);
  return true;
}
