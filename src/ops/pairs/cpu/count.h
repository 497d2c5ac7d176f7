/* Pairs of two tiles. Squares of distances are the contract's, in lanes; of those between two
 * thresholds far from each other many can be counted by a comparison and an addition for each
 * threshold between, which is cheaper than to find the rank of each. */
#ifndef RUNG_PAIRS_CPU_COUNT_H
#define RUNG_PAIRS_CPU_COUNT_H

#include "ops/pairs/cpu/keep.h"

enum {
  PAIRS_SQUARES = PAIRS_TILE * PAIRS_TILE,
  PAIRS_FEW = 8, /* thresholds compared with at once */
  /* So many thresholds between the bounds are compared with; among more the rank of each square is
   * found. By measurement: a comparison takes about the 50th part of that in 8 lanes. */
  PAIRS_COMPARED = LANES_F64 == 8   ? 56
                   : LANES_F64 == 4 ? 44
                                    : 24
};

/* Adds 1 to the counters of lanes in which a square is below a threshold. */
LANES_INLINE lanes_i64 pairs_add_below(lanes_i64 count, lanes_f64 squares, lanes_f64 threshold) {
#if defined(__AVX512F__)
  const __mmask8 below = _mm512_cmp_pd_mask((__m512d)squares, (__m512d)threshold, _CMP_LT_OQ);
  return (lanes_i64)_mm512_mask_sub_epi64((__m512i)count, below, (__m512i)count,
                                          _mm512_set1_epi64(-1));
#else
  return count - (squares < threshold);
#endif
}

/* Of numbers, or of two NaN. */
LANES_INLINE lanes_f64 pairs_lesser(lanes_f64 a, lanes_f64 b) {
#if defined(__AVX512F__)
  return (lanes_f64)_mm512_min_pd((__m512d)a, (__m512d)b);
#else
  const lanes_i64 less = a < b;
  return (lanes_f64)(((lanes_i64)a & less) | ((lanes_i64)b & ~less));
#endif
}

LANES_INLINE lanes_i64 pairs_load_counter(const uint64_t *p) {
  lanes_i64 v;
  memcpy(&v, p, sizeof v);
  return v;
}

LANES_INLINE void pairs_store_counter(uint64_t *p, lanes_i64 v) {
  memcpy(p, &v, sizeof v);
}

/* LANES_F64 points of a tile, from point v on. */
typedef struct pairs_points_lanes {
  lanes_f64 x, y, z;
} pairs_points_lanes;

LANES_INLINE pairs_points_lanes pairs_load_points(const pairs_tile *tile, int v) {
  return (pairs_points_lanes){lanes_load_f64(tile->at[0] + v), lanes_load_f64(tile->at[1] + v),
                              lanes_load_f64(tile->at[2] + v)};
}

/* Squares of point i of a from points of b; `shift` NULL: none. */
LANES_INLINE lanes_f64 pairs_square_lanes(const pairs_tile *a, int i, pairs_points_lanes b,
                                          const double *shift) {
  lanes_f64 x = a->at[0][i] - b.x, y = a->at[1][i] - b.y, z = a->at[2][i] - b.z;
  if (shift != NULL) {
    x += shift[0];
    y += shift[1];
    z += shift[2];
  }
  return (x * x + y * y) + z * z;
}

/* ---- few thresholds ----------------------------------------------------------------------------
 */

LANES_INLINE void pairs_count_tiles(const pairs_tile *a, const pairs_tile *b, const double *shift,
                                    const double *thresholds, uint64_t (*below)[PAIRS_COUNTER],
                                    const int few) {
  lanes_f64 threshold[PAIRS_FEW];
  lanes_i64 count[PAIRS_FEW];
  for (int k = 0; k < few; ++k) {
    threshold[k] = lanes_all_f64(thresholds[k]);
    count[k] = pairs_load_counter(below[k]);
  }
  for (int v = 0; v < PAIRS_TILE; v += LANES_F64) {
    const pairs_points_lanes points = pairs_load_points(b, v);
    for (int i = 0; i < PAIRS_TILE; ++i) {
      const lanes_f64 squares = pairs_square_lanes(a, i, points, shift);
      for (int k = 0; k < few; ++k) count[k] = pairs_add_below(count[k], squares, threshold[k]);
    }
  }
  for (int k = 0; k < few; ++k) pairs_store_counter(below[k], count[k]);
}

