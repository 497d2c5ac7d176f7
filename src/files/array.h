/* Files of arrays. A format is a file that reads and writes it and a row in array.c:
 *
 *   npy     NumPy's: versions 1 to 3, both byte orders, C and Fortran order (npy.h)
 *   png     8 and 16 bits; palettes and fewer bits are expanded
 *   pnm     .pbm (read), .pgm, .ppm, .pam: 8 and 16 bits
 *   pfm     f32, one or three channels
 *   jpeg    read
 *   tiff    integers, f16, f32, f64, with their channels side by side
 *
 * An image is an array of shape (height, width), or (height, width, channels). PNG, JPEG and TIFF
 * are read and written by their own libraries, loaded when the first such file comes (shared.h).
 *
 * A file that is read has the format that its first bytes say, or else its name's extension. One
 * that is written has the extension's; without one, and on standard output ("-"), it is .npy, and
 * "png:-" and the like are standard output in another format. */
#ifndef RUNG_FILES_ARRAY_H
#define RUNG_FILES_ARRAY_H

#include "core/error.h"
#include "core/tensor.h"
#include "files/notes.h"
#include "files/replace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct array_format array_format; /* array_format.h */

/* What a file holds: `rows` pieces of `row_bytes`, one for each index of the first dimension (in
 * Fortran order, of the last). */
typedef struct array_about {
  rung_dtype dtype;
  int ndim;
  bool fortran;
  int64_t shape[RUNG_MAX_DIMS];
  int64_t rows, row_bytes;
} array_about;

/* Of that type and shape, in C order. RUNG_TOO_LARGE where it does not fit in 64 bits. */
rung_status array_describe(array_about *about, rung_dtype dtype, int ndim, const int64_t *shape,
                           rung_error *error);

/* The format that a path names to be written, or "-". BAD_ARGUMENT: none, or one that is not
 * written; the sentence says which are, and begins with `what`. */
rung_status array_format_of(const char *what, const char *path, const array_format **format,
                            rung_error *error);
const char *array_format_name(const array_format *format);

/* Whether the output's format holds that: BAD_ARGUMENT, BAD_DTYPE, BAD_SHAPE. */
rung_status array_holds(const char *path, const array_about *about, rung_error *error);

/* Whether a file is one of arrays, by its name or what it begins with. */
bool array_is(const char *path);

/* ---- reading, row by row ------------------------------------------------------------------ */

typedef struct array_reader array_reader;

/* Reads as much as says what the file holds. Status: RUNG_BAD_FILE, RUNG_FILE_FAILED,
 * RUNG_OUT_OF_MEMORY; *reader is then NULL. */
rung_status array_open(array_reader **reader, const char *path, rung_error *error);
const array_about *array_of(const array_reader *reader);

/* The next `count` rows, of no more than are left. After the last of them the file has been read to
 * its end, and is whole. */
rung_status array_rows(array_reader *reader, int64_t count, void *to, rung_error *error);

/* Those that stand behind the samples are here once the last row is read. */
const file_notes *array_notes(const array_reader *reader);
void array_close(array_reader *reader); /* or NULL */

/* ---- writing, row by row ------------------------------------------------------------------ */

typedef struct array_writer array_writer;

/* Begins to write beside the place of `path`. `notes` (or NULL) are looked at until
 * array_finish(). BAD_ARGUMENT, BAD_DTYPE, BAD_SHAPE: what the format does not hold. */
rung_status array_create(array_writer **writer, const char *path, const array_about *about,
                         const file_notes *notes, rung_error *error);
rung_status array_put(array_writer *writer, int64_t count, const void *from, rung_error *error);

/* After the last row: the file is put in its place, completely or not at all (replace.h). Frees in
 * every case. */
rung_status array_finish(array_writer *writer, rung_error *error);
void array_drop(array_writer *writer); /* or NULL: nothing is written */

/* ---- whole arrays ------------------------------------------------------------------------- */

/* An array read from a file. `tensor` is a host DLTensor whose shape, strides (another order is a
 * matter of strides) and data point into this struct, which must not move, and its memory; bytes
 * are in the machine's order whatever the file's. */
typedef struct file_array {
  DLTensor tensor;
  rung_dtype dtype;
  int64_t shape[RUNG_MAX_DIMS], strides[RUNG_MAX_DIMS];
  void *memory; /* owned */
} file_array;

/* Reads the whole of `path`. On failure *array is zeroed, nothing to free. Status: RUNG_BAD_FILE,
 * RUNG_FILE_FAILED, RUNG_OUT_OF_MEMORY. */
rung_status array_read(const char *path, file_array *array, rung_error *error);
void array_free(file_array *array);

/* Writes a host tensor (any strides) beside its place, where file_replace_commit() then puts it:
 * of several arrays none before all are written. On failure *file is zeroed, nothing to free. */
rung_status array_begin(file_replace *file, const char *path, const DLTensor *tensor,
                        rung_error *error);

/* The same, and puts it there: completely or not at all (replace.h). */
rung_status array_write(const char *path, const DLTensor *tensor, rung_error *error);

/* Whether array_write() would find the format and the place: to be asked before long work. */
rung_status array_possible(const char *what, const char *path, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
