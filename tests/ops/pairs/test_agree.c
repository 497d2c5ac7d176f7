/* Jobs of all kinds at random, on every rung: what `serial` says. */
#include <stdio.h>

#include "ops/pairs/outside.h"

enum { JOBS = INSTRUMENTED ? 40 : 150, SOME = 260, MOST = 1100 };

typedef enum scatter {
  EVEN,     /* all over the cell */
  LATTICE,  /* corners of cells, and distances that are edges */
  CROWD,    /* half of them in a small part */
  LOOSE,    /* some are NaN or infinite */
  IMAGES,   /* many cells away */
  FAR_AWAY, /* so far that places stray out of the cell, or are none */
  SCATTERS
} scatter;

static double draw(rung_random *random) {
  return rung_random_double(random);
}

static int64_t draw_below(rung_random *random, int64_t n) {
  return (int64_t)(draw(random) * (double)n);
}

static double coordinate(rung_random *random, scatter how, double side) {
  const double x = draw(random);
  switch (how) {
    case LATTICE:
      return floor(x * 8) / 8 * side;
    case CROWD:
      return (draw(random) < 0.5 ? 0.05 * x : x) * side;
    case LOOSE:
      return draw(random) > 0.02 ? x * side
             : x < 0.5           ? (double)NAN
             : x < 0.8           ? HUGE_VAL
                                 : -HUGE_VAL;
    case IMAGES:
      return (x - 0.5) * 20 * side;
    case FAR_AWAY:
      return draw(random) < 0.5 ? x * side
                                : (x - 0.5) * side * ldexp(1, 43 + (int)draw_below(random, 4));
    default:
      return x * side;
  }
}

/* A box of about `side`, rectangular or more or less skew. */
static rung_box random_box(rung_random *random, double side) {
  const double skew = draw(random) < 0.4 ? 0 : draw(random) < 0.5 ? 0.5 : 3;
  double u[6];
  for (int k = 0; k < 6; ++k) u[k] = side * (draw(random) - 0.5);
  return (rung_box){{side, 0.1 * skew * u[0], 0},
                    {skew * u[1], side + u[2], 0},
                    {skew * u[3], skew * u[4], side + u[5]}};
}

/* bins + 1 edges from a little above 0, or 0, to `last`. */
static void random_edges(rung_random *random, double last, int64_t bins, double *edges) {
  const double first = draw(random) < 0.5 ? 0 : 0.03 * last;
  for (int64_t k = 0; k < bins; ++k)
    edges[k] = first + (last - first) * pow((double)k / (double)bins, 1.5);
  edges[bins] = last;
}

static void agree_on(uint64_t seed) {
  rung_random random = {seed};
  static double a[3 * MOST + 1], b[3 * MOST + 1], edges[41], weights[2][MOST + 1];
  static int64_t molecules[2][MOST + 1];
  const scatter how = (scatter)draw_below(&random, SCATTERS);
  const double side = draw(&random) < 0.8 ? 10 : ldexp(1, (int)draw_below(&random, 200) - 100);
  const bool boxed = draw(&random) < 0.7, cross = draw(&random) < 0.3;
  const rung_box box = random_box(&random, side);
  const int64_t kind = draw_below(&random, 20), bins = 1 + draw_below(&random, 40);
  const int64_t size = kind == 0 ? MOST : kind < 4 ? 3 : SOME;
  job j = {.a = a, .b = cross ? b : NULL, .box = boxed ? &box : NULL};
  j.n = draw_below(&random, size);
  if (cross) j.m = draw_below(&random, size);
  double reach = side;
  if (boxed) assert_int_equal(rung_box_reach(NULL, &box, &reach), RUNG_OK);
  /* Mostly cut-offs, for which there are cells, and some of a whole number of them. */
  double last = reach * (draw(&random) < 0.7 ? 0.02 + 0.4 * draw(&random) : draw(&random));
  if (draw(&random) < 0.2) last = reach / (1 + (double)draw_below(&random, 4)) / 2 * (1 - 0x1p-18);
  j.bins = (rung_distances){.count = bins, .width = last / (double)bins * (1 - 0x1p-50)};
  if (draw(&random) < 0.3) {
    random_edges(&random, last, bins, edges);
    j.bins.edges = edges;
  }
  for (int64_t i = 0; i < 3 * j.n; ++i) a[i] = coordinate(&random, how, side);
  for (int64_t i = 0; i < 3 * j.m; ++i) b[i] = coordinate(&random, how, side);
  const int64_t each = 1 + draw_below(&random, 5);
  for (int s = 0; s < 2; ++s)
    for (int64_t i = 0; i < MOST; ++i) {
      weights[s][i] = (draw(&random) - 0.3) * (i % 3 == 0 ? 1 : 0x1p-20);
      molecules[s][i] = each == 5 ? 7 : i / each - draw_below(&random, 6) / 5 * 300;
    }
  if (draw(&random) < 0.3) {
    j.a_weights = weights[0];
    if (cross) j.b_weights = weights[1];
  }
  if (draw(&random) < 0.3) {
    j.a_molecules = molecules[0];
    if (cross) j.b_molecules = molecules[1];
  }
  char what[80];
  snprintf(what, sizeof what, "job %" PRIu64 ", scatter %d", seed, (int)how);
  result wanted = serial_result(&j);
  on_every_rung(what, &j, &wanted);
  free_result(&wanted);
}

static void all_rungs_agree(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= JOBS; ++seed) agree_on(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_rungs_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
