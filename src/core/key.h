/* Minimum and maximum of every type are one computation: the least of signed integers, the keys.
 *
 *   integers   key = bits ^ mask
 *   floats     key = (bits in the float's order) ^ mask, and a NaN has the least key of all, which
 *              no number has: a NaN wins, -0 is below +0 (IEEE 754-2019 minimum and maximum)
 *
 * The mask puts unsigned numbers in the order of signed ones, and turns everything over where the
 * largest is sought. It also leads back. Types of 8 and 16 bits are one computation, too: what
 * tells them apart is known when it runs. For the host and for kernels. */
#ifndef RUNG_CORE_KEY_H
#define RUNG_CORE_KEY_H

#include <stdint.h>

#include "core/dtype.h"

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
RUNG_ANYWHERE int32_t rung_key_f32(int32_t bits, int32_t mask) {
  const int32_t nan = -(int32_t)((bits & INT32_MAX) > RUNG_KEY_MOST_F32);
  return ((rung_ordered_32(bits) ^ mask) & ~nan) | (nan & INT32_MIN);
}
RUNG_ANYWHERE int64_t rung_key_f64(int64_t bits, int64_t mask) {
  const int64_t nan = -(int64_t)((bits & INT64_MAX) > RUNG_KEY_MOST_F64);
  return ((rung_ordered_64(bits) ^ mask) & ~nan) | (nan & INT64_MIN);
}

/* And back; the least key gives a NaN, all of its bits but the sign set. */
RUNG_ANYWHERE int32_t rung_unkey_f32(int32_t key, int32_t mask) {
  return key == INT32_MIN ? INT32_MAX : rung_ordered_32(key ^ mask);
}
RUNG_ANYWHERE int64_t rung_unkey_f64(int64_t key, int64_t mask) {
  return key == INT64_MIN ? INT64_MAX : rung_ordered_64(key ^ mask);
}

/* What keys of a type need to know. */
typedef struct rung_key_code {
  int64_t mask;  /* keys of fewer bits use the low ones: it is sign-extended */
  int16_t order; /* of 8 and 16 bits: INT16_MAX of floats, 0 of integers */
  int16_t most;  /* and the greatest key */
  bool bfloat;   /* of 16 bits: it is bf16, for those who convert */
} rung_key_code;

/* Of 8 or 16 bits, sign-extended. As above, with the order's mask not a constant. */
RUNG_ANYWHERE int32_t rung_key_16(int32_t bits, const rung_key_code *key) {
  const int32_t order = key->order, nan = -(int32_t)((bits & order) > key->most);
  const int32_t ordered = bits ^ (-(int32_t)(bits < 0) & order);
  return ((ordered ^ (int32_t)key->mask) & ~nan) | (nan & INT16_MIN);
}
RUNG_ANYWHERE int32_t rung_unkey_16(int32_t number, const rung_key_code *key) {
  const int32_t order = key->order, bits = number ^ (int32_t)key->mask;
  const int32_t nan = -(int32_t)(number == INT16_MIN) & order;
  return ((bits ^ (-(int32_t)(bits < 0) & order)) & ~-(int32_t)(nan != 0)) | nan;
}

#ifdef __cplusplus
extern "C" {
#endif

rung_key_code rung_key_of(rung_dtype dtype, bool largest);

#ifdef __cplusplus
}
#endif

#endif
