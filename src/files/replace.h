/* Files that are written whole or not at all: into a temporary file beside the place, flushed,
 * renamed there. A crash, Ctrl-C or a full disk leaves the old file as it was; the temporary is
 * removed on failure and on the signals that end a program (ending.h), which then take their usual
 * effect.
 *
 * A symbolic link is followed: what it points to is replaced. An existing file keeps its mode and,
 * where we may set it, its owner; a new one gets the umask's. What exists and is no regular file (a
 * device, a pipe) cannot be replaced and is written directly. */
#ifndef RUNG_FILES_REPLACE_H
#define RUNG_FILES_REPLACE_H

#include <stdio.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct file_replace {
  FILE *stream;           /* write here */
  char *path, *temporary; /* temporary NULL: written directly; static memory */
} file_replace;

/* path "-": standard output, no renaming. On failure *file is zeroed, nothing to free.
 * Status: RUNG_FILE_FAILED, RUNG_OUT_OF_MEMORY. */
rung_status file_replace_begin(file_replace *file, const char *path, rung_error *error);

/* Flush, sync, rename; fails where any write to the stream before failed. Frees in every case. */
rung_status file_replace_commit(file_replace *file, rung_error *error);

/* Removes the temporary and frees; a zeroed *file is allowed. */
void file_replace_abandon(file_replace *file);

/* Flushes; 0, or the errno of why what was written has not arrived. Of a write long ago the reason
 * is lost, and the system is asked once more, with a byte: the output is not whole in any case. */
int file_flush(FILE *stream);

/* Whether file_replace_begin() would succeed now: to be asked before long work. Leaves nothing. */
rung_status file_replace_possible(const char *path, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
