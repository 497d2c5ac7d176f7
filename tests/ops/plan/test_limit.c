/* RUNG_MEMORY_LIMIT: every operation, cut into ever smaller pieces until it is refused, gives the
 * bits of the whole. On the CPU arrays with gaps go through scratch; on the simulated GPU every
 * array is staged. */
#include <stdio.h>

#include "core/random.h"
#include "ops/outside.h"

/* Under a sanitizer fewer limits are tried, and images that go through filters are less tall, as
 * what a GPU may have for them is less. */
enum { WORDS = 1 << 21, STEP = INSTRUMENTED ? 4 : 3, WAYS = INSTRUMENTED ? 1 : 2 };
enum { TALL = INSTRUMENTED ? 360 : 1490, FOR_FILTERS = INSTRUMENTED ? 1 << 16 : 1 << 18 };

static double numbers[WORDS];   /* the inputs' memory */
static double results[1 << 21]; /* the outputs' */

typedef struct array {
  DLTensor tensor;
  int64_t shape[4], stride[4];
} array;

/* Strides in elements; a negative one begins at the end of so many bytes. */
static DLTensor *array_of(array *a, void *data, uint8_t code, uint8_t bits, int ndim,
                          const int64_t *shape, const int64_t *stride) {
  char *at = data;
  for (int d = 0; d < ndim; d++) {
    a->shape[d] = shape[d];
    a->stride[d] = stride[d];
    if (stride[d] < 0) at -= (shape[d] - 1) * stride[d] * (bits / 8);
  }
  a->tensor = (DLTensor){.data = at,
                         .device = {kDLCPU, 0},
                         .ndim = ndim,
                         .dtype = {code, bits, 1},
                         .shape = a->shape,
                         .strides = a->stride};
  return &a->tensor;
}

#define LIST(...) ((const int64_t[]){__VA_ARGS__})
#define ARRAY(a, data, code, bits, ndim, extents, steps) \
  array_of(&(a), data, code, bits, ndim, extents, steps)

/* ---- the jobs: each writes its outputs one after the other, from results on -------------------
 */

typedef rung_status job(rung_context *context);

static rung_status reduce(rung_context *context, rung_reduction what, int axis, DLTensor *in,
                          uint8_t code, uint8_t bits) {
  array out;
  int64_t extents[3] = {1, 1, 1}, steps[3];
  int ndim = 0;
  for (int d = 0; d < in->ndim && axis != RUNG_ALL; d++)
    if (d != axis) extents[ndim++] = in->shape[d];
  steps[0] = ndim > 1 ? extents[1] : 1;
  steps[1] = 1;
  return rung_reduce(context, what, in, axis, ARRAY(out, results, code, bits, ndim, extents, steps),
                     NULL);
}

#define REDUCE(name, what, axis, code, bits, ndim, extents, steps, out_code, out_bits)       \
  static rung_status name(rung_context *context) {                                           \
    array in;                                                                                \
    return reduce(context, what, axis, ARRAY(in, numbers, code, bits, ndim, extents, steps), \
                  out_code, out_bits);                                                       \
  }
REDUCE(sum_all, RUNG_SUM, RUNG_ALL, kDLFloat, 32, 1, LIST(327697), LIST(3), kDLFloat, 32)
REDUCE(sum_three, RUNG_SUM, RUNG_ALL, kDLFloat, 64, 3, LIST(70, 50, 61), LIST(5, -8000, 400),
       kDLFloat, 64)
REDUCE(mean_all, RUNG_MEAN, RUNG_ALL, kDLFloat, 32, 2, LIST(3, 65536), LIST(-70000, 1), kDLFloat,
       32)
