/* The trees of the canonical sum (core/sum.h) of short lines, many at once, on one CPU thread. For
 * float, and the same for double, _f64:
 *
 *   reduce_rows_f32(rows, live, n, to)        rows of n numbers, 1 <= live <= 8 of them: row i
 * is lane i of eight, which fold by halves reduce_fold_rows_f32(rows, apart, width, to)  `apart`
 * lanes, a power of two, of `width` numbers each, one after the other, to one; `rows` is lost
 *   reduce_lines_f32(in, step, count, n, sums)    `count` lines of 1 <= n <= RUNG_SUM_LANES numbers
 *                                                 without gaps, `step` from line to line
 *
 * Eight lanes a pass: where half of the lanes are folded onto the other half, and that again and
 * again, every pass but the first reads what the one before has just written. Three halvings at a
 * time meet in registers, and what is written is an eighth of what was read. Of lines, vectors fold
 * until one is left of each; then as many lines as a vector has lanes fold together, by exchanging
 * halves of vectors, quarters, and so on, which leaves the sum of line l in lane l. */
#ifndef RUNG_REDUCE_CPU_TREE_H
#define RUNG_REDUCE_CPU_TREE_H

#include "ops/reduce/cpu/line.h"

/* Eight slots by halves, of which the first `live` are there: what is missing is left out. */
#define TREE_SLOTS(slot, live)                           \
  do {                                                   \
    for (int i_ = 0; i_ < 4; i_++)                       \
      if (i_ + 4 < (live)) (slot)[i_] += (slot)[i_ + 4]; \
    for (int i_ = 0; i_ < 2; i_++)                       \
      if (i_ + 2 < (live)) (slot)[i_] += (slot)[i_ + 2]; \
    if ((live) > 1) (slot)[0] += (slot)[1];              \
  } while (0)

enum { TREE_NEAR = 8192 }; /* bytes of a line that a first-level cache has room for twice */

/* At stride s a vector folds by half of each of its pieces of 2 s lanes, and takes another one's
 * halves into the lanes that this leaves free. */
#define TREE_EXCHANGE(v, s, n, integers, list, combine)                                  \
  for (int i_ = 0; i_ < (s); i_++) {                                                     \
    const __typeof__((v)[0]) low_ =                                                      \
        LANES_SHUFFLE_TWO((v)[i_], (v)[i_ + (s)], ((integers){list(LANES_LOW, s, n)}));  \
    const __typeof__((v)[0]) high_ =                                                     \
        LANES_SHUFFLE_TWO((v)[i_], (v)[i_ + (s)], ((integers){list(LANES_HIGH, s, n)})); \
    (v)[i_] = combine(low_, high_);                                                      \
  }

/* Vectors, as many as lanes of 32 or 64 bits, to the first: lane l has what vector l comes to. */
#if LANES_BYTES == 64
#define TREE_FOLD_32(v, combine)                        \
  TREE_EXCHANGE(v, 8, 16, lanes_i32, LANES_16, combine) \
  TREE_EXCHANGE(v, 4, 16, lanes_i32, LANES_16, combine) \
  TREE_EXCHANGE(v, 2, 16, lanes_i32, LANES_16, combine) \
  TREE_EXCHANGE(v, 1, 16, lanes_i32, LANES_16, combine)
#define TREE_FOLD_64(v, combine)                      \
  TREE_EXCHANGE(v, 4, 8, lanes_i64, LANES_8, combine) \
  TREE_EXCHANGE(v, 2, 8, lanes_i64, LANES_8, combine) \
  TREE_EXCHANGE(v, 1, 8, lanes_i64, LANES_8, combine)
#elif LANES_BYTES == 32
#define TREE_FOLD_32(v, combine)                      \
  TREE_EXCHANGE(v, 4, 8, lanes_i32, LANES_8, combine) \
  TREE_EXCHANGE(v, 2, 8, lanes_i32, LANES_8, combine) \
  TREE_EXCHANGE(v, 1, 8, lanes_i32, LANES_8, combine)
#define TREE_FOLD_64(v, combine)                      \
  TREE_EXCHANGE(v, 2, 4, lanes_i64, LANES_4, combine) \
  TREE_EXCHANGE(v, 1, 4, lanes_i64, LANES_4, combine)
#else
#define TREE_FOLD_32(v, combine)                      \
  TREE_EXCHANGE(v, 2, 4, lanes_i32, LANES_4, combine) \
  TREE_EXCHANGE(v, 1, 4, lanes_i32, LANES_4, combine)
#define TREE_FOLD_64(v, combine) TREE_EXCHANGE(v, 1, 2, lanes_i64, LANES_2, combine)
#endif
/* Lines of 2 s numbers, as many as a vector has lanes, in 2 s vectors without gaps: halved, they
 * are in s. */
