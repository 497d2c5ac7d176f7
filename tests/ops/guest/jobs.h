/* A job of every operation, on numbers that show how they are computed: sums that round, subnormal
 * numbers, infinities and NaNs; and calls that are refused. Programs of every kind run all of them
 * and compare. */
#ifndef TESTS_OPS_GUEST_JOBS_H
#define TESTS_OPS_GUEST_JOBS_H

#include <stdio.h>

#include "ops/outside.h"
#include "rung/ranks.h"

enum { MANY = 40000, FEW = 4000, ROWS = 40, POINTS = 300, BINS = 16, ROOM = 8 * MANY };

typedef struct numbers {
  int64_t many; /* of the arrays' elements are used: MANY or FEW */
  float f[MANY], tiny[MANY], points[POINTS][3];
  double d[MANY], w[POINTS];
  uint16_t h[MANY];
} numbers;

static inline const numbers *make_numbers(int64_t many) {
  static numbers made;
  uint64_t draw = 12345;
  made.many = many;
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

/* Writes its results from `to` on, ROOM bytes at most. */
typedef rung_status job_run(rung_context *c, const numbers *n, char *to);

/* ---- arrays: all of it, every other element, rows ---------------------------------------------
 */

#define REDUCED(name, what, in, number)                                        \
  static rung_status name(rung_context *c, const numbers *n, char *to) {       \
    const DLTensor from = tensor(n->in, number, 1, (int64_t *)&n->many, NULL); \
    DLTensor out = tensor(to, number, 0, NULL, NULL);                          \
    return rung_reduce(c, what, &from, RUNG_ALL, &out, NULL);                  \
  }
REDUCED(sum_of_f32, RUNG_SUM, f, f32)
REDUCED(sum_of_subnormals, RUNG_SUM, tiny, f32)
REDUCED(sum_of_f64, RUNG_SUM, d, f64)
REDUCED(mean_of_f32, RUNG_MEAN, f, f32)
REDUCED(least_of_f16, RUNG_MIN, h, f16)

static rung_status means_of_rows(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS / 2}, stride[] = {n->many / ROWS, 2}, rows = ROWS;
  const DLTensor in = tensor(n->f, f32, 2, shape, stride);
  DLTensor out = rung_array_f32((float *)to, &rows);
  return rung_reduce(c, RUNG_MEAN, &in, 1, &out, NULL);
}

static rung_status sum_along_no_axis(rung_context *c, const numbers *n, char *to) {
  const DLTensor in = rung_array_f32(n->f, &n->many);
  DLTensor out = rung_number_f32((float *)to);
  return rung_reduce(c, RUNG_SUM, &in, 7, &out, NULL);
}

#define SCANNED(name, in, number, exclusive)                                   \
  static rung_status name(rung_context *c, const numbers *n, char *to) {       \
    const DLTensor from = tensor(n->in, number, 1, (int64_t *)&n->many, NULL); \
    DLTensor out = tensor(to, number, 1, (int64_t *)&n->many, NULL);           \
    return rung_scan(c, RUNG_SUM, &from, -1, exclusive, &out, NULL);           \
  }
SCANNED(scan_of_subnormals, tiny, f32, 0)
SCANNED(scan_of_f64, d, f64, 1)
SCANNED(scan_of_f16, h, f16, 0)

#define MULTIPLIED(name, in, number)                                           \
  static rung_status name(rung_context *c, const numbers *n, char *to) {       \
    int64_t rows[] = {ROWS, n->many / ROWS / 10}, columns[] = {rows[1], ROWS}; \
    int64_t square[] = {ROWS, ROWS};                                           \
    const DLTensor a = tensor(n->in, number, 2, rows, NULL);                   \
    const DLTensor b = tensor(n->in, number, 2, columns, NULL);                \
    DLTensor out = tensor(to, number, 2, square, NULL);                        \
    return rung_matmul(c, 0.1, &a, &b, 0, &out, NULL);                         \
  }
