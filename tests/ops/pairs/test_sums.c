/* Sums of products of weights are exact and know no order; molecules; sets that make up others. */
#include "ops/pairs/outside.h"
#include "ops/pairs/space.h"
#include "ops/pairs/sums.h"

enum { N = 150, BINS = 12 };

static double *random_weights(int64_t n, uint64_t seed, int binades) {
  double *weights = malloc((size_t)(n + 1) * sizeof *weights);
  rung_random random = {seed};
  for (int64_t i = 0; i < n; ++i)
    weights[i] = ldexp(2 * rung_random_double(&random) - 1,
                       -(int)((rung_random_next(&random) >> 32) % (uint64_t)binades));
  return weights;
}

static bool same_molecule(const job *j, int64_t i, int64_t k) {
  const int64_t *b = j->b != NULL ? j->b_molecules : j->a_molecules;
  return j->a_molecules != NULL && j->a_molecules[i] >= 0 && j->a_molecules[i] == b[k];
}

/* Counts and sums in open space by bins of even width, the sums in integers of 128 bits by the
 * words of rung.h: products to multiples of 2^(e - 62), added up, rounded once. */
static result exact(const job *j) {
  result r = make_result(j);
  __extension__ typedef __int128 wide;
  wide *sums = calloc((size_t)j->bins.count, sizeof *sums);
  const double *b = j->b != NULL ? j->b : j->a, *bw = j->b != NULL ? j->b_weights : j->a_weights;
  const int64_t others = j->b != NULL ? j->m : j->n;
  double most_a = 0, most_b = 0;
  int e;
  for (int64_t i = 0; i < j->n; ++i) most_a = fmax(most_a, fabs(j->a_weights[i]));
  for (int64_t k = 0; k < others; ++k) most_b = fmax(most_b, fabs(bw[k]));
  frexp(most_a * most_b, &e);
  for (int64_t i = 0; i < j->n; ++i)
    for (int64_t k = j->b != NULL ? 0 : i + 1; k < others; ++k) {
      if (same_molecule(j, i, k)) continue;
      const double dx = j->a[3 * i] - b[3 * k], dy = j->a[3 * i + 1] - b[3 * k + 1],
                   dz = j->a[3 * i + 2] - b[3 * k + 2];
      const double at = sqrt((dx * dx + dy * dy) + dz * dz) / j->bins.width;
      if (!(at < (double)j->bins.count)) {
        r.counts[j->bins.count + PAIRS_ABOVE] += 1;
        continue;
      }
      r.counts[(int)at] += 1;
      sums[(int)at] += llrint(ldexp(j->a_weights[i] * bw[k], 62 - e));
    }
  for (int64_t k = 0; k < j->bins.count; ++k) {
    /* A long double holds 64 bits: the rest of 128 makes itself felt as one more. */
    const bool negative = sums[k] < 0;
    __extension__ unsigned __int128 size = (unsigned __int128)(negative ? -sums[k] : sums[k]);
    int down = 0;
    while (size >> 62 != 0) {
      size = size >> 1 | (size & 1);
      ++down;
    }
    const double value = ldexp((double)(uint64_t)size, e - 62 + down);
    r.sums[k] = negative ? -value : value;
  }
  free(sums);
  return r;
}

static void check_exact(const char *what, const job *j) {
  result wanted = exact(j);
  on_every_rung(what, j, &wanted);
  free_result(&wanted);
}

static void are_exact(void **state) {
  (void)state;
  double *points = random_points(N, 0, 1, 3), *others = random_points(90, 0, 1, 4);
  for (int binades = 1; binades <= 300; binades = binades * 4 + 1) {
    double *weights = random_weights(N, 5, binades), *more = random_weights(90, 6, binades);
    const job j = {.a = points, .n = N, .a_weights = weights, .bins = {0, BINS, 0.1, NULL}};
    check_exact("weights", &j);
    const job k = {.a = points,
                   .n = N,
                   .a_weights = weights,
                   .b = others,
                   .m = 90,
                   .b_weights = more,
                   .bins = {0, BINS, 0.1, NULL}};
    check_exact("weights of two sets", &k);
    free(weights);
    free(more);
  }
  free(points);
  free(others);
}

