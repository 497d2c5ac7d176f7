/* What other libraries hand over by DLPack 1. */
#include "core/context.h"

enum { MAJOR = 1, READ_ONLY = 1 };

static rung_status look(rung_error *error, const rung_managed *managed, int written,
                        DLTensor *const *tensor) {
  if (managed == NULL || tensor == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s is NULL; expected: %s",
                     managed == NULL ? "managed" : "tensor",
                     managed == NULL ? "a DLManagedTensorVersioned" : "where its DLTensor goes");
  if (managed->version.major != MAJOR)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "managed is of DLPack %u.%u; expected: %d.x",
                     (unsigned)managed->version.major, (unsigned)managed->version.minor, MAJOR);
  if (written && (managed->flags & READ_ONLY))
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "managed is read-only, and is to be written; expected: an array that may be "
                     "written, or a copy");
  return RUNG_OK;
}

rung_status rung_managed_tensor(rung_context *context, rung_managed *managed, int written,
                                DLTensor **tensor) {
  rung_status status = context != NULL ? rung_ready(context) : RUNG_OK;
  if (status != RUNG_OK) return status;
  status = look(context != NULL ? &context->error : NULL, managed, written, tensor);
  if (status == RUNG_OK) *tensor = &managed->dl_tensor;
  return status;
}
