/* Cells: reduced as they should be, and pairs across them as a search of the given cell's images in
 * long double finds them. */
#include "ops/pairs/outside.h"
#include "ops/pairs/space.h"

typedef struct cell {
  double v[3][3];
} cell;

static rung_box box_of(const cell *c) {
  rung_box box;
  memcpy(box.a, c->v[0], sizeof box.a);
  memcpy(box.b, c->v[1], sizeof box.b);
  memcpy(box.c, c->v[2], sizeof box.c);
  return box;
}

static const cell cells[] = {
    {{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}}},
    {{{0, 0, -7}, {12, 0, 0}, {0, 9, 0}}},
    {{{5, 0, 0}, {5, 8, 0}, {-10, 16, 11}}}, /* rectangular, once reduced */
    {{{10, 0, 0}, {5, 8.660254037844386, 0}, {0, 0, 16}}},
    {{{10, 0, 0}, {0, 10, 0}, {5, 5, 7.0710678118654755}}}, /* GROMACS' dodecahedron */
    {{{0, 8, 8}, {8, 0, 8}, {8, 8, 0}}},
    {{{10, 0, 0}, {9.9, 3, 0}, {-4.9, 1.4, 6}}},
    {{{10, 0, 0}, {4.5, 9.5, 0}, {7.105, 4.655, 6.3}}}, /* short: the third less both others */
    {{{1, 0, 0}, {7, 1, 0}, {-13, 9, 0.9}}},
    {{{3, 0.2, -0.1}, {0.1, 30, 2}, {5, -7, 0.8}}},
    {{{1, 0, 0}, {1000.3, 1, 0}, {0.2, 0.4, 1}}},
};
enum { CELLS = sizeof cells / sizeof *cells };

static cell random_cell(rung_random *random) {
  cell c;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) c.v[i][k] = (4 * rung_random_double(random) - 2) * (i == 2 ? 5 : 1);
  return c;
}

static pairs_box reduced_of(const cell *c, double last) {
  const rung_box box = box_of(c);
  pairs_box reduced;
  rung_error error = {0};
  if (pairs_box_of(&error, &box, last, &reduced) != RUNG_OK) fail_msg("%s", error.sentence);
  return reduced;
}

static long double determinant(double v[3][3]) {
  return (long double)v[0][0] * ((long double)v[1][1] * v[2][2] - (long double)v[1][2] * v[2][1]) -
         (long double)v[0][1] * ((long double)v[1][0] * v[2][2] - (long double)v[1][2] * v[2][0]) +
         (long double)v[0][2] * ((long double)v[1][0] * v[2][1] - (long double)v[1][1] * v[2][0]);
}

static double length(const double v[3]) {
  return sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]);
}

/* The same lattice, its vectors as short as they can be, and all that is derived from them. */
static void check_reduced(const cell *given) {
  cell c = *given;
  pairs_box box = reduced_of(&c, 0);
  const long double volume = fabsl(determinant(box.cell));
  assert_true(fabsl(volume - fabsl(determinant(c.v))) <= 1e-12L * volume * 1000);
  for (int i = 0; i < 3; ++i) {
    /* Whole numbers of the given vectors. */
    double rest[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k) {
      cell other = c;
      memcpy(other.v[k], box.cell[i], sizeof other.v[k]);
      const double share = (double)(determinant(other.v) / determinant(c.v));
      assert_true(fabs(share - nearbyint(share)) <= 1e-6);
      for (int x = 0; x < 3; ++x) rest[x] += nearbyint(share) * c.v[k][x];
    }
    for (int x = 0; x < 3; ++x)
      assert_true(fabs(rest[x] - box.cell[i][x]) <= 1e-10 * length(c.v[1]));
    for (int k = 0; k < 3; ++k) {
      double one = 0;
      for (int x = 0; x < 3; ++x) one += box.cell[i][x] * box.inverse[x][k];
      assert_true(fabs(one - (i == k)) <= 1e-13);
    }
    const double *v = box.inverse[0];
    const double thick = 1 / sqrt(v[i] * v[i] + v[3 + i] * v[3 + i] + v[6 + i] * v[6 + i]);
    assert_true(fabs(thick - box.height[i]) <= 1e-12 * thick);
    assert_true(box.height[i] >= 0.7071 * length(box.cell[i]));
  }
  double shortest = (double)INFINITY;
  for (int n = 0; n < 9 * 9 * 9; ++n) {
    const pairs_point t = pairs_shift(&box, n / 81 - 4, n / 9 % 9 - 4, n % 9 - 4);
    if (n != 9 * 9 * 9 / 2) shortest = fmin(shortest, sqrt(pairs_square_open(t.x, t.y, t.z)));
  }
  assert_true(fabs(box.reach - shortest / 2) <= 1e-14 * shortest);
  double reach = 0;
  const rung_box asked = box_of(&c);
  assert_int_equal(rung_box_reach(NULL, &asked, &reach), RUNG_OK);
  assert_true(reach == box.reach);
}

