/* An NPY file that several processes read and write, each a share of it. The shares, in their
 * order, are its elements in row-major order; all but the last few have as many of what is shared
 * out. */
#ifndef RUNG_FILES_SHARE_H
#define RUNG_FILES_SHARE_H

#include "files/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What must be the same for all who share a file, padding and all. */
typedef struct share_file {
  array_about about;
  int64_t bytes, seconds, nanoseconds; /* its size, and when it was written last */
} share_file;

/* What is shared out: elements; what there is for each index of the first dimension; or rows of
 * the last dimension, and elements where there are fewer rows than shares. */
typedef enum share_cut { SHARE_ELEMENTS, SHARE_ROWS, SHARE_LINES } share_cut;

/* Elements of the share, from *first on. */
int64_t share_of(const array_about *about, share_cut cut, int share, int shares, int64_t *first);

/* Reads a share: *array is of one dimension, or of the file's where rows are shared out; of lines
 * it is (lines, elements). Refuses standard input, other formats, Fortran order, and rows of what
 * has no dimension. On failure *array is zeroed, nothing to free. */
rung_status share_read(const char *path, share_cut cut, int share, int shares, file_array *array,
                       share_file *file, rung_error *error);
/* Size and time once more. */
rung_status share_look(const char *path, share_file *file, rung_error *error);

/* An output in the making. */
typedef struct share_place {
  int64_t offset; /* where the elements begin */
  char path[4096];
} share_place;

/* One process makes the file beside its place, with its header, and puts it there, or drops it:
 * file_replace_commit(), file_replace_abandon(). */
rung_status share_create(file_replace *file, const char *path, const array_about *about,
                         share_place *place, rung_error *error);
/* All write their elements, `count` of `size` bytes in the machine's order, which may be turned
 * round where they lie; `name` is the output's, for a sentence. */
rung_status share_write(const share_place *place, const char *name, int64_t first, int64_t count,
                        size_t size, void *data, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
