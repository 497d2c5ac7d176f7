/* Reductions of one line, and of many lines side by side, on one CPU thread. For every
 * reduce_source a row of a table:
 *
 *   line(in, n, turn, partial)                  n elements without gaps, 0 <= n, to one partial
 *   across(in, step, n, width, turn, partials)  `width` lines side by side, an element of each in
 *                                               every row of `step` elements, to as many partials
 *
 * For the files under cpu/, which are compiled once per instruction set. A partial result of sums
 * of floats is the contract's sum (core/sum.h); sum.h has it of one line. */
#ifndef RUNG_REDUCE_CPU_FOLD_H
#define RUNG_REDUCE_CPU_FOLD_H

#include "ops/reduce/cpu/sum.h"
#include "ops/reduce/reduce.h"

/* So many lines side by side: what a level of folding keeps of them fits the first-level cache
 * eleven times over. */
enum { REDUCE_STRIP = 256 };

/* A float looked at as an integer of its bits. */
typedef int32_t __attribute__((may_alias)) reduce_bits_32;
typedef int64_t __attribute__((may_alias)) reduce_bits_64;

/* The partial results of a strip: which member is a matter of the source. */
typedef union reduce_partials {
  float f32[REDUCE_STRIP];
  double f64[REDUCE_STRIP];
  uint64_t u64[REDUCE_STRIP];
  int32_t i32[REDUCE_STRIP];
  int64_t i64[REDUCE_STRIP];
} reduce_partials;

/* Bytes, in pairs that share 16 bits, and those in pairs that share 32 before they can overflow:
 * widened one by one they would cost four times as much. */
static inline uint32_t reduce_sum_bytes(const uint8_t *tile, int count) {
  typedef uint16_t pairs __attribute__((vector_size(LANES_BYTES)));
  typedef uint32_t fours __attribute__((vector_size(LANES_BYTES)));
  enum { MOST = 128 }; /* 128 pairs of 255 are less than 2^16 */
  fours wide = {0};
  uint32_t sum = 0;
  int k = 0;
  while (k + LANES_BYTES <= count) {
    pairs narrow = {0}, x;
    for (int v = 0; v < MOST && k + LANES_BYTES <= count; ++v, k += LANES_BYTES) {
      memcpy(&x, tile + k, sizeof x);
      narrow += (x & 255) + (x >> 8);
    }
    wide += ((fours)narrow & 65535) + ((fours)narrow >> 16);
  }
  for (int l = 0; l < LANES_BYTES / 4; ++l) sum += wide[l];
  for (; k < count; ++k) sum += tile[k];
  return sum;
}

/* The least key of at least one byte, sought among bytes. */
static inline int32_t reduce_least_byte(const uint8_t *tile, int count, int32_t turn) {
  const uint8_t turned = (uint8_t)turn;
  uint8_t least = 255;
  for (int k = 0; k < count; ++k) {
    const uint8_t key = (uint8_t)(tile[k] ^ turned);
    least = key < least ? key : least;
  }
  return (int32_t)(uint8_t)(least ^ turned) ^ turn;
}

#define REDUCE_ORDERED 1
#define REDUCE_NAME(name) name##_f32
#define REDUCE_IN float
#define REDUCE_PARTIAL float
#include "ops/reduce/cpu/fold_of.h"
#define REDUCE_NAME(name) name##_f64
#define REDUCE_IN double
#define REDUCE_PARTIAL double
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_ORDERED

#define REDUCE_ORDERED 0
#define REDUCE_NONE 0
#define REDUCE_JOIN(a, b) ((a) + (b))
#define REDUCE_TAKE(x, turn) ((void)(turn), (x))
#define REDUCE_NAME(name) name##_u8
#define REDUCE_IN uint8_t
#define REDUCE_PARTIAL uint64_t
#define REDUCE_TILE(tile, count, turn) ((void)(turn), reduce_sum_bytes(tile, count))
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_TAKE
#define REDUCE_TAKE(x, turn) ((void)(turn), (uint64_t)(x))
#define REDUCE_NAME(name) name##_i32
#define REDUCE_IN int32_t
#define REDUCE_PARTIAL uint64_t
#include "ops/reduce/cpu/fold_of.h"
#define REDUCE_NAME(name) name##_u32
#define REDUCE_IN uint32_t
#define REDUCE_PARTIAL uint64_t
#include "ops/reduce/cpu/fold_of.h"
#define REDUCE_NAME(name) name##_64
#define REDUCE_IN uint64_t
#define REDUCE_PARTIAL uint64_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_NONE
#undef REDUCE_JOIN
#undef REDUCE_TAKE

