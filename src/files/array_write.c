/* Files of arrays, written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/array_format.h"
#include "files/npy_header.h"

enum { PIECE = 1 << 20, COPIED = 1 << 16 };

/* ---- what a format holds ------------------------------------------------------------------ */

/* "1, 3 or 4". */
static void list_channels(unsigned channels, char text[24]) {
  size_t used = 0;
  for (int c = 1; c <= 4; c++) {
    if (!(channels & 1u << c)) continue;
    const bool last = channels >> (c + 1) == 0;
    used += (size_t)snprintf(text + used, 24 - used, "%s%d",
                             used == 0 ? "" : (last ? " or " : ", "), c);
  }
}

static rung_status check(const array_format *format, const char *path, const array_about *about,
                         rung_error *error) {
  char types[120], channels[24];
  const unsigned held = format->types ? format->types : npy_dtypes();
  rung_dtypes_text(held, types, sizeof types);
  if (!(held & RUNG_TYPE(about->dtype)))
    return rung_fail(error, RUNG_BAD_DTYPE, "output '%.80s': %s cannot hold %s; expected: %s", path,
                     format->name, rung_dtype_name(about->dtype), types);
  if (format->channels == 0) return RUNG_OK;
  const bool image = about->ndim == 2 || about->ndim == 3;
  if (!image || about->shape[0] < 1 || about->shape[1] < 1)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "output '%.80s': %s holds images; expected: (height, width) or (height, "
                     "width, channels), this array has %d dimensions%s",
                     path, format->name, about->ndim, image ? " and no elements" : "");
  if (about->shape[0] > INT32_MAX || about->shape[1] > INT32_MAX)
    return rung_fail(error, RUNG_BAD_SHAPE, "output '%.80s': expected: sides up to %d pixels", path,
                     INT32_MAX);
  const int64_t count = about->ndim == 3 ? about->shape[2] : 1;
  if (count >= 1 && count <= 4 && format->channels & 1u << count) return RUNG_OK;
  list_channels(format->channels, channels);
  return rung_fail(error, RUNG_BAD_SHAPE, "output '%.80s': %lld channels; expected: %s", path,
                   (long long)count, channels);
}

rung_status array_holds(const char *path, const array_about *about, rung_error *error) {
  const array_format *format;
  const rung_status status = array_format_of("output", path, &format, error);
  return status ? status : check(format, path, about, error);
}

/* ---- row by row --------------------------------------------------------------------------- */

rung_status array_cannot_write(array_writer *writer) {
  return rung_fail(writer->error, errno == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                   "output '%s' cannot be written: %s", writer->path,
                   strerror(errno ? errno : EIO));
}

static const char *place_of(const char *path) {
  const size_t length = strlen(path);
  return length > 2 && strcmp(path + length - 2, ":-") == 0 ? path + length - 1 : path;
}

static void drop(array_writer *writer) {
  if (writer->format && writer->format->drop) writer->format->drop(writer);
  if (writer->stream && writer->stream != writer->file.stream) fclose(writer->stream);
  file_replace_abandon(&writer->file);
}

static rung_status begin(array_writer *writer, const char *path, const array_about *about,
                         const file_notes *notes, rung_error *error) {
  *writer = (array_writer){.path = path, .error = error, .about = *about, .notes = notes};
  const array_format *format;
  rung_status status = array_format_of("output", path, &format, error);
  if (!status) status = check(format, path, about, error);
  if (!status) status = file_replace_begin(&writer->file, place_of(path), error);
  if (status) return status;
  writer->format = format;
  writer->stream = writer->file.stream;
  if (format->staged && !writer->file.temporary) writer->stream = tmpfile();
  errno = writer->stream ? 0 : errno;
  status = writer->stream ? format->create(writer) : array_cannot_write(writer);
  if (status) drop(writer);
  return status;
}

/* The rest of the file; what was staged is copied. */
static rung_status end(array_writer *writer) {
  rung_status status = writer->format->end ? writer->format->end(writer) : RUNG_OK;
  if (status || writer->stream == writer->file.stream) return status;
  char bytes[COPIED];
  errno = 0;
  rewind(writer->stream);
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, writer->stream)) > 0;)
    if (fwrite(bytes, 1, got, writer->file.stream) != got) return array_cannot_write(writer);
  return ferror(writer->stream) ? array_cannot_write(writer) : RUNG_OK;
}

