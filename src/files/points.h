/* Files of points: frames of atoms, particles, galaxies, one after the other.
 *
 *   xyz     XYZ and extended XYZ: Lattice, Properties and pbc of the comment line
 *   gro     GROMACS; coordinates and box in nm, as the file has them
 *   pdb     Protein Data Bank: ATOM and HETATM, CRYST1, MODEL
 *   lammps  LAMMPS's text dumps: x y z, xu yu zu, xs ys zs or xsu ysu zsu
 *   csv     columns parted by commas, semicolons, tabs or blanks; one frame
 *   npy     (n, 3) or (frames, n, 3), f32 or f64
 *
 * Nothing is converted: lengths are in the file's own unit. A count that a file states is believed
 * when that many points have been read, and no sooner. */
#ifndef RUNG_FILES_POINTS_H
#define RUNG_FILES_POINTS_H

#include "core/error.h"
#include "core/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a point is called: its name ("OW"; a species; a type) and, where the file says it, its
 * element. Both terminated; longer ones are cut. */
typedef struct points_label {
  char name[16], element[4];
} points_label;

typedef struct points_frame {
  int64_t number; /* from 1 */
  int64_t count;
  const double (*at)[3];      /* all finite */
  const points_label *labels; /* NULL: the file names nothing */
  const int64_t *molecules;   /* NULL: it has none. Of gro and pdb: runs of one residue; from 0 */
  const double *weights;      /* NULL: none were asked for. All finite */
  bool has_box;
  rung_box box;
} points_frame;

typedef struct points_how {
  const char *format;  /* one of the names above; NULL: by the path's extension */
  const char *weights; /* the column whose numbers are the weights; NULL: none */
  bool no_box;         /* the file's box is of no interest, and may be a bad one */
} points_how;

typedef struct points points;

/* path "-": standard input, whose format must be given. On failure *file is NULL.
 * Status: BAD_ARGUMENT (no such format), FILE_FAILED, BAD_FILE, OUT_OF_MEMORY. */
rung_status points_open(points **file, const char *path, const points_how *how, rung_error *error);

/* The next frame; it lasts until the next call. *more is false where there is none: a file has one
 * at least. BAD_FILE: the file is not what it says it is; the sentence names frame, point and line.
 * The file is then to be closed. */
rung_status points_next(points *file, points_frame *frame, bool *more, rung_error *error);

/* How much of the file has been read, 0 to 1; 0: not known. */
double points_done(const points *file);

/* NULL is allowed. */
void points_close(points *file);

#ifdef __cplusplus
}
#endif
#endif
