#include "files/points.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/points_format.h"

enum { FIRST = 1024, SENTENCE = 300 };
static const int64_t most = ((int64_t)1 << 31) - 1;

static const struct {
  const char *name;
  points_read *read;
  const char *extensions[4]; /* ended by NULL */
} formats[] = {{"xyz", points_read_xyz, {"xyz", "extxyz", "exyz"}},
               {"gro", points_read_gro, {"gro"}},
               {"pdb", points_read_pdb, {"pdb", "ent"}},
               {"lammps", points_read_lammps, {"lammpstrj", "dump", "lammps"}},
               {"csv", points_read_csv, {"csv", "tsv", "txt"}},
               {"npy", points_read_npy, {"npy"}}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* ---- opening ----------------------------------------------------------------------------------
 */

static rung_status find_format(const char *path, const char *format, points_read **read,
                               rung_error *error) {
  const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
  const char *extension = dot && (!slash || dot > slash) ? dot + 1 : "";
  for (int i = 0; i < FORMATS; i++) {
    bool found = format && strcmp(formats[i].name, format) == 0;
    for (int k = 0; !format && formats[i].extensions[k]; k++)
      found = found || strcasecmp(formats[i].extensions[k], extension) == 0;
    if (!found) continue;
    *read = formats[i].read;
    return RUNG_OK;
  }
  if (format)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "--format '%.40s' is not known; expected: xyz, gro, pdb, lammps, csv or npy",
                     format);
  return rung_fail(
      error, RUNG_BAD_ARGUMENT,
      "%s: its name does not say its format; expected: --format xyz, gro, pdb, lammps, csv or "
      "npy",
      path);
}

rung_status points_open(points **file, const char *path, const points_how *how, rung_error *error) {
  points_read *read = NULL;
  *file = NULL;
  rung_status status = find_format(path, how->format, &read, error);
  if (status) return status;
  points *made = calloc(1, sizeof *made);
  if (!made) return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory to read it", path);
  made->path = path;
  made->name = strcmp(path, "-") == 0 ? "standard input" : path;
  made->how = *how;
  made->read = read;
  if (read == points_read_npy)
    status = npy_read(path, &made->array, error);
  else
    status = lines_open(&made->in, path, error);
  if (status) {
    points_close(made);
    return status;
  }
  *file = made;
  return RUNG_OK;
}

void points_close(points *file) {
  if (!file) return;
  lines_close(&file->in);
  array_free(&file->array);
  free(file->at);
  free(file->labels);
  free(file->molecules);
  free(file->weights);
  free(file);
}

rung_status points_next(points *file, points_frame *frame, bool *more, rung_error *error) {
  const int64_t number = file->now.number + 1;
  file->now = (points_frame){.number = number};
  *more = false;
  rung_status status = file->read(file, more, error);
  if (!status && !*more && number == 1)
    status = rung_fail(error, RUNG_BAD_FILE, "%s: holds no points", file->name);
  *frame = file->now;
  if (status || !*more) memset(frame, 0, sizeof *frame);
  return status;
}

double points_done(const points *file) {
  if (file->read != points_read_npy) return lines_done(&file->in);
  const DLTensor *all = &file->array.tensor;
  const int64_t frames = all->ndim == 3 ? all->shape[0] : 1;
  return frames > 0 ? (double)file->now.number / (double)frames : 1;
}

/* ---- a frame ----------------------------------------------------------------------------------
 */

void points_begin(points *file, unsigned kept) {
  if (file->kept != kept) file->capacity = 0;
  file->kept = kept;
  file->now.count = 0;
}

/* `*memory` with room for `count` of `size` bytes; nothing for what is not kept. */
static bool enlarge(void *memory, bool kept, int64_t count, size_t size) {
  void **at = memory;
  if (!kept) return true;
  void *larger = realloc(*at, (size_t)count * size);
  if (larger) *at = larger;
  return larger != NULL;
}

static rung_status grow(points *file, rung_error *error) {
  const int64_t larger = file->capacity ? 2 * file->capacity : FIRST;
  if (!enlarge(&file->at, true, larger, sizeof *file->at) ||
      !enlarge(&file->labels, file->kept & POINTS_LABELS, larger, sizeof *file->labels) ||
      !enlarge(&file->molecules, file->kept & POINTS_MOLECULES, larger, sizeof *file->molecules) ||
      !enlarge(&file->weights, file->kept & POINTS_WEIGHTS, larger, sizeof *file->weights))
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory for more than %lld points",
                     file->name, (long long)file->now.count);
  file->capacity = larger;
  return RUNG_OK;
}

rung_status points_push(points *file, const points_point *point, rung_error *error) {
  points_frame *now = &file->now;
  if (now->count == most)
    return points_refuse(file, error, "holds more than %lld points", (long long)most);
  if (now->count == file->capacity) {
    rung_status status = grow(file, error);
    if (status) return status;
  }
  const int64_t i = now->count++;
  memcpy(file->at[i], point->at, sizeof point->at);
  now->at = (const double(*)[3])file->at;
  if (file->kept & POINTS_LABELS) {
    file->labels[i] = point->label;
    now->labels = file->labels;
  }
  if (file->kept & POINTS_MOLECULES) {
    file->molecules[i] = point->molecule;
    now->molecules = file->molecules;
  }
  if (file->kept & POINTS_WEIGHTS) {
    file->weights[i] = point->weight;
    now->weights = file->weights;
  }
  return RUNG_OK;
}

/* ---- what readers share -----------------------------------------------------------------------
 */

