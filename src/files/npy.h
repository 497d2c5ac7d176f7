/* NumPy's .npy files: versions 1 to 3, both byte orders, C and Fortran order. */
#ifndef RUNG_FILES_NPY_H
#define RUNG_FILES_NPY_H

#include "files/array_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the whole of `path` ("-": standard input). On failure *array is zeroed, nothing to free.
 * Refuses with a sentence that names the file and the fault: no such file, wrong magic, unknown
 * version, a header longer than the file or than 64 KiB, a header that is not the dictionary it
 * must be, object and other dtypes outside ours, a shape whose product overflows or has more than
 * RUNG_MAX_DIMS dimensions, data that is truncated, more data than the shape says, memory for it
 * not to be had. Status: RUNG_BAD_FILE, RUNG_FILE_FAILED, RUNG_OUT_OF_MEMORY. */
rung_status npy_read(const char *path, file_array *array, rung_error *error);

/* Version 1.0, little endian, C order: rows of the format's table. */
rung_status npy_create(array_writer *writer);
rung_status npy_put(array_writer *writer, int64_t count, const void *from);

#ifdef __cplusplus
}
#endif
#endif
