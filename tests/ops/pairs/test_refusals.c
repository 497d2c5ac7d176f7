/* Every refusal of rung_pairs() and rung_box_reach() names its argument and value and says what
 * is expected, and nothing has been written. */
#include "ops/context.h"
#include "ops/pairs/outside.h"

static double x[60];
static int64_t memory[64];
static int64_t ten[2] = {10, 3}, five[2] = {5, 3}, four[1] = {4}, three[1] = {3};

/* A call that would be accepted: what a test changes of it is refused. */
typedef struct arguments {
  DLTensor a_at, b_at, a_weights, b_weights, a_molecules, b_molecules, counts, outside, sums;
  rung_points a, b;
  const rung_points *first, *second;
  rung_box box;
  const rung_box *in;
  rung_distances bins;
  const rung_distances *by;
  DLTensor *to, *beyond, *added;
  rung_call call;
} arguments;

static void accepted(arguments *g) {
  *g = (arguments){.a_at = tensor(x, f64, 2, ten, NULL),
                   .b_at = tensor(x + 30, f64, 2, five, NULL),
                   .a_weights = tensor(x, f64, 1, ten, NULL),
                   .b_weights = tensor(x, f64, 1, five, NULL),
                   .a_molecules = tensor(x, i64, 1, ten, NULL),
                   .b_molecules = tensor(x, i64, 1, five, NULL),
                   .counts = tensor(memory, i64, 1, four, NULL),
                   .outside = tensor(memory + 8, i64, 1, three, NULL),
                   .sums = tensor(memory + 16, f64, 1, four, NULL),
                   .box = {{9, 0, 0}, {0, 8, 0}, {0, 0, 10}},
                   .bins = {0, 4, 1, NULL}};
  g->a = (rung_points){0, &g->a_at, &g->a_weights, &g->a_molecules};
  g->b = (rung_points){0, &g->b_at, &g->b_weights, &g->b_molecules};
  g->first = &g->a;
  g->second = &g->b;
  g->in = &g->box;
  g->by = &g->bins;
  g->to = &g->counts;
  g->beyond = &g->outside;
  g->added = &g->sums;
}

static rung_status call(arguments *g) {
  return rung_pairs(context, g->first, g->second, g->in, g->by, g->to, g->beyond, g->added,
                    &g->call);
}

static void refused(arguments *g, rung_status status, const char *part) {
  for (int i = 0; i < 64; ++i) memory[i] = 7;
  expect_refusal(call(g), status, part);
  for (int i = 0; i < 64; ++i) assert_true(memory[i] == 7);
  accepted(g);
}

static void refuses_bins(void **state) {
  (void)state;
  const double inf = (double)INFINITY, nan = (double)NAN;
  arguments g;
  accepted(&g);
  if (call(&g) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  g.by = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "bins is NULL; expected: a rung_distances");
  g.bins.count = 0;
  refused(&g, RUNG_BAD_ARGUMENT, "bins->count is 0; expected: 1 ... 1048576");
  g.bins.count = 1048577;
  refused(&g, RUNG_BAD_ARGUMENT, "bins->count is 1048577");
  static const double widths[] = {0, -1, 0, 0};
  for (int k = 0; k < 4; ++k) {
    g.bins.width = k == 2 ? inf : k == 3 ? nan : widths[k];
    refused(&g, RUNG_BAD_ARGUMENT, "; expected: a finite number above 0");
  }
  g.bins.width = 1e308;
  refused(&g, RUNG_BAD_ARGUMENT, "and 4 bins of it reach beyond 2^1024; expected: less");
  double edges[5] = {0, 1, 2, 3, 3.5};
#define WITH(k, value, part)              \
  {                                       \
    const double was = edges[k];          \
    edges[k] = value;                     \
    g.bins.edges = edges;                 \
    refused(&g, RUNG_BAD_ARGUMENT, part); \
    edges[k] = was;                       \
  }
  WITH(2, 1, "bins->edges[2] is 1, and the edge before it 1; expected: one above it")
  WITH(2, 0.5, "bins->edges[2] is 0.5, and the edge before it 1")
  WITH(0, -0.25, "bins->edges[0] is -0.25; expected: a distance, 0 or above")
  WITH(3, nan, "bins->edges[3] is nan; expected: a finite number")
  WITH(4, inf, "bins->edges[4] is inf")
  WITH(4, 4.5,
       "bins end at 4.5, where it is not clear which images are meant; expected: at most 4 "
       "(half the shortest vector between images)")
#undef WITH
  g.bins.width = 1.125;
  refused(&g, RUNG_BAD_ARGUMENT, "bins end at 4.5");
}

