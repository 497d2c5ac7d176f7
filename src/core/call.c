#include "core/call.h"

#include "core/layout.h"

rung_status rung_call_read(rung_error *error, const rung_call *given, rung_call *known) {
  *known = (rung_call){0};
  return given == NULL ? RUNG_OK : rung_read_struct(error, "call", &rung_call_layout, given, known);
}

rung_status rung_call_begin(rung_context *context, const rung_call *given, rung_call *known) {
  rung_status status = rung_call_read(&context->error, given, known);
  const rung_backend *backend = context->backend;
  if (status == RUNG_OK && known->stream != NULL && backend->enter != NULL)
    status = backend->enter(context->state, known->stream, &context->error);
  context->capturing =
      status == RUNG_OK && backend->capturing != NULL && backend->capturing(context->state);
  context->captured = context->captured || context->capturing;
  return status;
}

/* Of two failures the first is the one worth reading. */
static rung_error *if_first(rung_context *context, rung_status status) {
  return status == RUNG_OK ? &context->error : NULL;
}

rung_status rung_call_end(rung_context *context, rung_status status, rung_call *given,
                          const char *used) {
  const rung_status freed = rung_memory_end_graph(context, if_first(context, status));
  if (status == RUNG_OK) status = freed;
  if (context->backend->leave != NULL) {
    const rung_status left = context->backend->leave(context->state, if_first(context, status));
    if (status == RUNG_OK) status = left;
  }
  if (status == RUNG_OK && given != NULL &&
      RUNG_HAS_MEMBER(&rung_call_layout, given, rung_call, used))
    given->used = used;
  return status;
}
