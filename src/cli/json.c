/* JSON is whole or there is none: a value that cannot be made, or added, makes all that it belongs
 * to NULL, and cli_results_json() refuses that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void keep(json_t **whole, bool added) {
  if (added) return;
  json_decref(*whole);
  *whole = NULL;
}

void cli_append(json_t **list, json_t *value) {
  keep(list, json_array_append_new(*list, value) == 0);
}

void cli_set(json_t **object, const char *key, json_t *value) {
  keep(object, json_object_set_new(*object, key, value) == 0);
}

json_t *cli_real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_number(double value) {
  if (isfinite(value)) return json_real(value);
  return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

json_t *cli_reals(const double *from, int64_t count) {
  json_t *list = json_array();
  for (int64_t i = 0; list && i < count; i++) cli_append(&list, cli_number(from[i]));
  return list;
}

json_t *cli_integers(const int64_t *from, int64_t count) {
  json_t *list = json_array();
  for (int64_t i = 0; list && i < count; i++) cli_append(&list, json_integer(from[i]));
  return list;
}

rung_status cli_results_json(file_replace *file, json_t *json, rung_error *error) {
  /* The whole text first: nothing is written of what memory runs out for. */
  char *text = lab_json_text(json, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
  json_decref(json);
  if (!text) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the JSON of the results");
  fputs(text, file->stream); /* whether it arrives is seen when the file is committed */
  fputc('\n', file->stream);
  free(text);
  return RUNG_OK;
}
