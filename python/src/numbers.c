/* Single elements of any type, to Python's numbers and from doubles. */
#include <math.h>

#include "binding.h"

/* ---- floats of 16 bits: a sign, an exponent, so many bits of a mantissa ---------------------- */

static int mantissa_of(DLDataType type) {
  return type.code == kDLBfloat ? 7 : 10;
}
static int bias_of(int mantissa) {
  return (1 << (14 - mantissa)) - 1;
}

static double narrow_read(uint16_t bits, int mantissa) {
  const int most = (1 << (15 - mantissa)) - 1, exponent = (bits >> mantissa) & most;
  const int rest = bits & ((1 << mantissa) - 1), one = exponent > 0 ? 1 << mantissa : 0;
  const int scale = (exponent > 0 ? exponent : 1) - bias_of(mantissa) - mantissa;
  double value = ldexp(rest + one, scale);
  if (exponent == most) value = rest != 0 ? (double)NAN : (double)INFINITY;
  return bits >> 15 ? -value : value;
}

/* Rounded once, half to even. */
static uint16_t narrow_write(double value, int mantissa) {
  const int sign = signbit(value) ? 1 << 15 : 0, bias = bias_of(mantissa);
  const int infinity = ((1 << (15 - mantissa)) - 1) << mantissa;
  int exponent;
  if (isnan(value)) return (uint16_t)(sign | infinity | 1 << (mantissa - 1));
  if (value == 0 || isinf(value)) return (uint16_t)(sign | (value == 0 ? 0 : infinity));
  frexp(value, &exponent);
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  if (exponent > bias) return (uint16_t)(sign | infinity);
  const double scaled = ldexp(fabs(value), mantissa - exponent);
  int units = (int)scaled;
  const double rest = scaled - units;
  units += rest > 0.5 || (rest == 0.5 && units % 2 == 1);
  return (uint16_t)(sign | (((exponent + bias - 1) << mantissa) + units));
}

/* ---- any of them ----------------------------------------------------------------------------- */

PyObject *number_of(const void *value, DLDataType type) {
  switch (type.code) {
    case kDLFloat:
    case kDLBfloat:
      return PyFloat_FromDouble(type.bits == 16
                                    ? narrow_read(*(const uint16_t *)value, mantissa_of(type))
                                : type.bits == 32 ? *(const float *)value
                                                  : *(const double *)value);
    case kDLInt:
      return PyLong_FromLongLong(type.bits == 8    ? *(const int8_t *)value
                                 : type.bits == 16 ? *(const int16_t *)value
                                 : type.bits == 32 ? *(const int32_t *)value
                                                   : *(const int64_t *)value);
    default:
      return PyLong_FromUnsignedLongLong(type.bits == 8    ? *(const uint8_t *)value
                                         : type.bits == 16 ? *(const uint16_t *)value
                                         : type.bits == 32 ? *(const uint32_t *)value
                                                           : *(const uint64_t *)value);
  }
}

void number_put(void *data, int64_t at, double value, DLDataType type) {
  if (type.bits == 16)
    ((uint16_t *)data)[at] = narrow_write(value, mantissa_of(type));
  else if (type.bits == 32)
    ((float *)data)[at] = (float)value;
  else
    ((double *)data)[at] = value;
}
