/* The canonical order, by one thread. A tile is read twice: from memory for the totals of its rows,
 * which are found in vector registers, all rows of a band at a time, and then from the cache for
 * the results, no row waiting for the one before. The functions of tile.h are here, of all
 * operators; the rung "threads" calls the same. */
#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "core/half.h"
#include "ops/scan/cpu/line.h"
#include "ops/scan/cpu/turn.h"

/* Brings memory near, into the second-level cache. */
LANES_INLINE void scan_prefetch(const char *from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at, 0, 2);
}

/* Copies past the caches, but for what shares a vector with others' memory. */
LANES_OUTLINE __attribute__((unused)) void scan_put_past(char *to, const char *from, int bytes) {
  const int head = (int)(-(uintptr_t)to % LANES_BYTES), before = head < bytes ? head : bytes;
  int at = before;
  memcpy(to, from, (size_t)before);
  for (; at + LANES_BYTES <= bytes; at += LANES_BYTES) {
    lanes_f32 v;
    memcpy(&v, from + at, sizeof v);
    lanes_stream_f32((float *)(void *)(to + at), v);
  }
  memcpy(to + at, from + at, (size_t)(bytes - at));
}

typedef uint32_t scan_u32 __attribute__((vector_size(LANES_BYTES), may_alias));
typedef uint64_t scan_u64 __attribute__((vector_size(LANES_BYTES), may_alias));
typedef lanes_f32 scan_f32 __attribute__((may_alias));
typedef lanes_f64 scan_f64 __attribute__((may_alias));
typedef lanes_i32 scan_i32 __attribute__((may_alias));
typedef lanes_i64 scan_i64 __attribute__((may_alias));
typedef uint32_t scan_a_u32 __attribute__((may_alias));
typedef uint64_t scan_a_u64 __attribute__((may_alias));
typedef int32_t scan_a_i32 __attribute__((may_alias));
typedef int64_t scan_a_i64 __attribute__((may_alias));
typedef uint8_t scan_a_u8 __attribute__((may_alias));
typedef uint16_t scan_a_u16 __attribute__((may_alias));
typedef int8_t scan_a_i8 __attribute__((may_alias));
typedef int16_t scan_a_i16 __attribute__((may_alias));

/* ---- vectors -----------------------------------------------------------------------------------
 */

/* Lane l of a shuffle of two vectors of n lanes. */
#define SCAN_LANE_EVEN(l, s, n) 2 * (l)
#define SCAN_LANE_ODD(l, s, n) 2 * (l) + 1
#define SCAN_LANE_LOWER(l, s, n) ((l) % 2 * (n) + (l) / 2)
#define SCAN_LANE_UPPER(l, s, n) ((l) % 2 * (n) + (n) / 2 + (l) / 2)
#define SCAN_LANE_BACK(l, s, n) ((n) - (s) + (l))
#define SCAN_LANE_LAST(l, s, n) ((n)-1)
#define SCAN_LIST_NARROW_8(lane, s) LANES_16(lane, s, 16)
#define SCAN_LIST_NARROW_16(lane, s) LANES_8(lane, s, 8)
#if LANES_BYTES == 64
#define SCAN_LIST_32(lane, s) LANES_16(lane, s, 16)
#define SCAN_LIST_64(lane, s) LANES_8(lane, s, 8)
#elif LANES_BYTES == 32
#define SCAN_LIST_32(lane, s) LANES_8(lane, s, 8)
#define SCAN_LIST_64(lane, s) LANES_4(lane, s, 4)
#else
#define SCAN_LIST_32(lane, s) LANES_4(lane, s, 4)
#define SCAN_LIST_64(lane, s) LANES_2(lane, s, 2)
#endif

