/* Text for a terminal: lines wrapped at its width, and words that were nearly right. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum { NARROWEST = 20, USUAL = 80, LINE = 1 << 14 };

static bool wide; /* --wide or --json: lines stay as they are */

void cli_wide(void) {
  wide = true;
}

int cli_columns(int descriptor) {
  struct winsize size;
  if (wide || !isatty(descriptor)) return 0;
  int columns = ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  if (columns == 0) columns = USUAL;
  return columns < NARROWEST ? NARROWEST : columns;
}

int cli_help_columns(void) {
  const int columns = cli_columns(STDOUT_FILENO);
  return columns > 0 && columns < USUAL ? columns : USUAL;
}

/* ---- wrapping ----------------------------------------------------------------------------- */

/* The bytes of the character at `text`, and in *width its columns: a colour has none. */
static size_t character(const char *text, const char *end, int *width) {
  size_t length = 1;
  *width = 1;
  if (*text == '\033') {
    *width = 0;
    while (text + length < end && text[length - 1] != 'm') length++;
    return length;
  }
  while (text + length < end && (text[length] & 0xc0) == 0x80) length++;
  return length;
}

/* The end of what fits in `columns` from `text` on: behind a word, or wherever one is too long. */
static const char *fitting(const char *text, const char *end, int columns) {
  const char *blank = NULL, *at = text;
  int used = 0, width;
  while (at < end) {
    const size_t length = character(at, end, &width);
    if (used + width > columns) return blank ? blank : at;
    if (*at == ' ' && at > text && at[-1] != ' ') blank = at;
    used += width;
    at += length;
  }
  return end;
}

void cli_wrap(FILE *to, const char *text, size_t length, int columns, int used, int indent) {
  const char *end = text + length;
  int left = columns - used;
  while (text < end) {
    const char *until = fitting(text, end, left > 0 ? left : 1);
    fwrite(text, 1, (size_t)(until - text), to);
    while (until < end && *until == ' ') until++;
    if (until < end) fprintf(to, "\n%*s", indent, "");
    text = until;
    left = columns - indent;
  }
}

/* One line: what does not fit goes below, a little further in than the line begins. */
static void wrap_line(FILE *to, const char *line, size_t length, int columns) {
  size_t blanks = 0;
  while (blanks < length && line[blanks] == ' ') blanks++;
  const char *rest = fitting(line + blanks, line + length, columns - (int)blanks);
  const int indent = blanks + 4 < (size_t)columns / 2 ? (int)blanks + 4 : columns / 4;
  if (rest == line + length || blanks >= (size_t)columns) {
    fwrite(line, 1, length, to);
    return;
  }
  fprintf(to, "%*s", (int)blanks, "");
  cli_wrap(to, line + blanks, length - blanks, columns, (int)blanks, indent);
}

/* ---- standard output ---------------------------------------------------------------------- */

static FILE *terminal; /* standard output as it was */
static char line[LINE];
static size_t held; /* of `line`: what has come of a line that goes on */

static void put_line(void) {
  const int columns = cli_columns(STDOUT_FILENO);
  if (columns > 0 && held < sizeof line)
    wrap_line(terminal, line, held, columns);
  else
    fwrite(line, 1, held, terminal);
  held = 0;
}

static ssize_t take(void *to, const char *text, size_t size) {
  (void)to;
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '\n' || held == sizeof line) put_line();
    if (text[i] == '\n')
      putc('\n', terminal);
    else
      line[held++] = text[i];
  }
  return fflush(terminal) == 0 && !ferror(terminal) ? (ssize_t)size : 0;
}

static int end(void *to) {
  (void)to;
  put_line();
  return fflush(terminal);
}

void cli_terminal(void) {
  if (cli_columns(STDOUT_FILENO) == 0) return;
  FILE *wrapped = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take, .close = end});
  if (!wrapped) return; /* then lines are not wrapped */
  setvbuf(wrapped, NULL, _IOLBF, BUFSIZ);
  terminal = stdout;
  stdout = wrapped;
}

/* ---- words -------------------------------------------------------------------------------- */

enum { WORD = 40 };

/* How many letters must change, come, go or change places. */
static int distance(const char *a, const char *b) {
  int rows[3][WORD + 1];
  const int m = (int)strlen(a), n = (int)strlen(b);
  for (int k = 0; k <= n; k++) rows[0][k] = k;
  for (int i = 1; i <= m; i++) {
    int *now = rows[i % 3];
    const int *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    now[0] = i;
    for (int k = 1; k <= n; k++) {
      int least = above[k - 1] + (a[i - 1] != b[k - 1]);
      if (above[k] + 1 < least) least = above[k] + 1;
      if (now[k - 1] + 1 < least) least = now[k - 1] + 1;
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
          before[k - 2] + 1 < least)
        least = before[k - 2] + 1;
      now[k] = least;
    }
  }
  return rows[m % 3][n];
}

void cli_guess_try(cli_guess *guess, const char *candidate) {
  const size_t length = strlen(guess->word), other = strlen(candidate);
  if (length == 0 || length > WORD || other > WORD) return;
  const int far = distance(guess->word, candidate);
  const bool begins = length >= 3 && strncmp(candidate, guess->word, length) == 0;
  const int most = length < 4 ? 1 : length < 8 ? 2 : 3;
  if (far > most && !begins) return;
  if (guess->best && far >= guess->distance) return;
  guess->best = candidate;
  guess->distance = far;
}

const char *cli_guess_text(const cli_guess *guess, char text[CLI_GUESS]) {
  text[0] = '\0';
  if (guess->best)
    snprintf(text, CLI_GUESS, "; did you mean '%s%.40s'?", guess->dashes ? guess->dashes : "",
             guess->best);
  return text;
}
