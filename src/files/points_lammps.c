/* LAMMPS's text dumps: sections that begin with "ITEM: ", the last of a frame being ATOMS, whose
 * columns are named. Taken are x y z, or else xu yu zu, or scaled ones, xs ys zs or xsu ysu zsu;
 * the molecule "mol"; as a name "element", else "type".
 *
 * The box: bounds along x, y and z; triclinic ones are those of the whole cell, from which the
 * tilts xy, xz and yz are taken off; or, general, three vectors and an origin (abc origin). */
#include <math.h>
#include <string.h>

#include "files/points_format.h"

enum { WORDS = 64 };

typedef struct cell {
  rung_box box;
  double origin[3];
  bool given, periodic;
} cell;

typedef struct table {
  points_columns columns;
  bool scaled;
} table;

/* "ITEM: NAME": what stands after NAME; NULL: another line. */
static const char *section(const lines *in, const char *name) {
  const size_t length = strlen(name);
  if (strncmp(in->text, "ITEM: ", 6) != 0 || strncmp(in->text + 6, name, length) != 0) return NULL;
  const char *rest = in->text + 6 + length;
  return *rest == '\0' || *rest == ' ' || *rest == '\t' ? rest : NULL;
}

/* ---- the box ----------------------------------------------------------------------------------
 */

static rung_status take_rows(points *file, int numbers, double rows[3][4], rung_error *error) {
  for (int i = 0; i < 3; i++) {
    rung_status status = points_line(file, "the bounds of its box", error);
    if (status) return status;
    const char *at = file->in.text;
    for (int k = 0; k < numbers; k++) {
      lines_word word;
      lines_take(&at, &word);
      if (!lines_number(word, &rows[i][k]))
        return points_refuse(file, error, "the box's number %d is '%.*s'; expected: %d finite ones",
                             k + 1, LINES_SHOW(word), numbers);
    }
  }
  return RUNG_OK;
}

/* "pp pp ff": two letters an axis. Mixed ones are no box of ours. */
static rung_status take_boundaries(points *file, const char *letters, cell *of, rung_error *error) {
  lines_word word;
  int axes = 0, periodic = 0;
  const char *const first = letters + strspn(letters, " \t");
  const lines_word all = {first, strlen(first)};
  while (lines_take(&letters, &word)) {
    if (word.length != 2 || !strchr("pfsm", word.text[0]) || !strchr("pfsm", word.text[1]))
      continue;
    axes++;
    periodic += word.text[0] == 'p' && word.text[1] == 'p';
  }
  of->periodic = axes == 0 || periodic > 0; /* old dumps do not say */
  if (axes == 0 || periodic == 0 || periodic == axes || file->how.no_box) return RUNG_OK;
  return points_refuse(file, error,
                       "the boundaries are '%.*s': a box that is periodic along some of its axes "
                       "only; expected: pp pp pp or ff ff ff, or --open",
                       LINES_SHOW(all));
}

static rung_status take_box(points *file, const char *rest, cell *of, rung_error *error) {
  double rows[3][4] = {0};
  lines_word first = {"", 0};
  const char *at = rest;
  lines_take(&at, &first);
  const bool tilted = lines_is(first, "xy"), general = lines_is(first, "abc");
  rung_status status = take_boundaries(file, rest, of, error);
  if (!status) status = take_rows(file, general ? 4 : tilted ? 3 : 2, rows, error);
  if (status) return status;
  of->given = true;
  if (general) {
    for (int i = 0; i < 3; i++) of->origin[i] = rows[i][3];
    memcpy(of->box.a, rows[0], sizeof of->box.a);
    memcpy(of->box.b, rows[1], sizeof of->box.b);
    memcpy(of->box.c, rows[2], sizeof of->box.c);
  } else {
    const double xy = rows[0][2], xz = rows[1][2], yz = rows[2][2];
    rows[0][0] -= fmin(fmin(0, xy), fmin(xz, xy + xz));
    rows[0][1] -= fmax(fmax(0, xy), fmax(xz, xy + xz));
    rows[1][0] -= fmin(0, yz);
    rows[1][1] -= fmax(0, yz);
    for (int i = 0; i < 3; i++) {
      of->origin[i] = rows[i][0];
      if (!(rows[i][1] > rows[i][0]) && of->periodic && !file->how.no_box)
        return points_refuse(file, error,
                             "the box reaches from %g to %g along %c; expected: a larger end",
                             rows[i][0], rows[i][1], 'x' + i);
    }
    of->box = (rung_box){.a = {rows[0][1] - rows[0][0], 0, 0},
                         .b = {xy, rows[1][1] - rows[1][0], 0},
                         .c = {xz, yz, rows[2][1] - rows[2][0]}};
  }
  return of->periodic ? points_box(file, &of->box, error) : RUNG_OK;
}

/* ---- the points -------------------------------------------------------------------------------
 */

static int find(const lines_word *words, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (lines_is(words[i], name)) return i;
  return -1;
}

