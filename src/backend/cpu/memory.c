/* How much memory there is, and taking it. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"

enum {
  ALIGNMENT = 256,
  HUGE_PAGE = 2 << 20,
  LARGE = 4 << 20, /* from here on huge pages, and a look at what is left */
  TEXT = 4096      /* of a file that is looked at */
};

bool rung_cpu_read_text(const char *path, char *text, size_t room) {
  text[0] = '\0';
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = read(file, text, room - 1);
  close(file);
  if (got < 0) got = 0;
  text[got] = '\0';
  if (got > 0 && text[got - 1] == '\n') text[got - 1] = '\0';
  return got > 0;
}

/* ---- what is left --------------------------------------------------------------------------- */

/* The number after `key` at the start of a line, else -1. */
static int64_t number_after(const char *text, const char *key) {
  size_t length = strlen(key);
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, length) == 0) return strtoll(line + length, NULL, 10);
  }
  return -1;
}

static int64_t kernel_available(const char *root) {
  char path[PATH_MAX], text[TEXT];
  snprintf(path, sizeof path, "%s/proc/meminfo", root);
  if (!rung_cpu_read_text(path, text, sizeof text)) return INT64_MAX;
  int64_t kib = number_after(text, "MemAvailable:");
  if (kib < 0) kib = number_after(text, "MemFree:");
  return kib < 0 || kib > INT64_MAX / 1024 ? INT64_MAX : kib * 1024;
}

/* The two generations of cgroups: what a line of /proc/self/cgroup says, and the files' names. */
typedef struct generation {
  const char *line, *mount, *limit, *used, *reclaimable;
} generation;

static const generation generations[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* A number in a cgroup's file; -1: no such file, or "max". */
static int64_t group_number(const char *folder, const char *name) {
  char path[PATH_MAX], text[64];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return -1;
  if (!rung_cpu_read_text(path, text, sizeof text) || text[0] < '0' || text[0] > '9') return -1;
  return strtoll(text, NULL, 10);
}

/* What one cgroup leaves. Cached files count as used but go when memory is wanted. */
static int64_t group_available(const char *folder, const generation *names) {
  int64_t limit = group_number(folder, names->limit), used = group_number(folder, names->used);
  if (limit < 0 || used < 0) return INT64_MAX;
  char path[PATH_MAX], text[TEXT];
  if (snprintf(path, sizeof path, "%s/memory.stat", folder) >= (int)sizeof path) return INT64_MAX;
  rung_cpu_read_text(path, text, sizeof text);
  int64_t reclaimable = number_after(text, names->reclaimable);
  if (reclaimable > 0) used -= reclaimable < used ? reclaimable : used;
  return limit > used ? limit - used : 0;
}

/* The least of the process's cgroup and all those above it. */
static int64_t groups_available(const char *root, const generation *names) {
  char path[PATH_MAX], text[TEXT];
  snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  rung_cpu_read_text(path, text, sizeof text);
  const char *line = strstr(text, names->line);
  if (line == NULL) return INT64_MAX;
  const char *group = line + strlen(names->line);
  int mount = snprintf(path, sizeof path, "%s%s", root, names->mount);
  if (mount >= (int)(sizeof path)) return INT64_MAX;
  snprintf(path + mount, sizeof path - (size_t)mount, "%.*s", (int)strcspn(group, "\n"), group);
  int64_t least = INT64_MAX;
  for (;;) {
    int64_t here = group_available(path, names);
    if (here < least) least = here;
    char *slash = strrchr(path + mount, '/');
    if (slash == NULL) return least;
    *slash = '\0';
  }
}

/* What the process's own limit of addresses leaves (ulimit -v). */
static int64_t limit_available(const char *root) {
  struct rlimit limit;
  char path[PATH_MAX], text[64];
  snprintf(path, sizeof path, "%s/proc/self/statm", root);
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur > INT64_MAX) return INT64_MAX;
  if (!rung_cpu_read_text(path, text, sizeof text)) return INT64_MAX;
  const int64_t used = strtoll(text, NULL, 10) * sysconf(_SC_PAGESIZE);
  return (int64_t)limit.rlim_cur > used ? (int64_t)limit.rlim_cur - used : 0;
}

int64_t rung_cpu_memory_available(const char *root) {
  const int64_t limit = limit_available(root), kernel = kernel_available(root);
  int64_t least = kernel < limit ? kernel : limit;
  for (size_t g = 0; g < sizeof generations / sizeof *generations; g++) {
    int64_t here = groups_available(root, &generations[g]);
    if (here < least) least = here;
  }
  return least;
}

void rung_cpu_bytes_text(int64_t bytes, char *text, size_t room) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    unit++;
  }
  snprintf(text, room, "%.4g %s", value, units[unit]);
}

/* ---- taking it ------------------------------------------------------------------------------ */

static rung_status refuse(size_t bytes, int64_t available, rung_error *error) {
  char needed[32], left[32];
  rung_cpu_bytes_text(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, needed, sizeof needed);
  rung_cpu_bytes_text(available, left, sizeof left);
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s of host memory are needed, and %s are available",
                   needed, left);
}

rung_status rung_cpu_allocate(rung_state *state, size_t bytes, void **memory, rung_error *error) {
  *memory = NULL;
  /* Linux hands out more than it has and kills the process later: so this looks before. */
  if (bytes >= LARGE) {
    int64_t available = rung_cpu_memory_available("");
    if (bytes > (size_t)available && state->spare != NULL) {
      free(state->spare);
      state->spare = NULL;
      state->spare_bytes = 0;
      available = rung_cpu_memory_available("");
    }
    if (bytes > (size_t)available) return refuse(bytes, available, error);
  }
  size_t alignment = bytes >= LARGE ? HUGE_PAGE : ALIGNMENT;
  /* Not aligned_alloc(): it wants a size rounded up, which would hide an overrun from
   * AddressSanitizer. */
  if (posix_memalign(memory, alignment, bytes > 0 ? bytes : 1) != 0) {
    *memory = NULL;
    return refuse(bytes, rung_cpu_memory_available(""), error);
  }
  if (bytes >= LARGE) (void)madvise(*memory, bytes, MADV_HUGEPAGE); /* advice: may be declined */
  return RUNG_OK;
}

rung_status rung_cpu_spare(rung_state *state, size_t bytes, rung_error *error) {
  bytes = (bytes + RUNG_CPU_CHUNK - 1) / RUNG_CPU_CHUNK * RUNG_CPU_CHUNK;
  if (bytes <= state->spare_bytes) return RUNG_OK;
  free(state->spare);
  state->spare = NULL;
  state->spare_bytes = 0;
  void *memory;
  rung_status status = rung_cpu_allocate(state, bytes, &memory, error);
  if (status != RUNG_OK) return status;
  state->spare = memory;
  state->spare_bytes = bytes;
  return rung_cpu_backend.fill(state, memory, 1, bytes, error);
}
