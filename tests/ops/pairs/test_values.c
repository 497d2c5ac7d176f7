/* Counts that are known: the report's table, lattices, points at bins' edges, nothing, gases. */
#include "ops/pairs/lab/cases.h"
#include "ops/pairs/lab/report.h"
#include "ops/pairs/outside.h"

/* Counts by bins as (int)(sqrt(d2) / width) has them, open space, within a set or between two. */
static result plain(const job *j) {
  result r = make_result(j);
  const double *b = j->b != NULL ? j->b : j->a;
  const int64_t others = j->b != NULL ? j->m : j->n;
  for (int64_t i = 0; i < j->n; ++i)
    for (int64_t k = j->b != NULL ? 0 : i + 1; k < others; ++k) {
      const double dx = j->a[3 * i] - b[3 * k], dy = j->a[3 * i + 1] - b[3 * k + 1],
                   dz = j->a[3 * i + 2] - b[3 * k + 2];
      const double d2 = (dx * dx + dy * dy) + dz * dz, at = sqrt(d2) / j->bins.width;
      r.counts[isnan(at)                    ? j->bins.count + PAIRS_NAN
               : at < (double)j->bins.count ? (int64_t)at
                                            : j->bins.count + PAIRS_ABOVE] += 1;
    }
  return r;
}

static void check_plain(const char *what, const job *j) {
  result wanted = plain(j);
  on_every_rung(what, j, &wanted);
  free_result(&wanted);
}

static void the_reports_table(void **state) {
  (void)state;
  enum { N = 10000 };
  double *points = malloc(3 * N * sizeof *points);
  pairs_report_points(N, points);
  const job j = {.a = points, .n = N, .bins = {0, 80, 500, NULL}};
  result wanted = make_result(&j);
  memcpy(wanted.counts, pairs_golden(N), 80 * sizeof(int64_t));
  if (!INSTRUMENTED) on_every_rung("the report's 10000 points", &j, &wanted);
  const job fewer = {.a = points, .n = 701, .bins = {0, 80, 500, NULL}};
  check_plain("701 of the report's points", &fewer);
  free_result(&wanted);
  free(points);
}

static void of_few_points(void **state) {
  (void)state;
  static const int64_t sizes[] = {0, 1, 2, 3, 5, 7, 11, 13, 17, 31, 32, 33, 61, 101, 127, 211};
  double *points = random_points(500, -1, 2, 3);
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    const job within = {.a = points, .n = sizes[k], .bins = {0, 13, 0.2, NULL}};
    check_plain("few points", &within);
    const job between = {.a = points,
                         .n = sizes[k],
                         .b = points + 600,
                         .m = sizes[(k * 5 + 1) % 16],
                         .bins = {0, 13, 0.2, NULL}};
    check_plain("two small sets", &between);
  }
  free(points);
}

/* One point, and others as far away as edges are and the doubles next to them, along an axis and a
 * diagonal. */
static void at_every_edge(void **state) {
  (void)state;
  static const double widths[] = {0.1, 1.0 / 3, 0.7, 500, 1e-5, 1e-160, 1e150, 3.7e-155};
  enum { BINS = 60, STEPS = 5 };
  static double points[BINS + 1][STEPS][2][3];
  const double origin[3] = {0, 0, 0};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; ++w) {
    for (int k = 0; k <= BINS; ++k)
      for (int s = 0; s < STEPS; ++s) {
        double at = k * widths[w];
        for (int step = s; step < 2; ++step) at = nextafter(at, 0);
        for (int step = s; step > 2; --step) at = nextafter(at, INFINITY);
        const double along[2][3] = {{at, 0, 0}, {at * 0.6, -at * 0.8 * 0.6, at * 0.8 * 0.8}};
        memcpy(points[k][s], along, sizeof along);
      }
    const job j = {.a = &points[0][0][0][0],
                   .n = (BINS + 1) * STEPS * 2,
                   .b = origin,
                   .m = 1,
                   .bins = {0, BINS, widths[w], NULL}};
    check_plain("at edges", &j);
    const job within = {
        .a = &points[0][0][0][0], .n = (BINS + 1) * STEPS * 2, .bins = {0, BINS, widths[w], NULL}};
    check_plain("between edges", &within);
  }
}

