/* Libraries of image formats, loaded when the first such file comes: the command starts without
 * them, and works where they are not installed. */
#ifndef RUNG_FILES_SHARED_H
#define RUNG_FILES_SHARED_H

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table of a library's functions is an X-macro of their names, of which SHARED_MEMBER makes a
 * struct of pointers and SHARED_NAME the names, in the same order. */
#define SHARED_MEMBER(name) __typeof__(name) *name;
#define SHARED_NAME(name) #name,

/* Fills `functions`, pointers in the order of `names`; once. `path` is of the file that needs them.
 * RUNG_UNSUPPORTED: the library or one of them is not there; RUNG_OUT_OF_MEMORY. */
rung_status shared_load(const char *library, const char *const *names, int count, void *functions,
                        const char *path, rung_error *error);

/* For a build that was made without the library. */
rung_status shared_left_out(const char *what, const char *path, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
