/* Pairs of two tiles in single precision: twice the lanes, and proof for every pair that the
 * contract's double has the same rank; where one pair lacks it, the two tiles are counted in
 * double.
 *
 * Let F bound the magnitude of a coordinate's difference by the boxes' sides, so that most = F.x^2
 * + F.y^2 + F.z^2, and u = 2^-24. Points are kept relative to their box's centre. Of one axis, with
 * the centres D apart (|D| <= F), r and s half the boxes' sides (r + s <= F):
 *     p, q rounded to single:    u r + u s <= u F           D rounded:          u F
 *     D + p, at most F + r:      u (F + r) <= 2 u F         (D + p) - q:        u F
 * so a difference is within 5 u F, the sum of squares within 10 u most of the true one, and 3 u
 * most more for its own three roundings. The contract's own are in double: below u / 8 most where
 * shifts are at most 2^20 times as long as distances. A threshold between is at most `most`, and
 * rounded to single within u of that. Together less than 15 u most: with E = 16 u most,  near =
 * (float)(threshold - E),  far = (float)(threshold + E) a square in single below `near` is below
 * the threshold in the contract's arithmetic, too, and one not below `far` is not. What lies
 * between is in doubt.
 *
 * A lane's rank is the number of `near` not above its square, found by halving where there are more
 * than a few; the `far` of that rank says whether it is in doubt. All of them are looked up in
 * registers, as is the unit that a rank adds to a word of counters of four bits. */
#ifndef RUNG_PAIRS_CPU_SINGLE_H
#define RUNG_PAIRS_CPU_SINGLE_H

#include "ops/pairs/cpu/count.h"

/* Squares out of this range might leave that of single precision, or round to something coarser. */
#define PAIRS_SINGLE_LEAST 1e-25
#define PAIRS_SINGLE_MOST 1e37

#define PAIRS_SINGLE_BOUND 0x1p-20 /* 16 u */
#define PAIRS_SINGLE_SHIFT 0x1p-40 /* squares are so much of a shift's square at least */

/* Thresholds: compared with one after the other; and fewer than a register has lanes, by halving.
 * Four lanes are too few to look things up in: they do without.
 * Eight counters of four bits in a word hold eight points of a; then they become bytes. */
enum {
  PAIRS_SINGLE_LINEAR = 4,
  PAIRS_SINGLE_FEW = LANES_F32 >= 8 ? LANES_F32 - 1 : 0,
  PAIRS_FIELDS = 8,
  PAIRS_WORDS = LANES_F32 / PAIRS_FIELDS,
  PAIRS_FOLDED = 8
};

#if defined(__AVX2__)

typedef uint32_t pairs_words __attribute__((vector_size(LANES_BYTES)));

typedef struct pairs_doubt {
#if defined(__AVX512F__)
  __mmask16 lanes;
#else
  lanes_i32 lanes;
#endif
} pairs_doubt;

/* Adds `step` to the ranks of lanes whose square is not below a limit. */
LANES_INLINE lanes_i32 pairs_step_f32(lanes_i32 ranks, lanes_f32 squares, lanes_f32 limit,
                                      int32_t step) {
#if defined(__AVX512F__)
  const __mmask16 passed = _mm512_cmp_ps_mask((__m512)squares, (__m512)limit, _CMP_GE_OQ);
  return (lanes_i32)_mm512_mask_add_epi32((__m512i)ranks, passed, (__m512i)ranks,
                                          _mm512_set1_epi32(step));
#else
  return step == 1 ? ranks - (squares >= limit) : ranks + ((squares >= limit) & step);
#endif
}

LANES_INLINE void pairs_doubt_f32(pairs_doubt *doubt, lanes_f32 squares, lanes_f32 far) {
#if defined(__AVX512F__)
  doubt->lanes |= _mm512_cmp_ps_mask((__m512)squares, (__m512)far, _CMP_LT_OQ);
#else
  doubt->lanes |= squares < far;
#endif
}

