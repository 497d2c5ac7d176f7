/* Executing a plan: one piece after the other. Where copies go beside the work, the inputs of a
 * piece are copied while the rung is at the piece before, in the other lane of the scratch:
 *
 *   copies   in 0   in 1          out 0   in 2          out 1   ...
 *   work            rung 0        rung 1                rung 2  ...
 *
 * On a CPU stores are read so, by a thread beside the one that does all else:
 *
 *   reads    in 0   in 1              in 2              in 3    ...
 *   work            rung 0   out 0    rung 1   out 1    rung 2  ... */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/parallel.h"
#include "core/call.h"
#include "core/plan.h"
#include "core/prefer.h"
#include "core/recall.h"
#include "core/transfer.h"

typedef struct run {
  const rung_plan *plan;
  rung_context *context;
  const rung_job *job;
  rung_piece_plan layouts[2]; /* by lane */
  int next;                   /* the lane of the next piece */
  bool pending;               /* the piece in the other one is not complete */
  bool beside;                /* arrays are copied in the queue of copies */
  bool ahead;                 /* stores are read beside the work on the piece before */
  size_t lane, scratch;       /* bytes of the scratch: a lane's, and the rung's */
  char *memory;               /* all of it */
  void *state;                /* of the block's parts: ours but of a stretch */
} run;

