/* Reductions of lines one after the other, and of many lines side by side, on one CPU thread. For
 * every reduce_operator a row of a table:
 *
 *   lines(in, step, count, n, far, key, partials)
 *                                             `count` lines of n elements without gaps, 0 <= n,
 *                                             `step` from line to line, to as many partials; `far`:
 *                                             from memory (line.h)
 *   across(in, step, n, width, far, key, room, partials)
 *                                             `width` lines side by side, an element of each in
 *                                             every row of `step` elements, to as many partials; of
 *                                             sums of floats n <= RUNG_SUM_TILE, and `room` is
 *                                             reduce_room() bytes of its own
 *   shares(in, n, width, first, count, far, key, room, row)
 *                                             of sums of floats alone, whose rows have no gaps: of
 *                                             the reduce_left() rows that their lanes fold to the
 *                                             numbers from the first on; NULL: none
 *   run(from, step, n, at, key, state)        n elements of a tile, `step` apart, `at` elements of
 *                                             which came before: to a reduce_state; NULL: none
 *   end_runs(state, n, partial)               what n elements have come to
 *
 * For the files under cpu/, which are compiled once per instruction set. A partial result of sums
 * of floats is the contract's sum (core/sum.h); line.h has it of one line. */
#ifndef RUNG_REDUCE_CPU_FOLD_H
#define RUNG_REDUCE_CPU_FOLD_H

#include "ops/reduce/cpu/line.h"
#include "ops/reduce/cpu/room.h"
#include "ops/reduce/cpu/tree.h"
#include "ops/reduce/finish.h"

/* The partial results of a unit: which member is a matter of the operator. */
typedef union reduce_partials {
  float f32[REDUCE_PIECE / sizeof(float)];
  double f64[REDUCE_PIECE / sizeof(double)];
  uint64_t u64[REDUCE_PIECE / sizeof(uint64_t)];
  int32_t i32[REDUCE_PIECE / sizeof(int32_t)];
  int64_t i64[REDUCE_PIECE / sizeof(int64_t)];
} reduce_partials;

/* What the runs of a tile's elements come to, one after the other. */
typedef union reduce_state {
  float f32[RUNG_SUM_LANES];
  double f64[RUNG_SUM_LANES];
} reduce_state;

/* n elements, `step` apart, one after the other. Steps that are constants become vectors. */
#define REDUCE_PICK_BY(step) \
  for (int64_t i = 0; i < n; ++i) out[i] = in[i * (step)]
#define REDUCE_PICK(bits)                                                                      \
  LANES_OUTLINE void reduce_pick_##bits(const void *from, int64_t step, int64_t n, void *to) { \
    typedef uint##bits##_t __attribute__((may_alias)) element;                                 \
    const element *restrict in = (const element *)from;                                        \
    element *restrict out = (element *)to;                                                     \
    if (step == 2)                                                                             \
      REDUCE_PICK_BY(2);                                                                       \
    else if (step == 3)                                                                        \
      REDUCE_PICK_BY(3);                                                                       \
    else if (step == 4)                                                                        \
      REDUCE_PICK_BY(4);                                                                       \
    else if (step == -1)                                                                       \
      REDUCE_PICK_BY(-1);                                                                      \
    else                                                                                       \
      for (int64_t i = 0; i < n; ++i, in += step) {                                            \
        SUM_ONE_BY_ONE(in);                                                                    \
        out[i] = *in;                                                                          \
      }                                                                                        \
  }
REDUCE_PICK(8)
REDUCE_PICK(16)
REDUCE_PICK(32)
REDUCE_PICK(64)
#undef REDUCE_PICK
#undef REDUCE_PICK_BY
static inline void reduce_pick(size_t size, const void *from, int64_t step, int64_t n, void *to) {
  (size == 1   ? reduce_pick_8
   : size == 2 ? reduce_pick_16
   : size == 4 ? reduce_pick_32
               : reduce_pick_64)(from, step, n, to);
}

#define SUM_ELEMENT uint16_t
#define SUM_NUMBER float
#define SUM_FOLD reduce_fold_lanes_f32
#define SUM_BFLOAT false
#define SUM_NAME(name) name##_f16
#include "ops/reduce/cpu/line_of.h"
#undef SUM_BFLOAT
#undef SUM_NAME
#define SUM_BFLOAT true
#define SUM_NAME(name) name##_bf16
#include "ops/reduce/cpu/line_of.h"
#undef SUM_ELEMENT
#undef SUM_NUMBER
#undef SUM_FOLD
#undef SUM_BFLOAT
#undef SUM_NAME

/* Bytes, in pairs that share 16 bits, and those in pairs that share 32 before they can overflow:
 * widened one by one they would cost four times as much. */
