/* The entry point of histogram: looks at the arguments once, brings the arrays into the form that
 * rungs take, and hands over. */
#include "ops/histogram/histogram.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/layout.h"
#include "core/over.h"

static const char *const array_names[] = {"in", "edges", "counts", "outside"};

/* ---- looking at the arguments -----------------------------------------------------------------
 */

static rung_status view_in(rung_error *error, const DLTensor *in, rung_view *view) {
  if (in != NULL && (in->ndim < 0 || in->ndim > RUNG_MAX_DIMS))
    return rung_fail(error, RUNG_BAD_SHAPE, "in has %d dimensions; expected: 0 ... %d", in->ndim,
                     RUNG_MAX_DIMS);
  return rung_view_stored(error, "in", in, HISTOGRAM_DTYPES, in != NULL ? in->ndim : 0, view);
}

/* An output of `last` numbers, or of as many for every row of `in`. */
static rung_status view_out(rung_error *error, const char *name, const DLTensor *tensor, int ndim,
                            const rung_view *in, int64_t last, rung_view *view) {
  rung_status status = rung_view_of(error, name, tensor, HISTOGRAM_COUNT_DTYPES, ndim, view);
  if (status == RUNG_OK && ndim == 2 && view->shape[0] != in->shape[0])
    status = rung_fail(error, RUNG_BAD_SHAPE,
                       "%s has %" PRId64 " rows; expected: %" PRId64 ", as many as in", name,
                       view->shape[0], in->shape[0]);
  if (status == RUNG_OK && view->shape[ndim - 1] != last)
    status = rung_fail(error, RUNG_BAD_SHAPE,
                       "%s has extent %" PRId64 " in its last dimension; expected: %" PRId64, name,
                       view->shape[ndim - 1], last);
  return status == RUNG_OK ? rung_view_writable(error, name, view) : status;
}

static rung_status check_rows(rung_error *error, const rung_view *in, const DLTensor *counts) {
  if (counts == NULL || counts->ndim == 1) return RUNG_OK;
  if (counts->ndim != 2)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "counts has %d dimensions; expected: 1, or 2 for a histogram of every row",
                     counts->ndim);
  if (in->ndim == 2) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_SHAPE,
      "in has %d dimensions and counts 2; expected: 2 dimensions of in, or 1 of counts", in->ndim);
}

static rung_status check_places(rung_error *error, const rung_view *in, const rung_view *counts,
                                const rung_view *outside) {
  rung_status status = rung_refuse_sides(error, "counts", counts, "in", in);
  if (status == RUNG_OK) status = rung_refuse_overlap(error, "counts", counts, "in", in, false);
  if (status != RUNG_OK || outside->count == 0) return status;
  if ((status = rung_refuse_sides(error, "outside", outside, "in", in)) == RUNG_OK &&
      (status = rung_refuse_sides(error, "outside", outside, "counts", counts)) == RUNG_OK &&
      (status = rung_refuse_overlap(error, "outside", outside, "in", in, false)) == RUNG_OK)
    status = rung_refuse_overlap(error, "outside", outside, "counts", counts, false);
  return status;
}

/* ---- the form of the job ----------------------------------------------------------------------
 */

/* Within a histogram the order of elements is free: backwards is forwards. */
static void turn_forwards(rung_view *view, int d) {
  if (view->stride[d] >= 0 || view->count == 0) return;
  view->data += (view->shape[d] - 1) * view->stride[d] * (int64_t)rung_dtype_bytes(view->dtype);
  view->stride[d] = -view->stride[d];
}

/* Dimension `d` moved to the place `to` before it. */
static void move(rung_view *view, int d, int to) {
  const int64_t shape = view->shape[d], stride = view->stride[d];
  for (; d > to; --d) {
    view->shape[d] = view->shape[d - 1];
    view->stride[d] = view->stride[d - 1];
  }
  view->shape[to] = shape;
  view->stride[to] = stride;
}

/* The whole of a view as few dimensions as hold it: the widest stride first, neighbours that go on
 * in even steps as one. One dimension becomes a row. */
