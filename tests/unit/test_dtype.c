/* The traits of element types, and f16 and bf16 to and from floats: every one of their values, and
 * what lies between two neighbours. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/half.h"
#include "core/key.h"

/* By the definition: exponent bits, the bits of the digits, the bias. */
static double value_of(uint16_t half, bool bfloat) {
  const int digits = bfloat ? 7 : 10, bias = bfloat ? 127 : 15, top = bfloat ? 255 : 31;
  const int exponent = (half & 0x7fff) >> digits, rest = half & ((1 << digits) - 1);
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == top) return rest ? (double)NAN : sign * (double)INFINITY;
  if (exponent == 0) return sign * ldexp(rest, 1 - bias - digits);
  return sign * ldexp(rest + (1 << digits), exponent - bias - digits);
}

static bool same(double a, double b) {
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void halves_are_floats(void **state) {
  (void)state;
  for (int bfloat = 0; bfloat < 2; ++bfloat)
    for (int bits = 0; bits < 0x10000; ++bits) {
      const float found = rung_half_to_f32((uint16_t)bits, bfloat);
      const double wanted = value_of((uint16_t)bits, bfloat);
      if (!same((double)found, wanted))
        fail_msg("%d: %#x is %a, not %a", bfloat, bits, found, wanted);
      const uint16_t back = rung_f32_to_half(found, bfloat);
      if (isnan(wanted))
        assert_true(isnan(value_of(back, bfloat)));
      else
        assert_int_equal(back, bits);
      const uint16_t narrowed = rung_f64_to_half(wanted, bfloat);
      assert_true(same(value_of(narrowed, bfloat), wanted));
    }
}

/* Between two neighbours the middle goes to the even one, and whatever is on a side of it, however
 * little, to that side's. Past the largest the next one would be a power of two. */
static void between_halves(void **state) {
  (void)state;
  for (int bfloat = 0; bfloat < 2; ++bfloat) {
    const int most = bfloat ? 0x7f7f : 0x7bff;
    for (int bits = 0; bits <= most; ++bits) {
      const double low = value_of((uint16_t)bits, bfloat),
                   high = bits == most ? ldexp(1, bfloat ? 128 : 16)
                                       : value_of((uint16_t)(bits + 1), bfloat);
      const double middle = low / 2 + high / 2;
      const int even = bits + (bits & 1);
      for (int sign = 0; sign < 2; ++sign) {
        const int mark = sign << 15;
        const double x = sign ? -middle : middle, away = sign ? -INFINITY : INFINITY;
        assert_int_equal(rung_f64_to_half(x, bfloat), even | mark);
        assert_int_equal(rung_f64_to_half(nextafter(x, 0), bfloat), bits | mark);
        assert_int_equal(rung_f64_to_half(nextafter(x, away), bfloat), (bits + 1) | mark);
        if ((double)(float)x != x) continue; /* of the least bf16s */
        assert_int_equal(rung_f32_to_half((float)x, bfloat), even | mark);
        assert_int_equal(rung_f32_to_half(nextafterf((float)x, 0), bfloat), bits | mark);
        assert_int_equal(rung_f32_to_half(nextafterf((float)x, (float)away), bfloat),
                         (bits + 1) | mark);
      }
    }
    assert_int_equal(rung_f32_to_half(INFINITY, bfloat), most + 1);
    assert_int_equal(rung_f32_to_half(bfloat ? 0x1.fffffep127f : 1e10f, bfloat), most + 1);
    assert_true(isnan(value_of(rung_f64_to_half((double)NAN, bfloat), bfloat)));
    assert_true(isnan(value_of(rung_f32_to_half(rung_float_of(0x7f800001), bfloat), bfloat)));
    assert_int_equal(rung_f64_to_half(1e300, bfloat), most + 1);
    assert_int_equal(rung_f64_to_half(-1e-300, bfloat), 0x8000);
  }
}

/* Keys put every value in its place, a NaN before all, and lead back. */
static void keys_of_halves(void **state) {
  (void)state;
  for (int t = 0; t < 2; ++t)
    for (int largest = 0; largest < 2; ++largest) {
      const rung_key_code key = rung_key_of(t ? RUNG_BF16 : RUNG_F16, largest);
      double last = largest ? -(double)INFINITY : (double)INFINITY;
      for (int number = key.most; number >= INT16_MIN; --number) {
        const uint16_t bits = (uint16_t)rung_unkey_16(number, &key);
        const double value = value_of(bits, t);
        if (isnan(value)) continue;
        assert_int_equal(rung_key_16((int16_t)bits, &key), number);
        assert_true(largest ? value >= last : value <= last);
        last = value;
      }
      assert_int_equal(rung_key_16(0x7fff, &key), INT16_MIN);
      assert_int_equal(rung_key_16((int16_t)0xffff, &key), INT16_MIN);
      assert_true(isnan(value_of((uint16_t)rung_unkey_16(INT16_MIN, &key), t)));
    }
}

static void traits_are_the_types(void **state) {
  (void)state;
  for (int d = 0; d < RUNG_DTYPES; ++d) {
    const rung_traits *traits = rung_traits_of((rung_dtype)d);
    char at[8];
    if (traits->kind != RUNG_FLOAT) {
      assert_true(rung_number_rounded((rung_dtype)d, 1e300) == traits->largest);
      assert_true(rung_number_rounded((rung_dtype)d, -1e300) == traits->least);
      assert_true(rung_number_rounded((rung_dtype)d, (double)NAN) == 0);
      assert_true(rung_number_rounded((rung_dtype)d, 2.5) == 2);
      traits->store_integer(at, -1);
      assert_int_equal(traits->load_integer(at), traits->kind == RUNG_SIGNED ? -1
                                                 : traits->bytes == 8
                                                     ? -1
                                                     : ((int64_t)1 << 8 * traits->bytes) - 1);
      continue;
    }
    assert_true(rung_number_rounded((rung_dtype)d, 1 + traits->eps) == 1 + traits->eps);
    assert_true(rung_number_rounded((rung_dtype)d, 1 + traits->eps / 2) == 1);
    assert_true(rung_number_rounded((rung_dtype)d, traits->tiny) == traits->tiny);
    assert_true(rung_number_rounded((rung_dtype)d, traits->tiny / 2) == 0);
    assert_true(rung_number_rounded((rung_dtype)d, traits->largest) == traits->largest);
    assert_true(rung_number_rounded((rung_dtype)d, traits->least) == -traits->largest);
    assert_true(isinf(rung_number_rounded((rung_dtype)d, traits->largest * (1 + traits->eps))));
    traits->store_integer(at, -3);
    assert_true(traits->load(at) == -3);
  }
}

static void converts_with_one_rounding(void **state) {
  (void)state;
  /* Just above the middle of two floats; as a double, that middle. */
  const uint64_t large = UINT64_C(0x8000008000000001);
  const int64_t negative = -(int64_t)UINT64_C(0x4000004000000001);
  float single;
  double wide;
  uint16_t half;
  int8_t small = -5;
  rung_convert(RUNG_F32, &single, RUNG_U64, &large);
  assert_true(single == 0x1.000002p63f);
  rung_convert(RUNG_F32, &single, RUNG_I64, &negative);
  assert_true(single == -0x1.000002p62f);
  rung_convert(RUNG_F64, &wide, RUNG_U64, &large);
  assert_true(wide == (double)large);
  rung_convert(RUNG_F16, &half, RUNG_U64, &large);
  assert_int_equal(half, 0x7c00);
  rung_convert(RUNG_BF16, &half, RUNG_I8, &small);
  assert_int_equal(half, 0xc0a0);
  rung_convert(RUNG_F64, &wide, RUNG_BF16, &half);
  assert_true(wide == -5);
}

static void numbers_as_text(void **state) {
  (void)state;
  char text[RUNG_NUMBER_TEXT];
  const uint64_t most = UINT64_MAX;
  const int8_t least = -128;
  const uint16_t third[] = {0x3555, 0x3eab};
  assert_string_equal(rung_number_text(RUNG_U64, &most, 0, text), "18446744073709551615");
  assert_string_equal(rung_number_text(RUNG_I64, &most, 0, text), "-1");
  assert_string_equal(rung_number_text(RUNG_I8, &least, 0, text), "-128");
  assert_string_equal(rung_number_text(RUNG_F16, third, 0, text), "0.33325");
  assert_string_equal(rung_number_text(RUNG_BF16, third, 1, text), "0.334");
  assert_true(rung_number_exact(RUNG_U64, &most, 0) == 0x1p64L - 1);
  rung_dtypes_text(RUNG_TYPE(RUNG_F16) | RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_I8), text,
                   sizeof text);
  assert_string_equal(text, "u8, i8 or f16");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_are_floats),
      cmocka_unit_test(between_halves),
      cmocka_unit_test(keys_of_halves),
      cmocka_unit_test(traits_are_the_types),
      cmocka_unit_test(converts_with_one_rounding),
      cmocka_unit_test(numbers_as_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
