/* Scans whose results go past the caches, which is done where the output is larger than these: the
 * device is said to have none. The bits are those of the rung that never does so, whatever the
 * shape, the output's alignment and the direction. */
#include "core/context.h"
#include "core/dtype.h"
#include "ops/rungs.h"
#include "ops/scan/outside.h"

enum { MOST = 70000, OFFSETS = 16 };
static _Alignas(64) char given[8 * MOST];
static _Alignas(64) char wanted[8 * MOST + 64 * OFFSETS], found[8 * MOST + 64 * OFFSETS];

static const struct {
  rung_dtype dtype;
  const DLDataType *type;
} types[] = {{RUNG_F32, &f32}, {RUNG_F64, &f64}, {RUNG_I32, &i32},
             {RUNG_F16, &f16}, {RUNG_I8, &i8},   {RUNG_U16, &u16}};
enum { TYPES = sizeof types / sizeof *types };

/* Lines of less than a vector, of less than a row, of rows, of tiles; side by side and not. */
static const int64_t shapes[][3] = {{9001, 7, 1},  {2100, 33, 1}, {700, 100, 1}, {16, 16, 1},
                                    {40, 1000, 1}, {1, 69999, 1}, {3, 9000, 1},  {90, 200, 1},
                                    {1, 9000, 7},  {2, 300, 100}, {1, 130, 530}, {1, 17, 4100},
                                    {5, 3, 37}};

static void fill(rung_dtype dtype, int64_t n) {
  const rung_traits *traits = rung_traits_of(dtype);
  uint32_t x = 11;
  for (int64_t i = 0; i < n; ++i) {
    x = x * 1664525u + 1013904223u;
    traits->store(given + i * (int64_t)traits->bytes, (double)(x >> 16) / 257 - 100);
  }
}

static void check(rung_context *context, int t, const int64_t *shape, int offset, int exclusive) {
  const int64_t size = (int64_t)rung_dtype_bytes(types[t].dtype);
  const int64_t n = shape[0] * shape[1] * shape[2], bytes = n * size;
  int64_t sizes[3] = {shape[0], shape[1], shape[2]};
  const DLTensor in = tensor(given, *types[t].type, 3, sizes, NULL);
  DLTensor plain = tensor(wanted + offset * size, *types[t].type, 3, sizes, NULL);
  DLTensor past = tensor(found + offset * size, *types[t].type, 3, sizes, NULL);
  const int64_t cache = context->device.cache_bytes;
  memset(wanted, 0x5a, sizeof wanted);
  memset(found, 0x5a, sizeof found);
  assert_int_equal(
      rung_scan(context, RUNG_SUM, &in, 1, exclusive, &plain, &(rung_call){.rung = "tiles"}),
      RUNG_OK);
  context->device.cache_bytes = 0;
  const rung_status status = rung_scan(context, RUNG_SUM, &in, 1, exclusive, &past, NULL);
  context->device.cache_bytes = cache;
  assert_int_equal(status, RUNG_OK);
  if (memcmp(wanted, found, sizeof found) != 0)
    fail_msg("type %d, (%d, %d, %d), %d elements off, exclusive %d: other bits in %lld bytes", t,
             (int)shape[0], (int)shape[1], (int)shape[2], offset, exclusive, (long long)bytes);
}

static void results_past_the_caches(void **state) {
  (void)state;
  for (int isa = first_isa(); isa <= widest_isa(); ++isa) {
    rung_context *context = open_with(isas[isa], 2);
    for (int t = 0; t < TYPES; ++t) {
      fill(types[t].dtype, MOST);
      for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k)
        for (int offset = 0; offset < OFFSETS; offset += 1 + (int)(k % 4) * 2)
          check(context, t, shapes[k], offset, (offset + (int)k) % 2);
    }
    rung_close(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(results_past_the_caches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
