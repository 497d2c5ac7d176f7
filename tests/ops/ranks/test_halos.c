/* Pairs with a cut-off over ranks: slabs and halos give the bits of the whole, and send less than
 * all points to all. */
#include <math.h>
#include <stdio.h>

#include "ops/pairs/pairs.h"
#include "ops/pairs/slabs.h"
#include "ops/ranks/cuts.h"

enum { COUNT = 3000, STEP = 3 };

static double data[COUNT * STEP + 8], rounded[COUNT * STEP + 8];
static char wanted[8], found[8];
static rung_context *cpus[RANKS_MOST], *sim;
static over_run run;

static int open_all(void **state) {
  (void)state;
  over_fill_points();
  for (int r = 0; r < RANKS_MOST; r++)
    if (rung_open(&cpus[r], &(rung_options){.device = "cpu", .threads = 1 + r % 2}) != RUNG_OK)
      return -1;
  sim = open_on("sim");
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (int r = 0; r < RANKS_MOST; r++) rung_close(cpus[r]);
  rung_close(sim);
  return 0;
}

/* How points lie. */
typedef enum lying {
  EVENLY,
  IN_A_HEAP,  /* most about the middle */
  IN_TWO,     /* heaps far apart */
  FAR_AWAY,   /* of their box */
  ON_BORDERS, /* of layers, and of the box */
  IN_A_PLANE, /* one layer has all */
  ONE_NAN,
  ONE_INFINITE,
  LYINGS
} lying;

static void lay(lying how) {
  fill((char *)data, f64, COUNT * STEP + 8);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < 3; k++) {
      double *x = &data[i * STEP + k];
      if (how == IN_A_HEAP) *x = *x * *x * *x;
      if (how == IN_TWO) *x = k == 1 ? *x / 8 + (i % 2 ? 40 : -40) : *x / 2;
      if (how == FAR_AWAY) *x *= 300;
      if (how == ON_BORDERS) *x = round(*x * 10) * (k == 0 ? 0.31 : k == 1 ? 0.32 : 0.33);
      if (how == IN_A_PLANE && k == 2) *x = 0.125;
      if (how == IN_A_PLANE && k < 2) *x /= 16;
    }
  if (how == ONE_NAN) data[1234] = NAN;
  if (how == ONE_INFINITE) data[1235] = -INFINITY;
  for (int i = 0; i < COUNT * STEP + 8; i++) ((float *)rounded)[i] = (float)data[i];
}

/* The whole by one context, then over ranks; returns the bytes that were sent. */
static size_t compare(const over_job *job, int count, rung_context *const *contexts,
                      const int64_t *cuts, const char *about) {
  rung_status statuses[RANKS_MOST];
  int64_t one[ONE];
  run = (over_run){.job = *job,
                   .in = job->type.bits == 64 ? (const char *)data : (const char *)rounded,
                   .out = wanted};
  assert_int_equal(over_call(cpus[0], NULL, &run, 0, 0, job->total), RUNG_OK);
  memcpy(one, run.one[0], sizeof one);
  run.out = found;
  memset(run.one, 0, sizeof run.one);
  memcpy(run.cuts, cuts, sizeof run.cuts[0] * (size_t)(count + 1));
  ranks_run(count, contexts, over_rank, &run, 0, 0, RANKS_FAULTS, statuses);
  for (int r = 0; r < count; r++) {
    if (statuses[r] != RUNG_OK)
      fail_msg("%s, rank %d of %d: %s", about, r, count, run.sentences[r]);
    if (memcmp(run.one[r], one, sizeof one) != 0)
      fail_msg("%s, rank %d of %d: other bits", about, r, count);
  }
  return ranks_all.sent;
}

/* Even cuts; all with the last; every other rank has none. */
static void cut(int kind, int count, int64_t *cuts) {
  for (int r = 0; r <= count; r++)
    cuts[r] = kind == 0   ? COUNT * r / count
              : kind == 1 ? r < count ? 0 : COUNT
                          : COUNT * ((r + 1) / 2 * 2) / (count + 1);
  cuts[count] = COUNT;
}

static const int jobs[] = {NEAR,
                           NEAR | SUMS,
                           NEAR | MOLECULES,
                           NEAR | CROSS | SUMS | MOLECULES,
                           NEAR | BOX,
                           NEAR | BOX | SLANTED | SUMS | MOLECULES,
                           NEAR | BOX | CROSS | MOLECULES,
                           NEAR | BOX | SLANTED | CROSS};

/* Bytes that all points are, sent to all others. */
static size_t all_to_all(const over_job *job, int count) {
  return (size_t)(count - 1) * COUNT * 3 * job->type.bits / 8;
}

static void slabs_give_the_bits_of_the_whole(void **state) {
  (void)state;
  int64_t cuts[RANKS_MOST + 1];
  char about[80];
  for (lying how = 0; how < LYINGS; how++) {
    lay(how);
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++)
      for (int count = 2; count <= RANKS_MOST; count += INSTRUMENTED ? 7 : count < 4 ? 1 : 5) {
        const int kind = ((int)how + (int)j + count) % 3;
        const over_job job = {PAIRS, RUNG_SUM, jobs[j], {kDLFloat, j % 3 == 2 ? 32 : 64, 1},
                              COUNT, STEP,     false};
        if (INSTRUMENTED && (how + j) % 3 != 0) continue;
        snprintf(about, sizeof about, "points %d, job %zu, cut %d", (int)how, j, kind);
        cut(kind, count, cuts);
        const size_t sent = compare(&job, count, cpus, cuts, about), all = all_to_all(&job, count);
        if (how == EVENLY && kind == 0 && !(jobs[j] & (SUMS | MOLECULES | CROSS)) && sent > all)
          fail_msg("%s: %d ranks sent %zu bytes, of %zu", about, count, sent, all);
        if ((how == ONE_NAN || how == IN_A_PLANE) && kind == 0 && sent < all)
          fail_msg("%s: %d ranks sent only %zu bytes, of %zu", about, count, sent, all);
      }
  }
}

