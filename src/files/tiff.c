/* TIFF, by libtiff: integers, f16, f32 and f64 with their channels side by side, in strips or
 * tiles, of any compression that the library knows; grey of fewer bits and palettes are expanded.
 * Written as it is in memory, not compressed. Its colour profile is kept. The first image of a file
 * counts.
 */
#include "files/array_format.h"
#include "files/shared.h"

static const char *const extensions[] = {"tiff", "tif", NULL};

static bool is_tiff(const unsigned char start[SOURCE_START]) {
  const bool little = start[0] == 'I' && start[1] == 'I' && start[3] == 0,
             big = start[0] == 'M' && start[1] == 'M' && start[2] == 0;
  return (little && (start[2] == 42 || start[2] == 43)) ||
         (big && (start[3] == 42 || start[3] == 43));
}

#define TIFF_HOLDS                                                            \
  .name = "TIFF", .extensions = extensions, .knows = is_tiff, .staged = true, \
  .types = ((1u << RUNG_DTYPES) - 1) & ~RUNG_TYPE(RUNG_BF16),                 \
  .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4

#ifdef RUNG_TIFF
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

/* No row, and no row of tiles, is larger than the file by more than this. */
enum { GROWTH = 1 << 16, SENTENCE = 200 };

#define FUNCTIONS(X)        \
  X(TIFFClientOpen)         \
  X(TIFFClose)              \
  X(TIFFGetField)           \
  X(TIFFGetFieldDefaulted)  \
  X(TIFFSetField)           \
  X(TIFFIsTiled)            \
  X(TIFFScanlineSize64)     \
  X(TIFFReadScanline)       \
  X(TIFFTileSize64)         \
  X(TIFFTileRowSize64)      \
  X(TIFFReadTile)           \
  X(TIFFDefaultStripSize)   \
  X(TIFFWriteScanline)      \
  X(TIFFFlush)              \
  X(TIFFSetErrorHandler)    \
  X(TIFFSetErrorHandlerExt) \
  X(TIFFSetWarningHandler)
static struct { FUNCTIONS(SHARED_MEMBER) } lib;
static const char *const names[] = {FUNCTIONS(SHARED_NAME)};

typedef struct tiff_work {
  TIFF *tiff;
  array_reader *reader; /* one of the two */
  array_writer *writer;
  char said[SENTENCE]; /* the library's first complaint */
  uint16_t bits, samples, light;
  const uint16_t *map[3]; /* a palette's */
  int64_t raw_bytes;      /* of a row before it is expanded */
  uint32_t tile_rows, tile_columns;
  int64_t tile_row_bytes;
  unsigned char *raw, *tile; /* a row, or the rows of a row of tiles; a tile */
} tiff_work;

/* ---- the library's side ------------------------------------------------------------------- */

static void complain(thandle_t of, const char *module, const char *format, va_list values) {
  tiff_work *work = of;
  (void)module;
  if (!work || work->said[0]) return;
  if (vsnprintf(work->said, sizeof work->said, format, values) < 0) work->said[0] = '\0';
}

static tmsize_t read_bytes(thandle_t of, void *to, tmsize_t bytes) {
  tiff_work *work = of;
  if (work->writer) return (tmsize_t)fread(to, 1, (size_t)bytes, work->writer->stream);
  return (tmsize_t)source_read(&work->reader->in, to, (size_t)bytes);
}

static tmsize_t write_bytes(thandle_t of, void *from, tmsize_t bytes) {
  const tiff_work *work = of;
  return work->writer ? (tmsize_t)fwrite(from, 1, (size_t)bytes, work->writer->stream) : 0;
}

static toff_t seek(thandle_t of, toff_t to, int whence) {
  tiff_work *work = of;
  if (work->writer) {
    if (fseeko(work->writer->stream, (off_t)to, whence) != 0) return (toff_t)-1;
    return (toff_t)ftello(work->writer->stream);
  }
  file_source *in = &work->reader->in;
  const int64_t from = whence == SEEK_SET ? 0 : (whence == SEEK_END ? in->all : in->all - in->left);
  const int64_t place = from + (int64_t)to;
  return place >= 0 && source_seek(in, place) ? (toff_t)place : (toff_t)-1;
}