static void flatten(rung_view *view) {
  rung_view flat = *view;
  flat.ndim = 0;
  for (int d = 0; d < view->ndim && view->count > 0; ++d) {
    turn_forwards(view, d);
    flat.data = view->data;
    if (view->shape[d] == 1) continue;
    int at = flat.ndim++;
    flat.shape[at] = view->shape[d];
    flat.stride[at] = view->stride[d];
    int before = at;
    while (before > 0 && flat.stride[before - 1] < flat.stride[at]) --before;
    move(&flat, at, before);
  }
  int last = 0;
  for (int d = 1; d < flat.ndim; ++d) {
    int64_t span;
    if (!__builtin_mul_overflow(flat.stride[d], flat.shape[d], &span) && span == flat.stride[last])
      flat.shape[last] *= flat.shape[d];
    else
      flat.shape[++last] = flat.shape[d];
    flat.stride[last] = flat.stride[d];
  }
  flat.ndim = flat.ndim == 0 ? 0 : last + 1;
  if (flat.ndim <= 1) {
    const int64_t stride = flat.ndim == 1 ? flat.stride[0] : 1;
    flat.ndim = 2;
    flat.shape[0] = 1;
    flat.shape[1] = flat.count;
    flat.stride[0] = 0;
    flat.stride[1] = stride;
  }
  *view = flat;
}

/* An output of one histogram as that of one row. */
static void as_row(rung_view *view) {
  if (view->count == 0 || view->ndim == 2) return;
  view->ndim = 2;
  view->shape[1] = view->shape[0];
  view->stride[1] = view->stride[0];
  view->shape[0] = 1;
  view->stride[0] = 0;
}

/* Everything that is looked at: the bins, the arrays, and a copy of the edges. */
typedef struct job {
  rung_bins bins;
  rung_view views[4];
  bool whole; /* one histogram of all elements */
  double *edges;
  histogram_problem problem;
  rung_job job;
} job;

/* The arrays as rungs take them. The copy of the edges is to be freed: what is queued never reads
 * the caller's. */
static rung_status shape_job(rung_error *error, job *j) {
  rung_view *in = &j->views[HISTOGRAM_IN];
  if (j->whole)
    flatten(in);
  else
    turn_forwards(in, 1);
  as_row(&j->views[HISTOGRAM_COUNTS]);
  as_row(&j->views[HISTOGRAM_OUTSIDE]);
  if (j->bins.kind == RUNG_BINS_EDGES) {
    const int64_t shape[1] = {j->bins.count + 1};
    j->edges = malloc((size_t)shape[0] * sizeof *j->edges);
    if (j->edges == NULL)
      return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for a copy of %" PRId64 " edges",
                       shape[0]);
    memcpy(j->edges, j->bins.edges, (size_t)shape[0] * sizeof *j->edges);
    j->views[HISTOGRAM_EDGES] = rung_view_compact(j->edges, RUNG_F64, 1, shape);
  }
  j->job = (rung_job){
      .operation = &histogram_operation,
      .task = {.arrays = {j->views[0], j->views[1], j->views[2], j->views[3]}},
      .types = {in->dtype, RUNG_U64, j->views[HISTOGRAM_COUNTS].dtype},
      .inputs = 2,
      .arrays = 4,
      .names = array_names,
      .compact = in->ndim > 2 || j->whole ? 1u << HISTOGRAM_IN : 0,
      .problem_bytes = sizeof j->problem,
      .cut = &histogram_parts,
      .axes = 2,
  };
  return RUNG_OK;
}

static rung_status set_problem(rung_error *error, job *j, rung_job *made, int64_t rows,
                               int64_t columns) {
  const rung_status status = histogram_problem_of(error, &j->bins, j->views[HISTOGRAM_IN].dtype,
                                                  rows, columns, &j->problem);
  made->task.problem = &j->problem;
  made->axis[0] = (rung_axis){.extent = rows, .granule = 1};
  made->axis[1] = (rung_axis){.extent = columns, .granule = 1, .combined = true};
  return status;
}