/* core/key.h, a vector at a time. Comparisons give lanes of all bits or none. */
LANES_INLINE scan_i32 scan_ordered_32(scan_i32 bits) {
  return bits ^ ((bits < 0) & INT32_MAX);
}
LANES_INLINE scan_i64 scan_ordered_64(scan_i64 bits) {
  return bits ^ ((bits < 0) & INT64_MAX);
}
LANES_INLINE scan_i32 scan_key_f32(scan_i32 bits, scan_i32 mask) {
  const scan_i32 nan = (bits & INT32_MAX) > RUNG_KEY_MOST_F32;
  return ((scan_ordered_32(bits) ^ mask) & ~nan) | (nan & INT32_MIN);
}
LANES_INLINE scan_i64 scan_key_f64(scan_i64 bits, scan_i64 mask) {
  const scan_i64 nan = (bits & INT64_MAX) > RUNG_KEY_MOST_F64;
  return ((scan_ordered_64(bits) ^ mask) & ~nan) | (nan & INT64_MIN);
}
LANES_INLINE scan_i32 scan_unkey_f32(scan_i32 key, scan_i32 mask) {
  const scan_i32 nan = key == INT32_MIN;
  return (scan_ordered_32(key ^ mask) & ~nan) | (nan & INT32_MAX);
}
LANES_INLINE scan_i64 scan_unkey_f64(scan_i64 key, scan_i64 mask) {
  const scan_i64 nan = key == INT64_MIN;
  return (scan_ordered_64(key ^ mask) & ~nan) | (nan & INT64_MAX);
}

/* Of lines of n elements without gaps between them, how many are taken as one, which is short too:
 * that leaves the least part of vectors empty. Of lines with gaps those that are shorter than a
 * vector are brought together before. */
static int scan_lines_in_one(int n, int lanes, bool gaps) {
  int best = 1, filled = 0, vectors = 1;
  if (gaps && n >= lanes) return 1;
  for (int m = 1; m * n <= SCAN_SHORT; ++m) {
    const int wide = (m * n + lanes - 1) / lanes;
    if (m * n * vectors <= filled * wide) continue;
    best = m;
    filled = m * n;
    vectors = wide;
  }
  return best;
}

/* Where lines begin that are neighbours. */
static const int64_t scan_neighbours[SCAN_MOST_LANES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                         8, 9, 10, 11, 12, 13, 14, 15};

/* Vectors of numbers of 8 and 16 bits, where the processor shifts them as wholes; their keys are
 * core/key.h's rung_key_16(), in 16 bits. */
#if LANES_BYTES > 16 || defined(__aarch64__)
#define SCAN_IS_NARROW 1
/* Bytes of a tile that go past the caches: of fewer too many share a line with others. */
enum { SCAN_NARROW_PAST = 4096 };
/* Bytes of a strip's row: of longer ones memory gives more at a time. */
enum { SCAN_NARROW_STRIP = 2048 };
typedef uint8_t scan_n_u8 __attribute__((vector_size(16), may_alias));
typedef int8_t scan_n_i8 __attribute__((vector_size(16), may_alias));
typedef uint16_t scan_n_u16 __attribute__((vector_size(16), may_alias));
typedef int16_t scan_n_i16 __attribute__((vector_size(16), may_alias));

LANES_INLINE scan_n_i8 scan_least_n8(scan_n_i8 a, scan_n_i8 b) {
#ifdef __SSE4_1__
  return (scan_n_i8)_mm_min_epi8((__m128i)a, (__m128i)b);
#else
  const scan_n_i8 first = a < b;
  return (a & first) | (b & ~first);
#endif
}
LANES_INLINE scan_n_i16 scan_least_n16(scan_n_i16 a, scan_n_i16 b) {
#ifdef __SSE4_1__
  return (scan_n_i16)_mm_min_epi16((__m128i)a, (__m128i)b);
#else
  const scan_n_i16 first = a < b;
  return (a & first) | (b & ~first);
#endif
}
LANES_INLINE scan_n_i16 scan_key_n16(scan_n_i16 bits, const rung_key_code *key) {
  const int16_t order = key->order, most = key->most, mask = (int16_t)key->mask;
  const scan_n_i16 nan = (bits & order) > most, ordered = bits ^ ((bits < 0) & order);
  return ((ordered ^ mask) & ~nan) | (nan & (int16_t)INT16_MIN);
}
LANES_INLINE scan_n_i16 scan_unkey_n16(scan_n_i16 number, const rung_key_code *key) {
  const int16_t order = key->order, mask = (int16_t)key->mask;
  const scan_n_i16 bits = number ^ mask, nan = (number == (int16_t)INT16_MIN) & order;
  return ((bits ^ ((bits < 0) & order)) & ~(nan != 0)) | nan;
}
#define SCAN_MASKED_N8(v, key) ((v) ^ (int8_t)(key)->mask)
#define SCAN_AT_MOST(number, most) ((number) < (most) ? (number) : (most))
#endif