REDUCE(mean_integers, RUNG_MEAN, RUNG_ALL, kDLInt, 32, 1, LIST(150000), LIST(-2), kDLFloat, 64)
REDUCE(sum_bytes, RUNG_SUM, RUNG_ALL, kDLUInt, 8, 1, LIST(300001), LIST(2), kDLUInt, 64)
REDUCE(min_all, RUNG_MIN, RUNG_ALL, kDLFloat, 32, 1, LIST(131073), LIST(3), kDLFloat, 32)
REDUCE(max_unsigned, RUNG_MAX, RUNG_ALL, kDLUInt, 32, 1, LIST(98304), LIST(2), kDLUInt, 32)
REDUCE(max_bytes, RUNG_MAX, RUNG_ALL, kDLUInt, 8, 1, LIST(98305), LIST(2), kDLUInt, 8)
REDUCE(max_wide, RUNG_MAX, RUNG_ALL, kDLInt, 64, 1, LIST(98305), LIST(2), kDLInt, 64)
REDUCE(sum_shorts, RUNG_SUM, RUNG_ALL, kDLInt, 16, 1, LIST(300001), LIST(2), kDLInt, 64)
REDUCE(min_halves, RUNG_MIN, RUNG_ALL, kDLFloat, 16, 1, LIST(200001), LIST(-2), kDLFloat, 16)
REDUCE(sum_down, RUNG_SUM, 0, kDLFloat, 32, 2, LIST(70000, 5), LIST(11, 2), kDLFloat, 32)
REDUCE(mean_down, RUNG_MEAN, 0, kDLFloat, 64, 2, LIST(66000, 3), LIST(3, 1), kDLFloat, 64)
REDUCE(sum_along, RUNG_SUM, 1, kDLFloat, 32, 2, LIST(3, 100000), LIST(300000, -2), kDLFloat, 32)
REDUCE(min_between, RUNG_MIN, 1, kDLFloat, 32, 3, LIST(4, 40000, 3), LIST(150000, 3, 1), kDLFloat,
       32)
REDUCE(sum_packed, RUNG_SUM, 2, kDLFloat, 32, 3, LIST(3, 4, 33000), LIST(264000, 66000, 2),
       kDLFloat, 32)

static rung_status scan(rung_context *context, rung_reduction what, int exclusive, DLTensor *in) {
  array out;
  const int64_t columns = in->shape[in->ndim - 1];
  return rung_scan(context, what, in, -1, exclusive,
                   ARRAY(out, results, (uint8_t)in->dtype.code, in->dtype.bits, in->ndim, in->shape,
                         in->ndim == 1 ? LIST(2) : LIST(columns, 1)),
                   NULL);
}

#define SCAN(name, what, exclusive, code, bits, ndim, extents, steps)                            \
  static rung_status name(rung_context *context) {                                               \
    array in;                                                                                    \
    return scan(context, what, exclusive, ARRAY(in, numbers, code, bits, ndim, extents, steps)); \
  }
SCAN(scan_sum, RUNG_SUM, 0, kDLFloat, 32, 1, LIST(75 * 8192 + 5), LIST(-2))
SCAN(scan_exclusive, RUNG_SUM, 1, kDLFloat, 64, 1, LIST(64 * 8192), LIST(2))
SCAN(scan_integers, RUNG_SUM, 1, kDLInt, 32, 1, LIST(33 * 8192 + 1), LIST(3))
SCAN(scan_wide, RUNG_SUM, 0, kDLUInt, 64, 1, LIST(34 * 8192), LIST(3))
SCAN(scan_min, RUNG_MIN, 1, kDLFloat, 32, 1, LIST(40 * 8192 + 8191), LIST(2))
SCAN(scan_max, RUNG_MAX, 0, kDLFloat, 64, 1, LIST(3 * 8192 + 2), LIST(2))
SCAN(scan_unsigned, RUNG_MAX, 1, kDLUInt, 32, 1, LIST(2 * 8192 + 2), LIST(2))
SCAN(scan_narrow, RUNG_SUM, 1, kDLInt, 16, 1, LIST(33 * 8192 + 1), LIST(2))
SCAN(scan_bytes, RUNG_MIN, 1, kDLUInt, 8, 1, LIST(35 * 8192 + 7), LIST(1))
SCAN(scan_halves, RUNG_MAX, 0, kDLFloat, 16, 1, LIST(34 * 8192 + 1), LIST(3))
SCAN(scan_lines, RUNG_SUM, 0, kDLFloat, 32, 2, LIST(3, 40 * 8192 + 9), LIST(400000, -1))
SCAN(scan_long, RUNG_SUM, 0, kDLFloat, 32, 1, LIST(WORDS - 5), LIST(2))

