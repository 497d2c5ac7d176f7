/* Means that another operation's rung takes after the last step: on the simulated GPU, through the
 * door, with rows of two tiles, for which reduce needs scratch and zeros of its own. */
#include "ops/stencil/outside.h"

enum { ROWS = 3, COLUMNS = 40000 };
static float start[ROWS * COLUMNS], grid[ROWS * COLUMNS];

static const char *smooth(rung_context *context, const char *rung, float means[ROWS]) {
  int64_t shape[2] = {ROWS, COLUMNS};
  const double weights[3] = {1, 2, 1};
  const rung_stencil_model model = {
      .steps = 3, .radius = 1, .weights = weights, .divide = 4, .edge = RUNG_EDGE_NEAREST};
  DLTensor in = tensor(start, f32, 2, shape, NULL), out = tensor(grid, f32, 2, shape, NULL);
  DLTensor to = tensor(means, f32, 1, shape, NULL);
  rung_call call = {.rung = rung};
  if (rung_stencil(context, &model, &in, &out, &to, &call) != RUNG_OK)
    fail_msg("%s", rung_last_error(context));
  return call.used;
}

static void have_the_bits_of_the_cpus(void **state) {
  (void)state;
  rung_context *cpu, *sim;
  if (rung_open(&sim, &(rung_options){.device = "sim"}) != RUNG_OK) {
    rung_close(sim);
    skip();
  }
  assert_int_equal(rung_open(&cpu, &(rung_options){.device = "cpu"}), RUNG_OK);
  float wanted[ROWS], found[ROWS];
  for (int call = 0; call < 3; ++call) { /* the first leaves the zeros as it found them */
    for (int64_t i = 0; i < ROWS * COLUMNS; ++i) start[i] = (float)out_number();
    smooth(cpu, NULL, wanted);
    memset(found, 0, sizeof found);
    assert_string_equal(smooth(sim, "reciprocal", found), "reciprocal");
    assert_memory_equal(found, wanted, sizeof wanted);
    for (int i = 0; i < ROWS; ++i) assert_true(wanted[i] != 0);
  }
  rung_close(cpu);
  rung_close(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(have_the_bits_of_the_cpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
