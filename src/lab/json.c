#include "lab/json.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* json_string() gives NULL for want of memory too: then the bytes are not had unchecked either, or
 * were only missing for a moment. */
static json_t *checked(const char *text, bool *is_text) {
  json_t *json = json_string(text), *unchecked = NULL;
  *is_text = true;
  if (json == NULL && (unchecked = json_string_nocheck(text)) != NULL) {
    json_decref(unchecked);
    json = json_string(text);
    *is_text = json != NULL;
  }
  return json;
}

json_t *lab_text(const char *text) {
  bool is_text;
  json_t *json = checked(text, &is_text);
  const size_t length = strlen(text);
  char *escaped = is_text ? NULL : malloc(4 * length + 1), *at = escaped;
  if (escaped == NULL) return json;
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = (unsigned char)text[i];
    at += byte > 0x7e ? snprintf(at, 5, "\\x%02x", byte) : snprintf(at, 2, "%c", byte);
  }
  *at = '\0';
  json = json_string(escaped);
  free(escaped);
  return json;
}

static json_t *value_of(const char *kind, va_list *values) {
  const char *text;
  switch (*kind) {
    case 's':
      text = va_arg(*values, const char *);
      return text == NULL && kind[1] == '?' ? json_null() : lab_text(text);
    case 'i':
      return json_integer(va_arg(*values, int));
    case 'I':
      return json_integer(va_arg(*values, json_int_t));
    case 'f':
      return json_real(va_arg(*values, double));
    case 'b':
      return json_boolean(va_arg(*values, int));
    case 'O':
      return json_incref(va_arg(*values, json_t *));
    default:
      return va_arg(*values, json_t *);
  }
}

json_t *lab_object(const char *format, ...) {
  json_t *object = json_object();
  bool whole = object != NULL;
  va_list values;
  va_start(values, format);
  for (const char *at = format; (at = strstr(at, "s:")) != NULL; at += 3) {
    const char *key = va_arg(values, const char *);
    whole = json_object_set_new(object, key, value_of(at + 2, &values)) == 0 && whole;
  }
  va_end(values);
  if (whole) return object;
  json_decref(object);
  return NULL;
}

json_t *lab_copy(const json_t *object) {
  json_t *copy = json_copy((json_t *)object);
  if (json_object_size(copy) == json_object_size(object)) return copy;
  json_decref(copy);
  return NULL;
}

typedef struct text {
  char *bytes;
  size_t length, room;
  bool failed;
} text;

static int add(const char *bytes, size_t count, void *to) {
  text *all = to;
  if (!all->failed && count >= all->room - all->length) {
    const size_t room = 2 * (all->room + count) + 1;
    char *more = realloc(all->bytes, room);
    all->failed = more == NULL;
    if (more != NULL) all->bytes = more;
    if (more != NULL) all->room = room;
  }
  if (all->failed) return -1;
  memcpy(all->bytes + all->length, bytes, count);
  all->length += count;
  all->bytes[all->length] = '\0';
  return 0;
}

char *lab_json_text(const json_t *json, size_t flags) {
  text all = {0};
  if (json != NULL && json_dump_callback(json, add, &all, flags) == 0 && !all.failed)
    return all.bytes;
  free(all.bytes);
  return NULL;
}
