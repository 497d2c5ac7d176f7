#include "files/shared.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

rung_status shared_load(const char *library, const char *const *names, int count, void *functions,
                        const char *path, rung_error *error) {
  void **to = functions;
  if (to[0]) return RUNG_OK;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    const bool memory = strcasestr(why, "memory") || strstr(why, "map segment");
    return rung_fail(error, memory ? RUNG_OUT_OF_MEMORY : RUNG_UNSUPPORTED,
                     "%s: %s%s cannot be loaded: %s", path, memory ? "no memory: " : "", library,
                     why);
  }
  for (int i = count - 1; i >= 0; i--) {
    to[i] = dlsym(handle, names[i]);
    if (to[i]) continue;
    dlclose(handle);
    return rung_fail(error, RUNG_UNSUPPORTED, "%s: %s has no function %s", path, library, names[i]);
  }
  return RUNG_OK;
}

rung_status shared_left_out(const char *what, const char *path, rung_error *error) {
  return rung_fail(error, RUNG_UNSUPPORTED, "%s: this build of Rung was made without %s", path,
                   what);
}
