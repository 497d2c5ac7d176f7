#include "core/dtype.h"

#include <dlpack/dlpack.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/half.h"

/* ---- elements of each type --------------------------------------------------------------------
 */

/* A 64-bit integer as a double that rounds to any narrower float as the integer itself would:
 * digits that the double has no place for leave a mark in its last ones. */
static double marked(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  const uint64_t lost = magnitude >> 53 != 0 ? magnitude & 0x7ff : 0;
  const double kept = (double)((magnitude - lost) | (lost != 0 ? 0x800 : 0));
  return value < 0 ? -kept : kept;
}

#define INTEGER(name, type, low, high)                        \
  static double load_##name(const void *at) {                 \
    return (double)*(const type *)at;                         \
  }                                                           \
  static int64_t load_integer_##name(const void *at) {        \
    return (int64_t) * (const type *)at;                      \
  }                                                           \
  static void store_##name(void *at, double value) {          \
    const double whole = nearbyint(value);                    \
    *(type *)at = isnan(value)            ? 0                 \
                  : whole <= (double)low  ? low               \
                  : whole >= (double)high ? high              \
                                          : (type)whole;      \
  }                                                           \
  static void store_integer_##name(void *at, int64_t value) { \
    *(type *)at = (type)value;                                \
  }
INTEGER(u8, uint8_t, 0, UINT8_MAX)
INTEGER(i8, int8_t, INT8_MIN, INT8_MAX)
INTEGER(u16, uint16_t, 0, UINT16_MAX)
INTEGER(i16, int16_t, INT16_MIN, INT16_MAX)
INTEGER(i32, int32_t, INT32_MIN, INT32_MAX)
INTEGER(u32, uint32_t, 0, UINT32_MAX)
INTEGER(i64, int64_t, INT64_MIN, INT64_MAX)
INTEGER(u64, uint64_t, 0, UINT64_MAX)

#define FLOATING(name, type, TO, FROM, FROM_INTEGER)          \
  static double load_##name(const void *at) {                 \
    return (double)TO(*(const type *)at);                     \
  }                                                           \
  static void store_##name(void *at, double value) {          \
    *(type *)at = FROM(value);                                \
  }                                                           \
  static void store_integer_##name(void *at, int64_t value) { \
    *(type *)at = FROM_INTEGER(value);                        \
  }
#define TO_F16(x) rung_f64_to_half(x, false)
#define TO_BF16(x) rung_f64_to_half(x, true)
#define MARKED_F16(x) TO_F16(marked(x))
#define MARKED_BF16(x) TO_BF16(marked(x))
FLOATING(f16, uint16_t, rung_f16_to_f32, TO_F16, MARKED_F16)
FLOATING(bf16, uint16_t, rung_bf16_to_f32, TO_BF16, MARKED_BF16)
FLOATING(f32, float, , (float), (float))
FLOATING(f64, double, , , (double))

/* ---- the table --------------------------------------------------------------------------------
 */

#define FUNCTIONS(name) \
  .load = load_##name, .store = store_##name, .store_integer = store_integer_##name
#define FUNCTIONS_OF_INTEGER(name) \
  FUNCTIONS(name), .load_integer = load_integer_##name, .digits = 20, .tiny = 1
#define UNSIGNED_OF .kind = RUNG_UNSIGNED, .dlpack = kDLUInt, .npy = 'u', .sum = RUNG_U64
#define SIGNED_OF .kind = RUNG_SIGNED, .dlpack = kDLInt, .npy = 'i', .sum = RUNG_I64
#define FLOAT_OF .kind = RUNG_FLOAT, .dlpack = kDLFloat, .npy = 'f'

/* In the order of the enum. */
static const rung_traits all_traits[] = {
    {RUNG_U8, "u8", 1, UNSIGNED_OF, .largest = UINT8_MAX, FUNCTIONS_OF_INTEGER(u8)},
    {RUNG_I8, "i8", 1, SIGNED_OF, .least = INT8_MIN, .largest = INT8_MAX, FUNCTIONS_OF_INTEGER(i8)},
    {RUNG_U16, "u16", 2, UNSIGNED_OF, .largest = UINT16_MAX, FUNCTIONS_OF_INTEGER(u16)},
    {RUNG_I16, "i16", 2, SIGNED_OF, .least = INT16_MIN, .largest = INT16_MAX,
     FUNCTIONS_OF_INTEGER(i16)},
    {RUNG_I32, "i32", 4, SIGNED_OF, .least = INT32_MIN, .largest = INT32_MAX,
     FUNCTIONS_OF_INTEGER(i32)},
    {RUNG_U32, "u32", 4, UNSIGNED_OF, .largest = UINT32_MAX, FUNCTIONS_OF_INTEGER(u32)},
    {RUNG_I64, "i64", 8, SIGNED_OF, .least = -0x1p63, .largest = 0x1p63, FUNCTIONS_OF_INTEGER(i64)},
    {RUNG_U64, "u64", 8, UNSIGNED_OF, .largest = 0x1p64, FUNCTIONS_OF_INTEGER(u64)},
    {RUNG_F16, "f16", 2, FLOAT_OF, .sum = RUNG_F32, .digits = 5, .eps = 0x1p-10, .tiny = 0x1p-24,
     .least = -65504, .largest = 65504, FUNCTIONS(f16)},
    {RUNG_BF16, "bf16", 2, .kind = RUNG_FLOAT, .dlpack = kDLBfloat, .sum = RUNG_F32, .digits = 4,
     .eps = 0x1p-7, .tiny = 0x1p-133, .least = -0x1.fep127, .largest = 0x1.fep127, FUNCTIONS(bf16)},
    {RUNG_F32, "f32", 4, FLOAT_OF, .sum = RUNG_F32, .digits = 9, .eps = 0x1p-23, .tiny = 0x1p-149,
     .least = -0x1.fffffep127, .largest = 0x1.fffffep127, FUNCTIONS(f32)},
    {RUNG_F64, "f64", 8, FLOAT_OF, .sum = RUNG_F64, .digits = 17, .eps = 0x1p-52, .tiny = 0x1p-1074,
     .least = -0x1.fffffffffffffp1023, .largest = 0x1.fffffffffffffp1023, FUNCTIONS(f64)},
};
_Static_assert(sizeof all_traits / sizeof *all_traits == RUNG_DTYPES,
               "every dtype has its row of traits");

