/* f16 (IEEE 754's binary16) and bf16 (a float's upper half), which travel as their bits: to float
 * exactly, and from it half to even, past the largest to infinity, subnormals kept, a NaN to a NaN.
 * Integer code, so that the bits are the same on every target; without branches, so that the
 * compiler makes vectors of it. For the host and for kernels. */
#ifndef RUNG_CORE_HALF_H
#define RUNG_CORE_HALF_H

#include <string.h>

#include "core/dtype.h"

RUNG_ANYWHERE uint32_t rung_bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
RUNG_ANYWHERE float rung_float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

RUNG_ANYWHERE float rung_f16_to_f32(uint16_t half) {
#ifdef __CUDA_ARCH__
  float exact;
  asm("cvt.f32.f16 %0, %1;" : "=f"(exact) : "h"(half));
  return exact;
#else
  const uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000)
                                                                     << 16;
  const uint32_t normal = magnitude + (UINT32_C(112) << 23);
  const uint32_t special = magnitude + (UINT32_C(224) << 23);
  /* The subnormal's digits below 2^-14, which is then taken off. */
  const uint32_t subnormal =
      rung_bits_of(rung_float_of(magnitude + (UINT32_C(113) << 23)) - 0x1p-14f);
  uint32_t bits = magnitude < UINT32_C(0x00800000) ? subnormal : normal;
  bits = magnitude >= UINT32_C(0x0f800000) ? special : bits;
  return rung_float_of(bits | sign);
#endif
}

RUNG_ANYWHERE uint16_t rung_f32_to_f16(float x) {
#ifdef __CUDA_ARCH__
  uint16_t rounded;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(x));
  return rounded;
#else
  const uint32_t bits = rung_bits_of(x), sign = bits >> 16 & 0x8000,
                 magnitude = bits & UINT32_C(0x7fffffff);
  /* At 1/2 a float's digits end where the least subnormal is: the addition rounds. */
  const uint32_t subnormal = rung_bits_of(rung_float_of(magnitude) + 0.5f) - UINT32_C(0x3f000000);
  const uint32_t normal = (magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t half = magnitude < UINT32_C(0x38800000) ? subnormal : normal;
  half = magnitude >= UINT32_C(0x477ff000) ? 0x7c00 : half;
  half = magnitude > UINT32_C(0x7f800000) ? 0x7e00 : half;
  return (uint16_t)(half | sign);
#endif
}

RUNG_ANYWHERE float rung_bf16_to_f32(uint16_t half) {
  return rung_float_of((uint32_t)half << 16);
}

RUNG_ANYWHERE uint16_t rung_f32_to_bf16(float x) {
  const uint32_t bits = rung_bits_of(x), rounded = bits + 0x7fff + (bits >> 16 & 1);
  const uint32_t nan = (bits >> 16 & 0x8000) | 0x7fc0;
  return (uint16_t)((bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) ? nan : rounded >> 16);
}

/* Which of the two is known when a kernel runs, so that one kernel serves both. */
RUNG_ANYWHERE float rung_half_to_f32(uint16_t half, bool bfloat) {
  return bfloat ? rung_bf16_to_f32(half) : rung_f16_to_f32(half);
}
RUNG_ANYWHERE uint16_t rung_f32_to_half(float x, bool bfloat) {
  return bfloat ? rung_f32_to_bf16(x) : rung_f32_to_f16(x);
}

/* x rounded to float. GCC up to 13 takes the two conversions for none where it makes vectors of
 * them (it compares the precision of the vectors' types, which for vectors is something else): it
 * must not see them together. */
RUNG_ANYWHERE float rung_f64_to_f32(double x) {
  float rounded = (float)x;
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  __asm__("" : "+m"(rounded));
#endif
  return rounded;
}

/* A double to a half, rounded once: towards zero to a float first, whose last bit then says whether
 * anything was lost. */
RUNG_ANYWHERE uint16_t rung_f64_to_half(double x, bool bfloat) {
  const float rounded = rung_f64_to_f32(x);
  const double back = (double)rounded;
  uint32_t bits = rung_bits_of(rounded);
  if ((back < 0 ? -back : back) > (x < 0 ? -x : x)) bits -= 1;
  if (back != x) bits |= 1;
  return rung_f32_to_half(rung_float_of(bits), bfloat);
}

#endif
