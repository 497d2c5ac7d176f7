/* Programs in the harness: found in PATH, run to their end in a folder of their own. One folder at
 * a time; it is removed when it is closed, and when a signal ends this process, which also ends the
 * program under way and what that started. */
#ifndef RUNG_PEERS_PROGRAM_H
#define RUNG_PEERS_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

#include "core/error.h"

/* The folder's files. */
typedef enum program_file {
  PROGRAM_POINTS, /* points.gro */
  PROGRAM_EDGES,  /* edges.npy */
  PROGRAM_TABLE,  /* table.xvg: what a program wrote to a file, */
  PROGRAM_OUTPUT, /* to its standard output */
  PROGRAM_ERRORS, /* and to its standard error */
  PROGRAM_FILES
} program_file;
extern const char *const program_names[PROGRAM_FILES];

enum { PROGRAM_PATH = 4096 };

/* The first executable of that name in the absolute folders of PATH that `accept` accepts. */
bool program_find(const char *name, bool (*accept)(const char *path), char path[PROGRAM_PATH]);
/* What a program printed on its standard output, as far as there is room; false: it failed. */
bool program_ask(const char *const *words, char *text, size_t room);

/* A new folder in $TMPDIR, else /tmp. FILE_FAILED with a sentence. */
rung_status program_open(rung_error *error);
void program_close(void); /* allowed where none is open */
bool program_is_open(void);
/* A file of the folder; NULL with errno set. */
FILE *program_stream(program_file file, const char *mode);

/* Runs words[0] in the folder; ended by NULL. What the last one wrote is removed before. It fails
 * with a sentence where the program cannot be started, ends with another status than 0, or is
 * killed. */
rung_status program_run(const char *name, const char *const *words, rung_error *error);

#endif
