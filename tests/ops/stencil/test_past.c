/* Stencils whose results go past the caches, which is done where the output is larger than these:
 * the device is said to have none. The bits are those of the rung that never does so. */
#include "core/context.h"
#include "ops/rungs.h"
#include "ops/stencil/outside.h"

enum { MOST = 70 * 400 };
static _Alignas(64) char given[8 * MOST], wanted[8 * MOST], found[8 * MOST];
static const int64_t heights[] = {1, 15, 16, 33, 64, 70}, widths[] = {16, 64, 100, 128, 384};

static void check(rung_context *context, bool wide, int64_t n, int64_t m) {
  const double weights[] = {0.5, 0.25, 1};
  const rung_stencil_model model = {
      .radius = 1, .weights = weights, .divide = 2, .steps = 5, .edge = RUNG_EDGE_WRAP};
  int64_t shape[2] = {n, m};
  const DLDataType type = wide ? f64 : f32;
  const DLTensor in = tensor(given, type, 2, shape, NULL);
  DLTensor plain = tensor(wanted, type, 2, shape, NULL), past = tensor(found, type, 2, shape, NULL);
  const int64_t cache = context->device.cache_bytes;
  memset(wanted, 0x5a, sizeof wanted);
  memset(found, 0x5a, sizeof found);
  assert_int_equal(
      rung_stencil(context, &model, &in, &plain, NULL, &(rung_call){.rung = "rowwise"}), RUNG_OK);
  context->device.cache_bytes = 0;
  const rung_status status =
      rung_stencil(context, &model, &in, &past, NULL, &(rung_call){.rung = "panel"});
  context->device.cache_bytes = cache;
  assert_int_equal(status, RUNG_OK);
  if (memcmp(wanted, found, sizeof found) != 0)
    fail_msg("%s, %d rows of %d: other bits", wide ? "f64" : "f32", (int)n, (int)m);
}

static void results_past_the_caches(void **state) {
  (void)state;
  for (int isa = first_isa(); isa <= widest_isa(); ++isa) {
    rung_context *context = open_with(isas[isa], 2);
    for (int wide = 0; wide < 2; ++wide) {
      for (int64_t k = 0; k < MOST; ++k) out_set(given, wide, k, out_number());
      for (size_t h = 0; h < sizeof heights / sizeof *heights; ++h)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; ++w)
          check(context, wide, heights[h], widths[w]);
    }
    rung_close(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(results_past_the_caches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