LANES_INLINE bool pairs_in_doubt(pairs_doubt doubt) {
#if defined(__AVX512F__)
  return doubt.lanes != 0;
#else
  return !_mm256_testz_si256((__m256i)doubt.lanes, (__m256i)doubt.lanes);
#endif
}

/* As many doubles in single precision as a register of these holds. */
LANES_INLINE lanes_f32 pairs_narrow(lanes_f64 low, lanes_f64 high) {
#if defined(__AVX512F__)
  return (lanes_f32)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)low)),
                                       _mm512_cvtpd_ps((__m512d)high), 1);
#else
  return (lanes_f32)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)high), _mm256_cvtpd_ps((__m256d)low));
#endif
}

/* Tile a's points from b's centre. */
typedef struct pairs_from {
  float at[3][PAIRS_TILE];
} pairs_from;

/* What ranks are found by. `near`: few, one threshold each in all lanes. More, for steps of 1, 2, 4
 * ... by the rank so far, a multiple of twice the step, the threshold that is a step further. */
typedef struct pairs_tables {
  lanes_f32 near[PAIRS_SINGLE_LINEAR];
  lanes_f32 far; /* of the rank's last threshold; of rank 0 none */
  pairs_words unit[PAIRS_WORDS];
} pairs_tables;

LANES_INLINE int pairs_halvings(int few) {
  return few <= 7 ? 3 : 4;
}

LANES_INLINE lanes_i32 pairs_ranks_f32(const pairs_tables *tables, lanes_f32 squares,
                                       const int few) {
  lanes_i32 ranks = {0};
  if (few <= PAIRS_SINGLE_LINEAR) {
    for (int k = 0; k < few; ++k) ranks = pairs_step_f32(ranks, squares, tables->near[k], 1);
    return ranks;
  }
  int bit = pairs_halvings(few) - 1;
  ranks = pairs_step_f32(ranks, squares, tables->near[bit], 1 << bit);
  for (--bit; bit >= 0; --bit)
    ranks = pairs_step_f32(ranks, squares, LANES_SHUFFLE(tables->near[bit], ranks), 1 << bit);
  return ranks;
}

/* `thresholds`: as many as a register of single precision holds. Those beyond the last that matters
 * do no harm: who passes one is in doubt of it, or it is NaN and nobody does. */
LANES_INLINE void pairs_load_tables(const double *thresholds, double within, pairs_tables *tables,
                                    const int few) {
  const lanes_f64 low = lanes_load_f64(thresholds), high = lanes_load_f64(thresholds + LANES_F64);
  const lanes_f32 near = pairs_narrow(low - within, high - within),
                  far = pairs_narrow(low + within, high + within);
  lanes_i32 lane, before;
  for (int l = 0; l < LANES_F32; ++l) {
    lane[l] = l;
    before[l] = l == 0 ? 0 : LANES_F32 + l - 1;
  }
  tables->far = LANES_SHUFFLE_TWO(lanes_all_f32(-(float)INFINITY), far, before);
  if (few <= PAIRS_SINGLE_LINEAR) {
    for (int k = 0; k < few; ++k) tables->near[k] = LANES_SHUFFLE(near, lane * 0 + k);
  } else {
    const int top = pairs_halvings(few) - 1;
    for (int bit = 0; bit < top; ++bit)
      tables->near[bit] = LANES_SHUFFLE(near, lane + ((1 << bit) - 1));
    tables->near[top] = LANES_SHUFFLE(near, lane * 0 + ((1 << top) - 1));
  }
  for (int w = 0; w < PAIRS_WORDS; ++w)
    for (int l = 0; l < LANES_F32; ++l)
      tables->unit[w][l] = l / PAIRS_FIELDS == w ? 1u << l % PAIRS_FIELDS * 4 : 0;
}

