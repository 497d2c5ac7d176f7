#include "core/room.h"

#include <stdlib.h>

#include "core/plan.h"

bool rung_room_goes_on_device(const rung_context *context, const rung_meeting *meeting) {
  return context->device.kind != RUNG_CPU && context->memory_limit == 0 &&
         meeting->ranks.exchange_anywhere != NULL;
}

rung_status rung_room_make(rung_room *room, rung_context *context, const rung_meeting *meeting,
                           size_t bytes, const char *what) {
  void *memory;
  *room = (rung_room){.context = context};
  if (rung_room_goes_on_device(context, meeting) &&
      rung_gathered(context, bytes, &memory) == RUNG_OK) {
    room->memory = memory;
    room->on_device = true;
    return RUNG_OK;
  }
  rung_error_clear(&context->error);
  room->memory = malloc(bytes > 0 ? bytes : 1); /* to clear it may take as long as a message */
  return room->memory != NULL ? RUNG_OK : rung_ranks_no_memory(meeting, bytes, what);
}

void rung_room_end(rung_room *room) {
  if (!room->on_device) free(room->memory);
  room->memory = NULL;
}

rung_view rung_room_view(const rung_room *room, char *data, rung_dtype dtype, int ndim,
                         const int64_t *shape) {
  rung_view view = rung_view_compact(data, dtype, ndim, shape);
  if (!room->on_device || room->context->device.kind != RUNG_CUDA) return view;
  view.place = RUNG_DEVICE;
  view.device = room->context->device.index;
  return view;
}

/* After a failure, too, copies may be under way. */
static rung_status wait_for(const rung_room *room, rung_status status) {
  rung_context *context = room->context;
  rung_error *error = status == RUNG_OK ? &context->error : NULL;
  const rung_status waited = context->backend->synchronize(context->state, error);
  return status == RUNG_OK ? waited : status;
}

static bool goes_beside(const rung_room *room, const rung_view *view) {
  return rung_goes_beside(room->context, rung_view_bytes(view));
}

rung_status rung_room_fetch(const rung_room *room, const rung_range *from, char *to) {
  if (!room->on_device || from->count <= 0) return rung_fetch(room->context, from, to);
  return wait_for(room, rung_is_local(room->context, from->view)
                            ? rung_pack_range(room->context, from, to)
                            : rung_copy_in(room->context, from, to, goes_beside(room, from->view)));
}

rung_status rung_room_deliver(const rung_room *room, const rung_view *to, const rung_view *from) {
  rung_context *context = room->context;
  if (from->count == 0) return RUNG_OK;
  if (!room->on_device) return rung_deliver(context, to, from);
  return wait_for(room, rung_is_local(context, to)
                            ? rung_pack(context, to, from)
                            : rung_copy_out(context, &(rung_range){to, 0, to->count}, from->data,
                                            goes_beside(room, to)));
}

/* Whether the room's device has the elements. */
static bool lies_here(const rung_room *room, const rung_range *from) {
  return room->on_device && from->count > 0 && rung_is_local(room->context, from->view);
}

rung_status rung_room_queue(const rung_room *room, const rung_range *from, char *to) {
  rung_context *context = room->context;
  if (lies_here(room, from)) return rung_pack_range(context, from, to);
  if (room->on_device && from->view->place == RUNG_HOST && !goes_beside(room, from->view))
    return rung_copy_in(context, from, to, false);
  return rung_room_fetch(room, from, to);
}

rung_status rung_room_lend(const rung_room *room, const rung_range *from, char *to,
                           const char **mine) {
  const rung_view *view = from->view;
  *mine = to;
  if (!lies_here(room, from) || !rung_view_is_compact(view)) return rung_room_fetch(room, from, to);
  *mine = view->data + (size_t)from->first * rung_dtype_bytes(view->dtype);
  return wait_for(room, RUNG_OK); /* for who has written them */
}

rung_status rung_room_share(const rung_room *room, const rung_range *from, char *to,
                            const char **mine) {
  const rung_status status = rung_room_lend(room, from, to, mine);
  return status != RUNG_OK || *mine == to ? status : rung_room_queue(room, from, to);
}
