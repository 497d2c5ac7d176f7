/* A scan of a long line in ranges of SCAN_TILE * SCAN_FAMILY^k elements, in two passes. The first
 * finds every range's aggregate of level k: it is what comes before the element after the range,
 * were the range all there is, and so an exclusive scan's result there. From these follows what
 * stands for E(top) ... E(k) in all tiles of a range (scan.h); E(k - 1) ... E(0) are found within
 * the range, in the second pass. */
#include <string.h>

#include "core/dimensions.h"
#include "core/plan.h"
#include "ops/scan/scan.h"

/* A number of any operator, in the first bytes. */
typedef union number {
  uint64_t bits;
  float f32;
  double f64;
  uint32_t u32;
  int32_t i32;
  int64_t i64;
} number;

/* What the parts leave: aggregates by the number of the range's first tile, and after finish()
 * what comes before the range in the same place. */
typedef struct scan_state {
  int64_t tiles; /* of a range */
  number ranges[];
} scan_state;

/* ---- numbers -----------------------------------------------------------------------------------
 */

static number identity_of(scan_operator op) {
  number none = {0};
  if (op == SCAN_ADD_F32) none.f32 = -0.0f;
  if (op == SCAN_ADD_F64) none.f64 = -0.0;
  if (op == SCAN_LEAST_32 || op == SCAN_LEAST_16 || op == SCAN_LEAST_8) none.i32 = INT32_MAX;
  if (op == SCAN_LEAST_F32) none.i32 = RUNG_KEY_MOST_F32;
  if (op == SCAN_LEAST_64) none.i64 = INT64_MAX;
  if (op == SCAN_LEAST_F64) none.i64 = RUNG_KEY_MOST_F64;
  return none;
}

static number combine(scan_operator op, number a, number b) {
  switch (op) {
    case SCAN_ADD_F32:
      a.f32 += b.f32;
      break;
    case SCAN_ADD_F64:
      a.f64 += b.f64;
      break;
    case SCAN_ADD_8:
    case SCAN_ADD_16:
    case SCAN_ADD_32:
      a.u32 += b.u32;
      break;
    case SCAN_ADD_64:
      a.bits += b.bits;
      break;
    case SCAN_LEAST_8:
    case SCAN_LEAST_16:
    case SCAN_LEAST_32:
    case SCAN_LEAST_F32:
      if (b.i32 < a.i32) a.i32 = b.i32;
      break;
    default:
      if (b.i64 < a.i64) a.i64 = b.i64;
      break;
  }
  return a;
}

/* An element as a number. */
static number number_of(const scan_problem *p, const void *element) {
  const scan_operator op = scan_operator_of(p);
  const rung_key_code key = scan_key_of(p);
  const int64_t mask = key.mask;
  number n = {0};
  memcpy(&n, element, rung_dtype_bytes(p->dtype));
  if (op == SCAN_LEAST_8) n.i32 = rung_key_16((int8_t)n.i32, &key);
  if (op == SCAN_LEAST_16) n.i32 = rung_key_16((int16_t)n.i32, &key);
  if (op == SCAN_LEAST_32) n.i32 ^= (int32_t)mask;
  if (op == SCAN_LEAST_F32) n.i32 = rung_key_f32(n.i32, (int32_t)mask);
  if (op == SCAN_LEAST_64) n.i64 ^= mask;
  if (op == SCAN_LEAST_F64) n.i64 = rung_key_f64(n.i64, mask);
  return n;
}