rung_status points_refuse(points *file, rung_error *error, const char *format, ...) {
  char text[SENTENCE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return rung_fail(error, RUNG_BAD_FILE, "%s: frame %lld: line %lld: %s", file->name,
                   (long long)file->now.number, (long long)file->in.number, text);
}

rung_status points_line(points *file, const char *what, rung_error *error) {
  bool more = false;
  rung_status status = lines_next(&file->in, &more, error);
  if (status || more) return status;
  return rung_fail(error, RUNG_BAD_FILE, "%s: frame %lld: truncated: the file ends before %s",
                   file->name, (long long)file->now.number, what);
}

rung_status points_number(points *file, const char *what, lines_word word, double *value,
                          rung_error *error) {
  if (lines_number(word, value)) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_FILE,
      "%s: frame %lld: point %lld (line %lld): %s is '%.*s'; expected: a finite number", file->name,
      (long long)file->now.number, (long long)file->now.count + 1, (long long)file->in.number, what,
      LINES_SHOW(word));
}

void points_call(char *to, size_t size, lines_word word) {
  const size_t length = word.length < size ? word.length : size - 1;
  memcpy(to, word.text, length);
  memset(to + length, '\0', size - length);
}

unsigned points_kept(const points_columns *columns) {
  const int *at = columns->at;
  return (at[POINTS_NAME] >= 0 || at[POINTS_ELEMENT] >= 0 ? POINTS_LABELS : 0u) |
         (at[POINTS_MOLECULE] >= 0 ? POINTS_MOLECULES : 0u) |
         (at[POINTS_WEIGHT] >= 0 ? POINTS_WEIGHTS : 0u);
}

rung_status points_take(points *file, const points_columns *columns, const lines_word *words,
                        int count, points_point *point, rung_error *error) {
  static const char *const axes[] = {"x", "y", "z"};
  const int *at = columns->at;
  rung_status status = RUNG_OK;
  for (int i = 0; i < POINTS_COLUMNS; i++)
    if (at[i] >= count)
      return points_refuse(file, error, "point %lld has %d columns; expected: %d",
                           (long long)file->now.count + 1, count, at[i] + 1);
  for (int axis = 0; !status && axis < 3; axis++)
    status = points_number(file, axes[axis], words[at[POINTS_X + axis]], &point->at[axis], error);
  if (!status && at[POINTS_WEIGHT] >= 0)
    status =
        points_number(file, file->how.weights, words[at[POINTS_WEIGHT]], &point->weight, error);
  if (!status && at[POINTS_MOLECULE] >= 0 &&
      !lines_integer(words[at[POINTS_MOLECULE]], &point->molecule))
    status = points_refuse(file, error, "point %lld: molecule is '%.*s'; expected: an integer",
                           (long long)file->now.count + 1, LINES_SHOW(words[at[POINTS_MOLECULE]]));
  if (at[POINTS_NAME] >= 0)
    points_call(point->label.name, sizeof point->label.name, words[at[POINTS_NAME]]);
  if (at[POINTS_ELEMENT] >= 0)
    points_call(point->label.element, sizeof point->label.element, words[at[POINTS_ELEMENT]]);
  return status;
}

rung_status points_refuse_weights(points *file, rung_error *error) {
  return rung_fail(error, RUNG_BAD_FILE, "%s: frame %lld: has no column '%.60s' for the weights",
                   file->name, (long long)file->now.number, file->how.weights);
}

/* ---- boxes ------------------------------------------------------------------------------------
 */

rung_status points_box(points *file, const rung_box *box, rung_error *error) {
  if (file->how.no_box) return RUNG_OK;
  double reach;
  if (rung_box_reach(NULL, box, &reach) != RUNG_OK)
    return points_refuse(file, error,
                         "the box (%g %g %g), (%g %g %g), (%g %g %g) has no volume, or a side that "
                         "is too short or long; expected: vectors of lengths from 1e-70 to 1e70 "
                         "that do not lie in a plane, or --open",
                         box->a[0], box->a[1], box->a[2], box->b[0], box->b[1], box->b[2],
                         box->c[0], box->c[1], box->c[2]);
  file->now.has_box = true;
  file->now.box = *box;
  return RUNG_OK;
}

/* Exact where it matters: boxes of right angles are common. */
static double cosine(double degrees) {
  return degrees == 90    ? 0
         : degrees == 60  ? 0.5
         : degrees == 120 ? -0.5
                          : cos(degrees * (M_PI / 180));
}

rung_status points_box_of_angles(points *file, const double lengths[3], const double angles[3],
                                 rung_box *box, rung_error *error) {
  static const char *const names[] = {"a", "b", "c", "alpha", "beta", "gamma"};
  for (int i = 0; i < 3; i++)
    if (!(lengths[i] > 0))
      return points_refuse(file, error, "the box's length %s is %g; expected: one above 0",
                           names[i], lengths[i]);
  for (int i = 0; i < 3; i++)
    if (!(angles[i] > 0 && angles[i] < 180))
      return points_refuse(file, error, "the box's angle %s is %g; expected: one between 0 and 180",
                           names[3 + i], angles[i]);
  const double alpha = cosine(angles[0]), beta = cosine(angles[1]), gamma = cosine(angles[2]);
  const double sine = sqrt(1 - gamma * gamma), y = (alpha - beta * gamma) / sine;
  const double rest = 1 - beta * beta - y * y;
  if (!(rest > 0))
    return points_refuse(
        file, error,
        "no box has the angles %g, %g and %g: any one of them must be less than the "
        "other two together",
        angles[0], angles[1], angles[2]);
  *box = (rung_box){.a = {lengths[0], 0, 0},
                    .b = {lengths[1] * gamma, lengths[1] * sine, 0},
                    .c = {lengths[2] * beta, lengths[2] * y, lengths[2] * sqrt(rest)}};
  return RUNG_OK;
}
