#include "lab/keys.h"

#include <inttypes.h>
#include <string.h>

static const char *const *names_of(const rung_key *key) {
  return key->names_of ? key->names_of() : key->names;
}

static rung_status read_key(const rung_key *key, const rung_line *line, void *request,
                            rung_error *error) {
  char *at = (char *)request + key->at;
  switch (key->kind) {
    case RUNG_KEY_INTEGER:
      return rung_line_int(error, line, key->name, (int64_t)key->otherwise, (int64_t)key->least,
                           (int64_t)key->most, (int64_t *)at);
    case RUNG_KEY_REAL:
      return rung_line_double(error, line, key->name, key->otherwise, key->least, key->most,
                              (double *)at);
    default:
      return rung_line_choice(error, line, key->name, names_of(key), (int)key->otherwise,
                              (int *)at);
  }
}

rung_status rung_keys_read(const rung_key *keys, const char *text, void *request,
                           rung_error *error) {
  const char *names[RUNG_LINE_PAIRS + 1] = {NULL};
  rung_line line;
  for (int i = 0; i < RUNG_LINE_PAIRS && keys[i].name; ++i) names[i] = keys[i].name;
  rung_status status = rung_line_parse(error, text, names, &line);
  for (const rung_key *key = keys; key->name && status == RUNG_OK; ++key)
    status = read_key(key, &line, request, error);
  return status;
}

/* `value` as the line would have it. */
static void print_value(const rung_key *key, const void *value, char *text, size_t room) {
  char real[RUNG_REAL_TEXT];
  if (key->kind == RUNG_KEY_INTEGER)
    snprintf(text, room, "%" PRId64, *(const int64_t *)value);
  else if (key->kind == RUNG_KEY_REAL)
    snprintf(text, room, "%s", rung_real_text(*(const double *)value, real));
  else
    snprintf(text, room, "%s", names_of(key)[*(const int *)value]);
}

/* Whether a choice is still to be made: its default depends on other keys. */
static bool is_open(const rung_key *key, const void *request) {
  return key->kind == RUNG_KEY_CHOICE && *(const int *)((const char *)request + key->at) < 0;
}

void rung_keys_label(const rung_key *keys, const void *request, char *label, size_t room) {
  size_t used = 0;
  label[0] = '\0';
  for (const rung_key *key = keys; key->name; ++key) {
    char value[64];
    if (key->shown && !key->shown(request)) continue;
    if (is_open(key, request)) continue;
    print_value(key, (const char *)request + key->at, value, sizeof value);
    used +=
        (size_t)snprintf(label + used, room - used, "%s%s=%s", used ? " " : "", key->name, value);
    if (used >= room) return;
  }
}

/* ---- help --------------------------------------------------------------------------------- */

static void print_usual(const rung_key *key, FILE *to) {
  if (key->depends)
    fprintf(to, "default %s", key->depends);
  else if (key->kind == RUNG_KEY_CHOICE)
    fprintf(to, "default %s", names_of(key)[(int)key->otherwise]);
  else
    fprintf(to, "default %.10g", key->otherwise);
}

void rung_keys_help(const rung_key *keys, FILE *to) {
  for (const rung_key *key = keys; key->name; ++key) {
    fprintf(to, "  %-10s %s; ", key->name, key->help);
    print_usual(key, to);
    if (key->kind == RUNG_KEY_CHOICE) {
      fprintf(to, "\n  %-10s one of", "");
      for (const char *const *name = names_of(key); *name; ++name) fprintf(to, " %s", *name);
    }
    fputc('\n', to);
  }
}