static inline uint32_t reduce_sum_bytes(const uint8_t *tile, int count, const rung_key_code *key) {
  typedef uint16_t pairs __attribute__((vector_size(LANES_BYTES)));
  typedef uint32_t fours __attribute__((vector_size(LANES_BYTES)));
  enum { MOST = 128 }; /* 128 pairs of 255 are less than 2^16 */
  const uint8_t mask = (uint8_t)key->mask;
  const uint16_t both = (uint16_t)(mask << 8 | mask);
  fours wide = {0};
  uint32_t sum = 0;
  int k = 0;
  while (k + LANES_BYTES <= count) {
    pairs narrow = {0}, x;
    for (int v = 0; v < MOST && k + LANES_BYTES <= count; ++v, k += LANES_BYTES) {
      memcpy(&x, tile + k, sizeof x);
      x ^= both;
      narrow += (x & 255) + (x >> 8);
    }
    wide += ((fours)narrow & 65535) + ((fours)narrow >> 16);
  }
  for (int l = 0; l < LANES_BYTES / 4; ++l) sum += wide[l];
  for (; k < count; ++k) sum += (uint8_t)(tile[k] ^ mask);
  return sum;
}

/* rung_key_16() of 16 bits, in 16 bits. */
static inline int16_t reduce_key_16(int16_t bits, const rung_key_code *key) {
  const int16_t order = key->order, nan = (int16_t) - ((bits & order) > key->most);
  const int16_t ordered = (int16_t)(bits ^ (bits < 0 ? order : 0));
  return (int16_t)(((ordered ^ (int16_t)key->mask) & ~nan) | (nan & INT16_MIN));
}

/* ---- sums of floats ----------------------------------------------------------------------------
 */

#define REDUCE_ORDERED 1
#define REDUCE_CONVERTED 0
#define REDUCE_NAME(name) name##_f32
#define REDUCE_FOLDED(name) name##_f32
#define REDUCE_IN float
#define REDUCE_PARTIAL float
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_FOLDED
#undef REDUCE_PARTIAL
#define REDUCE_NAME(name) name##_f64
#define REDUCE_FOLDED(name) name##_f64
#define REDUCE_IN double
#define REDUCE_PARTIAL double
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_CONVERTED
#undef REDUCE_FOLDED
#undef REDUCE_PARTIAL
#define REDUCE_CONVERTED 1
#define REDUCE_FOLDED(name) name##_f32
#define REDUCE_PARTIAL float
#define REDUCE_NAME(name) name##_f16
#define REDUCE_IN uint16_t
#include "ops/reduce/cpu/fold_of.h"
#define REDUCE_NAME(name) name##_bf16
#define REDUCE_IN uint16_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_CONVERTED
#undef REDUCE_FOLDED
#undef REDUCE_PARTIAL
#undef REDUCE_ORDERED

static void reduce_lines_half(const void *in, int64_t step, int count, int64_t n, bool far,
                              const rung_key_code *key, void *partials) {
  (key->bfloat ? reduce_lines_bf16 : reduce_lines_f16)(in, step, count, n, far, key, partials);
}
static void reduce_shares_half(const void *in, int64_t n, int width, int64_t first, int64_t count,
                               bool far, const rung_key_code *key, void *room, void *row) {
  (key->bfloat ? reduce_shares_bf16 : reduce_shares_f16)(in, n, width, first, count, far, key, room,
                                                         row);
}
static void reduce_across_half(const void *in, int64_t step, int64_t n, int width, bool far,
                               const rung_key_code *key, void *room, void *partials) {
  (key->bfloat ? reduce_across_bf16 : reduce_across_f16)(in, step, n, width, far, key, room,
                                                         partials);
}

/* ---- vectors of partial results ----------------------------------------------------------------
 */

typedef uint64_t reduce_all_u64 __attribute__((vector_size(LANES_BYTES), may_alias));
typedef lanes_i32 reduce_all_i32 __attribute__((may_alias));
typedef lanes_i64 reduce_all_i64 __attribute__((may_alias));

/* Numbers of a line that is folded beside others. */
enum { REDUCE_FEW = 32 };

/* ---- sums of integers --------------------------------------------------------------------------
 */