MULTIPLIED(product_of_f32, f, f32)
MULTIPLIED(product_of_subnormals, tiny, f32)
MULTIPLIED(product_of_f64, d, f64)
MULTIPLIED(product_of_f16, h, f16)

static rung_status scan_with_gaps(rung_context *c, const numbers *n, char *to) {
  int64_t half = n->many / 2, apart = 2;
  const DLTensor in = tensor(n->f, f32, 1, &half, &apart);
  DLTensor out = tensor(to, f32, 1, &half, &apart);
  return rung_scan(c, RUNG_SUM, &in, -1, 0, &out, NULL);
}

static rung_status count_f32(rung_context *c, const numbers *n, char *to) {
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -0.1, .high = 0.7};
  int64_t bins = BINS;
  const DLTensor in = rung_array_f32(n->f, &n->many);
  DLTensor counts = rung_array_i64((int64_t *)to, &bins);
  return rung_histogram(c, &even, &in, &counts, NULL, NULL);
}

static rung_status count_f64_by_edges(rung_context *c, const numbers *n, char *to) {
  static const double edges[] = {-1e300, -1e-310, 0.1, 0.7, 1.9};
  const rung_bins between = {.kind = RUNG_BINS_EDGES, .count = 4, .edges = edges};
  int64_t bins = 4;
  const DLTensor in = rung_array_f64(n->d, &n->many);
  DLTensor counts = rung_array_i64((int64_t *)to, &bins);
  return rung_histogram(c, &between, &in, &counts, NULL, NULL);
}

/* ---- grids ------------------------------------------------------------------------------------
 */

static const rung_stencil_model smoothing = {.radius = 2,
                                             .weights = (double[]){1.9, 1.5, 1, .5, .1},
                                             .divide = 5,
                                             .steps = 7,
                                             .edge = RUNG_EDGE_CONSTANT,
                                             .edge_value = 1e-42};

static rung_status stencil_and_means(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS}, rows = ROWS;
  const DLTensor in = rung_array(n->f, f32, 2, shape);
  DLTensor out = rung_array(to, f32, 2, shape),
           means = rung_array_f32((float *)(to + ROOM / 2), &rows);
  return rung_stencil(c, &smoothing, &in, &out, &means, NULL);
}

static rung_status fast_stencil(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS};
  const DLTensor in = rung_array(n->d, f64, 2, shape);
  DLTensor out = rung_array(to, f64, 2, shape);
  rung_call loose = {.math = RUNG_MATH_FAST};
  return rung_stencil(c, &smoothing, &in, &out, NULL, &loose);
}

static const rung_filter_model turned_back = {.edge = RUNG_EDGE_MIRROR, .origin = {-1, 1}};

static rung_status filter_of_halves(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS / 4, n->many / ROWS}, taps[] = {4, 7};
  const DLTensor in = tensor(n->h, f16, 2, shape, NULL), kernel = tensor(n->d, f64, 2, taps, NULL);
  DLTensor out = tensor(to, u16, 2, shape, NULL);
  return rung_correlate(c, &turned_back, &in, &kernel, &out, NULL);
}

static rung_status filters_of_subnormals(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS / 4, n->many / ROWS, 2}, taps[] = {2, 5, 3};
  int64_t results[] = {2, shape[0], shape[1], shape[2]};
  const DLTensor in = tensor(n->tiny, f32, 3, shape, NULL),
                 kernels = tensor(n->f, f32, 3, taps, NULL);
  DLTensor out = tensor(to, f32, 4, results, NULL);
  return rung_convolve(c, NULL, &in, &kernels, &out, NULL);
}

static rung_status filter_without_kernel(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS};
  const DLTensor in = tensor(n->f, f32, 2, shape, NULL);
  DLTensor out = tensor(to, f32, 2, shape, NULL);
  return rung_correlate(c, NULL, &in, NULL, &out, NULL);
}