/* A rank on a GPU, whose points are the host's; and ranks of which one lacks memory for all points,
 * but not for its own. */
static void devices_and_memory_may_be_mixed(void **state) {
  (void)state;
  const int64_t cuts[] = {0, 900, 2100, COUNT};
  rung_context *mixed[] = {cpus[0], sim, cpus[1]}, *small[] = {cpus[0], NULL, cpus[1]};
  lay(EVENLY);
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", "400K", 1), 0);
  small[1] = open_on("cpu");
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
    const over_job job = {PAIRS, RUNG_SUM, jobs[j], {kDLFloat, 64, 1}, COUNT, STEP, false};
    if (sim != NULL && !INSTRUMENTED) compare(&job, 3, mixed, cuts, "mixed");
    compare(&job, 3, small, cuts, "little memory");
  }
  rung_close(small[1]);
}

/* ---- slabs by themselves -----------------------------------------------------------------------
 */

static pairs_problem problem_of(const rung_box *box, double last) {
  rung_error error = {RUNG_OK, ""};
  pairs_problem problem;
  const rung_distances bins = {.count = 10, .width = last / 10};
  assert_int_equal(pairs_problem_of(&error, &bins, box, 5000, 0, false, &problem, NULL), RUNG_OK);
  return problem;
}

/* Of points within the last edge one is in the other's slab, or in its halo, which goes around. */
static void near_points_are_within_reach(void **state) {
  (void)state;
  const rung_box slanted = {{9, 0, 0}, {2, 8, 0}, {-1, 3, 7}};
  const double low[3] = {-40, -40, -40}, high[3] = {40, 41, 39};
  rung_random random = {5};
  for (int in_box = 0; in_box < 2; in_box++)
    for (int ranks = 2; ranks < 40; ranks = 2 * ranks + 1) {
      pairs_problem p = problem_of(in_box ? &slanted : NULL, in_box ? 1.7 : 5);
      pairs_slabs slabs;
      int begins[41];
      int64_t counts[PAIRS_LAYERS];
      if (!in_box) pairs_set_reach(&p, low, high);
      assert_true(pairs_slabs_of(&p, low, ranks, &slabs));
      assert_true(slabs.layers >= 2 * slabs.reach && slabs.layers <= PAIRS_LAYERS);
      for (int l = 0; l < slabs.layers; l++) counts[l] = l % 7 + (l > slabs.layers / 2 ? 50 : 0);
      const double most = pairs_slabs_share(&slabs, counts, NULL, ranks, begins);
      assert_true(most >= 1 && most < 2);
      assert_true(begins[0] == 0 && begins[ranks] == slabs.layers);
      for (int i = 0; i < 2000; i++) {
        double at[6];
        for (int k = 0; k < 3; k++) {
          at[k] = 39 * (2 * rung_random_double(&random) - 1);
          at[3 + k] = at[k] + p.last * (2 * rung_random_double(&random) - 1) / 1.733;
        }
        const int a = pairs_layer_of(&slabs, &p, at, 0), b = pairs_layer_of(&slabs, &p, at, 1);
        if (!in_box && (b < 0 || fabs(at[3 + slabs.axis]) > 39)) continue;
        assert_true(a >= 0 && b >= 0);
        for (int r = 0; r < ranks; r++)
          if (a >= begins[r] && a < begins[r + 1])
            assert_true(pairs_slabs_reaches(&slabs, begins, r, b));
      }
    }
}

static void points_without_a_layer_are_told(void **state) {
  (void)state;
  const rung_box box = {{10, 0, 0}, {0, 10, 0}, {0, 0, 10}};
  const double at[] = {1,     2, 3, NAN, 2,  3,  1,    INFINITY, 3,
                       1e300, 1, 1, 10,  10, 10, -0.0, 0,        1e-300};
  const pairs_problem p = problem_of(&box, 1);
  pairs_slabs slabs;
  assert_true(pairs_slabs_of(&p, NULL, 4, &slabs));
  const bool has[] = {true, false, false, false, true, true};
  for (int i = 0; i < 6; i++) assert_int_equal(pairs_layer_of(&slabs, &p, at, i) >= 0, has[i]);
}

/* No cut-off to speak of, no extent, nothing known, squares that underflow. */
static void some_jobs_have_no_slabs(void **state) {
  (void)state;
  const double low[3] = {0, 0, 0}, high[3] = {10, 10, 10};
  pairs_slabs slabs;
  pairs_problem wide = problem_of(NULL, 6), thin = problem_of(NULL, 1e-160),
                unknown = problem_of(NULL, 1);
  pairs_set_reach(&wide, low, high);
  pairs_set_reach(&thin, low, high);
  assert_false(pairs_slabs_of(&wide, low, 2, &slabs));
  assert_false(pairs_slabs_of(&thin, low, 2, &slabs));
  assert_false(pairs_slabs_of(&unknown, low, 2, &slabs));
  pairs_set_reach(&unknown, low, low);
  assert_false(pairs_slabs_of(&unknown, low, 2, &slabs));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabs_give_the_bits_of_the_whole),
      cmocka_unit_test(devices_and_memory_may_be_mixed),
      cmocka_unit_test(near_points_are_within_reach),
      cmocka_unit_test(points_without_a_layer_are_told),
      cmocka_unit_test(some_jobs_have_no_slabs),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
