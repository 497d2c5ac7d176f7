#include "core/transfer.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "backend/cpu/parallel.h"
#include "core/dimensions.h"

/* ---- between a host array and a buffer
 * -----------------------------------------------------------
 */

typedef struct moving {
  char *buffer;
  bool in; /* into the buffer */
  rung_error *error;
} moving;

/* Run by run of neighbours. */
static rung_status move_stored(const moving *move, const rung_view *box, char *buffer) {
  const size_t bytes = rung_view_bytes(box);
  const int64_t offset = (int64_t)(uintptr_t)box->data - RUNG_STORE_BASE;
  const rung_store *store = box->store;
  char why[RUNG_TEXT] = "";
  rung_status status = RUNG_OK;
  if (!rung_view_is_compact(box)) {
    const size_t row = bytes / (size_t)box->shape[0];
    for (int64_t i = 0; i < box->shape[0] && status == RUNG_OK; i++) {
      rung_view part = *box;
      rung_view_drop(&part, 0, i);
      status = move_stored(move, &part, buffer + (size_t)i * row);
    }
    return status;
  }
  if ((move->in ? store->read(store->state, offset, bytes, buffer, why)
                : store->write(store->state, offset, bytes, buffer, why)) == 0)
    return RUNG_OK;
  why[RUNG_TEXT - 1] = '\0';
  return rung_fail(move->error, RUNG_FILE_FAILED, "a store cannot be %s at byte %lld%s%.400s",
                   move->in ? "read" : "written", (long long)offset, why[0] ? ": " : "", why);
}

static rung_status move_box(void *user, const rung_view *box, int64_t before) {
  const moving *move = user;
  char *buffer = move->buffer + before * (int64_t)rung_dtype_bytes(box->dtype);
  if (box->place == RUNG_STORED) return move_stored(move, box, buffer);
  const rung_view compact = rung_view_compact(buffer, box->dtype, box->ndim, box->shape);
  rung_view_copy(move->in ? &compact : box, move->in ? box : &compact);
  return RUNG_OK;
}

static rung_status move(const rung_range *range, char *buffer, bool in, rung_error *error) {
  moving move = {buffer, in, error};
  return rung_view_boxes(range->view, range->first, range->count, move_box, &move);
}

/* ---- between the host and the device -----------------------------------------------------------
 */

bool rung_goes_beside(const rung_context *context, size_t bytes) {
  return context->backend->copy_beside != NULL && bytes >= RUNG_BESIDE_LEAST;
}

/* A copy between a buffer and the device; its buffer's event says that it is done. Without a queue
 * of its own it is done at once. */
static rung_status queue(const rung_context *context, int buffer, void *to, const void *from,
                         size_t bytes, rung_copy way, bool beside, rung_error *error) {
  const rung_backend *backend = context->backend;
  rung_status status;
  if (!beside) {
    status = backend->copy(context->state, to, from, bytes, way, error);
    return status == RUNG_OK ? backend->synchronize(context->state, error) : status;
  }
  status = backend->copy_beside(context->state, to, from, bytes, way, error);
  if (status != RUNG_OK) return status;
  return backend->record(context->state, RUNG_COPIES, RUNG_EVENT_BUFFER + buffer, error);
}

static rung_status wait_for(const rung_context *context, int buffer, bool beside,
                            rung_error *error) {
  if (!beside) return RUNG_OK;
  return context->backend->wait(context->state, RUNG_EVENT_BUFFER + buffer, error);
}

/* ---- by chunks ---------------------------------------------------------------------------------
 */

/* What a thread is at. */
typedef struct stager {
  int turn;       /* its chunks so far */
  rung_range due; /* of the host's array: what the last turn's copy brings; no elements: nothing */
  rung_error error;
} stager;

typedef struct staging {
  const rung_context *context;
  const rung_range *range;
  char *device, *buffers;
  bool beside;
  rung_status (*stage)(struct staging *staging, int64_t chunk, int thread);
  atomic_bool failed;
  stager stagers[RUNG_STAGERS];
} staging;

static int64_t chunk_elements(const rung_range *range) {
  return RUNG_CHUNK / (int64_t)rung_dtype_bytes(range->view->dtype);
}

static rung_range chunk_of(const rung_range *range, int64_t chunk) {
  const int64_t each = chunk_elements(range), before = chunk * each, left = range->count - before;
  return (rung_range){range->view, range->first + before, left < each ? left : each};
}

static size_t bytes_of(const rung_range *range) {
  return (size_t)range->count * rung_dtype_bytes(range->view->dtype);
}

static int buffer_at(int thread, int turn) {
  return thread * RUNG_CHUNKS + turn % RUNG_CHUNKS;
}

static char *memory_of(const staging *staging, int buffer) {
  return staging->buffers + (size_t)buffer * RUNG_CHUNK;
}

