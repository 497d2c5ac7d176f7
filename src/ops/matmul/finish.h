/* What becomes of an element's chain: factors, what is added, the rounding. For the host and for
 * kernels. */
#ifndef RUNG_MATMUL_FINISH_H
#define RUNG_MATMUL_FINISH_H

#include <math.h>

#include "core/half.h"

/* In C's type, its number `at`. `added` is NULL, or as C. */
RUNG_ANYWHERE void matmul_finish_f32(float t, float alpha, float beta, const void *added, void *c,
                                     int64_t at) {
  const float r = alpha * t;
  ((float *)c)[at] = added != NULL ? fmaf(beta, ((const float *)added)[at], r) : r;
}
RUNG_ANYWHERE void matmul_finish_f64(double t, double alpha, double beta, const void *added,
                                     void *c, int64_t at) {
  const double r = alpha * t;
  ((double *)c)[at] = added != NULL ? fma(beta, ((const double *)added)[at], r) : r;
}
RUNG_ANYWHERE void matmul_finish_u32(uint32_t t, uint32_t alpha, uint32_t beta, const void *added,
                                     void *c, int64_t at) {
  const uint32_t r = alpha * t;
  ((uint32_t *)c)[at] = added != NULL ? beta * ((const uint32_t *)added)[at] + r : r;
}
RUNG_ANYWHERE void matmul_finish_half(float t, float alpha, float beta, bool bfloat,
                                      const void *added, void *c, int64_t at) {
  float r = alpha * t;
  if (added != NULL) r = fmaf(beta, rung_half_to_f32(((const uint16_t *)added)[at], bfloat), r);
  ((uint16_t *)c)[at] = rung_f32_to_half(r, bfloat);
}

#endif
