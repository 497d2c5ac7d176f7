/* One failure, as it travels: a status and the sentence that explains it. */
#ifndef RUNG_CORE_ERROR_H
#define RUNG_CORE_ERROR_H

#include "rung/rung.h"

/* A name that leaves librung.so for the command's laboratory alone (cmake/librung.map.in). */
#define RUNG_PRIVATE __attribute__((visibility("default")))

enum { RUNG_SENTENCE = 480 };

typedef struct rung_error {
  rung_status status;
  char sentence[RUNG_SENTENCE]; /* always terminated; "" where status is RUNG_OK */
} rung_error;

#ifdef __cplusplus
extern "C" {
#endif

/* Records the failure in *error (NULL allowed: only the status is kept) and returns `status`.
 * A sentence names the argument, its value and what would be accepted; no final full stop is
 * added. Longer sentences are cut. */
rung_status rung_fail(rung_error *error, rung_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void rung_error_clear(rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
