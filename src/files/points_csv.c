/* Columns: x, y, z, name, molecule, weight, in this order and as far as there are any; or a first
 * line that names them in any order, among others. The first line says what parts them: semicolons,
 * else commas, else tabs, else blanks. Lines that are blank or begin with '#' are passed over. The
 * whole file is one frame. */
#include <string.h>
#include <strings.h>

#include "files/points_format.h"

enum { WORDS = 64 };

/* Without blanks and without quotation marks around it. */
static lines_word bare(const char *from, const char *to) {
  while (from < to && strchr(" \t", *from)) from++;
  while (from < to && strchr(" \t", to[-1])) to--;
  if (to - from >= 2 && *from == to[-1] && (*from == '"' || *from == '\'')) from++, to--;
  return (lines_word){from, (size_t)(to - from)};
}

static int split(const lines *in, char by, lines_word words[WORDS]) {
  int count = 0;
  const char *at = in->text, *end = at + in->length;
  if (by == ' ') {
    while (count < WORDS && lines_take(&at, &words[count])) count++;
    return count;
  }
  while (count < WORDS && at <= end) {
    const char *stop = memchr(at, by, (size_t)(end - at));
    if (!stop) stop = end;
    words[count++] = bare(at, stop);
    at = stop + 1;
  }
  return count;
}

static char separator_of(const lines *in) {
  for (const char *by = ";,\t"; *by; by++)
    if (memchr(in->text, *by, in->length)) return *by;
  return ' ';
}

/* A line that holds something; *more is false where there is none. */
static rung_status next_row(points *file, bool *more, rung_error *error) {
  lines *in = &file->in;
  lines_word word;
  for (;;) {
    rung_status status = lines_next(in, more, error);
    const char *at = in->text;
    if (status || !*more || (lines_take(&at, &word) && word.text[0] != '#')) return status;
  }
}

/* What a column's name says that it holds; POINTS_COLUMNS: nothing of ours. */
static int meaning_of(lines_word name, const char *weights) {
  static const struct {
    const char *name;
    int column;
  } names[] = {{"x", POINTS_X},         {"y", POINTS_X + 1},         {"z", POINTS_X + 2},
               {"name", POINTS_NAME},   {"atom", POINTS_NAME},       {"species", POINTS_NAME},
               {"type", POINTS_NAME},   {"element", POINTS_ELEMENT}, {"molecule", POINTS_MOLECULE},
               {"mol", POINTS_MOLECULE}};
  if (weights && lines_is(name, weights)) return POINTS_WEIGHT;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (lines_is_any_case(name, names[i].name)) return names[i].column;
  return POINTS_COLUMNS;
}

static bool is_same(lines_word a, lines_word b) {
  return a.length == b.length && strncasecmp(a.text, b.text, a.length) == 0;
}

static rung_status name_columns(points *file, const lines_word *words, int count,
                                points_columns *columns, rung_error *error) {
  int *at = columns->at;
  for (int i = 0; i < count; i++) {
    const int meaning = meaning_of(words[i], file->how.weights);
    for (int before = 0; before < i && meaning < POINTS_COLUMNS; before++)
      if (is_same(words[i], words[before]))
        return points_refuse(file, error, "two columns are called '%.*s'; expected: one",
                             LINES_SHOW(words[i]));
    if (meaning < POINTS_COLUMNS && at[meaning] < 0) at[meaning] = i;
  }
  for (int axis = 0; axis < 3; axis++)
    if (at[POINTS_X + axis] < 0)
      return points_refuse(file, error,
                           "the first line is '%.*s': neither three numbers nor names of columns, "
                           "x, y and z among them",
                           LINES_SHOW(lines_columns(&file->in, 0, file->in.length)));
  return RUNG_OK;
}

/* Of the first line, which is held for the rows where it is one of them. */
static rung_status take_columns(points *file, char by, points_columns *columns, rung_error *error) {
  static const int plain[] = {POINTS_X,    POINTS_X + 1,    POINTS_X + 2,
                              POINTS_NAME, POINTS_MOLECULE, POINTS_WEIGHT};
  lines_word words[WORDS];
  double number;
  int numbers = 0;
  const int count = split(&file->in, by, words);
  memset(columns, 0xFF, sizeof *columns);
  while (numbers < count && numbers < 3 &&
         (lines_number(words[numbers], &number) || number == number))
    numbers++;
  rung_status status = RUNG_OK;
  if (numbers < 3 && numbers < count) {
    status = name_columns(file, words, count, columns, error);
  } else {
    const bool weighted = file->how.weights && strcmp(file->how.weights, "weight") == 0;
    for (int i = 0; i < 6; i++)
      if (i < 3 || (i < count && (i < 5 || weighted))) columns->at[plain[i]] = i;
    lines_hold(&file->in);
  }
  if (!status && file->how.weights && columns->at[POINTS_WEIGHT] < 0)
    status = points_refuse_weights(file, error);
  return status;
}

rung_status points_read_csv(points *file, bool *more, rung_error *error) {
  points_columns columns;
  rung_status status = next_row(file, more, error);
  if (status || !*more) return status;
  const char by = separator_of(&file->in);
  status = take_columns(file, by, &columns, error);
  if (!status) points_begin(file, points_kept(&columns));
  while (!status) {
    points_point point = {0};
    lines_word words[WORDS];
    status = next_row(file, more, error);
    if (status || !*more) break;
    const int count = split(&file->in, by, words);
    status = points_take(file, &columns, words, count, &point, error);
    if (!status) status = points_push(file, &point, error);
  }
  *more = true;
  return status;
}
