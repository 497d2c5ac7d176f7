/* A reduction in parts: results of tiles, which are the first level of the canonical order of sums
 * (core/sum.h), and the levels above. Whatever has no order is done the same way. */
#include <string.h>

#include "core/dimensions.h"
#include "core/plan.h"
#include "ops/reduce/finish.h"

static rung_reduction of_tiles(const reduce_problem *p) {
  return p->what == RUNG_MEAN ? RUNG_SUM : p->what;
}

/* Sums are not rounded before the last of them. */
static rung_dtype result_of_tiles(const reduce_problem *p) {
  return reduce_types_of(p->what, p->dtype).accumulate;
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* Lines of the piece, of all their columns. */
static void share_lines(const rung_piece *piece, rung_share *share) {
  reduce_problem *p = (reduce_problem *)share->problem.bytes;
  rung_view *in = &share->arrays[REDUCE_IN], *out = &share->arrays[REDUCE_OUT];
  for (int d = 0; d < p->axis; d++) {
    rung_view_narrow(in, p->form == REDUCE_ACROSS && d == 1 ? 2 : d, piece->first[d],
                     piece->count[d]);
    rung_view_narrow(out, d, piece->first[d], piece->count[d]);
  }
  if (p->form == REDUCE_ACROSS) p->inner = piece->count[1];
  p->outer = out->count / p->inner;
}

/* Tiles of the one line (or the lines side by side) that is left, each a line of its own. */
static void share_tiles(const rung_piece *piece, rung_share *share) {
  reduce_problem *p = (reduce_problem *)share->problem.bytes;
  rung_view *in = &share->arrays[REDUCE_IN], *out = &share->arrays[REDUCE_OUT];
  const int64_t first = piece->first[p->axis], count = piece->count[p->axis];
  const bool flat = p->whole && in->ndim > 1, across = p->form == REDUCE_ACROSS;
  const int dimension = across ? 1 : in->ndim - 1;
  const int64_t step = flat ? 1 : in->stride[dimension], near = across ? in->stride[2] : 1;
  p->what = of_tiles(p);
  p->result = result_of_tiles(p);
  p->columns = count < RUNG_SUM_TILE ? count : RUNG_SUM_TILE;
  p->outer = count / p->columns;
  if (flat)
    share->flat[REDUCE_IN] = first;
  else
    rung_view_narrow(in, dimension, first, count);
  in->count = count * p->inner;
  rung_view_reshape(in, across ? 3 : 2, (int64_t[]){p->outer, p->columns, p->inner},
                    (int64_t[]){p->columns * step, step, near});
  *out = rung_view_compact(NULL, p->result, across ? 2 : 1, (int64_t[]){p->outer, p->inner});
}

static bool share_piece(const rung_piece *piece, const void *state, rung_share *share) {
  _Static_assert(sizeof(reduce_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a share");
  (void)state;
  share_lines(piece, share);
  if (piece->stage == RUNG_PARTS) share_tiles(piece, share);
  return true;
}

/* ---- the state: results of (tiles, inner) ------------------------------------------------------
 */

/* Lines side by side in a piece. */
static int64_t inner_of(const reduce_problem *p, const rung_piece *piece) {
  return p->form == REDUCE_ACROSS ? piece->count[1] : 1;
}

static size_t result_bytes(const reduce_problem *p) {
  return rung_dtype_bytes(result_of_tiles(p));
}

static size_t state_bytes(const void *problem, const rung_piece *piece) {
  const reduce_problem *p = (const reduce_problem *)problem;
  return (size_t)(reduce_tiles(p->columns) * inner_of(p, piece)) * result_bytes(p);
}

static void take(const void *problem, const rung_piece *piece, const rung_view *results,
                 void *state) {
  const reduce_problem *p = (const reduce_problem *)problem;
  const int64_t at = piece->first[p->axis] / RUNG_SUM_TILE * inner_of(p, piece);
  memcpy((char *)state + (size_t)at * result_bytes(p), results[REDUCE_OUT].data,
         rung_view_bytes(&results[REDUCE_OUT]));
}

/* ---- what they come to -------------------------------------------------------------------------
 */

/* Steps 1 to 4 of core/sum.h: of n numbers, step apart, level by level in their own place. */
#define SUM_OF(type)                                                                         \
  static void sum_tile_##type(const type *x, int64_t step, int64_t n, type *sum) {           \
    type lanes[RUNG_SUM_LANES];                                                              \
    for (int64_t l = 0; l < RUNG_SUM_LANES; l++) lanes[l] = l < n ? x[l * step] : -(type)0;  \
    for (int64_t i = RUNG_SUM_LANES; i < n; i++) lanes[i % RUNG_SUM_LANES] += x[i * step];   \
    for (int s = RUNG_SUM_LANES / 2; s > 0; s /= 2)                                          \
      for (int l = 0; l < s; l++) lanes[l] += lanes[l + s];                                  \
    *sum = lanes[0];                                                                         \
  }                                                                                          \
  static type sum_##type(type *x, int64_t step, int64_t n) {                                 \
    while (n > 1) {                                                                          \
      const int64_t tiles = reduce_tiles(n);                                                 \
      for (int64_t t = 0; t < tiles; t++) {                                                  \
        const int64_t first = t * RUNG_SUM_TILE, left = n - first;                           \
        sum_tile_##type(x + first * step, step, left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE, \
                        x + t * step);                                                       \
      }                                                                                      \
      n = tiles;                                                                             \
    }                                                                                        \
    return x[0];                                                                             \
  }