static rung_status histogram(rung_context *context, const rung_bins *bins, int64_t rows,
                             DLTensor *in) {
  array counts, outside;
  const int ndim = rows > 0 ? 2 : 1;
  int64_t shape[2] = {rows, bins->count}, stride[2] = {bins->count, 1};
  int64_t outer[2] = {rows, 3}, outer_stride[2] = {3, 1};
  const int at = 2 - ndim;
  int64_t *from = (int64_t *)results;
  return rung_histogram(
      context, bins, in, ARRAY(counts, from, kDLInt, 64, ndim, shape + at, stride + at),
      ARRAY(outside, from + 4096, kDLInt, 64, ndim, outer + at, outer_stride + at), NULL);
}

static rung_status histogram_even(rung_context *context) {
  array in;
  return histogram(context, &(rung_bins){.kind = RUNG_BINS_EVEN, .count = 77, .low = -2, .high = 3},
                   0, ARRAY(in, numbers, kDLFloat, 32, 3, LIST(30, 20, 51), LIST(1, -9000, 60)));
}
static rung_status histogram_edges(rung_context *context) {
  static const double edges[] = {-1, -.5, 0, .1, 7};
  array in;
  return histogram(context, &(rung_bins){.kind = RUNG_BINS_EDGES, .count = 4, .edges = edges}, 0,
                   ARRAY(in, numbers, kDLFloat, 64, 1, LIST(20001), LIST(2)));
}
static rung_status histogram_rows(rung_context *context) {
  array in;
  return histogram(context, &(rung_bins){.kind = RUNG_BINS_MODULO, .count = 13}, 7,
                   ARRAY(in, numbers, kDLInt, 32, 2, LIST(7, 3001), LIST(7000, -2)));
}
static rung_status histogram_nothing(rung_context *context) {
  array in;
  return histogram(context, &(rung_bins){.kind = RUNG_BINS_MODULO, .count = 13}, 0,
                   ARRAY(in, numbers, kDLInt, 32, 1, LIST(0), LIST(2)));
}

enum { POINTS = 300 };

static rung_status pairs(rung_context *context, bool cross, bool weighted, uint8_t bits) {
  array at[2], weights[2], molecules[2], counts, outside, sums;
  static int64_t numbers_of[2 * POINTS];
  const rung_box box = {{4, 0, 0}, {0, 5, 0}, {0, 1, 4.5}};
  rung_points sets[2];
  for (int64_t i = 0; i < 2 * POINTS; i++) numbers_of[i] = i / 7 % 50 - 3;
  for (int s = 0; s < 2; s++) {
    const int64_t n = POINTS - 37 * s;
    sets[s] = (rung_points){
        .at = ARRAY(at[s], numbers + 5000 * s, kDLFloat, bits, 2, LIST(n, 3), LIST(4, 1)),
        .weights = ARRAY(weights[s], numbers + 20000 + 900 * s, kDLFloat, 64, 1, LIST(n), LIST(2)),
        .molecules = ARRAY(molecules[s], numbers_of, kDLInt, 64, 1, LIST(n), LIST(2))};
    if (!weighted) sets[s].weights = sets[s].molecules = NULL;
  }
  const rung_distances bins = {.count = 31, .width = .05};
  int64_t *out = (int64_t *)results;
  return rung_pairs(
      context, &sets[0], cross ? &sets[1] : NULL, weighted ? &box : NULL, &bins,
      ARRAY(counts, out, kDLInt, 64, 1, LIST(31), LIST(2)),
      ARRAY(outside, out + 100, kDLInt, 64, 1, LIST(3), LIST(1)),
      weighted ? ARRAY(sums, results + 200, kDLFloat, 64, 1, LIST(31), LIST(2)) : NULL, NULL);
}
static rung_status pairs_within(rung_context *context) {
  return pairs(context, false, false, 32);
}
static rung_status pairs_weighted(rung_context *context) {
  return pairs(context, false, true, 64);
}
static rung_status pairs_across(rung_context *context) {
  return pairs(context, true, true, 32);
}

