#include "files/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/npy_header.h"
#include "files/replace.h"

enum {
  PREFIX = 8, /* the magic and two version bytes */
  HEADER_MOST = 64 * 1024,
  ALIGNMENT = 64,
  CHUNK = 1 << 20
};
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* ---- bytes -------------------------------------------------------------------------------- */

/* Where an array is read from. `left` is what a regular file still holds, -1: not known. */
typedef struct source {
  FILE *stream;
  const char *name;
  int64_t left;
  rung_error *error;
} source;

static rung_status open_source(source *in, const char *path, rung_error *error) {
  bool standard = strcmp(path, "-") == 0;
  *in = (source){.name = standard ? "standard input" : path, .left = -1, .error = error};
  in->stream = standard ? stdin : fopen(path, "rbe");
  if (!in->stream)
    return rung_fail(error, errno == ENOMEM ? RUNG_OUT_OF_MEMORY : RUNG_FILE_FAILED,
                     "%s: cannot be read: %s", path, strerror(errno));
  struct stat about;
  if (fstat(fileno(in->stream), &about) == 0 && S_ISREG(about.st_mode)) {
    off_t at = lseek(fileno(in->stream), 0, SEEK_CUR);
    in->left = at >= 0 && at <= about.st_size ? about.st_size - at : 0;
  }
  return RUNG_OK;
}

static void close_source(source *in) {
  if (in->stream && in->stream != stdin) fclose(in->stream);
}

/* Exactly `bytes`, or a sentence saying that `what` is cut short. */
static rung_status take(source *in, void *to, size_t bytes, const char *what) {
  errno = 0;
  size_t got = fread(to, 1, bytes, in->stream);
  if (in->left >= 0) in->left -= (int64_t)got;
  if (got == bytes) return RUNG_OK;
  if (ferror(in->stream))
    return rung_fail(in->error, RUNG_FILE_FAILED, "%s: cannot be read: %s", in->name,
                     strerror(errno ? errno : EIO));
  return rung_fail(in->error, RUNG_BAD_FILE, "%s: truncated: its %s ends early", in->name, what);
}

static rung_status out_of_memory(const source *in, int64_t bytes) {
  return rung_fail(in->error, RUNG_OUT_OF_MEMORY, "%s: no memory for its %lld bytes", in->name,
                   (long long)bytes);
}

/* ---- reading ------------------------------------------------------------------------------ */

static rung_status read_header(source *in, npy_header *header) {
  unsigned char prefix[PREFIX], size[4] = {0};
  rung_status status = take(in, prefix, PREFIX, "header");
  if (status) return status;
  if (memcmp(prefix, magic, sizeof magic) != 0)
    return rung_fail(in->error, RUNG_BAD_FILE,
                     "%s: is no .npy file: it does not begin with \\x93NUMPY", in->name);
  int version = prefix[6];
  if (version < 1 || version > 3 || prefix[7] != 0)
    return rung_fail(in->error, RUNG_BAD_FILE,
                     "%s: is of .npy version %d.%d; 1.0, 2.0 and 3.0 are read", in->name, version,
                     prefix[7]);
  status = take(in, size, version == 1 ? 2 : 4, "header");
  if (status) return status;
  uint32_t length = (uint32_t)size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 |
                    (uint32_t)size[3] << 24;
  if (length > HEADER_MOST)
    return rung_fail(in->error, RUNG_BAD_FILE, "%s: its header of %u bytes is longer than %d",
                     in->name, length, HEADER_MOST);
  if (in->left >= 0 && length > in->left)
    return rung_fail(in->error, RUNG_BAD_FILE, "%s: truncated: its header of %u bytes ends early",
                     in->name, length);
  char *text = malloc(length + 1);
  if (!text) return out_of_memory(in, length);
  status = take(in, text, length, "header");
  if (!status) status = npy_header_parse(in->name, text, length, header, in->error);
  free(text);
  return status;
}

/* A regular file is held against its size before anything is allocated. */
static rung_status check_size(const source *in, int64_t bytes) {
  if (in->left < 0 || in->left == bytes) return RUNG_OK;
  return rung_fail(in->error, RUNG_BAD_FILE,
                   "%s: %s: its shape stands for %lld bytes and %lld follow the header", in->name,
                   in->left < bytes ? "truncated" : "has more data than its shape says",
                   (long long)bytes, (long long)in->left);
}

/* The data: at once where the file's size vouches for it, else growing as it comes, so that a
 * header's claim alone allocates nothing. */
static rung_status read_data(source *in, int64_t bytes, char **memory) {
  int64_t capacity = in->left >= 0 || bytes < CHUNK ? bytes : CHUNK, have = 0;
  void *buffer = NULL;
  rung_status status = RUNG_OK;
  if (posix_memalign(&buffer, ALIGNMENT, capacity > 0 ? (size_t)capacity : 1) != 0)
    return out_of_memory(in, bytes);
  for (;;) {
    status = take(in, (char *)buffer + have, (size_t)(capacity - have), "data");
    have = capacity;
    if (status || have == bytes) break;
    capacity = have > bytes / 2 ? bytes : 2 * have;
    void *larger = NULL;
    if (posix_memalign(&larger, ALIGNMENT, (size_t)capacity) != 0) {
      status = out_of_memory(in, bytes);
      break;
    }
    memcpy(larger, buffer, (size_t)have);
    free(buffer);
    buffer = larger;
  }
  if (!status && in->left < 0 && fgetc(in->stream) != EOF)
    status =
        rung_fail(in->error, RUNG_BAD_FILE, "%s: has more data than its shape says, %lld bytes",
                  in->name, (long long)bytes);
  if (status)
    free(buffer);
  else
    *memory = buffer;
  return status;
}

static void swap_bytes(char *data, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; i++, data += size) {
    for (size_t low = 0, high = size - 1; low < high; low++, high--) {
      char byte = data[low];
      data[low] = data[high];
      data[high] = byte;
    }
  }
}

static void describe(file_array *array, const npy_header *header) {
  array->dtype = header->dtype;
  int64_t stride = 1;
  for (int i = 0; i < header->ndim; i++) {
    int axis = header->fortran ? i : header->ndim - 1 - i;
    array->shape[axis] = header->shape[axis];
    array->strides[axis] = stride;
    if (header->shape[axis] > 0) stride *= header->shape[axis];
  }
  array->tensor = (DLTensor){.data = array->memory,
                             .device = {kDLCPU, 0},
                             .ndim = header->ndim,
                             .dtype = rung_dlpack_type(header->dtype),
                             .shape = array->shape,
                             .strides = array->strides};
}

rung_status npy_read(const char *path, file_array *to, rung_error *error) {
  *to = (file_array){0};
  source in;
  npy_header header = {0};
  char *memory = NULL;
  rung_status status = open_source(&in, path, error);
  if (!status) status = read_header(&in, &header);
  int64_t bytes = 0;
  if (!status) {
    bytes = header.count * (int64_t)rung_dtype_bytes(header.dtype);
    status = check_size(&in, bytes);
  }
  if (!status) status = read_data(&in, bytes, &memory);
  close_source(&in);
  if (status) return status;
  if (header.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
    swap_bytes(memory, header.count, rung_dtype_bytes(header.dtype));
  to->memory = memory;
  describe(to, &header);
  return RUNG_OK;
}
