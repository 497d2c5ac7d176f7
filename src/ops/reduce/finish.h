/* What becomes of a line's partial result: the end of every rung, on the host and in kernels. */
#ifndef RUNG_REDUCE_FINISH_H
#define RUNG_REDUCE_FINISH_H

#include "core/half.h"
#include "ops/reduce/reduce.h"

/* A float looked at as an integer of its bits. */
#ifdef __CUDACC__
typedef int32_t reduce_bits_32;
typedef int64_t reduce_bits_64;
#else
typedef int32_t __attribute__((may_alias)) reduce_bits_32;
typedef int64_t __attribute__((may_alias)) reduce_bits_64;
#endif

/* One for each type of partial results; out[at] is of end->result. */
RUNG_ANYWHERE void reduce_finish_f32(const reduce_end *end, float sum, void *out, int64_t at) {
  if (end->columns == 0) sum = 0;
  if (!end->mean && end->result == RUNG_F32) {
    ((float *)out)[at] = sum;
    return;
  }
  if (!end->mean) {
    ((uint16_t *)out)[at] = rung_f32_to_half(sum, end->key.bfloat);
    return;
  }
  const double value = (double)sum / (double)end->columns;
  if (end->result == RUNG_F32)
    ((float *)out)[at] = (float)value;
  else
    ((uint16_t *)out)[at] = rung_f64_to_half(value, end->key.bfloat);
}

RUNG_ANYWHERE void reduce_finish_f64(const reduce_end *end, double sum, void *out, int64_t at) {
  if (end->columns == 0) sum = 0;
  ((double *)out)[at] = end->mean ? sum / (double)end->columns : sum;
}

RUNG_ANYWHERE void reduce_finish_u64(const reduce_end *end, uint64_t sum, void *out, int64_t at) {
  const double n = (double)end->columns;
  sum -= (uint64_t)end->columns * (uint64_t)end->key.mask;
  if (end->mean)
    ((double *)out)[at] = (end->negative ? (double)(int64_t)sum : (double)sum) / n;
  else
    ((uint64_t *)out)[at] = sum;
}

RUNG_ANYWHERE void reduce_finish_i32(const reduce_end *end, int32_t key, void *out, int64_t at) {
  const int32_t bits = key ^ (int32_t)end->key.mask;
  if (end->result == RUNG_U8 || end->result == RUNG_I8)
    ((uint8_t *)out)[at] = (uint8_t)bits;
  else if (end->result == RUNG_F32)
    ((reduce_bits_32 *)out)[at] = rung_unkey_f32(key, (int32_t)end->key.mask);
  else if (end->result == RUNG_I32 || end->result == RUNG_U32)
    ((int32_t *)out)[at] = bits;
  else
    ((uint16_t *)out)[at] = (uint16_t)rung_unkey_16(key, &end->key);
}

RUNG_ANYWHERE void reduce_finish_i64(const reduce_end *end, int64_t key, void *out, int64_t at) {
  if (end->result == RUNG_F64)
    ((reduce_bits_64 *)out)[at] = rung_unkey_f64(key, end->key.mask);
  else
    ((int64_t *)out)[at] = key ^ end->key.mask;
}

/* Of a partial result of type `type` (reduce_partial_of()). */
RUNG_ANYWHERE void reduce_finish_any(const reduce_end *end, rung_dtype type, const void *partial,
                                     void *out, int64_t at) {
  switch (type) {
    case RUNG_F32:
      reduce_finish_f32(end, *(const float *)partial, out, at);
      break;
    case RUNG_F64:
      reduce_finish_f64(end, *(const double *)partial, out, at);
      break;
    case RUNG_U64:
      reduce_finish_u64(end, *(const uint64_t *)partial, out, at);
      break;
    case RUNG_I32:
      reduce_finish_i32(end, *(const int32_t *)partial, out, at);
      break;
    default:
      reduce_finish_i64(end, *(const int64_t *)partial, out, at);
  }
}

#endif
