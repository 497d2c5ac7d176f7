/* late LIBRUNG [OTHER...]: loads the library after all the others, in this thread and in a second
 * one, uses it on the CPU and on the simulator, unloads it, and does so again. */
#include <pthread.h>
#include <stdlib.h>

#include "dlopen/uses.h"

static const char *library;

static void use(void) {
  rung_found found;
  char said[512];
  if (rung_find(library, &found) != 0) exit(1);
  const char *const devices[] = {"cpu", "sim", "auto"};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const int status = rung_sums_on(&found, devices[i], said, sizeof said);
    const int absent = strcmp(devices[i], "sim") == 0 && status == RUNG_NO_DEVICE;
    if (status != 0 && !absent) {
      printf("%s: status %d, %s\n", devices[i], status, said);
      exit(1);
    }
  }
  if (dlclose(found.handle) != 0) {
    printf("dlclose: %s\n", dlerror());
    exit(1);
  }
}

static void *second(void *unused) {
  use();
  return unused;
}

int main(int count, char **paths) {
  for (int i = 2; i < count; i++)
    if (dlopen(paths[i], RTLD_NOW | RTLD_GLOBAL) == NULL) {
      printf("dlopen: %s\n", dlerror());
      return 1;
    }
  library = paths[1];
  pthread_t thread;
  if (pthread_create(&thread, NULL, second, NULL) != 0 || pthread_join(thread, NULL) != 0) return 1;
  for (int i = 0; i < 3; i++) use();
  printf("loaded after %d others, in two threads, four times\n", count - 2);
  return 0;
}
