/* The references: naive, wide, strict. They share no line with the rungs. Tiles of a long line are
 * shared out to threads, for otherwise nobody would wait for 2^30 elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "ops/scan/lab/cases.h"

/* ---- sums of floats, as the contract has them --------------------------------------------------
 *
 * Numbers are held in double, and added in the problem's type. */

static const double nothing = -0.0;

typedef struct floats {
  bool narrow;
  const void *x;
  int64_t n;
} floats;

static double add(const floats *f, double a, double b) {
  return f->narrow ? (double)((float)a + (float)b) : a + b;
}

static double element(const floats *f, int64_t i) {
  if (i >= f->n) return nothing;
  return f->narrow ? (double)((const float *)f->x)[i] : ((const double *)f->x)[i];
}

static void prefix(const floats *f, double *t, int m) {
  double before[SCAN_FAMILY];
  for (int s = 1; s < m; s *= 2) {
    memcpy(before, t, (size_t)m * sizeof *t);
    for (int i = s; i < m; ++i) t[i] = add(f, before[i - s], before[i]);
  }
}

static double running(const floats *f, const double *totals, int count) {
  double sum = nothing;
  for (int i = 0; i < count; ++i) sum = i == 0 ? totals[0] : add(f, sum, totals[i]);
  return sum;
}

static void group(const floats *f, int64_t first, double e[SCAN_GROUP]) {
  for (int c = 0; c < SCAN_GROUP; ++c) e[c] = element(f, first + c);
  prefix(f, e, SCAN_GROUP);
}

static void row(const floats *f, int64_t first, double g[SCAN_FAMILY]) {
  for (int j = 0; j < SCAN_FAMILY; ++j) {
    double e[SCAN_GROUP];
    group(f, first + j * SCAN_GROUP, e);
    g[j] = e[SCAN_GROUP - 1];
  }
  prefix(f, g, SCAN_FAMILY);
}

static void rows_of_band(const floats *f, int64_t first, double totals[SCAN_EIGHT]) {
  for (int r = 0; r < SCAN_EIGHT; ++r) {
    double g[SCAN_FAMILY];
    row(f, first + r * SCAN_ROW, g);
    totals[r] = g[SCAN_FAMILY - 1];
  }
}

static void bands_of_tile(const floats *f, int64_t first, double totals[SCAN_EIGHT]) {
  for (int b = 0; b < SCAN_EIGHT; ++b) {
    double rows[SCAN_EIGHT];
    rows_of_band(f, first + b * SCAN_BAND, rows);
    totals[b] = running(f, rows, SCAN_EIGHT);
  }
}

/* The aggregates of every level. */
typedef struct hierarchy {
  double *at[SCAN_LEVELS + 1];
} hierarchy;

/* A line under way. */
typedef struct floats_job {
  floats f;
  hierarchy h;
  int64_t tiles;
  bool exclusive;
  void *result;
} floats_job;

/* `body` for every tile, some CHUNK of them at a time. */
enum { CHUNK = 64 };

static void for_tiles(floats_job *job,
                      void (*body)(void *arg, int part, int64_t from, int64_t until)) {
  const int parts = (int)((job->tiles + CHUNK - 1) / CHUNK);
  rung_parallel_range(rung_processors(), job->tiles, parts, body, job);
}

static void total_tiles(void *arg, int part, int64_t from, int64_t until) {
  floats_job *job = (floats_job *)arg;
  (void)part;
  for (int64_t i = from; i < until; ++i) {
    double bands[SCAN_EIGHT];
    bands_of_tile(&job->f, i * SCAN_TILE, bands);
    job->h.at[0][i] = running(&job->f, bands, SCAN_EIGHT);
  }
}

static bool climb(floats_job *job) {
  const floats *f = &job->f;
  hierarchy *h = &job->h;
  int64_t count = job->tiles;
  for (int k = 0; k <= SCAN_LEVELS && count > 0; ++k, count /= SCAN_FAMILY) {
    h->at[k] = (double *)malloc((size_t)count * sizeof(double));
    if (h->at[k] == NULL) return false;
    if (k == 0) for_tiles(job, total_tiles);
    for (int64_t i = 0; i < count && k > 0; ++i) {
      double t[SCAN_FAMILY];
      memcpy(t, h->at[k - 1] + i * SCAN_FAMILY, sizeof t);
      prefix(f, t, SCAN_FAMILY);
      h->at[k][i] = t[SCAN_FAMILY - 1];
    }
  }
  return true;
}

static double before_tile(const floats *f, const hierarchy *h, int64_t tile) {
  double p = nothing;
  int top = 0;
  for (int64_t i = tile; i >= SCAN_FAMILY; i /= SCAN_FAMILY) ++top;
  for (int k = top; k >= 0; --k) {
    int64_t ancestor = tile;
    for (int l = 0; l < k; ++l) ancestor /= SCAN_FAMILY;
    const int i = (int)(ancestor % SCAN_FAMILY);
    double t[SCAN_FAMILY];
    if (i == 0) continue;
    memcpy(t, h->at[k] + (ancestor - i), (size_t)i * sizeof *t);
    prefix(f, t, i);
    p = add(f, p, t[i - 1]);
  }
  return p;
}

static void put(const floats *f, void *result, int64_t i, double value) {
  if (i >= f->n) return;
  if (f->narrow)
    ((float *)result)[i] = (float)value;
  else
    ((double *)result)[i] = value;
}