static int close_nothing(thandle_t of) {
  (void)of;
  return 0;
}

static toff_t size_of(thandle_t of) {
  tiff_work *work = of;
  if (!work->writer) return (toff_t)work->reader->in.all;
  const off_t at = ftello(work->writer->stream);
  fseeko(work->writer->stream, 0, SEEK_END);
  const off_t size = ftello(work->writer->stream);
  fseeko(work->writer->stream, at, SEEK_SET);
  return (toff_t)size;
}

static rung_status begin_work(tiff_work **work, const char *name, rung_error *error) {
  const rung_status status =
      shared_load(RUNG_TIFF, names, sizeof names / sizeof *names, &lib, name, error);
  if (status) return status;
  lib.TIFFSetErrorHandler(NULL);
  lib.TIFFSetErrorHandlerExt(complain);
  lib.TIFFSetWarningHandler(NULL);
  *work = calloc(1, sizeof **work);
  return *work ? RUNG_OK : rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory for an image", name);
}

static bool open_tiff(tiff_work *work, const char *name, const char *mode) {
  work->tiff = lib.TIFFClientOpen(name, mode, work, read_bytes, write_bytes, seek, close_nothing,
                                  size_of, NULL, NULL);
  return work->tiff != NULL;
}

/* ---- reading ------------------------------------------------------------------------------ */

static rung_status refuse(const tiff_work *work, const char *what) {
  const array_reader *reader = work->reader;
  /* It says the same of a directory without entries. */
  const bool none = strstr(work->said, "(0 elements") != NULL;
  const bool memory =
      !none && (strcasestr(work->said, "memory") || strcasestr(work->said, "allocate"));
  return rung_fail(reader->error, memory ? RUNG_OUT_OF_MEMORY : RUNG_BAD_FILE,
                   "%s: is no good .tiff file: %s", reader->in.name,
                   work->said[0] ? work->said : what);
}

static bool dtype_of(uint16_t format, uint16_t bits, rung_dtype *dtype) {
  const rung_number_kind kind = format == SAMPLEFORMAT_IEEEFP ? RUNG_FLOAT
                                : format == SAMPLEFORMAT_INT  ? RUNG_SIGNED
                                                              : RUNG_UNSIGNED;
  if (format < SAMPLEFORMAT_UINT || format > SAMPLEFORMAT_VOID) return false;
  if (kind == RUNG_UNSIGNED && bits < 8) bits = bits == 1 || bits == 2 || bits == 4 ? 8 : 0;
  for (int d = 0; d < RUNG_DTYPES; d++) {
    const rung_traits *traits = rung_traits_of((rung_dtype)d);
    if (traits->kind != kind || traits->bytes * 8 != bits || d == RUNG_BF16) continue;
    *dtype = (rung_dtype)d;
    return true;
  }
  return false;
}

/* A row of a fax takes a bit at least, and of data that end early the library makes rows for ever.
 */
static bool is_short_fax(const tiff_work *work, uint16_t compression, uint32_t rows) {
  const bool fax = compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW ||
                   compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
  return fax && rows / 8 > work->reader->in.all;
}

