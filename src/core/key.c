#include "core/key.h"

rung_key_code rung_key_of(rung_dtype dtype, bool largest) {
  const rung_traits *traits = rung_traits_of(dtype);
  const int bits = (int)(8 * traits->bytes);
  rung_key_code key = {.mask = largest ? -1 : 0, .bfloat = dtype == RUNG_BF16};
  if (traits->kind == RUNG_UNSIGNED) key.mask ^= INT64_MIN >> (64 - bits);
  if (bits > 16) return key;
  const bool is_float = traits->kind == RUNG_FLOAT;
  key.order = is_float ? INT16_MAX : 0;
  key.most = is_float ? (key.bfloat ? 0x7f80 : 0x7c00) : (int16_t)((1 << (bits - 1)) - 1);
  return key;
}