static rung_status heat(rung_context *c, const numbers *n, DLDataType type, double divide,
                        char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS};
  DLTensor grid = rung_array(to, type, 2, shape);
  rung_radiator_model model;
  const rung_status status = rung_radiator_preset("2023", &model);
  if (divide == 0) model.divide = 0;
  return status ? status : rung_radiator(c, &model, 3, &grid, NULL, NULL);
}
static rung_status radiator_of_f32(rung_context *c, const numbers *n, char *to) {
  return heat(c, n, f32, 5, to);
}
static rung_status radiator_of_f64(rung_context *c, const numbers *n, char *to) {
  return heat(c, n, f64, 5, to);
}
static rung_status radiator_by_zero(rung_context *c, const numbers *n, char *to) {
  return heat(c, n, f64, 0, to);
}

/* ---- points -----------------------------------------------------------------------------------
 */

static const rung_box slanted = {{9, 0, 0}, {1, 8, 0}, {1, 1, 7}};
static const rung_distances near = {.count = BINS, .width = 0.2};

static rung_status pairs_in_a_box(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {POINTS, 3}, points = POINTS, bins = BINS, outer = 3, *counts = (int64_t *)to;
  const DLTensor at = rung_array(n->points, f32, 2, shape), weights = rung_array_f64(n->w, &points);
  DLTensor pairs = rung_array_i64(counts, &bins), outside = rung_array_i64(counts + BINS, &outer),
           sums = rung_array_f64((double *)(counts + 2 * BINS), &bins);
  const rung_points set = {.at = &at, .weights = &weights};
  return rung_pairs(c, &set, NULL, &slanted, &near, &pairs, &outside, &sums, NULL);
}

static rung_status pairs_by_edges(rung_context *c, const numbers *n, char *to) {
  static const double edges[] = {0, 0.1, 1.5, 4};
  int64_t shape[] = {POINTS, 3}, bins = 3;
  const DLTensor at = rung_array(n->points, f32, 2, shape);
  DLTensor pairs = rung_array_i64((int64_t *)to, &bins);
  const rung_points set = {.at = &at};
  const rung_distances between = {.count = 3, .edges = edges};
  return rung_pairs(c, &set, NULL, NULL, &between, &pairs, NULL, NULL, NULL);
}

static rung_status distribution(rung_context *c, const numbers *n, char *to) {
  int64_t counts[BINS];
  double *g = (double *)to;
  (void)c;
  for (int k = 0; k < BINS; k++) counts[k] = (int64_t)k * k * n->many;
  return rung_pairs_rdf(&near, counts, 12.3, 1.0 / 3, g, g + BINS);
}

static rung_status reach_of_a_box(rung_context *c, const numbers *n, char *to) {
  (void)n;
  return rung_box_reach(c, &slanted, (double *)to);
}

static rung_status reach_of_no_box(rung_context *c, const numbers *n, char *to) {
  (void)n;
  return rung_box_reach(c, NULL, (double *)to);
}

/* ---- over ranks, of which there is one, and from a store ---------------------------------------
 */

static const rung_ranks alone = {.rank = 0, .count = 1};

static rung_status sum_over_ranks(rung_context *c, const numbers *n, char *to) {
  const DLTensor in = rung_array_f32(n->f, &n->many);
  DLTensor out = rung_number_f32((float *)to);
  return rung_reduce_ranks(c, &alone, RUNG_SUM, &in, &out, NULL);
}

static rung_status scan_over_ranks(rung_context *c, const numbers *n, char *to) {
  const DLTensor in = rung_array_f64(n->d, &n->many);
  DLTensor out = rung_array_f64((double *)to, &n->many);
  return rung_scan_ranks(c, &alone, RUNG_SUM, &in, 0, &out, NULL);
}

