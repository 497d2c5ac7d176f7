/* Single elements of any type, to Python's numbers. */
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