const rung_traits *rung_traits_of(rung_dtype dtype) {
  return &all_traits[dtype];
}

size_t rung_dtype_bytes(rung_dtype dtype) {
  return all_traits[dtype].bytes;
}

const char *rung_dtype_name(rung_dtype dtype) {
  return all_traits[dtype].name;
}

bool rung_dtype_is_float(rung_dtype dtype) {
  return all_traits[dtype].kind == RUNG_FLOAT;
}

bool rung_dtype_named(const char *name, rung_dtype *dtype) {
  for (int d = 0; d < RUNG_DTYPES; d++) {
    if (strcmp(name, all_traits[d].name) == 0) {
      *dtype = (rung_dtype)d;
      return true;
    }
  }
  return false;
}

bool rung_dtype_of_code(uint8_t code, uint8_t bits, rung_dtype *dtype) {
  for (int d = 0; d < RUNG_DTYPES; d++) {
    if (code == all_traits[d].dlpack && bits == 8 * all_traits[d].bytes) {
      *dtype = (rung_dtype)d;
      return true;
    }
  }
  return false;
}

void rung_dtypes_text(unsigned dtypes, char *text, size_t room) {
  size_t used = 0;
  text[0] = '\0';
  for (int d = 0; d < RUNG_DTYPES; d++) {
    if (!(dtypes & RUNG_TYPE(d))) continue;
    dtypes &= ~RUNG_TYPE(d);
    const char *between = used == 0 ? "" : dtypes ? ", " : " or ";
    const int more = snprintf(text + used, room - used, "%s%s", between, all_traits[d].name);
    if (more < 0 || (size_t)more >= room - used) {
      text[used] = '\0';
      return;
    }
    used += (size_t)more;
  }
}

const char *rung_number_text(rung_dtype dtype, const void *data, int64_t at,
                             char text[RUNG_NUMBER_TEXT]) {
  const rung_traits *traits = &all_traits[dtype];
  const char *element = (const char *)data + at * (int64_t)traits->bytes;
  if (traits->kind == RUNG_FLOAT && isnan(traits->load(element)))
    strcpy(text, "nan"); /* its sign means nothing */
  else if (traits->kind == RUNG_FLOAT)
    snprintf(text, RUNG_NUMBER_TEXT, "%.*g", traits->digits, traits->load(element));
  else if (traits->kind == RUNG_SIGNED)
    snprintf(text, RUNG_NUMBER_TEXT, "%" PRId64, traits->load_integer(element));
  else
    snprintf(text, RUNG_NUMBER_TEXT, "%" PRIu64, (uint64_t)traits->load_integer(element));
  return text;
}

long double rung_number_exact(rung_dtype dtype, const void *data, int64_t at) {
  const rung_traits *traits = &all_traits[dtype];
  const char *element = (const char *)data + at * (int64_t)traits->bytes;
  if (traits->kind == RUNG_FLOAT) return (long double)traits->load(element);
  const int64_t value = traits->load_integer(element);
  return traits->kind == RUNG_SIGNED ? (long double)value : (long double)(uint64_t)value;
}

double rung_number_rounded(rung_dtype dtype, double value) {
  const rung_traits *traits = &all_traits[dtype];
  char element[sizeof(double)];
  traits->store(element, value);
  return traits->load(element);
}

void rung_convert(rung_dtype to_type, void *to, rung_dtype from_type, const void *from) {
  const rung_traits *traits = &all_traits[from_type], *target = &all_traits[to_type];
  if (traits->kind == RUNG_FLOAT) {
    target->store(to, traits->load(from));
    return;
  }
  const int64_t value = traits->load_integer(from);
  if (value >= 0 || traits->kind == RUNG_SIGNED || target->kind != RUNG_FLOAT)
    target->store_integer(to, value);
  else if (to_type == RUNG_F64)
    target->store(to, traits->load(from));
  else /* a u64 of 2^63 or more: its half, and the last bit kept as a mark */
    target->store(to, 2 * marked((int64_t)((uint64_t)value >> 1 | (value & 1))));
}
