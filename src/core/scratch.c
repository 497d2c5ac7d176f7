/* A context's memory: scratch, zeros, and host memory for copies. Each grows and is reused. A call
 * that goes into a graph gets memory of the graph's own instead, so that graphs may run at any time
 * and beside each other; host memory that one may use is kept as long as the context is. */
#include <stdlib.h>

#include "core/context.h"

struct rung_kept {
  rung_kept *next;
  void *memory;
};

static void release_device(rung_context *context, void *memory) {
  if (memory != NULL) context->backend->release(context->state, memory);
}

static void release_host(rung_context *context, void *memory) {
  if (memory == NULL)
    return;
  else if (context->backend->release_pinned != NULL)
    context->backend->release_pinned(context->state, memory);
  else
    free(memory);
}

/* Host memory is done with. A graph may still hold it: then only the context's end releases it.
 * Copies on the stream may still be at it. */
static rung_status retire_host(rung_context *context, void **memory) {
  void *old = *memory;
  if (old == NULL) return RUNG_OK;
  if (context->captured) {
    rung_kept *kept = malloc(sizeof *kept);
    if (kept == NULL)
      return rung_fail(&context->error, RUNG_OUT_OF_MEMORY, "no memory to keep what graphs use");
    *kept = (rung_kept){context->kept, old};
    context->kept = kept;
  } else {
    context->backend->synchronize(context->state, NULL);
    release_host(context, old);
  }
  *memory = NULL;
  return RUNG_OK;
}

void rung_memory_release(rung_context *context) {
  if (context->host_scratch != NULL || context->chunks != NULL || context->kept != NULL)
    context->backend->synchronize(context->state, NULL);
  release_device(context, context->scratch);
  release_device(context, context->zeros);
  release_device(context, context->gathered);
  release_host(context, context->host_scratch);
  release_host(context, context->chunks);
  for (rung_kept *kept = context->kept, *next; kept != NULL; kept = next) {
    next = kept->next;
    release_host(context, kept->memory);
    free(kept);
  }
}

/* At least `bytes` of the device's memory, of which `*held` are there. */
static rung_status grow_device(rung_context *context, size_t bytes, void **memory, size_t *held) {
  if (bytes <= *held) return RUNG_OK;
  *held = 0;
  release_device(context, *memory);
  *memory = NULL;
  const rung_status status =
      context->backend->allocate(context->state, bytes, memory, &context->error);
  if (status == RUNG_OK) *held = bytes;
  return status;
}

/* ---- of a call that goes into a graph ---------------------------------------------------------
 */

static rung_status end_graph(rung_context *context, void **memory, rung_error *error) {
  void *old = *memory;
  *memory = NULL;
  return old == NULL ? RUNG_OK : context->backend->graph_release(context->state, old, error);
}

/* In place of what this call had before. */
static rung_status grow_graph(rung_context *context, size_t bytes, void **memory) {
  const rung_status status = end_graph(context, memory, &context->error);
  if (status != RUNG_OK || bytes == 0) return status;
  return context->backend->graph_allocate(context->state, bytes, memory, &context->error);
}

rung_status rung_memory_end_graph(rung_context *context, rung_error *error) {
  const rung_status scratch = end_graph(context, &context->graph_scratch, error);
  const rung_status zeros =
      end_graph(context, &context->graph_zeros, scratch == RUNG_OK ? error : NULL);
  return scratch != RUNG_OK ? scratch : zeros;
}

static rung_status zeros_of_graph(rung_context *context, size_t bytes, void **memory) {
  rung_status status = grow_graph(context, bytes, &context->graph_zeros);
  *memory = context->graph_zeros;
  if (status == RUNG_OK && bytes > 0)
    status = context->backend->fill(context->state, *memory, 0, bytes, &context->error);
  return status;
}

/* ---- of any other ----------------------------------------------------------------------------
 */

rung_status rung_scratch(rung_context *context, size_t bytes, void **memory) {
  const bool graph = context->capturing;
  const rung_status status =
      graph ? grow_graph(context, bytes, &context->graph_scratch)
            : grow_device(context, bytes, &context->scratch, &context->scratch_bytes);
  *memory = graph ? context->graph_scratch : context->scratch;
  return status;
}

rung_status rung_zeros(rung_context *context, size_t bytes, void **memory) {
  if (context->capturing) return zeros_of_graph(context, bytes, memory);
  *memory = context->zeros;
  if (bytes <= context->zeroed_bytes) return RUNG_OK;
  *memory = NULL;
  context->zeroed_bytes = 0;
  rung_status status = grow_device(context, bytes, &context->zeros, &context->zeros_bytes);
  if (status == RUNG_OK)
    status = context->backend->fill(context->state, context->zeros, 0, bytes, &context->error);
  if (status != RUNG_OK) return status;
  context->zeroed_bytes = bytes;
  *memory = context->zeros;
  return RUNG_OK;
}

rung_status rung_gathered(rung_context *context, size_t bytes, void **memory) {
  const rung_status status =
      grow_device(context, bytes, &context->gathered, &context->gathered_bytes);
  *memory = context->gathered;
  return status;
}

void rung_zeros_spoilt(rung_context *context) {
  context->zeroed_bytes = 0;
}

/* Host memory for copies: pinned where the backend has such. */
static rung_status grow_host(rung_context *context, size_t bytes, void **memory, size_t *held) {
  const rung_backend *backend = context->backend;
  if (bytes <= *held) return RUNG_OK;
  *held = 0;
  rung_status status = retire_host(context, memory);
  if (status != RUNG_OK) return status;
  if (backend->allocate_pinned != NULL)
    status = backend->allocate_pinned(context->state, bytes, memory, &context->error);
  else if ((*memory = malloc(bytes)) == NULL)
    status = rung_fail(&context->error, RUNG_OUT_OF_MEMORY,
                       "%zu bytes of host memory cannot be had", bytes);
  if (status == RUNG_OK) *held = bytes;
  return status;
}

rung_status rung_host_scratch(rung_context *context, size_t bytes, void **memory) {
  const rung_status status =
      grow_host(context, bytes, &context->host_scratch, &context->host_scratch_bytes);
  *memory = context->host_scratch;
  return status;
}

rung_status rung_chunk_buffers(rung_context *context, size_t bytes, char **memory) {
  const rung_status status = grow_host(context, bytes, &context->chunks, &context->chunk_bytes);
  *memory = context->chunks;
  return status;
}
