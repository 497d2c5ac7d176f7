/* Netpbm's files: .pbm and text variants (read), .pgm, .ppm, .pam. Samples have 8 bits, or 16 where
 * the largest value of the header is above 255; they are read as parts of that value, of 255 or
 * 65535, so that it is white again. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "files/array_format.h"

enum { LINE = 256, GROWTH = 8 };

typedef struct pnm {
  bool text, bits; /* samples are written as numbers; are single bits, 1 is black */
  int32_t most;
  unsigned char *row; /* of bits */
} pnm;

static bool is_pnm(const unsigned char start[SOURCE_START]) {
  return start[0] == 'P' && start[1] >= '1' && start[1] <= '7' && isspace(start[2]);
}

static rung_status refuse(array_reader *reader, const char *what) {
  return rung_fail(reader->error, RUNG_BAD_FILE, "%s: is no .pnm file: %s", reader->in.name, what);
}

/* ---- headers ------------------------------------------------------------------------------ */

static int next_byte(array_reader *reader) {
  unsigned char byte;
  return source_read(&reader->in, &byte, 1) == 1 ? byte : EOF;
}

/* A number, after white space and comments; exactly one byte of what follows it is taken too. -1:
 * none, or one above INT32_MAX. */
static int32_t next_number(array_reader *reader) {
  int byte = next_byte(reader);
  while (byte == '#' || (byte != EOF && isspace(byte))) {
    if (byte == '#')
      while (byte != '\n' && byte != EOF) byte = next_byte(reader);
    else
      byte = next_byte(reader);
  }
  if (byte == EOF || !isdigit(byte)) return -1;
  int64_t value = 0;
  for (; byte != EOF && isdigit(byte); byte = next_byte(reader)) {
    value = value * 10 + (byte - '0');
    if (value > INT32_MAX) return -1;
  }
  return byte == EOF || isspace(byte) ? (int32_t)value : -1;
}

static rung_status read_plain_header(array_reader *reader, int kind, int64_t shape[3]) {
  pnm *file = reader->state;
  file->text = kind <= 3;
  file->bits = kind == 1 || kind == 4;
  shape[2] = kind == 3 || kind == 6 ? 3 : 1;
  shape[1] = next_number(reader);
  shape[0] = next_number(reader);
  file->most = file->bits ? 1 : next_number(reader);
  if (shape[0] >= 0 && shape[1] >= 0 && file->most >= 0) return RUNG_OK;
  return refuse(reader, "its header ends early, or holds no numbers");
}

static rung_status read_line(array_reader *reader, char line[LINE]) {
  int length = 0;
  for (int byte; (byte = next_byte(reader)) != '\n'; line[length++] = (char)byte)
    if (byte == EOF || length == LINE - 1)
      return refuse(reader, "its header ends early, or has a line of more than 255 bytes");
  line[length] = '\0';
  return RUNG_OK;
}

/* Of .pam: words and numbers, a line each, up to ENDHDR. */
static rung_status read_pam_header(array_reader *reader, int64_t shape[3]) {
  static const char *const words[] = {"HEIGHT", "WIDTH", "DEPTH", "MAXVAL"};
  pnm *file = reader->state;
  int64_t values[4] = {-1, -1, -1, -1};
  char line[LINE];
  for (;;) {
    const rung_status status = read_line(reader, line);
    if (status) return status;
    if (strcmp(line, "ENDHDR") == 0) break;
    for (int w = 0; w < 4; w++) {
      const size_t length = strlen(words[w]);
      if (strncmp(line, words[w], length) != 0 || !isspace((unsigned char)line[length])) continue;
      char *end;
      values[w] = strtol(line + length, &end, 10);
      if (end == line + length || *end || values[w] > INT32_MAX) return refuse(reader, line);
    }
  }
  memcpy(shape, values, 3 * sizeof *shape);
  file->most = (int32_t)values[3];
  if (values[0] < 0 || values[1] < 0 || values[2] < 0 || values[3] < 0)
    return refuse(reader, "its header lacks HEIGHT, WIDTH, DEPTH or MAXVAL");
  return RUNG_OK;
}

static rung_status open_pnm(array_reader *reader) {
  pnm *file = reader->state = calloc(1, sizeof *file);
  char start[3];
  int64_t shape[3];
  if (!file)
    return rung_fail(reader->error, RUNG_OUT_OF_MEMORY, "%s: no memory to read it",
                     reader->in.name);
  rung_status status = source_take(&reader->in, start, 3, "header", reader->error);
  if (status) return status;
  if (!is_pnm(reader->in.start)) return refuse(reader, "it begins with no P1 ... P7");
  status = start[1] == '7' ? read_pam_header(reader, shape)
                           : read_plain_header(reader, start[1] - '0', shape);
  if (status) return status;
  if (file->most < 1 || file->most > 65535)
    return refuse(reader, "its largest value is not among 1 ... 65535");
  if (shape[2] < 1 || shape[2] > 4) return refuse(reader, "it has not 1 ... 4 channels");
  status = array_is_image(reader, file->most > 255 ? RUNG_U16 : RUNG_U8, shape[0], shape[1],
                          shape[2], file->text ? 2 : (file->bits ? GROWTH : 1));
  if (status || !file->bits || file->text) return status;
  file->row = malloc((size_t)(shape[1] + 7) / 8);
  return file->row ? RUNG_OK
                   : rung_fail(reader->error, RUNG_OUT_OF_MEMORY, "%s: no memory for a row",
                               reader->in.name);
}

