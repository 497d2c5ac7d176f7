/* A job with a range in it: many jobs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { LINE = 512 };

/* A decimal integer or a power of two, "2^31", from 1 to 2^62, up to `end`. */
static bool whole(const char *text, const char *end, int64_t *value) {
  char word[24], *rest;
  const size_t length = (size_t)(end - text);
  if (length == 0 || length >= sizeof word || *text < '0' || *text > '9') return false;
  memcpy(word, text, length);
  word[length] = '\0';
  const bool power = strncmp(word, "2^", 2) == 0;
  const int64_t found = strtoll(power ? word + 2 : word, &rest, 10);
  if (*rest != '\0' || rest == word + 2 * power || found < (power ? 0 : 1)) return false;
  if (found > (power ? 62 : INT64_C(1) << 62)) return false;
  *value = power ? INT64_C(1) << found : found;
  return true;
}

rung_status cli_sweep(const char *line,
                      rung_status (*each)(void *to, const char *line, rung_error *error), void *to,
                      rung_error *error) {
  const char *dots = strstr(line, "..");
  if (!dots) return each(to, line, error);
  const char *first = dots;
  while (first > line && first[-1] != '=') first--;
  const char *end = dots + 2 + strcspn(dots + 2, " \t\n\r");
  int64_t from, until;
  if (!whole(first, dots, &from) || !whole(dots + 2, end, &until) || from > until ||
      strstr(end, "..") || strlen(line) >= LINE - 24)
    return rung_fail(
        error, RUNG_BAD_ARGUMENT,
        "\"%.200s\" has no range that can be gone through: one of FIRST..LAST, each an "
        "integer or a power such as 2^20, rising, would do: n=2^10..2^20",
        line);
  rung_status status = RUNG_OK;
  for (int64_t at = from; at <= until && status == RUNG_OK; at *= 2) {
    char one[LINE];
    snprintf(one, sizeof one, "%.*s%" PRId64 "%s", (int)(first - line), line, at, end);
    status = each(to, one, error);
  }
  return status;
}
