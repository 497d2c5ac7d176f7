/* The lines of a text file, one at a time, from a file or a pipe; and the words on a line. */
#ifndef RUNG_FILES_LINES_H
#define RUNG_FILES_LINES_H

#include <stdio.h>

#include "core/error.h"
#include "core/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LINES_LONGEST = 1 << 20 };

typedef struct lines {
  const char *name; /* for sentences: the path, borrowed, or "standard input" */
  const char *text; /* the line last given, without its end ("\n", "\r\n"), terminated */
  size_t length;
  int64_t number; /* its number, from 1 */
  /* What follows is lines.c's own. */
  FILE *stream;
  int64_t bytes, taken; /* of a regular file, 0: not known; read of it */
  char *buffer;         /* owned */
  size_t capacity, begin, end;
  bool held;
} lines;

/* "-": standard input. On failure *in is zeroed, nothing to free. FILE_FAILED, OUT_OF_MEMORY. */
rung_status lines_open(lines *in, const char *path, rung_error *error);
void lines_close(lines *in);

/* The next line; *more is false, and `text` "", where there is none. Refuses a line of more than
 * LINES_LONGEST bytes and one that holds a byte 0: BAD_FILE. */
rung_status lines_next(lines *in, bool *more, rung_error *error);

/* lines_next() gives the same line again, once. */
void lines_hold(lines *in);

/* How much of it has been read, 0 to 1; 0: not known. */
double lines_done(const lines *in);

/* A part of a line, not terminated. */
typedef struct lines_word {
  const char *text;
  size_t length;
} lines_word;

/* The next word between blanks from *at on, which moves behind it; false: there is none. */
bool lines_take(const char **at, lines_word *word);

/* The columns [first, last) of a line without blanks around them; empty beyond its end. */
lines_word lines_columns(const lines *in, size_t first, size_t last);

bool lines_is(lines_word word, const char *text);          /* the very same bytes */
bool lines_is_any_case(lines_word word, const char *text); /* ASCII letters of either case */

/* The whole word as a number; false where it is none (*value is then a NaN) or not finite (*value
 * is then what it says). As strtod() in the C locale. */
bool lines_number(lines_word word, double *value);
/* The whole word as an integer; false where it is none or does not fit. */
bool lines_integer(lines_word word, int64_t *value);

/* For "%.*s" of a sentence. */
#define LINES_SHOW(word) (int)((word).length < 40 ? (word).length : 40), (word).text

#ifdef __cplusplus
}
#endif
#endif
