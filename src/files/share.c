#include "files/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/array_format.h"
#include "files/npy.h"
#include "files/seen.h"

enum { ALIGNMENT = 256, PIECE = 1 << 22 };

static int64_t count_of(const array_about *about, int from) {
  int64_t count = 1;
  for (int d = from; d < about->ndim; d++) count *= about->shape[d];
  return count;
}

/* How many elements stay together. */
static int64_t unit_of(const array_about *about, share_cut cut, int shares) {
  if (about->ndim == 0 || cut == SHARE_ELEMENTS) return 1;
  if (cut == SHARE_ROWS) return count_of(about, 1);
  const int64_t line = about->shape[about->ndim - 1];
  return line > 0 && count_of(about, 0) / line >= shares ? line : 1;
}

int64_t share_of(const array_about *about, share_cut cut, int share, int shares, int64_t *first) {
  const int64_t unit = unit_of(about, cut, shares),
                count = unit > 0 ? count_of(about, 0) / unit : 0;
  const int64_t whole = count / shares, more = count % shares;
  *first = (share * whole + (share < more ? share : more)) * unit;
  return (whole + (share < more)) * unit;
}

/* The shape of a share of so many elements. */
static int shape_of(const array_about *about, share_cut cut, int share, int shares,
                    int64_t shape[RUNG_MAX_DIMS]) {
  int64_t first;
  const int64_t count = share_of(about, cut, share, shares, &first);
  const int64_t unit = unit_of(about, cut, shares);
  shape[0] = count;
  if (cut == SHARE_ELEMENTS || (cut == SHARE_LINES && unit == 1)) return 1;
  if (cut == SHARE_LINES) {
    shape[0] = count / unit;
    shape[1] = unit;
    return 2;
  }
  const int64_t rows = about->shape[0], whole = rows / shares, more = rows % shares;
  shape[0] = whole + (share < more);
  for (int d = 1; d < about->ndim; d++) shape[d] = about->shape[d];
  return about->ndim;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void look(const struct stat *about, share_file *file) {
  file->bytes = about->st_size;
  file->seconds = about->st_mtim.tv_sec;
  file->nanoseconds = about->st_mtim.tv_nsec;
}

rung_status share_look(const char *path, share_file *file, rung_error *error) {
  struct stat about;
  if (stat(path, &about) != 0)
    return rung_fail(error, RUNG_FILE_FAILED, "%s: cannot be read: %s", path, strerror(errno));
  look(&about, file);
  return RUNG_OK;
}

/* Without what lies between the members. */
static void keep(const array_about *about, array_about *kept) {
  kept->dtype = about->dtype;
  kept->ndim = about->ndim;
  for (int d = 0; d < about->ndim; d++) kept->shape[d] = about->shape[d];
  kept->rows = about->rows;
  kept->row_bytes = about->row_bytes;
}

static rung_status check(const array_reader *reader, const char *path, share_cut cut,
                         rung_error *error) {
  const array_about *about = &reader->about;
  if (reader->in.left < 0)
    return rung_fail(error, RUNG_FILE_FAILED,
                     "%s: is read by every rank; expected: a file on a disk that all have", path);
  if (reader->format != &npy_format)
    return rung_fail(error, RUNG_BAD_FILE,
                     "%s: is %s; expected: .npy, of which every rank reads "
                     "its share",
                     path, reader->format->name);
  if (about->ndim == 0 && cut != SHARE_ELEMENTS)
    return rung_fail(error, RUNG_BAD_SHAPE, "%s: is one number; expected: rows to be shared out",
                     path);
  if (about->fortran && about->ndim > 1)
    return rung_fail(
        error, RUNG_BAD_FILE,
        "%s: is in Fortran order, in which no share of it is in one piece; expected: C "
        "order (numpy.ascontiguousarray)",
        path);
  return RUNG_OK;
}

static rung_status read_at(const array_reader *reader, char *to, int64_t bytes, int64_t at,
                           rung_error *error) {
  for (int64_t done = 0; done < bytes;) {
    const size_t piece = (size_t)(bytes - done < PIECE ? bytes - done : PIECE);
    const ssize_t got = pread(fileno(reader->in.stream), to + done, piece, at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return rung_fail(error, RUNG_FILE_FAILED, "%s: cannot be read: %s", reader->in.name,
                       strerror(errno));
    if (got == 0)
      return rung_fail(error, RUNG_BAD_FILE, "%s: truncated: its data ends early", reader->in.name);
    seen_more(got);
    done += got;
  }
  return RUNG_OK;
}

rung_status share_read(const char *path, share_cut cut, int share, int shares, file_array *array,
                       share_file *file, rung_error *error) {
  array_reader *reader = NULL;
  void *memory = NULL;
  struct stat now;
  int64_t first = 0, count = 0;
  memset(file, 0, sizeof *file);
  *array = (file_array){0};
  if (strcmp(path, "-") == 0)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "standard input comes to one rank; expected: a file that all ranks read");
  rung_status status = array_open(&reader, path, error);
  if (status) return status;
  status = check(reader, path, cut, error);
  if (!status && fstat(fileno(reader->in.stream), &now) != 0)
    status = rung_fail(error, RUNG_FILE_FAILED, "%s: cannot be read: %s", path, strerror(errno));
  if (!status) {
    look(&now, file);
    keep(&reader->about, &file->about);
    count = share_of(&reader->about, cut, share, shares, &first);
    const int64_t size = (int64_t)rung_dtype_bytes(reader->about.dtype), bytes = count * size;
    const int64_t data = reader->in.base + reader->in.all - reader->in.left;
    if (posix_memalign(&memory, ALIGNMENT, bytes > 0 ? (size_t)bytes : 1) != 0)
      status = rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory for %lld of its bytes", path,
                         (long long)bytes);
    if (!status) status = read_at(reader, memory, bytes, data + first * size, error);
    if (!status && reader->swapped) array_swap(memory, count, (size_t)size);
  }
  if (status)
    free(memory);
  else
    array_of_memory(array, reader->about.dtype, count, memory);
  if (!status) {
    array->tensor.ndim = shape_of(&reader->about, cut, share, shares, array->shape);
    int64_t step = 1;
    for (int d = array->tensor.ndim - 1; d >= 0; step *= array->shape[d--])
      array->strides[d] = step;
  }
  array_close(reader);
  return status;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

rung_status share_create(file_replace *file, const char *path, const array_about *about,
                         share_place *place, rung_error *error) {
  *file = (file_replace){0};
  *place = (share_place){0};
  array_writer writer = {.path = path, .error = error, .about = *about, .format = &npy_format};
  rung_status status = file_replace_begin(&writer.file, path, error);
  if (status) return status;
  writer.stream = writer.file.stream;
  if (!writer.file.temporary)
    status = rung_fail(error, RUNG_BAD_ARGUMENT,
                       "output '%s' is no file that ranks can write together; expected: one on a "
                       "disk that all have",
                       path);
  errno = 0;
  if (!status) status = npy_create(&writer);
  if (!status && fflush(writer.stream) != 0) status = array_cannot_write(&writer);
  if (!status) {
    place->offset = ftello(writer.stream);
    snprintf(place->path, sizeof place->path, "%s", writer.file.temporary);
    *file = writer.file;
  } else {
    file_replace_abandon(&writer.file);
  }
  return status;
}

static int write_at(int descriptor, const char *from, int64_t bytes, int64_t at) {
  for (int64_t done = 0; done < bytes;) {
    const size_t piece = (size_t)(bytes - done < PIECE ? bytes - done : PIECE);
    const ssize_t put = pwrite(descriptor, from + done, piece, at + done);
    if (put < 0 && errno != EINTR) return errno;
    if (put == 0) return EIO;
    if (put > 0) done += put;
  }
  return 0;
}

rung_status share_write(const share_place *place, const char *name, int64_t first, int64_t count,
                        size_t size, void *data, rung_error *error) {
  const int64_t each = (int64_t)size;
  const int descriptor = open(place->path, O_WRONLY | O_CLOEXEC);
  int cause = descriptor < 0 ? errno : 0;
  if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) array_swap(data, count, size);
  if (!cause) cause = write_at(descriptor, data, count * each, place->offset + first * each);
  if (!cause && fsync(descriptor) != 0) cause = errno;
  if (descriptor >= 0 && close(descriptor) != 0 && !cause) cause = errno;
  if (!cause) return RUNG_OK;
  return rung_fail(error, cause == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                   "output '%s' cannot be written: %s", name, strerror(cause));
}
