#include "lab/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/json.h"
#include "lab/store.h"

static const int64_t most_bytes = 1 << 20;

static bool is_directory(const char *path) {
  struct stat is;
  return mkdir(path, 0777) == 0 || (stat(path, &is) == 0 && S_ISDIR(is.st_mode));
}

/* A relative $XDG_CACHE_HOME is ignored, as its specification asks. */
bool lab_cache_path(const char *leaf, char path[PATH_MAX]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char directory[PATH_MAX];
  int length;
  if (cache && cache[0] == '/')
    length = snprintf(directory, sizeof directory, "%s", cache);
  else if (home && home[0] == '/')
    length = snprintf(directory, sizeof directory, "%s/.cache", home);
  else
    return false;
  if (length < 0 || (size_t)length + strlen("/rung/") + strlen(leaf) >= sizeof directory)
    return false;
  if (!is_directory(directory)) return false;
  strcat(directory, "/rung");
  if (!is_directory(directory)) return false;
  return snprintf(path, PATH_MAX, "%s/%s", directory, leaf) < PATH_MAX;
}

void lab_cache_key(const rung_device *device, char key[LAB_CACHE_KEY]) {
  const bool cpu = device->kind == RUNG_CPU;
  const int length =
      snprintf(key, LAB_CACHE_KEY, "%.159s threads=%d isa=%s rung=%s", device->identity,
               cpu ? device->threads : 0, cpu ? rung_isa_name(device->isa) : "-", RUNG_VERSION);
  /* Jansson 2.14 keeps a string's text in a buffer of 2^n bytes, and reads past it where there is
   * no memory for a larger one when it comes to the closing quote. No key is as long as that. */
  if (((length + 2) & (length + 1)) == 0) strcat(key, " ");
}

/* Whether a string stands in quotes somewhere in the text, which then goes on behind it. */
static bool comes_next(const char *string, const char **text) {
  const size_t length = strlen(string);
  for (const char *at = *text; (at = strstr(at, string)) != NULL && *at != '\0'; at++)
    if (at > *text && at[-1] == '"' && at[length] == '"') {
      *text = at + length;
      return true;
    }
  return false;
}

/* Whether all keys and strings stand in the text, one after the other. Jansson 2.14 leaves
 * characters out of them where memory ran out for a moment, and says nothing. */
static bool stands_in(const json_t *value, const char **text) {
  const char *key;
  json_t *member;
  size_t i;
  if (json_is_string(value)) return comes_next(json_string_value(value), text);
  json_object_foreach((json_t *)(uintptr_t)value, key, member) {
    if (!comes_next(key, text) || !stands_in(member, text)) return false;
  }
  json_array_foreach(value, i, member) {
    if (!stands_in(member, text)) return false;
  }
  return true;
}

static json_t *load(const char *path) {
  const int descriptor = lab_open_regular(path, most_bytes);
  char *text = descriptor >= 0 ? lab_take_text(descriptor, NULL) : NULL;
  json_t *root = text != NULL ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
  /* What is escaped stands there in another way. */
  const char *from = text;
  if (root != NULL && strchr(text, '\\') == NULL && !stands_in(root, &from)) {
    json_decref(root);
    root = NULL;
  }
  free(text);
  return root;
}

json_t *lab_cache_load(const char *path, const char *kind, int version) {
  json_t *root = load(path);
  if (!root)
    root = load(path); /* memory may have run out for a moment: nothing kept is dropped for it */
  if (json_is_object(root) && json_integer_value(json_object_get(root, kind)) == version &&
      json_is_object(json_object_get(root, "devices")))
    return root;
  json_decref(root);
  return lab_object("{s:i, s:o}", kind, version, "devices", json_object());
}
