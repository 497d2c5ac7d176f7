/* Where the bytes of an array's file come from: a file by its name, or standard input. */
#ifndef RUNG_FILES_SOURCE_H
#define RUNG_FILES_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOURCE_START = 12 };

typedef struct file_source {
  FILE *stream;
  const char *name; /* for sentences */
  int64_t left;     /* what a regular file still holds; -1: not known */
  int64_t base,
      all; /* where it begins in `stream`, and its bytes, once source_seekable() said so */
  unsigned char start[SOURCE_START]; /* its first bytes, read ahead; zeros behind its end */
  size_t started, taken;             /* how many of those there are, and were taken */
} file_source;

/* "-": standard input. Status: RUNG_FILE_FAILED, RUNG_OUT_OF_MEMORY. */
/* Whether the path is that of standard input, and nothing more comes from there: it has been read.
 */
bool source_is_spent(const char *path, rung_error *error);

rung_status source_open(file_source *in, const char *path, rung_error *error);
void source_close(file_source *in);

/* As many of `bytes` as there are. */
size_t source_read(file_source *in, void *to, size_t bytes);

/* Exactly `bytes`, or a sentence saying that `what` is cut short. RUNG_BAD_FILE, RUNG_FILE_FAILED.
 */
rung_status source_take(file_source *in, void *to, size_t bytes, const char *what,
                        rung_error *error);

/* From now on source_seek() works, the size is known, and reading begins at the start: what comes
 * through a pipe is copied to a file without a name first. */
rung_status source_seekable(file_source *in, rung_error *error);
bool source_seek(file_source *in, int64_t to);

#ifdef __cplusplus
}
#endif
#endif