static rung_status take_columns(points *file, const char *rest, table *of, rung_error *error) {
  static const char *const names[][3] = {
      {"x", "y", "z"}, {"xu", "yu", "zu"}, {"xs", "ys", "zs"}, {"xsu", "ysu", "zsu"}};
  lines_word words[WORDS];
  int count = 0, *at = of->columns.at;
  while (count < WORDS && lines_take(&rest, &words[count])) count++;
  memset(at, 0xFF, sizeof of->columns);
  for (int set = 0; set < 4 && at[POINTS_X] < 0; set++) {
    const int x = find(words, count, names[set][0]), y = find(words, count, names[set][1]),
              z = find(words, count, names[set][2]);
    if (x < 0 || y < 0 || z < 0) continue;
    at[POINTS_X] = x, at[POINTS_X + 1] = y, at[POINTS_X + 2] = z;
    of->scaled = set >= 2;
  }
  if (at[POINTS_X] < 0)
    return points_refuse(
        file, error,
        "has no columns of coordinates; expected: x y z, xu yu zu, xs ys zs or xsu ysu zsu");
  at[POINTS_MOLECULE] = find(words, count, "mol");
  at[POINTS_ELEMENT] = find(words, count, "element");
  at[POINTS_NAME] = at[POINTS_ELEMENT] >= 0 ? at[POINTS_ELEMENT] : find(words, count, "type");
  if (file->how.weights) {
    at[POINTS_WEIGHT] = find(words, count, file->how.weights);
    if (at[POINTS_WEIGHT] < 0) return points_refuse_weights(file, error);
  }
  return RUNG_OK;
}

/* From parts of the cell's vectors. */
static void unscale(const cell *of, double at[3]) {
  const double s[3] = {at[0], at[1], at[2]};
  for (int i = 0; i < 3; i++)
    at[i] = ((of->origin[i] + s[0] * of->box.a[i]) + s[1] * of->box.b[i]) + s[2] * of->box.c[i];
}

static rung_status take_points(points *file, const char *rest, int64_t count, const cell *of,
                               rung_error *error) {
  table columns = {0};
  rung_status status = take_columns(file, rest, &columns, error);
  if (!status && count < 0)
    status = points_refuse(file, error, "ITEM: NUMBER OF ATOMS does not stand before ITEM: ATOMS");
  if (!status && columns.scaled && !of->given)
    status =
        points_refuse(file, error, "ITEM: BOX BOUNDS does not stand before scaled coordinates");
  if (!status) points_begin(file, points_kept(&columns.columns));
  while (!status && file->now.count < count) {
    points_point point = {0};
    lines_word words[WORDS];
    int found = 0;
    status = points_line(file, "the last of its points", error);
    if (status) break;
    const char *at = file->in.text;
    while (found < WORDS && lines_take(&at, &words[found])) found++;
    status = points_take(file, &columns.columns, words, found, &point, error);
    if (columns.scaled) unscale(of, point.at);
    for (int axis = 0; !status && axis < 3; axis++)
      if (!isfinite(point.at[axis]))
        status = points_refuse(file, error, "point %lld: its scaled coordinates overflow",
                               (long long)file->now.count + 1);
    if (!status) status = points_push(file, &point, error);
  }
  return status;
}

/* ---- the frame --------------------------------------------------------------------------------
 */

static rung_status take_count(points *file, int64_t *count, rung_error *error) {
  rung_status status = points_line(file, "its count of points", error);
  if (status) return status;
  const lines_word word = lines_columns(&file->in, 0, file->in.length);
  if (lines_integer(word, count) && *count >= 0) return RUNG_OK;
  return points_refuse(file, error, "the count of points is '%.*s'; expected: an integer from 0",
                       LINES_SHOW(word));
}

rung_status points_read_lammps(points *file, bool *more, rung_error *error) {
  lines *in = &file->in;
  cell of = {.periodic = true};
  int64_t count = -1;
  bool begun = false;
  for (;;) {
    const char *rest;
    rung_status status =
        begun ? points_line(file, "ITEM: ATOMS", error) : lines_next(in, more, error);
    if (status || !*more) return status;
    if (!begun && lines_columns(in, 0, in->length).length == 0) continue;
    begun = true;
    if ((rest = section(in, "ATOMS")) != NULL) return take_points(file, rest, count, &of, error);
    if ((rest = section(in, "BOX BOUNDS")) != NULL)
      status = take_box(file, rest, &of, error);
    else if (section(in, "NUMBER OF ATOMS"))
      status = take_count(file, &count, error);
    else if (section(in, "TIMESTEP") || section(in, "UNITS") || section(in, "TIME"))
      status = points_line(file, "ITEM: ATOMS", error);
    else
      status = points_refuse(
          file, error,
          "'%.*s' is no section of a dump of atoms; expected: ITEM: TIMESTEP, NUMBER OF "
          "ATOMS, BOX BOUNDS or ATOMS",
          LINES_SHOW(lines_columns(in, 0, in->length)));
    if (status) return status;
  }
}