static rung_status look(rung_error *error, const rung_bins *bins, const DLTensor *in,
                        const DLTensor *counts, const DLTensor *outside, job *j) {
  rung_status status;
  rung_view *from = &j->views[HISTOGRAM_IN];
  if ((status = rung_read_struct(error, "bins", &rung_bins_layout, bins, &j->bins)) != RUNG_OK ||
      (status = view_in(error, in, from)) != RUNG_OK ||
      (status = check_rows(error, from, counts)) != RUNG_OK)
    return status;
  /* The bins first: their number is what the outputs are held to. */
  const int ndim = counts != NULL ? counts->ndim : 1;
  j->whole = ndim == 1;
  if ((status = histogram_problem_of(error, &j->bins, from->dtype, 1, 0, &j->problem)) != RUNG_OK ||
      (status = view_out(error, "counts", counts, ndim, from, j->problem.rule.bins,
                         &j->views[HISTOGRAM_COUNTS])) != RUNG_OK)
    return status;
  if (outside != NULL && (status = view_out(error, "outside", outside, ndim, from, HISTOGRAM_OUTER,
                                            &j->views[HISTOGRAM_OUTSIDE])) != RUNG_OK)
    return status;
  return check_places(error, from, &j->views[HISTOGRAM_COUNTS], &j->views[HISTOGRAM_OUTSIDE]);
}

static rung_status histogram(rung_context *context, const rung_bins *bins, const DLTensor *in,
                             DLTensor *counts, DLTensor *outside, rung_call *call) {
  rung_error *error = &context->error;
  job j = {.edges = NULL};
  rung_status status = look(error, bins, in, counts, outside, &j);
  if (status != RUNG_OK) return status;
  const rung_view from = j.views[HISTOGRAM_IN];
  status = shape_job(error, &j);
  if (status == RUNG_OK)
    status = set_problem(error, &j, &j.job, j.whole ? 1 : from.shape[0],
                         j.whole ? from.count : from.shape[1]);
  if (status == RUNG_OK) status = rung_run(context, &j.job, call);
  free(j.edges);
  return status;
}

rung_status rung_histogram(rung_context *context, const rung_bins *bins, const DLTensor *in,
                           DLTensor *counts, DLTensor *outside, rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status
                           : rung_end(context, histogram(context, bins, in, counts, outside, call));
}

/* ---- over ranks --------------------------------------------------------------------------------
 */

static rung_status set_whole(rung_error *error, int64_t total, rung_over *over) {
  job *j = (job *)over->to;
  over->problem = &j->problem;
  return set_problem(error, j, &over->job, 1, total);
}

/* Bins in words: those of edges by a hash, for all their numbers are too many. */
static void name_job(const job *j, char name[RUNG_JOB_TEXT]) {
  char text[64] = "";
  if (j->bins.kind == RUNG_BINS_EVEN)
    snprintf(text, sizeof text, " from %.17g to %.17g", j->bins.low, j->bins.high);
  if (j->bins.kind == RUNG_BINS_EDGES)
    snprintf(text, sizeof text, " of edges with the hash %016" PRIx64,
             rung_ranks_hash(j->edges, (size_t)(j->bins.count + 1) * sizeof *j->edges));
  snprintf(name, RUNG_JOB_TEXT, "rung_histogram_ranks(%d bins of kind %d%s, of %s)",
           j->problem.rule.bins, (int)j->bins.kind, text,
           rung_dtype_name(j->views[HISTOGRAM_IN].dtype));
}

static rung_status histogram_over(rung_context *context, const rung_ranks *ranks,
                                  const rung_bins *bins, const DLTensor *in, DLTensor *counts,
                                  DLTensor *outside, rung_call *call) {
  rung_error *error = &context->error;
  job j = {.edges = NULL};
  rung_over over = {.tile = 1, .whole = set_whole, .to = &j, .adds = true};
  rung_status status = look(error, bins, in, counts, outside, &j);
  if (status == RUNG_OK && !j.whole)
    status = rung_fail(error, RUNG_BAD_SHAPE,
                       "counts has 2 dimensions; expected: 1 over ranks, for one histogram");
  if (status == RUNG_OK) status = shape_job(error, &j);
  if (status == RUNG_OK) {
    over.job = j.job;
    name_job(&j, over.name);
  }
  status = rung_over_run(context, ranks, status, &over, call);
  free(j.edges);
  return status;
}

rung_status rung_histogram_ranks(rung_context *context, const rung_ranks *ranks,
                                 const rung_bins *bins, const DLTensor *in, DLTensor *counts,
                                 DLTensor *outside, rung_call *call) {
  rung_ranks known;
  const rung_status status = rung_over_begin(context, ranks, &known);
  return status != RUNG_OK
             ? status
             : rung_end(context, histogram_over(context, &known, bins, in, counts, outside, call));
}