static rung_status matmul_rows(rung_context *context) {
  array a, b, c;
  return rung_matmul(context, 1, ARRAY(a, numbers, kDLFloat, 32, 2, LIST(700, 60), LIST(1, 701)),
                     ARRAY(b, numbers + 50000, kDLFloat, 32, 2, LIST(60, 130), LIST(260, 2)), 0.5,
                     ARRAY(c, results, kDLFloat, 32, 2, LIST(700, 130), LIST(131, 1)), NULL);
}
static rung_status matmul_batch(rung_context *context) {
  array a, b, c;
  return rung_matmul(
      context, -1, ARRAY(a, numbers, kDLFloat, 64, 3, LIST(40, 20, 30), LIST(700, 31, -1)),
      ARRAY(b, numbers + 50000, kDLFloat, 64, 3, LIST(40, 30, 25), LIST(800, 1, 30)), 0,
      ARRAY(c, results, kDLFloat, 64, 3, LIST(40, 20, 25), LIST(1001, 50, 2)), NULL);
}

static rung_status filter(rung_context *context, rung_edge edge, const DLTensor *in,
                          const DLTensor *kernel, DLTensor *out) {
  const rung_filter_model model = {
      .edge = edge, .edge_value = 3, .origin = {-2, 1}, .region = {5, 0}};
  return rung_convolve(context, &model, in, kernel, out, NULL);
}
static rung_status filter_columns(rung_context *context, rung_edge edge) {
  array in, kernel, out;
  return filter(context, edge,
                ARRAY(in, numbers, kDLFloat, 32, 2, LIST(TALL + 10, 16), LIST(1, TALL + 11)),
                ARRAY(kernel, numbers + 50000, kDLFloat, 64, 2, LIST(7, 5), LIST(5, 1)),
                ARRAY(out, results, kDLFloat, 32, 2, LIST(TALL, 16), LIST(17, 1)));
}
#define FILTER(name, edge)                         \
  static rung_status name(rung_context *context) { \
    return filter_columns(context, edge);          \
  }
FILTER(filter_wrap, RUNG_EDGE_WRAP)
FILTER(filter_constant, RUNG_EDGE_CONSTANT)
FILTER(filter_nearest, RUNG_EDGE_NEAREST)
FILTER(filter_reflect, RUNG_EDGE_REFLECT)
FILTER(filter_mirror, RUNG_EDGE_MIRROR)

/* Of several kernels and channels, and bytes to shorts. */
static rung_status filters_of_pixels(rung_context *context) {
  array in, kernels, out;
  return filter(context, RUNG_EDGE_REFLECT,
                ARRAY(in, numbers, kDLUInt, 8, 3, LIST(900, 10, 3), LIST(-200, 4, 1)),
                ARRAY(kernels, numbers + 50000, kDLInt, 8, 3, LIST(3, 9, 3), LIST(27, 3, 1)),
                ARRAY(out, results, kDLUInt, 16, 4, LIST(3, 890, 10, 3), LIST(40000, 40, 3, 1)));
}

static rung_status stencil(rung_context *context) {
  static const double weights[] = {.1, .5, .4};
  const rung_stencil_model model = {
      .radius = 1, .weights = weights, .divide = 1, .steps = 3, .fixed = 1};
  array in, out, means;
  return rung_stencil(context, &model,
                      ARRAY(in, numbers, kDLFloat, 32, 2, LIST(41, 67), LIST(200, -2)),
                      ARRAY(out, results, kDLFloat, 32, 2, LIST(41, 67), LIST(1, 41)),
                      ARRAY(means, results + 4000, kDLFloat, 32, 1, LIST(41), LIST(1)), NULL);
}
static rung_status radiator(rung_context *context) {
  rung_radiator_model model;
  array grid, means;
  assert_int_equal(rung_radiator_preset(NULL, &model), RUNG_OK);
  return rung_radiator(context, &model, 2,
                       ARRAY(grid, results, kDLFloat, 32, 2, LIST(60, 70), LIST(71, 1)),
                       ARRAY(means, results + 4000, kDLFloat, 32, 1, LIST(60), LIST(1)), NULL);
}

/* ---- whole and in pieces ----------------------------------------------------------------------
 */

static rung_context *open_limited(const char *device, int64_t limit) {
  rung_context *context;
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)limit);
  assert_int_equal(setenv("RUNG_MEMORY_LIMIT", text, 1), 0);
  const rung_status status = rung_open(&context, &(rung_options){.device = device});
  assert_int_equal(unsetenv("RUNG_MEMORY_LIMIT"), 0);
  if (status == RUNG_NO_DEVICE) {
    rung_close(context);
    return NULL;
  }
  assert_int_equal(status, RUNG_OK);
  return context;
}