/* The last of K of m numbers, step apart; m is 1 ... SCAN_FAMILY. */
static number last_of(scan_operator op, const number *numbers, int64_t step, int m) {
  number t[SCAN_FAMILY];
  for (int i = 0; i < m; i++) t[i] = numbers[i * step];
  for (int s = 1; s < m; s *= 2)
    for (int i = m - 1; i >= s; i--) t[i] = combine(op, t[i - s], t[i]);
  return t[m - 1];
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

static bool share_piece(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(scan_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  scan_problem *p = (scan_problem *)share->problem.bytes;
  const scan_state *parts = (const scan_state *)state;
  const int64_t first = piece->first[p->axis], count = piece->count[p->axis];
  const bool aggregate = piece->stage == RUNG_PARTS;
  if (aggregate && first + count >= p->columns) return false; /* nothing comes after it */
  const int columns = scan_dimension_of(p, p->axis);
  for (int a = SCAN_IN; a <= SCAN_OUT; a++) {
    rung_view *view = &share->arrays[a];
    for (int k = 0; k < p->axis; k++)
      rung_view_narrow(view, scan_dimension_of(p, k), piece->first[k], piece->count[k]);
    if (piece->stage != RUNG_WHOLE) rung_view_narrow(view, columns, first, count + aggregate);
    if (piece->stage != RUNG_WHOLE && p->across) /* the one line that is left of them */
      rung_view_reshape(view, 2, (int64_t[]){1, view->shape[columns]},
                        (int64_t[]){0, view->stride[columns]});
  }
  const rung_view *in = &share->arrays[SCAN_IN];
  p->across &= piece->stage == RUNG_WHOLE;
  p->inner = p->across ? in->shape[2] : 1;
  p->lines = in->count / in->shape[p->across ? columns : in->ndim - 1];
  if (piece->stage == RUNG_WHOLE) return true;
  p->columns = count + aggregate;
  if (aggregate) {
    p->exclusive = true;
    share->keep[SCAN_OUT] = 1;
    return true;
  }
  p->range = true;
  p->begins = first == 0;
  p->before = parts != NULL ? parts->ranges[first / SCAN_TILE].bits : 0;
  return true;
}

static size_t state_bytes(const void *problem, const rung_piece *piece) {
  (void)piece;
  return sizeof(scan_state) +
         (size_t)scan_tiles(((const scan_problem *)problem)->columns) * sizeof(number);
}

static void take(const void *problem, const rung_piece *piece, const rung_view *results,
                 void *state) {
  const scan_problem *p = (const scan_problem *)problem;
  scan_state *parts = (scan_state *)state;
  parts->tiles = piece->count[p->axis] / SCAN_TILE;
  parts->ranges[piece->first[p->axis] / SCAN_TILE] = number_of(p, results[SCAN_OUT].data);
}

static void finish(const void *problem, const rung_piece *piece, void *state,
                   const rung_view *outputs) {
  const scan_problem *p = (const scan_problem *)problem;
  const scan_operator op = scan_operator_of(p);
  scan_state *parts = (scan_state *)state;
  const int64_t tiles = scan_tiles(p->columns);
  int64_t top = parts->tiles;
  (void)piece;
  (void)outputs;
  /* Bottom up: E in each aggregate's place, and in that of a family's first the family's own. The
   * last range has none, and nothing after it needs one. */
  for (int64_t step = parts->tiles; step < tiles; step *= SCAN_FAMILY) {
    top = step;
    for (int64_t first = 0; first < tiles; first += step * SCAN_FAMILY) {
      const int64_t left = (tiles - first + step - 1) / step;
      const int m = left < SCAN_FAMILY ? (int)left : SCAN_FAMILY;
      const number all = last_of(op, &parts->ranges[first], step, m);
      for (int i = m - 1; i > 0; i--)
        parts->ranges[first + i * step] = last_of(op, &parts->ranges[first], step, i);
      parts->ranges[first] = all;
    }
  }
  /* Top down: what comes before an ancestor comes before all of its family. */
  parts->ranges[0] = identity_of(op);
  for (int64_t step = top; step >= parts->tiles; step /= SCAN_FAMILY)
    for (int64_t first = 0; first < tiles; first += step * SCAN_FAMILY)
      for (int i = 1; i < SCAN_FAMILY && first + i * step < tiles; i++)
        parts->ranges[first + i * step] =
            combine(op, parts->ranges[first], parts->ranges[first + i * step]);
}

const rung_cut scan_parts = {.share = share_piece,
                             .state_bytes = state_bytes,
                             .take = take,
                             .finish = finish,
                             .again = true};