static void all_in_one_place(void **state) {
  (void)state;
  double points[3 * 300];
  for (int i = 0; i < 300; ++i) {
    points[3 * i] = 1.0 / 3;
    points[3 * i + 1] = -2e9;
    points[3 * i + 2] = 1e-9;
  }
  const double edges[] = {0.5, 1, 1.5};
  const rung_box box = {{3, 0, 0}, {1, 4, 0}, {-1, 1, 5}};
  const job j = {.a = points, .n = 300, .bins = {0, 3, 0.25, NULL}};
  check_plain("one place", &j);
  const job given = {.a = points, .n = 300, .bins = {0, 2, 0, edges}, .box = &box};
  result wanted = make_result(&given);
  wanted.counts[2 + PAIRS_BELOW] = 300 * 299 / 2;
  on_every_rung("one place, below the first edge", &given, &wanted);
  free_result(&wanted);
}

static void on_a_line(void **state) {
  (void)state;
  double points[3 * 257];
  for (int i = 0; i < 257; ++i)
    for (int k = 0; k < 3; ++k) points[3 * i + k] = (i * 83 % 257) * (k + 1) * 0.125;
  const job j = {.a = points, .n = 257, .bins = {0, 200, 0.46770717334674267, NULL}};
  check_plain("a line", &j);
}

static void far_and_near(void **state) {
  (void)state;
  double *far = random_points(300, 1e9, 1, 8), *near = random_points(300, 0, 1e-9, 9);
  const job j = {.a = far, .n = 300, .bins = {0, 17, 0.1, NULL}};
  check_plain("at 1e9", &j);
  const job k = {.a = near, .n = 300, .bins = {0, 17, 1e-10, NULL}};
  check_plain("at 1e-9", &k);
  const job both = {.a = far, .n = 300, .b = near, .m = 300, .bins = {0, 1000, 2e6, NULL}};
  check_plain("from 1e9 to 1e-9", &both);
  free(far);
  free(near);
}

/* A power of two times as large everything is as it was, far beyond what single precision holds:
 * every second power, half of them without a box or in either, by turns. */
static void of_every_scale(void **state) {
  (void)state;
  enum { FEW = 90, EACH = INSTRUMENTED ? 4 : 1 };
  static const rung_box boxes[] = {{{0}, {0}, {0}},
                                   {{1, 0, 0}, {0, 1, 0}, {0, 0, 2}},
                                   {{1, 0, 0}, {0.5, 1, 0}, {-0.25, 0.75, 1.25}}};
  double *points = random_points(FEW, 0, 1, 14), scaled[3 * FEW];
  gpu_rungs_take_turns = 3;
  for (int b = 0; b < 3; ++b) {
    const rung_distances bins = {0, 20, b == 0 ? 0.07 : 0.02, NULL};
    job j = {.a = points, .n = FEW, .box = b == 0 ? NULL : &boxes[b], .bins = bins};
    result wanted = serial_result(&j);
    for (int k = -228 + 2 * b; k <= 228; k += (k > -90 && k < 80 ? 6 : 19) * EACH) {
      rung_box box;
      for (int x = 0; x < 3; ++x) {
        box.a[x] = ldexp(boxes[b].a[x], k);
        box.b[x] = ldexp(boxes[b].b[x], k);
        box.c[x] = ldexp(boxes[b].c[x], k);
      }
      for (int i = 0; i < 3 * FEW; ++i) scaled[i] = ldexp(points[i], k);
      j.a = scaled;
      j.box = b == 0 ? NULL : &box;
      j.bins.width = ldexp(bins.width, k);
      on_every_rung("another scale", &j, &wanted);
    }
    free_result(&wanted);
  }
  gpu_rungs_take_turns = 1;
  free(points);
}

static void not_numbers(void **state) {
  (void)state;
  const double nan = (double)NAN, inf = (double)INFINITY;
  double *points = random_points(100, 0, 1, 4);
  points[3 * 5] = nan;
  points[3 * 17 + 1] = inf;
  points[3 * 18 + 1] = inf;
  points[3 * 40 + 2] = -inf;
  points[3 * 99] = 1e200;
  points[3 * 98 + 1] = -1e200;
  const job j = {.a = points, .n = 100, .bins = {0, 20, 0.1, NULL}};
  check_plain("NaN and infinities", &j);
  check_plain("NaN and infinities", &(job){.a = points, .n = 100, .bins = {0, 9, 1e307, NULL}});
  /* In a box a point without a place is at no distance from any other. */
  const rung_box box = {{3, 0, 0}, {0, 3, 0}, {0, 0, 3}};
  const job in_box = {.a = points, .n = 100, .bins = {0, 3, 0.5, NULL}, .box = &box};
  result found = serial_result(&in_box);
  const int64_t lost = 6, placed = 94;
  assert_int_equal(found.counts[3 + PAIRS_NAN], lost * (lost - 1) / 2 + lost * placed);
  assert_int_equal(total_of(&in_box, &found), 100 * 99 / 2);
  on_every_rung("points without a place", &in_box, &found);
  free_result(&found);
  free(points);
}