static rung_status stage_in(staging *staging, int64_t chunk, int thread) {
  stager *own = &staging->stagers[thread];
  const int buffer = buffer_at(thread, own->turn++);
  char *memory = memory_of(staging, buffer);
  const rung_range part = chunk_of(staging->range, chunk);
  rung_status status = wait_for(staging->context, buffer, staging->beside, &own->error);
  if (status == RUNG_OK) status = move(&part, memory, true, &own->error);
  if (status != RUNG_OK) return status;
  return queue(staging->context, buffer, staging->device + chunk * RUNG_CHUNK, memory,
               bytes_of(&part), RUNG_TO_DEVICE, staging->beside, &own->error);
}

/* What the last turn's copy brings, to where it belongs. */
static rung_status take_due(staging *staging, int thread) {
  stager *own = &staging->stagers[thread];
  if (own->due.count == 0) return RUNG_OK;
  const int buffer = buffer_at(thread, own->turn - 1);
  const rung_status status = wait_for(staging->context, buffer, staging->beside, &own->error);
  if (status != RUNG_OK) return status;
  return move(&own->due, memory_of(staging, buffer), false, &own->error);
}

/* The next copy is queued before the last is waited for. */
static rung_status stage_out(staging *staging, int64_t chunk, int thread) {
  stager *own = &staging->stagers[thread];
  const int buffer = buffer_at(thread, own->turn);
  const rung_range part = chunk_of(staging->range, chunk);
  rung_status status = queue(staging->context, buffer, memory_of(staging, buffer),
                             staging->device + chunk * RUNG_CHUNK, bytes_of(&part), RUNG_TO_HOST,
                             staging->beside, &own->error);
  if (status == RUNG_OK) status = take_due(staging, thread);
  own->turn++;
  own->due = part;
  return status;
}

/* Of a store, where the device's memory is the host's: without a buffer between them. */
static rung_status read_chunk(staging *staging, int64_t chunk, int thread) {
  const rung_range part = chunk_of(staging->range, chunk);
  return move(&part, staging->device + chunk * RUNG_CHUNK, true, &staging->stagers[thread].error);
}

static rung_status write_chunk(staging *staging, int64_t chunk, int thread) {
  const rung_range part = chunk_of(staging->range, chunk);
  return move(&part, staging->device + chunk * RUNG_CHUNK, false, &staging->stagers[thread].error);
}

static bool is_direct(const rung_context *context, const rung_range *range) {
  return context->device.kind == RUNG_CPU && range->view->place == RUNG_STORED;
}

static void stage_chunk(void *arg, int64_t chunk, int thread) {
  staging *staging = arg;
  if (atomic_load(&staging->failed)) return;
  if (staging->stage(staging, chunk, thread) != RUNG_OK) atomic_store(&staging->failed, true);
}

static void take_last(void *arg, int64_t stager, int thread) {
  staging *staging = arg;
  (void)thread;
  if (atomic_load(&staging->failed)) return;
  if (take_due(staging, (int)stager) != RUNG_OK) atomic_store(&staging->failed, true);
}

static rung_status by_chunks(rung_context *context, staging *staging, rung_error *error) {
  const int64_t each = chunk_elements(staging->range);
  const bool direct = is_direct(context, staging->range);
  const int processors = direct ? context->device.threads : staging->beside ? rung_processors() : 1;
  const int threads = processors < RUNG_STAGERS ? processors : RUNG_STAGERS;
  rung_status status = RUNG_OK;
  if (!direct)
    status =
        rung_chunk_buffers(context, (size_t)threads * RUNG_CHUNKS * RUNG_CHUNK, &staging->buffers);
  /* Whatever the backend makes for its queue of copies is made here, by one thread. */
  if (status == RUNG_OK) status = wait_for(context, 0, staging->beside, error);
  if (status != RUNG_OK) return status;
  rung_parallel(threads, (staging->range->count + each - 1) / each, stage_chunk, staging);
  rung_parallel(threads, threads, take_last, staging);
  for (int t = 0; t < threads && status == RUNG_OK; t++)
    if ((status = staging->stagers[t].error.status) != RUNG_OK) *error = staging->stagers[t].error;
  return status;
}

/* The range's first byte, if it is in one piece, else NULL. */
static char *address_of(const rung_range *range) {
  if (range->view->place == RUNG_STORED || !rung_view_is_compact(range->view)) return NULL;
  return range->view->data + range->first * (int64_t)rung_dtype_bytes(range->view->dtype);
}

rung_status rung_copy_in(rung_context *context, const rung_range *from, void *to, bool beside) {
  const rung_backend *backend = context->backend;
  rung_error *error = &context->error;
  const char *address = address_of(from);
  if (address != NULL && !beside)
    return backend->copy(context->state, to, address, bytes_of(from), RUNG_TO_DEVICE, error);
  if (address != NULL && backend->is_pinned(context->state, address))
    return backend->copy_beside(context->state, to, address, bytes_of(from), RUNG_TO_DEVICE, error);
  staging staging = {.context = context,
                     .range = from,
                     .device = to,
                     .beside = beside,
                     .stage = is_direct(context, from) ? read_chunk : stage_in};
  return by_chunks(context, &staging, error);
}

