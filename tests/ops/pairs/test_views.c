/* Arrays of every form: strides, backwards, float, unsigned counts, no outside, shared inputs. */
#include "ops/pairs/outside.h"

enum { N = 97, M = 40, BINS = 9 };

static double *points, *weights;
static int64_t molecules[N];
static float floats[3 * N], wide_floats[N][7];
static double wide[N][5], columns[3][2 * N], spread[N][4];
static int64_t spread_molecules[N][3];

static int set_up(void **state) {
  (void)state;
  points = random_points(N, 0, 1, 3);
  weights = random_points(N, -1, 2, 5);
  for (int i = 0; i < N; ++i) {
    molecules[i] = spread_molecules[i][0] = i / 4;
    for (int k = 0; k < 3; ++k) {
      points[3 * i + k] = (double)(float)points[3 * i + k];
      floats[3 * i + k] = wide_floats[i][2 * k] = (float)points[3 * i + k];
      wide[i][k] = columns[k][2 * i] = points[3 * i + k];
    }
    spread[N - 1 - i][2] = weights[i];
  }
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  free(points);
  free(weights);
  return 0;
}

static const rung_distances bins = {0, BINS, 0.15, NULL};

static const struct {
  const char *device, *rung;
} places[] = {{"cpu", "serial"}, {"cpu", NULL}, {"sim", NULL}};

/* The same counts and sums as of compact points, through the arrays given. */
static void check(const char *what, const rung_points *a, const rung_points *b, const job *as) {
  result wanted = serial_result(as);
  for (size_t p = 0; p < sizeof places / sizeof *places; ++p) {
    rung_context *context = open_on(places[p].device);
    if (context == NULL) continue;
    /* Counts two apart and backwards, in u64; sums three apart. */
    uint64_t counts[2 * BINS], outside[3] = {7, 7, 7};
    double sums[3 * BINS];
    for (int k = 0; k < 2 * BINS; ++k) counts[k] = 99;
    for (int k = 0; k < 3 * BINS; ++k) sums[k] = 99;
    int64_t shape[1] = {BINS}, three[1] = {3}, back[1] = {-2}, apart[1] = {3};
    DLTensor to = tensor(counts + 2 * BINS - 2, u64, 1, shape, back),
             beyond = tensor(outside, u64, 1, three, NULL),
             added = tensor(sums, f64, 1, shape, apart);
    rung_call call = {.rung = places[p].rung};
    if (rung_pairs(context, a, b, NULL, &bins, &to, &beyond, &added, &call) != RUNG_OK)
      fail_msg("%s: %s", what, rung_last_error(context));
    for (int k = 0; k < BINS; ++k) {
      if (counts[2 * (BINS - 1 - k)] != (uint64_t)wanted.counts[k])
        fail_msg("%s, %s: bin %d", what, call.used, k);
      assert_int_equal(counts[2 * k + 1], 99);
      assert_true(sums[3 * k] == wanted.sums[k] && sums[3 * k + 1] == 99);
    }
    for (int k = 0; k < 3; ++k) assert_int_equal(outside[k], wanted.counts[BINS + k]);
    /* Nothing but counts. */
    memset(counts, 0, sizeof counts);
    if (rung_pairs(context, a, b, NULL, &bins, &to, NULL, NULL, &call) != RUNG_OK)
      fail_msg("%s: %s", what, rung_last_error(context));
    for (int k = 0; k < BINS; ++k) assert_int_equal(counts[2 * (BINS - 1 - k)], wanted.counts[k]);
    rung_close(context);
  }
  free_result(&wanted);
}

static void of_every_form(void **state) {
  (void)state;
  int64_t n[2] = {N, 3}, m[2] = {M, 3}, apart[2] = {5, 1}, across[2] = {2, 2 * N},
          loose[2] = {7, 2};
  int64_t back[1] = {-4}, steps[1] = {3};
  const job j = {.a = points, .n = N, .a_weights = weights, .a_molecules = molecules, .bins = bins};
  job k = j;
  k.b = points;
  k.m = M;
  k.b_weights = weights;
  k.b_molecules = molecules;
  DLTensor compact = tensor(points, f64, 2, n, NULL), rows = tensor(wide, f64, 2, n, apart),
           turned = tensor(columns, f64, 2, n, across), single = tensor(floats, f32, 2, n, NULL),
           single_loose = tensor(wide_floats, f32, 2, n, loose),
           heavy = tensor(&spread[N - 1][2], f64, 1, n, back),
           light = tensor(weights, f64, 1, n, NULL),
           parts = tensor(spread_molecules, i64, 1, n, steps),
           few = tensor(points, f64, 2, m, NULL), few_rows = tensor(wide, f64, 2, m, apart),
           few_single = tensor(wide_floats, f32, 2, m, loose),
           few_heavy = tensor(&spread[N - 1][2], f64, 1, m, back),
           few_light = tensor(weights, f64, 1, m, NULL),
           few_parts = tensor(spread_molecules, i64, 1, m, steps);
  DLTensor *const forms[] = {&compact, &rows, &turned, &single, &single_loose};
  for (size_t f = 0; f < sizeof forms / sizeof *forms; ++f) {
    const rung_points a = {0, forms[f], f % 2 ? &heavy : &light, &parts};
    check("within", &a, NULL, &j);
    const rung_points b = {0,
                           f < 1   ? &few
                           : f < 3 ? &few_rows
                                   : &few_single,
                           f % 2 ? &few_light : &few_heavy, &few_parts};
    check("between", &a, &b, &k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_every_form)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
