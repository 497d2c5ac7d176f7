/* A line of key=value pairs, such as "n=1000 m=777 type=f32": how cases are written down.
 *
 * Pairs are parted by blanks; a value runs to the next blank and may be empty. Every failure is
 * RUNG_BAD_ARGUMENT with a sentence that names the key, its value and what would be accepted. */
#ifndef RUNG_LAB_LINE_H
#define RUNG_LAB_LINE_H

#include <stdbool.h>

#include "core/error.h"

enum { RUNG_LINE_TEXT = 512, RUNG_LINE_PAIRS = 32 };

/* A parsed line: a value that may be copied. Read it through the functions below. */
typedef struct rung_line {
  char text[RUNG_LINE_TEXT]; /* the line, cut into words */
  int count;
  struct {
    uint16_t key, value; /* where they start in `text` */
  } pairs[RUNG_LINE_PAIRS];
} rung_line;

#ifdef __cplusplus
extern "C" {
#endif

/* Cuts `text` up. `keys` are those allowed, ended by NULL. Refuses: a key that is not among them,
 * a key given twice, a word without '=', a line of RUNG_LINE_TEXT characters or more, or of more
 * than RUNG_LINE_PAIRS pairs. A blank line has no pairs. NULL text is a blank line. */
rung_status rung_line_parse(rung_error *error, const char *text, const char *const *keys,
                            rung_line *line);

/* The value of `key`, or NULL where the line does not have it. Lives as long as *line. */
const char *rung_line_get(const rung_line *line, const char *key);

/* A whole number at the beginning of `text`, as people write them: "1048576", "2^20", "1e6", "64Ki"
 * (K, M, G, T: of 1000; Ki, Mi, Gi, Ti: of 1024). *end is set to what follows it. False, and
 * nothing set: there is none, or it does not fit in 64 bits. */
bool rung_whole_number(const char *text, const char **end, int64_t *value);

/* *value = the integer of `key`, as rung_whole_number() takes it, or `otherwise` (not checked)
 * where the line does not have it. Refuses what is no integer, and what is not in least ... most.
 * On failure *value is not touched; so with all the getters. */
rung_status rung_line_int(rung_error *error, const rung_line *line, const char *key,
                          int64_t otherwise, int64_t least, int64_t most, int64_t *value);

/* The same for a finite number, in decimal ("1.5", "-2e-3") or hexadecimal ("0x1p-4") form. */
rung_status rung_line_double(rung_error *error, const rung_line *line, const char *key,
                             double otherwise, double least, double most, double *value);

/* The shortest decimal number that reads as `value`, of 15 digits at least: "0.1". */
enum { RUNG_REAL_TEXT = 32 };
const char *rung_real_text(double value, char text[RUNG_REAL_TEXT]);

/* *index = where the value stands among `names` (ended by NULL), or `otherwise`. */
rung_status rung_line_choice(rung_error *error, const rung_line *line, const char *key,
                             const char *const *names, int otherwise, int *index);

#ifdef __cplusplus
}
#endif
#endif
