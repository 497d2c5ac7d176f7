/* NumPy's .npy files: versions 1 to 3, both byte orders, C and Fortran order. */
#ifndef RUNG_FILES_NPY_H
#define RUNG_FILES_NPY_H

#include "files/array.h"

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

/* Writes a host tensor (any strides) in C order, version 1.0, little endian, beside `path`, so that
 * file_replace_commit() puts it there; "-": to standard output. On failure *file is zeroed, nothing
 * to free. */
rung_status npy_begin(file_replace *file, const char *path, const DLTensor *tensor,
                      rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
