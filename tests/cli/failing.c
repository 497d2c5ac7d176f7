/* Preloaded: of the memory that Jansson asks for, the request numbered $RUNG_FAIL fails.
 * $RUNG_COUNT: a file that gets how many there were. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long requests, failing = -1;

static void count_at_exit(void) {
  const char *path = getenv("RUNG_COUNT");
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", requests);
  fclose(file);
}

__attribute__((constructor)) static void begin(void) {
  const char *fail = getenv("RUNG_FAIL");
  if (fail != NULL) failing = strtol(fail, NULL, 10);
  atexit(count_at_exit);
}

static int is_jansson(const void *caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
         strstr(info.dli_fname, "libjansson") != NULL;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes) {
  static void *(*next)(size_t);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "malloc");
  if (is_jansson(__builtin_return_address(0)) && ++requests == failing) return NULL;
  return next(bytes);
}
