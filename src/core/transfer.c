#include "core/transfer.h"

#include "backend/cpu/parallel.h"

/* ---- between a host array and a buffer, by several threads -------------------------------------
 */

/* Bytes a thread takes at a time; more threads than these find no more memory bandwidth than the
 * link to a device has. */
enum { PORTION = 1 << 18, MOST_THREADS = 8 };

typedef struct moving {
  const rung_range *range;
  char *buffer;
  int64_t portion; /* elements */
  bool in;         /* into the buffer */
} moving;

typedef struct moving_part {
  char *buffer;
  bool in;
} moving_part;

static rung_status move_box(void *user, const rung_view *box, int64_t before) {
  const moving_part *part = user;
  const rung_view compact =
      rung_view_compact(part->buffer + before * (int64_t)rung_dtype_bytes(box->dtype), box->dtype,
                        box->ndim, box->shape);
  rung_view_copy(part->in ? &compact : box, part->in ? box : &compact);
  return RUNG_OK;
}

static void move_portion(void *arg, int64_t portion, int thread) {
  const moving *move = arg;
  const int64_t at = portion * move->portion, left = move->range->count - at;
  moving_part part = {move->buffer + at * (int64_t)rung_dtype_bytes(move->range->view->dtype),
                      move->in};
  (void)thread;
  (void)rung_view_boxes(move->range->view, move->range->first + at,
                        left < move->portion ? left : move->portion, move_box, &part);
}

static void move(const rung_range *range, char *buffer, bool in) {
  moving move = {.range = range, .buffer = buffer, .in = in};
  move.portion = PORTION / (int64_t)rung_dtype_bytes(range->view->dtype);
  const int64_t portions = (range->count + move.portion - 1) / move.portion;
  const int processors = portions > 1 ? rung_processors() : 1;
  rung_parallel(processors < MOST_THREADS ? processors : MOST_THREADS, portions, move_portion,
                &move);
}

/* ---- between the host and the device -----------------------------------------------------------
 */

bool rung_goes_beside(const rung_context *context, size_t bytes) {
  return context->backend->copy_beside != NULL && bytes >= RUNG_BESIDE_LEAST;
}

/* A copy between a buffer and the device; its buffer's event says that it is done. Without a queue
 * of its own it is done at once. */
static rung_status queue(rung_context *context, int buffer, void *to, const void *from,
                         size_t bytes, rung_copy way, bool beside) {
  const rung_backend *backend = context->backend;
  rung_error *error = &context->error;
  rung_status status;
  if (!beside) {
    status = backend->copy(context->state, to, from, bytes, way, error);
    return status == RUNG_OK ? backend->synchronize(context->state, error) : status;
  }
  status = backend->copy_beside(context->state, to, from, bytes, way, error);
  if (status != RUNG_OK) return status;
  return backend->record(context->state, RUNG_COPIES, RUNG_EVENT_BUFFER + buffer, error);
}

static rung_status wait_for(rung_context *context, int buffer, bool beside) {
  if (!beside) return RUNG_OK;
  return context->backend->wait(context->state, RUNG_EVENT_BUFFER + buffer, &context->error);
}

/* Chunk number `chunk` of a range. */
static rung_range chunk_of(const rung_range *range, int64_t chunk, size_t *at, size_t *bytes) {
  const size_t element = rung_dtype_bytes(range->view->dtype);
  const int64_t each = RUNG_CHUNK / (int64_t)element, before = chunk * each;
  const int64_t left = range->count - before;
  const rung_range part = {range->view, range->first + before, left < each ? left : each};
  *at = (size_t)before * element;
  *bytes = (size_t)part.count * element;
  return part;
}

static int64_t chunks_of(const rung_range *range) {
  const int64_t each = RUNG_CHUNK / (int64_t)rung_dtype_bytes(range->view->dtype);
  return (range->count + each - 1) / each;
}