/* ---- one set of functions an operator ----------------------------------------------------------
 *
 * SCAN_E elements, SCAN_T the numbers they are loaded as, SCAN_V a vector of these. Elements that
 * are as wide as their numbers go through vectors (SCAN_LOAD, SCAN_STORE, given the key's mask),
 * narrow ones one by one (SCAN_LOAD_ONE, SCAN_STORE_ONE, given the key), of which the compiler
 * makes vectors. */

#define SCAN_SAME(v, mask) (v)
#define SCAN_MASKED(v, mask) ((v) ^ (mask))
#define SCAN_PLUS(a, b) ((a) + (b))
#define SCAN_LESSER(a, b) ((b) < (a) ? (b) : (a))

/* Numbers of 4 bytes, then of 8. */
#define SCAN_LIST SCAN_LIST_32
#define SCAN_LANES LANES_F32
#define SCAN_INTS lanes_i32
#define SCAN_TURN turn_32
#define SCAN_COMBINE SCAN_PLUS
#define SCAN_COMBINE_ONE SCAN_PLUS
#define SCAN_NAME(name) name##_add_f32
#define SCAN_T float
#define SCAN_V scan_f32
#define SCAN_IDENTITY (-0.0f)
#define SCAN_EMPTY 0
#define SCAN_LOAD SCAN_SAME
#define SCAN_STORE SCAN_SAME
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_add_half
#define SCAN_E scan_a_u16
#define SCAN_T float
#define SCAN_V scan_f32
#define SCAN_IDENTITY (-0.0f)
#define SCAN_EMPTY 0
#define SCAN_LOAD_ONE(x, key) rung_half_to_f32(x, (key)->bfloat)
#define SCAN_STORE_ONE(x, key) rung_f32_to_half(x, (key)->bfloat)
#define SCAN_LOAD_ALL(from, key) (scan_f32) lanes_of_half((const uint16_t *)(from), (key)->bfloat)
#define SCAN_STORE_ALL(to, v, key) lanes_to_half((uint16_t *)(to), (lanes_f32)(v), (key)->bfloat)
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_add_32
#define SCAN_T scan_a_u32
#define SCAN_V scan_u32
#define SCAN_IDENTITY 0
#define SCAN_EMPTY 0
#define SCAN_LOAD SCAN_SAME
#define SCAN_STORE SCAN_SAME
#define SCAN_ANY_ORDER
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_add_16
#define SCAN_E scan_a_u16
#define SCAN_T scan_a_u32
#define SCAN_V scan_u32
#define SCAN_IDENTITY 0
#define SCAN_EMPTY 0
#define SCAN_LOAD_ONE SCAN_SAME
#define SCAN_STORE_ONE SCAN_SAME
#if SCAN_IS_NARROW
#define SCAN_NARROW
#define SCAN_FREE scan_n_u16
#define SCAN_FREE_INTS scan_n_i16
#define SCAN_FREE_LIST SCAN_LIST_NARROW_16
#define SCAN_FREE_OF(number) (uint16_t)(number)
#define SCAN_FREE_COMBINE SCAN_PLUS
#define SCAN_FREE_LOAD SCAN_SAME
#define SCAN_FREE_STORE SCAN_SAME
#endif
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_add_8
#define SCAN_E scan_a_u8
#define SCAN_T scan_a_u32
#define SCAN_V scan_u32
#define SCAN_IDENTITY 0
#define SCAN_EMPTY 0
#define SCAN_LOAD_ONE SCAN_SAME
#define SCAN_STORE_ONE SCAN_SAME
#if SCAN_IS_NARROW
#define SCAN_NARROW
#define SCAN_FREE scan_n_u8
#define SCAN_FREE_INTS scan_n_i8
#define SCAN_FREE_LIST SCAN_LIST_NARROW_8
#define SCAN_FREE_OF(number) (uint8_t)(number)
#define SCAN_FREE_COMBINE SCAN_PLUS
#define SCAN_FREE_LOAD SCAN_SAME
#define SCAN_FREE_STORE SCAN_SAME
#endif
#include "ops/scan/cpu/tile_of.h"
#undef SCAN_COMBINE
#undef SCAN_COMBINE_ONE
#define SCAN_COMBINE lanes_least_i32
#define SCAN_COMBINE_ONE SCAN_LESSER
#define SCAN_NAME(name) name##_least_32
#define SCAN_T scan_a_i32
#define SCAN_V scan_i32
#define SCAN_IDENTITY INT32_MAX
#define SCAN_LOAD SCAN_MASKED
#define SCAN_STORE SCAN_MASKED
#define SCAN_ANY_ORDER
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_least_f32
#define SCAN_T scan_a_i32
#define SCAN_V scan_i32
#define SCAN_IDENTITY RUNG_KEY_MOST_F32
#define SCAN_LOAD scan_key_f32
#define SCAN_STORE scan_unkey_f32
#define SCAN_ANY_ORDER
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_least_16
#define SCAN_E scan_a_i16
#define SCAN_T scan_a_i32
#define SCAN_V scan_i32
#define SCAN_IDENTITY INT32_MAX
#define SCAN_LOAD_ONE rung_key_16
#define SCAN_STORE_ONE rung_unkey_16
#if SCAN_IS_NARROW
#define SCAN_NARROW
#define SCAN_FREE scan_n_i16
#define SCAN_FREE_INTS scan_n_i16
#define SCAN_FREE_LIST SCAN_LIST_NARROW_16
#define SCAN_FREE_OF(number) SCAN_AT_MOST(number, INT16_MAX)
#define SCAN_FREE_COMBINE scan_least_n16
#define SCAN_FREE_LOAD scan_key_n16
#define SCAN_FREE_STORE scan_unkey_n16
#endif
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_least_8
#define SCAN_E scan_a_i8
#define SCAN_T scan_a_i32
#define SCAN_V scan_i32
#define SCAN_IDENTITY INT32_MAX
#define SCAN_LOAD_ONE rung_key_16
#define SCAN_STORE_ONE rung_unkey_16
#if SCAN_IS_NARROW
#define SCAN_NARROW
#define SCAN_FREE scan_n_i8
#define SCAN_FREE_INTS scan_n_i8
#define SCAN_FREE_LIST SCAN_LIST_NARROW_8
#define SCAN_FREE_OF(number) SCAN_AT_MOST(number, INT8_MAX)
#define SCAN_FREE_COMBINE scan_least_n8
#define SCAN_FREE_LOAD SCAN_MASKED_N8
#define SCAN_FREE_STORE SCAN_MASKED_N8
#endif
#include "ops/scan/cpu/tile_of.h"
#undef SCAN_COMBINE
#undef SCAN_COMBINE_ONE
#undef SCAN_LIST
#undef SCAN_LANES
#undef SCAN_INTS
#undef SCAN_TURN