/* Near the truth, too: to a unit a pair and one rounding. */
static void are_near(void **state) {
  (void)state;
  double *points = random_points(N, 0, 1, 7), *weights = random_weights(N, 8, 8);
  const job j = {.a = points, .n = N, .a_weights = weights, .bins = {0, 1, 2, NULL}};
  result found = serial_result(&j);
  long double sum = 0, squares = 0;
  for (int i = 0; i < N; ++i) {
    sum += weights[i];
    squares += (long double)weights[i] * weights[i];
  }
  const long double wanted = (sum * sum - squares) / 2;
  assert_true(fabsl(found.sums[0] - wanted) <= 1e-15L * N * N);
  free_result(&found);
  free(points);
  free(weights);
}

static void know_no_order(void **state) {
  (void)state;
  double *points = random_points(N, 0, 1, 1), *weights = random_weights(N, 2, 30);
  job j = {.a = points, .n = N, .a_weights = weights, .bins = {0, BINS, 0.1, NULL}};
  result wanted = serial_result(&j);
  rung_random random = {12};
  for (int round = 0; round < 5; ++round) {
    for (int i = N - 1; i > 0; --i) {
      const int k = (int)(rung_random_next(&random) % (uint64_t)(i + 1));
      for (int x = 0; x < 4; ++x) {
        double *p = x < 3 ? &points[3 * i + x] : &weights[i],
               *q = x < 3 ? &points[3 * k + x] : &weights[k];
        const double was = *p;
        *p = *q;
        *q = was;
      }
    }
    on_every_rung("another order", &j, &wanted);
  }
  free_result(&wanted);
  free(points);
  free(weights);
}

static void not_finite(void **state) {
  (void)state;
  double *points = random_points(N, 0, 1, 1), *weights = random_weights(N, 2, 30);
  static const double bad[] = {0x1p600, (double)INFINITY, -(double)INFINITY, (double)NAN};
  for (int b = 0; b < 4; ++b) {
    weights[77] = bad[b];
    const job j = {.a = points, .n = N, .a_weights = weights, .bins = {0, BINS, 0.1, NULL}};
    result found = serial_result(&j);
    for (int k = 0; k < BINS; ++k) assert_true(isnan(found.sums[k]));
    on_every_rung("a weight without end", &j, &found);
    free_result(&found);
  }
  for (int i = 0; i < N; ++i) weights[i] = 0;
  const job j = {.a = points, .n = N, .a_weights = weights, .bins = {0, BINS, 0.1, NULL}};
  result found = serial_result(&j);
  for (int k = 0; k < BINS; ++k) assert_true(found.sums[k] == 0 && !signbit(found.sums[k]));
  on_every_rung("weights of 0", &j, &found);
  free_result(&found);
  for (int i = 0; i < N; ++i) weights[i] = ldexp(i + 1, -541);
  check_exact("subnormal sums", &j);
  for (int i = 0; i < N; ++i) weights[i] = ldexp(i % 2 ? i + 1 : -i - 1, 503);
  check_exact("large sums", &j);
  free(points);
  free(weights);
}

/* The fixed point itself, to its ends. */
static void round_once(void **state) {
  (void)state;
  static const struct {
    uint64_t low;
    int64_t high;
    int e;
    double value;
  } cases[] = {
      {0, 0, 5, 0},
      {1, 0, 62, 1},
      {UINT64_MAX, -1, 62, -1},
      {((uint64_t)1 << 53) + 1, 0, 62, 0x1p53},
      {((uint64_t)1 << 53) + 3, 0, 62, 0x1.0000000000002p53},
      {~(uint64_t)0, 0, 62, 0x1p64},
      {1024, (int64_t)1 << 52 | 1, 62, 0x1.0000000000001p116},
      {0, (int64_t)1 << 62, 62, 0x1p126},
      {1, ((int64_t)1 << 52) + 1, 62, 0x1.0000000000001p116},
      {(uint64_t)1 << 63, (int64_t)1 << 52, 62, 0x1p116},
      {((uint64_t)1 << 63) + 1, (int64_t)1 << 52, 62, 0x1.0000000000001p116},
      {(uint64_t)1 << 63, ((int64_t)1 << 52) + 1, 62, 0x1.0000000000002p116},
      {1, 0, -1012, 0x1p-1074},
      {1, 0, -1013, 0},
      {3, 0, -1013, 0x1p-1073},
      {((uint64_t)1 << 53) + 3, 0, -1014, 0x1.0000000000002p-1023},
      {1, 0, 1024, 0x1p962},
      {0, 1, 1024, (double)INFINITY},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const double found = pairs_sum_value(cases[k].low, cases[k].high, cases[k].e);
    if (memcmp(&found, &cases[k].value, sizeof found) != 0)
      fail_msg("case %d: %a, not %a", (int)k, found, cases[k].value);
  }
  pairs_sum sum = {0, 0};
  for (int k = 0; k < 9; ++k) pairs_sum_units(&sum, INT64_MIN / 2);
  assert_true(sum.high == -3 && sum.low == (uint64_t)3 << 62);
  pairs_sum_add(&sum, (pairs_sum){(uint64_t)1 << 62, 2});
  assert_true(sum.high == 0 && sum.low == 0);
  assert_int_equal(pairs_units(1, 1, 1), (int64_t)1 << 61);
  assert_int_equal(pairs_units(-0x1.8p-31, 0x1p-31, 1), -1);
  assert_int_equal(pairs_units(-0x1p-31, 0x1p-31, 1), 0);
  assert_int_equal(pairs_units(0x1.8p-62, 1, 1), 1);
  assert_int_equal(pairs_units(0x1p-62, 1, 1), 0);
  assert_int_equal(pairs_units(0x1p500, -0x1.8p522, 1024), -((int64_t)3 << 59));
  assert_int_equal(pairs_units(0x1p-500, 0x1p-573, -1072), (int64_t)1 << 61);
  assert_int_equal(pairs_exponent(1, 1), 1);
  assert_int_equal(pairs_exponent(0.75, 1), 0);
  assert_int_equal(pairs_exponent(0, (double)INFINITY), PAIRS_NO_EXPONENT);
}

