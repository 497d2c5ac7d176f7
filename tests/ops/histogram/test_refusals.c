/* Every refusal of rung_histogram() names its argument and value and says what is expected, and
 * nothing has been written. */
#include "ops/context.h"
#include "ops/histogram/outside.h"

static double x[24];
static int64_t memory[64];
static int64_t four[1] = {4}, three[1] = {3}, shape[2] = {3, 8};

static const rung_bins even = {0, RUNG_BINS_EVEN, 4, 0, 1, NULL};

static void refused(const rung_bins *bins, const DLTensor *in, DLTensor *counts, DLTensor *outside,
                    rung_call *call, rung_status status, const char *part) {
  for (int i = 0; i < 64; ++i) memory[i] = 7;
  expect_refusal(rung_histogram(context, bins, in, counts, outside, call), status, part);
  for (int i = 0; i < 64; ++i) assert_true(memory[i] == 7);
}

static void bins_refused(rung_bins bins, DLDataType type, rung_status status, const char *part) {
  DLTensor in = tensor(x, type, 1, four, NULL), counts = tensor(memory, i64, 1, four, NULL);
  refused(&bins, &in, &counts, NULL, NULL, status, part);
}

static void refuses_bins(void **state) {
  (void)state;
  const double inf = (double)INFINITY, nan = (double)NAN;
  DLTensor in = tensor(x, f64, 1, four, NULL), counts = tensor(memory, i64, 1, four, NULL);
  refused(NULL, &in, &counts, NULL, NULL, RUNG_BAD_ARGUMENT, "bins is NULL");
  bins_refused((rung_bins){0, (rung_bins_kind)4, 4, 0, 1, NULL}, f64, RUNG_BAD_ARGUMENT,
               "bins->kind is 4; expected: RUNG_BINS_MODULO");
  bins_refused((rung_bins){0, (rung_bins_kind)-1, 4, 0, 1, NULL}, f64, RUNG_BAD_ARGUMENT,
               "bins->kind is -1");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 0, 0, 1, NULL}, f64, RUNG_BAD_ARGUMENT,
               "bins->count is 0; expected: 1 ... 1048576");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 1048577, 0, 1, NULL}, f64, RUNG_BAD_ARGUMENT,
               "bins->count is 1048577");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 4, 1, 1, NULL}, f64, RUNG_BAD_ARGUMENT,
               "bins->low is 1 and bins->high 1; expected: finite numbers, low below high");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 4, 2, 1, NULL}, f64, RUNG_BAD_ARGUMENT, "low below");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 4, nan, 1, NULL}, f64, RUNG_BAD_ARGUMENT, "nan");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 4, 0, inf, NULL}, f64, RUNG_BAD_ARGUMENT, "inf");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 4, -1e308, 1e308, NULL}, f64, RUNG_BAD_ARGUMENT,
               "a distance below 2^1024");
  bins_refused((rung_bins){0, RUNG_BINS_EVEN, 4, 0, 1e39, NULL}, f32, RUNG_BAD_ARGUMENT,
               "in holds f32; expected: numbers within its range");
  bins_refused((rung_bins){0, RUNG_BINS_MODULO, 4, 0, 1, NULL}, f32, RUNG_BAD_DTYPE,
               "in holds f32, and bins->kind is RUNG_BINS_MODULO; expected: u8, i8, u16, i16, i32, "
               "u32 or i64");
  bins_refused((rung_bins){0, RUNG_BINS_BYTES, 256, 0, 1, NULL}, u16, RUNG_BAD_DTYPE,
               "in holds u16, and bins->kind is RUNG_BINS_BYTES; expected: u8");
  bins_refused((rung_bins){0, RUNG_BINS_BYTES, 4, 0, 1, NULL}, u8, RUNG_BAD_ARGUMENT,
               "bins->count is 4 of RUNG_BINS_BYTES; expected: 256 or 0");
  double edges[5] = {0, 1, 2, 3, 4};
  bins_refused((rung_bins){0, RUNG_BINS_EDGES, 4, 0, 1, NULL}, f64, RUNG_BAD_ARGUMENT,
               "bins->edges is NULL; expected: 5 rising numbers");
  edges[2] = 1;
  bins_refused((rung_bins){0, RUNG_BINS_EDGES, 4, 0, 1, edges}, f64, RUNG_BAD_ARGUMENT,
               "bins->edges[2] is 1, and the edge before it 1; expected: one above it");
  edges[2] = nan;
  bins_refused((rung_bins){0, RUNG_BINS_EDGES, 4, 0, 1, edges}, f64, RUNG_BAD_ARGUMENT,
               "bins->edges[2] is nan");
  edges[2] = 2, edges[4] = inf;
  bins_refused((rung_bins){0, RUNG_BINS_EDGES, 4, 0, 1, edges}, f64, RUNG_BAD_ARGUMENT,
               "bins->edges[4] is inf; expected: a finite number");
  assert_int_equal(rung_histogram(NULL, &even, &in, &counts, NULL, NULL), RUNG_BAD_ARGUMENT);
}