#define SCAN_LIST SCAN_LIST_64
#define SCAN_LANES LANES_F64
#define SCAN_INTS lanes_i64
#define SCAN_TURN turn_64
#define SCAN_COMBINE SCAN_PLUS
#define SCAN_COMBINE_ONE SCAN_PLUS
#define SCAN_NAME(name) name##_add_f64
#define SCAN_T double
#define SCAN_V scan_f64
#define SCAN_IDENTITY (-0.0)
#define SCAN_EMPTY 0
#define SCAN_LOAD SCAN_SAME
#define SCAN_STORE SCAN_SAME
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_add_64
#define SCAN_T scan_a_u64
#define SCAN_V scan_u64
#define SCAN_IDENTITY 0
#define SCAN_EMPTY 0
#define SCAN_LOAD SCAN_SAME
#define SCAN_STORE SCAN_SAME
#define SCAN_ANY_ORDER
#include "ops/scan/cpu/tile_of.h"
#undef SCAN_COMBINE
#undef SCAN_COMBINE_ONE
#define SCAN_COMBINE lanes_least_i64
#define SCAN_COMBINE_ONE SCAN_LESSER
#define SCAN_NAME(name) name##_least_64
#define SCAN_T scan_a_i64
#define SCAN_V scan_i64
#define SCAN_IDENTITY INT64_MAX
#define SCAN_LOAD SCAN_MASKED
#define SCAN_STORE SCAN_MASKED
#define SCAN_ANY_ORDER
#include "ops/scan/cpu/tile_of.h"
#define SCAN_NAME(name) name##_least_f64
#define SCAN_T scan_a_i64
#define SCAN_V scan_i64
#define SCAN_IDENTITY RUNG_KEY_MOST_F64
#define SCAN_LOAD scan_key_f64
#define SCAN_STORE scan_unkey_f64
#define SCAN_ANY_ORDER
#include "ops/scan/cpu/tile_of.h"
#undef SCAN_COMBINE
#undef SCAN_COMBINE_ONE
#undef SCAN_LIST
#undef SCAN_LANES
#undef SCAN_INTS
#undef SCAN_TURN

