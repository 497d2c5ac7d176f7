/* The textbook: one running result a line, from the first element to the last. Every addition of
 * floats waits for the one before, and their rounding errors add up with the line's length. */
#include "backend/cpu/isa.h"
#include "core/half.h"
#include "ops/scan/scan.h"

/* A float looked at as an integer of its bits. */
typedef int32_t __attribute__((may_alias)) bits_32;
typedef int64_t __attribute__((may_alias)) bits_64;

/* `first` is what nothing has, `identity` what a running result begins with: they differ in the
 * sign of a sum's zero. LOAD(x) of an element; COMBINE(all, x); STORE(all) to an element. In place:
 * an element is read before it is written. */
#define SCAN(name, type, total, identity, first, LOAD, COMBINE, STORE)    \
  static void name(const void *from, void *to, int64_t n, bool exclusive, \
                   const rung_key_code *key) {                            \
    const type *in = (const type *)from;                                  \
    type *out = (type *)to;                                               \
    const total mask = (total)key->mask;                                  \
    total all = identity;                                                 \
    (void)mask;                                                           \
    for (int64_t i = 0; i < n; ++i) {                                     \
      const total x = LOAD(in[i]), before = all;                          \
      all = COMBINE(all, x);                                              \
      out[i] = (type)STORE(exclusive ? before : all);                     \
    }                                                                     \
    if (exclusive && n > 0) out[0] = (type)first;                         \
  }

#define SAME(x) (x)
#define ADD(a, b) ((a) + (b))
#define LEAST(a, b) ((b) < (a) ? (b) : (a))
#define MASKED(x) ((x) ^ mask)
#define KEY_F32(x) rung_key_f32(x, mask)
#define KEY_F64(x) rung_key_f64(x, mask)
#define UNKEY_F32(x) rung_unkey_f32(x, mask)
#define UNKEY_F64(x) rung_unkey_f64(x, mask)
#define KEY_16(x) rung_key_16(x, key)
#define UNKEY_16(x) rung_unkey_16(x, key)
#define FROM_HALF(x) rung_half_to_f32(x, key->bfloat)
#define TO_HALF(x) rung_f32_to_half(x, key->bfloat)
SCAN(add_8, uint8_t, uint32_t, 0, 0, SAME, ADD, SAME)
SCAN(add_16, uint16_t, uint32_t, 0, 0, SAME, ADD, SAME)
SCAN(add_32, uint32_t, uint32_t, 0, 0, SAME, ADD, SAME)
SCAN(add_64, uint64_t, uint64_t, 0, 0, SAME, ADD, SAME)
SCAN(add_half, uint16_t, float, -0.0f, 0, FROM_HALF, ADD, TO_HALF)
SCAN(add_f32, float, float, -0.0f, 0, SAME, ADD, SAME)
SCAN(add_f64, double, double, -0.0, 0, SAME, ADD, SAME)
SCAN(least_8, int8_t, int32_t, INT32_MAX, UNKEY_16(key->most), KEY_16, LEAST, UNKEY_16)
SCAN(least_16, int16_t, int32_t, INT32_MAX, UNKEY_16(key->most), KEY_16, LEAST, UNKEY_16)
SCAN(least_32, int32_t, int32_t, INT32_MAX, MASKED(INT32_MAX), MASKED, LEAST, MASKED)
SCAN(least_64, int64_t, int64_t, INT64_MAX, MASKED(INT64_MAX), MASKED, LEAST, MASKED)
SCAN(least_f32, bits_32, int32_t, RUNG_KEY_MOST_F32, UNKEY_F32(RUNG_KEY_MOST_F32), KEY_F32, LEAST,
     UNKEY_F32)
SCAN(least_f64, bits_64, int64_t, RUNG_KEY_MOST_F64, UNKEY_F64(RUNG_KEY_MOST_F64), KEY_F64, LEAST,
     UNKEY_F64)

rung_status RUNG_ENTRY(scan_serial)(const rung_task *task) {
  static void (*const scans[])(const void *, void *, int64_t, bool, const rung_key_code *) = {
      [SCAN_ADD_8] = add_8,         [SCAN_ADD_16] = add_16,     [SCAN_ADD_32] = add_32,
      [SCAN_ADD_64] = add_64,       [SCAN_ADD_HALF] = add_half, [SCAN_ADD_F32] = add_f32,
      [SCAN_ADD_F64] = add_f64,     [SCAN_LEAST_8] = least_8,   [SCAN_LEAST_16] = least_16,
      [SCAN_LEAST_32] = least_32,   [SCAN_LEAST_64] = least_64, [SCAN_LEAST_F32] = least_f32,
      [SCAN_LEAST_F64] = least_f64,
  };
  const scan_problem *problem = (const scan_problem *)task->problem;
  const rung_view *in = &task->arrays[SCAN_IN], *out = &task->arrays[SCAN_OUT];
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const rung_key_code key = scan_key_of(problem);
  for (int64_t l = 0; l < problem->lines; ++l)
    scans[scan_operator_of(problem)](in->data + l * scan_pitch_of(problem, in) * size,
                                     out->data + l * scan_pitch_of(problem, out) * size,
                                     problem->columns, problem->exclusive, &key);
  return RUNG_OK;
}
