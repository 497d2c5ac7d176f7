/* What the tests of rung_pairs() from outside share: one job on every rung that takes it. */
#ifndef TESTS_PAIRS_OUTSIDE_H
#define TESTS_PAIRS_OUTSIDE_H

#include <inttypes.h>

#include "core/random.h"
#include "ops/outside.h"
#include "ops/pairs/pairs.h"

/* Points without gaps, f64; NULL and 0 where there are none. */
typedef struct job {
  const double *a, *b; /* b NULL: pairs within a */
  int64_t n, m;
  const double *a_weights, *b_weights;
  const int64_t *a_molecules, *b_molecules;
  const rung_box *box;
  rung_distances bins;
} job;

typedef struct result {
  int64_t *counts; /* bins, then below, above, NaN */
  double *sums;    /* bins, where there are weights */
} result;

static inline result make_result(const job *j) {
  return (result){.counts = calloc((size_t)j->bins.count + PAIRS_OUTER, sizeof(int64_t)),
                  .sums = calloc((size_t)j->bins.count, sizeof(double))};
}

static inline void free_result(result *r) {
  free(r->counts);
  free(r->sums);
}

static inline rung_status run_job(rung_context *context, const job *j, const char *rung,
                                  result *found) {
  int64_t a_shape[2] = {j->n, 3}, b_shape[2] = {j->m, 3}, bins[1] = {j->bins.count}, three[1] = {3};
  DLTensor a = tensor(j->a, f64, 2, a_shape, NULL), b = tensor(j->b, f64, 2, b_shape, NULL),
           aw = tensor(j->a_weights, f64, 1, a_shape, NULL),
           bw = tensor(j->b_weights, f64, 1, b_shape, NULL),
           am = tensor(j->a_molecules, i64, 1, a_shape, NULL),
           bm = tensor(j->b_molecules, i64, 1, b_shape, NULL),
           counts = tensor(found->counts, i64, 1, bins, NULL),
           outside = tensor(found->counts + j->bins.count, i64, 1, three, NULL),
           sums = tensor(found->sums, f64, 1, bins, NULL);
  const rung_points first = {0, &a, j->a_weights ? &aw : NULL, j->a_molecules ? &am : NULL},
                    second = {0, &b, j->b_weights ? &bw : NULL, j->b_molecules ? &bm : NULL};
  rung_call call = {.rung = rung};
  return rung_pairs(context, &first, j->b != NULL ? &second : NULL, j->box, &j->bins, &counts,
                    &outside, j->a_weights != NULL ? &sums : NULL, &call);
}

static inline void compare(const char *what, const char *rung, const job *j, const result *found,
                           const result *wanted) {
  for (int64_t k = 0; k < j->bins.count + PAIRS_OUTER; ++k)
    if (found->counts[k] != wanted->counts[k])
      fail_msg("%s, %s: count %" PRId64 " is %" PRId64 ", not %" PRId64, what, rung, k,
               found->counts[k], wanted->counts[k]);
  for (int64_t k = 0; k < j->bins.count && j->a_weights != NULL; ++k)
    if (memcmp(&found->sums[k], &wanted->sums[k], sizeof(double)) != 0 &&
        !(isnan(found->sums[k]) && isnan(wanted->sums[k])))
      fail_msg("%s, %s: sum %" PRId64 " is %.17g, not %.17g", what, rung, k, found->sums[k],
               wanted->sums[k]);
}

/* A job that takes every rung of a device too long is one for the CPU's alone. */
enum { SIMULATED = INSTRUMENTED ? 100000 : 2000000 };

/* Under AddressSanitizer GPU rungs may take turns where jobs are many and alike: each has one of so
 * many, and every rung every job in the plain build. */
static int gpu_rungs_take_turns = 1;

/* The job on every rung that takes it; `serial` takes all. */
static inline void on_every_rung(const char *what, const job *j, const result *wanted) {
  static const char *const devices[] = {"cpu", "sim"};
  static int turn;
  const int turns = INSTRUMENTED ? gpu_rungs_take_turns : 1;
  turn++;
  const double pairs = j->b != NULL ? (double)j->n * (double)j->m : (double)j->n * (double)j->n / 2;
  for (int d = 0; d < 2; ++d) {
    rung_context *context = d == 0 || pairs <= SIMULATED ? open_on(devices[d]) : NULL;
    for (int r = 0; r < pairs_operation.count && context != NULL; ++r) {
      const rung_row *row = &pairs_operation.rows[r];
      if (row->family != (d == 0 ? RUNG_ON_CPU : RUNG_ON_GPU)) continue;
      if (d == 1 && (r + turn) % turns != 0) continue;
      result found = make_result(j);
      const rung_status status = run_job(context, j, row->name, &found);
      if (status == RUNG_OK)
        compare(what, row->name, j, &found, wanted);
      else if (status != RUNG_UNSUPPORTED || strcmp(row->name, "serial") == 0)
        fail_msg("%s, %s: %s", what, row->name, rung_last_error(context));
      free_result(&found);
    }
    rung_close(context);
  }
}

/* What `serial` makes of a job. */
static inline result serial_result(const job *j) {
  result found = make_result(j);
  rung_context *context = open_on("cpu");
  if (run_job(context, j, "serial", &found) != RUNG_OK) fail_msg("%s", rung_last_error(context));
  rung_close(context);
  return found;
}

/* n points uniform in a cube that begins at `low`. */
static inline double *random_points(int64_t n, double low, double side, uint64_t seed) {
  double *points = malloc((size_t)(3 * n + 1) * sizeof *points);
  rung_random random = {seed};
  for (int64_t i = 0; i < 3 * n; ++i) points[i] = low + side * rung_random_double(&random);
  return points;
}

static inline int64_t total_of(const job *j, const result *r) {
  int64_t total = 0;
  for (int64_t k = 0; k < j->bins.count + PAIRS_OUTER; ++k) total += r->counts[k];
  return total;
}

#endif
