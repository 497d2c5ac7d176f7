/* histogram: how many elements of each row fall into each bin.
 *
 * in       (rows, columns)   u8 | i8 | u16 | i16 | i32 | u32 | i64 | f16 | bf16 | f32 | f64: stride
 * 1 along a row, any from row to row; a single row may have any number of dimensions without gaps
 * arrays[HISTOGRAM_IN] edges    (bins + 1)        f64, rising, finite; given where the kind is
 * RUNG_BINS_EDGES, else of count 0                                      arrays[HISTOGRAM_EDGES]
 * counts   (rows, bins)      i64 or u64, stride 1 along a row             arrays[HISTOGRAM_COUNTS]
 * outside  (rows, 3)         i64 or u64: below, above, NaN; or of count 0: not asked for
 *                                                                         arrays[HISTOGRAM_OUTSIDE]
 * rows >= 1 where a rung is launched, 0 <= columns <= 2^40, 1 <= bins <= RUNG_MAX_BINS. Data are
 * aligned to their element, no more.
 *
 * The bin of an element x (X its value as a double; of an i64 the nearest one):
 *   modulo   x mod bins, in 0 ... bins - 1
 *   even     below where X < e_0, above where X > e_bins, else the largest k < bins with e_k <= X;
 *            e_k as in histogram_even_edge()
 *   edges    the same with e_k = edges[k]
 * A NaN is neither below nor above. Counts are exact: any order gives the same, and any arithmetic
 * that finds the same bins is as good. docs/NUMERICS.md says how they are found fast, and why that
 * is the same.
 *
 * Least work: bytes = every element of in and of the outputs once, flops = one an element. */
#ifndef RUNG_HISTOGRAM_H
#define RUNG_HISTOGRAM_H

#include "core/half.h"
#include "core/ladder.h"

enum { HISTOGRAM_IN, HISTOGRAM_EDGES, HISTOGRAM_COUNTS, HISTOGRAM_OUTSIDE };

#define HISTOGRAM_MOST ((int64_t)1 << 40)

#define HISTOGRAM_INTEGERS                                                               \
  (RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8) | RUNG_TYPE(RUNG_U16) | RUNG_TYPE(RUNG_I16) | \
   RUNG_TYPE(RUNG_I32) | RUNG_TYPE(RUNG_U32) | RUNG_TYPE(RUNG_I64))
#define HISTOGRAM_DTYPES (RUNG_SINGLE_DOUBLE | RUNG_HALVES | HISTOGRAM_INTEGERS)

/* Counts are made in 64 bits. */
#define HISTOGRAM_COUNT_DTYPES (RUNG_TYPE(RUNG_I64) | RUNG_TYPE(RUNG_U64))
#define HISTOGRAM_TYPES \
  { HISTOGRAM_DTYPES, RUNG_TYPE(RUNG_U64), HISTOGRAM_COUNT_DTYPES }

/* A slot is where an element is counted: a bin, or after the bins one of these. */
enum { HISTOGRAM_BELOW, HISTOGRAM_ABOVE, HISTOGRAM_NAN, HISTOGRAM_OUTER };

/* How rungs find an element's slot: rule.h has the arithmetic. */
typedef enum histogram_way {
  HISTOGRAM_MODULO,
  HISTOGRAM_SINGLE, /* a guess in float, proven or settled in double */
  HISTOGRAM_DOUBLE, /* a guess in double, proven or settled */
  HISTOGRAM_SEARCH, /* a binary search of the edges, those of a cell where there is a guide */
  HISTOGRAM_WAYS
} histogram_way;

/* What rungs need to know of the bins; passed to kernels as it is. */
typedef struct histogram_rule {
  histogram_way way;
  int bins, slots; /* slots: bins, or bins + HISTOGRAM_OUTER where elements may fall outside */
  /* modulo: floor((2^32 - 1) / bins) and floor((2^64 - 1) / bins), and what makes up for the 2^32
   * or 2^64 that a negative element lacks as an unsigned one */
  uint32_t inverse_32, lack_32;
  uint64_t inverse_64, lack_64;
  /* even */
  bool even, bfloat;  /* bfloat: elements are bf16 */
  rung_dtype rounded; /* what even edges are rounded to: the elements' type, or f64 of integers */
  double low, high, distance, step;
  double first, last;             /* the outermost edges, of given ones too */
  double scale, within;           /* the guess: see rule.h */
  float low_f, scale_f, within_f; /* the same in float */
  /* Whether every even edge is fmaf(k, step_f, low_f), and elements compare with them as floats as
   * they do as doubles; the outermost edges then */
  bool plain;
  float step_f, first_f, last_f;
  /* a search: cells of equal width, cell_scale of them in a unit from `low` on; of given edges low
   * and high are the outermost */
  int cells;
  double cell_scale;
} histogram_rule;

typedef struct histogram_problem {
  rung_bins_kind kind; /* bytes are modulo 256 */
  rung_dtype dtype;
  int64_t rows, columns;
  histogram_rule rule;
  int64_t flush; /* so many elements may be counted in 32 bits before these are added up */
  double bytes, flops;
} histogram_problem;

/* Elements of a byte are counted by value, and looked up one by one at the end. */
static inline bool histogram_by_value(const histogram_problem *problem) {
  return rung_dtype_bytes(problem->dtype) == 1;
}

/* For what the host works out and kernels too. */
#ifdef __CUDACC__
#define HISTOGRAM_ANYWHERE static inline __host__ __device__
#else
#define HISTOGRAM_ANYWHERE static inline
#endif

/* x rounded to a type of floats; to another, as it is. */
HISTOGRAM_ANYWHERE double histogram_rounded(rung_dtype to, double x) {
  if (to == RUNG_F32) return (double)rung_f64_to_f32(x);
  if (to == RUNG_F16) return (double)rung_f16_to_f32(rung_f64_to_half(x, false));
  if (to == RUNG_BF16) return (double)rung_bf16_to_f32(rung_f64_to_half(x, true));
  return x;
}

/* The contract's edge k of even bins, 0 <= k <= bins. */
HISTOGRAM_ANYWHERE double histogram_even_edge(const histogram_rule *rule, int k) {
  const double at =
      rule->step != 0 ? (double)k * rule->step : (double)k / (double)rule->bins * rule->distance;
  const double edge = k == rule->bins ? rule->high : at + rule->low;
  return histogram_rounded(rule->rounded, edge);
}

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation histogram_operation;

/* Axes: rows, and elements of a row. Results of a part are its counts, and its outside ones. */
extern const struct rung_cut histogram_parts;

/* Fills *problem. Refuses bins that are none (their count, low and high, edges), bins that the
 * dtype cannot have, and sizes out of range. */
rung_status histogram_problem_of(rung_error *error, const rung_bins *bins, rung_dtype dtype,
                                 int64_t rows, int64_t columns, histogram_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
