#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

rung_status rung_fail(rung_error *error, rung_status status, const char *format, ...) {
  if (error == NULL) return status;
  /* Through a buffer of its own, so that a caller may quote error->sentence in the new one. */
  char sentence[RUNG_SENTENCE] = "";
  va_list values;
  va_start(values, format);
  if (vsnprintf(sentence, sizeof sentence, format, values) < 0) sentence[0] = '\0';
  va_end(values);
  error->status = status;
  memcpy(error->sentence, sentence, sizeof sentence);
  return status;
}

void rung_error_clear(rung_error *error) {
  error->status = RUNG_OK;
  error->sentence[0] = '\0';
}