/* Random numbers, in every type what may be awkward: NaN and infinities are few and late. */
static void fill(uint64_t seed, bool special) {
  rung_random random = {seed};
  for (int64_t i = 0; i < WORDS; i++) {
    const uint64_t bits = rung_random_next(&random);
    const float pair[2] = {(float)((double)(bits >> 40) * 0x1p-22 - 2),
                           (float)((double)(bits & 0xffffff) * 0x1p-22 - 2)};
    memcpy(&numbers[i], pair, sizeof pair);
    if (special && bits % 30011 == 0) numbers[i] = -0.0;
    if (special && bits % 60013 == 0) memset(&numbers[i], 0xff, 4);
    if (i < 40000 && i % 2 == 0) numbers[i] = (double)(bits >> 11) * 0x1p-51 - 2;
  }
}

static uint64_t wanted[sizeof results / 8];
static const uint64_t poison = 0x7ff1234567890abc;
static size_t watched; /* words of results that a job writes, and some beyond */

static bool same(uint64_t a, uint64_t b) {
  uint32_t x[2], y[2];
  double u, v;
  memcpy(&u, &a, 8), memcpy(&v, &b, 8);
  if (a == b || (isnan(u) && isnan(v))) return true;
  memcpy(x, &a, 8), memcpy(y, &b, 8);
  for (int h = 0; h < 2; h++)
    if (x[h] != y[h] && !((x[h] & INT32_MAX) > 0x7f800000 && (y[h] & INT32_MAX) > 0x7f800000))
      return false;
  return true;
}

static void poison_results(size_t words) {
  for (size_t i = 0; i < words; i++) memcpy(&results[i], &poison, 8);
}

static void check(const char *name, const char *device, int64_t limit) {
  if (memcmp(results, wanted, watched * 8) == 0) return;
  for (size_t i = 0; i < watched; i++) {
    uint64_t bits;
    memcpy(&bits, &results[i], 8);
    if (!same(bits, wanted[i]))
      fail_msg("%s on %s with %lld bytes: word %zu is %016llx, not %016llx", name, device,
               (long long)limit, i, (unsigned long long)bits, (unsigned long long)wanted[i]);
  }
}

/* What the whole job writes on the CPU. */
static void run_whole(job *run) {
  rung_context *whole;
  assert_int_equal(rung_open(&whole, &(rung_options){.device = "cpu"}), RUNG_OK);
  poison_results(sizeof results / 8);
  assert_int_equal(run(whole), RUNG_OK);
  memcpy(wanted, results, sizeof results);
  rung_close(whole);
  watched = sizeof results / 8;
  while (watched > 0 && wanted[watched - 1] == poison) watched--;
  watched = watched + 4096 < sizeof results / 8 ? watched + 4096 : sizeof results / 8;
}

static void check_refused(rung_context *context, rung_status status) {
  assert_int_equal(status, RUNG_OUT_OF_MEMORY);
  assert_non_null(strstr(rung_last_error(context), "RUNG_MEMORY_LIMIT"));
  assert_non_null(strstr(rung_last_error(context), "expected: at least"));
  for (size_t i = 0; i < watched; i++)
    if (memcmp(&results[i], &poison, 8) != 0) fail_msg("word %zu was written", i);
}

/* From more than enough to less than enough; `least` limits that do. */
static void cut(const char *name, job *run, const char *device, int64_t most, int least) {
  int done = 0;
  run_whole(run);
  /* The simulator takes its time: no more ways than are asked for. */
  const bool simulated = strcmp(device, "sim") == 0;
  for (int64_t limit = most; limit > 0; limit = simulated ? limit / 5 : limit * 2 / STEP) {
    rung_context *context = open_limited(device, limit);
    if (context == NULL) skip();
    poison_results(watched);
    const rung_status status = run(context);
    if (status == RUNG_OK)
      check(name, device, limit);
    else
      check_refused(context, status);
    done += status == RUNG_OK;
    rung_close(context);
    if (status != RUNG_OK || (simulated && done == least)) break;
  }
  if (done < least) fail_msg("%s on %s was cut in %d ways only", name, device, done);
}

