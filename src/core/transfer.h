/* Arrays on their way between the host's memory and a device's, and within the device's.
 *
 * The runtime copies host memory that is not pinned through buffers of its own, with one thread,
 * and nothing else goes on meanwhile. So larger arrays go through pinned buffers of the context in
 * chunks, by several threads of the host. Each has two buffers of its own and takes chunk after
 * chunk: it fills one buffer, or empties it, while the device is at the other, on a queue of copies
 * beside the work (backend.h), so that a kernel may run too. No thread waits for another. */
#ifndef RUNG_CORE_TRANSFER_H
#define RUNG_CORE_TRANSFER_H

#include <assert.h>

#include "core/context.h"

/* Bytes of a buffer, how many a thread has, and the most threads, one a processor. A link of 55
 * GB/s takes 38 us for a chunk and three for the next copy to begin. A thread fills a chunk in 180
 * to 400 us, so that eight threads keep the link busy. What was tried and is slower, with figures:
 * docs/results/h200/staging.txt. */
enum { RUNG_CHUNK = 2 << 20, RUNG_CHUNKS = 2, RUNG_STAGERS = 8 };

/* Arrays of fewer bytes are copied as they are: pinning the buffers takes longer. */
enum { RUNG_BESIDE_LEAST = 8 << 20 };

/* Moments on the queues (backend.h): that a buffer has been copied, that all inputs are there, that
 * the work of a lane is done. */
enum {
  RUNG_EVENT_BUFFER,
  RUNG_EVENT_INPUTS = RUNG_EVENT_BUFFER + RUNG_STAGERS * RUNG_CHUNKS,
  RUNG_EVENT_WORK,
  RUNG_EVENT_LANES = RUNG_EVENT_WORK + 2
};
static_assert((int)RUNG_EVENT_LANES <= (int)RUNG_EVENTS, "every moment has an event");

/* Elements of a host array: those from `first` on in row-major order. */
typedef struct rung_range {
  const rung_view *view;
  int64_t first, count;
} rung_range;

#ifdef __cplusplus
extern "C" {
#endif

/* Whether copies of so many bytes had better go beside the work. */
bool rung_goes_beside(const rung_context *context, size_t bytes);

/* Between a host array and compact memory of the device. `beside`: in the queue of copies, which
 * the caller brings into order with the work; else in the work's. copy_in() may return before the
 * array was read, unless it was beside it: the work's queue must be waited for; copy_out() returns
 * when the elements are there. After a failure copies may be under way: all queues must be waited
 * for. */
rung_status rung_copy_in(rung_context *context, const rung_range *from, void *to, bool beside);
rung_status rung_copy_out(rung_context *context, const rung_range *to, const void *from,
                          bool beside);

/* Of a store, where the device's memory is the host's: as copy_in(), by any thread while the
 * context is at work in another one, which writes to `error` instead of the context's. */
rung_status rung_read_ahead(rung_context *context, const rung_range *from, void *to,
                            rung_error *error);

/* All elements of a store, from compact host memory. */
rung_status rung_store_write(rung_context *context, const rung_view *to, const void *from);

/* Between two views on the device, of the same shape and any number of dimensions. */
rung_status rung_pack(rung_context *context, const rung_view *to, const rung_view *from);

/* A range of a view on the device into compact memory. */
rung_status rung_pack_range(rung_context *context, const rung_range *from, void *to);

/* Elements of an array, wherever it is, into compact host memory. The scratch may be another one
 * after it. */
rung_status rung_fetch(rung_context *context, const rung_range *from, void *to);

#ifdef __cplusplus
}
#endif
#endif