/* ---- molecules and sets -----------------------------------------------------------------------
 */

static void molecules_are_left_out(void **state) {
  (void)state;
  double *points = random_points(2 * N, 0, 1, 3), *weights = random_weights(2 * N, 4, 5);
  int64_t molecules[2 * N];
  for (int kind = 0; kind < 4; ++kind) {
    for (int i = 0; i < 2 * N; ++i)
      molecules[i] = kind == 0   ? i / 3
                     : kind == 1 ? -1 - i % 2
                     : kind == 2 ? INT64_MAX / 5 * (i * 7 % 5) - (i % 4 == 0 ? INT64_MAX / 2 : 0)
                                 : 0;
    job j = {.a = points,
             .n = N,
             .a_weights = weights,
             .a_molecules = molecules,
             .bins = {0, BINS, 0.1, NULL}};
    check_exact("molecules", &j);
    j.b = points + 3 * N;
    j.m = N;
    j.b_weights = weights + N;
    j.b_molecules = molecules + N / 2;
    check_exact("molecules of two sets", &j);
  }
  free(points);
  free(weights);
}

/* Pairs of a whole are those within its parts and between them. */
static void parts_make_the_whole(void **state) {
  (void)state;
  enum { A = 130, B = 71 };
  double *points = random_points(A + B, -9, 18, 6);
  const rung_box box = {{7, 0, 0}, {2, 6, 0}, {-1, 2, 8}};
  const rung_distances bins = {0, 20, 0.13, NULL};
  for (int b = 0; b < 2; ++b) {
    const rung_box *in = b == 0 ? NULL : &box;
    const job whole = {.a = points, .n = A + B, .box = in, .bins = bins},
              first = {.a = points, .n = A, .box = in, .bins = bins},
              second = {.a = points + 3 * A, .n = B, .box = in, .bins = bins},
              between = {.a = points, .n = A, .b = points + 3 * A, .m = B, .box = in, .bins = bins},
              turned = {.a = points + 3 * A, .n = B, .b = points, .m = A, .box = in, .bins = bins};
    result all = serial_result(&whole), one = serial_result(&first), two = serial_result(&second),
           three = serial_result(&between);
    on_every_rung("the whole", &whole, &all);
    on_every_rung("between parts", &between, &three);
    on_every_rung("the other way", &turned, &three);
    for (int k = 0; k < bins.count + PAIRS_OUTER; ++k)
      assert_int_equal(all.counts[k], one.counts[k] + two.counts[k] + three.counts[k]);
    assert_int_equal(total_of(&between, &three), A * B);
    free_result(&all);
    free_result(&one);
    free_result(&two);
    free_result(&three);
  }
  free(points);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(are_exact),           cmocka_unit_test(are_near),
      cmocka_unit_test(know_no_order),       cmocka_unit_test(not_finite),
      cmocka_unit_test(round_once),          cmocka_unit_test(molecules_are_left_out),
      cmocka_unit_test(parts_make_the_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
