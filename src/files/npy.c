#include "files/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy_header.h"

enum {
  PREFIX = 8, /* the magic and two version bytes */
  HEADER_MOST = 64 * 1024
};
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* ---- reading ------------------------------------------------------------------------------ */

static rung_status read_header(file_source *in, npy_header *header, rung_error *error) {
  unsigned char prefix[PREFIX], size[4] = {0};
  rung_status status = source_take(in, prefix, PREFIX, "header", error);
  if (status) return status;
  if (memcmp(prefix, magic, sizeof magic) != 0)
    return rung_fail(error, RUNG_BAD_FILE, "%s: is no .npy file%s; expected: %s", in->name,
                     memcmp(prefix, "PK", 2) == 0 ? " but a zip archive" : "",
                     "one as numpy.save() writes it");
  int version = prefix[6];
  if (version < 1 || version > 3 || prefix[7] != 0)
    return rung_fail(error, RUNG_BAD_FILE,
                     "%s: is of .npy version %d.%d; expected: 1.0, 2.0 or 3.0", in->name, version,
                     prefix[7]);
  status = source_take(in, size, version == 1 ? 2 : 4, "header", error);
  if (status) return status;
  uint32_t length = (uint32_t)size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 |
                    (uint32_t)size[3] << 24;
  if (length > HEADER_MOST)
    return rung_fail(error, RUNG_BAD_FILE, "%s: its header of %u bytes is longer than %d", in->name,
                     length, HEADER_MOST);
  if (in->left >= 0 && length > in->left)
    return rung_fail(error, RUNG_BAD_FILE, "%s: truncated: its header of %u bytes ends early",
                     in->name, length);
  char *text = malloc(length + 1);
  if (!text) return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory for its header", in->name);
  status = source_take(in, text, length, "header", error);
  if (!status) status = npy_header_parse(in->name, text, length, header, error);
  free(text);
  return status;
}

/* A regular file is held against its size before anything is allocated. */
static rung_status check_size(const file_source *in, int64_t bytes, rung_error *error) {
  if (in->left < 0 || in->left == bytes) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_FILE,
                   "%s: %s: its shape stands for %lld bytes and %lld follow the header", in->name,
                   in->left < bytes ? "truncated" : "has more data than its shape says",
                   (long long)bytes, (long long)in->left);
}

static bool is_npy(const unsigned char start[SOURCE_START]) {
  return memcmp(start, magic, sizeof magic) == 0;
}

static rung_status open_npy(array_reader *reader) {
  npy_header header = {0};
  rung_status status = read_header(&reader->in, &header, reader->error);
  if (!status)
    status = check_size(&reader->in, header.count * (int64_t)rung_dtype_bytes(header.dtype),
                        reader->error);
  if (status) return status;
  reader->about =
      (array_about){.dtype = header.dtype, .ndim = header.ndim, .fortran = header.fortran};
  memcpy(reader->about.shape, header.shape, sizeof header.shape);
  reader->swapped = header.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  return RUNG_OK;
}

static rung_status read_rows(array_reader *reader, int64_t count, void *to) {
  file_source *in = &reader->in;
  const array_about *about = &reader->about;
  const int64_t bytes = count * about->row_bytes;
  const rung_status status = source_take(in, to, (size_t)bytes, "data", reader->error);
  if (status) return status;
  if (reader->done + count < about->rows || in->left >= 0 || fgetc(in->stream) == EOF)
    return RUNG_OK;
  return rung_fail(reader->error, RUNG_BAD_FILE,
                   "%s: has more data than its shape says, %lld bytes", in->name,
                   (long long)(about->rows * about->row_bytes));
}

rung_status npy_read(const char *path, file_array *to, rung_error *error) {
  return array_read_as(&npy_format, path, to, error);
}

static const char *const extensions[] = {"npy", NULL};

const array_format npy_format = {.name = "npy",
                                 .extensions = extensions,
                                 .knows = is_npy,
                                 .open = open_npy,
                                 .rows = read_rows,
                                 .create = npy_create,
                                 .put = npy_put};