#define REDUCE_ORDERED 0
#define REDUCE_IDENTITY 0
#define REDUCE_COMBINE(a, b) ((a) + (b))
#define REDUCE_PARTIAL uint64_t
#define REDUCE_VECTOR reduce_all_u64
#define REDUCE_WIDTH LANES_F64
#define REDUCE_COMBINE_ALL TREE_PLUS
#define REDUCE_FOLD_ALL TREE_FOLD_64
#define REDUCE_NONE 0
#define REDUCE_LOAD(x, key) ((x) ^ (uint32_t)(key)->mask)
#define REDUCE_NAME(name) name##_8
#define REDUCE_IN uint8_t
#define REDUCE_RUNNING uint16_t /* four numbers fit */
#define REDUCE_LOAD_NARROW(x, key) ((uint8_t)((x) ^ (uint8_t)(key)->mask))
#define REDUCE_TILE(tile, count, key) reduce_sum_bytes(tile, count, key)
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_RUNNING
#define REDUCE_RUNNING uint32_t /* a tile of 2^15 numbers fits */
#define REDUCE_NAME(name) name##_16
#define REDUCE_IN uint16_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_RUNNING
#define REDUCE_RUNNING uint64_t
#define REDUCE_NAME(name) name##_32
#define REDUCE_IN uint32_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_LOAD
#define REDUCE_LOAD(x, key) ((void)(key), (x))
#define REDUCE_NAME(name) name##_64
#define REDUCE_IN uint64_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_IDENTITY
#undef REDUCE_COMBINE
#undef REDUCE_COMBINE_ALL
#undef REDUCE_FOLD_ALL
#undef REDUCE_PARTIAL
#undef REDUCE_VECTOR
#undef REDUCE_WIDTH
#undef REDUCE_RUNNING
#undef REDUCE_NONE
#undef REDUCE_LOAD

/* ---- the least key -----------------------------------------------------------------------------
 */

/* The least of floats' keys. Whether one is a NaN's, which is below all others, is asked of the
 * largest magnitude at the end: half the work. */
#define REDUCE_TILE_OF_FLOATS(bits, type, number, unsigned_number)                   \
  LANES_OUTLINE number reduce_tile_floats_##bits(const type *tile, int count,        \
                                                 const rung_key_code *code) {        \
    const number mask = (number)code->mask, magnitudes = INT##bits##_MAX;            \
    number least = INT##bits##_MAX, most = 0;                                        \
    for (int k = 0; k < count; ++k) {                                                \
      const number x = tile[k], sign = -(number)((unsigned_number)x >> (bits - 1));  \
      const number key = x ^ (sign & magnitudes) ^ mask, magnitude = x & magnitudes; \
      least = key < least ? key : least;                                             \
      most = magnitude > most ? magnitude : most;                                    \
    }                                                                                \
    return most > RUNG_KEY_MOST_F##bits ? INT##bits##_MIN : least;                   \
  }
REDUCE_TILE_OF_FLOATS(32, reduce_bits_32, int32_t, uint32_t)
REDUCE_TILE_OF_FLOATS(64, reduce_bits_64, int64_t, uint64_t)
#undef REDUCE_TILE_OF_FLOATS

#define REDUCE_COMBINE(a, b) ((a) < (b) ? (a) : (b))
#define REDUCE_COMBINE_ALL lanes_least_i32
#define REDUCE_PARTIAL int32_t
#define REDUCE_VECTOR reduce_all_i32
#define REDUCE_WIDTH LANES_F32
#define REDUCE_FOLD_ALL TREE_FOLD_32
#define REDUCE_IDENTITY INT32_MAX
#define REDUCE_LOAD(x, key) ((x) ^ (int32_t)(key)->mask)
#define REDUCE_LOAD_NARROW(x, key) ((int8_t)((x) ^ (int8_t)(key)->mask))
#define REDUCE_RUNNING int8_t
#define REDUCE_NONE INT8_MAX
#define REDUCE_NAME(name) name##_least_8
#define REDUCE_IN int8_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_LOAD
#undef REDUCE_RUNNING
#undef REDUCE_NONE
#define REDUCE_LOAD(x, key) rung_key_16(x, key)
#define REDUCE_LOAD_NARROW(x, key) reduce_key_16(x, key)
#define REDUCE_RUNNING int16_t
#define REDUCE_NONE INT16_MAX
#define REDUCE_NAME(name) name##_least_16
#define REDUCE_IN int16_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_LOAD
#undef REDUCE_RUNNING
#undef REDUCE_NONE
#define REDUCE_RUNNING int32_t
#define REDUCE_NONE INT32_MAX
#define REDUCE_LOAD(x, key) ((x) ^ (int32_t)(key)->mask)
#define REDUCE_NAME(name) name##_least_32
#define REDUCE_IN int32_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_LOAD
#define REDUCE_LOAD(x, key) rung_key_f32(x, (int32_t)(key)->mask)
#define REDUCE_TILE(tile, count, key) reduce_tile_floats_32(tile, count, key)
#define REDUCE_NAME(name) name##_least_f32
#define REDUCE_IN reduce_bits_32
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_PARTIAL
#undef REDUCE_VECTOR
#undef REDUCE_WIDTH
#undef REDUCE_FOLD_ALL
#undef REDUCE_RUNNING
#undef REDUCE_NONE
#undef REDUCE_IDENTITY
#undef REDUCE_LOAD
#define REDUCE_PARTIAL int64_t
#undef REDUCE_COMBINE_ALL
#define REDUCE_COMBINE_ALL lanes_least_i64
#define REDUCE_VECTOR reduce_all_i64
#define REDUCE_WIDTH LANES_F64
#define REDUCE_FOLD_ALL TREE_FOLD_64
#define REDUCE_RUNNING int64_t
#define REDUCE_NONE INT64_MAX
#define REDUCE_IDENTITY INT64_MAX
#define REDUCE_LOAD(x, key) ((x) ^ (key)->mask)
#define REDUCE_NAME(name) name##_least_64
#define REDUCE_IN int64_t
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_LOAD
#define REDUCE_LOAD(x, key) rung_key_f64(x, (key)->mask)
#define REDUCE_TILE(tile, count, key) reduce_tile_floats_64(tile, count, key)
#define REDUCE_NAME(name) name##_least_f64
#define REDUCE_IN reduce_bits_64
#include "ops/reduce/cpu/fold_of.h"
#undef REDUCE_PARTIAL
#undef REDUCE_RUNNING
#undef REDUCE_NONE
#undef REDUCE_IDENTITY
#undef REDUCE_LOAD
#undef REDUCE_VECTOR
#undef REDUCE_WIDTH
#undef REDUCE_FOLD_ALL
#undef REDUCE_COMBINE
#undef REDUCE_COMBINE_ALL
#undef REDUCE_ORDERED