SUM_OF(float)
SUM_OF(double)
#undef SUM_OF

static int64_t key_of(reduce_operator op, const rung_key_code *key, const char *element) {
  switch (op) {
    case REDUCE_LEAST_8:
      return *(const int8_t *)element ^ key->mask;
    case REDUCE_LEAST_16:
      return rung_key_16(*(const int16_t *)element, key);
    case REDUCE_LEAST_32:
      return *(const int32_t *)element ^ (int32_t)key->mask;
    case REDUCE_LEAST_F32:
      return rung_key_f32(*(const reduce_bits_32 *)element, (int32_t)key->mask);
    case REDUCE_LEAST_F64:
      return rung_key_f64(*(const reduce_bits_64 *)element, key->mask);
    default:
      return *(const int64_t *)element ^ key->mask;
  }
}

/* The element with the least key is the number sought. */
static const char *least_of(const reduce_problem *p, const char *x, int64_t step, int64_t n) {
  const reduce_operator op = reduce_operator_of(p);
  const rung_key_code key = reduce_key_of(p);
  const int64_t bytes = step * (int64_t)rung_dtype_bytes(p->dtype);
  const char *least = x;
  int64_t least_key = key_of(op, &key, x);
  for (int64_t i = 1; i < n; i++) {
    const int64_t other = key_of(op, &key, x + i * bytes);
    if (other >= least_key) continue;
    least_key = other;
    least = x + i * bytes;
  }
  return least;
}

/* One result, from n numbers of the state. */
static void put(const reduce_problem *p, char *x, int64_t step, int64_t n, char *out) {
  reduce_end end = reduce_end_of(p);
  end.key.mask = 0; /* the parts' results have it off */
  if (p->what == RUNG_MIN || p->what == RUNG_MAX) {
    memcpy(out, least_of(p, x, step, n), rung_dtype_bytes(p->dtype));
  } else if (result_of_tiles(p) == RUNG_F32) {
    reduce_finish_f32(&end, sum_float((float *)x, step, n), out, 0);
  } else if (result_of_tiles(p) == RUNG_F64) {
    reduce_finish_f64(&end, sum_double((double *)x, step, n), out, 0);
  } else {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += ((const uint64_t *)x)[i * step];
    reduce_finish_u64(&end, sum, out, 0);
  }
}

static void finish(const void *problem, const rung_piece *piece, void *state,
                   const rung_view *outputs) {
  const reduce_problem *p = (const reduce_problem *)problem;
  const int64_t inner = inner_of(p, piece);
  const rung_view *out = &outputs[REDUCE_OUT];
  for (int64_t i = 0; i < inner; i++)
    put(p, (char *)state + (size_t)i * result_bytes(p), inner, reduce_tiles(p->columns),
        out->data + (size_t)i * rung_dtype_bytes(out->dtype));
}

const rung_cut reduce_parts = {
    .share = share_piece, .state_bytes = state_bytes, .take = take, .finish = finish};
