/* Arguments at the ends of their ranges, all of them valid. */
#include "ops/outside.h"

static rung_context *opened(const char *device) {
  rung_context *context;
  if (rung_open(&context, &(rung_options){.device = device, .threads = 2}) == RUNG_OK)
    return context;
  rung_close(context);
  return NULL;
}

/* The stride of an extent of 1 is never used. */
static void strides_that_are_never_used(void **state) {
  (void)state;
  rung_context *context = opened("cpu");
  const float numbers[4] = {0, 1, 2, 3};
  float sums[1];
  int64_t counts[4], shape[] = {1, 4}, outer[] = {1, 1};
  static const int64_t strides[] = {INT64_MIN, INT64_MAX, -(INT64_MAX / 2)};
  const rung_bins bins = {.kind = RUNG_BINS_EVEN, .count = 4, .high = 4};
  for (int k = 0; k < 3; k++) {
    int64_t stride[] = {strides[k], 1}, out_stride[] = {strides[k], strides[k]};
    const DLTensor in = tensor(numbers, f32, 2, shape, stride);
    DLTensor rows = tensor(counts, i64, 2, shape, stride),
             one = tensor(sums, f32, 1, outer, out_stride);
    memset(counts, 0, sizeof counts);
    assert_int_equal(rung_histogram(context, &bins, &in, &rows, NULL, NULL), RUNG_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(counts[i], 1);
    assert_int_equal(rung_reduce(context, RUNG_SUM, &in, 1, &one, NULL), RUNG_OK);
    assert_true(sums[0] == 6);
  }
  rung_close(context);
}

static void counts_that_sum_beyond_64_bits(void **state) {
  (void)state;
  const rung_distances bins = {.count = 4, .width = 1};
  const int64_t counts[] = {INT64_MAX, INT64_MAX, INT64_MAX, 1};
  double neighbours[4];
  assert_int_equal(rung_pairs_rdf(&bins, counts, 1, 1, NULL, neighbours), RUNG_OK);
  assert_true(neighbours[0] == 0x1p63 && neighbours[1] == 0x1p64);
  assert_true(neighbours[2] == 0x1.8p64 && neighbours[3] == 0x1.8p64);
}

/* Some rungs refuse the start, and it is made on the host: nothing of that is left in the sentence.
 */
static void a_call_that_succeeds_leaves_no_sentence(void **state) {
  (void)state;
  rung_context *context = opened("sim");
  rung_radiator_model model;
  float cells[4 * 8];
  int64_t shape[] = {4, 8};
  DLTensor grid = tensor(cells, f32, 2, shape, NULL);
  if (context == NULL) skip();
  rung_radiator_preset(NULL, &model);
  static const char *const rungs[] = {NULL, "global", "window"};
  for (int k = 0; k < 3; k++) {
    rung_call call = {.rung = rungs[k]};
    if (rung_radiator(context, &model, 2, &grid, NULL, &call) != RUNG_OK)
      fail_msg("%s", rung_last_error(context));
    assert_string_equal(rung_last_error(context), "");
  }
  rung_close(context);
}

/* Weights whose sum is no double, each of them over `divide` an ordinary number. */
static void weights_beyond_the_largest_sum(void **state) {
  (void)state;
  rung_context *context = opened("cpu");
  double in[] = {3, 6, 9, 6}, out[4], wanted[4];
  int64_t shape[] = {1, 4};
  const DLTensor from = tensor(in, f64, 2, shape, NULL);
  DLTensor to = tensor(out, f64, 2, shape, NULL), plain = tensor(wanted, f64, 2, shape, NULL);
  rung_stencil_model model = {.radius = 1, .divide = 0x1p1022, .steps = 1};
  model.weights = (double[]){0x1p1023, 0x1p1023, 0x1p1023};
  assert_int_equal(rung_stencil(context, &model, &from, &to, NULL, NULL), RUNG_OK);
  model.weights = (double[]){2, 2, 2};
  model.divide = 1;
  assert_int_equal(rung_stencil(context, &model, &from, &plain, NULL, NULL), RUNG_OK);
  assert_memory_equal(out, wanted, sizeof out);
  rung_close(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strides_that_are_never_used),
      cmocka_unit_test(counts_that_sum_beyond_64_bits),
      cmocka_unit_test(a_call_that_succeeds_leaves_no_sentence),
      cmocka_unit_test(weights_beyond_the_largest_sum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
