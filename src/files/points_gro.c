/* GROMACS's .gro: a title, a count, as many lines of fixed columns, the box.
 *
 * Columns: residue's number 0-5 and name 5-10, atom's name 10-15 and number 15-20, then coordinates
 * as wide as their decimal points are apart; velocities after them are passed over. A run of lines
 * with one residue number and name is a molecule. A box of zeros is none. */
#include <string.h>

#include "files/points_format.h"

enum { START = 20, WIDEST = 40 };

static bool is_blank(const lines *in) {
  return lines_columns(in, 0, in->length).length == 0;
}

/* Title and count. Blank lines after the last frame are no frame. */
static rung_status take_head(points *file, int64_t *count, bool *more, rung_error *error) {
  lines *in = &file->in;
  rung_status status = lines_next(in, more, error);
  while (!status && *more) {
    const bool untitled = is_blank(in);
    status = lines_next(in, more, error);
    if (!status && !*more && !untitled) return points_line(file, "its count of points", error);
    if (status || !*more || !untitled || !is_blank(in)) break;
  }
  if (status || !*more) return status;
  const lines_word word = lines_columns(in, 0, in->length);
  if (!lines_integer(word, count) || *count < 0)
    return points_refuse(file, error, "the count of points is '%.*s'; expected: an integer from 0",
                         LINES_SHOW(word));
  return RUNG_OK;
}

/* How wide a coordinate is. */
static rung_status take_width(points *file, size_t *width, rung_error *error) {
  const char *text = file->in.length > START ? file->in.text + START : "";
  const char *first = strchr(text, '.'), *second = first ? strchr(first + 1, '.') : NULL;
  *width = second ? (size_t)(second - first) : 0;
  if (*width > 1 && *width <= WIDEST) return RUNG_OK;
  return points_refuse(file, error,
                       "has no coordinates of fixed columns, with decimal points, behind column %d",
                       START);
}

static rung_status take_point(points *file, size_t width, points_point *point, rung_error *error) {
  static const char *const axes[] = {"x", "y", "z"};
  const lines *in = &file->in;
  for (size_t axis = 0; axis < 3; axis++) {
    const lines_word word = lines_columns(in, START + axis * width, START + (axis + 1) * width);
    rung_status status = points_number(file, axes[axis], word, &point->at[axis], error);
    if (status) return status;
  }
  points_call(point->label.name, sizeof point->label.name, lines_columns(in, 10, 15));
  return RUNG_OK;
}

static rung_status take_box(points *file, rung_error *error) {
  double n[9] = {0};
  lines_word word, words[9];
  const char *at = file->in.text;
  int count = 0;
  while (count < 9 && lines_take(&at, &words[count])) count++;
  if ((count != 3 && count != 9) || lines_take(&at, &word))
    return points_refuse(file, error, "the box is '%.*s'; expected: 3 or 9 numbers",
                         LINES_SHOW(lines_columns(&file->in, 0, file->in.length)));
  bool any = false, below = false;
  for (int i = 0; i < count; i++) {
    if (!lines_number(words[i], &n[i]))
      return points_refuse(file, error, "the box's number %d is '%.*s'; expected: a finite one",
                           i + 1, LINES_SHOW(words[i]));
    any = any || n[i] != 0;
    below = below || (i < 3 && n[i] < 0);
  }
  if (below && !file->how.no_box)
    return points_refuse(file, error, "the box's lengths are %g %g %g; expected: none below 0",
                         n[0], n[1], n[2]);
  const rung_box box = {.a = {n[0], n[3], n[4]}, .b = {n[5], n[1], n[6]}, .c = {n[7], n[8], n[2]}};
  return any ? points_box(file, &box, error) : RUNG_OK;
}

rung_status points_read_gro(points *file, bool *more, rung_error *error) {
  int64_t count = 0, molecule = -1;
  size_t width = 0;
  char residue[11] = "";
  if (file->how.weights) return points_refuse_weights(file, error);
  rung_status status = take_head(file, &count, more, error);
  if (status || !*more) return status;
  points_begin(file, POINTS_LABELS | POINTS_MOLECULES);
  while (!status && file->now.count < count) {
    points_point point = {0};
    char what[80];
    status = lines_next(&file->in, more, error);
    if (status) break;
    if (!*more) {
      snprintf(what, sizeof what, "point %lld of %lld", (long long)file->now.count + 1,
               (long long)count);
      return points_line(file, what, error);
    }
    if (file->now.count == 0) status = take_width(file, &width, error);
    if (!status) status = take_point(file, width, &point, error);
    if (status) break;
    /* The point was there, and so are the ten columns before it. */
    if (molecule < 0 || memcmp(residue, file->in.text, 10) != 0) molecule++;
    memcpy(residue, file->in.text, 10);
    point.molecule = molecule;
    status = points_push(file, &point, error);
  }
  if (!status) status = points_line(file, "its box", error);
  return status ? status : take_box(file, error);
}
