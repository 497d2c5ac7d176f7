/* Preloaded: of the memory that the command and its libraries ask for (not the C library for
 * itself), the request numbered $RUNG_FAIL fails, and with $RUNG_FAIL_ON=1 all after it.
 * $RUNG_FAIL_OF: only those of a file with this in its name. $RUNG_COUNT: a file that gets how many
 * there were. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long requests;
static long failing = -1;
static int all_after;
static const char *of;
static __thread int inside; /* dladdr() may ask for memory */

static void count_at_exit(void) {
  const char *path = getenv("RUNG_COUNT");
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", (long)requests);
  fclose(file);
}

__attribute__((constructor)) static void begin(void) {
  const char *fail = getenv("RUNG_FAIL");
  of = getenv("RUNG_FAIL_OF");
  all_after = getenv("RUNG_FAIL_ON") != NULL;
  if (fail != NULL) failing = strtol(fail, NULL, 10);
  atexit(count_at_exit);
}

static int is_meant(const void *caller) {
  Dl_info info;
  if (inside) return 0;
  inside = 1;
  const int known = dladdr(caller, &info) != 0 && info.dli_fname != NULL;
  inside = 0;
  if (!known) return 0;
  if (strstr(info.dli_fname, "/librung-cuda.") != NULL) return 0; /* the CUDA runtime is in it */
  if (of != NULL) return strstr(info.dli_fname, of) != NULL;
  return strstr(info.dli_fname, "/libc.") == NULL && strstr(info.dli_fname, "/ld-") == NULL;
}

static int fails(const void *caller) {
  if (!is_meant(caller)) return 0;
  const long number = ++requests;
  if (number != failing && !(all_after && failing > 0 && number > failing)) return 0;
  errno = ENOMEM;
  return 1;
}

/* The C library's own, for dlsym() asks for memory itself. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

#define SHOWN __attribute__((visibility("default")))
#define FAILS fails(__builtin_return_address(0))

SHOWN void *malloc(size_t bytes) {
  return FAILS ? NULL : __libc_malloc(bytes);
}

SHOWN void *calloc(size_t count, size_t bytes) {
  return FAILS ? NULL : __libc_calloc(count, bytes);
}

SHOWN void *realloc(void *memory, size_t bytes) {
  return FAILS ? NULL : __libc_realloc(memory, bytes);
}

SHOWN void *aligned_alloc(size_t alignment, size_t bytes) {
  return FAILS ? NULL : __libc_memalign(alignment, bytes);
}

SHOWN int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  if (FAILS) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == NULL ? ENOMEM : 0;
}