/* What the samples are; *channels of what comes out. */
static rung_status examine(tiff_work *work, uint32_t rows, rung_dtype *dtype, int64_t *channels) {
  uint16_t format = SAMPLEFORMAT_UINT, planes = PLANARCONFIG_CONTIG, compression = 0;
  lib.TIFFGetFieldDefaulted(work->tiff, TIFFTAG_BITSPERSAMPLE, &work->bits);
  lib.TIFFGetFieldDefaulted(work->tiff, TIFFTAG_SAMPLESPERPIXEL, &work->samples);
  lib.TIFFGetFieldDefaulted(work->tiff, TIFFTAG_SAMPLEFORMAT, &format);
  lib.TIFFGetFieldDefaulted(work->tiff, TIFFTAG_PLANARCONFIG, &planes);
  lib.TIFFGetFieldDefaulted(work->tiff, TIFFTAG_COMPRESSION, &compression);
  work->light = PHOTOMETRIC_MINISBLACK;
  lib.TIFFGetField(work->tiff, TIFFTAG_PHOTOMETRIC, &work->light);
  *channels = work->samples;
  if (work->light == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG)
    lib.TIFFSetField(work->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  else if (work->light > PHOTOMETRIC_PALETTE)
    return refuse(work, "its colours are neither grey, RGB nor a palette");
  if (is_short_fax(work, compression, rows)) {
    work->said[0] = '\0'; /* of a tag, perhaps, that nobody needs */
    return refuse(work, "truncated: so many rows cannot be in so small a file");
  }
  if (work->samples < 1 || work->samples > 4) return refuse(work, "it has not 1 ... 4 channels");
  if (planes != PLANARCONFIG_CONTIG && work->samples > 1)
    return refuse(work, "its channels are apart; expected: side by side");
  if (!dtype_of(format, work->bits, dtype))
    return refuse(work, "its samples are of no type that is read");
  if (work->bits < 8 && work->samples > 1)
    return refuse(work, "it has several channels of fewer than 8 bits");
  if (work->light != PHOTOMETRIC_PALETTE) return RUNG_OK;
  *channels = 3;
  if (work->bits <= 8 && work->samples == 1 && format == SAMPLEFORMAT_UINT &&
      lib.TIFFGetField(work->tiff, TIFFTAG_COLORMAP, &work->map[0], &work->map[1], &work->map[2]))
    return RUNG_OK;
  return refuse(work, "its palette is not there, or not of 8 bits");
}

/* Room for a row, or for a row of tiles; what the file cannot hold is refused first. */
static rung_status make_room(tiff_work *work, int64_t width) {
  const bool tiled = lib.TIFFIsTiled(work->tiff) != 0;
  const double most = (double)work->reader->in.all * GROWTH;
  work->raw_bytes = (width * work->samples * work->bits + 7) / 8;
  work->tile_rows = 1;
  int64_t tile_bytes = 1, row_bytes = work->raw_bytes;
  if (tiled) {
    lib.TIFFGetField(work->tiff, TIFFTAG_TILELENGTH, &work->tile_rows);
    lib.TIFFGetField(work->tiff, TIFFTAG_TILEWIDTH, &work->tile_columns);
    tile_bytes = (int64_t)lib.TIFFTileSize64(work->tiff);
    work->tile_row_bytes = (int64_t)lib.TIFFTileRowSize64(work->tiff);
  } else if ((int64_t)lib.TIFFScanlineSize64(work->tiff) > row_bytes) {
    row_bytes = (int64_t)lib.TIFFScanlineSize64(work->tiff);
  }
  if (tile_bytes < 1 || work->tile_rows < 1 || (tiled && work->tile_columns < 1) ||
      (double)tile_bytes > most || (double)row_bytes * work->tile_rows > most)
    return refuse(work, "truncated: a row of it cannot be in so small a file");
  work->raw = malloc((size_t)row_bytes * work->tile_rows);
  work->tile = malloc((size_t)tile_bytes);
  if (work->raw && work->tile) return RUNG_OK;
  return rung_fail(work->reader->error, RUNG_OUT_OF_MEMORY, "%s: no memory for its rows",
                   work->reader->in.name);
}

static rung_status open_reader(array_reader *reader) {
  tiff_work *work = NULL;
  rung_status status = source_seekable(&reader->in, reader->error);
  if (!status) status = begin_work(&work, reader->in.name, reader->error);
  reader->state = work;
  if (status) return status;
  work->reader = reader;
  if (!open_tiff(work, reader->in.name, "rm")) return refuse(work, "it has no image");
  uint32_t width = 0, height = 0, bytes = 0;
  int64_t channels = 1;
  rung_dtype dtype = RUNG_U8;
  void *profile = NULL;
  lib.TIFFGetField(work->tiff, TIFFTAG_IMAGEWIDTH, &width);
  lib.TIFFGetField(work->tiff, TIFFTAG_IMAGELENGTH, &height);
  status = examine(work, height, &dtype, &channels);
  if (!status) status = array_is_image(reader, dtype, height, width, channels, 0);
  if (!status) status = make_room(work, width);
  if (!status && lib.TIFFGetField(work->tiff, TIFFTAG_ICCPROFILE, &bytes, &profile))
    status = notes_set_profile(&reader->notes, "icc", profile, bytes, reader->error);
  return status;
}

/* The rows of tiles from row y on, row by row into work->raw. */
static bool read_tiles(tiff_work *work, int64_t y) {
  const int64_t width = work->reader->about.shape[1];
  for (int64_t x = 0; x < width; x += work->tile_columns) {
    const int64_t at = x * work->samples * work->bits / 8, left = work->raw_bytes - at;
    const size_t bytes = (size_t)(left < work->tile_row_bytes ? left : work->tile_row_bytes);
    if (lib.TIFFReadTile(work->tiff, work->tile, (uint32_t)x, (uint32_t)y, 0, 0) < 0) return false;
    for (int64_t row = 0; row < work->tile_rows; row++)
      memcpy(work->raw + row * work->raw_bytes + at, work->tile + row * work->tile_row_bytes,
             bytes);
  }
  return true;
}

/* Sample x of a row of 8 bits or fewer. */
static unsigned small_sample(const tiff_work *work, const unsigned char *raw, int64_t x) {
  const int bits = work->bits, shift = 8 - bits - (int)(x * bits % 8);
  return raw[x * bits / 8] >> shift & ((1u << bits) - 1);
}

static void expand(const tiff_work *work, const unsigned char *raw, unsigned char *to) {
  const array_about *about = &work->reader->about;
  const bool turned = work->light == PHOTOMETRIC_MINISWHITE && about->dtype <= RUNG_U16;
  const int64_t width = about->shape[1];
  const unsigned most = work->bits < 8 ? (1u << work->bits) - 1 : 255;
  if (work->light == PHOTOMETRIC_PALETTE) {
    for (int64_t x = 0; x < width; x++)
      for (int c = 0; c < 3; c++)
        *to++ = (unsigned char)(work->map[c][small_sample(work, raw, x)] >> 8);
  } else if (work->bits < 8) {
    for (int64_t x = 0; x < width; x++) {
      const unsigned value = small_sample(work, raw, x);
      to[x] = (unsigned char)((turned ? most - value : value) * (255 / most));
    }
  } else {
    for (int64_t i = 0; i < about->row_bytes; i++) to[i] = turned ? (unsigned char)~raw[i] : raw[i];
  }
}

static rung_status read_rows(array_reader *reader, int64_t count, void *to) {
  tiff_work *work = reader->state;
  unsigned char *at = to;
  for (int64_t y = reader->done; y < reader->done + count; y++, at += reader->about.row_bytes) {
    const int64_t row = work->tile_columns ? y % work->tile_rows : 0;
    const bool done = work->tile_columns
                          ? row > 0 || read_tiles(work, y)
                          : lib.TIFFReadScanline(work->tiff, work->raw, (uint32_t)y, 0) >= 0;
    if (!done) return refuse(work, "truncated: its data ends early");
    expand(work, work->raw + row * work->raw_bytes, at);
  }
  return RUNG_OK;
}

static void free_work(tiff_work *work) {
  if (!work) return;
  if (work->tiff) lib.TIFFClose(work->tiff);
  free(work->raw);
  free(work->tile);
  free(work);
}

static void close_reader(array_reader *reader) {
  free_work(reader->state);
}

/* ---- writing ------------------------------------------------------------------------------ */

static rung_status cannot(array_writer *writer) {
  const tiff_work *work = writer->state;
  if (strcasestr(work->said, "memory") || strcasestr(work->said, "allocate"))
    return rung_fail(writer->error, RUNG_OUT_OF_MEMORY, "output '%s': %s", writer->path,
                     work->said);
  return array_cannot_write(writer);
}

static void set_tags(const tiff_work *work) {
  const array_about *about = &work->writer->about;
  const file_notes *notes = work->writer->notes;
  const rung_traits *traits = rung_traits_of(about->dtype);
  const int channels = array_channels(about);
  const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
  static const int kinds[] = {[RUNG_UNSIGNED] = SAMPLEFORMAT_UINT,
                              [RUNG_SIGNED] = SAMPLEFORMAT_INT,
                              [RUNG_FLOAT] = SAMPLEFORMAT_IEEEFP};
  lib.TIFFSetField(work->tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)about->shape[1]);
  lib.TIFFSetField(work->tiff, TIFFTAG_IMAGELENGTH, (uint32_t)about->shape[0]);
  lib.TIFFSetField(work->tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
  lib.TIFFSetField(work->tiff, TIFFTAG_BITSPERSAMPLE, (int)(8 * traits->bytes));
  lib.TIFFSetField(work->tiff, TIFFTAG_SAMPLEFORMAT, kinds[traits->kind]);
  lib.TIFFSetField(work->tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  lib.TIFFSetField(work->tiff, TIFFTAG_PHOTOMETRIC,
                   channels < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
  if (channels % 2 == 0) lib.TIFFSetField(work->tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  lib.TIFFSetField(work->tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  lib.TIFFSetField(work->tiff, TIFFTAG_ROWSPERSTRIP, lib.TIFFDefaultStripSize(work->tiff, 0));
  if (notes && notes->profile)
    lib.TIFFSetField(work->tiff, TIFFTAG_ICCPROFILE, notes->profile_bytes, notes->profile);
}

/* Of more than 4 GiB: the format with offsets of 64 bits. */
static rung_status create(array_writer *writer) {
  tiff_work *work = NULL;
  const rung_status status = begin_work(&work, writer->path, writer->error);
  writer->state = work;
  if (status) return status;
  work->writer = writer;
  const int64_t bytes = writer->about.rows * writer->about.row_bytes;
  if (!open_tiff(work, writer->path, bytes > 4000000000 ? "w8m" : "wm")) return cannot(writer);
  set_tags(work);
  return RUNG_OK;
}

static rung_status put(array_writer *writer, int64_t count, const void *from) {
  const tiff_work *work = writer->state;
  unsigned char *at = (unsigned char *)from;
  for (int64_t y = writer->done; y < writer->done + count; y++, at += writer->about.row_bytes)
    if (lib.TIFFWriteScanline(work->tiff, at, (uint32_t)y, 0) < 0) return cannot(writer);
  return RUNG_OK;
}

static rung_status end(array_writer *writer) {
  const tiff_work *work = writer->state;
  if (lib.TIFFFlush(work->tiff) && work->said[0] == '\0') return RUNG_OK;
  return cannot(writer);
}

static void drop(array_writer *writer) {
  free_work(writer->state);
}

const array_format tiff_format = {
    TIFF_HOLDS,       .open = open_reader, .rows = read_rows, .close = close_reader,
    .create = create, .put = put,          .end = end,        .drop = drop};
#else
static rung_status open_reader(array_reader *reader) {
  return shared_left_out("libtiff", reader->in.name, reader->error);
}

static rung_status create(array_writer *writer) {
  return shared_left_out("libtiff", writer->path, writer->error);
}

const array_format tiff_format = {TIFF_HOLDS, .open = open_reader, .create = create};
#endif
