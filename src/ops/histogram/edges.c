/* The edges of bins as an array, which callers show counts over. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/call.h"
#include "core/layout.h"
#include "core/plan.h"
#include "ops/histogram/rule.h"

static const char *const array_names[] = {"edges"};

/* A type of elements that bins of a kind may count: for their edges any will do. */
static rung_dtype counted_in(rung_bins_kind kind) {
  return kind == RUNG_BINS_EVEN || kind == RUNG_BINS_EDGES ? RUNG_F64 : RUNG_U8;
}

static rung_status look(rung_context *context, const rung_bins *bins, const DLTensor *edges,
                        rung_bins *known, histogram_rule *rule, rung_job *job) {
  rung_error *error = &context->error;
  rung_view *view = &job->task.arrays[0];
  histogram_problem problem;
  rung_status status = rung_read_struct(error, "bins", &rung_bins_layout, bins, known);
  if (status == RUNG_OK)
    status = histogram_problem_of(error, known, counted_in(known->kind), 1, 0, &problem);
  if (status == RUNG_OK)
    status = rung_view_of(error, "edges", edges, RUNG_SINGLE_DOUBLE | RUNG_HALVES, 1, view);
  if (status != RUNG_OK) return status;
  *rule = problem.rule;
  if (view->shape[0] != (int64_t)rule->bins + 1)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "edges has extent %" PRId64 "; expected: %d, one more than there are bins",
                     view->shape[0], rule->bins + 1);
  status = rung_view_writable(error, "edges", view);
  job->arrays = 1;
  job->names = array_names;
  return status == RUNG_OK ? rung_run_reaches(context, job) : status;
}

static double edge_at(const rung_bins *bins, const histogram_rule *rule, int k) {
  const bool stated = rule->even || bins->kind == RUNG_BINS_EDGES;
  return stated ? histogram_edge(rule, bins->edges, k) : (double)k;
}

/* In host memory, each rounded once. */
static void put_edges(const rung_bins *bins, const histogram_rule *rule, const rung_view *to) {
  const rung_traits *traits = rung_traits_of(to->dtype);
  const int64_t step = to->stride[0];
  if (to->dtype == RUNG_F64)
    for (int k = 0; k <= rule->bins; k++) ((double *)to->data)[k * step] = edge_at(bins, rule, k);
  else if (to->dtype == RUNG_F32)
    for (int k = 0; k <= rule->bins; k++)
      ((float *)to->data)[k * step] = (float)edge_at(bins, rule, k);
  else
    for (int k = 0; k <= rule->bins; k++)
      traits->store(to->data + k * step * (int64_t)traits->bytes, edge_at(bins, rule, k));
}

/* What a device cannot make itself comes from the host, and is waited for. */
static rung_status copy_edges(rung_context *context, const rung_bins *bins,
                              const histogram_rule *rule, const rung_view *to) {
  rung_view made = rung_view_compact(NULL, to->dtype, 1, to->shape);
  if (context->capturing)
    return rung_fail(&context->error, RUNG_BAD_PLACE,
                     "edges has to be copied from host memory, which waits, and the stream is "
                     "under capture; expected: even bins, and edges of f64 or f32");
  made.data = malloc(rung_view_bytes(to));
  if (made.data == NULL)
    return rung_fail(&context->error, RUNG_OUT_OF_MEMORY, "no memory for %" PRId64 " edges",
                     to->count);
  put_edges(bins, rule, &made);
  const rung_status status = rung_deliver(context, to, &made);
  free(made.data);
  return status;
}

static rung_status write_edges(rung_context *context, const rung_bins *bins,
                               const histogram_rule *rule, const rung_view *to) {
  const bool ramp = context->backend->ramp != NULL && rule->even && rule->step != 0 &&
                    RUNG_SINGLE_DOUBLE & RUNG_TYPE(to->dtype);
  if (to->place == RUNG_HOST) {
    put_edges(bins, rule, to);
    return RUNG_OK;
  }
  if (!ramp) return copy_edges(context, bins, rule, to);
  return context->backend->ramp(context->state, to, &(rung_ramp){rule->low, rule->step, rule->high},
                                &context->error);
}

static rung_status bin_edges(rung_context *context, const rung_bins *bins, DLTensor *edges,
                             rung_call *call) {
  rung_bins known;
  rung_call how;
  histogram_rule rule;
  rung_job job = {.arrays = 0};
  rung_status status = look(context, bins, edges, &known, &rule, &job);
  if (status == RUNG_OK) status = rung_call_begin(context, call, &how);
  if (status != RUNG_OK) return status;
  status = write_edges(context, &known, &rule, &job.task.arrays[0]);
  return rung_call_end(context, status, call, NULL);
}

rung_status rung_bin_edges(rung_context *context, const rung_bins *bins, DLTensor *edges,
                           rung_call *call) {
  const rung_status status = rung_begin(context);
  return status != RUNG_OK ? status : rung_end(context, bin_edges(context, bins, edges, call));
}
