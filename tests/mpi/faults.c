/* Faults of one rank, for the tests of the command over ranks: preloaded, it does FAULT in the rank
 * FAULT_RANK when that reads in.npy or writes the output.
 *
 *   change  what was read is written by somebody    full  the disk has no room
 *   die     the process is killed while it reads    die-writing
 *   stop    it is stopped while it reads */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is(const char *fault, int descriptor, const char *file) {
  char link[64], path[4096];
  const char *wanted = getenv("FAULT"), *rank = getenv("FAULT_RANK"),
             *mine = getenv("OMPI_COMM_WORLD_RANK");
  if (!mine) mine = getenv("PMI_RANK");
  if (!wanted || !rank || !mine || strcmp(wanted, fault) != 0 || strcmp(rank, mine) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return strstr(path, file) != NULL;
}

ssize_t pread(int descriptor, void *to, size_t bytes, off_t at) {
  ssize_t (*real)(int, void *, size_t, off_t) =
      (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  if (is("die", descriptor, "/in.npy")) raise(SIGKILL);
  if (is("stop", descriptor, "/in.npy")) raise(SIGSTOP);
  const ssize_t got = real(descriptor, to, bytes, at);
  const struct timespec early[2] = {{1, 0}, {1, 0}};
  if (is("change", descriptor, "/in.npy")) futimens(descriptor, early);
  return got;
}

ssize_t pwrite(int descriptor, const void *from, size_t bytes, off_t at) {
  ssize_t (*real)(int, const void *, size_t, off_t) =
      (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  if (is("die-writing", descriptor, "/.rung-")) raise(SIGKILL);
  if (!is("full", descriptor, "/.rung-")) return real(descriptor, from, bytes, at);
  errno = ENOSPC;
  return -1;
}
