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

/* The whole text first: nothing is written of what memory runs out for. */
static char *text_of(json_t *json, size_t flags, rung_error *error) {
  char *text = lab_json_text(json, flags | JSON_PRESERVE_ORDER);
  json_decref(json);
  if (!text) rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory for the JSON of the results");
  return text;
}

rung_status cli_results_json(file_replace *file, json_t *json, rung_error *error) {
  char *text = text_of(json, JSON_INDENT(2), error);
  if (!text) return RUNG_OUT_OF_MEMORY;
  fputs(text, file->stream); /* whether it arrives is seen when the file is committed */
  fputc('\n', file->stream);
  free(text);
  return RUNG_OK;
}

/* Compact JSON with a line's end before every value of the object's own lists. */
static void put_lines(FILE *to, const char *text) {
  bool in_text = false, in_list = false;
  int depth = 0;
  for (const char *at = text; *at; at++) {
    fputc(*at, to);
    if (in_text && *at == '\\')
      fputc(*++at, to);
    else if (*at == '"')
      in_text = !in_text;
    else if (!in_text && strchr("{[", *at))
      in_list = ++depth == 2 ? *at == '[' : in_list;
    else if (!in_text && strchr("]}", *at))
      depth--;
    if (!in_text && in_list && depth == 2 && strchr("[,", *at)) fputc('\n', to);
  }
  fputc('\n', to);
}

rung_status cli_results_lines(file_replace *file, json_t *json, rung_error *error) {
  char *text = text_of(json, JSON_COMPACT, error);
  if (!text) return RUNG_OUT_OF_MEMORY;
  put_lines(file->stream, text);
  free(text);
  return RUNG_OK;
}
