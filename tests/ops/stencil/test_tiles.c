/* How `overlapped` cuts rows: what it asks a multiprocessor for is there, on small GPUs and large,
 * for every radius and any shape; and tiles are all of the row that warps do not take. */
#include "core/random.h"
#include "ops/outside.h"
#include "ops/stencil/cuda/cuda.h"

static stencil_problem draw(rung_random *random) {
  static const double weights[2 * RUNG_STENCIL_MAX_RADIUS + 1] = {1};
  const int radius = 1 + (int)(rung_random_double(random) * RUNG_STENCIL_MAX_RADIUS);
  /* Sizes of every magnitude, and among the columns whole blocks. */
  const double rows = rung_random_double(random), columns = rung_random_double(random);
  const int64_t m = (int64_t)exp2(24 * columns) + (rows < 0.2 ? 15360 : 0);
  const rung_stencil_model model = {
      .radius = radius,
      .weights = weights,
      .divide = 1,
      .steps = 1 + (int64_t)exp2(10 * rung_random_double(random)),
      .fixed = rung_random_double(random) < 0.5 ? 0 : (int64_t)(rung_random_double(random) * m),
      .edge = rung_random_double(random) < 0.5 ? RUNG_EDGE_WRAP : RUNG_EDGE_MIRROR};
  const rung_dtype dtype = rung_random_double(random) < 0.5 ? RUNG_F64 : RUNG_F32;
  stencil_problem problem;
  rung_error error = {0};
  if (stencil_problem_of(&error, &model, (int64_t)exp2(16 * rows), m, dtype, &problem) != RUNG_OK)
    fail_msg("%s", error.sentence);
  return problem;
}

static void blocks_have_room(void **unused) {
  (void)unused;
  /* A T4, an A100 and an H200. */
  static const rung_device devices[] = {{.processors = 40, .shared_bytes = 65536},
                                        {.processors = 108, .shared_bytes = 166912},
                                        {.processors = 132, .shared_bytes = 232448}};
  rung_random random = {17};
  int cut = 0, widest = 0;
  for (int job = 0; job < 100000; job++) {
    const stencil_problem p = draw(&random);
    const rung_device *device = &devices[job % 3];
    const stencil_overlap plan = stencil_overlap_of(&p, device);
    if (plan.blocks.count == 0) continue;
    const bool narrow = p.dtype == RUNG_F64 || p.radius > STENCIL_ONCHIP_RADIUS;
    const int columns = narrow ? 30 : 60, threads = plan.blocks.threads;
    const size_t shared = stencil_onchip_shared(&p, columns, threads, false);
    if ((int64_t)shared + STENCIL_ONCHIP_STATIC > device->shared_bytes)
      fail_msg("job %d: radius %d, %d threads: %zu bytes", job, p.radius, threads, shared);
    assert_int_equal(plan.blocks.halo, plan.steps * p.radius);
    const int64_t inside = (int64_t)threads * columns - 2 * plan.blocks.halo,
                  span = p.columns - p.fixed - 2 * plan.blocks.halo;
    assert_int_equal(plan.blocks.apart, inside);
    assert_true(inside > 0 && plan.blocks.count * inside >= span &&
                (plan.blocks.count - 1) * inside < span);
    cut++;
    widest += threads == (narrow ? 512 : 256);
  }
  assert_true(cut > 10000 && widest > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_have_room)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