static void are_reduced(void **state) {
  (void)state;
  rung_random random = {3};
  for (int k = 0; k < CELLS; ++k) check_reduced(&cells[k]);
  for (int k = 0; k < 2000; ++k) {
    const cell c = random_cell(&random);
    rung_box box = box_of(&c);
    double reach;
    if (rung_box_reach(NULL, &box, &reach) == RUNG_OK) check_reduced(&c);
  }
  cell c = cells[0];
  assert_int_equal(reduced_of(&c, 5).space, PAIRS_RECTANGULAR);
  assert_int_equal(reduced_of(&c, 4.99).nears, 1);
  c = cells[1];
  const pairs_box turned = reduced_of(&c, 1);
  assert_int_equal(turned.space, PAIRS_RECTANGULAR);
  assert_true(turned.cell[0][0] == 12 && turned.cell[1][1] == 9 && turned.cell[2][2] == 7);
  assert_true(turned.reach == 3.5);
  c = cells[2];
  assert_int_equal(reduced_of(&c, 1).space, PAIRS_RECTANGULAR);
  c = cells[3];
  assert_int_equal(reduced_of(&c, 1).space, PAIRS_TRICLINIC);
}

/* The short ways against all 125 images, for places anywhere in the cell and on its faces. */
static void near_images_suffice(void **state) {
  (void)state;
  rung_random random = {11};
  int searched = 0;
  for (int k = 0; k < CELLS + 200; ++k) {
    const cell c = k < CELLS ? cells[k] : random_cell(&random);
    const rung_box asked = box_of(&c);
    double reach;
    if (rung_box_reach(NULL, &asked, &reach) != RUNG_OK) continue;
    for (int part = 1; part <= 2; ++part) {
      const double last = part == 1 ? reach : 0.6 * reach;
      const pairs_box box = reduced_of(&c, last);
      searched += box.nears > 1;
      for (int i = 0; i < 500; ++i) {
        double f[6];
        for (int x = 0; x < 6; ++x) {
          f[x] = rung_random_double(&random);
          if (i % 5 == 0) f[x] = nearbyint(2 * f[x]) / 2;
        }
        const pairs_point p = pairs_shift(&box, f[0], f[1], f[2]),
                          q = pairs_shift(&box, f[3], f[4], f[5]);
        const double dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
        const double full = pairs_square_full(&box, dx, dy, dz),
                     quick = pairs_square(&box, dx, dy, dz);
        assert_true(full < last * last ? quick == full : quick >= full);
        if (box.space == PAIRS_RECTANGULAR) assert_true(quick == full);
      }
    }
  }
  assert_true(searched > 50);
}

/* Far away, roundings leave a point outside the cell: then it has no place, and it never has one
 * from so far that its place would be chance. */
