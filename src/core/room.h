/* Room for what comes from other ranks: compact arrays in the memory of the context's device where
 * parcels may lie there, so that they go from device to device; else in the host's. */
#ifndef RUNG_CORE_ROOM_H
#define RUNG_CORE_ROOM_H

#include "core/ranks.h"
#include "core/transfer.h"

typedef struct rung_room {
  rung_context *context;
  char *memory;
  bool on_device; /* it is the context's, which keeps it for the next room; parcels that lie in it
                     go by exchange_anywhere() */
} rung_room;

#ifdef __cplusplus
extern "C" {
#endif

/* Whether it is to lie on the device: a CPU's memory is the host's, and what a limit is set to is
 * not for rooms. */
bool rung_room_goes_on_device(const rung_context *context, const rung_meeting *meeting);

/* `bytes` of memory; contents undefined. Where the device has no more, the host's. Of a context one
 * at a time. In every case rung_room_end() is due. */
rung_status rung_room_make(rung_room *room, rung_context *context, const rung_meeting *meeting,
                           size_t bytes, const char *what);
void rung_room_end(rung_room *room);

/* Bytes of an array in a room, so that the next one is aligned. */
static inline size_t rung_room_bytes(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/* The array at `data`, which lies in the room. */
rung_view rung_room_view(const rung_room *room, char *data, rung_dtype dtype, int ndim,
                         const int64_t *shape);

/* Elements of an array, wherever it is, to `to` in the room; and all of an array in the room, to
 * one of the same shape, wherever it is. They return when the elements are there. The scratch may
 * be another one after either. */
rung_status rung_room_fetch(const rung_room *room, const rung_range *from, char *to);
rung_status rung_room_deliver(const rung_room *room, const rung_view *to, const rung_view *from);

/* As rung_room_fetch(), but they may still be on their way, ahead of what is queued later, and stay
 * where they are until that is done. */
rung_status rung_room_queue(const rung_room *room, const rung_range *from, char *to);

/* Elements that other ranks are to have, at *mine: where they lie, if that is as good, or fetched
 * to `to`. */
rung_status rung_room_lend(const rung_room *room, const rung_range *from, char *to,
                           const char **mine);
/* Both: lent at *mine, and queued to `to`. */
rung_status rung_room_share(const rung_room *room, const rung_range *from, char *to,
                            const char **mine);

#ifdef __cplusplus
}
#endif
#endif