static rung_status in_by_chunks(rung_context *context, const rung_range *from, char *to,
                                bool beside) {
  char *buffers;
  rung_status status = rung_chunk_buffers(context, RUNG_CHUNKS * (size_t)RUNG_CHUNK, &buffers);
  for (int64_t k = 0; k < chunks_of(from) && status == RUNG_OK; k++) {
    const int buffer = (int)(k % RUNG_CHUNKS);
    size_t at, bytes;
    const rung_range chunk = chunk_of(from, k, &at, &bytes);
    if ((status = wait_for(context, buffer, beside)) != RUNG_OK) break;
    move(&chunk, buffers + buffer * (size_t)RUNG_CHUNK, true);
    status = queue(context, buffer, to + at, buffers + buffer * (size_t)RUNG_CHUNK, bytes,
                   RUNG_TO_DEVICE, beside);
  }
  return status;
}

/* As many copies ahead of the host as there are buffers. */
static rung_status out_by_chunks(rung_context *context, const rung_range *to, const char *from,
                                 bool beside) {
  char *buffers;
  rung_status status = rung_chunk_buffers(context, RUNG_CHUNKS * (size_t)RUNG_CHUNK, &buffers);
  const int64_t chunks = chunks_of(to);
  for (int64_t k = 0; k < chunks + RUNG_CHUNKS - 1 && status == RUNG_OK; k++) {
    const int64_t done = k - (RUNG_CHUNKS - 1);
    size_t at, bytes;
    if (k < chunks) {
      const int buffer = (int)(k % RUNG_CHUNKS);
      (void)chunk_of(to, k, &at, &bytes);
      status = queue(context, buffer, buffers + buffer * (size_t)RUNG_CHUNK, from + at, bytes,
                     RUNG_TO_HOST, beside);
    }
    if (status != RUNG_OK || done < 0 || done >= chunks) continue;
    const int buffer = (int)(done % RUNG_CHUNKS);
    const rung_range chunk = chunk_of(to, done, &at, &bytes);
    status = wait_for(context, buffer, beside);
    if (status == RUNG_OK) move(&chunk, buffers + buffer * (size_t)RUNG_CHUNK, false);
  }
  return status;
}

/* The range's first byte, if it is in one piece, else NULL. */
static char *address_of(const rung_range *range) {
  if (!rung_view_is_compact(range->view)) return NULL;
  return range->view->data + range->first * (int64_t)rung_dtype_bytes(range->view->dtype);
}

static size_t bytes_of(const rung_range *range) {
  return (size_t)range->count * rung_dtype_bytes(range->view->dtype);
}

rung_status rung_copy_in(rung_context *context, const rung_range *from, void *to, bool beside) {
  const rung_backend *backend = context->backend;
  rung_error *error = &context->error;
  const char *address = address_of(from);
  if (address != NULL && !beside)
    return backend->copy(context->state, to, address, bytes_of(from), RUNG_TO_DEVICE, error);
  if (address != NULL && backend->is_pinned(context->state, address))
    return backend->copy_beside(context->state, to, address, bytes_of(from), RUNG_TO_DEVICE, error);
  return in_by_chunks(context, from, to, beside);
}

rung_status rung_copy_out(rung_context *context, const rung_range *to, const void *from,
                          bool beside) {
  const rung_backend *backend = context->backend;
  char *address = address_of(to);
  if (address == NULL || (beside && !backend->is_pinned(context->state, address)))
    return out_by_chunks(context, to, from, beside);
  const rung_status status = queue(context, 0, address, from, bytes_of(to), RUNG_TO_HOST, beside);
  return status == RUNG_OK ? wait_for(context, 0, beside) : status;
}

/* ---- within the device -------------------------------------------------------------------------
 */

/* Backends pack two dimensions at a time: of more, the two longest, for every index of the
 * others. */
rung_status rung_pack(rung_context *context, const rung_view *to, const rung_view *from) {
  if (to->ndim <= 2) return context->backend->pack(context->state, to, from, &context->error);
  int shortest = 0;
  for (int d = 1; d < to->ndim; d++)
    if (to->shape[d] < to->shape[shortest]) shortest = d;
  rung_status status = RUNG_OK;
  for (int64_t i = 0; i < to->shape[shortest] && status == RUNG_OK; i++) {
    rung_view to_part = *to, from_part = *from;
    rung_view_drop(&to_part, shortest, i);
    rung_view_drop(&from_part, shortest, i);
    status = rung_pack(context, &to_part, &from_part);
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
