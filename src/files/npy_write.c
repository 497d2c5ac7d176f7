#include <string.h>

#include "files/npy.h"

enum {
  START = 10, /* magic, version, two bytes of length */
  HEADER = 512,
  BLOCK = 64 /* data begins at a multiple of this */
};

/* Version 1.0's header for an array; returns its bytes, all counted. It always fits: at most 8
 * extents of at most 19 digits. */
static size_t make_header(const array_about *about, char header[HEADER]) {
  const rung_traits *traits = rung_traits_of(about->dtype);
  size_t used = START;
  used += (size_t)snprintf(header + used, HEADER - used,
                           "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (",
                           traits->bytes == 1 ? '|' : '<', traits->npy, traits->bytes);
  for (int i = 0; i < about->ndim; i++)
    used += (size_t)snprintf(header + used, HEADER - used, "%s%lld", i ? ", " : "",
                             (long long)about->shape[i]);
  used += (size_t)snprintf(header + used, HEADER - used, "%s), }", about->ndim == 1 ? "," : "");
  size_t total = (used + 1 + BLOCK - 1) / BLOCK * BLOCK;
  memset(header + used, ' ', total - used);
  header[total - 1] = '\n';
  size_t length = total - START;
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)(length & 0xff);
  header[9] = (char)(length >> 8);
  return total;
}

rung_status npy_create(array_writer *writer) {
  char header[HEADER];
  const size_t bytes = make_header(&writer->about, header);
  return fwrite(header, 1, bytes, writer->stream) == bytes ? RUNG_OK : array_cannot_write(writer);
}

/* The file's byte order is the little one. */
rung_status npy_put(array_writer *writer, int64_t count, const void *from) {
  const size_t bytes = (size_t)(count * writer->about.row_bytes),
               size = rung_dtype_bytes(writer->about.dtype);
  if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ || size == 1)
    return fwrite(from, 1, bytes, writer->stream) == bytes ? RUNG_OK : array_cannot_write(writer);
  const unsigned char *at = from;
  for (size_t i = 0; i < bytes; i++)
    if (fputc(at[i / size * size + size - 1 - i % size], writer->stream) == EOF)
      return array_cannot_write(writer);
  return RUNG_OK;
}
