/* A job of every operation, on numbers that show how they are computed: sums that round, subnormal
 * numbers, infinities and NaNs. A program that calls the library runs all of them and compares. */
#ifndef TESTS_OPS_GUEST_JOBS_H
#define TESTS_OPS_GUEST_JOBS_H

#include "ops/outside.h"

enum { MANY = 40000, ROWS = 40, POINTS = 300, BINS = 16 };

/* What the jobs make, in this order; what a refused call leaves is the 0x55 it was filled with. */
typedef struct results {
  float sum, mean, tiny, rows[ROWS], scan[MANY], stencil[MANY], means[ROWS], grid[MANY];
  double sum64, scan64[MANY], fast[MANY], grid64[MANY], weights[BINS], g[BINS], neighbours[BINS],
      reach;
  uint16_t scan16[MANY];
  int64_t counts[BINS], counts64[BINS], pairs[BINS], outside[3];
  rung_status status[24];
} results;

typedef struct numbers {
  float f[MANY], tiny[MANY], points[POINTS][3];
  double d[MANY], w[POINTS];
  uint16_t h[MANY];
} numbers;

static inline const numbers *make_numbers(void) {
  static numbers made;
  uint64_t draw = 12345;
  for (int i = 0; i < MANY; i++) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    const double x = (double)(draw >> 11) * 0x1p-53 - 0.25;
    made.f[i] = (float)x;
    made.d[i] = x * 3;
    made.tiny[i] = (float)ldexp(x, -140); /* subnormal */
    made.h[i] = (uint16_t)(draw >> 40 & 0x3fff);
    if (i < 3 * POINTS) made.points[i / 3][i % 3] = (float)(x * 10);
    if (i < POINTS) made.w[i] = x;
  }
  return &made;
}

static inline void run_arrays(rung_context *c, const numbers *n, results *r, rung_status *s) {
  int64_t many = MANY, bins = BINS, shape[] = {ROWS, MANY / ROWS}, rows = ROWS;
  DLTensor f = rung_array_f32(n->f, &many), d = rung_array_f64(n->d, &many),
           tiny = rung_array_f32(n->tiny, &many), h = rung_array_f16(n->h, &many),
           grid = rung_array(n->f, f32, 2, shape), sum = rung_number_f32(&r->sum),
           mean = rung_number_f32(&r->mean), least = rung_number_f32(&r->tiny),
           sum64 = rung_number_f64(&r->sum64), lines = rung_array_f32(r->rows, &rows),
           scan = rung_array_f32(r->scan, &many), scan64 = rung_array_f64(r->scan64, &many),
           scan16 = rung_array_f16(r->scan16, &many), counts = rung_array_i64(r->counts, &bins),
           counts64 = rung_array_i64(r->counts64, &bins);
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -0.1, .high = 0.7},
                  wide = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -1e-310, .high = 1.9};
  *s++ = rung_reduce(c, RUNG_SUM, &f, RUNG_ALL, &sum, NULL);
  *s++ = rung_reduce(c, RUNG_MEAN, &f, RUNG_ALL, &mean, NULL);
  *s++ = rung_reduce(c, RUNG_SUM, &tiny, RUNG_ALL, &least, NULL);
  *s++ = rung_reduce(c, RUNG_SUM, &d, RUNG_ALL, &sum64, NULL);
  *s++ = rung_reduce(c, RUNG_MEAN, &grid, 1, &lines, NULL);
  *s++ = rung_scan(c, RUNG_SUM, &tiny, 0, &scan, NULL);
  *s++ = rung_scan(c, RUNG_SUM, &d, 1, &scan64, NULL);
  *s++ = rung_scan(c, RUNG_SUM, &h, 0, &scan16, NULL);
  *s++ = rung_histogram(c, &even, &f, &counts, NULL, NULL);
  *s++ = rung_histogram(c, &wide, &d, &counts64, NULL, NULL);
  *s++ = rung_reduce(c, RUNG_SUM, &f, 7, &sum, NULL); /* refused */
}

static inline void run_grids(rung_context *c, const numbers *n, results *r, rung_status *s) {
  int64_t shape[] = {ROWS, MANY / ROWS}, rows = ROWS;
  DLTensor in = rung_array(n->f, f32, 2, shape), in64 = rung_array(n->d, f64, 2, shape),
           out = rung_array(r->stencil, f32, 2, shape), fast = rung_array(r->fast, f64, 2, shape),
           means = rung_array_f32(r->means, &rows), grid = rung_array(r->grid, f32, 2, shape),
           grid64 = rung_array(r->grid64, f64, 2, shape);
  const rung_stencil_model model = {.radius = 2,
                                    .weights = (double[]){1.9, 1.5, 1, .5, .1},
                                    .divide = 5,
                                    .steps = 7,
                                    .edge = RUNG_EDGE_CONSTANT,
                                    .edge_value = 1e-42};
  rung_radiator_model radiator;
  rung_call loose = {.math = RUNG_MATH_FAST};
  rung_radiator_preset("2023", &radiator);
  *s++ = rung_stencil(c, &model, &in, &out, &means, NULL);
  *s++ = rung_stencil(c, &model, &in64, &fast, NULL, &loose);
  *s++ = rung_radiator(c, &radiator, 3, &grid, NULL, NULL);
  *s++ = rung_radiator(c, &radiator, 3, &grid64, NULL, NULL);
  radiator.divide = 0;
  *s++ = rung_radiator(c, &radiator, 3, &grid64, NULL, NULL); /* refused */
}

static inline void run_points(rung_context *c, const numbers *n, results *r, rung_status *s) {
  int64_t shape[] = {POINTS, 3}, points = POINTS, bins = BINS, outer = 3;
  DLTensor at = rung_array(n->points, f32, 2, shape), weights = rung_array_f64(n->w, &points),
           pairs = rung_array_i64(r->pairs, &bins), outside = rung_array_i64(r->outside, &outer),
           sums = rung_array_f64(r->weights, &bins);
  const rung_points set = {.at = &at, .weights = &weights};
  const rung_box box = {{9, 0, 0}, {1, 8, 0}, {1, 1, 7}};
  const rung_distances near = {.count = BINS, .width = 0.2};
  *s++ = rung_pairs(c, &set, NULL, &box, &near, &pairs, &outside, &sums, NULL);
  *s++ = rung_pairs_rdf(&near, r->pairs, 12.3, 1.0 / 3, r->g, r->neighbours);
  *s++ = rung_box_reach(c, &box, &r->reach);
  *s++ = rung_box_reach(c, NULL, &r->reach); /* refused */
}

static inline void run_jobs(rung_context *c, const numbers *n, results *r) {
  memset(r, 0x55, sizeof *r);
  memset(r->status, 0, sizeof r->status);
  run_arrays(c, n, r, r->status);
  run_grids(c, n, r, r->status + 11);
  run_points(c, n, r, r->status + 16);
}

/* The statuses are those that the jobs have in any program. */
static inline void expect_statuses(const results *r) {
  for (int k = 0; k < 20; k++) {
    const rung_status wanted = k == 10 || k == 15 || k == 19 ? RUNG_BAD_ARGUMENT : RUNG_OK;
    if (r->status[k] != wanted) fail_msg("job %d: status %d", k, (int)r->status[k]);
  }
}

#endif
