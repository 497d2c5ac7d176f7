#include "files/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/npy.h"

static const char *const npy_extensions[] = {"npy", NULL};

static const array_format formats[] = {{"npy", npy_extensions, npy_read, npy_begin}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Without the dot; "" where the name has none. */
static const char *extension_of(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  return dot && dot > name ? dot + 1 : "";
}

static bool has_extension(const array_format *format, const char *extension) {
  for (int i = 0; format->extensions[i]; i++)
    if (strcasecmp(format->extensions[i], extension) == 0) return true;
  return false;
}

/* ".npy, .png": for a sentence. */
static void list_extensions(bool write, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int f = 0; f < FORMATS; f++)
    for (int i = 0; (formats[f].begin || !write) && formats[f].extensions[i] && used < size; i++)
      used += (size_t)snprintf(text + used, size - used, "%s.%s", used > 0 ? ", " : "",
                               formats[f].extensions[i]);
}

rung_status array_format_of(const char *what, const char *path, bool write,
                            const array_format **format, rung_error *error) {
  const char *extension = extension_of(path);
  char known[120];
  *format = &formats[0];
  if (extension[0] == '\0') return RUNG_OK;
  for (int f = 0; f < FORMATS; f++) {
    if (!has_extension(&formats[f], extension) || (write && !formats[f].begin)) continue;
    *format = &formats[f];
    return RUNG_OK;
  }
  list_extensions(write, known, sizeof known);
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.80s': expected: a name that ends in %s", what,
                   path, known);
}

rung_status array_read(const char *path, file_array *array, rung_error *error) {
  const array_format *format;
  array_format_of("", path, false, &format, NULL);
  return format->read(path, array, error);
}

void array_free(file_array *array) {
  free(array->memory);
  memset(array, 0, sizeof *array);
}

rung_status array_begin(file_replace *file, const char *path, const DLTensor *tensor,
                        rung_error *error) {
  const array_format *format;
  *file = (file_replace){0};
  rung_status status = array_format_of("output", path, true, &format, error);
  return status ? status : format->begin(file, path, tensor, error);
}

rung_status array_write(const char *path, const DLTensor *tensor, rung_error *error) {
  file_replace file;
  const rung_status status = array_begin(&file, path, tensor, error);
  return status ? status : file_replace_commit(&file, error);
}

rung_status array_possible(const char *what, const char *path, rung_error *error) {
  const array_format *format;
  rung_status status = array_format_of(what, path, true, &format, error);
  return status ? status : file_replace_possible(path, error);
}