LANES_INLINE void pairs_count_list(const double *squares, const double *thresholds,
                                   uint64_t (*below)[PAIRS_COUNTER], const int few) {
  lanes_f64 threshold[PAIRS_FEW];
  lanes_i64 count[PAIRS_FEW];
  for (int k = 0; k < few; ++k) {
    threshold[k] = lanes_all_f64(thresholds[k]);
    count[k] = pairs_load_counter(below[k]);
  }
  for (int at = 0; at < PAIRS_SQUARES; at += LANES_F64) {
    const lanes_f64 some = lanes_load_f64(squares + at);
    for (int k = 0; k < few; ++k) count[k] = pairs_add_below(count[k], some, threshold[k]);
  }
  for (int k = 0; k < few; ++k) pairs_store_counter(below[k], count[k]);
}

/* A constant number of thresholds keeps their counters in registers. */
#define PAIRS_BY_FEW(few, call) \
  switch (few) {                \
    case 1:                     \
      call(1);                  \
      break;                    \
    case 2:                     \
      call(2);                  \
      break;                    \
    case 3:                     \
      call(3);                  \
      break;                    \
    case 4:                     \
      call(4);                  \
      break;                    \
    case 5:                     \
      call(5);                  \
      break;                    \
    case 6:                     \
      call(6);                  \
      break;                    \
    case 7:                     \
      call(7);                  \
      break;                    \
    default:                    \
      call(8);                  \
      break;                    \
  }

/* All pairs of two tiles that are not the same, 1 ... PAIRS_FEW thresholds. */
static void pairs_count_open(const pairs_tile *a, const pairs_tile *b, const double *thresholds,
                             int few, uint64_t (*below)[PAIRS_COUNTER]) {
#define PAIRS_CALL(constant) pairs_count_tiles(a, b, NULL, thresholds, below, constant)
  PAIRS_BY_FEW(few, PAIRS_CALL)
#undef PAIRS_CALL
}

static void pairs_count_shifted(const pairs_tile *a, const pairs_tile *b, const double *shift,
                                const double *thresholds, int few,
                                uint64_t (*below)[PAIRS_COUNTER]) {
#define PAIRS_CALL(constant) pairs_count_tiles(a, b, shift, thresholds, below, constant)
  PAIRS_BY_FEW(few, PAIRS_CALL)
#undef PAIRS_CALL
}

/* PAIRS_SQUARES squares, any number of thresholds. */
static void pairs_count_squares(const double *squares, const double *thresholds, int count,
                                uint64_t (*below)[PAIRS_COUNTER]) {
  for (int done = 0; done < count; done += PAIRS_FEW) {
    const int few = count - done < PAIRS_FEW ? count - done : PAIRS_FEW;
#define PAIRS_CALL(constant) pairs_count_list(squares, thresholds + done, below + done, constant)
    PAIRS_BY_FEW(few, PAIRS_CALL)
#undef PAIRS_CALL
  }
}

/* ---- squares in memory -------------------------------------------------------------------------
 */

/* The squares of all pairs, by rows of a's points: the least over the shifts. NaN where there is no
 * point. Of a tile with itself only pairs i < j, NaN for the others. */
static void pairs_square_tiles(const pairs_tile *a, const pairs_tile *b, const double (*shifts)[3],
                               int count, double *squares) {
  for (int v = 0; v < PAIRS_TILE; v += LANES_F64) {
    const pairs_points_lanes points = pairs_load_points(b, v);
    for (int i = 0; i < PAIRS_TILE; ++i) {
      lanes_f64 least = pairs_square_lanes(a, i, points, shifts[0]);
      for (int s = 1; s < count; ++s) {
        const lanes_f64 other = pairs_square_lanes(a, i, points, shifts[s]);
        least = pairs_lesser(other, least);
      }
      lanes_store_f64(squares + i * PAIRS_TILE + v, least);
    }
  }
  if (a == b)
    for (int i = 0; i < PAIRS_TILE; ++i)
      for (int j = 0; j <= i; ++j) squares[i * PAIRS_TILE + j] = (double)NAN;
}

#endif