/* ---- lattices ---------------------------------------------------------------------------------
 */

/* Pairs at each whole square of a distance: edges are the roots of whole numbers. */
enum { SQUARES = 24 };
static double roots[SQUARES + 1];

static void check_squares(const char *what, const double *points, int64_t n, const rung_box *box,
                          const int64_t *by_square, int squares) {
  for (int k = 0; k <= SQUARES; ++k) roots[k] = sqrt(k);
  const job j = {.a = points, .n = n, .box = box, .bins = {0, squares, 0, roots}};
  result wanted = make_result(&j);
  int64_t above = n * (n - 1) / 2;
  for (int k = 0; k < squares; ++k) above -= wanted.counts[k] = by_square[k];
  wanted.counts[squares + PAIRS_ABOVE] = above;
  on_every_rung(what, &j, &wanted);
  free_result(&wanted);
}

static void simple_cubic(void **state) {
  (void)state;
  enum { K = 9, N = K * K * K };
  /* Neighbours at squares 0, 1, 2 ... of a simple cubic lattice, half of which are counted. */
  static const int64_t neighbours[] = {0,  6,  12, 8,  6,  24, 24, 0,  12, 30,
                                       24, 24, 8,  24, 48, 0,  6,  48, 36, 24};
  static double points[3 * N];
  int64_t counts[SQUARES] = {0};
  for (int i = 0; i < N; ++i) {
    points[3 * i] = i % K;
    points[3 * i + 1] = i / K % K;
    points[3 * i + 2] = i / K / K;
  }
  const rung_box box = {{K, 0, 0}, {0, K, 0}, {0, 0, K}};
  for (int s = 0; s < 20; ++s) counts[s] = N * neighbours[s] / 2;
  check_squares("simple cubic, periodic", points, N, &box, counts, 20);
  /* The same in a cell of three leaning vectors, points many cells away. */
  const rung_box leaning = {{K, 0, 0}, {3 * K, K, 0}, {-2 * K, 5 * K, -K}};
  for (int i = 0; i < N; ++i) points[3 * i] += (i % 7 - 3) * K, points[3 * i + 1] -= i % 5 * K;
  check_squares("simple cubic, leaning", points, N, &leaning, counts, 20);
  for (int i = 0; i < N; ++i) points[3 * i] = i % K, points[3 * i + 1] = i / K % K;
  memset(counts, 0, sizeof counts);
  for (int x = 1 - K; x < K; ++x)
    for (int y = 1 - K; y < K; ++y)
      for (int z = 1 - K; z < K; ++z)
        if (x * x + y * y + z * z > 0 && x * x + y * y + z * z < SQUARES)
          counts[x * x + y * y + z * z] += (K - abs(x)) * (K - abs(y)) * (K - abs(z));
  for (int s = 0; s < SQUARES; ++s) counts[s] /= 2;
  check_squares("simple cubic, open", points, N, NULL, counts, SQUARES);
}

/* Primitive vectors at 60 degrees: every nearest neighbour is as near as twelve. */
static void face_centred_cubic(void **state) {
  (void)state;
  enum { K = 7, N = K * K * K };
  static const int64_t neighbours[SQUARES] = {0, 0, 12, 0, 6, 0, 24, 0, 12, 0, 24, 0,
                                              8, 0, 48, 0, 6, 0, 36, 0, 24, 0, 24, 0};
  static double points[3 * N];
  int64_t counts[SQUARES];
  for (int i = 0; i < N; ++i) {
    const int u = i % K, v = i / K % K, w = i / K / K;
    points[3 * i] = v + w;
    points[3 * i + 1] = u + w;
    points[3 * i + 2] = u + v;
  }
  const rung_box box = {{0, K, K}, {K, 0, K}, {K, K, 0}};
  for (int s = 0; s < SQUARES; ++s) counts[s] = N * neighbours[s] / 2;
  check_squares("face-centred cubic, its own cell", points, N, &box, counts, 24);
}

