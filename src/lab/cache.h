/* What is kept of a device from one run to the next: files under $XDG_CACHE_HOME/rung, an object by
 * device in each. Anybody may damage them: who reads believes nothing that was not checked. */
#ifndef RUNG_LAB_CACHE_H
#define RUNG_LAB_CACHE_H

#include <jansson.h>
#include <limits.h>

#include "lab/lab.h"

enum { LAB_CACHE_KEY = 256 };

/* A file's path, "peaks.json", its directories made; else ~/.cache. False: there is no place. */
bool lab_cache_path(const char *leaf, char path[PATH_MAX]);
/* Everything that times on a device depend on. */
void lab_cache_key(const rung_device *device, char key[LAB_CACHE_KEY]);
/* The whole file, or a new one where it is absent or is not what it should be: an object with
 * `kind`: `version`, and "devices". NULL: memory ran out. */
json_t *lab_cache_load(const char *path, const char *kind, int version);

#endif