static void scan_row(const floats *f, bool exclusive, int64_t first, double offset_of_row,
                     void *result) {
  double g[SCAN_FAMILY], e[SCAN_GROUP];
  row(f, first, g);
  for (int j = 0; j < SCAN_FAMILY; ++j) {
    const double offset = add(f, offset_of_row, j > 0 ? g[j - 1] : nothing);
    group(f, first + j * SCAN_GROUP, e);
    for (int c = 0; c < SCAN_GROUP; ++c)
      put(f, result, first + j * SCAN_GROUP + c,
          !exclusive ? add(f, offset, e[c])
          : c > 0    ? add(f, offset, e[c - 1])
                     : offset);
  }
}

static void scan_tile(const floats *f, bool exclusive, int64_t first, double p, void *result) {
  double bands[SCAN_EIGHT], rows[SCAN_EIGHT];
  bands_of_tile(f, first, bands);
  for (int b = 0; b < SCAN_EIGHT; ++b) {
    rows_of_band(f, first + b * SCAN_BAND, rows);
    for (int r = 0; r < SCAN_EIGHT; ++r)
      scan_row(f, exclusive, first + b * SCAN_BAND + r * SCAN_ROW,
               add(f, add(f, p, running(f, bands, b)), running(f, rows, r)), result);
  }
  if (exclusive && first == 0) put(f, result, 0, 0);
}

static void scan_some_tiles(void *arg, int part, int64_t from, int64_t until) {
  const floats_job *job = (const floats_job *)arg;
  (void)part;
  for (int64_t tile = from; tile < until; ++tile)
    scan_tile(&job->f, job->exclusive, tile * SCAN_TILE, before_tile(&job->f, &job->h, tile),
              job->result);
}

static bool scan_floats(const scan_problem *problem, const void *line, void *result) {
  floats_job job = {.f = {problem->dtype == RUNG_F32, line, problem->columns},
                    .tiles = scan_tiles(problem->columns),
                    .exclusive = problem->exclusive,
                    .result = result};
  const bool climbed = climb(&job);
  if (climbed) for_tiles(&job, scan_some_tiles);
  for (int k = 0; k <= SCAN_LEVELS; ++k) free(job.h.at[k]);
  return climbed;
}

/* ---- everything else, in any order ------------------------------------------------------------
 */

static long double number(rung_dtype dtype, const void *x, int64_t at) {
  switch (dtype) {
    case RUNG_I32:
      return ((const int32_t *)x)[at];
    case RUNG_U32:
      return ((const uint32_t *)x)[at];
    case RUNG_I64:
      return (long double)((const int64_t *)x)[at];
    case RUNG_U64:
      return (long double)((const uint64_t *)x)[at];
    case RUNG_F32:
      return (long double)((const float *)x)[at];
    default:
      return (long double)((const double *)x)[at];
  }
}

/* What nothing has: the number that every other one beats, and no NaN. */
static void put_worst(rung_dtype dtype, bool largest, void *result) {
  switch (dtype) {
    case RUNG_I32:
      *(int32_t *)result = largest ? INT32_MIN : INT32_MAX;
      break;
    case RUNG_U32:
      *(uint32_t *)result = largest ? 0 : UINT32_MAX;
      break;
    case RUNG_I64:
      *(int64_t *)result = largest ? INT64_MIN : INT64_MAX;
      break;
    case RUNG_U64:
      *(uint64_t *)result = largest ? 0 : UINT64_MAX;
      break;
    case RUNG_F32:
      *(float *)result = largest ? -INFINITY : INFINITY;
      break;
    default:
      *(double *)result = largest ? -(double)INFINITY : (double)INFINITY;
  }
}

/* IEEE 754-2019 in words. Integers are never NaN, and their zero has one sign. A long double holds
 * every value of every type. */
static bool wins(bool largest, long double x, long double held) {
  if (isnan(held)) return false;
  if (isnan(x)) return true;
  const bool below = signbit(x) && !signbit(held), above = !signbit(x) && signbit(held);
  if (x == held) return largest ? above : below;
  return largest ? x > held : x < held;
}

static void scan_extremes(const scan_problem *problem, const char *line, char *result) {
  const size_t size = rung_dtype_bytes(problem->dtype);
  const bool largest = problem->what == RUNG_MAX;
  int64_t best = 0;
  if (problem->exclusive) put_worst(problem->dtype, largest, result);
  for (int64_t i = 0; i < problem->columns; ++i) {
    const int64_t to = i + problem->exclusive;
    if (wins(largest, number(problem->dtype, line, i), number(problem->dtype, line, best)))
      best = i;
    if (to < problem->columns) memcpy(result + (size_t)to * size, line + (size_t)best * size, size);
  }
}

static void scan_integers(const scan_problem *problem, const void *line, void *result) {
  const bool narrow = rung_dtype_bytes(problem->dtype) == 4;
  uint64_t sum = 0;
  for (int64_t i = 0; i < problem->columns; ++i) {
    const uint64_t x = narrow ? ((const uint32_t *)line)[i] : ((const uint64_t *)line)[i];
    const uint64_t value = problem->exclusive ? sum : sum + x;
    sum += x;
    if (narrow)
      ((uint32_t *)result)[i] = (uint32_t)value;
    else
      ((uint64_t *)result)[i] = value;
  }
}

bool scan_reference_strict(const scan_problem *problem, const void *line, void *result) {
  if (problem->what != RUNG_SUM)
    scan_extremes(problem, (const char *)line, (char *)result);
  else if (RUNG_FLOATS & RUNG_TYPE(problem->dtype))
    return scan_floats(problem, line, result);
  else
    scan_integers(problem, line, result);
  return true;
}

void scan_reference_wide(const scan_problem *problem, const void *line, int64_t i,
                         scan_wide *wide) {
  const long double x = number(problem->dtype, line, i);
  wide->sum += x;
  wide->magnitude += fabsl(x);
}
