/* XYZ: a count, a comment, as many lines of a name and three coordinates. Extended XYZ says in the
 * comment's key=value what the columns are, Properties=species:S:1:pos:R:3, and the cell's vectors,
 * Lattice="ax ay az bx by bz cx cy cz". */
#include <string.h>

#include "files/points_format.h"

enum { WORDS = 64 };

/* ---- the comment ------------------------------------------------------------------------------
 */

/* The next key and its value of "key=value key="some words" word"; false: there is none. */
static bool take_pair(const char **at, lines_word *key, lines_word *value) {
  const char *p = *at + strspn(*at, " \t,");
  *key = (lines_word){p, strcspn(p, " \t,=")};
  *value = (lines_word){"", 0};
  p = key->text + key->length;
  if (*p == '=') {
    const char stop = *++p == '{' ? '}' : *p;
    const bool quoted = stop == '"' || stop == '\'' || stop == '}';
    const char *end = quoted ? strchr(++p, stop) : p + strcspn(p, " \t");
    if (!end) end = p + strlen(p);
    *value = (lines_word){p, (size_t)(end - p)};
    p = end + (quoted && *end != '\0');
  }
  const bool found = p != key->text;
  *at = p;
  return found;
}

static lines_word find(const char *comment, const char *name) {
  lines_word key, value;
  while (take_pair(&comment, &key, &value))
    if (lines_is_any_case(key, name)) return value;
  return (lines_word){"", 0};
}

/* "T T T", "F F F"; nothing of it means a box where there is a lattice. */
static rung_status take_periodic(points *file, lines_word text, bool *periodic, rung_error *error) {
  int yes = 0, no = 0;
  for (size_t i = 0; i < text.length; i++) {
    yes += strchr("Tt1", text.text[i]) != NULL;
    no += strchr("Ff0", text.text[i]) != NULL;
  }
  *periodic = no == 0;
  if (yes == 0 || no == 0 || file->how.no_box) return RUNG_OK;
  return points_refuse(
      file, error,
      "pbc is '%.*s': a box that is periodic along some of its vectors only; expected: T T "
      "T or F F F, or --open",
      LINES_SHOW(text));
}

static rung_status take_lattice(points *file, const char *comment, rung_error *error) {
  const lines_word text = find(comment, "Lattice");
  bool periodic = false;
  rung_status status = take_periodic(file, find(comment, "pbc"), &periodic, error);
  if (status || text.length == 0 || !periodic || file->how.no_box) return status;
  double numbers[9];
  const char *at = text.text, *end = text.text + text.length;
  for (int i = 0; i < 9; i++) {
    lines_word word = {"", 0};
    if (at < end) lines_take(&at, &word);
    if (word.length > 0 && word.text + word.length > end) word.length = (size_t)(end - word.text);
    if (!lines_number(word, &numbers[i]))
      return points_refuse(file, error,
                           "Lattice's number %d is '%.*s'; expected: nine finite numbers", i + 1,
                           LINES_SHOW(word));
  }
  lines_word more = {"", 0};
  if (at < end && lines_take(&at, &more) && more.text < end)
    return points_refuse(file, error, "Lattice is '%.*s'; expected: nine numbers, not more",
                         LINES_SHOW(text));
  rung_box box;
  memcpy(box.a, numbers, sizeof box.a);
  memcpy(box.b, numbers + 3, sizeof box.b);
  memcpy(box.c, numbers + 6, sizeof box.c);
  return points_box(file, &box, error);
}

/* The next part of "species:S:1:pos:R:3"; false: there is none. */
static bool take_part(lines_word *text, lines_word *part) {
  if (text->length == 0) return false;
  const char *colon = memchr(text->text, ':', text->length);
  *part = (lines_word){text->text, colon ? (size_t)(colon - text->text) : text->length};
  const size_t used = part->length + (colon != NULL);
  text->text += used;
  text->length -= used;
  return true;
}

static bool is_molecule(lines_word name) {
  static const char *const names[] = {"molecule", "mol", "molid", "mol_id", "molecule_id", "resid"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (lines_is_any_case(name, names[i])) return true;
  return false;
}

static rung_status take_properties(points *file, const char *comment, points_columns *columns,
                                   rung_error *error) {
  lines_word text = find(comment, "Properties"), name, type, repeat;
  if (text.length == 0) text = (lines_word){"species:S:1:pos:R:3", 19};
  int64_t column = 0, count = 0;
  memset(columns, 0xFF, sizeof *columns);
  while (take_part(&text, &name)) {
    if (!take_part(&text, &type) || !take_part(&text, &repeat) || type.length != 1 ||
        !lines_integer(repeat, &count) || count < 1 || count > WORDS - column)
      return points_refuse(
          file, error, "Properties' '%.*s' is not name:type:count, of %d columns in all at most",
          LINES_SHOW(name), WORDS);
    int *at = columns->at, here = (int)column;
    column += count;
    if (lines_is(name, "species") && count == 1)
      at[POINTS_NAME] = at[POINTS_ELEMENT] = here;
    else if (lines_is(name, "pos") && count == 3)
      for (int axis = 0; axis < 3; axis++) at[POINTS_X + axis] = here + axis;
    else if (is_molecule(name) && count == 1)
      at[POINTS_MOLECULE] = here;
    if (file->how.weights && count == 1 && lines_is(name, file->how.weights))
      at[POINTS_WEIGHT] = here;
  }
  if (columns->at[POINTS_X] < 0)
    return points_refuse(file, error, "Properties has no pos:R:3: these are the coordinates");
  if (file->how.weights && columns->at[POINTS_WEIGHT] < 0)
    return points_refuse_weights(file, error);
  return RUNG_OK;
}

/* ---- the frame --------------------------------------------------------------------------------
 */

/* Blank lines between frames and after the last are passed over. */
static rung_status take_count(points *file, int64_t *count, bool *more, rung_error *error) {
  lines_word word, rest;
  do {
    rung_status status = lines_next(&file->in, more, error);
    if (status || !*more) return status;
    const char *at = file->in.text;
    lines_take(&at, &word);
    lines_take(&at, &rest);
  } while (word.length == 0);
  if (!lines_integer(word, count) || *count < 0 || rest.length > 0)
    return points_refuse(file, error, "the count of points is '%.*s'; expected: an integer from 0",
                         LINES_SHOW(lines_columns(&file->in, 0, file->in.length)));
  return RUNG_OK;
}

rung_status points_read_xyz(points *file, bool *more, rung_error *error) {
  int64_t count = 0;
  points_columns columns;
  rung_status status = take_count(file, &count, more, error);
  if (status || !*more) return status;
  status = points_line(file, "its comment", error);
  if (!status) status = take_lattice(file, file->in.text, error);
  if (!status) status = take_properties(file, file->in.text, &columns, error);
  if (!status) points_begin(file, points_kept(&columns));
  while (!status && file->now.count < count) {
    char what[80];
    points_point point = {0};
    lines_word words[WORDS];
    int found = 0;
    status = lines_next(&file->in, more, error);
    if (status) break;
    if (!*more) {
      snprintf(what, sizeof what, "point %lld of %lld", (long long)file->now.count + 1,
               (long long)count);
      return points_line(file, what, error);
    }
    const char *at = file->in.text;
    while (found < WORDS && lines_take(&at, &words[found])) found++;
    status = points_take(file, &columns, words, found, &point, error);
    if (!status) status = points_push(file, &point, error);
  }
  return status;
}