/* ---- the table ---------------------------------------------------------------------------------
 */

typedef struct reduce_fold {
  void (*lines)(const void *in, int64_t step, int count, int64_t n, bool far,
                const rung_key_code *key, void *partials);
  void (*across)(const void *in, int64_t step, int64_t n, int width, bool far,
                 const rung_key_code *key, void *room, void *partials);
  void (*shares)(const void *in, int64_t n, int width, int64_t first, int64_t count, bool far,
                 const rung_key_code *key, void *room, void *row);
  void (*run)(const void *from, int64_t step, int64_t n, int64_t at, const rung_key_code *key,
              void *state);
  void (*end_runs)(void *state, int64_t n, void *partial);
} reduce_fold;

static const reduce_fold reduce_folds[REDUCE_OPERATORS] = {
    [REDUCE_ADD_F32] = {reduce_lines_any_f32, reduce_across_f32, reduce_shares_f32, reduce_run_f32,
                        reduce_end_runs_f32},
    [REDUCE_ADD_HALF] = {reduce_lines_half, reduce_across_half, reduce_shares_half, NULL, NULL},
    [REDUCE_ADD_F64] = {reduce_lines_any_f64, reduce_across_f64, reduce_shares_f64, reduce_run_f64,
                        reduce_end_runs_f64},
    [REDUCE_ADD_8] = {reduce_lines_8, reduce_across_8, NULL, reduce_run_8, reduce_end_runs_8},
    [REDUCE_ADD_16] = {reduce_lines_16, reduce_across_16, NULL, reduce_run_16, reduce_end_runs_16},
    [REDUCE_ADD_32] = {reduce_lines_32, reduce_across_32, NULL, reduce_run_32, reduce_end_runs_32},
    [REDUCE_ADD_64] = {reduce_lines_64, reduce_across_64, NULL, reduce_run_64, reduce_end_runs_64},
    [REDUCE_LEAST_8] = {reduce_lines_least_8, reduce_across_least_8, NULL, reduce_run_least_8,
                        reduce_end_runs_least_8},
    [REDUCE_LEAST_16] = {reduce_lines_least_16, reduce_across_least_16, NULL, reduce_run_least_16,
                         reduce_end_runs_least_16},
    [REDUCE_LEAST_32] = {reduce_lines_least_32, reduce_across_least_32, NULL, reduce_run_least_32,
                         reduce_end_runs_least_32},
    [REDUCE_LEAST_F32] = {reduce_lines_least_f32, reduce_across_least_f32, NULL,
                          reduce_run_least_f32, reduce_end_runs_least_f32},
    [REDUCE_LEAST_64] = {reduce_lines_least_64, reduce_across_least_64, NULL, reduce_run_least_64,
                         reduce_end_runs_least_64},
    [REDUCE_LEAST_F64] = {reduce_lines_least_f64, reduce_across_least_f64, NULL,
                          reduce_run_least_f64, reduce_end_runs_least_f64},
};

#endif
