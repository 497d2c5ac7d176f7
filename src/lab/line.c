#include "lab/line.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\n\r";

/* "n, m, type": for a sentence; cut where it would not fit. */
static const char *list_of(const char *const *names, char list[RUNG_SENTENCE / 2]) {
  const size_t room = RUNG_SENTENCE / 2;
  size_t used = 0;
  list[0] = '\0';
  for (int i = 0; names[i] != NULL; ++i) {
    const char *comma = i > 0 ? ", " : "";
    const size_t more = strlen(comma) + strlen(names[i]);
    if (used + more >= room) break;
    memcpy(list + used, comma, strlen(comma));
    memcpy(list + used + strlen(comma), names[i], strlen(names[i]) + 1);
    used += more;
  }
  return list;
}

static int index_of(const char *const *names, const char *name) {
  for (int i = 0; names[i] != NULL; ++i)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

/* Takes one word, "key=value", into the line. */
static rung_status take_pair(rung_error *error, char *word, const char *const *keys,
                             rung_line *line) {
  char list[RUNG_SENTENCE / 2];
  char *equals = strchr(word, '=');
  if (equals == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "\"%.60s\" is no key=value pair; expected: keys of %s, each followed by = and "
                     "its value without blanks",
                     word, list_of(keys, list));
  *equals = '\0';
  if (index_of(keys, word) < 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "\"%.60s\" is no key here; expected: one of %s",
                     word, list_of(keys, list));
  if (rung_line_get(line, word) != NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s is given twice; expected: each key once", word);
  if (line->count == RUNG_LINE_PAIRS)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "the line has more than %d pairs", RUNG_LINE_PAIRS);
  line->pairs[line->count].key = (uint16_t)(word - line->text);
  line->pairs[line->count].value = (uint16_t)(equals + 1 - line->text);
  line->count += 1;
  return RUNG_OK;
}

rung_status rung_line_parse(rung_error *error, const char *text, const char *const *keys,
                            rung_line *line) {
  if (text == NULL) text = "";
  const size_t length = strlen(text);
  line->count = 0;
  if (length >= RUNG_LINE_TEXT)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "the line has %zu characters; expected: at most %d",
                     length, RUNG_LINE_TEXT - 1);
  memcpy(line->text, text, length + 1);
  char *next = line->text;
  for (;;) {
    next += strspn(next, blanks);
    if (*next == '\0') return RUNG_OK;
    char *word = next;
    next += strcspn(next, blanks);
    if (*next != '\0') *next++ = '\0';
    rung_status status = take_pair(error, word, keys, line);
    if (status != RUNG_OK) return status;
  }
}

const char *rung_line_get(const rung_line *line, const char *key) {
  for (int i = 0; i < line->count; ++i)
    if (strcmp(line->text + line->pairs[i].key, key) == 0) return line->text + line->pairs[i].value;
  return NULL;
}

/* *value times `factor`, `times` over; false where that leaves 64 bits. */
static bool multiply(int64_t *value, int64_t factor, int64_t times) {
  if (times > 63) return *value == 0;
  for (int64_t i = 0; i < times; ++i)
    if (__builtin_mul_overflow(*value, factor, value)) return false;
  return true;
}

/* The K, Mi ... at *at, which is moved behind it. */
static bool multiply_unit(int64_t *value, const char **at) {
  static const char units[] = "KMGT";
  const char *unit = **at ? strchr(units, **at) : NULL;
  if (!unit) return true;
  const bool binary = (*at)[1] == 'i';
  *at += binary ? 2 : 1;
  return multiply(value, binary ? 1024 : 1000, unit - units + 1);
}

bool rung_whole_number(const char *text, const char **end, int64_t *value) {
  char *rest;
  errno = 0;
  int64_t number = strtoll(text, &rest, 10);
  if (rest == text || errno == ERANGE || isspace((unsigned char)*text)) return false;
  const char mark = *rest;
  if ((mark == '^' || mark == 'e') && isdigit((unsigned char)rest[1])) {
    const int64_t base = mark == '^' ? number : 10, power = strtoll(rest + 1, &rest, 10);
    if (mark == '^') number = 1;
    if (errno == ERANGE || !multiply(&number, base, power)) return false;
  } else {
    const char *at = rest;
    if (!multiply_unit(&number, &at)) return false;
    rest = (char *)at;
  }
  *end = rest;
  *value = number;
  return true;
}

rung_status rung_line_int(rung_error *error, const rung_line *line, const char *key,
                          int64_t otherwise, int64_t least, int64_t most, int64_t *value) {
  const char *text = rung_line_get(line, key);
  if (text == NULL) {
    *value = otherwise;
    return RUNG_OK;
  }
  const char *end;
  int64_t number;
  if (!rung_whole_number(text, &end, &number) || *end != '\0' || number < least || number > most)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s=%.60s; expected: a whole number from %lld to %lld", key, text,
                     (long long)least, (long long)most);
  *value = number;
  return RUNG_OK;
}

rung_status rung_line_double(rung_error *error, const rung_line *line, const char *key,
                             double otherwise, double least, double most, double *value) {
  const char *text = rung_line_get(line, key);
  if (text == NULL) {
    *value = otherwise;
    return RUNG_OK;
  }
  char *end;
  const double number = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(number) || !(number >= least && number <= most))
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s=%.60s; expected: a finite number from %g to %g",
                     key, text, least, most);
  *value = number;
  return RUNG_OK;
}

const char *rung_real_text(double value, char text[RUNG_REAL_TEXT]) {
  for (int digits = 15; digits <= 17; ++digits) {
    snprintf(text, RUNG_REAL_TEXT, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  return text;
}

rung_status rung_line_choice(rung_error *error, const rung_line *line, const char *key,
                             const char *const *names, int otherwise, int *index) {
  const char *text = rung_line_get(line, key);
  const int found = text == NULL ? otherwise : index_of(names, text);
  char list[RUNG_SENTENCE / 2];
  if (text != NULL && found < 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT, "%s=%.60s; expected: one of %s", key, text,
                     list_of(names, list));
  *index = found;
  return RUNG_OK;
}
