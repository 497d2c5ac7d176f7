/* A context's memory: scratch, zeros, and host memory for copies. Each grows and is reused. What a
 * captured graph may hold is kept as long as the context is. */
#include <stdlib.h>

#include "core/context.h"

struct rung_kept {
  rung_kept *next;
  void *memory;
  bool host;
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

/* Memory is done with. A graph may still hold it: then only the context's end releases it. Copies
 * on the stream may still be at host memory. */
static rung_status retire(rung_context *context, void **memory, bool host) {
  void *old = *memory;
  if (old == NULL) return RUNG_OK;
  if (context->captured) {
    rung_kept *kept = malloc(sizeof *kept);
    if (kept == NULL)
      return rung_fail(&context->error, RUNG_OUT_OF_MEMORY, "no memory to keep what graphs use");
    *kept = (rung_kept){context->kept, old, host};
    context->kept = kept;
  } else if (host) {
    context->backend->synchronize(context->state, NULL);
    release_host(context, old);
  } else {
    release_device(context, old);
  }
  *memory = NULL;
  return RUNG_OK;
}

void rung_memory_release(rung_context *context) {
  if (context->host_scratch != NULL || context->chunks != NULL || context->kept != NULL)
    context->backend->synchronize(context->state, NULL);
  release_device(context, context->scratch);
  release_device(context, context->zeros);
  release_device(context, context->captured_zeros);
  release_host(context, context->host_scratch);
  release_host(context, context->chunks);
  for (rung_kept *kept = context->kept, *next; kept != NULL; kept = next) {
    next = kept->next;
    (kept->host ? release_host : release_device)(context, kept->memory);
    free(kept);
  }
}

/* At least `bytes` of the device's memory, of which `*held` are there. */
static rung_status grow_device(rung_context *context, size_t bytes, void **memory, size_t *held) {
  if (bytes <= *held) return RUNG_OK;
  *held = 0;
  rung_status status = retire(context, memory, false);
  if (status == RUNG_OK)
    status = context->backend->allocate(context->state, bytes, memory, &context->error);
  if (status == RUNG_OK) *held = bytes;
  return status;
}

rung_status rung_scratch(rung_context *context, size_t bytes, void **memory) {
  const rung_status status =
      grow_device(context, bytes, &context->scratch, &context->scratch_bytes);
  *memory = context->scratch;
  return status;
}

rung_status rung_zeros(rung_context *context, size_t bytes, void **memory) {
  const rung_backend *backend = context->backend;
  *memory = context->zeros;
  if (bytes <= context->zeroed_bytes) return RUNG_OK;
  /* Clearing becomes a part of the graph: who calls before it is launched finds no zeros there. */
  const bool capturing = context->capturing;
  void **zeros = capturing ? &context->captured_zeros : &context->zeros;
  size_t *held = capturing ? &context->captured_zeros_bytes : &context->zeros_bytes;
  *memory = NULL;
  context->zeroed_bytes = capturing ? context->zeroed_bytes : 0;
  rung_status status = grow_device(context, bytes, zeros, held);
  if (status == RUNG_OK) status = backend->fill(context->state, *zeros, 0, bytes, &context->error);
  if (status != RUNG_OK) return status;
  if (!capturing) context->zeroed_bytes = bytes;
  *memory = *zeros;
  return RUNG_OK;
}

void rung_zeros_spoilt(rung_context *context) {
  context->zeroed_bytes = 0;
}

/* Host memory for copies: pinned where the backend has such. */
static rung_status grow_host(rung_context *context, size_t bytes, void **memory, size_t *held) {
  const rung_backend *backend = context->backend;
  if (bytes <= *held) return RUNG_OK;
  *held = 0;
  rung_status status = retire(context, memory, true);
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