/* Adds to exact[rank], but only where no pair is in doubt: false else. */
LANES_INLINE bool pairs_count_from(const pairs_from *a, const pairs_near *b,
                                   const double *thresholds, double within,
                                   uint32_t (*exact)[PAIRS_EXACT], const int few, const int ranks) {
  const int words = few < PAIRS_FIELDS ? 1 : PAIRS_WORDS;
  pairs_words bytes[2 * PAIRS_WORDS]; /* of even ranks, of odd ones */
  pairs_doubt doubt = {0};
  pairs_tables tables;
  pairs_load_tables(thresholds, within, &tables, few);
  for (int w = 0; w < 2 * words; ++w) bytes[w] = (pairs_words){0};
  for (int v = 0; v < PAIRS_TILE; v += LANES_F32) {
    const lanes_f32 x = lanes_load_f32(b->at[0] + v), y = lanes_load_f32(b->at[1] + v),
                    z = lanes_load_f32(b->at[2] + v);
    for (int i = 0; i < PAIRS_TILE;) {
      pairs_words count[PAIRS_WORDS] = {{0}};
      const int end = i + PAIRS_FOLDED;
#pragma GCC unroll 2
      for (; i < end; ++i) {
        const lanes_f32 dx = x - a->at[0][i], dy = y - a->at[1][i], dz = z - a->at[2][i],
                        squares = lanes_fma_f32(dz, dz, lanes_fma_f32(dy, dy, dx * dx));
        const lanes_i32 rank = pairs_ranks_f32(&tables, squares, few);
        pairs_doubt_f32(&doubt, squares, LANES_SHUFFLE(tables.far, rank));
        for (int w = 0; w < words; ++w) count[w] += LANES_SHUFFLE(tables.unit[w], rank);
      }
      for (int w = 0; w < words; ++w) {
        bytes[2 * w] += count[w] & 0x0f0f0f0f;
        bytes[2 * w + 1] += count[w] >> 4 & 0x0f0f0f0f;
      }
    }
  }
  if (pairs_in_doubt(doubt)) return false;
  for (int k = 0; k <= ranks; ++k) {
    const pairs_words field = bytes[k / PAIRS_FIELDS * 2 + k % 2] >> k % PAIRS_FIELDS / 2 * 8 & 255;
    pairs_words sum;
    memcpy(&sum, exact[k], sizeof sum);
    sum += field;
    memcpy(exact[k], &sum, sizeof sum);
  }
  return true;
}

/* All pairs of two tiles that are not the same, PAIRS_SQUARES of them, of which those beyond the
 * last point are counted with rank 0. `few`: thresholds from the first, 1 ... PAIRS_SINGLE_FEW;
 * `most` bounds the squares. False: nothing was counted. */
static bool pairs_count_single(const pairs_near *a, const pairs_near *b, const double *shift,
                               double most, const double *thresholds, int few,
                               uint32_t (*exact)[PAIRS_EXACT]) {
  const double within = PAIRS_SINGLE_BOUND * most;
  pairs_from from;
  for (int i = 0; i < 3; ++i) {
    const float apart = (float)(a->centre[i] - b->centre[i] + shift[i]);
    for (int k = 0; k < PAIRS_TILE; ++k) from.at[i][k] = a->at[i][k] + apart;
  }
  /* In memory, or GCC keeps it in registers, from which a number for all lanes is dear. */
  __asm__("" : "+m"(from));
#define PAIRS_CALL(constant, ranks) \
  return pairs_count_from(&from, b, thresholds, within, exact, constant, ranks)
  switch (few) {
    case 1:
      PAIRS_CALL(1, 1);
    case 2:
      PAIRS_CALL(2, 2);
    case 3:
      PAIRS_CALL(3, 3);
    case 4:
      PAIRS_CALL(4, 4);
    case 5:
      PAIRS_CALL(7, 5);
    case 6:
      PAIRS_CALL(7, 6);
    case 7:
      PAIRS_CALL(7, 7);
    default:
      PAIRS_CALL(PAIRS_SINGLE_FEW, few);
  }
#undef PAIRS_CALL
}

#else

static bool pairs_count_single(const pairs_near *a, const pairs_near *b, const double *shift,
                               double most, const double *thresholds, int few,
                               uint32_t (*exact)[PAIRS_EXACT]) {
  (void)a, (void)b, (void)shift, (void)most, (void)thresholds, (void)few, (void)exact;
  return false;
}

#endif
#endif
