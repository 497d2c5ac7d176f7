/* What the CPU's fast rungs do apart: molecules of very many points, squares that single precision
 * cannot decide, more thresholds between two tiles than are compared with, tiles whose nearest
 * image is not the same for all pairs, places outside the box. Each against `serial`. */
#include <stdio.h>

#include "ops/pairs/outside.h"

static void as_serial(const char *what, const job *j) {
  result wanted = serial_result(j);
  on_every_rung(what, j, &wanted);
  free_result(&wanted);
}

/* The first half is one molecule, the others have three points each, but for a few in none. */
static int64_t *halves(int64_t n) {
  int64_t *molecules = malloc((size_t)n * sizeof *molecules);
  for (int64_t i = 0; i < n; ++i)
    molecules[i] = i < n / 2 ? INT64_C(1) << 40 : i % 100 == 0 ? -1 : i / 3;
  return molecules;
}

static void excludes_large_molecules(void **state) {
  (void)state;
  enum { N = INSTRUMENTED ? 1200 : 3000, M = INSTRUMENTED ? 1000 : 2500 };
  const rung_box box = {{10, 0, 0}, {3, 9, 0}, {-2, 4, 11}};
  double *a = random_points(N, -3, 10, 1), *b = random_points(M, 0, 10, 2),
         *weights = random_points(N, -1, 2, 3);
  int64_t *of_a = halves(N), *of_b = halves(M);
  a[3 * 5] = NAN;
  a[3 * 7] = a[3 * 8] = INFINITY;
  job j = {.a = a, .n = N, .a_molecules = of_a, .bins = {.count = 40, .width = 0.1}};
  as_serial("large molecules", &j);
  j.box = &box;
  as_serial("large molecules in a box", &j);
  j.a_weights = weights;
  as_serial("large molecules with weights", &j);
  j.b = b;
  j.m = M;
  j.b_weights = weights;
  j.b_molecules = of_b;
  as_serial("large molecules of two sets", &j);
  j.box = NULL;
  j.a_weights = j.b_weights = NULL;
  as_serial("large molecules of two sets in open space", &j);
  free(a);
  free(b);
  free(weights);
  free(of_a);
  free(of_b);
}

/* Distances of a lattice lie on edges, to a rounding of double either way. */
static void decides_what_single_precision_cannot(void **state) {
  (void)state;
  enum { SIDE = 14, N = SIDE * SIDE * SIDE };
  double *points = malloc(3 * N * sizeof *points);
  for (int i = 0; i < N; ++i) {
    points[3 * i] = 0.1 * (i % SIDE);
    points[3 * i + 1] = 0.1 * (i / SIDE % SIDE);
    points[3 * i + 2] = 0.1 * (i / SIDE / SIDE);
  }
  const rung_box box = {{0.1 * SIDE, 0, 0}, {0, 0.1 * SIDE, 0}, {0, 0, 0.1 * SIDE}};
  job j = {.a = points, .n = N, .bins = {.count = 23, .width = 0.1}};
  as_serial("a lattice", &j);
  j.bins.count = 6;
  j.box = &box;
  as_serial("a periodic lattice", &j);
  free(points);
}

/* Two clouds far from each other, for their size and for the numbers' precision. */
static void sees_far_clouds(void **state) {
  (void)state;
  enum { N = 520 };
  for (double far = 1; far < 1e15; far *= 1000) {
    double *a = random_points(N, 0, 1, 5), *b = random_points(N, far, 1, 6), edges[34];
    for (int k = 0; k < 34; ++k) edges[k] = sqrt(3.0) * far + 0.11 * (k - 16);
    for (int k = 0; k < 34; ++k) edges[k] = edges[k] > 0.05 * k ? edges[k] : 0.05 * k;
    for (int k = 1; k < 34; ++k)
      if (!(edges[k] > edges[k - 1])) edges[k] = nextafter(edges[k - 1], INFINITY);
    const job j = {.a = a, .b = b, .n = N, .m = N, .bins = {.count = 33, .edges = edges}};
    as_serial("far clouds", &j);
    free(a);
    free(b);
  }
}

static void finds_any_number_of_bins(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 12, 60, 200, 1000, 5000, 70000};
  enum { N = INSTRUMENTED ? 1000 : 2500 };
  double *a = random_points(N, 0, 1, 7);
  for (int k = 0; k < 7; ++k) {
    char what[40];
    snprintf(what, sizeof what, "%d bins", (int)counts[k]);
    const job j = {.a = a, .n = N, .bins = {.count = counts[k], .width = 1.3 / (double)counts[k]}};
    as_serial(what, &j);
  }
  free(a);
}

/* Up to half a box, where the images of two tiles take turns. */
static void finds_the_nearest_image(void **state) {
  (void)state;
  enum { N = INSTRUMENTED ? 1000 : 1200 };
  static const rung_box boxes[] = {{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}},
                                   {{6, 0, 0}, {0, 10, 0}, {0, 0, 15}},
                                   {{10, 0, 0}, {4, 9, 0}, {-3, 4, 9}}};
  double *a = random_points(N, 0, 10, 9);
  for (int k = 0; k < 3; ++k) {
    job j = {.a = a, .n = N, .box = &boxes[k], .bins = {.count = 20}};
    double reach;
    assert_int_equal(rung_box_reach(NULL, &boxes[k], &reach), RUNG_OK);
    j.bins.width = reach / 20.0000001;
    as_serial("half a box", &j);
  }
  free(a);
}

/* 10^13 cells away a place is known to a thousandth of the cell: next to a corner, it lies outside.
 */
static void counts_strays(void **state) {
  (void)state;
  enum { N = 2500 };
  const rung_box box = {{10, 0, 0}, {0, 10, 0}, {0, 0, 10}};
  double *a = random_points(N, 0, 10, 8);
  for (int i = 0; i < 40; ++i) a[150 * i] = nextafter(1.2e14, 0);
  const job j = {.a = a, .n = N, .box = &box, .bins = {.count = 30, .width = 0.05}};
  as_serial("strays", &j);
  free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(excludes_large_molecules),
      cmocka_unit_test(decides_what_single_precision_cannot),
      cmocka_unit_test(sees_far_clouds),
      cmocka_unit_test(finds_any_number_of_bins),
      cmocka_unit_test(finds_the_nearest_image),
      cmocka_unit_test(counts_strays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
