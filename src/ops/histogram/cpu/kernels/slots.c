/* Loops over independent elements that the compiler makes vectors of. */
#include "ops/histogram/cpu/slots.h"

#include <math.h>
#include <string.h>

/* A guess that proves nothing, until it is settled. */
#define HISTOGRAM_DOUBT UINT32_MAX

static inline uint32_t histogram_bits_f(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t histogram_bits_d(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Slots without those outside, made slots: the outermost edges decide. */
static inline void histogram_part_outside(const histogram_rule *rule, const double *x, int n,
                                          uint32_t *slots) {
  const uint32_t bins = (uint32_t)rule->bins;
  const double first = rule->first, last = rule->last;
  for (int i = 0; i < n; ++i) {
    uint32_t slot = slots[i];
    slot = x[i] < first ? bins + HISTOGRAM_BELOW : slot;
    slot = x[i] > last ? bins + HISTOGRAM_ABOVE : slot;
    slots[i] = x[i] == x[i] ? slot : bins + HISTOGRAM_NAN;
  }
}

/* Rounds a strip to the edges' type: to float in two loops, as rung_f64_to_f32() says why. */
static inline void histogram_round_strip(rung_dtype to, double *x, int n) {
  float rounded[HISTOGRAM_STRIP];
  if (to != RUNG_F32) {
    for (int i = 0; i < n; ++i) x[i] = histogram_rounded(to, x[i]);
    return;
  }
  for (int i = 0; i < n; ++i) rounded[i] = (float)x[i];
  __asm__("" : "+m"(rounded));
  for (int i = 0; i < n; ++i) x[i] = (double)rounded[i];
}

/* histogram_settle() of a strip: the edge nearest to every element is worked out and compared.
 * Where elements may be guessed, a step is not 0. All in double, slots too: lanes of one width. */
static inline void histogram_settle_wide(const histogram_rule *rule, const double *x, int n,
                                         uint32_t *slots) {
  const double low = rule->low, high = rule->high, step = rule->step, scale = rule->scale;
  const double bins = rule->bins, first = rule->first, last = rule->last;
  double near[HISTOGRAM_STRIP], edge[HISTOGRAM_STRIP];
  for (int i = 0; i < n; ++i) {
    double place = (x[i] - low) * scale;
    place = place > 0 ? place : 0; /* a NaN, too */
    place = place < bins ? place : bins;
    near[i] = (place + HISTOGRAM_MAGIC_D) - HISTOGRAM_MAGIC_D;
    edge[i] = near[i] == bins ? high : near[i] * step + low;
  }
  if (rule->rounded != RUNG_F64) histogram_round_strip(rule->rounded, edge, n);
  for (int i = 0; i < n; ++i) {
    double slot = x[i] < edge[i] ? near[i] - 1 : near[i];
    slot = slot < bins ? slot : bins - 1;
    slot = x[i] < first ? bins + HISTOGRAM_BELOW : slot;
    slot = x[i] > last ? bins + HISTOGRAM_ABOVE : slot;
    slot = x[i] == x[i] ? slot : bins + HISTOGRAM_NAN;
    slots[i] = (uint32_t)(int)slot;
  }
}

/* All elements go down the binary search of their cells side by side, a level at a time. An edge of
 * a higher cell is above the element, so it does not matter whether there is one. */
static inline void histogram_search_strip(const histogram_rule *rule, const histogram_given *given,
                                          const double *x, int n, uint32_t *slots) {
  const histogram_rule own = *rule; /* no store to `slots` can change these */
  const double *edges = given->padded;
  const uint32_t *guide = given->guide;
  /* In two loops: one alone is made no vectors of, and branches at the outermost cells. */
  for (int i = 0; i < n; ++i) slots[i] = (uint32_t)histogram_cell(&own, x[i]);
  __asm__("" : : "r"(slots) : "memory");
  for (int i = 0; i < n; ++i) slots[i] = guide[slots[i]];
  for (int step = given->steps - 1; step >= 0; --step) {
    const uint32_t half = (uint32_t)1 << step;
    for (int i = 0; i < n; ++i) slots[i] += edges[slots[i] + half] <= x[i] ? half : 0;
  }
  histogram_part_outside(rule, x, n, slots);
}

#define HISTOGRAM_NAME(name) name##_i16
#define HISTOGRAM_GRID_INTEGERS INT16_MIN, INT16_MAX
#define HISTOGRAM_TYPE int16_t
#define HISTOGRAM_REST(rule, x) histogram_rest_signed_32(rule, x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_u16
#define HISTOGRAM_GRID_INTEGERS 0, UINT16_MAX
#define HISTOGRAM_TYPE uint16_t
#define HISTOGRAM_REST(rule, x) histogram_rest_32(rule, x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_i32
#define HISTOGRAM_GRID_INTEGERS INT32_MIN, INT32_MAX
#define HISTOGRAM_TYPE int32_t
#define HISTOGRAM_REST(rule, x) histogram_rest_signed_32(rule, x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_u32
#define HISTOGRAM_GRID_INTEGERS 0, UINT32_MAX
#define HISTOGRAM_TYPE uint32_t
#define HISTOGRAM_REST(rule, x) histogram_rest_32(rule, x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_i64
#define HISTOGRAM_TYPE int64_t
#define HISTOGRAM_REST(rule, x) histogram_rest_signed_64(rule, x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_f16
#define HISTOGRAM_TYPE uint16_t
#define HISTOGRAM_VALUE(x) rung_f16_to_f32(x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_bf16
#define HISTOGRAM_TYPE uint16_t
#define HISTOGRAM_VALUE(x) rung_bf16_to_f32(x)
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_f32
#define HISTOGRAM_GRID_FLOATS(x) floorf(x)
#define HISTOGRAM_TYPE float
#include "ops/histogram/cpu/slots_of.h"
#define HISTOGRAM_NAME(name) name##_f64
#define HISTOGRAM_GRID_FLOATS(x) floor(x)
#define HISTOGRAM_TYPE double
#include "ops/histogram/cpu/slots_of.h"

histogram_slots *RUNG_ENTRY(histogram_slots_of)(rung_dtype dtype) {
  static histogram_slots *const of[RUNG_DTYPES] = {
      [RUNG_I16] = histogram_slots_i16,   [RUNG_U16] = histogram_slots_u16,
      [RUNG_I32] = histogram_slots_i32,   [RUNG_U32] = histogram_slots_u32,
      [RUNG_I64] = histogram_slots_i64,   [RUNG_F16] = histogram_slots_f16,
      [RUNG_BF16] = histogram_slots_bf16, [RUNG_F32] = histogram_slots_f32,
      [RUNG_F64] = histogram_slots_f64,
  };
  return of[dtype];
}
