#include "peers/loaded.h"

#include <dlfcn.h>
#include <string.h>

void *peer_library(const char *const *names) {
  void *library = NULL;
  for (; *names && !library; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return library;
}

bool peer_symbols(void *library, const peer_symbol *symbols, int count) {
  for (int i = 0; i < count; i++) {
    void *found = dlsym(library, symbols[i].name);
    if (!found) return false;
    memcpy(symbols[i].to, &found, sizeof found);
  }
  return true;
}
