#include "lab/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/json.h"

int lab_open_regular(const char *path, int64_t most) {
  const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat is;
  if (fstat(descriptor, &is) == 0 && S_ISREG(is.st_mode) && is.st_size <= most) return descriptor;
  close(descriptor);
  errno = EFBIG;
  return -1;
}

char *lab_take_text(int descriptor, size_t *length) {
  const off_t size = lseek(descriptor, 0, SEEK_END);
  char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
  ssize_t used = 0, got = 1;
  while (text && used < size && got > 0) {
    got = pread(descriptor, text + used, (size_t)(size - used), used);
    used += got > 0 ? got : 0;
  }
  close(descriptor);
  if (text) text[used] = '\0';
  if (length) *length = (size_t)used;
  return text;
}

json_t *lab_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static bool write_out(int descriptor, const char *text) {
  FILE *stream = fdopen(descriptor, "w");
  if (!stream) {
    close(descriptor);
    return false;
  }
  errno = 0;
  bool done = fputs(text, stream) >= 0 && fflush(stream) == 0 && fsync(descriptor) == 0;
  const int cause = errno;
  if (fclose(stream) != 0) return false;
  errno = cause;
  return done;
}

/* A new file beside `path`, of a name nobody else uses and with the rights any new file gets. */
static int open_beside(const char *path, char *beside, size_t room) {
  uint64_t tag = 0;
  if (getrandom(&tag, sizeof tag, 0) != (ssize_t)sizeof tag) tag = (uint64_t)getpid();
  snprintf(beside, room, "%s.%016llx", path, (unsigned long long)tag);
  return open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static rung_status not_written(const char *path, rung_error *error) {
  return rung_fail(error, errno == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                   "%s cannot be written: %s", path, strerror(errno));
}

rung_status lab_store_text(const char *path, const char *text, rung_error *error) {
  const size_t length = strlen(path) + sizeof ".0123456789abcdef";
  char *beside = malloc(length);
  if (!beside) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory to write %s", path);
  const int descriptor = open_beside(path, beside, length);
  rung_status status = RUNG_OK;
  if (descriptor < 0) {
    status = not_written(path, error);
  } else if (!write_out(descriptor, text) || rename(beside, path) != 0) {
    status = not_written(path, error);
    unlink(beside);
  }
  free(beside);
  return status;
}

rung_status lab_store(const char *path, const json_t *json, rung_error *error) {
  char *text = lab_json_text(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
  const size_t length = text ? strlen(text) : 0;
  char *line = text ? realloc(text, length + 2) : NULL; /* and the line's end */
  if (!line) {
    free(text);
    return rung_fail(error, RUNG_OUT_OF_MEMORY, "no host memory to write %s", path);
  }
  memcpy(line + length, "\n", 2);
  const rung_status status = lab_store_text(path, line, error);
  free(line);
  return status;
}
