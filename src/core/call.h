/* What every operation does with its caller's rung_call: reads it, goes to its stream and back, and
 * says which rung ran. */
#ifndef RUNG_CORE_CALL_H
#define RUNG_CORE_CALL_H

#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *known as the caller gave it; NULL: all zero. */
rung_status rung_call_read(rung_error *error, const rung_call *given, rung_call *known);

/* The same, and from now on the context works on the call's stream, where one was given. After it
 * succeeded, and then in every case, comes rung_call_end(), which returns what the call came to:
 * `status`, or why the streams could not be put in order. `used`: the rung; read where status is
 * OK. */
rung_status rung_call_begin(rung_context *context, const rung_call *given, rung_call *known);
rung_status rung_call_end(rung_context *context, rung_status status, rung_call *given,
                          const char *used);

#ifdef __cplusplus
}
#endif
#endif