static void refuses_boxes(void **state) {
  (void)state;
  arguments g;
  accepted(&g);
  g.box.b[1] = (double)NAN;
  refused(&g, RUNG_BAD_ARGUMENT, "box->b[1] is nan; expected: a finite number");
  g.box.c[0] = (double)INFINITY;
  refused(&g, RUNG_BAD_ARGUMENT, "box->c[0] is inf");
  g.box.a[0] = 0;
  refused(&g, RUNG_BAD_ARGUMENT,
          "box->a is (0, 0, 0), a vector of length 0; expected: a length of 1e-70 ... 1e+70");
  g.box.a[0] = 1e-200;
  refused(&g, RUNG_BAD_ARGUMENT, "1e-70 ... 1e+70");
  g.box.b[2] = 1e200;
  refused(&g, RUNG_BAD_ARGUMENT, ", a vector of length inf; expected: a length of 1e-70");
  g.box.c[1] = 1e14;
  refused(&g, RUNG_BAD_ARGUMENT, "box->a, b and c span a volume of 720, ");
  g.box.c[2] = 0, g.box.c[1] = 3, g.box.c[0] = -2;
  refused(&g, RUNG_BAD_ARGUMENT, "span a volume of 0, ");
  g.box.a[0] = 1e14;
  refused(&g, RUNG_BAD_ARGUMENT, "expected: ");
  g.bins.width = 1.0000000000000002;
  refused(&g, RUNG_BAD_ARGUMENT, "bins end at 4.00000000000000");
  double reach = 5;
  assert_int_equal(rung_box_reach(context, NULL, &reach), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context), "box is NULL"));
  assert_int_equal(rung_box_reach(context, &g.box, NULL), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context), "reach is NULL"));
  g.box.a[0] = 0;
  assert_int_equal(rung_box_reach(context, &g.box, &reach), RUNG_BAD_ARGUMENT);
  assert_non_null(strstr(rung_last_error(context), "box->a is (0, 0, 0)"));
  assert_int_equal(rung_box_reach(NULL, &g.box, &reach), RUNG_BAD_ARGUMENT);
  assert_true(reach == 5);
}

static void refuses_sets(void **state) {
  (void)state;
  int64_t wide[2] = {10, 4}, flat[1] = {30}, nine[1] = {9}, still[2] = {0, 0};
  int64_t huge[2] = {(int64_t)1 << 31, 3};
  arguments g;
  accepted(&g);
  g.first = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "a is NULL; expected: a rung_points");
  g.a.at = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "a->at is NULL");
  g.b.at = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "b->at is NULL");
  g.a_at.data = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "a->at has 30 elements and NULL data");
  g.a_at.shape = wide;
  refused(&g, RUNG_BAD_SHAPE, "a->at has extent 4 in dimension 1; expected: 3");
  g.a_at.ndim = 1, g.a_at.shape = flat;
  refused(&g, RUNG_BAD_SHAPE, "a->at has 1 dimension");
  g.a_at.dtype = i64;
  refused(&g, RUNG_BAD_DTYPE, "f32 or f64");
  g.b_at.dtype = f32;
  refused(&g, RUNG_BAD_DTYPE, "b->at holds f32 and a->at f64; expected: the same");
  g.a_at.shape = huge, g.a_at.strides = still;
  g.a.weights = g.a.molecules = g.b.molecules = NULL, g.added = NULL;
  refused(&g, RUNG_TOO_LARGE, "a has 2147483648 points; expected: at most 2^31 - 1");
  g.b_at.shape = huge, g.b_at.strides = still;
  g.b.weights = g.a.molecules = g.b.molecules = NULL, g.added = NULL;
  refused(&g, RUNG_TOO_LARGE, "b has 2147483648 points");
  g.a.weights = NULL;
  refused(&g, RUNG_BAD_ARGUMENT,
          "a->weights is NULL, and sums are asked for; expected: 10 weights");
  g.b.weights = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "b->weights is NULL, and sums are asked for; expected: 5 weights");
  g.a_weights.shape = nine;
  refused(&g, RUNG_BAD_SHAPE, "a->weights has extent 9; expected: 10");
  g.b_weights.dtype = f32;
  refused(&g, RUNG_BAD_DTYPE, "b->weights");
  g.a_weights.dtype = f32, g.added = NULL;
  refused(&g, RUNG_BAD_DTYPE, "a->weights");
  g.a_molecules.shape = nine;
  refused(&g, RUNG_BAD_SHAPE, "a->molecules has extent 9; expected: 10");
  g.b_molecules.dtype = f64;
  refused(&g, RUNG_BAD_DTYPE, "b->molecules");
  g.a.molecules = NULL;
  refused(&g, RUNG_BAD_ARGUMENT,
          "a->molecules is NULL and b->molecules is not; expected: both, or neither");
  g.b.molecules = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "b->molecules is NULL and a->molecules is not");
}

