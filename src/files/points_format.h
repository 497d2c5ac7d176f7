/* What a format's reader is, and what all of them share. */
#ifndef RUNG_FILES_POINTS_FORMAT_H
#define RUNG_FILES_POINTS_FORMAT_H

#include "files/lines.h"
#include "files/npy.h"
#include "files/points.h"

/* Reads one frame into file->now by points_begin() and points_push(); *more is false where the file
 * ended before it. */
typedef rung_status points_read(points *file, bool *more, rung_error *error);
points_read points_read_xyz, points_read_gro, points_read_pdb, points_read_lammps, points_read_csv,
    points_read_npy;

/* Which of a frame's arrays are filled. */
enum { POINTS_LABELS = 1 << 0, POINTS_MOLECULES = 1 << 1, POINTS_WEIGHTS = 1 << 2 };

typedef struct points_point {
  double at[3];
  points_label label;
  int64_t molecule;
  double weight;
} points_point;

/* A file's columns by what is taken from them; -1: not there. */
enum { POINTS_NAME, POINTS_ELEMENT, POINTS_MOLECULE, POINTS_WEIGHT, POINTS_X, POINTS_COLUMNS = 7 };
typedef struct points_columns {
  int at[POINTS_COLUMNS]; /* x, y and z are the last three */
} points_columns;

struct points {
  const char *path, *name; /* name: for sentences */
  points_how how;
  points_read *read;
  lines in;         /* not of npy */
  file_array array; /* npy's */
  points_frame now;
  rung_box cell; /* pdb: of the frames to come */
  bool has_cell;
  /* The memory behind `now`. */
  unsigned kept;
  int64_t capacity;
  double (*at)[3];
  points_label *labels;
  int64_t *molecules;
  double *weights;
};

/* A frame without points that keeps these. */
void points_begin(points *file, unsigned kept);
/* Adds one; what is not kept is not looked at. Coordinates and weight must be finite. */
rung_status points_push(points *file, const points_point *point, rung_error *error);

/* A number of the point that is being read, finite. */
rung_status points_number(points *file, const char *what, lines_word word, double *value,
                          rung_error *error);
/* Its columns, of a line's words. */
rung_status points_take(points *file, const points_columns *columns, const lines_word *words,
                        int count, points_point *point, rung_error *error);
unsigned points_kept(const points_columns *columns);

void points_call(char *to, size_t size, lines_word word); /* a name, cut */

/* The next line of a frame under way, or a sentence: the file ends before `what`. */
rung_status points_line(points *file, const char *what, rung_error *error);

/* "FILE: frame 2: line 40: ..." */
rung_status points_refuse(points *file, rung_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
rung_status points_refuse_weights(points *file, rung_error *error);

/* The frame's box, from three vectors: finite and with a volume. */
rung_status points_box(points *file, const rung_box *box, rung_error *error);
/* From lengths above 0 and angles in degrees, a along x, b in the plane of x and y. */
rung_status points_box_of_angles(points *file, const double lengths[3], const double angles[3],
                                 rung_box *box, rung_error *error);

#endif