static rung_status count_over_ranks(rung_context *c, const numbers *n, char *to) {
  const DLTensor in = rung_array_f32(n->f, &n->many);
  const int64_t bins = BINS;
  DLTensor counts = rung_array_i64((int64_t *)to, &bins);
  const rung_bins even = {.kind = RUNG_BINS_EVEN, .count = BINS, .low = -0.2, .high = 0.7};
  return rung_histogram_ranks(c, &alone, &even, &in, &counts, NULL, NULL);
}

static rung_status pairs_over_ranks(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {POINTS, 3}, bins = BINS;
  const DLTensor at = tensor(n->points, f32, 2, shape, NULL);
  DLTensor counts = rung_array_i64((int64_t *)to, &bins);
  const rung_points points = {.at = &at};
  const rung_distances shells = {.count = BINS, .width = 0.5};
  return rung_pairs_ranks(c, &alone, &points, NULL, NULL, &shells, &counts, NULL, NULL, NULL);
}

static rung_status stencil_over_ranks(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS};
  const double weights[] = {1, 2, 1};
  const rung_stencil_model model = {.radius = 1, .weights = weights, .divide = 4, .steps = 3};
  const DLTensor in = tensor(n->f, f32, 2, shape, NULL);
  DLTensor out = tensor(to, f32, 2, shape, NULL);
  return rung_stencil_ranks(c, &alone, &model, shape[1], &in, &out, NULL, NULL);
}

static rung_status radiator_over_ranks(rung_context *c, const numbers *n, char *to) {
  int64_t shape[] = {ROWS, n->many / ROWS};
  rung_radiator_model model;
  DLTensor grid = tensor(to, f32, 2, shape, NULL);
  rung_status status = rung_radiator_preset("2019", &model);
  if (!status) status = rung_radiator_ranks(c, &alone, &model, 5, shape[1], &grid, NULL, NULL);
  return status;
}

static rung_status product_over_ranks(rung_context *c, const numbers *n, char *to) {
  int64_t left[] = {ROWS, 20}, right[] = {20, ROWS}, both[] = {ROWS, ROWS};
  const DLTensor a = tensor(n->d, f64, 2, left, NULL), b = tensor(n->d, f64, 2, right, NULL);
  DLTensor product = tensor(to, f64, 2, both, NULL);
  return rung_matmul_ranks(c, &alone, 1, &a, &b, 0, &product, NULL);
}

static rung_status sum_over_no_ranks(rung_context *c, const numbers *n, char *to) {
  const DLTensor in = rung_array_f32(n->f, &n->many);
  DLTensor out = rung_number_f32((float *)to);
  return rung_reduce_ranks(c, NULL, RUNG_SUM, &in, &out, NULL);
}

static int read_numbers(void *state, int64_t offset, size_t bytes, void *to, char why[RUNG_TEXT]) {
  (void)why;
  memcpy(to, (const char *)state + offset, bytes);
  return 0;
}

static rung_status sum_of_a_store(rung_context *c, const numbers *n, char *to) {
  const rung_store store = {.state = (void *)n->f, .read = read_numbers};
  const DLTensor in = rung_stored(&store, f32, 1, &n->many);
  DLTensor out = rung_number_f32((float *)to);
  return rung_reduce(c, RUNG_SUM, &in, RUNG_ALL, &out, NULL);
}

/* ---- what is here -----------------------------------------------------------------------------
 */

static void ignore_fact(void *to, const char *key, const char *value) {
  (void)to;
  (void)key;
  (void)value;
}