/* g(r) of points without any order is 1, to within what counting so many strays by. */
static void an_ideal_gas(void **state) {
  (void)state;
  enum { N = INSTRUMENTED ? 1500 : 4000, BINS = 25 };
  static const rung_box boxes[] = {{{20, 0, 0}, {0, 20, 0}, {0, 0, 20}},
                                   {{20, 0, 0}, {10, 18, 0}, {-6, 7, 22}}};
  for (int b = 0; b < 2; ++b) {
    double *points = malloc(3 * N * sizeof *points), reach, g[BINS], neighbours[BINS];
    rung_random random = {17};
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < 3; ++k) points[3 * i + k] = 0;
    for (int i = 0; i < N; ++i) {
      const double f[3] = {rung_random_double(&random), rung_random_double(&random),
                           rung_random_double(&random)};
      for (int k = 0; k < 3; ++k)
        points[3 * i + k] = f[0] * boxes[b].a[k] + f[1] * boxes[b].b[k] + f[2] * boxes[b].c[k];
    }
    assert_int_equal(rung_box_reach(NULL, &boxes[b], &reach), RUNG_OK);
    const job j = {.a = points, .n = N, .box = &boxes[b], .bins = {0, BINS, reach / 26, NULL}};
    result found = serial_result(&j);
    on_every_rung("an ideal gas", &j, &found);
    const double volume = boxes[b].a[0] * boxes[b].b[1] * boxes[b].c[2];
    assert_int_equal(
        rung_pairs_rdf(&j.bins, found.counts, 0.5 * N * (N - 1) / volume, 2.0 / N, g, neighbours),
        RUNG_OK);
    int64_t within = 0;
    for (int k = 0; k < BINS; ++k) {
      const double allowed = 5 / sqrt((double)found.counts[k]);
      if (!(fabs(g[k] - 1) < allowed)) fail_msg("g[%d] is %g, beyond %g of 1", k, g[k], allowed);
      within += found.counts[k];
      assert_true(neighbours[k] == 2.0 / N * (double)within);
    }
    free_result(&found);
    free(points);
  }
}

static void rdf_of_given_edges(void **state) {
  (void)state;
  const double edges[] = {0, 1, 1.0000001, 3};
  const int64_t counts[] = {4, 5, 6};
  const rung_distances bins = {0, 3, 0, edges}, none = {0, 0, 1, NULL};
  double g[3], neighbours[3];
  const double pi = acos(-1);
  assert_int_equal(rung_pairs_rdf(&bins, counts, 2, 0.5, g, neighbours), RUNG_OK);
  assert_true(fabs(g[0] / (4 / (2 * 4 / 3.0 * pi)) - 1) < 1e-14);
  assert_true(fabs(g[1] / (5 / (2 * 4 * pi * (edges[2] - 1) * 1.0000001)) - 1) < 1e-13);
  assert_true(fabs(g[2] / (6 / (2 * 4 / 3.0 * pi * 26)) - 1) < 1e-6);
  assert_true(neighbours[0] == 2 && neighbours[1] == 4.5 && neighbours[2] == 7.5);
  g[0] = neighbours[0] = -5;
  assert_int_equal(rung_pairs_rdf(&none, counts, 2, 1, g, neighbours), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_pairs_rdf(NULL, counts, 2, 1, g, neighbours), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_pairs_rdf(&bins, NULL, 2, 1, g, neighbours), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_pairs_rdf(&bins, counts, 0, 1, g, neighbours), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_pairs_rdf(&bins, counts, (double)NAN, 1, g, NULL), RUNG_BAD_ARGUMENT);
  assert_int_equal(rung_pairs_rdf(&bins, counts, 1, (double)NAN, g, neighbours), RUNG_BAD_ARGUMENT);
  assert_true(g[0] == -5 && neighbours[0] == -5);
  assert_int_equal(rung_pairs_rdf(&bins, counts, 0, 1, NULL, neighbours), RUNG_OK);
  assert_int_equal(rung_pairs_rdf(&bins, counts, 1, 0, g, NULL), RUNG_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_reports_table), cmocka_unit_test(of_few_points),
      cmocka_unit_test(at_every_edge),     cmocka_unit_test(all_in_one_place),
      cmocka_unit_test(on_a_line),         cmocka_unit_test(far_and_near),
      cmocka_unit_test(of_every_scale),    cmocka_unit_test(not_numbers),
      cmocka_unit_test(simple_cubic),      cmocka_unit_test(face_centred_cubic),
      cmocka_unit_test(an_ideal_gas),      cmocka_unit_test(rdf_of_given_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