/* ---- samples ------------------------------------------------------------------------------ */

static rung_status read_samples(array_reader *reader, int64_t samples, void *to) {
  pnm *file = reader->state;
  if (!file->text)
    return source_take(&reader->in, to, (size_t)samples * rung_dtype_bytes(reader->about.dtype),
                       "data", reader->error);
  for (int64_t i = 0; i < samples; i++) {
    int32_t value;
    if (file->bits) { /* digits that need nothing between them */
      int byte;
      while ((byte = next_byte(reader)) != EOF && isspace(byte)) {
      }
      value = byte == '0' || byte == '1' ? byte - '0' : -1;
    } else {
      value = next_number(reader);
    }
    if (value < 0) return refuse(reader, "truncated: its data ends early, or is no number");
    if (value > file->most) return refuse(reader, "a sample is above its largest value");
    if (reader->about.dtype == RUNG_U8)
      ((uint8_t *)to)[i] = (uint8_t)value;
    else
      ((uint16_t *)to)[i] = (uint16_t)value;
  }
  return RUNG_OK;
}

static rung_status read_bits(array_reader *reader, int64_t rows, uint8_t *to) {
  pnm *file = reader->state;
  const int64_t width = reader->about.shape[1];
  for (int64_t y = 0; y < rows; y++, to += width) {
    const rung_status status =
        source_take(&reader->in, file->row, (size_t)(width + 7) / 8, "data", reader->error);
    if (status) return status;
    for (int64_t x = 0; x < width; x++) to[x] = file->row[x / 8] >> (7 - x % 8) & 1;
  }
  return RUNG_OK;
}

/* To the whole range of the type, rounded half up. 16 bits come with their high byte first. */
static rung_status scale(array_reader *reader, int64_t samples, void *to) {
  const pnm *file = reader->state;
  const bool wide = reader->about.dtype == RUNG_U16;
  const uint32_t range = wide ? 65535 : 255, most = (uint32_t)file->most;
  uint8_t *bytes = to;
  uint16_t *words = to;
  for (int64_t i = 0; i < samples; i++) {
    uint32_t value = wide ? words[i] : bytes[i];
    if (wide && !file->text) value = (uint32_t)bytes[2 * i] << 8 | bytes[2 * i + 1];
    if (value > most) return refuse(reader, "a sample is above its largest value");
    if (file->bits) value = 1 - value;
    value = (value * range + most / 2) / most;
    if (wide)
      words[i] = (uint16_t)value;
    else
      bytes[i] = (uint8_t)value;
  }
  return RUNG_OK;
}

static rung_status read_rows(array_reader *reader, int64_t count, void *to) {
  const pnm *file = reader->state;
  const int64_t samples =
      count * reader->about.row_bytes / (int64_t)rung_dtype_bytes(reader->about.dtype);
  const rung_status status =
      file->row ? read_bits(reader, count, to) : read_samples(reader, samples, to);
  if (status || (file->most == 255 && !file->text)) return status;
  return scale(reader, samples, to);
}

static void close_pnm(array_reader *reader) {
  pnm *file = reader->state;
  if (file) free(file->row);
  free(file);
}

/* ---- writing ------------------------------------------------------------------------------ */

static rung_status begin_pnm(array_writer *writer) {
  static const char *const kinds[] = {"", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
  const array_about *about = &writer->about;
  const int channels = array_channels(about), most = about->dtype == RUNG_U8 ? 255 : 65535;
  const long long height = about->shape[0], width = about->shape[1];
  const char *dot = strrchr(writer->path, '.');
  const bool pam = channels == 2 || channels == 4 || (dot && strcasecmp(dot, ".pam") == 0) ||
                   strncasecmp(writer->path, "pam:", 4) == 0;
  const int got =
      pam ? fprintf(writer->stream,
                    "P7\nWIDTH %lld\nHEIGHT %lld\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n",
                    width, height, channels, most, kinds[channels])
          : fprintf(writer->stream, "P%c\n%lld %lld\n%d\n", channels == 3 ? '6' : '5', width,
                    height, most);
  return got > 0 ? RUNG_OK : array_cannot_write(writer);
}

static rung_status put_pnm(array_writer *writer, int64_t count, const void *from) {
  const int64_t samples = count * writer->about.row_bytes;
  if (writer->about.dtype == RUNG_U8)
    return fwrite(from, 1, (size_t)samples, writer->stream) == (size_t)samples
               ? RUNG_OK
               : array_cannot_write(writer);
  const uint16_t *at = from;
  for (int64_t i = 0; i < samples / 2; i++) {
    const unsigned char pair[] = {(unsigned char)(at[i] >> 8), (unsigned char)at[i]};
    if (fwrite(pair, 1, 2, writer->stream) != 2) return array_cannot_write(writer);
  }
  return RUNG_OK;
}

static const char *const extensions[] = {"pgm", "ppm", "pnm", "pam", NULL};

const array_format pnm_format = {.name = "Netpbm's format",
                                 .extensions = extensions,
                                 .knows = is_pnm,
                                 .open = open_pnm,
                                 .rows = read_rows,
                                 .close = close_pnm,
                                 .create = begin_pnm,
                                 .put = put_pnm,
                                 .types = RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U16),
                                 .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4};
