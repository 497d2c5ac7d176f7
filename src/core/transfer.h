/* Arrays on their way between the host's memory and a device's, and within the device's.
 *
 * The runtime copies host memory that is not pinned through buffers of its own, with one thread,
 * and nothing else goes on meanwhile. So larger arrays go through pinned buffers of the context in
 * chunks: threads of the host fill one while the device fetches the other, on a queue of copies
 * beside the work (backend.h), so that a kernel may run too. */
#ifndef RUNG_CORE_TRANSFER_H
#define RUNG_CORE_TRANSFER_H

#include "core/context.h"

/* Bytes of a buffer, and how many there are: 4 MiB take a fast link about as long as eight threads
 * need to fill them, and ten times as long as it takes to wake these. */
enum { RUNG_CHUNK = 4 << 20, RUNG_CHUNKS = 4 };

/* Arrays of fewer bytes are copied as they are: with one chunk or two there is next to nothing that
 * could go on at the same time. */
enum { RUNG_BESIDE_LEAST = 2 * RUNG_CHUNK };

/* Moments on the queues (backend.h): that a buffer has been copied, that all inputs are there, that
 * the work of a lane is done. */
enum {
  RUNG_EVENT_BUFFER,
  RUNG_EVENT_INPUTS = RUNG_EVENT_BUFFER + RUNG_CHUNKS,
  RUNG_EVENT_WORK,
  RUNG_EVENT_LANES = RUNG_EVENT_WORK + 2
};

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
 * when the elements are there. */
rung_status rung_copy_in(rung_context *context, const rung_range *from, void *to, bool beside);
rung_status rung_copy_out(rung_context *context, const rung_range *to, const void *from,
                          bool beside);

/* Between two views on the device, of the same shape and any number of dimensions. */
rung_status rung_pack(rung_context *context, const rung_view *to, const rung_view *from);

/* A range of a view on the device into compact memory. */
rung_status rung_pack_range(rung_context *context, const rung_range *from, void *to);

#ifdef __cplusplus
}
#endif
#endif
