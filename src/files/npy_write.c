#include <errno.h>
#include <string.h>

#include "files/npy.h"
#include "files/npy_header.h"

enum {
  START = 10, /* magic, version, two bytes of length */
  HEADER = 512,
  BLOCK = 64, /* data begins at a multiple of this */
  BUFFER = 64 * 1024
};

/* Version 1.0's header for a view; returns its bytes, all counted. It always fits: at most 8
 * extents of at most 19 digits. */
static size_t make_header(const rung_view *view, char header[HEADER]) {
  const rung_traits *traits = rung_traits_of(view->dtype);
  size_t used = START;
  used += (size_t)snprintf(header + used, HEADER - used,
                           "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (",
                           traits->bytes == 1 ? '|' : '<', traits->npy, traits->bytes);
  for (int i = 0; i < view->ndim; i++)
    used += (size_t)snprintf(header + used, HEADER - used, "%s%lld", i ? ", " : "",
                             (long long)view->shape[i]);
  used += (size_t)snprintf(header + used, HEADER - used, "%s), }", view->ndim == 1 ? "," : "");
  size_t total = (used + 1 + BLOCK - 1) / BLOCK * BLOCK;
  memset(header + used, ' ', total - used);
  header[total - 1] = '\n';
  size_t length = total - START;
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)(length & 0xff);
  header[9] = (char)(length >> 8);
  return total;
}

/* `count` elements `stride` apart, packed and in the file's byte order. */
static void gather(char *to, const char *from, int64_t count, int64_t stride, size_t size) {
  for (int64_t i = 0; i < count; i++, from += stride * (int64_t)size, to += size) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
      memcpy(to, from, size);
    } else {
      for (size_t b = 0; b < size; b++) to[b] = from[size - 1 - b];
    }
  }
}

/* One innermost row. */
static bool write_row(FILE *stream, const char *from, int64_t count, int64_t stride, size_t size) {
  if (stride == 1 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    return fwrite(from, size, (size_t)count, stream) == (size_t)count;
  char buffer[BUFFER];
  int64_t most = BUFFER / (int64_t)size;
  for (int64_t done = 0; done < count; done += most) {
    int64_t now = count - done < most ? count - done : most;
    gather(buffer, from + done * stride * (int64_t)size, now, stride, size);
    if (fwrite(buffer, size, (size_t)now, stream) != (size_t)now) return false;
  }
  return true;
}

/* All rows, in C order: an odometer over every axis but the last. */
static bool write_data(FILE *stream, const rung_view *view) {
  if (view->count == 0) return true;
  size_t size = rung_dtype_bytes(view->dtype);
  int outer = view->ndim > 0 ? view->ndim - 1 : 0;
  int64_t columns = view->ndim > 0 ? view->shape[outer] : 1;
  int64_t stride = view->ndim > 0 && columns > 1 ? view->stride[outer] : 1;
  int64_t index[RUNG_MAX_DIMS] = {0};
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < outer; i++) offset += index[i] * view->stride[i];
    if (!write_row(stream, view->data + offset * (int64_t)size, columns, stride, size))
      return false;
    int axis = outer - 1;
    while (axis >= 0 && ++index[axis] == view->shape[axis]) index[axis--] = 0;
    if (axis < 0) return true;
  }
}

rung_status npy_begin(file_replace *file, const char *path, const DLTensor *tensor,
                      rung_error *error) {
  rung_view view;
  *file = (file_replace){0};
  int ndim = tensor ? tensor->ndim : 0;
  rung_status status = rung_view_of(error, "array", tensor, npy_dtypes(), ndim, &view);
  if (status) return status;
  if (view.place != RUNG_HOST)
    return rung_fail(error, RUNG_BAD_PLACE,
                     "array lies in a device's memory; only host memory can be written to a file");
  status = file_replace_begin(file, path, error);
  if (status) return status;
  char header[HEADER];
  size_t bytes = make_header(&view, header);
  if (fwrite(header, 1, bytes, file->stream) == bytes && write_data(file->stream, &view))
    return RUNG_OK;
  int cause = errno;
  file_replace_abandon(file);
  return rung_fail(error, RUNG_FILE_FAILED, "output '%s' cannot be written: %s", path,
                   strerror(cause));
}