static rung_status what_is_here(rung_context *c, const numbers *n, char *to) {
  rung_device_info device = {0};
  rung_operation_info operation = {0};
  rung_ladder_info rung = {0};
  (void)n;
  (void)to;
  rung_status status = rung_opened(c, &device);
  if (!status) status = rung_device_at(0, &device);
  if (!status) status = rung_device_facts("cpu", ignore_fact, NULL, NULL);
  if (!status) status = rung_operation_at(0, &operation);
  if (!status) status = rung_ladder_at(operation.name, 0, &device, &rung);
  return status ? status : rung_synchronize(c);
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static const struct {
  const char *name;
  job_run *run;
  rung_status status; /* that it has in any program */
} jobs[] = {
#define JOB(name, ...) \
  { #name, name, __VA_ARGS__ }
    JOB(sum_of_f32, RUNG_OK),
    JOB(sum_of_subnormals, RUNG_OK),
    JOB(sum_of_f64, RUNG_OK),
    JOB(mean_of_f32, RUNG_OK),
    JOB(least_of_f16, RUNG_OK),
    JOB(means_of_rows, RUNG_OK),
    JOB(sum_along_no_axis, RUNG_BAD_ARGUMENT),
    JOB(scan_of_subnormals, RUNG_OK),
    JOB(scan_of_f64, RUNG_OK),
    JOB(scan_of_f16, RUNG_OK),
    JOB(scan_with_gaps, RUNG_OK),
    JOB(product_of_f32, RUNG_OK),
    JOB(product_of_subnormals, RUNG_OK),
    JOB(product_of_f64, RUNG_OK),
    JOB(product_of_f16, RUNG_OK),
    JOB(count_f32, RUNG_OK),
    JOB(count_f64_by_edges, RUNG_OK),
    JOB(filter_of_halves, RUNG_OK),
    JOB(filters_of_subnormals, RUNG_OK),
    JOB(filter_without_kernel, RUNG_BAD_ARGUMENT),
    JOB(stencil_and_means, RUNG_OK),
    JOB(fast_stencil, RUNG_OK),
    JOB(radiator_of_f32, RUNG_OK),
    JOB(radiator_of_f64, RUNG_OK),
    JOB(radiator_by_zero, RUNG_BAD_ARGUMENT),
    JOB(pairs_in_a_box, RUNG_OK),
    JOB(pairs_by_edges, RUNG_OK),
    JOB(distribution, RUNG_OK),
    JOB(reach_of_a_box, RUNG_OK),
    JOB(reach_of_no_box, RUNG_BAD_ARGUMENT),
    JOB(sum_over_ranks, RUNG_OK),
    JOB(scan_over_ranks, RUNG_OK),
    JOB(count_over_ranks, RUNG_OK),
    JOB(pairs_over_ranks, RUNG_OK),
    JOB(stencil_over_ranks, RUNG_OK),
    JOB(radiator_over_ranks, RUNG_OK),
    JOB(product_over_ranks, RUNG_OK),
    JOB(sum_over_no_ranks, RUNG_BAD_ARGUMENT),
    JOB(sum_of_a_store, RUNG_OK),
    JOB(what_is_here, RUNG_OK),
#undef JOB
};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* What jobs made; what a refused call leaves is the 0x55 it was filled with. */
typedef struct results {
  rung_status status[JOBS];
  _Alignas(8) char made[JOBS][ROOM];
} results;

static inline rung_status run_job(rung_context *c, const numbers *n, int job, char *to) {
  memset(to, 0x55, ROOM);
  return jobs[job].run(c, n, to);
}

static inline void run_jobs(rung_context *c, const numbers *n, results *r) {
  for (int j = 0; j < JOBS; j++) r->status[j] = run_job(c, n, j, r->made[j]);
}

/* Why a job's results are not what they should be; NULL: they are. */
static inline const char *fault_of(int job, rung_status status, const char *made,
                                   const char *expected) {
  static char text[120];
  if (status != jobs[job].status) {
    snprintf(text, sizeof text, "%s: status %d", jobs[job].name, (int)status);
    return text;
  }
  if (memcmp(made, expected, ROOM) == 0) return NULL;
  size_t i = 0;
  while (made[i] == expected[i]) i++;
  snprintf(text, sizeof text, "%s: byte %zu of the results differs", jobs[job].name, i);
  return text;
}

#endif