static void far_places(void **state) {
  (void)state;
  /* Its short vector's coordinate is what is left of two large ones. */
  static const cell thin = {{{1, 0.3, 0.2}, {-200, 900, 300}, {50, -40, 80}}};
  rung_random random = {31};
  int placed = 0, lost = 0;
  for (int n = 0; n <= CELLS; ++n) {
    const pairs_box box = reduced_of(n < CELLS ? &cells[n] : &thin, 0);
    for (int i = 0; i < 3000; ++i) {
      double f[3];
      for (int k = 0; k < 3; ++k) f[k] = ldexp(2 * rung_random_double(&random) - 1, 38 + i % 10);
      const pairs_point x = pairs_shift(&box, f[0], f[1], f[2]),
                        p = pairs_place(&box, x.x, x.y, x.z);
      placed += !isnan(p.x);
      lost += isnan(p.x);
      for (int k = 0; k < 3 && !isnan(p.x); ++k) {
        const double s = pairs_fraction(&box, p.x, p.y, p.z, k);
        assert_true(s >= -0x1p-6 && s <= 1 + 0x1p-6);
        assert_true(fabs(pairs_fraction(&box, x.x, x.y, x.z, k)) <= 0x1p45 + 1);
      }
    }
    const pairs_point far = pairs_shift(&box, 0x1p50, 0, 0),
                      p = pairs_place(&box, far.x, far.y, far.z);
    assert_true(isnan(p.x) && isnan(p.y) && isnan(p.z));
  }
  assert_true(placed > 1000 && lost > 1000);
}

/* The same cells at the ends of the lengths that are accepted. */
static void at_every_scale(void **state) {
  (void)state;
  for (int n = 0; n < CELLS; ++n)
    for (int k = -215; k <= 215; k += 43) {
      cell c = cells[n], scaled = c;
      for (int i = 0; i < 9; ++i) scaled.v[i / 3][i % 3] = ldexp(c.v[i / 3][i % 3], k);
      const double reach = reduced_of(&c, 0).reach;
      const pairs_box one = reduced_of(&c, reach), other = reduced_of(&scaled, ldexp(reach, k));
      assert_true(other.reach == ldexp(reach, k) && other.nears == one.nears);
      for (int i = 0; i < 9; ++i) {
        assert_true(other.cell[i / 3][i % 3] == ldexp(one.cell[i / 3][i % 3], k));
        assert_true(other.inverse[i / 3][i % 3] == ldexp(one.inverse[i / 3][i % 3], -k));
      }
    }
}

static void has_no_place(void **state) {
  (void)state;
  const double numbers[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e17, -1e200, 1e308};
  for (int k = 0; k < CELLS; ++k) {
    const cell c = cells[k];
    const pairs_box box = reduced_of(&c, 0);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; ++n) {
      const pairs_point p = pairs_place(&box, 0.3, numbers[n], 1);
      assert_true(isnan(p.x) && isnan(p.y) && isnan(p.z));
    }
    const pairs_point p = pairs_place(&box, 12345.5, -54321.25, 3);
    for (int i = 0; i < 3; ++i) {
      const double s = pairs_fraction(&box, p.x, p.y, p.z, i);
      assert_true(s >= -1e-9 && s <= 1 + 1e-9);
    }
  }
}

/* ---- against the images of the cell as it was given --------------------------------------------
 */

/* The least distance over so many images each way as can be within `last`. */
static long double least_distance(double v[3][3], const double *p, const double *q, double last) {
  long double fraction[3], least = (long double)INFINITY;
  int most[3];
  const long double volume = determinant(v);
  for (int k = 0; k < 3; ++k) {
    const double *b = v[(k + 1) % 3], *c = v[(k + 2) % 3];
    const long double face[3] = {(long double)b[1] * c[2] - (long double)b[2] * c[1],
                                 (long double)b[2] * c[0] - (long double)b[0] * c[2],
                                 (long double)b[0] * c[1] - (long double)b[1] * c[0]};
    long double size = 0;
    fraction[k] = 0;
    for (int x = 0; x < 3; ++x) {
      fraction[k] += face[x] / volume * ((long double)p[x] - q[x]);
      size += face[x] * face[x];
    }
    most[k] = (int)ceill(last * sqrtl(size) / fabsl(volume)) + 1;
  }
  for (int i = -most[0]; i <= most[0]; ++i)
    for (int j = -most[1]; j <= most[1]; ++j)
      for (int k = -most[2]; k <= most[2]; ++k) {
        long double square = 0;
        for (int x = 0; x < 3; ++x) {
          const long double d = (long double)p[x] - q[x] + (i - rintl(fraction[0])) * v[0][x] +
                                (j - rintl(fraction[1])) * v[1][x] +
                                (k - rintl(fraction[2])) * v[2][x];
          square += d * d;
        }
        if (square < least) least = square;
      }
  return sqrtl(least);
}

