/* A reduction in parts: results of tiles, which are the first level of the canonical order of sums
 * (core/sum.h), or of tiles of tiles, the second, and the levels above. Whatever has no order is
 * done the same way. */
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

/* Columns of a tile of tiles, of which a line has at most so many as a tile has elements. */
#define SUPER ((int64_t)RUNG_SUM_TILE * RUNG_SUM_TILE)
_Static_assert(REDUCE_MOST / SUPER <= RUNG_SUM_TILE, "there are two levels below the last");

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

/* Tiles of the one line (or the lines side by side) that is left, each a line of its own: tiles of
 * tiles, where the piece has nothing else. */
static void share_tiles(const rung_piece *piece, rung_share *share) {
  reduce_problem *p = (reduce_problem *)share->problem.bytes;
  rung_view *in = &share->arrays[REDUCE_IN], *out = &share->arrays[REDUCE_OUT];
  const int64_t first = piece->first[p->axis], count = piece->count[p->axis];
  const bool flat = p->whole && in->ndim > 1, across = p->form == REDUCE_ACROSS;
  const int dimension = across ? 1 : in->ndim - 1;
  const bool super = count > 0 && (p->origin + first) % SUPER == 0 && count % SUPER == 0;
  const int64_t unit = super ? SUPER : RUNG_SUM_TILE;
  const int64_t step = flat ? 1 : in->stride[dimension], near = across ? in->stride[2] : 1;
  p->what = of_tiles(p);
  p->result = result_of_tiles(p);
  p->columns = count < unit ? count : unit;
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

/* ---- the state ---------------------------------------------------------------------------------
 *
 * Results of (tiles, inner), that of a tile of tiles in its first one's place, and then for each
 * tile of tiles a byte: whether it is there. */

/* Lines side by side in a piece. */
static int64_t inner_of(const reduce_problem *p, const rung_piece *piece) {
  return p->form == REDUCE_ACROSS ? piece->count[1] : 1;
}

static size_t result_bytes(const reduce_problem *p) {
  return rung_dtype_bytes(result_of_tiles(p));
}

static size_t numbers_bytes(const reduce_problem *p, const rung_piece *piece) {
  return (size_t)(reduce_tiles(p->columns) * inner_of(p, piece)) * result_bytes(p);
}

static size_t state_bytes(const void *problem, const rung_piece *piece) {
  const reduce_problem *p = (const reduce_problem *)problem;
  return numbers_bytes(p, piece) + (size_t)reduce_tiles(reduce_tiles(p->columns));
}

/* Every tile has a number, but of no elements, which come to zero. */
static size_t state_zeros(const void *problem, const rung_piece *piece) {
  const reduce_problem *p = (const reduce_problem *)problem;
  return p->columns == 0 ? state_bytes(problem, piece)
                         : (size_t)reduce_tiles(reduce_tiles(p->columns));
}

static bool take(const void *problem, const rung_piece *piece, const rung_view *results,
                 void *state) {
  const reduce_problem *p = (const reduce_problem *)problem;
  const rung_view *from = &results[REDUCE_OUT];
  const size_t row = (size_t)inner_of(p, piece) * result_bytes(p), bytes = rung_view_bytes(from);
  const int64_t first = piece->first[p->axis], count = piece->count[p->axis];
  if (count > 0 && first % RUNG_SUM_TILE == 0 && bytes == (size_t)reduce_tiles(count) * row) {
    memcpy((char *)state + (size_t)(first / RUNG_SUM_TILE) * row, from->data, bytes);
    return true;
  }
  const int64_t rows = count / SUPER;
  if (first % SUPER != 0 || count % SUPER != 0 || bytes != (size_t)rows * row) return false;
  for (int64_t k = 0; k < rows; k++) {
    const int64_t super = first / SUPER + k;
    memcpy((char *)state + (size_t)(super * RUNG_SUM_TILE) * row, from->data + (size_t)k * row,
           row);
    ((unsigned char *)state)[reduce_tiles(p->columns) * (int64_t)row + super] = 1;
  }
  return true;
}

/* ---- what they come to -------------------------------------------------------------------------
 */

/* Steps 2 and 3 of core/sum.h: of the numbers of a tile, step apart. */
#define SUM_OF(type)                                                                        \
  static type sum_##type(const type *x, int64_t step, int64_t n) {                          \
    type lanes[RUNG_SUM_LANES];                                                             \
    for (int64_t l = 0; l < RUNG_SUM_LANES; l++) lanes[l] = l < n ? x[l * step] : -(type)0; \
    for (int64_t i = RUNG_SUM_LANES; i < n; i++) lanes[i % RUNG_SUM_LANES] += x[i * step];  \
    for (int s = RUNG_SUM_LANES / 2; s > 0; s /= 2)                                         \
      for (int l = 0; l < s; l++) lanes[l] += lanes[l + s];                                 \
    return lanes[0];                                                                        \
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

/* What n numbers of a tile, step apart, come to. One comes to itself. */
static void fold(const reduce_problem *p, const char *x, int64_t step, int64_t n, char *to) {
  if (n == 1) {
    memmove(to, x, result_bytes(p));
  } else if (p->what == RUNG_MIN || p->what == RUNG_MAX) {
    memmove(to, least_of(p, x, step, n), result_bytes(p));
  } else if (result_of_tiles(p) == RUNG_F32) {
    *(float *)to = sum_float((const float *)x, step, n);
  } else if (result_of_tiles(p) == RUNG_F64) {
    *(double *)to = sum_double((const double *)x, step, n);
  } else {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += ((const uint64_t *)x)[i * step];
    *(uint64_t *)to = sum;
  }
}

/* One line's result, from its numbers, step apart; level by level in their own place. */
static void put(const reduce_problem *p, char *x, int64_t step, const unsigned char *supers,
                char *out) {
  reduce_end end = reduce_end_of(p);
  const int64_t bytes = step * (int64_t)result_bytes(p), tiles = reduce_tiles(p->columns);
  const int64_t above = reduce_tiles(tiles);
  end.key.mask = 0; /* the parts' results have it off */
  for (int64_t k = 0; k < above; k++) {
    const int64_t left = tiles - k * RUNG_SUM_TILE;
    const int64_t n = supers[k] ? 1 : left < RUNG_SUM_TILE ? left : RUNG_SUM_TILE;
    fold(p, x + k * RUNG_SUM_TILE * bytes, step, n, x + k * bytes);
  }
  fold(p, x, step, above, x);
  if (p->what == RUNG_MIN || p->what == RUNG_MAX)
    memcpy(out, x, result_bytes(p));
  else
    reduce_finish_any(&end, result_of_tiles(p) == RUNG_I64 ? RUNG_U64 : result_of_tiles(p), x, out,
                      0);
}

static void finish(const void *problem, const rung_piece *piece, void *state,
                   const rung_view *outputs) {
  const reduce_problem *p = (const reduce_problem *)problem;
  const int64_t inner = inner_of(p, piece);
  const unsigned char *supers = (unsigned char *)state + numbers_bytes(p, piece);
  const rung_view *out = &outputs[REDUCE_OUT];
  for (int64_t i = 0; i < inner; i++)
    put(p, (char *)state + (size_t)i * result_bytes(p), inner, supers,
        out->data + (size_t)i * rung_dtype_bytes(out->dtype));
}

const rung_cut reduce_parts = {.share = share_piece,
                               .state_bytes = state_bytes,
                               .state_zeros = state_zeros,
                               .take = take,
                               .finish = finish};
