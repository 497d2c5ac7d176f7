#include "files/lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "files/seen.h"
#include "files/source.h"

/* Numbers are as long as a double's decimals, and then some. */
enum { BUFFER = 64 * 1024, NUMBER = 1200 };

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

rung_status lines_open(lines *in, const char *path, rung_error *error) {
  const bool standard = strcmp(path, "-") == 0;
  if (source_is_spent(path, error)) return error->status;
  *in = (lines){.name = standard ? "standard input" : path, .text = ""};
  in->stream = standard ? stdin : fopen(path, "rbe");
  if (!in->stream) {
    *in = (lines){0};
    return rung_fail(error, errno == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     "%s: cannot be read: %s", *path ? path : "''", strerror(errno));
  }
  struct stat about;
  if (fstat(fileno(in->stream), &about) == 0 && S_ISREG(about.st_mode)) in->bytes = about.st_size;
  seen_begin(in->bytes > 0 ? in->bytes : -1);
  in->capacity = BUFFER;
  in->buffer = malloc(in->capacity);
  if (in->buffer) return RUNG_OK;
  lines_close(in);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory to read it", path);
}

void lines_close(lines *in) {
  if (in->stream && in->stream != stdin) fclose(in->stream);
  free(in->buffer);
  *in = (lines){0};
}

/* More bytes behind `end`; none where the file ends. One place stays free for a terminator. */
static rung_status fill(lines *in, rung_error *error) {
  if (in->begin > 0) {
    memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
  }
  if (in->end + 1 >= in->capacity) {
    char *larger = realloc(in->buffer, 2 * in->capacity);
    if (!larger) return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory to read it", in->name);
    in->buffer = larger;
    in->capacity *= 2;
  }
  errno = 0;
  const size_t got = fread(in->buffer + in->end, 1, in->capacity - in->end - 1, in->stream);
  seen_more((int64_t)got);
  in->end += got;
  if (ferror(in->stream))
    return rung_fail(error, RUNG_FILE_FAILED, "%s: cannot be read: %s", in->name,
                     strerror(errno ? errno : EIO));
  return RUNG_OK;
}

rung_status lines_next(lines *in, bool *more, rung_error *error) {
  *more = true;
  if (in->held) {
    in->held = false;
    return RUNG_OK;
  }
  size_t looked = 0;
  char *stop;
  for (;;) {
    stop = memchr(in->buffer + in->begin + looked, '\n', in->end - in->begin - looked);
    if (stop) break;
    looked = in->end - in->begin;
    if (looked > LINES_LONGEST) break;
    rung_status status = fill(in, error);
    if (status) return status;
    if (in->end == looked) break; /* nothing came: the file's last line has no end */
  }
  char *text = in->buffer + in->begin;
  const size_t length = stop ? (size_t)(stop - text) : in->end - in->begin;
  *more = stop != NULL || length > 0;
  in->number += *more;
  if (length > LINES_LONGEST)
    return rung_fail(error, RUNG_BAD_FILE, "%s: line %lld is longer than %d bytes; expected: text",
                     in->name, (long long)in->number, LINES_LONGEST);
  in->begin += length + (stop != NULL);
  in->taken += (int64_t)length + 1;
  in->text = text;
  in->length = length > 0 && text[length - 1] == '\r' ? length - 1 : length;
  if (memchr(text, '\0', length))
    return rung_fail(error, RUNG_BAD_FILE, "%s: line %lld holds a byte 0; expected: text", in->name,
                     (long long)in->number);
  text[in->length] = '\0';
  if (in->number == 1 && strncmp(text, BYTE_ORDER_MARK, 3) == 0) {
    in->text += 3;
    in->length -= 3;
  }
  return RUNG_OK;
}

void lines_hold(lines *in) {
  in->held = true;
}

double lines_done(const lines *in) {
  return in->bytes > in->taken ? (double)in->taken / (double)in->bytes : in->bytes > 0;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

bool lines_take(const char **at, lines_word *word) {
  const char *p = *at;
  while (is_blank(*p)) p++;
  word->text = p;
  while (*p != '\0' && !is_blank(*p)) p++;
  word->length = (size_t)(p - word->text);
  *at = p;
  return word->length > 0;
}

lines_word lines_columns(const lines *in, size_t first, size_t last) {
  if (last > in->length) last = in->length;
  while (first < last && is_blank(in->text[first])) first++;
  while (first < last && is_blank(in->text[last - 1])) last--;
  return first < last ? (lines_word){in->text + first, last - first} : (lines_word){"", 0};
}

bool lines_is(lines_word word, const char *text) {
  return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

bool lines_is_any_case(lines_word word, const char *text) {
  return strlen(text) == word.length && strncasecmp(word.text, text, word.length) == 0;
}

/* Terminated, for what must not read on into the next column. */
static bool copy(lines_word word, char text[NUMBER]) {
  if (word.length == 0 || word.length >= NUMBER || is_blank(word.text[0])) return false;
  memcpy(text, word.text, word.length);
  text[word.length] = '\0';
  return true;
}

bool lines_number(lines_word word, double *value) {
  char text[NUMBER], *end = text;
  *value = NAN;
  if (!copy(word, text)) return false;
  const double number = strtod(text, &end);
  if (*end != '\0' || end == text) return false;
  *value = number;
  return isfinite(number);
}

bool lines_integer(lines_word word, int64_t *value) {
  char text[NUMBER], *end = text;
  if (!copy(word, text)) return false;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (*end != '\0' || end == text || errno != 0) return false;
  *value = number;
  return true;
}