#define REDUCE_JOIN(a, b) ((a) < (b) ? (a) : (b))
#define REDUCE_TAKE(x, turn) ((int32_t)(x) ^ (int32_t)(turn))
#define REDUCE_NONE INT32_MAX
#define REDUCE_NAME(name) name##_least_u8
#define REDUCE_IN uint8_t
#define REDUCE_PARTIAL int32_t
#define REDUCE_TILE(tile, count, turn) reduce_least_byte(tile, count, (int32_t)(turn))
#include "ops/reduce/cpu/fold_of.h"
#define REDUCE_NAME(name) name##_least_32
#define REDUCE_IN int32_t
#define REDUCE_PARTIAL int32_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_TAKE
#define REDUCE_TAKE(x, turn) rung_key_f32(x, (int32_t)(turn))
#define REDUCE_NAME(name) name##_least_f32
#define REDUCE_IN reduce_bits_32
#define REDUCE_PARTIAL int32_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_TAKE
#undef REDUCE_NONE
#define REDUCE_TAKE(x, turn) ((x) ^ (turn))
#define REDUCE_NONE INT64_MAX
#define REDUCE_NAME(name) name##_least_64
#define REDUCE_IN int64_t
#define REDUCE_PARTIAL int64_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_TAKE
#define REDUCE_TAKE(x, turn) rung_key_f64(x, turn)
#define REDUCE_NAME(name) name##_least_f64
#define REDUCE_IN reduce_bits_64
#define REDUCE_PARTIAL int64_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_TAKE
#undef REDUCE_NONE
#undef REDUCE_JOIN
#undef REDUCE_ORDERED

typedef struct reduce_fold {
  void (*line)(const void *in, int64_t n, int64_t turn, void *partial);
  void (*across)(const void *in, int64_t step, int64_t n, int width, int64_t turn, void *partials);
} reduce_fold;

static const reduce_fold reduce_folds[REDUCE_SOURCES] = {
    [REDUCE_ADD_F32] = {reduce_line_f32, reduce_across_f32},
    [REDUCE_ADD_F64] = {reduce_line_f64, reduce_across_f64},
    [REDUCE_ADD_U8] = {reduce_line_u8, reduce_across_u8},
    [REDUCE_ADD_I32] = {reduce_line_i32, reduce_across_i32},
    [REDUCE_ADD_U32] = {reduce_line_u32, reduce_across_u32},
    [REDUCE_ADD_64] = {reduce_line_64, reduce_across_64},
    [REDUCE_LEAST_U8] = {reduce_line_least_u8, reduce_across_least_u8},
    [REDUCE_LEAST_32] = {reduce_line_least_32, reduce_across_least_32},
    [REDUCE_LEAST_F32] = {reduce_line_least_f32, reduce_across_least_f32},
    [REDUCE_LEAST_64] = {reduce_line_least_64, reduce_across_least_64},
    [REDUCE_LEAST_F64] = {reduce_line_least_f64, reduce_across_least_f64},
};

/* out[at] from the partial result of a whole line. */
static inline void reduce_put(const reduce_problem *problem, const void *partial, char *out,
                              int64_t at) {
  const double n = (double)problem->columns;
  const bool mean = problem->what == RUNG_MEAN;
  const int64_t turn = reduce_turn_of(problem);
  if (problem->what == RUNG_MIN || problem->what == RUNG_MAX) {
    const bool narrow = rung_dtype_bytes(problem->dtype) < 8;
    const int64_t key = narrow ? *(const int32_t *)partial : *(const int64_t *)partial;
    if (problem->dtype == RUNG_U8)
      ((uint8_t *)out)[at] = (uint8_t)(key ^ turn);
    else if (problem->dtype == RUNG_F32)
      ((reduce_bits_32 *)out)[at] = rung_unkey_f32((int32_t)key, (int32_t)turn);
    else if (problem->dtype == RUNG_F64)
      ((reduce_bits_64 *)out)[at] = rung_unkey_f64(key, turn);
    else if (narrow)
      ((int32_t *)out)[at] = (int32_t)(key ^ turn);
    else
      ((int64_t *)out)[at] = key ^ turn;
  } else if (problem->dtype == RUNG_F32) {
    const float sum = *(const float *)partial;
    ((float *)out)[at] = mean ? (float)((double)sum / n) : sum;
  } else if (problem->dtype == RUNG_F64) {
    const double sum = *(const double *)partial;
    ((double *)out)[at] = mean ? sum / n : sum;
  } else if (!mean) {
    ((uint64_t *)out)[at] = *(const uint64_t *)partial;
  } else {
    const uint64_t sum = *(const uint64_t *)partial;
    const bool negative = problem->dtype == RUNG_I32 || problem->dtype == RUNG_I64;
    ((double *)out)[at] = (negative ? (double)(int64_t)sum : (double)sum) / n;
  }
}

#endif
