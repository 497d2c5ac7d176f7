/* correlate over ranks, of which each has rows of the image. Rows of the result that need none but
 * its own are a job like any. Those at either end of its rows are made from a strip that has what
 * they need, from others, from beyond the image, and of its own; where it has fewer rows than the
 * kernel, there is but one strip, and nothing between two.
 *
 *   word      how many rows has everybody, and are all about the same?
 *   word      have all the memory for their strips?
 *   rows      to the ranks whose strips need them
 *   word      have all got theirs?
 *   word      have all written? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "core/strips.h"
#include "core/transfer.h"
#include "ops/correlate/call.h"

/* A part of a rank's result. */
typedef struct part {
  correlate_problem problem;
  rung_job job;
} part;

typedef struct run {
  rung_strips strips;
  correlate_call call;
  char *memory; /* strips, one behind the other */
  part parts[3];
  int count;
} run;

/* The row of the image, or beyond it, that is under the kernel's first one for row 0. */
static int64_t above(const run *r) {
  return -r->call.problem.first_row;
}

static int64_t pixels_of(const run *r) {
  return r->call.problem.width * r->call.problem.channels;
}

/* Rows of the image that strip number `index` of a rank has: [*first, + *count), which may be
 * beyond its ends. False: there is no such strip. */
static bool strip_of(const run *r, int rank, int index, int64_t *first, int64_t *count) {
  const int64_t more = r->call.problem.kernel_rows - 1;
  const int64_t begin = r->strips.firsts[rank], rows = r->strips.firsts[rank + 1] - begin;
  const int last = rows > more ? 1 : 0;
  if (more == 0 || rows == 0 || index > last) return false;
  const int64_t least = begin - above(r), most = least + rows + more;
  /* Of two strips, one has the kernel's rows before its own first ones, the other behind its last
   * ones. */
  *first = index == 0 ? least : begin + rows - more;
  *count = (rows > more && index == 0 ? begin + more : most) - *first;
  return true;
}

static bool want(const void *of, int rank, int64_t index, int64_t *first, int64_t *count) {
  const run *r = (const run *)of;
  const correlate_problem *p = &r->call.problem;
  for (int k = 0; strip_of(r, rank, k, first, count); index -= *count, k++) {
    if (index >= *count) continue;
    *first = rung_edge_index(p->edge, *first + index, p->height);
    *count = 1;
    return true;
  }
  return false;
}

static rung_status own_rows(void *of, int64_t first, int64_t count, char *to) {
  const run *r = (const run *)of;
  const int64_t pixels = pixels_of(r);
  return rung_fetch(
      r->strips.context,
      &(rung_range){&r->call.in, (first - rung_strips_first(&r->strips)) * pixels, count * pixels},
      to);
}

/* ---- the parts of a rank's result --------------------------------------------------------------
 */

/* Rows [first, + rows) of the result, from all rows of `from`. */
static void add_part(run *r, int64_t first, int64_t rows, const rung_view *from) {
  part *part = &r->parts[r->count++];
  rung_view out = r->call.out;
  part->problem = r->call.problem;
  part->problem.height = from->shape[0];
  part->problem.first_row = 0;
  part->problem.rows = rows;
  correlate_measure(&part->problem);
  rung_view_narrow(&out, part->problem.kernels > 1, first, rows);
  part->job = correlate_job_of(&part->problem, from, &out);
}

/* All of them; strips lie in `memory`, filled with what is beyond the image. */
static void list_parts(run *r) {
  const correlate_problem *p = &r->call.problem;
  const int64_t rows = r->call.in.shape[0], more = p->kernel_rows - 1;
  int64_t first, count;
  char *at = r->memory;
  if (r->call.out.count == 0) return;
  if (rows > more) add_part(r, more == 0 ? 0 : above(r), rows - more, &r->call.in);
  for (int k = 0; strip_of(r, r->strips.meeting.ranks.rank, k, &first, &count); k++) {
    rung_view strip = r->call.in;
    strip.shape[0] = count;
    strip = rung_view_compact(at, strip.dtype, strip.ndim, strip.shape);
    const int64_t made = count - more;
    if (made > 0) add_part(r, k == 0 ? 0 : rows - made, made, &strip);
    at += rung_view_bytes(&strip);
  }
  const rung_traits *traits = rung_traits_of(p->types.in);
  const int64_t element = (int64_t)traits->bytes;
  for (char *pixel = r->memory; pixel < at; pixel += element) traits->store(pixel, p->edge_value);
}

/* Strips, and what all parts take. */
static rung_status make_room(run *r, const rung_wants *wants) {
  int64_t first, count, rows = 0;
  size_t bytes = 0;
  for (int k = 0; strip_of(r, r->strips.meeting.ranks.rank, k, &first, &count); k++) rows += count;
  r->memory = rung_ranks_ask(&bytes, (size_t)rows, wants->each);
  if (r->memory == NULL)
    return rung_ranks_no_memory(&r->strips.meeting, bytes, "rows beside a rank's own");
  rung_status status = rung_strips_room(&r->strips, wants);
  if (status == RUNG_OK) list_parts(r);
  for (int k = 0; k < r->count && status == RUNG_OK; k++) {
    r->parts[k].job.reserve = true;
    status = rung_run_job(r->strips.context, &r->parts[k].job, &r->strips.known, &r->strips.used);
    r->parts[k].job.reserve = false;
  }
  return status;
}