rung_status array_create(array_writer **writer, const char *path, const array_about *about,
                         const file_notes *notes, rung_error *error) {
  *writer = malloc(sizeof **writer);
  if (!*writer) return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory to write it", path);
  const rung_status status = begin(*writer, path, about, notes, error);
  if (!status) return status;
  free(*writer);
  *writer = NULL;
  return status;
}

rung_status array_put(array_writer *writer, int64_t count, const void *from, rung_error *error) {
  writer->error = error;
  errno = 0;
  const rung_status status = writer->format->put(writer, count, from);
  writer->done += count;
  return status;
}

/* Takes the file out of its writer, complete; or drops all. */
static rung_status complete(array_writer *writer, file_replace *file, rung_error *error) {
  writer->error = error;
  errno = 0;
  const rung_status status = end(writer);
  if (!status) {
    *file = writer->file;
    if (writer->stream == writer->file.stream) writer->stream = NULL;
    writer->file = (file_replace){0};
  }
  drop(writer);
  return status;
}

rung_status array_finish(array_writer *writer, rung_error *error) {
  file_replace file;
  const rung_status status = complete(writer, &file, error);
  free(writer);
  return status ? status : file_replace_commit(&file, error);
}

void array_drop(array_writer *writer) {
  if (!writer) return;
  drop(writer);
  free(writer);
}

/* ---- whole arrays ------------------------------------------------------------------------- */

/* Rows that have gaps, or are turned around: packed piece by piece. */
static rung_status put_packed(array_writer *writer, const rung_view *view, rung_error *error) {
  const int64_t row = writer->about.row_bytes, most = row > PIECE ? 1 : PIECE / row;
  char *packed = malloc((size_t)((most < writer->about.rows ? most : writer->about.rows) * row));
  rung_status status = RUNG_OK;
  if (!packed) return rung_fail(error, RUNG_OUT_OF_MEMORY, "no memory to write %s", writer->path);
  for (int64_t done = 0, now; !status && done < writer->about.rows; done += now) {
    now = writer->about.rows - done < most ? writer->about.rows - done : most;
    rung_view piece = *view;
    if (piece.ndim > 0) rung_view_narrow(&piece, 0, done, now);
    const rung_view to = rung_view_compact(packed, piece.dtype, piece.ndim, piece.shape);
    rung_view_copy(&to, &piece);
    status = array_put(writer, now, packed, error);
  }
  free(packed);
  return status;
}

rung_status array_begin(file_replace *file, const char *path, const DLTensor *tensor,
                        rung_error *error) {
  rung_view view;
  array_about about;
  array_writer writer;
  *file = (file_replace){0};
  const unsigned any = (1u << RUNG_DTYPES) - 1;
  rung_status status = rung_view_of(error, "array", tensor, any, tensor ? tensor->ndim : 0, &view);
  if (status) return status;
  if (view.place != RUNG_HOST)
    return rung_fail(error, RUNG_BAD_PLACE,
                     "array lies in a device's memory; only host memory can be written to a file");
  status = array_describe(&about, view.dtype, view.ndim, view.shape, error);
  if (!status) status = begin(&writer, path, &about, NULL, error);
  if (status) return status;
  if (view.count > 0)
    status = rung_view_is_compact(&view) ? array_put(&writer, about.rows, view.data, error)
                                         : put_packed(&writer, &view, error);
  if (!status) return complete(&writer, file, error);
  drop(&writer);
  return status;
}

rung_status array_write(const char *path, const DLTensor *tensor, rung_error *error) {
  file_replace file;
  const rung_status status = array_begin(&file, path, tensor, error);
  return status ? status : file_replace_commit(&file, error);
}

rung_status array_possible(const char *what, const char *path, rung_error *error) {
  const array_format *format;
  const rung_status status = array_format_of(what, path, &format, error);
  return status ? status : file_replace_possible(place_of(path), error);
}
