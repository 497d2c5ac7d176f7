/* The bins of `rung pairs FILE`, and whether a box allows them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pairs.h"

double pairs_last(const pairs_result *result) {
  const rung_distances *bins = &result->bins;
  return bins->edges ? bins->edges[bins->count] : (double)bins->count * bins->width;
}

void pairs_free(pairs_result *result) {
  free(result->edges);
  free(result->counts);
  free(result->sums);
  free(result->g);
  free(result->neighbours);
  *result = (pairs_result){0};
}

/* The shortest text of a number that is not above it. */
static const char *not_above(double value, char text[40]) {
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, 40, "%.*g", digits, value);
    if (strtod(text, NULL) <= value) break;
  }
  return text;
}

rung_status pairs_fit(const pairs_result *result, const rung_box *box, int64_t frame,
                      rung_error *error) {
  double reach = INFINITY;
  char text[40];
  if (!box) return RUNG_OK;
  if (rung_box_reach(NULL, box, &reach) != RUNG_OK)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "--box has no volume, or a side that is too short or long: expected: vectors of lengths "
        "from 1e-70 to 1e70 that do not lie in a plane");
  if (pairs_last(result) <= reach) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_ARGUMENT,
                   "the bins end at %.9g, and in the box of frame %lld no two points can be told "
                   "beyond %s apart (half the shortest way between images); expected: --max %s",
                   pairs_last(result), (long long)frame, not_above(reach, text), text);
}

/* As far as two points of the frame can be apart. */
static double diagonal(const points_frame *frame) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int64_t i = 0; i < frame->count; i++)
    for (int axis = 0; axis < 3; axis++) {
      low[axis] = fmin(low[axis], frame->at[i][axis]);
      high[axis] = fmax(high[axis], frame->at[i][axis]);
    }
  if (frame->count < 2) return 0;
  const double x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
  return sqrt(x * x + y * y + z * z);
}

/* Where even bins end, and beyond which they must not. */
static rung_status find_end(const pairs_request *r, const rung_box *box, const points_frame *frame,
                            double *end, double *limit, rung_error *error) {
  *limit = INFINITY;
  if (box && rung_box_reach(NULL, box, limit) != RUNG_OK)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "--box has no volume, or a side that is too short or long: expected: vectors of lengths "
        "from 1e-70 to 1e70 that do not lie in a plane");
  *end = r->max > 0 ? r->max : *limit;
  if (isfinite(*end)) return RUNG_OK;
  *end = diagonal(frame) * (1 + 1e-12); /* bins are open above: the longest pair is to be below */
  if (*end > 0 && isfinite(*end)) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_ARGUMENT,
      "the points of the first frame do not say how far bins should reach; expected: --max R");
}

/* How many bins of a width there are: as many as end within --max or the box, or as cover all. */
static double count_bins(const pairs_request *r, double end, double limit) {
  const double count = end / r->width, whole = rint(count);
  if (r->max > 0) return fabs(count - whole) <= 1e-9 * whole ? whole : floor(count); /* 0.3 / 0.1 */
  if (isinf(limit)) return ceil(count);
  return floor(count) * r->width <= end ? floor(count) : floor(count) - 1;
}

static rung_status make_even(const pairs_request *r, double end, double limit, rung_distances *bins,
                             rung_error *error) {
  const double count = r->width > 0 ? count_bins(r, end, limit) : (double)r->count;
  if (!(count <= RUNG_MAX_BINS))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--width %g makes %.0f bins up to %g; expected: at most %d", r->width, count,
                     end, RUNG_MAX_BINS);
  if (count < 1)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--width %g is more than where bins end, %g; expected: a smaller one",
                     r->width, end);
  bins->count = (int64_t)count;
  bins->width = r->width > 0 ? r->width : end / count;
  /* What is beyond the limit by a rounding alone is not meant to be. */
  while (count * bins->width > limit && count * bins->width <= limit * (1 + 1e-12))
    bins->width = nextafter(bins->width, 0);
  return RUNG_OK;
}

static rung_status allocate(const pairs_request *r, pairs_result *result, rung_error *error) {
  const size_t bins = (size_t)result->bins.count;
  if (!result->edges) result->edges = malloc((bins + 1) * sizeof *result->edges);
  result->counts = calloc(bins, sizeof *result->counts);
  if (r->weighted) result->sums = calloc(bins, sizeof *result->sums);
  if (r->rdf) result->g = calloc(bins, sizeof *result->g);
  if (r->rdf) result->neighbours = calloc(bins, sizeof *result->neighbours);
  if (result->edges && result->counts && (result->sums || !r->weighted) &&
      ((result->g && result->neighbours) || !r->rdf))
    return RUNG_OK;
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %zu bins", bins);
}

static rung_status make_logarithmic(const pairs_request *r, pairs_result *result,
                                    rung_error *error) {
  const double low = r->logarithmic[0], high = r->logarithmic[1], count = r->logarithmic[2];
  result->bins.count = (int64_t)count;
  result->edges = malloc(((size_t)count + 1) * sizeof *result->edges);
  if (!result->edges) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for %.0f bins", count);
  for (int64_t k = 0; k <= result->bins.count; k++)
    result->edges[k] = k == result->bins.count ? high : low * pow(high / low, (double)k / count);
  result->bins.edges = result->edges;
  return RUNG_OK;
}

static rung_status take_edges(const pairs_request *r, pairs_result *result, rung_error *error) {
  file_array edges;
  rung_status status = array_take_numbers(r->edges_path, "edges", 2, &edges, error);
  if (status) {
    array_free(&edges);
    return status;
  }
  result->bins.count = edges.shape[0] - 1;
  result->bins.edges = result->edges = edges.memory; /* both of malloc()'s kind */
  return RUNG_OK;
}

rung_status pairs_settle(const pairs_request *r, const rung_box *box, const points_frame *frame,
                         pairs_result *result, rung_error *error) {
  rung_status status = RUNG_OK;
  if (r->edges_path) {
    status = take_edges(r, result, error);
  } else if (r->logarithmic[2] > 0) {
    status = make_logarithmic(r, result, error);
  } else {
    double end = 0, limit = INFINITY;
    status = find_end(r, box, frame, &end, &limit, error);
    if (!status) status = make_even(r, end, limit, &result->bins, error);
  }
  if (!status) status = allocate(r, result, error);
  for (int64_t k = 0; !status && !result->bins.edges && k <= result->bins.count; k++)
    result->edges[k] = (double)k * result->bins.width;
  return status;
}
