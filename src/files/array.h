/* Files of arrays. A format is a file that reads and writes it and a row in array.c:
 *
 *   npy     NumPy's: versions 1 to 3, both byte orders, C and Fortran order (npy.h)
 *
 * A name's extension says its format. A name without one, and standard input and output ("-"), are
 * .npy. */
#ifndef RUNG_FILES_ARRAY_H
#define RUNG_FILES_ARRAY_H

#include "core/error.h"
#include "core/tensor.h"
#include "files/replace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array read from a file. `tensor` is a host DLTensor whose shape, strides (another order is a
 * matter of strides) and data point into this struct, which must not move, and its memory; bytes
 * are in the machine's order whatever the file's. */
typedef struct file_array {
  DLTensor tensor;
  rung_dtype dtype;
  int64_t shape[RUNG_MAX_DIMS], strides[RUNG_MAX_DIMS];
  void *memory; /* owned */
} file_array;

typedef struct array_format {
  const char *name;              /* for sentences */
  const char *const *extensions; /* without the dot, in lower case, ended by NULL */
  rung_status (*read)(const char *path, file_array *array, rung_error *error);
  rung_status (*begin)(file_replace *file, const char *path, const DLTensor *tensor,
                       rung_error *error); /* to write; or NULL */
} array_format;

/* The format that a path names, or "-". BAD_ARGUMENT: none, or, where `write`, one that is not
 * written; the sentence says which are, and begins with `what`. */
rung_status array_format_of(const char *what, const char *path, bool write,
                            const array_format **format, rung_error *error);

/* Reads the whole of `path`. On failure *array is zeroed, nothing to free. A name of an unknown
 * extension is taken for .npy, whose reader knows better. Status: RUNG_BAD_FILE, RUNG_FILE_FAILED,
 * RUNG_OUT_OF_MEMORY. */
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
