#include "files/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/ending.h"

/* ---- temporaries that a signal must remove ------------------------------------------------ */

/* The names lie in static memory: a handler on another thread may be reading one while its file is
 * committed, so none is ever freed. */
enum { SLOTS = 8, FREE = 0, TAKEN = 1, ARMED = 2 };
static struct slot {
  atomic_int state;
  char path[PATH_MAX];
} slots[SLOTS];

static void remove_temporaries(void) {
  for (int i = 0; i < SLOTS; i++)
    if (atomic_load(&slots[i].state) == ARMED) unlink(slots[i].path);
}

/* A name nobody else uses, in the directory of `path`, registered for removal. It does not contain
 * the file's own name, which may already be as long as a name may be. NULL with errno set. */
static char *take_temporary(const char *path) {
  const char *slash = strrchr(path, '/');
  int directory = slash ? (int)(slash - path) + 1 : 0;
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
    random = (uint64_t)getpid() << 32 ^ (uintptr_t)&slash;
  ending_undo(remove_temporaries);
  for (int i = 0; i < SLOTS; i++) {
    int state = FREE;
    if (!atomic_compare_exchange_strong(&slots[i].state, &state, TAKEN)) continue;
    int length = snprintf(slots[i].path, PATH_MAX, "%.*s.rung-%016llx.tmp", directory, path,
                          (unsigned long long)random);
    atomic_store(&slots[i].state, length < PATH_MAX ? ARMED : FREE);
    if (length < PATH_MAX) return slots[i].path;
    errno = ENAMETOOLONG;
    return NULL;
  }
  errno = EMFILE;
  return NULL;
}

static void forget_temporary(const char *path) {
  for (int i = 0; i < SLOTS; i++)
    if (path == slots[i].path) atomic_store(&slots[i].state, FREE);
}

/* ---- one file ----------------------------------------------------------------------------- */

static void discard(file_replace *file) {
  if (file->stream && file->stream != stdout) fclose(file->stream);
  if (file->temporary) {
    unlink(file->temporary);
    forget_temporary(file->temporary);
  }
  free(file->path);
  *file = (file_replace){0};
}

/* Says what errno says of `path`, after discarding the file. */
static rung_status refuse(file_replace *file, const char *path, const char *what, int cause,
                          rung_error *error) {
  rung_status status = cause == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED;
  rung_fail(error, status, "output '%s' %s: %s", path, what, strerror(cause));
  discard(file);
  return status;
}

/* The new file takes over what the old one had. Failing to change the owner is usual (only root
 * may) and no fault; then the bits that would speak of another owner are left out. */
static int inherit(int descriptor, const struct stat *old) {
  mode_t mode = old->st_mode & 07777;
  if (fchown(descriptor, old->st_uid, old->st_gid) != 0) mode &= 0777;
  return fchmod(descriptor, mode);
}

static rung_status open_temporary(file_replace *file, const char *given, const struct stat *old,
                                  rung_error *error) {
  /* Registered before it is made: no signal can come between. */
  file->temporary = take_temporary(file->path);
  if (!file->temporary) return refuse(file, given, "cannot be written", errno, error);
  int descriptor =
      open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
  if (descriptor < 0) return refuse(file, given, "cannot be made in its directory", errno, error);
  if (old && inherit(descriptor, old) != 0) {
    int cause = errno;
    close(descriptor);
    return refuse(file, given, "cannot take over the old file's mode", cause, error);
  }
  file->stream = fdopen(descriptor, "wb");
  if (!file->stream) {
    int cause = errno;
    close(descriptor);
    return refuse(file, given, "cannot be written", cause, error);
  }
  return RUNG_OK;
}

/* Where the link `path` points to; `path` itself where it is none. NULL with errno set. */
static char *followed(const char *path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return errno == EINVAL || errno == ENOENT ? strdup(path) : NULL;
  const char *slash = strrchr(path, '/');
  const size_t folder = target[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
  char *made = malloc(folder + (size_t)length + 1);
  if (!made) return NULL;
  memcpy(made, path, folder);
  memcpy(made + folder, target, (size_t)length);
  made[folder + (size_t)length] = '\0';
  return made;
}

/* What `path` names: itself, or what symbolic links lead to, be it there or still to be made. NULL
 * with errno set. */
static char *resolved(const char *path) {
  enum { LINKS = 40 };
  char *real = realpath(path, NULL);
  if (real || errno != ENOENT) return real;
  char *at = strdup(path);
  for (int link = 0; at && link < LINKS; link++) {
    char *next = followed(at);
    const bool last = next && strcmp(next, at) == 0;
    free(at);
    at = next;
    if (last) break;
  }
  return at;
}

rung_status file_replace_begin(file_replace *file, const char *path, rung_error *error) {
  *file = (file_replace){0};
  if (path[0] == '\0')
    return rung_fail(error, RUNG_FILE_FAILED, "output path is empty; give a file's name or '-'");
  if (strcmp(path, "-") == 0) {
    file->stream = stdout;
    return RUNG_OK;
  }
  file->path = resolved(path);
  if (!file->path) return refuse(file, path, "cannot be written", errno, error);
  struct stat old;
  if (stat(file->path, &old) != 0) {
    if (errno != ENOENT) return refuse(file, path, "cannot be written", errno, error);
    if (path[strlen(path) - 1] == '/')
      return refuse(file, path, "cannot be written", EISDIR, error);
    return open_temporary(file, path, NULL, error);
  }
  if (S_ISDIR(old.st_mode)) return refuse(file, path, "cannot be written", EISDIR, error);
  if (access(file->path, W_OK) != 0) return refuse(file, path, "cannot be written", errno, error);
  if (S_ISREG(old.st_mode)) return open_temporary(file, path, &old, error);
  file->stream = fopen(file->path, "wbe");
  if (!file->stream) return refuse(file, path, "cannot be written", errno, error);
  return RUNG_OK;
}

int file_flush(FILE *stream) {
  errno = 0;
  if (fflush(stream) == 0 && !ferror(stream)) return 0;
  if (errno == 0 && write(fileno(stream), "\n", 1) == 1) errno = EIO;
  return errno;
}

/* 0, or the errno of what went wrong on the way to the disk. Closes the stream. */
static int settle(file_replace *file) {
  FILE *stream = file->stream;
  file->stream = NULL;
  int cause = file_flush(stream);
  if (cause == 0 && file->temporary && fsync(fileno(stream)) != 0) cause = errno;
  if (stream != stdout && fclose(stream) != 0 && cause == 0) cause = errno;
  if (cause == 0 && file->temporary && rename(file->temporary, file->path) != 0) cause = errno;
  return cause;
}

rung_status file_replace_commit(file_replace *file, rung_error *error) {
  int cause = settle(file);
  if (cause != 0)
    return refuse(file, file->path ? file->path : "-", "cannot be written", cause, error);
  if (file->temporary) forget_temporary(file->temporary);
  free(file->path);
  *file = (file_replace){0};
  return RUNG_OK;
}

void file_replace_abandon(file_replace *file) {
  discard(file);
}

rung_status file_replace_possible(const char *path, rung_error *error) {
  struct stat old;
  /* Opening a pipe or a device only to look could be seen at its other end. */
  if (strcmp(path, "-") == 0) return RUNG_OK;
  if (stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) {
    if (access(path, W_OK) == 0) return RUNG_OK;
    return rung_fail(error, RUNG_FILE_FAILED, "output '%s' cannot be written: %s", path,
                     strerror(errno));
  }
  file_replace file;
  rung_status status = file_replace_begin(&file, path, error);
  file_replace_abandon(&file);
  return status;
}