#define TREE_LOWER(l, s, n) ((l) / (s)*2 * (s) + (l) % (s))
#define TREE_UPPER(l, s, n) ((l) / (s)*2 * (s) + (l) % (s) + (s))
#define TREE_HALVE(v, s, integers, list)                                                       \
  for (int i_ = 0; i_ < (s); i_++) {                                                           \
    const __typeof__((v)[0]) low_ =                                                            \
        LANES_SHUFFLE_TWO((v)[2 * i_], (v)[2 * i_ + 1], ((integers){list(TREE_LOWER, s, 0)})); \
    const __typeof__((v)[0]) high_ =                                                           \
        LANES_SHUFFLE_TWO((v)[2 * i_], (v)[2 * i_ + 1], ((integers){list(TREE_UPPER, s, 0)})); \
    (v)[i_] = low_ + high_;                                                                    \
  }
#if LANES_BYTES == 64
#define TREE_HALVE_32(v, s) TREE_HALVE(v, s, lanes_i32, LANES_16)
#define TREE_HALVE_64(v, s) TREE_HALVE(v, s, lanes_i64, LANES_8)
#elif LANES_BYTES == 32
#define TREE_HALVE_32(v, s) TREE_HALVE(v, s, lanes_i32, LANES_8)
#define TREE_HALVE_64(v, s) TREE_HALVE(v, s, lanes_i64, LANES_4)
#else
#define TREE_HALVE_32(v, s) TREE_HALVE(v, s, lanes_i32, LANES_4)
#define TREE_HALVE_64(v, s) TREE_HALVE(v, s, lanes_i64, LANES_2)
#endif
#define TREE_PLUS(a, b) ((a) + (b))

LANES_INLINE lanes_f32 reduce_exchange_f32(lanes_f32 v[LANES_F32]) {
  TREE_FOLD_32(v, TREE_PLUS)
  return v[0];
}

LANES_INLINE lanes_f64 reduce_exchange_f64(lanes_f64 v[LANES_F64]) {
  TREE_FOLD_64(v, TREE_PLUS)
  return v[0];
}

/* The first `count` lanes from memory, at least 1, and -0 in the others: no more than that is read,
 * and -0 changes no sum. */
LANES_INLINE lanes_f32 reduce_load_part_f32(const float *at, int count) {
  if (count == LANES_F32) return lanes_load_f32(at);
#if defined(__AVX512F__)
  const __mmask16 live = (__mmask16)((1u << count) - 1);
  return (lanes_f32)_mm512_mask_loadu_ps(_mm512_set1_ps(-0.0f), live, at);
#elif defined(__AVX2__) && defined(__FMA__)
  const lanes_i32 lane = {0, 1, 2, 3, 4, 5, 6, 7}, live = lane < count;
  const lanes_i32 x = (lanes_i32)_mm256_maskload_ps(at, (__m256i)live);
  return (lanes_f32)(x | (~live & INT32_MIN));
#else
  lanes_f32 v = lanes_all_f32(-0.0f);
  for (int l = 0; l < LANES_F32 - 1; l++)
    if (l < count) v[l] = at[l];
  return v;
#endif
}

LANES_INLINE lanes_f64 reduce_load_part_f64(const double *at, int count) {
  if (count == LANES_F64) return lanes_load_f64(at);
#if defined(__AVX512F__)
  const __mmask8 live = (__mmask8)((1u << count) - 1);
  return (lanes_f64)_mm512_mask_loadu_pd(_mm512_set1_pd(-0.0), live, at);
#elif defined(__AVX2__) && defined(__FMA__)
  const lanes_i64 lane = {0, 1, 2, 3}, live = lane < count;
  const lanes_i64 x = (lanes_i64)_mm256_maskload_pd(at, (__m256i)live);
  return (lanes_f64)(x | (~live & INT64_MIN));
#else
  lanes_f64 v = lanes_all_f64(-0.0);
  for (int l = 0; l < LANES_F64 - 1; l++)
    if (l < count) v[l] = at[l];
  return v;
#endif
}

#define TREE_NUMBER float
#define TREE_WIDTH LANES_F32
#define TREE_NAME(name) name##_f32
#define TREE_HALVED TREE_HALVE_32
#include "ops/reduce/cpu/tree_of.h"
#undef TREE_NUMBER
#undef TREE_WIDTH
#undef TREE_NAME
#undef TREE_HALVED
#define TREE_NUMBER double
#define TREE_WIDTH LANES_F64
#define TREE_NAME(name) name##_f64
#define TREE_HALVED TREE_HALVE_64
#include "ops/reduce/cpu/tree_of.h"
#undef TREE_NUMBER
#undef TREE_WIDTH
#undef TREE_NAME
#undef TREE_HALVED

#endif