static void refuses_outputs(void **state) {
  (void)state;
  int64_t step[1] = {0};
  arguments g;
  accepted(&g);
  g.to = NULL;
  refused(&g, RUNG_BAD_ARGUMENT, "counts is NULL");
  g.counts.shape = three;
  refused(&g, RUNG_BAD_SHAPE, "counts has extent 3; expected: 4");
  g.counts.dtype = f64;
  refused(&g, RUNG_BAD_DTYPE, "i64 or u64");
  g.counts.ndim = 0;
  refused(&g, RUNG_BAD_SHAPE, "counts has 0 dimensions");
  g.counts.strides = step;
  refused(&g, RUNG_BAD_SHAPE, "counts");
  g.outside.shape = four;
  refused(&g, RUNG_BAD_SHAPE, "outside has extent 4; expected: 3");
  g.outside.dtype = f64;
  refused(&g, RUNG_BAD_DTYPE, "outside");
  g.outside.strides = step;
  refused(&g, RUNG_BAD_SHAPE, "outside");
  g.sums.shape = three;
  refused(&g, RUNG_BAD_SHAPE, "sums has extent 3; expected: 4");
  g.sums.dtype = i64;
  refused(&g, RUNG_BAD_DTYPE, "sums");
  g.sums.strides = step;
  refused(&g, RUNG_BAD_SHAPE, "sums");
}

static void refuses_what_is_shared(void **state) {
  (void)state;
  arguments g;
  accepted(&g);
  g.outside.data = memory + 3;
  refused(&g, RUNG_OVERLAP, "outside shares memory with counts; expected: none in common");
  g.sums.data = memory + 9;
  refused(&g, RUNG_OVERLAP, "sums shares memory with outside");
  g.sums.data = memory + 1;
  refused(&g, RUNG_OVERLAP, "sums shares memory with counts");
  DLTensor *const inputs[] = {&g.a_at,      &g.b_at,        &g.a_weights,
                              &g.b_weights, &g.a_molecules, &g.b_molecules};
  static const char *const parts[] = {
      "counts shares memory with a->at",        "counts shares memory with b->at",
      "counts shares memory with a->weights",   "counts shares memory with b->weights",
      "counts shares memory with a->molecules", "counts shares memory with b->molecules"};
  for (int k = 0; k < 6; ++k) {
    inputs[k]->data = memory + 3;
    g.outside.data = memory + 50;
    g.sums.data = memory + 60;
    refused(&g, RUNG_OVERLAP, parts[k]);
  }
  g.b_at = g.a_at, g.b_weights = g.a_weights, g.b_molecules = g.a_molecules;
  if (call(&g) != RUNG_OK) fail_msg("shared inputs: %s", rung_last_error(context));
}

static void refuses_places_and_rungs(void **state) {
  (void)state;
  arguments g;
  accepted(&g);
  g.counts.device.device_type = kDLCUDA;
  refused(&g, RUNG_BAD_PLACE, "counts lies in device memory and a->at in host memory");
  g.b_at.device.device_type = kDLCUDA;
  refused(&g, RUNG_BAD_PLACE, "counts lies in host memory and b->at in device memory");
  g.a_at.device.device_type = kDLMetal;
  refused(&g, RUNG_BAD_PLACE, "a->at");
  g.call.rung = "fastest";
  refused(&g, RUNG_UNKNOWN_NAME, "fastest");
  assert_int_equal(rung_pairs(NULL, &g.a, NULL, NULL, &g.bins, &g.counts, NULL, NULL, NULL),
                   RUNG_BAD_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_bins),           cmocka_unit_test(refuses_boxes),
      cmocka_unit_test(refuses_sets),           cmocka_unit_test(refuses_outputs),
      cmocka_unit_test(refuses_what_is_shared), cmocka_unit_test(refuses_places_and_rungs)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
