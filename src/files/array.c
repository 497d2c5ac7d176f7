#include "files/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "files/array_format.h"

enum { ALIGNMENT = 64, PIECE = 1 << 20 };

static const array_format *const formats[] = {&npy_format, &png_format,  &pnm_format,
                                              &pfm_format, &jpeg_format, &tiff_format};
enum { FORMATS = sizeof formats / sizeof *formats };

/* ---- formats ------------------------------------------------------------------------------ */

/* Without the dot; "" where the name has none. Of "png:-" what stands before the colon. */
static void extension_of(const char *path, char extension[8]) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.'), *from = dot && dot > name ? dot + 1 : "";
  size_t length = strlen(from);
  if (strlen(path) > 2 && strcmp(path + strlen(path) - 2, ":-") == 0) {
    from = path;
    length = strlen(path) - 2;
  }
  snprintf(extension, 8, "%.*s", (int)(length < 7 ? length : 7), from);
}

static const array_format *format_of_extension(const char *extension, bool write) {
  for (int f = 0; f < FORMATS; f++)
    for (int i = 0; (formats[f]->create || !write) && formats[f]->extensions[i]; i++)
      if (strcasecmp(formats[f]->extensions[i], extension) == 0) return formats[f];
  return NULL;
}

/* ".npy, .png": for a sentence. */
static void list_extensions(char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int f = 0; f < FORMATS; f++)
    for (int i = 0; formats[f]->create && formats[f]->extensions[i] && used < size; i++)
      used += (size_t)snprintf(text + used, size - used, "%s.%s", used > 0 ? ", " : "",
                               formats[f]->extensions[i]);
}

rung_status array_format_of(const char *what, const char *path, const array_format **format,
                            rung_error *error) {
  char extension[8], known[120];
  extension_of(path, extension);
  *format = extension[0] ? format_of_extension(extension, true) : &npy_format;
  if (*format) return RUNG_OK;
  list_extensions(known, sizeof known);
  return rung_fail(error, RUNG_BAD_ARGUMENT, "%s '%.80s': expected: a name that ends in %s", what,
                   path, known);
}

const char *array_format_name(const array_format *format) {
  return format->name;
}

/* What its first bytes say, else its name; .npy's reader says best what is no file of ours. */
static const array_format *format_of_file(const file_source *in, const char *path) {
  char extension[8];
  for (int f = 0; f < FORMATS; f++)
    if (formats[f]->knows(in->start)) return formats[f];
  extension_of(path, extension);
  const array_format *named = format_of_extension(extension, false);
  return named ? named : &npy_format;
}

bool array_is(const char *path) {
  char extension[8];
  struct stat about;
  file_source in;
  extension_of(path, extension);
  if (format_of_extension(extension, false)) return true;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (source_open(&in, path, NULL) != RUNG_OK) return false;
  bool known = false;
  for (int f = 0; f < FORMATS && !known; f++) known = formats[f]->knows(in.start);
  source_close(&in);
  return known;
}

/* ---- shapes ------------------------------------------------------------------------------- */

/* The rest of `about` from its type, dimensions and order. */
static bool measure(array_about *about) {
  const int slowest = about->fortran ? about->ndim - 1 : 0;
  bool fits = true;
  about->rows = about->ndim > 0 ? about->shape[slowest] : 1;
  about->row_bytes = (int64_t)rung_dtype_bytes(about->dtype);
  for (int d = 0; d < about->ndim; d++)
    if (d != slowest)
      fits = fits && rung_multiply(about->row_bytes, about->shape[d], &about->row_bytes);
  int64_t bytes;
  return fits && rung_multiply(about->rows, about->row_bytes, &bytes);
}

rung_status array_describe(array_about *about, rung_dtype dtype, int ndim, const int64_t *shape,
                           rung_error *error) {
  *about = (array_about){.dtype = dtype, .ndim = ndim};
  if (ndim > 0) memcpy(about->shape, shape, (size_t)ndim * sizeof *shape);
  if (measure(about)) return RUNG_OK;
  return rung_fail(error, RUNG_TOO_LARGE, "an array of %lld ... elements does not fit in 64 bits",
                   ndim > 0 ? (long long)shape[0] : 1LL);
}

rung_status array_is_image(array_reader *reader, rung_dtype dtype, int64_t height, int64_t width,
                           int64_t channels, int64_t growth) {
  const file_source *in = &reader->in;
  const int64_t shape[] = {height, width, channels};
  if (height < 1 || width < 1)
    return rung_fail(reader->error, RUNG_BAD_FILE, "%s: is an image of %lld x %lld pixels",
                     in->name, (long long)width, (long long)height);
  if (array_describe(&reader->about, dtype, channels > 1 ? 3 : 2, shape, NULL) != RUNG_OK)
    return rung_fail(reader->error, RUNG_BAD_FILE, "%s: %lld x %lld pixels do not fit in 64 bits",
                     in->name, (long long)width, (long long)height);
  const array_about *about = &reader->about;
  if (growth == 0 || in->all < 0 || about->rows * about->row_bytes / growth <= in->all)
    return RUNG_OK;
  return rung_fail(reader->error, RUNG_BAD_FILE,
                   "%s: truncated: %lld x %lld pixels cannot be in %lld bytes", in->name,
                   (long long)width, (long long)height, (long long)in->all);
}