/* Edges in the middle of the widest gaps between distances, so that roundings decide nothing. */
static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void check_pairs(const cell *given, int64_t n, double spread, uint64_t seed) {
  enum { BINS = 6 };
  cell c = *given;
  const rung_box box = box_of(&c);
  const double last = 0.999 * reduced_of(&c, 0).reach;
  double *points = random_points(n, -spread, 2 * spread, seed), edges[BINS + 1] = {0};
  double *distances = malloc((size_t)(n * n / 2 + 1) * sizeof *distances);
  int64_t pairs = 0, near = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      distances[pairs++] = (double)least_distance(c.v, points + 3 * i, points + 3 * j, last);
  qsort(distances, (size_t)pairs, sizeof *distances, by_size);
  while (near < pairs && distances[near] < last) ++near;
  assert_true(near > 2 * BINS);
  job j = {.a = points, .n = n, .box = &box, .bins = {0, BINS, 0, edges}};
  result wanted = make_result(&j);
  for (int k = 1; k <= BINS; ++k) {
    int64_t at = near * k / (BINS + 1);
    for (int64_t other = at - 2; other <= at + 2; ++other)
      if (distances[other] - distances[other - 1] > distances[at] - distances[at - 1]) at = other;
    edges[k] = (distances[at] + distances[at - 1]) / 2;
    assert_true(distances[at] - distances[at - 1] > 1e-9 * spread);
    wanted.counts[k - 1] = at;
  }
  wanted.counts[BINS + PAIRS_ABOVE] = pairs - wanted.counts[BINS - 1];
  for (int k = BINS - 1; k > 0; --k) wanted.counts[k] -= wanted.counts[k - 1];
  on_every_rung("a cell's images", &j, &wanted);
  free_result(&wanted);
  free(distances);
  free(points);
}

static void all_images_are_seen(void **state) {
  (void)state;
  rung_random random = {21};
  gpu_rungs_take_turns = 3;
  for (int k = 0; k < CELLS; ++k) check_pairs(&cells[k], k < 10 ? 100 : 30, 15, (uint64_t)k + 1);
  for (int k = 0; k < 25;) {
    const cell c = random_cell(&random);
    const rung_box box = box_of(&c);
    double reach, longest = fmax(length(c.v[0]), fmax(length(c.v[1]), length(c.v[2])));
    if (rung_box_reach(NULL, &box, &reach) != RUNG_OK || reach < 0.1 * longest) continue;
    check_pairs(&c, 40, 10, (uint64_t)++k + 100);
  }
  gpu_rungs_take_turns = 1;
}

/* What is counted does not depend on how the cell is written down. */
static void other_vectors_of_a_lattice(void **state) {
  (void)state;
  const rung_box straight = {{12, 0, 0}, {0, 8, 0}, {0, 0, 10}},
                 leaning = {{12, 0, 0}, {-36, 8, 0}, {24, -16, -10}};
  double *points = random_points(200, -20, 40, 5);
  job j = {.a = points, .n = 200, .box = &straight, .bins = {0, 40, 0.1, NULL}};
  result wanted = serial_result(&j);
  assert_int_equal(total_of(&j, &wanted), 200 * 199 / 2);
  j.box = &leaning;
  on_every_rung("other vectors", &j, &wanted);
  free_result(&wanted);
  free(points);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(are_reduced),
                                     cmocka_unit_test(near_images_suffice),
                                     cmocka_unit_test(far_places),
                                     cmocka_unit_test(at_every_scale),
                                     cmocka_unit_test(has_no_place),
                                     cmocka_unit_test(all_images_are_seen),
                                     cmocka_unit_test(other_vectors_of_a_lattice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