static void refuses_arrays(void **state) {
  (void)state;
  int64_t many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, wide[2] = {3, 4}, wrong[2] = {2, 4};
  int64_t huge[2] = {1, ((int64_t)1 << 40) + 1}, still[2] = {0, 0}, one[1] = {1};
  int64_t turned[2] = {3, 3}, step[1] = {0}, fold[2] = {1, 1};
  DLTensor in = tensor(x, f64, 2, shape, NULL), counts = tensor(memory, i64, 1, four, NULL);
  DLTensor outside = tensor(memory + 8, i64, 1, three, NULL), bad;
  refused(&even, NULL, &counts, NULL, NULL, RUNG_BAD_ARGUMENT, "in is NULL");
  refused(&even, &in, NULL, NULL, NULL, RUNG_BAD_ARGUMENT, "counts is NULL");
  bad = in, bad.data = NULL;
  refused(&even, &bad, &counts, NULL, NULL, RUNG_BAD_ARGUMENT, "in has 24 elements and NULL data");
  bad = tensor(x, f64, 9, many, NULL);
  refused(&even, &bad, &counts, NULL, NULL, RUNG_BAD_SHAPE,
          "in has 9 dimensions; expected: 0 ... 8");
  bad = in, bad.dtype = u64;
  refused(&even, &bad, &counts, NULL, NULL, RUNG_BAD_DTYPE,
          "u8, i8, u16, i16, i32, u32, i64, f16, bf16, f32 or f64");
  bad = tensor(x, f64, 2, huge, still);
  refused(&even, &bad, &counts, NULL, NULL, RUNG_TOO_LARGE, "at most 2^40");
  bad = counts, bad.dtype = i32;
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_DTYPE, "i64 or u64");
  bad = counts, bad.dtype = f64;
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_DTYPE, "counts");
  bad = tensor(memory, i64, 1, three, NULL);
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_SHAPE,
          "counts has extent 3 in its last dimension; expected: 4");
  bad = tensor(memory, i64, 0, NULL, NULL);
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_SHAPE,
          "counts has 0 dimensions; expected: 1, or 2");
  bad = tensor(memory, i64, 2, wrong, NULL);
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_SHAPE,
          "counts has 2 rows; expected: 3, as many as in");
  bad = tensor(memory, i64, 2, wide, NULL);
  DLTensor flat = tensor(x, f64, 1, four, NULL);
  refused(&even, &flat, &bad, NULL, NULL, RUNG_BAD_SHAPE, "in has 1 dimensions and counts 2");
  refused(&even, &in, &bad, &outside, NULL, RUNG_BAD_SHAPE,
          "outside has 1 dimensions; expected: 2");
  bad = tensor(memory + 8, i64, 1, one, NULL);
  refused(&even, &in, &counts, &bad, NULL, RUNG_BAD_SHAPE, "outside has extent 1");
  bad = tensor(memory + 8, i64, 2, turned, NULL);
  refused(&even, &in, &counts, &bad, NULL, RUNG_BAD_SHAPE, "outside has 2 dimensions; expected: 1");
  bad = tensor(memory, i64, 1, four, step);
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_SHAPE, "counts");
  bad = tensor(memory, i64, 2, wide, fold);
  refused(&even, &in, &bad, NULL, NULL, RUNG_BAD_SHAPE, "counts");
}