#define SCAN_ROW_OF(name)                                                               \
  {                                                                                     \
    scan_totals_##name, scan_tile_##name, scan_short_##name, scan_widest_##name,        \
        scan_across_##name, scan_last_##name, scan_identity_##name, scan_combine_##name \
  }
const scan_operator_tiles RUNG_ENTRY(scan_tiles_of)[SCAN_OPERATORS] = {
    [SCAN_ADD_F32] = SCAN_ROW_OF(add_f32),   [SCAN_ADD_F64] = SCAN_ROW_OF(add_f64),
    [SCAN_ADD_32] = SCAN_ROW_OF(add_32),     [SCAN_ADD_64] = SCAN_ROW_OF(add_64),
    [SCAN_LEAST_32] = SCAN_ROW_OF(least_32), [SCAN_LEAST_F32] = SCAN_ROW_OF(least_f32),
    [SCAN_LEAST_64] = SCAN_ROW_OF(least_64), [SCAN_LEAST_F64] = SCAN_ROW_OF(least_f64),
    [SCAN_ADD_8] = SCAN_ROW_OF(add_8),       [SCAN_ADD_16] = SCAN_ROW_OF(add_16),
    [SCAN_ADD_HALF] = SCAN_ROW_OF(add_half), [SCAN_LEAST_8] = SCAN_ROW_OF(least_8),
    [SCAN_LEAST_16] = SCAN_ROW_OF(least_16),
};
#undef SCAN_ROW_OF

/* ---- the rung ----------------------------------------------------------------------------------
 */

rung_status RUNG_ENTRY(scan_tiles)(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  if (problem->aggregates) {
    scan_leave_aggregates(task, 1);
    return RUNG_OK;
  }
  if (scan_short_ones(task, 0, problem->lines, false)) return RUNG_OK;
  for (int64_t l = 0; l < problem->lines; ++l) {
    scan_line line = scan_line_of(task, l);
    line.aggregates = (char *)task->scratch;
    for (int64_t tile = 0; tile < line.tiles; ++tile) scan_one_tile(&line, tile, NULL);
  }
  return RUNG_OK;
}
