#include "files/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/array_format.h"
#include "files/npy.h"
#include "files/seen.h"

enum { ENDS_EARLY = -1, TURNED = 1 << 16 };

/* Several threads may fail at once; any of them is told of. */
static int fail(file_store *s, int cause, char why[RUNG_TEXT]) {
  __atomic_store_n(&s->failed, cause, __ATOMIC_RELAXED);
  snprintf(why, RUNG_TEXT, "%s", cause == ENDS_EARLY ? "its data ends early" : strerror(cause));
  return 1;
}

static int read_store(void *state, int64_t offset, size_t bytes, void *to, char why[RUNG_TEXT]) {
  file_store *s = state;
  for (size_t done = 0; done < bytes;) {
    const ssize_t got =
        pread(s->descriptor, (char *)to + done, bytes - done, s->offset + offset + (int64_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(s, got < 0 ? errno : ENDS_EARLY, why);
    seen_more(got);
    done += (size_t)got;
  }
  if (s->swapped) array_swap(to, (int64_t)(bytes / s->element), s->element);
  return 0;
}

static int write_all(file_store *s, int64_t at, size_t bytes, const char *from,
                     char why[RUNG_TEXT]) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t put = pwrite(s->descriptor, from + done, bytes - done, at + (int64_t)done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return fail(s, put < 0 ? errno : EIO, why);
    seen_more(put);
    done += (size_t)put;
  }
  return 0;
}

static int write_store(void *state, int64_t offset, size_t bytes, const void *from,
                       char why[RUNG_TEXT]) {
  file_store *s = state;
  char turned[TURNED];
  if (!s->swapped) return write_all(s, s->offset + offset, bytes, from, why);
  for (size_t done = 0; done < bytes; done += TURNED) {
    const size_t piece = bytes - done < TURNED ? bytes - done : TURNED;
    memcpy(turned, (const char *)from + done, piece);
    array_swap(turned, (int64_t)(piece / s->element), s->element);
    if (write_all(s, s->offset + offset + (int64_t)done, piece, turned, why)) return 1;
  }
  return 0;
}

static rung_status open_reader(file_store *store, const array_reader *reader, const char *path,
                               rung_error *error) {
  const int descriptor = dup(fileno(reader->in.stream));
  if (descriptor < 0)
    return rung_fail(error, RUNG_FILE_FAILED, "%s: cannot be read: %s", path, strerror(errno));
  *store = (file_store){.open = true,
                        .descriptor = descriptor,
                        .offset = reader->in.base + reader->in.all - reader->in.left,
                        .element = rung_dtype_bytes(reader->about.dtype),
                        .swapped = reader->swapped,
                        .path = path,
                        .verb = "read"};
  store->store = (rung_store){sizeof store->store, store, read_store, NULL};
  (void)posix_fadvise(descriptor, store->offset, 0, POSIX_FADV_SEQUENTIAL);
  return share_look(path, &store->file, error);
}

rung_status file_store_open(file_store *store, const char *path, int64_t most, file_array *array,
                            rung_error *error) {
  array_reader *reader = NULL;
  struct stat is;
  *store = (file_store){0};
  *array = (file_array){0};
  /* What is no file, a pipe for one, can be read only once, and what fits is read as a whole. */
  if (strcmp(path, "-") == 0 || stat(path, &is) != 0 || !S_ISREG(is.st_mode) || is.st_size <= most)
    return RUNG_OK;
  rung_status status = array_open(&reader, path, error);
  if (status) return status;
  const array_about *about = &reader->about;
  const int64_t bytes = about->rows * about->row_bytes;
  if (reader->format == &npy_format && reader->in.left >= 0 && bytes > most &&
      !(about->fortran && about->ndim > 1)) {
    status = open_reader(store, reader, path, error);
    array->dtype = about->dtype;
    memcpy(array->shape, about->shape, sizeof array->shape);
    int64_t step = 1;
    for (int d = about->ndim - 1; d >= 0; step *= array->shape[d--]) array->strides[d] = step;
    array->tensor =
        rung_stored(&store->store, rung_dlpack_type(about->dtype), about->ndim, array->shape);
    array->tensor.strides = array->strides;
  }
  array_close(reader);
  return status;
}

rung_status file_store_create(file_store *store, const share_place *place, const char *path,
                              size_t element, rung_error *error) {
  const int descriptor = open(place->path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    return rung_fail(error, RUNG_FILE_FAILED, "output '%s' cannot be written: %s", path,
                     strerror(errno));
  *store = (file_store){.open = true,
                        .descriptor = descriptor,
                        .offset = place->offset,
                        .element = element,
                        .swapped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                        .path = path,
                        .verb = "written"};
  store->store = (rung_store){sizeof store->store, store, read_store, write_store};
  return RUNG_OK;
}

rung_status file_store_check(const file_store *store, rung_error *error) {
  const bool writes = store->store.write != NULL;
  share_file now;
  if (!store->open) return error->status;
  if (store->failed == ENDS_EARLY && !writes)
    return rung_fail(error, RUNG_BAD_FILE, "%s: truncated: its data ends early", store->path);
  if (store->failed != 0)
    return rung_fail(error, store->failed == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     writes ? "output '%s' cannot be %s: %s" : "%s: cannot be %s: %s", store->path,
                     store->verb, strerror(store->failed > 0 ? store->failed : EIO));
  if (error->status || writes || share_look(store->path, &now, error)) return error->status;
  if (now.bytes == store->file.bytes && now.seconds == store->file.seconds &&
      now.nanoseconds == store->file.nanoseconds)
    return RUNG_OK;
  return rung_fail(error, RUNG_BAD_FILE,
                   "%s: has changed while it was read; expected: a file that nobody writes",
                   store->path);
}

rung_status file_store_close(file_store *store, rung_error *error) {
  int cause = 0;
  if (!store->open) return RUNG_OK;
  const bool writes = store->store.write != NULL;
  if (writes && !error->status && fsync(store->descriptor) != 0) cause = errno;
  if (close(store->descriptor) != 0 && writes && !cause) cause = errno;
  store->open = false;
  if (!cause) return RUNG_OK;
  return rung_fail(error, RUNG_FILE_FAILED, "output '%s' cannot be written: %s", store->path,
                   strerror(cause));
}
