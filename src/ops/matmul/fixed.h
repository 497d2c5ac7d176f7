/* Fixed point, as RUNG_MATH_FIXED's contract has it (matmul.h): an element's whole number, its
 * digits, where planes of digits lie, and what becomes of a sum. For the host and for kernels. */
#ifndef RUNG_MATMUL_FIXED_H
#define RUNG_MATMUL_FIXED_H

#include <math.h>

#include "core/half.h"
#include "ops/matmul/matmul.h"

/* Bits of infinity's magnitude: a line whose largest magnitude has these or more has no scale. */
#define MATMUL_NO_SCALE UINT32_C(0x7f800000)

/* ---- an element -------------------------------------------------------------------------------
 *
 * A line is a row of op(A) or a column of op(B). Its scale follows from its largest magnitude, as
 * the bits of a float, which order as the magnitudes do: the greatest of
 * matmul_magnitude(x) over its elements, in any order. */

RUNG_ANYWHERE uint32_t matmul_magnitude(float x) {
  return rung_bits_of(x) & UINT32_C(0x7fffffff);
}

/* 2^power, -1022 <= power <= 1023. */
RUNG_ANYWHERE double matmul_power(int power) {
  const uint64_t bits = (uint64_t)(1023 + power) << 52;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* e with 2^(e-1) <= the largest magnitude < 2^e: -148 ... 128. 0 where that is 0, or no number. */
RUNG_ANYWHERE int matmul_exponent(uint32_t largest) {
  const double x = (double)rung_float_of(largest); /* normal where the float is subnormal */
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return largest == 0 || largest >= MATMUL_NO_SCALE ? 0 : (int)(bits >> 52) - 1022;
}

/* How a line's elements become whole numbers: by this factor, then rounded, then so many bits to
 * the left, where their digits begin. */
typedef struct matmul_scale {
  double factor;
  int left;
} matmul_scale;

RUNG_ANYWHERE matmul_scale matmul_scale_of(uint32_t largest, int bits) {
  const matmul_scale scale = {
      largest < MATMUL_NO_SCALE ? matmul_power(bits - 1 - matmul_exponent(largest)) : 0,
      8 * matmul_digits_of(bits) - 1 - bits};
  return scale;
}

/* The product is exact, and the addition rounds it to a whole number, ties to even, whose last 32
 * bits the sum ends with. An element of a line without a scale: NaNs have other bits, which no
 * result shows. */
RUNG_ANYWHERE int32_t matmul_whole(float x, matmul_scale scale) {
  const double sum = (double)x * scale.factor + 0x1.8p52;
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return (int32_t)((uint32_t)bits << scale.left);
}

/* ---- digits -----------------------------------------------------------------------------------
 */

/* A whole number's digits, from -128 to 127 each, the least significant in the lowest byte: with
 * 128 added to all but the highest, they are the bytes of the number that the same is added to. */
RUNG_ANYWHERE uint32_t matmul_digits(int32_t whole, int digits) {
  const uint32_t up = UINT32_C(0x808080) >> (8 * (MATMUL_DIGITS - digits));
  return ((uint32_t)whole + up) ^ up;
}

/* Plane 0 has the most significant digits. */
RUNG_ANYWHERE int8_t matmul_digit(uint32_t word, int digits, int plane) {
  return (int8_t)(word >> (8 * (digits - 1 - plane)));
}

/* The factor of the products of plane u of A and v of B, u + v < digits. */
RUNG_ANYWHERE int64_t matmul_weight(int digits, int u, int v) {
  return INT64_C(1) << (8 * (digits - 1 - u - v));
}

/* ---- planes of digits --------------------------------------------------------------------------
 *
 * In scratch: A's digits, B's, then the largest magnitudes of A's lines and of B's, each from a
 * multiple of 256 bytes on. Digit l of a line's plane is byte
 *     ((matrix * digits + plane) * lines + line) * pitch + l
 * with zeros from k to the pitch: a digit of 0 changes no sum. An operand that is the same for the
 * whole batch has one matrix. */

enum { MATMUL_FIXED_LINE = 128 }; /* a pitch is a multiple of so many bytes */

typedef struct matmul_planes {
  int digits;
  int64_t pitch;
  int64_t a_matrices, b_matrices;
  size_t b, a_largest, b_largest; /* where these begin in scratch; A's digits at 0 */
  size_t bytes;                   /* all of it */
} matmul_planes;

static inline size_t matmul_whole_256(int64_t bytes) {
  return ((size_t)bytes + 255) / 256 * 256;
}

static inline matmul_planes matmul_planes_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_steps a = matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned),
                     b = matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned);
  matmul_planes planes = {matmul_digits_of(p->bits), 0, 1, 1, 0, 0, 0, 0};
  planes.pitch = (p->k + MATMUL_FIXED_LINE - 1) / MATMUL_FIXED_LINE * MATMUL_FIXED_LINE;
  if (a.batch != 0) planes.a_matrices = p->batch;
  if (b.batch != 0) planes.b_matrices = p->batch;
  const int64_t a_lines = planes.a_matrices * p->m, b_lines = planes.b_matrices * p->n;
  planes.b = matmul_whole_256(a_lines * planes.digits * planes.pitch);
  planes.a_largest = planes.b + matmul_whole_256(b_lines * planes.digits * planes.pitch);
  planes.b_largest = planes.a_largest + matmul_whole_256(a_lines * 4);
  planes.bytes = planes.b_largest + matmul_whole_256(b_lines * 4);
  return planes;
}

/* ---- a sum's end -------------------------------------------------------------------------------
 */

/* sum * 2^power, rounded once to float. A sum of more digits than a double has loses ten, of which
 * the last kept one says whether they were zero: a float ends 19 digits before it or more. */
RUNG_ANYWHERE float matmul_rounded(int64_t sum, int power) {
  uint64_t magnitude = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum;
  if (magnitude >> 53 != 0) {
    magnitude = magnitude >> 10 | ((magnitude & 1023) != 0);
    power += 10;
  }
  const float x = (float)((double)(int64_t)magnitude * matmul_power(power));
  return sum < 0 ? -x : x;
}

/* The same of two powers' product, where a sum has at most 53 digits: as it has for k up to
 * MATMUL_SHORT_K. matmul_line_power() of a line without a scale is a NaN, as are then its t. */
enum { MATMUL_SHORT_K = 1 << 16 };
RUNG_ANYWHERE double matmul_line_power(uint32_t largest, int up) {
  return largest < MATMUL_NO_SCALE ? matmul_power(matmul_exponent(largest) + up) : NAN;
}
RUNG_ANYWHERE float matmul_short_t(int64_t sum, double a_power, double b_power) {
  return (float)((double)sum * a_power * b_power);
}

/* What the contract calls t. */
RUNG_ANYWHERE float matmul_fixed_t(int64_t sum, uint32_t a_largest, uint32_t b_largest,
                                   int digits) {
  if (a_largest >= MATMUL_NO_SCALE || b_largest >= MATMUL_NO_SCALE)
    return rung_float_of(UINT32_C(0x7fc00000));
  return matmul_rounded(sum,
                        matmul_exponent(a_largest) + matmul_exponent(b_largest) - 8 * digits - 4);
}

#endif