#define JOB(name) \
  { #name, name }
static const struct {
  const char *name;
  job *run;
} reductions[] = {JOB(sum_all),     JOB(sum_three), JOB(mean_all),  JOB(mean_integers),
                  JOB(sum_bytes),   JOB(min_all),   JOB(max_bytes), JOB(max_unsigned),
                  JOB(max_wide),    JOB(sum_down),  JOB(mean_down), JOB(sum_along),
                  JOB(min_between), JOB(sum_packed)},
  scans[] = {JOB(scan_sum), JOB(scan_exclusive), JOB(scan_integers), JOB(scan_wide),
             JOB(scan_min), JOB(scan_max),       JOB(scan_unsigned), JOB(scan_lines)},
  narrow[] = {JOB(scan_narrow), JOB(scan_bytes), JOB(scan_halves), JOB(sum_shorts),
              JOB(min_halves)},
  others[] = {JOB(histogram_even), JOB(histogram_edges), JOB(histogram_rows), JOB(pairs_within),
              JOB(pairs_weighted), JOB(pairs_across),    JOB(stencil),        JOB(radiator)},
  products[] = {JOB(matmul_rows), JOB(matmul_batch)},
  filters[] = {JOB(filter_wrap),    JOB(filter_constant), JOB(filter_nearest),
               JOB(filter_reflect), JOB(filter_mirror),   JOB(filters_of_pixels)};

#define ALL_OF(jobs, device, most, least)                 \
  for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) \
  cut(jobs[j].name, jobs[j].run, device, most, least)

static void cuts_on_the_cpu(void **unused) {
  (void)unused;
  for (int special = INSTRUMENTED; special < 2; special++) {
    fill(7 + (uint64_t)special, special);
    ALL_OF(reductions, "cpu", 3 << 20, 4);
    ALL_OF(scans, "cpu", 3 << 20, 4);
    ALL_OF(narrow, "cpu", 1 << 18, 2);
    ALL_OF(others, "cpu", 1 << 20, 3);
    ALL_OF(products, "cpu", 1 << 20, 2);
    ALL_OF(filters, "cpu", 1 << 20, 2);
    cut("histogram_nothing", histogram_nothing, "cpu", 1 << 20, 1);
  }
  fill(3, false);
  cut("scan_long", scan_long, "cpu", 20 << 20, INSTRUMENTED ? 4 : 10);
}

static void cuts_reductions_on_a_gpu(void **unused) {
  (void)unused;
  fill(11, true);
  ALL_OF(reductions, "sim", 2 << 20, WAYS);
}

static void cuts_scans_on_a_gpu(void **unused) {
  (void)unused;
  fill(12, true);
  ALL_OF(scans, "sim", 3 << 20, WAYS);
  ALL_OF(narrow, "sim", 1 << 18, 1);
}

static void cuts_the_others_on_a_gpu(void **unused) {
  (void)unused;
  fill(13, true);
  ALL_OF(others, "sim", 1 << 19, 1);
  ALL_OF(products, "sim", 1 << 17, 1);
  ALL_OF(filters, "sim", FOR_FILTERS, 1);
}

static void reads_the_limit(void **unused) {
  (void)unused;
  static const char *const good[] = {"1", "4096", "3K", "7M", "2G", ""};
  static const char *const bad[] = {"0",
                                    "-1",
                                    "1.5G",
                                    "K",
                                    "3KB",
                                    "10 M",
                                    "0x10",
                                    "lots",
                                    "9223372036854775808",
                                    "9007199254740993K"};
  rung_context *context;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    setenv("RUNG_MEMORY_LIMIT", good[i], 1);
    assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_OK);
    rung_close(context);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    setenv("RUNG_MEMORY_LIMIT", bad[i], 1);
    assert_int_equal(rung_open(&context, &(rung_options){.device = "cpu"}), RUNG_BAD_ARGUMENT);
    assert_non_null(strstr(rung_last_error(context), bad[i]));
    assert_non_null(strstr(rung_last_error(context), "expected:"));
    rung_close(context);
  }
  unsetenv("RUNG_MEMORY_LIMIT");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_the_limit),          cmocka_unit_test(cuts_on_the_cpu),
      cmocka_unit_test(cuts_reductions_on_a_gpu), cmocka_unit_test(cuts_scans_on_a_gpu),
      cmocka_unit_test(cuts_the_others_on_a_gpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