static void edges_refused(const rung_bins *bins, DLTensor *edges, rung_status status,
                          const char *part) {
  for (int i = 0; i < 64; ++i) memory[i] = 7;
  expect_refusal(rung_bin_edges(context, bins, edges, NULL), status, part);
  for (int i = 0; i < 64; ++i) assert_true(memory[i] == 7);
}

static void refuses_edges(void **state) {
  (void)state;
  int64_t five[1] = {5}, none[1] = {0}, wide[2] = {5, 1};
  DLTensor edges = tensor(memory, f64, 1, five, NULL), bad;
  const rung_bins turned = {0, RUNG_BINS_EVEN, 4, 1, 0, NULL};
  assert_int_equal(rung_bin_edges(NULL, &even, &edges, NULL), RUNG_BAD_ARGUMENT);
  edges_refused(NULL, &edges, RUNG_BAD_ARGUMENT, "bins is NULL");
  edges_refused(&turned, &edges, RUNG_BAD_ARGUMENT, "low below high");
  edges_refused(&even, NULL, RUNG_BAD_ARGUMENT, "edges is NULL");
  bad = tensor(memory, f64, 1, four, NULL);
  edges_refused(&even, &bad, RUNG_BAD_SHAPE,
                "edges has extent 4; expected: 5, one more than there are bins");
  bad = tensor(memory, f64, 2, wide, NULL);
  edges_refused(&even, &bad, RUNG_BAD_SHAPE, "edges has 2 dimensions; expected: 1");
  bad = tensor(memory, i64, 1, five, NULL);
  edges_refused(&even, &bad, RUNG_BAD_DTYPE, "64 bits, 1 lanes; expected: f16, bf16, f32 or f64");
  bad = tensor(memory, f64, 1, five, none);
  edges_refused(&even, &bad, RUNG_BAD_SHAPE, "edges");
  bad = tensor((char *)memory + 1, f64, 1, five, NULL);
  edges_refused(&even, &bad, RUNG_BAD_ARGUMENT, "edges");
}

static void refuses_shared_memory(void **state) {
  (void)state;
  int64_t room[1] = {32};
  DLTensor in = tensor(memory, i64, 1, room, NULL),
           counts = tensor(memory + 28, i64, 1, four, NULL);
  DLTensor apart = tensor(memory + 40, i64, 1, four, NULL), outside;
  refused(&even, &in, &counts, NULL, NULL, RUNG_OVERLAP, "counts shares memory with in");
  outside = tensor(memory + 42, i64, 1, three, NULL);
  refused(&even, &in, &apart, &outside, NULL, RUNG_OVERLAP, "outside shares memory with counts");
  outside = tensor(memory, i64, 1, three, NULL);
  refused(&even, &in, &apart, &outside, NULL, RUNG_OVERLAP, "outside shares memory with in");
}

static void refuses_calls(void **state) {
  (void)state;
  DLTensor in = tensor(x, f64, 2, shape, NULL), counts = tensor(memory, i64, 1, four, NULL);
  refused(&even, &in, &counts, NULL, &(rung_call){.rung = "magic"}, RUNG_UNKNOWN_NAME, "magic");
  refused(&even, &in, &counts, NULL, &(rung_call){.rung = "vector"}, RUNG_UNSUPPORTED, "GPUs only");
  refused(&even, &in, &counts, NULL, &(rung_call){.block = 1025}, RUNG_BAD_ARGUMENT, "1025");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_bins), cmocka_unit_test(refuses_arrays),
      cmocka_unit_test(refuses_edges), cmocka_unit_test(refuses_shared_memory),
      cmocka_unit_test(refuses_calls)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