static size_t whole(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/* ---- memory ----------------------------------------------------------------------------------
 */

static rung_status start(run *run, int lane);
static rung_status complete(run *run, int lane);

static rung_status drain(run *run) {
  const int lane = 1 - run->next;
  if (!run->pending) return RUNG_OK;
  run->pending = false;
  const rung_status status = run->ahead ? start(run, lane) : RUNG_OK;
  return status == RUNG_OK ? complete(run, lane) : status;
}

static void *array_at(const run *run, int lane, int a) {
  return run->memory + (size_t)lane * run->lane + (size_t)run->layouts[lane].task.arrays[a].data;
}

/* Whatever the piece needs: what the plan found out, unless a last piece needs more. */
static rung_status find_memory(run *run, rung_piece_plan *layout) {
  rung_context *context = run->context;
  const rung_needs *needs = &layout->needs;
  void *memory = run->memory;
  rung_status status = RUNG_OK;
  if (memory == NULL || layout->moved > run->lane || needs->scratch > run->scratch) {
    if ((status = drain(run)) != RUNG_OK) return status;
    if (layout->moved > run->lane) run->lane = layout->moved;
    if (needs->scratch > run->scratch) run->scratch = needs->scratch;
    status =
        rung_scratch(context, (size_t)run->plan->lanes * run->lane + whole(run->scratch), &memory);
    run->memory = memory;
  }
  if (status == RUNG_OK) status = rung_zeros(context, needs->zeros, &layout->task.zeros);
  if (status == RUNG_OK)
    status = rung_host_scratch(context, needs->host_scratch, &layout->task.host_scratch);
  layout->task.scratch = run->memory + (size_t)run->plan->lanes * run->lane;
  layout->task.stream = context->backend->stream(context->state);
  layout->task.state = context->state;
  return status;
}

/* What all pieces need, as far as the plan knows. */
static rung_status reserve(run *run) {
  const rung_plan *plan = run->plan;
  void *memory;
  rung_status status = rung_scratch(
      run->context, (size_t)plan->lanes * plan->moved + whole(plan->needs.scratch), &memory);
  if (status == RUNG_OK) status = rung_zeros(run->context, plan->needs.zeros, &memory);
  if (status == RUNG_OK)
    status = rung_host_scratch(run->context, plan->needs.host_scratch, &memory);
  return status;
}

/* ---- a piece ---------------------------------------------------------------------------------
 */

static rung_range range_of(const run *run, const rung_piece_plan *layout, int a) {
  const rung_share *share = &layout->share;
  if (share->flat[a] < 0) return (rung_range){&share->arrays[a], 0, share->arrays[a].count};
  return (rung_range){&run->job->task.arrays[a], share->flat[a], share->arrays[a].count};
}

/* What is in the lane before the piece starts. */
static bool is_read_ahead(const run *run, int lane, int a) {
  return run->ahead && run->layouts[lane].ways[a] == RUNG_STAGED;
}

static rung_status bring_in(run *run, int lane, int a) {
  rung_piece_plan *layout = &run->layouts[lane];
  rung_view *inner = &layout->task.arrays[a];
  const rung_range outer = range_of(run, layout, a);
  if (inner->count == 0 || layout->ways[a] == RUNG_DIRECT) return RUNG_OK;
  inner->data = array_at(run, lane, a);
  if (layout->ways[a] == RUNG_STAGED)
    return rung_copy_in(run->context, &outer, inner->data, run->beside);
  if (layout->share.flat[a] >= 0) return rung_pack_range(run->context, &outer, inner->data);
  return rung_pack(run->context, inner, outer.view);
}

static rung_status bring_out(run *run, int lane, int a) {
  const rung_piece_plan *layout = &run->layouts[lane];
  const rung_view *inner = &layout->task.arrays[a];
  const rung_range outer = range_of(run, layout, a);
  if (inner->count == 0 || layout->ways[a] == RUNG_DIRECT) return RUNG_OK;
  if (layout->ways[a] == RUNG_STAGED)
    return rung_copy_out(run->context, &outer, inner->data, run->beside);
  return rung_pack(run->context, outer.view, inner);
}

/* What queues are to wait for. */
static rung_status order(run *run, rung_queue queue, rung_queue after, int event) {
  const rung_backend *backend = run->context->backend;
  if (!run->beside) return RUNG_OK;
  const rung_status status =
      backend->record(run->context->state, after, event, &run->context->error);
  if (status != RUNG_OK) return status;
  return backend->await(run->context->state, queue, event, &run->context->error);
}

static rung_status start(run *run, int lane) {
  rung_piece_plan *layout = &run->layouts[lane];
  rung_context *context = run->context;
  rung_status status = find_memory(run, layout);
  for (int a = 0; a < run->job->inputs && status == RUNG_OK; a++)
    if (!is_read_ahead(run, lane, a)) status = bring_in(run, lane, a);
  for (int a = run->job->inputs; a < run->job->arrays; a++)
    if (layout->task.arrays[a].count > 0 && layout->ways[a] != RUNG_DIRECT)
      layout->task.arrays[a].data = array_at(run, lane, a);
  if (status == RUNG_OK) status = order(run, RUNG_WORK, RUNG_COPIES, RUNG_EVENT_INPUTS);
  if (status != RUNG_OK) return status;
  status = rung_row_run(run->plan->rows[layout->piece.stage], &layout->task);
  if (status != RUNG_OK)
    rung_zeros_spoilt(context);
  else if (run->beside)
    status = context->backend->record(context->state, RUNG_WORK, RUNG_EVENT_WORK + lane,
                                      &context->error);
  return status;
}

/* Room for a part's results. Few of a device's go to the context's memory, which is pinned where
 * there is such: their copy follows the kernel without the host, which waits once. NULL: there is
 * none. */
enum { FEW = 64 << 10 };
static char *room_for_results(const run *run, size_t bytes, bool *kept) {
  rung_context *context = run->context;
  char *memory = NULL;
  *kept = context->device.kind != RUNG_CPU && bytes <= FEW && !run->beside;
  if (!*kept) return malloc(bytes + 1);
  return rung_chunk_buffers(context, FEW, &memory) == RUNG_OK ? memory : NULL;
}

/* The part's results to the host, by one copy, for they lie one behind the other; and into the
 * state. */
static rung_status take(run *run, const rung_piece_plan *layout) {
  const rung_job *job = run->job;
  rung_view results[RUNG_TASK_ARRAYS] = {{0}};
  const char *first = NULL, *end = NULL;
  for (int a = job->inputs; a < job->arrays; a++) {
    results[a] = layout->task.arrays[a];
    if (results[a].count == 0) continue;
    if (first == NULL) first = results[a].data;
    end = results[a].data + rung_view_bytes(&results[a]);
  }
  const int64_t bytes = end - first;
  bool kept;
  char *memory = room_for_results(run, (size_t)bytes, &kept);
  if (memory == NULL)
    return rung_fail(&run->context->error, RUNG_OUT_OF_MEMORY,
                     "no memory for %lld bytes of results of a part", (long long)bytes);
  for (int a = job->inputs; a < job->arrays; a++)
    results[a] = results[a].count > 0
                     ? rung_view_compact(memory + (results[a].data - first), results[a].dtype,
                                         results[a].ndim, results[a].shape)
                     : (rung_view){0};
  const rung_view all = rung_view_compact(memory, RUNG_U8, 1, &bytes);
  rung_status status =
      rung_copy_out(run->context, &(rung_range){&all, 0, bytes}, first, run->beside);
  if (status == RUNG_OK && job->stretch != NULL)
    status = job->stretch->take(job->stretch->to, &layout->piece, results);
  else if (status == RUNG_OK)
    (void)job->cut->take(job->task.problem, &layout->piece, results, run->state);
  if (!kept) free(memory);
  return status;
}

static rung_status complete(run *run, int lane) {
  const rung_piece_plan *layout = &run->layouts[lane];
  rung_context *context = run->context;
  rung_status status = RUNG_OK;
  if (run->beside)
    status = context->backend->await(context->state, RUNG_COPIES, RUNG_EVENT_WORK + lane,
                                     &context->error);
  if (status == RUNG_OK && layout->piece.stage == RUNG_PARTS) return take(run, layout);
  for (int a = run->job->inputs; a < run->job->arrays && status == RUNG_OK; a++)
    status = bring_out(run, lane, a);
  return status;
}

typedef struct errand {
  run *run;
  int lane; /* to be read into */
  rung_status before, read;
  rung_error error; /* of reading: the context's is the other thread's */
} errand;

static void run_before(void *arg) {
  errand *two = arg;
  two->before = drain(two->run);
}

static void read_lane(void *arg) {
  errand *two = arg;
  run *run = two->run;
  rung_piece_plan *layout = &run->layouts[two->lane];
  for (int a = 0; a < run->job->inputs && two->read == RUNG_OK; a++) {
    rung_view *inner = &layout->task.arrays[a];
    const rung_range outer = range_of(run, layout, a);
    if (inner->count == 0 || !is_read_ahead(run, two->lane, a)) continue;
    inner->data = array_at(run, two->lane, a);
    two->read = rung_read_ahead(run->context, &outer, inner->data, &two->error);
  }
}

/* Reads a piece while the one before is run and completed; it is started by the next. */
static rung_status push_ahead(run *run) {
  errand two = {.run = run, .lane = run->next};
  const rung_status status = find_memory(run, &run->layouts[two.lane]);
  if (status != RUNG_OK) return status;
  if (run->pending)
    rung_parallel_beside(run_before, read_lane, &two);
  else
    read_lane(&two);
  if (two.before != RUNG_OK) return two.before;
  if (two.read != RUNG_OK) run->context->error = two.error;
  run->next = 1 - two.lane;
  run->pending = two.read == RUNG_OK;
  return two.read;
}

/* Starts a piece, and completes the one before. */
static rung_status push(run *run, const rung_piece *piece) {
  const int lane = run->next;
  if (!rung_plan_lay_out(run->plan, piece, run->state, &run->layouts[lane])) return RUNG_OK;
  if (run->ahead) return push_ahead(run);
  rung_status status = start(run, lane);
  if (run->plan->lanes == 1) return status == RUNG_OK ? complete(run, lane) : status;
  if (status == RUNG_OK) status = drain(run);
  run->next = 1 - lane;
  run->pending = true;
  return status;
}

/* ---- all pieces ------------------------------------------------------------------------------
 */

/* The ranges of axes [from, to) one further; false: they were the last. */
static bool advance(const rung_plan *plan, int from, int to, rung_piece *piece) {
  for (int k = to - 1; k >= from; k--) {
    const rung_axis *axis = &plan->job->axis[k];
    piece->first[k] += piece->count[k];
    const bool more = piece->first[k] < axis->extent;
    if (!more) piece->first[k] = 0;
    piece->count[k] = rung_axis_range(axis, plan->count[k], piece->first[k]);
    if (more) return true;
  }
  return false;
}

static rung_status push_parts(run *run, const rung_piece *block, rung_stage stage, int combined) {
  const rung_plan *plan = run->plan;
  rung_piece piece = *block;
  rung_status status;
  piece.stage = stage;
  for (int k = combined; k < plan->job->axes; k++)
    piece.count[k] = rung_axis_range(&plan->job->axis[k], plan->count[k], piece.first[k]);
  do status = push(run, &piece);
  while (status == RUNG_OK && advance(plan, combined, plan->job->axes, &piece));
  return status == RUNG_OK ? drain(run) : status;
}

rung_status rung_deliver(rung_context *context, const rung_view *to, const rung_view *from) {
  const size_t bytes = rung_view_bytes(from);
  if (to->place == RUNG_HOST) {
    rung_view_copy(to, from);
    return RUNG_OK;
  }
  if (to->place == RUNG_STORED) return rung_store_write(context, to, from->data);
  rung_view inner = *from;
  void *memory = to->data;
  rung_status status = RUNG_OK;
  if (!rung_view_is_compact(to)) status = rung_scratch(context, bytes, &memory);
  inner.data = memory;
  inner.place = to->place;
  inner.device = to->device;
  if (status == RUNG_OK)
    status = context->backend->copy(context->state, memory, from->data, bytes, RUNG_TO_DEVICE,
                                    &context->error);
  if (status == RUNG_OK && memory != to->data) status = rung_pack(context, to, &inner);
  return status == RUNG_OK ? context->backend->synchronize(context->state, &context->error)
                           : status;
}

/* The block's outputs from the state of all its parts; none where the parts run again. */
static rung_status finish(run *run, const rung_piece *block) {
  const rung_job *job = run->job;
  rung_view outputs[RUNG_TASK_ARRAYS] = {{0}};
  rung_piece_plan *layout = &run->layouts[run->next]; /* nothing is under way */
  rung_status status = RUNG_OK;
  if (job->cut->again) {
    job->cut->finish(job->task.problem, block, run->state, outputs);
    return RUNG_OK;
  }
  (void)rung_plan_share(run->plan, block, NULL, layout);
  const rung_view *arrays = layout->share.arrays;
  for (int a = job->inputs; a < job->arrays && status == RUNG_OK; a++) {
    if (arrays[a].count == 0) continue;
    void *memory = malloc(rung_view_bytes(&arrays[a]));
    if (memory == NULL)
      status = rung_fail(&run->context->error, RUNG_OUT_OF_MEMORY, "no memory for %zu bytes of %s",
                         rung_view_bytes(&arrays[a]), job->names[a]);
    else
      outputs[a] = rung_view_compact(memory, arrays[a].dtype, arrays[a].ndim, arrays[a].shape);
  }
  if (status == RUNG_OK) job->cut->finish(job->task.problem, block, run->state, outputs);
  for (int a = job->inputs; a < job->arrays; a++) {
    if (outputs[a].count > 0 && status == RUNG_OK)
      status = rung_deliver(run->context, &arrays[a], &outputs[a]);
    free(outputs[a].data);
  }
  run->memory = NULL; /* it may be another one now */
  return status;
}

/* All parts of a block, and what they come to. */
static rung_status run_block(run *run, const rung_piece *block, int combined) {
  const rung_cut *cut = run->job->cut;
  const size_t bytes = cut->state_bytes(run->job->task.problem, block);
  run->state = calloc(1, bytes);
  if (run->state == NULL)
    return rung_fail(&run->context->error, RUNG_OUT_OF_MEMORY,
                     "no memory for %zu bytes of the results of parts", bytes);
  rung_status status = push_parts(run, block, RUNG_PARTS, combined);
  if (status == RUNG_OK) status = finish(run, block);
  if (status == RUNG_OK && cut->again) status = push_parts(run, block, RUNG_AGAIN, combined);
  free(run->state);
  run->state = NULL;
  return status;
}

static rung_status run_stretch(run *run, const rung_stretch *stretch) {
  const int last = run->job->axes - 1;
  rung_piece block = {0};
  for (int k = 0; k < last; k++) block.count[k] = run->job->axis[k].extent;
  block.first[last] = stretch->first;
  run->state = stretch->state;
  return push_parts(run, &block, stretch->stage, last);
}

static rung_status run_pieces(run *run) {
  const rung_plan *plan = run->plan;
  const rung_job *job = plan->job;
  rung_piece piece = {.stage = RUNG_WHOLE};
  if (job->stretch != NULL) return run_stretch(run, job->stretch);
  int combined = 0; /* the first combined axis, where those are cut; else past the last axis */
  while (combined < job->axes && !(plan->combined && job->axis[combined].combined)) combined++;
  for (int k = 0; k < job->axes; k++)
    piece.count[k] =
        k < combined ? rung_axis_range(&job->axis[k], plan->count[k], 0) : job->axis[k].extent;
  rung_status status;
  do status = plan->combined ? run_block(run, &piece, combined) : push(run, &piece);
  while (status == RUNG_OK && advance(plan, 0, combined, &piece));
  return status == RUNG_OK ? drain(run) : status;
}

/* Whether copies of the first piece, which is as long as any, had better go beside the work. */
static bool goes_beside(const run *run) {
  const rung_piece_plan *layout = &run->layouts[0];
  size_t most = 0;
  for (int a = 0; a < run->job->arrays; a++)
    if (layout->ways[a] == RUNG_STAGED && rung_view_bytes(&layout->task.arrays[a]) > most)
      most = rung_view_bytes(&layout->task.arrays[a]);
  return (run->plan->lanes == 2 && !run->ahead) || rung_goes_beside(run->context, most);
}

/* The first array that is copied from the host or to it; -1: none. */
static int staged_one(const run *run) {
  for (int a = 0; a < run->job->arrays; a++)
    if (run->layouts[0].ways[a] == RUNG_STAGED && run->layouts[0].task.arrays[a].count > 0)
      return a;
  return -1;
}

rung_status rung_run_reaches(rung_context *context, const rung_job *job) {
  for (int a = 0; a < job->arrays; a++) {
    const rung_view *view = &job->task.arrays[a];
    if (view->count > 0 && view->place == RUNG_DEVICE && !rung_is_local(context, view))
      return rung_fail(
          &context->error, RUNG_BAD_PLACE,
          "%s lies in the memory of cuda:%d, which %s cannot reach; expected: an array "
          "in host memory, or a context opened on that device",
          job->names[a], view->device, context->device.name);
  }
  return RUNG_OK;
}

/* What comes before the ranges of RUNG_AGAIN is known of those of RUNG_PARTS alone. */
static rung_status keep_range(const rung_plan *plan, rung_stretch *stretch) {
  const int64_t range = plan->count[plan->job->axes - 1];
  if (stretch->stage == RUNG_AGAIN && range != stretch->range)
    return rung_fail(&plan->context->error, RUNG_OUT_OF_MEMORY,
                     "the device had memory for ranges of %lld elements, and has no more; "
                     "expected: nobody else who takes it meanwhile",
                     (long long)stretch->range);
  stretch->range = range;
  return RUNG_OK;
}

/* By the rung that is preferred for such jobs; where it cannot be, by the one that any call takes.
 */
static rung_status make_plan(rung_context *context, rung_job *job, const rung_call *call,
                             rung_plan *plan, rung_piece_plan *first) {
  rung_call instead;
  if (rung_preferred(context, job, call, &instead)) {
    job->task.block = instead.block;
    if (rung_plan_make(context, job, &instead, plan, first) == RUNG_OK) return RUNG_OK;
    job->task.block = call->block;
    context->error.status = RUNG_OK;
    context->error.sentence[0] = '\0';
  }
  return rung_plan_make(context, job, call, plan, first);
}

/* ---- jobs like one of the last ----------------------------------------------------------------
 */

/* Whether rungs may read and write the arrays as they lie, though an output be an input too. */
static bool is_apart(const rung_job *job, const rung_row *row) {
  for (int in = 0; in < job->inputs && !row->in_place; in++)
    for (int out = job->inputs; out < job->arrays; out++)
      if (rung_views_overlap(&job->task.arrays[in], &job->task.arrays[out])) return false;
  return true;
}

/* What is known of such a job that needs no plan, as its arrays are taken as they lie and no limit
 * is set; NULL: it needs one. */
static const rung_recalled *known_of(rung_context *context, const rung_job *job,
                                     const rung_call *call) {
  rung_recall_key key;
  rung_call instead;
  if (job->stretch != NULL || context->memory_limit > 0) return NULL;
  rung_recall_key_of(job, call, &key);
  const rung_recalled *known = rung_recall(context, &key);
  if (known == NULL || !is_apart(job, known->row)) return NULL;
  return rung_preferred(context, job, call, &instead) ? NULL : known; /* since it was kept */
}

static rung_status run_known(rung_context *context, rung_job *job, const rung_recalled *known) {
  rung_task *task = &job->task;
  const rung_row *row = known->row;
  const rung_needs needs = known->needs;
  rung_status status = rung_scratch(context, whole(needs.scratch), &task->scratch);
  if (status == RUNG_OK) status = rung_zeros(context, needs.zeros, &task->zeros);
  if (status == RUNG_OK)
    status = rung_host_scratch(context, needs.host_scratch, &task->host_scratch);
  if (status != RUNG_OK || job->reserve) return status;
  task->stream = context->backend->stream(context->state);
  task->state = context->state;
  status = rung_row_run(row, task);
  if (status != RUNG_OK) rung_zeros_spoilt(context);
  return status;
}

/* No elements along an axis that is not combined. */
static bool is_empty(const rung_job *job) {
  for (int k = 0; k < job->axes; k++)
    if (job->axis[k].extent == 0 && !job->axis[k].combined) return true;
  return false;
}

static rung_status run_planned(rung_context *context, rung_job *job, const rung_call *call,
                               const char **used) {
  rung_plan plan;
  run run = {.plan = &plan, .context = context, .job = job};
  rung_status status = make_plan(context, job, call, &plan, &run.layouts[0]);
  if (status == RUNG_OK && job->stretch != NULL) status = keep_range(&plan, job->stretch);
  if (status != RUNG_OK) return status;
  if (is_empty(job)) goto done;
  if (job->reserve) return reserve(&run);
  run.lane = plan.moved;
  run.scratch = plan.needs.scratch;
  run.ahead = plan.lanes == 2 && context->device.kind == RUNG_CPU;
  run.beside = goes_beside(&run);
  const int staged = staged_one(&run);
  if (context->capturing && (staged >= 0 || plan.cut))
    return rung_fail(&context->error, RUNG_BAD_PLACE,
                     "%s has to be %s, which waits, and the stream is under capture; expected: %s",
                     job->names[staged < 0 ? 0 : staged],
                     staged < 0 ? "cut to fit the memory" : "copied from or to host memory",
                     staged < 0 ? "more device memory" : "an array in device memory");
  /* What was queued before may still be at the scratch. */
  status = order(&run, RUNG_COPIES, RUNG_WORK, RUNG_EVENT_WORK);
  if (status == RUNG_OK) status = plan.cut ? run_pieces(&run) : start(&run, 0);
  if (status == RUNG_OK && !plan.cut) status = complete(&run, 0);
  if (status != RUNG_OK && staged >= 0) context->backend->synchronize(context->state, NULL);
done:
  *used = plan.rows[plan.combined ? (job->cut->again ? RUNG_AGAIN : RUNG_PARTS) : RUNG_WHOLE]->name;
  return status;
}

rung_status rung_run_job(rung_context *context, rung_job *job, const rung_call *call,
                         const char **used) {
  job->task.device = &context->device;
  job->task.error = &context->error;
  job->task.block = call->block;
  rung_status status = rung_run_reaches(context, job);
  if (status != RUNG_OK) return status;
  const rung_recalled *known = known_of(context, job, call);
  if (known != NULL) {
    *used = known->row->name;
    return is_empty(job) ? RUNG_OK : run_known(context, job, known);
  }
  return run_planned(context, job, call, used);
}

rung_status rung_run_stretch(rung_context *context, const rung_job *job, const rung_call *known,
                             rung_stretch *stretch, const char **used) {
  rung_job part = *job;
  part.stretch = stretch;
  part.axis[part.axes - 1].extent = stretch->first + stretch->count;
  return rung_run_job(context, &part, known, used);
}

rung_status rung_run(rung_context *context, rung_job *job, rung_call *call) {
  rung_call known;
  const char *used = NULL;
  rung_status status = rung_call_begin(context, call, &known);
  if (status != RUNG_OK) return status;
  status = rung_run_job(context, job, &known, &used);
  return rung_call_end(context, status, call, used);
}
