/* The context: one device, one stream, scratch that grows once and is reused. */
#ifndef RUNG_CORE_CONTEXT_H
#define RUNG_CORE_CONTEXT_H

#include "backend/backend.h"
#include "core/float_mode.h"
#include "core/ladder.h"

/* What is kept of the thread that calls, to be given back. */
typedef struct rung_caller {
  rung_float_mode mode;
  void *current; /* backend->arrive() */
} rung_caller;

typedef struct rung_kept rung_kept;

/* The rung that a job got, and what it needs; length 0: none (core/recall.h). */
enum { RUNG_RECALLED = 4, RUNG_RECALL_BYTES = 640 };
typedef struct rung_recalled {
  const rung_row *row;
  rung_needs needs;
  size_t length;
  char key[RUNG_RECALL_BYTES];
} rung_recalled;

typedef struct rung_preference rung_preference; /* core/prefer.h */

struct rung_context {
  const rung_backend *backend; /* NULL where opening failed */
  unsigned forks;              /* that came before it was opened */
  rung_state *state;
  rung_device device;
  void *scratch, *zeros, *gathered, *host_scratch, *chunks;
  size_t scratch_bytes, zeros_bytes, zeroed_bytes, gathered_bytes, host_scratch_bytes, chunk_bytes;
  bool capturing, captured;          /* this call goes into a graph; one has */
  void *graph_scratch, *graph_zeros; /* of this call, where it goes into a graph */
  rung_kept *kept;                   /* host memory that graphs may use, outgrown */
  int64_t memory_limit;              /* of the device's memory, for scratch and zeros; 0: none */
  rung_preference *preferred;        /* by rung_prefer() */
  int preferences;
  rung_recalled recalled[RUNG_RECALLED];
  int next_recalled;
  rung_caller caller; /* from rung_begin() to rung_end() */
  rung_error error;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Clears the last error; refuses a NULL context, one that never opened and one that a parent has
 * opened before fork(). */
rung_status rung_ready(rung_context *context);

/* The same, and the calling thread is the library's: it computes in the library's floating-point
 * mode, and its current device may change. After it succeeded, and then in every case, comes
 * rung_end(), which gives the thread back as it was and returns `status`. */
rung_status rung_begin(rung_context *context);
rung_status rung_end(rung_context *context, rung_status status);

/* The calling thread works on the context's device from here to rung_leave_thread(), which is given
 * what this returns and gives the thread back: calls in between need not bring it there. */
void *rung_settle_thread(rung_context *context);
void rung_leave_thread(rung_context *context, void *callers);

/* At least `bytes` of the device's memory, aligned to 256, valid until the next call of this
 * function on the context; contents undefined. Grows by freeing first and never holds both. Of a
 * call that goes into a graph it is the graph's own, until the call ends. */
rung_status rung_scratch(rung_context *context, size_t bytes, void **memory);

/* The same of memory that is zero, as long as every launch that was given it left it so. After one
 * that failed, rung_zeros_spoilt() says that it must be cleared before it is given again. */
rung_status rung_zeros(rung_context *context, size_t bytes, void **memory);
void rung_zeros_spoilt(rung_context *context);

/* The same as scratch, for what other ranks send (core/room.h). Not of a call that goes into a
 * graph. */
rung_status rung_gathered(rung_context *context, size_t bytes, void **memory);

/* The call ends: a graph's next calls may have this memory of its own. */
rung_status rung_memory_end_graph(rung_context *context, rung_error *error);

/* The same of host memory, pinned where the backend has such, aligned to 16 bytes. What a graph may
 * use of it stays until the context is closed. */
rung_status rung_host_scratch(rung_context *context, size_t bytes, void **memory);

/* The same for chunks of arrays on their way to a device and back (core/transfer.h). */
rung_status rung_chunk_buffers(rung_context *context, size_t bytes, char **memory);

/* Releases all of it. */
void rung_memory_release(rung_context *context);

/* The GPU that device `index` of the simulator is like; NULL: itself. */
const char *rung_sim_model(int index);

/* Resolves "auto", "cpu", "cuda", "cuda:1", "sim:t4" and fills *device: no state is opened. */
rung_status rung_find_device(const char *name, rung_device *device, rung_error *error);

/* Whether a view's memory can be used on this context's device without staging. A simulated GPU
 * whose memory is limited reaches none but its own, so that what is staged on a GPU is staged there
 * too. */
bool rung_is_local(const rung_context *context, const rung_view *view);

#ifdef __cplusplus
}
#endif
#endif
