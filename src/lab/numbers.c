#include "lab/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rung_numbers_kinds[] = {"random",      "special",     "equal",
                                          "alternating", "permutation", NULL};

static void put_integer(const rung_numbers *to, int64_t k, uint64_t value) {
  char *at = to->data + k * to->stride * (int64_t)rung_dtype_bytes(to->dtype);
  if (to->dtype == RUNG_U8)
    *(uint8_t *)at = (uint8_t)value;
  else if (to->dtype == RUNG_I32 || to->dtype == RUNG_U32)
    *(uint32_t *)at = (uint32_t)value;
  else if (to->dtype == RUNG_F32)
    *(float *)at = (float)(int64_t)value;
  else if (to->dtype == RUNG_F64)
    *(double *)at = (double)(int64_t)value;
  else
    *(uint64_t *)at = value;
}

static void put_float(const rung_numbers *to, int64_t k, double value) {
  if (to->dtype == RUNG_F32)
    ((float *)to->data)[k * to->stride] = (float)value;
  else
    ((double *)to->data)[k * to->stride] = value;
}

/* Both signs, magnitudes in [1/128, 2): digits enough that sums in another order differ. */
static double draw(rung_random *random) {
  const uint64_t bits = rung_random_next(random);
  const double value = ldexp(1.0 + rung_random_double(random), -(int)(bits & 7));
  return bits & 8 ? -value : value;
}

static int64_t draw_index(rung_random *random, int64_t n) {
  return (int64_t)(rung_random_double(random) * (double)n);
}

/* One line after the other, each with another thing that goes wrong easily. */
static void fill_special_float(const rung_numbers *to, int kind, rung_random *random) {
  const bool narrow = to->dtype == RUNG_F32;
  const double least = narrow ? 0x1p-149 : 0x1p-1074,
               most = narrow ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  for (int64_t k = 0; k < to->n; ++k) {
    double value = draw(random);
    if (kind == 3) value = -0.0;
    if (kind == 4) value = value < 0 ? -0.0 : 0.0;
    if (kind == 5) value = least * floor(value * 1000);
    if (kind == 6) value *= k % 2 ? ldexp(1.0, narrow ? 60 : 500) : 1;
    if (kind == 7) value = most;
    if (kind == 8) value = k % 2 ? least : -least;
    if (kind == 10) value = fabs(value) * (k % 3 ? 1 : -0.0);
    put_float(to, k, value);
  }
  const int64_t a = draw_index(random, to->n), b = draw_index(random, to->n);
  if (kind == 0) put_float(to, a, a % 2 ? NAN : -NAN);
  if (kind == 1) put_float(to, a, a % 2 ? INFINITY : -INFINITY);
  if (kind == 2) {
    put_float(to, a, INFINITY);
    put_float(to, b, -INFINITY);
  }
  if (kind == 9) put_float(to, to->n - 1, NAN);
}

static void fill_special_integer(const rung_numbers *to, int kind, rung_random *random) {
  static const uint64_t values[] = {0,
                                    1,
                                    UINT64_MAX,
                                    (uint64_t)INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    127,
                                    128,
                                    255};
  enum { VALUES = sizeof values / sizeof values[0] };
  for (int64_t k = 0; k < to->n; ++k)
    put_integer(to, k, kind == VALUES ? values[draw_index(random, VALUES)] : values[kind]);
  if (kind < VALUES) put_integer(to, draw_index(random, to->n), values[(kind + 1) % VALUES]);
}

static void fill_permutation(const rung_numbers *to, rung_random *random) {
  uint64_t *order = (uint64_t *)malloc((size_t)to->n * sizeof *order);
  for (int64_t k = 0; k < to->n; ++k) {
    if (order == NULL) { /* as good a job */
      put_integer(to, k, (uint64_t)k);
      continue;
    }
    const int64_t other = draw_index(random, k + 1);
    order[k] = order[other];
    order[other] = (uint64_t)k;
  }
  for (int64_t k = 0; k < to->n && order != NULL; ++k) put_integer(to, k, order[k]);
  free(order);
}

void rung_numbers_fill(const rung_numbers *to, rung_numbers_kind kind, int64_t index,
                       rung_random *random) {
  const bool floats = (RUNG_FLOATS & RUNG_TYPE(to->dtype)) != 0;
  if (to->n == 0) return;
  if (kind == RUNG_NUMBERS_PERMUTATION) {
    fill_permutation(to, random);
  } else if (kind == RUNG_NUMBERS_SPECIAL && floats) {
    fill_special_float(to, (int)(index % 11), random);
  } else if (kind == RUNG_NUMBERS_SPECIAL) {
    fill_special_integer(to, (int)(index % 12), random);
  } else {
    for (int64_t k = 0; k < to->n; ++k) {
      const double sign = kind == RUNG_NUMBERS_ALTERNATING && k % 2 ? -1 : 1;
      const double size = kind == RUNG_NUMBERS_RANDOM ? draw(random) : 0.7 * (double)(1 + index);
      if (floats)
        put_float(to, k, sign * size);
      else
        put_integer(to, k,
                    kind == RUNG_NUMBERS_RANDOM ? rung_random_next(random)
                                                : (uint64_t)((int64_t)sign * (77 + index)));
    }
  }
}

void rung_numbers_copy(const rung_numbers *to, const rung_numbers *from) {
  const int64_t bytes = (int64_t)rung_dtype_bytes(to->dtype);
  for (int64_t k = 0; k < to->n; ++k)
    memcpy(to->data + k * to->stride * bytes, from->data + k * from->stride * bytes, (size_t)bytes);
}

double rung_number_at(rung_dtype dtype, const void *data, int64_t at) {
  switch (dtype) {
    case RUNG_U8:
      return ((const uint8_t *)data)[at];
    case RUNG_U16:
      return ((const uint16_t *)data)[at];
    case RUNG_I32:
      return ((const int32_t *)data)[at];
    case RUNG_U32:
      return ((const uint32_t *)data)[at];
    case RUNG_I64:
      return (double)((const int64_t *)data)[at];
    case RUNG_U64:
      return (double)((const uint64_t *)data)[at];
    case RUNG_F32:
      return (double)((const float *)data)[at];
    default:
      return ((const double *)data)[at];
  }
}

const char *rung_number_text(rung_dtype dtype, const void *data, int64_t at,
                             char text[RUNG_NUMBER_TEXT]) {
  if (dtype == RUNG_I64)
    snprintf(text, RUNG_NUMBER_TEXT, "%" PRId64, ((const int64_t *)data)[at]);
  else if (dtype == RUNG_U64)
    snprintf(text, RUNG_NUMBER_TEXT, "%" PRIu64, ((const uint64_t *)data)[at]);
  else
    snprintf(text, RUNG_NUMBER_TEXT, "%.*g", dtype == RUNG_F32 ? 9 : 17,
             rung_number_at(dtype, data, at));
  return text;
}
