/* Making a plan: the rung, the arrays' ways, and how many pieces of what size. Looks at shapes
 * only. */
#include "core/plan.h"

#include <string.h>

#include "core/recall.h"

static size_t whole(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/* ---- the layout of a piece -------------------------------------------------------------------
 */

static rung_way way_of(const rung_plan *plan, int a, const rung_share *share, rung_stage stage,
                       const rung_task *task) {
  const rung_job *job = plan->job;
  const rung_view *view = &share->arrays[a];
  if (a >= job->inputs && stage == RUNG_PARTS) return RUNG_RESULT;
  if (!rung_is_local(plan->context, view)) return RUNG_STAGED;
  const bool compact = job->compact >> a & 1;
  const rung_view *direct = share->flat[a] < 0 ? view : &job->task.arrays[a];
  const rung_row *row = plan->rows[stage];
  if (a < job->inputs && share->flat[a] < 0 && row->gathers != NULL && row->gathers(task))
    return RUNG_DIRECT;
  const bool fits = compact || share->flat[a] >= 0 ? rung_view_is_compact(direct)
                                                   : view->ndim < 2 || rung_view_compact_rows(view);
  return fits ? RUNG_DIRECT : RUNG_PACKED;
}

/* An input that is also an output must be copied for rungs that cannot work in place. */
static void guard_in_place(const rung_plan *plan, rung_piece_plan *layout) {
  const rung_job *job = plan->job;
  if (plan->rows[layout->piece.stage]->in_place) return;
  for (int in = 0; in < job->inputs; in++)
    for (int out = job->inputs; out < job->arrays; out++)
      if (layout->ways[in] == RUNG_DIRECT && layout->ways[out] != RUNG_RESULT &&
          rung_views_overlap(&layout->share.arrays[in], &layout->share.arrays[out]))
        layout->ways[in] = RUNG_PACKED;
}

bool rung_plan_share(const rung_plan *plan, const rung_piece *piece, const void *state,
                     rung_piece_plan *layout) {
  const rung_job *job = plan->job;
  rung_share *share = &layout->share;
  layout->piece = *piece;
  layout->task = job->task;
  for (int a = 0; a < RUNG_TASK_ARRAYS; a++) share->flat[a] = -1;
  memcpy(share->arrays, job->task.arrays, sizeof share->arrays);
  if (!plan->cut) return true;
  memcpy(share->problem.bytes, job->task.problem, job->problem_bytes);
  layout->task.problem = share->problem.bytes;
  if (!job->cut->share(piece, state, share)) return false;
  memcpy(layout->task.arrays, share->arrays, sizeof share->arrays);
  return true;
}

/* Where everything is; rows[stage] is known, and what it needs where that is recalled. */
static void place(const rung_plan *plan, const rung_recalled *known, rung_piece_plan *layout) {
  const rung_job *job = plan->job;
  const rung_context *context = plan->context;
  for (int a = 0; a < job->arrays; a++)
    layout->ways[a] = way_of(plan, a, &layout->share, layout->piece.stage, &layout->task);
  guard_in_place(plan, layout);
  layout->moved = 0;
  for (int a = 0; a < job->arrays; a++) {
    rung_view *view = &layout->task.arrays[a];
    if (view->count == 0) continue;
    if (layout->ways[a] == RUNG_DIRECT) {
      if (layout->share.flat[a] >= 0)
        view->data = job->task.arrays[a].data +
                     layout->share.flat[a] * (int64_t)rung_dtype_bytes(view->dtype);
      continue;
    }
    *view = rung_view_compact((void *)layout->moved, view->dtype, view->ndim, view->shape);
    view->place = context->device.kind == RUNG_CPU ? RUNG_HOST : RUNG_DEVICE;
    view->device = context->device.index;
    layout->moved += whole(rung_view_bytes(view));
  }
  layout->needs = known != NULL && layout->moved == 0
                      ? known->needs
                      : rung_row_needs(plan->rows[layout->piece.stage], &layout->task);
}

bool rung_plan_lay_out(const rung_plan *plan, const rung_piece *piece, const void *state,
                       rung_piece_plan *layout) {
  if (!rung_plan_share(plan, piece, state, layout)) return false;
  place(plan, NULL, layout);
  return true;
}

/* ---- cutting ---------------------------------------------------------------------------------
 */

/* The next shorter ranges of `axis` after those of `count`: half as long, or the longest power. */
static int64_t shorter(const rung_axis *axis, int64_t count) {
  if (count <= axis->granule) return count;
  if (axis->radix == 0)
    return ((count + 1) / 2 + axis->granule - 1) / axis->granule * axis->granule;
  int64_t range = axis->granule;
  while (range < (count + axis->radix - 1) / axis->radix) range *= axis->radix;
  return range;
}

int64_t rung_axis_range(const rung_axis *axis, int64_t count, int64_t first) {
  const int64_t left = axis->extent - first, range = count < left ? count : left;
  if (count >= axis->extent) return left;
  return axis->radix == 0 && range > axis->granule ? range - range % axis->granule : range;
}

static rung_piece first_piece(const rung_plan *plan) {
  rung_piece piece = {.stage = plan->combined ? RUNG_PARTS : RUNG_WHOLE};
  if (plan->job->stretch != NULL) piece.first[plan->job->axes - 1] = plan->job->stretch->first;
  for (int k = 0; k < plan->job->axes; k++)
    piece.count[k] = rung_axis_range(&plan->job->axis[k], plan->count[k], piece.first[k]);
  return piece;
}

/* Whether arrays are on their way while the rung is at another piece: to and from a device with a
 * queue of copies, and on a CPU what is read from stores. */
static bool goes_ahead(const rung_plan *plan, const rung_piece_plan *layout) {
  const rung_context *context = plan->context;
  const bool reads = context->device.kind == RUNG_CPU;
  const int arrays = reads ? plan->job->inputs : plan->job->arrays;
  const rung_stretch *stretch = plan->job->stretch;
  bool staged = false;
  if (reads && stretch != NULL && plan->count[plan->job->axes - 1] >= stretch->count) return false;
  for (int a = 0; a < arrays; a++) staged |= layout->ways[a] == RUNG_STAGED;
  return staged && (reads || context->backend->copy_beside != NULL);
}

/* Chooses the rungs of all stages and lays out the first piece: of RUNG_AGAIN too, without a state,
 * for what it needs. */
static rung_status try(rung_plan *plan, const rung_call *call, rung_piece_plan *first) {
  const rung_job *job = plan->job;
  rung_error *error = &plan->context->error;
  rung_piece piece = first_piece(plan);
  bool laid_out = false;
  rung_recall_key key = {.length = 0};
  if (!plan->cut) rung_recall_key_of(job, call, &key);
  const rung_recalled *known = rung_recall(plan->context, &key);
  if (known != NULL) plan->rows[piece.stage] = known->row;
  plan->moved = 0;
  plan->needs = (rung_needs){0};
  for (rung_stage stage = piece.stage; stage <= RUNG_AGAIN; stage++) {
    if (stage > piece.stage && !(plan->combined && job->cut->again)) break;
    rung_piece_plan layout;
    rung_piece_plan *at = first;
    if (laid_out) at = &layout;
    rung_piece of = piece;
    of.stage = stage;
    if (!rung_plan_share(plan, &of, NULL, at)) continue; /* of a stretch, and nothing comes after */
    laid_out = true;
    if (known == NULL) {
      const rung_status status =
          rung_choose(job->operation, &at->task, job->types, call, &plan->rows[stage], error);
      if (status != RUNG_OK) return status;
    }
    place(plan, known, at);
    if (known == NULL && at->moved == 0)
      rung_remember(plan->context, &key, plan->rows[stage], &at->needs);
    if (at->moved > plan->moved) plan->moved = at->moved;
    if (at->needs.scratch > plan->needs.scratch) plan->needs.scratch = at->needs.scratch;
    if (at->needs.zeros > plan->needs.zeros) plan->needs.zeros = at->needs.zeros;
    if (at->needs.host_scratch > plan->needs.host_scratch)
      plan->needs.host_scratch = at->needs.host_scratch;
  }
  plan->lanes = plan->cut && goes_ahead(plan, first) ? 2 : 1;
  return RUNG_OK;
}

/* Cuts along axis k, and the others with it where it is combined; false: it cannot be. */
static bool cut_along(rung_plan *plan, int k) {
  const rung_axis *axis = plan->job->axis;
  bool cut = false;
  for (int i = k; i < plan->job->axes; i++) {
    if (i != k && !axis[k].combined) break;
    const int64_t count = shorter(&axis[i], plan->count[i]);
    cut |= count < plan->count[i];
    plan->count[i] = count;
  }
  plan->cut |= cut;
  plan->combined |= cut && axis[k].combined;
  return cut;
}

/* Bytes of packed and staged arrays a piece may take: enough for all processors. */
static double piece_bytes(const rung_device *device) {
  const double least = 64 << 20, busy = (double)device->processors * (4 << 20);
  return busy > least ? busy : least;
}

static double bytes_of(const rung_plan *plan) {
  return (double)plan->lanes * (double)plan->moved + (double)whole(plan->needs.scratch) +
         (double)plan->needs.zeros;
}

/* Whether axis k had better stay whole: cut, stores would be read twice for a lane to read ahead
 * into. */
static bool spares_lane(const rung_plan *plan, int k, double room) {
  const rung_job *job = plan->job;
  return plan->lanes == 2 && plan->context->device.kind == RUNG_CPU && job->axis[k].combined &&
         !plan->combined && job->cut->again && room >= 0 &&
         bytes_of(plan) - (double)plan->moved <= room;
}

/* What a plan may take: the limit, or, where arrays are moved, most of what is free; -1: anything.
 * Nobody need be asked for what the context has already. */
static rung_status room_for(const rung_plan *plan, double *room) {
  rung_context *context = plan->context;
  int64_t available = 0;
  *room = context->memory_limit > 0 ? (double)context->memory_limit : -1;
  if (plan->moved == 0 || bytes_of(plan) <= (double)context->scratch_bytes) return RUNG_OK;
  const rung_status status =
      context->backend->available(context->state, &available, &context->error);
  if (status != RUNG_OK) return status;
  const double free = 0.9 * ((double)available + (double)context->scratch_bytes);
  if (*room < 0 || free < *room) *room = free;
  return RUNG_OK;
}

static rung_status refuse_limit(const rung_plan *plan) {
  return rung_fail(&plan->context->error, RUNG_OUT_OF_MEMORY,
                   "environment variable RUNG_MEMORY_LIMIT is %lld bytes, and the smallest piece "
                   "of this %s takes more; expected: at least %.0f",
                   (long long)plan->context->memory_limit, plan->job->operation->name,
                   bytes_of(plan));
}

rung_status rung_plan_make(rung_context *context, rung_job *job, const rung_call *call,
                           rung_plan *plan, rung_piece_plan *first) {
  *plan = (rung_plan){.context = context, .job = job};
  for (int k = 0; k < job->axes; k++) plan->count[k] = job->axis[k].extent;
  const rung_stretch *stretch = job->stretch;
  if (stretch != NULL) {
    plan->cut = plan->combined = true;
    plan->count[job->axes - 1] = stretch->range > 0 ? stretch->range : stretch->count;
  }
  rung_status status = try(plan, call, first);
  double room;
  if (status == RUNG_OK) status = room_for(plan, &room);
  if (status != RUNG_OK) return status;
  const double most = piece_bytes(&context->device);
  for (int k = 0; k < job->axes; k++) {
    if (spares_lane(plan, k, room)) plan->lanes = 1;
    while (((room >= 0 && bytes_of(plan) > room) ||
            (!job->axis[k].dear && (double)plan->moved > most)) &&
           cut_along(plan, k))
      if ((status = try(plan, call, first)) != RUNG_OK) return status;
  }
  if (room >= 0 && bytes_of(plan) > room) plan->lanes = 1;
  if (context->memory_limit > 0 && bytes_of(plan) > (double)context->memory_limit)
    return refuse_limit(plan);
  return RUNG_OK;
}
