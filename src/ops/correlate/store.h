/* A sum, rounded to out's type: once, half to even. For CPU rungs and kernels. */
#ifndef RUNG_CORRELATE_STORE_H
#define RUNG_CORRELATE_STORE_H

#include <math.h>

#include "core/half.h"

/* The nearest whole number within 0 ... most; of a NaN 0. */
RUNG_ANYWHERE float correlate_whole(float x, float most) {
  return rintf(x > 0 ? (x < most ? x : most) : 0);
}
RUNG_ANYWHERE double correlate_whole_f64(double x, double most) {
  return rint(x > 0 ? (x < most ? x : most) : 0);
}

RUNG_ANYWHERE void correlate_store_f32(rung_dtype dtype, void *row, int64_t at, float sum) {
  if (dtype == RUNG_F32)
    ((float *)row)[at] = sum;
  else if (dtype == RUNG_U8)
    ((uint8_t *)row)[at] = (uint8_t)correlate_whole(sum, 255);
  else if (dtype == RUNG_U16)
    ((uint16_t *)row)[at] = (uint16_t)correlate_whole(sum, 65535);
  else if (dtype == RUNG_F16)
    ((uint16_t *)row)[at] = rung_f32_to_f16(sum);
  else
    ((double *)row)[at] = sum;
}

RUNG_ANYWHERE void correlate_store_f64(rung_dtype dtype, void *row, int64_t at, double sum) {
  if (dtype == RUNG_F64)
    ((double *)row)[at] = sum;
  else if (dtype == RUNG_F32)
    ((float *)row)[at] = rung_f64_to_f32(sum);
  else if (dtype == RUNG_U8)
    ((uint8_t *)row)[at] = (uint8_t)correlate_whole_f64(sum, 255);
  else if (dtype == RUNG_U16)
    ((uint16_t *)row)[at] = (uint16_t)correlate_whole_f64(sum, 65535);
  else
    ((uint16_t *)row)[at] = rung_f64_to_half(sum, false);
}

/* To f16 by way of f32: what that rounds is past f16's largest number. */
RUNG_ANYWHERE void correlate_store_i64(rung_dtype dtype, void *row, int64_t at, int64_t sum) {
  if (dtype == RUNG_U8)
    ((uint8_t *)row)[at] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  else if (dtype == RUNG_U16)
    ((uint16_t *)row)[at] = (uint16_t)(sum < 0 ? 0 : sum > 65535 ? 65535 : sum);
  else if (dtype == RUNG_F64)
    ((double *)row)[at] = (double)sum;
  else if (dtype == RUNG_F32)
    ((float *)row)[at] = (float)sum;
  else
    ((uint16_t *)row)[at] = rung_f32_to_f16((float)sum);
}

#endif
