/* Protein Data Bank: ATOM and HETATM lines of fixed columns; CRYST1 is the box of the frames after
 * it; MODEL ... ENDMDL is a frame, or, without these, the whole file up to END.
 *
 * A run of lines with one chain and residue is a molecule, and a TER ends it. A cell of 1 x 1 x 1
 * is none: what the format has where there is no crystal. Weights: "occupancy" or "bfactor". */
#include <string.h>

#include "files/points_format.h"

enum { RESIDUE = 17, RESIDUE_END = 27 }; /* residue's name, chain, number, insertion code */

typedef struct reading {
  bool model, ended; /* MODEL was seen; the molecule before is over */
  int64_t molecule;
  char residue[RESIDUE_END - RESIDUE];
} reading;

static bool starts(const lines *in, const char *record) {
  return strncmp(in->text, record, strlen(record)) == 0;
}

/* Serials of six digits begin in the record's own sixth column, "ATOM 100000"; what they say,
 * hybrid-36
 * ("A0000") or stars, is not looked at. */
static bool is_atom(const lines *in) {
  if (starts(in, "HETATM") || starts(in, "ATOM  ")) return true;
  return starts(in, "ATOM ") && in->text[5] >= '0' && in->text[5] <= '9';
}

static rung_status take_cell(points *file, rung_error *error) {
  static const size_t columns[] = {6, 15, 24, 33, 40, 47, 54};
  static const char *const names[] = {"a", "b", "c", "alpha", "beta", "gamma"};
  double n[6];
  if (file->how.no_box) return RUNG_OK;
  for (int i = 0; i < 6; i++) {
    const lines_word word = lines_columns(&file->in, columns[i], columns[i + 1]);
    if (!lines_number(word, &n[i]))
      return points_refuse(file, error, "CRYST1's %s is '%.*s'; expected: a finite number",
                           names[i], LINES_SHOW(word));
  }
  file->has_cell = n[0] != 1 || n[1] != 1 || n[2] != 1;
  return file->has_cell ? points_box_of_angles(file, n, n + 3, &file->cell, error) : RUNG_OK;
}

/* Where the element's columns are blank it is what stands in columns 12-14, as the format aligns
 * names: " CA " is carbon, "CA  " calcium; but a name of four that begins with H is a hydrogen's,
 * and digits before a letter are. */
static lines_word element_of(const lines *in) {
  lines_word element = lines_columns(in, 76, 78);
  if (element.length > 0 && element.text[0] >= 'A') return element;
  element = lines_columns(in, 12, 16);
  if (element.length == 4 && element.text[0] == 'H') return (lines_word){element.text, 1};
  element = lines_columns(in, 12, 14);
  while (element.length > 0 && element.text[0] >= '0' && element.text[0] <= '9')
    element = (lines_word){element.text + 1, element.length - 1};
  if (element.length == 2 && element.text[1] >= '0' && element.text[1] <= '9') element.length = 1;
  return element;
}

static rung_status take_atom(points *file, reading *now, rung_error *error) {
  static const char *const axes[] = {"x", "y", "z"};
  const lines *in = &file->in;
  points_point point = {0};
  rung_status status = RUNG_OK;
  for (size_t axis = 0; !status && axis < 3; axis++)
    status = points_number(file, axes[axis], lines_columns(in, 30 + 8 * axis, 38 + 8 * axis),
                           &point.at[axis], error);
  if (!status && file->how.weights) {
    const size_t first = strcmp(file->how.weights, "occupancy") == 0 ? 54 : 60;
    status = points_number(file, file->how.weights, lines_columns(in, first, first + 6),
                           &point.weight, error);
  }
  if (status) return status;
  points_call(point.label.name, sizeof point.label.name, lines_columns(in, 12, 16));
  points_call(point.label.element, sizeof point.label.element, element_of(in));
  if (now->ended || memcmp(now->residue, in->text + RESIDUE, sizeof now->residue) != 0)
    now->molecule++;
  memcpy(now->residue, in->text + RESIDUE, sizeof now->residue);
  now->ended = false;
  point.molecule = now->molecule;
  return points_push(file, &point, error);
}

rung_status points_read_pdb(points *file, bool *more, rung_error *error) {
  reading now = {.molecule = -1, .ended = true};
  rung_status status = RUNG_OK;
  const char *weights = file->how.weights;
  if (weights && strcmp(weights, "occupancy") != 0 && strcmp(weights, "bfactor") != 0)
    return points_refuse_weights(file, error);
  points_begin(file, POINTS_LABELS | POINTS_MOLECULES | (weights ? POINTS_WEIGHTS : 0u));
  while (!status) {
    lines *in = &file->in;
    status = lines_next(in, more, error);
    if (status || !*more) break;
    if (is_atom(in)) {
      status = take_atom(file, &now, error);
    } else if (starts(in, "TER")) {
      now.ended = true;
    } else if (starts(in, "ATOM") || starts(in, "HETAT")) {
      status = points_refuse(file, error,
                             "'%.*s' is no record of an atom; expected: ATOM or HETATM "
                             "in columns 1-6",
                             LINES_SHOW(lines_columns(in, 0, 12)));
    } else if (starts(in, "MODEL ")) {
      if (file->now.count > 0) { /* the atoms before it are a frame of their own */
        lines_hold(in);
        break;
      }
      now.model = true;
    } else if (starts(in, "ENDMDL") || starts(in, "END ") ||
               lines_is(lines_columns(in, 0, in->length), "END")) {
      if (file->now.count > 0 || now.model) break;
    } else if (starts(in, "CRYST1")) {
      status = take_cell(file, error);
    }
  }
  if (!status && !*more && now.model) return points_line(file, "ENDMDL", error);
  if (status || (!*more && file->now.count == 0)) return status;
  *more = true;
  return file->has_cell ? points_box(file, &file->cell, error) : RUNG_OK;
}
