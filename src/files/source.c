#include "files/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "files/seen.h"

/* Read at a time: what a read() of more would bring is not seen before its end. */
enum { COPIED = 1 << 16, PIECE = 1 << 22 };

static rung_status cannot_read(const file_source *in, rung_error *error) {
  return rung_fail(error, RUNG_FILE_FAILED, "%s: cannot be read: %s", in->name,
                   strerror(errno ? errno : EIO));
}

bool source_is_spent(const char *path, rung_error *error) {
  static bool opened;
  if (strcmp(path, "-") != 0) return false;
  const int next = opened ? getc(stdin) : 0;
  const bool spent = next == EOF;
  if (opened && !spent) ungetc(next, stdin);
  opened = true;
  if (spent)
    rung_fail(error, RUNG_BAD_ARGUMENT,
              "'-' is standard input, which has been read to its end already; expected: once");
  return spent;
}

rung_status source_open(file_source *in, const char *path, rung_error *error) {
  const bool standard = strcmp(path, "-") == 0;
  if (source_is_spent(path, error)) return error->status;
  *in = (file_source){.name = standard ? "standard input" : path, .left = -1};
  in->stream = standard ? stdin : fopen(path, "rbe");
  if (!in->stream)
    return rung_fail(error, errno == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     "%s: cannot be read: %s", *path ? path : "''", strerror(errno));
  struct stat about;
  if (fstat(fileno(in->stream), &about) == 0 && S_ISREG(about.st_mode)) {
    in->base = ftello(in->stream);
    in->left = in->base >= 0 && in->base <= about.st_size ? about.st_size - in->base : 0;
  }
  in->all = in->left;
  seen_begin(in->left);
  errno = 0;
  in->started = fread(in->start, 1, sizeof in->start, in->stream);
  if (!ferror(in->stream)) return RUNG_OK;
  const rung_status status = cannot_read(in, error);
  source_close(in);
  return status;
}

void source_close(file_source *in) {
  if (in->stream && in->stream != stdin) fclose(in->stream);
  in->stream = NULL;
}

size_t source_read(file_source *in, void *to, size_t bytes) {
  size_t got = in->started - in->taken < bytes ? in->started - in->taken : bytes;
  memcpy(to, in->start + in->taken, got);
  in->taken += got;
  const size_t most = in->left < 0 ? COPIED : PIECE; /* a pipe's writer may be slow */
  while (got < bytes) {
    const size_t piece = bytes - got < most ? bytes - got : most;
    const size_t once = fread((char *)to + got, 1, piece, in->stream);
    seen_more((int64_t)once);
    got += once;
    if (once < piece) break;
  }
  if (in->left >= 0) in->left -= (int64_t)got;
  return got;
}

rung_status source_take(file_source *in, void *to, size_t bytes, const char *what,
                        rung_error *error) {
  errno = 0;
  if (source_read(in, to, bytes) == bytes) return RUNG_OK;
  if (ferror(in->stream)) return cannot_read(in, error);
  return rung_fail(error, RUNG_BAD_FILE, "%s: truncated: its %s ends early", in->name, what);
}

/* Copies what is left to a file that has no name. */
static rung_status spool(file_source *in, rung_error *error) {
  static const char what[] = "%s: no place for a copy of what comes through a pipe: %s";
  char bytes[COPIED];
  FILE *copy = tmpfile();
  if (!copy) return rung_fail(error, RUNG_FILE_FAILED, what, in->name, strerror(errno));
  in->all = 0;
  for (size_t got; (got = source_read(in, bytes, sizeof bytes)) > 0; in->all += (int64_t)got) {
    if (fwrite(bytes, 1, got, copy) == got) continue;
    rung_fail(error, RUNG_FILE_FAILED, what, in->name, strerror(errno));
    fclose(copy);
    return RUNG_FILE_FAILED;
  }
  if (ferror(in->stream) || fflush(copy) != 0) {
    fclose(copy);
    return cannot_read(in, error);
  }
  source_close(in);
  in->stream = copy;
  in->base = 0;
  return RUNG_OK;
}

rung_status source_seekable(file_source *in, rung_error *error) {
  const rung_status status = in->all < 0 ? spool(in, error) : RUNG_OK;
  if (status) return status;
  return source_seek(in, 0) ? RUNG_OK : cannot_read(in, error);
}

bool source_seek(file_source *in, int64_t to) {
  in->taken = in->started;
  in->left = to < in->all ? in->all - to : 0;
  return fseeko(in->stream, in->base + to, SEEK_SET) == 0;
}