static rung_status filter_parts(run *r) {
  rung_context *context = r->strips.context;
  rung_status status = RUNG_OK;
  for (int k = r->count - 1; k >= 0 && status == RUNG_OK; k--)
    status = rung_run_job(context, &r->parts[k].job, &r->strips.known, &r->strips.used);
  return status == RUNG_OK ? context->backend->synchronize(context->state, &context->error)
                           : status;
}

/* ---- a call ------------------------------------------------------------------------------------
 */

/* From the arguments on, which `own` is about. */
static rung_status go_on(run *r, rung_status own, const rung_call *call) {
  const rung_wants wants = {
      .each = own == RUNG_OK ? (size_t)pixels_of(r) * rung_dtype_bytes(r->call.in.dtype) : 0,
      .want = want,
      .own = own_rows,
      .of = r};
  own = rung_strips_enter(&r->strips, own, call);
  rung_status status = rung_strips_meet(&r->strips, own, r->call.in.shape[0], false);
  if (status != RUNG_OK) return status;
  r->call.problem.height = rung_strips_total(&r->strips);
  status = rung_strips_word(&r->strips, make_room(r, &wants));
  if (status == RUNG_OK) status = rung_strips_bring(&r->strips, &wants, r->memory, &own);
  if (status == RUNG_OK) status = rung_strips_word(&r->strips, own);
  return status == RUNG_OK ? rung_strips_word(&r->strips, filter_parts(r)) : status;
}

/* What must be the same in all ranks: taps and the model by a hash, for they are too many. */
static void name_job(run *r, bool reversed) {
  const correlate_problem *p = &r->call.problem;
  const rung_filter_model *model = &r->call.model;
  const double numbers[] = {p->edge_value, (double)model->edge, (double)model->origin[0],
                            (double)model->origin[1]};
  const size_t taps = (size_t)(p->kernels * p->kernel_rows * p->kernel_columns);
  const uint64_t hashes[] = {rung_ranks_hash(p->given, taps * sizeof *p->given),
                             rung_ranks_hash(numbers, sizeof numbers)};
  snprintf(r->strips.name, RUNG_JOB_TEXT,
           "rung_%s_ranks(%" PRId64 " by %d of %s to %s, %" PRId64
           " kernels of %d by %d and a model with the hash %016" PRIx64 ")",
           reversed ? "convolve" : "correlate", p->width, p->channels, rung_dtype_name(p->types.in),
           rung_dtype_name(p->types.out), p->kernels, p->kernel_rows, p->kernel_columns,
           rung_ranks_hash(hashes, sizeof hashes));
}

static rung_status check_whole(rung_error *error, const correlate_call *call) {
  const rung_filter_model *model = &call->model;
  if (model->region[0] != 0 || model->region[1] != 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "model.region is %" PRId64 ", %" PRId64 "; expected over ranks: 0, 0",
                     model->region[0], model->region[1]);
  if (call->problem.rows == call->problem.height && call->problem.columns == call->problem.width)
    return RUNG_OK;
  return rung_fail(error, RUNG_BAD_SHAPE,
                   "out has %" PRId64 " rows of %" PRId64 " columns; expected over ranks: %" PRId64
                   " of %" PRId64 ", as in",
                   call->problem.rows, call->problem.columns, call->problem.height,
                   call->problem.width);
}

static rung_status filter_ranks(rung_context *context, const rung_ranks *ranks,
                                const rung_filter_model *model, const DLTensor *in,
                                const DLTensor *kernel, const DLTensor *out, bool reversed,
                                rung_call *how) {
  run r = {.memory = NULL};
  rung_status status = rung_strips_begin(context, ranks, &r.strips);
  if (status != RUNG_OK) return status;
  status = correlate_read(&context->error, model, in, kernel, out, reversed, &r.call);
  if (status == RUNG_OK) status = check_whole(&context->error, &r.call);
  if (status == RUNG_OK) {
    name_job(&r, reversed);
    const rung_job given = correlate_job_of(&r.call.problem, &r.call.in, &r.call.out);
    status = rung_run_reaches(context, &given);
  }
  status = go_on(&r, status, how);
  free(r.memory);
  free(r.call.taps);
  return rung_strips_end(&r.strips, status, how);
}

rung_status rung_correlate_ranks(rung_context *context, const rung_ranks *ranks,
                                 const rung_filter_model *model, const DLTensor *in,
                                 const DLTensor *kernel, DLTensor *out, rung_call *call) {
  return filter_ranks(context, ranks, model, in, kernel, out, false, call);
}

rung_status rung_convolve_ranks(rung_context *context, const rung_ranks *ranks,
                                const rung_filter_model *model, const DLTensor *in,
                                const DLTensor *kernel, DLTensor *out, rung_call *call) {
  return filter_ranks(context, ranks, model, in, kernel, out, true, call);
}
