/* Minimum and maximum of every type are one computation: the least of signed integers, the keys.
 *
 *   integers   key = bits ^ turn
 *   floats     key = (bits in the float's order) ^ turn, and a NaN has the least key of all, which
 *              no number has: a NaN wins, -0 is below +0 (IEEE 754-2019 minimum and maximum)
 *
 * The turn puts unsigned numbers in the order of signed ones, and turns everything over where the
 * largest is sought. It also leads back. For the host and for kernels. */
#ifndef RUNG_CORE_KEY_H
#define RUNG_CORE_KEY_H

#include <stdint.h>

#include "core/tensor.h"

#ifdef __CUDACC__
#define RUNG_ANYWHERE static inline __host__ __device__
#else
#define RUNG_ANYWHERE static inline
#endif

/* No number's key is above these: of floats, +inf's or, turned over, -inf's. */
#define RUNG_KEY_MOST_F32 INT32_C(0x7f800000)
#define RUNG_KEY_MOST_F64 INT64_C(0x7ff0000000000000)

/* A float's bits as an integer in the float's order, and back: for negative ones larger magnitudes
 * are less. -0 falls below +0. Choices are made by masks here, for of branches the compiler makes
 * no vectors. */
RUNG_ANYWHERE int32_t rung_ordered_32(int32_t bits) {
  return bits ^ (-(int32_t)(bits < 0) & INT32_MAX);
}
RUNG_ANYWHERE int64_t rung_ordered_64(int64_t bits) {
  return bits ^ (-(int64_t)(bits < 0) & INT64_MAX);
}

/* `bits` are a float's. */
RUNG_ANYWHERE int32_t rung_key_f32(int32_t bits, int32_t turn) {
  const int32_t nan = -(int32_t)((bits & INT32_MAX) > RUNG_KEY_MOST_F32);
  return ((rung_ordered_32(bits) ^ turn) & ~nan) | (nan & INT32_MIN);
}
RUNG_ANYWHERE int64_t rung_key_f64(int64_t bits, int64_t turn) {
  const int64_t nan = -(int64_t)((bits & INT64_MAX) > RUNG_KEY_MOST_F64);
  return ((rung_ordered_64(bits) ^ turn) & ~nan) | (nan & INT64_MIN);
}

/* And back; the least key gives a NaN, all of its bits but the sign set. */
RUNG_ANYWHERE int32_t rung_unkey_f32(int32_t key, int32_t turn) {
  return key == INT32_MIN ? INT32_MAX : rung_ordered_32(key ^ turn);
}
RUNG_ANYWHERE int64_t rung_unkey_f64(int64_t key, int64_t turn) {
  return key == INT64_MIN ? INT64_MAX : rung_ordered_64(key ^ turn);
}

/* Keys of 32 bits use the low half. Numbers of 8 and 16 bits are all positive in 32. */
static inline int64_t rung_key_turn(rung_dtype dtype, bool largest) {
  const int64_t turn = largest ? -1 : 0;
  if (dtype == RUNG_U32) return turn ^ INT64_C(0x80000000);
  if (dtype == RUNG_U64) return turn ^ INT64_MIN;
  return turn;
}

#endif