int array_channels(const array_about *about) {
  return about->ndim == 3 ? (int)about->shape[2] : 1;
}

/* ---- reading ------------------------------------------------------------------------------ */

static rung_status open_as(array_reader *reader, const array_format *format, const char *path,
                           rung_error *error) {
  *reader = (array_reader){.error = error};
  rung_status status = source_open(&reader->in, path, error);
  if (status) return status;
  reader->format = format ? format : format_of_file(&reader->in, path);
  status = reader->format->open(reader);
  if (!status && !measure(&reader->about))
    status = rung_fail(error, RUNG_BAD_FILE, "%s: its bytes do not fit in 64 bits", path);
  return status;
}

static void close_reader(array_reader *reader) {
  if (reader->format && reader->format->close) reader->format->close(reader);
  source_close(&reader->in);
  notes_free(&reader->notes);
}

rung_status array_open(array_reader **reader, const char *path, rung_error *error) {
  *reader = malloc(sizeof **reader);
  if (!*reader) return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory to read it", path);
  const rung_status status = open_as(*reader, NULL, path, error);
  if (!status) return status;
  array_close(*reader);
  *reader = NULL;
  return status;
}

const array_about *array_of(const array_reader *reader) {
  return &reader->about;
}

const file_notes *array_notes(const array_reader *reader) {
  return &reader->notes;
}

void array_swap(char *data, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; i++, data += size) {
    for (size_t low = 0, high = size - 1; low < high; low++, high--) {
      char byte = data[low];
      data[low] = data[high];
      data[high] = byte;
    }
  }
}

rung_status array_rows(array_reader *reader, int64_t count, void *to, rung_error *error) {
  reader->error = error;
  const rung_status status = reader->format->rows(reader, count, to);
  const size_t size = rung_dtype_bytes(reader->about.dtype);
  if (!status && reader->swapped && size > 1)
    array_swap(to, count * reader->about.row_bytes / (int64_t)size, size);
  reader->done += count;
  return status;
}

void array_close(array_reader *reader) {
  if (!reader) return;
  close_reader(reader);
  free(reader);
}

/* ---- whole arrays ------------------------------------------------------------------------- */

static rung_status out_of_memory(const array_reader *reader) {
  const array_about *about = &reader->about;
  return rung_fail(reader->error, RUNG_OUT_OF_MEMORY, "%s: no memory for its %lld bytes",
                   reader->in.name, (long long)(about->rows * about->row_bytes));
}

static rung_status grow(const array_reader *reader, void **buffer, int64_t have, int64_t bytes) {
  void *larger = NULL;
  if (posix_memalign(&larger, ALIGNMENT, bytes > 0 ? (size_t)bytes : 1) != 0)
    return out_of_memory(reader);
  if (have > 0) memcpy(larger, *buffer, (size_t)have);
  free(*buffer);
  *buffer = larger;
  return RUNG_OK;
}

/* At once where the file's size vouches for it, else growing as it comes, so that a header's claim
 * alone allocates nothing. */
static rung_status read_all(array_reader *reader, void **memory) {
  const array_about *about = &reader->about;
  const int64_t bytes = about->rows * about->row_bytes, row = about->row_bytes;
  int64_t capacity = about->rows, have = 0;
  if (bytes > PIECE && reader->in.left < bytes) capacity = PIECE / row > 0 ? PIECE / row : 1;
  for (rung_status status;; capacity = have > about->rows / 2 ? about->rows : 2 * have) {
    status = grow(reader, memory, have * row, capacity * row);
    if (!status)
      status = array_rows(reader, capacity - have, (char *)*memory + have * row, reader->error);
    if (status || capacity == about->rows) return status;
    have = capacity;
  }
}

static void describe(file_array *array, const array_about *about, void *memory) {
  array->dtype = about->dtype;
  array->memory = memory;
  int64_t stride = 1;
  for (int i = 0; i < about->ndim; i++) {
    const int axis = about->fortran ? i : about->ndim - 1 - i;
    array->shape[axis] = about->shape[axis];
    array->strides[axis] = stride;
    if (about->shape[axis] > 0) stride *= about->shape[axis];
  }
  array->tensor = (DLTensor){.data = memory,
                             .device = {kDLCPU, 0},
                             .ndim = about->ndim,
                             .dtype = rung_dlpack_type(about->dtype),
                             .shape = array->shape,
                             .strides = array->strides};
}

void array_of_memory(file_array *array, rung_dtype dtype, int64_t count, void *memory) {
  const array_about about = {.dtype = dtype, .ndim = 1, .shape = {count}};
  describe(array, &about, memory);
}

rung_status array_read_as(const array_format *format, const char *path, file_array *array,
                          rung_error *error) {
  array_reader reader;
  void *memory = NULL;
  *array = (file_array){0};
  rung_status status = open_as(&reader, format, path, error);
  if (!status) status = read_all(&reader, &memory);
  if (status)
    free(memory);
  else
    describe(array, &reader.about, memory);
  close_reader(&reader);
  return status;
}

rung_status array_read(const char *path, file_array *array, rung_error *error) {
  return array_read_as(NULL, path, array, error);
}

void array_free(file_array *array) {
  free(array->memory);
  memset(array, 0, sizeof *array);
}
