/* Portable float maps: "PF" (three channels) or "Pf" (one), width, height, a scale whose sign says
 * the byte order (-: the low byte first), and rows of f32 from the last to the first. The scale's
 * size is not applied. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/array_format.h"

enum { LINE = 64 };

static bool is_pfm(const unsigned char start[SOURCE_START]) {
  return start[0] == 'P' && (start[1] == 'F' || start[1] == 'f') && start[2] != 0 &&
         strchr(" \t\r\n", start[2]);
}

static rung_status refuse(array_reader *reader, const char *what) {
  return rung_fail(reader->error, RUNG_BAD_FILE, "%s: is no .pfm file: %s", reader->in.name, what);
}

/* The next word and the one blank after it; "" at the file's end or where it is too long. */
static void next_word(array_reader *reader, char word[LINE], int64_t *used) {
  int length = 0;
  char byte;
  while (length < LINE - 1 && source_read(&reader->in, &byte, 1) == 1) {
    ++*used;
    if (!strchr(" \t\r\n", byte) || byte == '\0')
      word[length++] = byte;
    else if (length > 0)
      break;
  }
  word[length < LINE - 1 ? length : 0] = '\0';
}

static int64_t next_side(array_reader *reader, int64_t *used) {
  char word[LINE], *end;
  next_word(reader, word, used);
  const long long value = strtoll(word, &end, 10);
  return *word && !*end && value > 0 && value <= INT32_MAX ? value : 0;
}

/* reader->state is where the rows begin, as `used` bytes of the file. */
static rung_status open_pfm(array_reader *reader) {
  char word[LINE], *end;
  int64_t used = 0;
  rung_status status = source_seekable(&reader->in, reader->error);
  if (status) return status;
  next_word(reader, word, &used);
  if (strcmp(word, "PF") != 0 && strcmp(word, "Pf") != 0)
    return refuse(reader, "it begins with no PF or Pf");
  const int channels = word[1] == 'F' ? 3 : 1;
  const int64_t width = next_side(reader, &used), height = next_side(reader, &used);
  next_word(reader, word, &used);
  const double scale = strtod(word, &end);
  if (width == 0 || height == 0 || !*word || *end || !isfinite(scale) || scale == 0)
    return refuse(reader, "its header has no width, height and scale");
  status = array_is_image(reader, RUNG_F32, height, width, channels, 1);
  if (status) return status;
  if (used + reader->about.rows * reader->about.row_bytes > reader->in.all)
    return rung_fail(reader->error, RUNG_BAD_FILE, "%s: truncated: its data ends early",
                     reader->in.name);
  reader->swapped = (scale > 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  int64_t *first = reader->state = malloc(sizeof *first);
  if (!first)
    return rung_fail(reader->error, RUNG_OUT_OF_MEMORY, "%s: no memory to read it",
                     reader->in.name);
  *first = used;
  return RUNG_OK;
}

static rung_status read_rows(array_reader *reader, int64_t count, void *to) {
  const array_about *about = &reader->about;
  const int64_t *first = reader->state;
  rung_status status = RUNG_OK;
  for (int64_t y = reader->done; !status && y < reader->done + count; y++) {
    source_seek(&reader->in, *first + (about->rows - 1 - y) * about->row_bytes);
    status = source_take(&reader->in, to, (size_t)about->row_bytes, "data", reader->error);
    to = (char *)to + about->row_bytes;
  }
  return status;
}

static void close_pfm(array_reader *reader) {
  free(reader->state);
}

/* ---- writing ------------------------------------------------------------------------------ */

static int header_of(const array_about *about, char header[LINE]) {
  return snprintf(header, LINE, "P%c\n%lld %lld\n%s\n", array_channels(about) == 3 ? 'F' : 'f',
                  (long long)about->shape[1], (long long)about->shape[0],
                  __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "1.0" : "-1.0");
}

static rung_status begin_pfm(array_writer *writer) {
  char header[LINE];
  header_of(&writer->about, header);
  return fputs(header, writer->stream) >= 0 ? RUNG_OK : array_cannot_write(writer);
}

static rung_status put_pfm(array_writer *writer, int64_t count, const void *from) {
  const array_about *about = &writer->about;
  const size_t row = (size_t)about->row_bytes;
  char header[LINE];
  const int64_t first = header_of(about, header);
  for (int64_t y = writer->done; y < writer->done + count; y++, from = (const char *)from + row) {
    const int64_t at = first + (about->rows - 1 - y) * about->row_bytes;
    if (fseeko(writer->stream, at, SEEK_SET) != 0 || fwrite(from, 1, row, writer->stream) != row)
      return array_cannot_write(writer);
  }
  return RUNG_OK;
}

static const char *const extensions[] = {"pfm", NULL};

const array_format pfm_format = {.name = "PFM",
                                 .extensions = extensions,
                                 .knows = is_pfm,
                                 .open = open_pfm,
                                 .rows = read_rows,
                                 .close = close_pfm,
                                 .create = begin_pfm,
                                 .put = put_pfm,
                                 .staged = true,
                                 .types = RUNG_TYPE(RUNG_F32),
                                 .channels = 1u << 1 | 1u << 3};