rung_status rung_read_ahead(rung_context *context, const rung_range *from, void *to,
                            rung_error *error) {
  assert(is_direct(context, from));
  staging staging = {.context = context, .range = from, .device = to, .stage = read_chunk};
  return by_chunks(context, &staging, error);
}

rung_status rung_copy_out(rung_context *context, const rung_range *to, const void *from,
                          bool beside) {
  const rung_backend *backend = context->backend;
  rung_error *error = &context->error;
  char *address = address_of(to);
  if (address == NULL || (beside && !backend->is_pinned(context->state, address))) {
    staging staging = {.context = context,
                       .range = to,
                       .device = (char *)(uintptr_t)from,
                       .beside = beside,
                       .stage = is_direct(context, to) ? write_chunk : stage_out};
    return by_chunks(context, &staging, error);
  }
  const rung_status status =
      queue(context, 0, address, from, bytes_of(to), RUNG_TO_HOST, beside, error);
  return status == RUNG_OK ? wait_for(context, 0, beside, error) : status;
}

/* ---- within the device -------------------------------------------------------------------------
 */

/* Of three dimensions or more, those without which two are left whose elements are neighbours in
 * one array or the other: the widest, or where few elements would be left at a time the shortest.
 */
static int farthest(const rung_dimensions *d, int64_t count) {
  enum { FEW = 256 };
  const int near = d->count - 1;
  int near_out = near;
  for (int k = 0; k < near; k++)
    if (llabs(d->at[k].out) < llabs(d->at[near_out].out)) near_out = k;
  const int widest = near_out == 0 ? 1 : 0;
  int shortest = widest;
  for (int k = widest + 1; k < near; k++)
    if (k != near_out && d->at[k].extent < d->at[shortest].extent) shortest = k;
  return count / d->at[widest].extent < FEW ? shortest : widest;
}

static void give_dimensions(const rung_dimensions *d, rung_view *to, rung_view *from) {
  int64_t shape[RUNG_MAX_DIMS], in[RUNG_MAX_DIMS], out[RUNG_MAX_DIMS];
  for (int k = 0; k < d->count; k++) {
    shape[k] = d->at[k].extent;
    in[k] = d->at[k].in;
    out[k] = d->at[k].out;
  }
  rung_view_reshape(to, d->count, shape, out);
  rung_view_reshape(from, d->count, shape, in);
}

/* Some backends pack two dimensions at a time: of more, what is left of them where neighbours are
 * merged, for every index of the others. */
rung_status rung_pack(rung_context *context, const rung_view *to, const rung_view *from) {
  const rung_backend *backend = context->backend;
  if (to->ndim <= backend->packs || to->count == 0)
    return backend->pack(context->state, to, from, &context->error);
  rung_view to_part = *to, from_part = *from;
  rung_dimensions d = rung_dimensions_of(from, RUNG_ALL, to);
  rung_dimensions_by_stride(&d);
  rung_dimensions_merge(&d);
  give_dimensions(&d, &to_part, &from_part);
  if (d.count <= backend->packs)
    return backend->pack(context->state, &to_part, &from_part, &context->error);
  const int far = farthest(&d, to->count);
  rung_status status = RUNG_OK;
  for (int64_t i = 0; i < d.at[far].extent && status == RUNG_OK; i++) {
    rung_view to_box = to_part, from_box = from_part;
    rung_view_drop(&to_box, far, i);
    rung_view_drop(&from_box, far, i);
    status = rung_pack(context, &to_box, &from_box);
  }
  return status;
}

typedef struct packing {
  rung_context *context;
  char *to;
} packing;

static rung_status pack_box(void *user, const rung_view *box, int64_t before) {
  const packing *pack = user;
  rung_view compact = rung_view_compact(pack->to + before * (int64_t)rung_dtype_bytes(box->dtype),
                                        box->dtype, box->ndim, box->shape);
  compact.place = box->place;
  compact.device = box->device;
  return rung_pack(pack->context, &compact, box);
}

rung_status rung_pack_range(rung_context *context, const rung_range *from, void *to) {
  packing pack = {context, to};
  return rung_view_boxes(from->view, from->first, from->count, pack_box, &pack);
}

rung_status rung_fetch(rung_context *context, const rung_range *from, void *to) {
  const size_t bytes = (size_t)from->count * rung_dtype_bytes(from->view->dtype);
  void *memory;
  if (from->count <= 0) return RUNG_OK;
  if (from->view->place != RUNG_DEVICE) return move(from, to, true, &context->error);
  rung_status status = rung_scratch(context, bytes, &memory);
  if (status == RUNG_OK) status = rung_pack_range(context, from, memory);
  if (status == RUNG_OK)
    status =
        context->backend->copy(context->state, to, memory, bytes, RUNG_TO_HOST, &context->error);
  return status == RUNG_OK ? context->backend->synchronize(context->state, &context->error)
                           : status;
}

rung_status rung_store_write(rung_context *context, const rung_view *to, const void *from) {
  const rung_range all = {to, 0, to->count};
  return move(&all, (char *)(uintptr_t)from, false, &context->error);
}
