/* A scan of a long line in ranges of SCAN_TILE * SCAN_FAMILY^k elements, in two passes. The first
 * only reads, and finds every range's aggregate of level k. From these follows what stands for
 * E(top) ... E(k) in all tiles of a range (scan.h); E(k - 1) ... E(0) are found within the range,
 * in the second pass. Ranges of one level that lie side by side are one part. */
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

/* A tile: where a range begins with it, the range's tiles and its aggregate, and after finish()
 * what comes before it. Meanwhile other numbers. */
typedef struct scan_node {
  number number;
  int64_t tiles; /* 0: no range begins here, or the last one, which has no aggregate */
} scan_node;

/* What the parts leave, which may be of different levels. */
typedef struct scan_state {
  int64_t end; /* tiles up to the end of the last range that has an aggregate */
  scan_node nodes[];
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

/* The last of K of m numbers; m is 1 ... SCAN_FAMILY. */
static number last_of(scan_operator op, const number *numbers, int m) {
  number t[SCAN_FAMILY];
  for (int i = 0; i < m; i++) t[i] = numbers[i];
  for (int s = 1; s < m; s *= 2)
    for (int i = m - 1; i >= s; i--) t[i] = combine(op, t[i - s], t[i]);
  return t[m - 1];
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* How long the ranges of a part are: the longest that it is some of, side by side. */
static int64_t range_of(int64_t first, int64_t count) {
  int64_t range = SCAN_TILE;
  while (first % (range * SCAN_FAMILY) == 0 && count % (range * SCAN_FAMILY) == 0)
    range *= SCAN_FAMILY;
  return range;
}

/* And as they have been; of what has no aggregate it is one. */
static int64_t range_again(const scan_state *parts, int64_t first, int64_t count) {
  const int64_t range = parts->nodes[first / SCAN_TILE].tiles * SCAN_TILE;
  return range > 0 && count % range == 0 ? range : count;
}

/* The one line that a part is of, as its ranges. */
static void reshape_ranges(rung_view *view, int columns, int64_t range) {
  const int64_t ranges = view->shape[columns] / range, step = view->stride[columns];
  rung_view_reshape(view, 2, (int64_t[]){ranges, range}, (int64_t[]){range * step, step});
}

/* RUNG_PARTS: each range's aggregate. */
static void ask_for_aggregates(scan_problem *p, int64_t range, rung_share *share) {
  const int64_t shape[2] = {p->lines, 1};
  p->aggregates = true;
  p->columns = range;
  share->arrays[SCAN_OUT] =
      rung_view_compact(NULL, scan_number_bytes(p) == 8 ? RUNG_U64 : RUNG_U32, 2, shape);
}

/* RUNG_AGAIN: what comes before each. */
static void set_before(scan_problem *p, int64_t at, int64_t range, const scan_state *parts) {
  p->range = true;
  p->begins = at == 0;
  p->columns = range;
  p->before = parts != NULL ? (const char *)&parts->nodes[at / SCAN_TILE].number : NULL;
  p->before_step = range / SCAN_TILE * (int64_t)sizeof(scan_node);
}

static bool share_piece(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(scan_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  scan_problem *p = (scan_problem *)share->problem.bytes;
  const scan_state *parts = (const scan_state *)state;
  const int64_t first = piece->first[p->axis], count = piece->count[p->axis];
  const bool aggregates = piece->stage == RUNG_PARTS;
  const int64_t at = p->origin + first; /* in the line */
  const int columns = scan_dimension_of(p, p->axis);
  int64_t range = count;
  if (aggregates && at + count >= p->columns) return false; /* nothing comes after it */
  if (aggregates) range = range_of(at, count);
  if (parts != NULL) range = range_again(parts, at, count);
  for (int a = SCAN_IN; a <= SCAN_OUT; a++) {
    rung_view *view = &share->arrays[a];
    for (int k = 0; k < p->axis; k++)
      rung_view_narrow(view, scan_dimension_of(p, k), piece->first[k], piece->count[k]);
    if (piece->stage == RUNG_WHOLE) continue;
    rung_view_narrow(view, columns, first, count);
    reshape_ranges(view, columns, range);
  }
  const rung_view *in = &share->arrays[SCAN_IN];
  p->across &= piece->stage == RUNG_WHOLE;
  p->inner = p->across ? in->shape[2] : 1;
  p->lines = in->count / in->shape[p->across ? columns : in->ndim - 1];
  if (aggregates)
    ask_for_aggregates(p, range, share);
  else if (piece->stage == RUNG_AGAIN)
    set_before(p, at, range, parts);
  return true;
}

static size_t state_bytes(const void *problem, const rung_piece *piece) {
  (void)piece;
  return sizeof(scan_state) +
         (size_t)scan_tiles(((const scan_problem *)problem)->columns) * sizeof(scan_node);
}

static bool take(const void *problem, const rung_piece *piece, const rung_view *results,
                 void *state) {
  const scan_problem *p = (const scan_problem *)problem;
  scan_state *parts = (scan_state *)state;
  const int64_t first = piece->first[p->axis], count = piece->count[p->axis];
  const size_t bytes = (size_t)scan_number_bytes(p);
  if (first % SCAN_TILE != 0 || count % SCAN_TILE != 0 || count == 0) return false;
  const int64_t range = range_of(first, count), tiles = range / SCAN_TILE;
  if (rung_view_bytes(&results[SCAN_OUT]) != (size_t)(count / range) * bytes) return false;
  for (int64_t i = 0; i < count / range; i++) {
    scan_node *node = &parts->nodes[first / SCAN_TILE + i * tiles];
    *node = (scan_node){.tiles = tiles};
    memcpy(&node->number, results[SCAN_OUT].data + (size_t)i * bytes, bytes);
  }
  if ((first + count) / SCAN_TILE > parts->end) parts->end = (first + count) / SCAN_TILE;
  return true;
}

/* ---- the hierarchy -----------------------------------------------------------------------------
 *
 * Below, `span` tiles from `first` on are an ancestor: SCAN_FAMILY^k of them, or what is left of
 * the line. */

typedef struct hierarchy {
  scan_operator op;
  int64_t tiles; /* of the line */
  scan_state *parts;
} hierarchy;

/* Whether nothing below it is of interest: it is a range, or has no aggregate and no range after
 * it.
 */
static bool is_range(const hierarchy *h, int64_t first, int64_t span) {
  return h->parts->nodes[first].tiles == span || first >= h->parts->end || span == 1;
}

static int children_of(const hierarchy *h, int64_t first, int64_t span) {
  const int64_t step = span / SCAN_FAMILY, left = (h->tiles - first + step - 1) / step;
  return left < SCAN_FAMILY ? (int)left : SCAN_FAMILY;
}

/* Its aggregate; leaves E in the place of each of its descendants but a family's first. */
static number gather(const hierarchy *h, int64_t first, int64_t span) {
  scan_node *nodes = h->parts->nodes;
  if (is_range(h, first, span)) return nodes[first].number;
  const int64_t step = span / SCAN_FAMILY;
  const int m = children_of(h, first, span);
  number family[SCAN_FAMILY];
  for (int i = 0; i < m; i++) family[i] = gather(h, first + i * step, step);
  for (int i = 1; i < m; i++) nodes[first + i * step].number = last_of(h->op, family, i);
  return last_of(h->op, family, m);
}

/* What comes before an ancestor comes before all of its family. */
static void spread(const hierarchy *h, int64_t first, int64_t span, number before) {
  scan_node *nodes = h->parts->nodes;
  if (is_range(h, first, span)) {
    nodes[first].number = before;
    return;
  }
  const int64_t step = span / SCAN_FAMILY;
  for (int i = children_of(h, first, span) - 1; i > 0; i--) {
    const int64_t child = first + i * step;
    spread(h, child, step, combine(h->op, before, nodes[child].number));
  }
  spread(h, first, step, before);
}

static void finish(const void *problem, const rung_piece *piece, void *state,
                   const rung_view *outputs) {
  const scan_problem *p = (const scan_problem *)problem;
  const hierarchy h = {scan_operator_of(p), scan_tiles(p->columns), (scan_state *)state};
  int64_t span = 1;
  (void)piece;
  (void)outputs;
  while (span < h.tiles) span *= SCAN_FAMILY;
  if (h.tiles == 0) return;
  gather(&h, 0, span);
  spread(&h, 0, span, identity_of(h.op));
}

const rung_cut scan_parts = {.share = share_piece,
                             .state_bytes = state_bytes,
                             .take = take,
                             .finish = finish,
                             .again = true};
