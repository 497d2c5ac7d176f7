/* PNG, by libpng: grey, grey and alpha, RGB or RGBA of 8 or 16 bits; palettes, fewer bits and a
 * colour that is transparent are expanded. Samples are not changed for a gamma or a profile; those
 * and the texts are kept as notes. */
#include "files/array_format.h"
#include "files/shared.h"

static const char *const extensions[] = {"png", NULL};

static bool is_png(const unsigned char start[SOURCE_START]) {
  static const unsigned char magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  for (size_t i = 0; i < sizeof magic; i++)
    if (start[i] != magic[i]) return false;
  return true;
}

#define PNG_HOLDS                                                           \
  .name = "PNG", .extensions = extensions, .knows = is_png, .staged = true, \
  .types = RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U16),                        \
  .channels = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4

#ifdef RUNG_PNG
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* deflate makes no byte of more than GROWTH, and a bit becomes a sample of two bytes; what the
 * library needs for itself. */
enum { GROWTH = 1032, EXPANDED = 16, OWN = 1 << 20, CHUNK_MOST = 8 << 20 };

#define FUNCTIONS(X)            \
  X(png_create_read_struct_2)   \
  X(png_create_write_struct_2)  \
  X(png_create_info_struct)     \
  X(png_destroy_read_struct)    \
  X(png_destroy_write_struct)   \
  X(png_get_error_ptr)          \
  X(png_get_io_ptr)             \
  X(png_get_mem_ptr)            \
  X(png_set_read_fn)            \
  X(png_set_write_fn)           \
  X(png_set_user_limits)        \
  X(png_set_chunk_malloc_max)   \
  X(png_set_benign_errors)      \
  X(png_read_info)              \
  X(png_set_expand)             \
  X(png_set_interlace_handling) \
  X(png_read_update_info)       \
  X(png_get_image_width)        \
  X(png_get_image_height)       \
  X(png_get_bit_depth)          \
  X(png_get_channels)           \
  X(png_get_rowbytes)           \
  X(png_read_row)               \
  X(png_read_end)               \
  X(png_get_text)               \
  X(png_set_text)               \
  X(png_get_iCCP)               \
  X(png_set_iCCP)               \
  X(png_get_sRGB)               \
  X(png_set_sRGB)               \
  X(png_get_gAMA_fixed)         \
  X(png_set_gAMA_fixed)         \
  X(png_set_IHDR)               \
  X(png_write_info)             \
  X(png_set_swap)               \
  X(png_write_row)              \
  X(png_write_end)
static struct { FUNCTIONS(SHARED_MEMBER) } lib;
static const char *const names[] = {FUNCTIONS(SHARED_NAME)};

/* What fails inside the library comes back by longjmp to try(), which has no variables that would
 * be lost; nor have the steps that it runs. */
typedef struct png_work {
  png_structp png;
  png_infop info, last; /* what stands before the samples, and behind them */
  array_reader *reader; /* one of the two */
  array_writer *writer;
  rung_status status;        /* of what ended a step */
  unsigned char *whole, *at; /* an interlaced image; the row to be read or written */
  int64_t row_bytes, rows;   /* of one row; rows of this step */
  int passes;
  bool no_memory;
  jmp_buf escape;
} png_work;

static void leave(png_work *work, rung_status status) {
  work->status = status;
  longjmp(work->escape, 1);
}

static rung_status out_of_memory(const png_work *work) {
  return rung_fail(work->reader ? work->reader->error : work->writer->error, RUNG_OUT_OF_MEMORY,
                   "%s: no memory for an image",
                   work->reader ? work->reader->in.name : work->writer->path);
}

static void failed(png_structp png, png_const_charp what) {
  png_work *work = lib.png_get_error_ptr(png);
  rung_error *error = work->reader ? work->reader->error : work->writer->error;
  const char *name = work->reader ? work->reader->in.name : work->writer->path;
  if (work->no_memory) leave(work, out_of_memory(work));
  leave(work, rung_fail(error, RUNG_BAD_FILE, "%s: is no good .png file: %s", name, what));
}

static void warned(png_structp png, png_const_charp what) {
  (void)png;
  (void)what;
}

/* The library believes the length that a chunk claims: what the file cannot fill is refused. */
static void *take_memory(png_structp png, png_alloc_size_t bytes) {
  png_work *work = lib.png_get_mem_ptr(png);
  const double most = work->reader ? (double)work->reader->in.all * EXPANDED * GROWTH : INFINITY;
  if ((double)bytes > most + OWN) return NULL;
  void *memory = malloc(bytes);
  if (!memory) work->no_memory = true;
  return memory;
}

static void give_memory(png_structp png, void *memory) {
  (void)png;
  free(memory);
}

/* The library goes on without a text for which there was no memory; we do not. */
static bool try(png_work *work, void (*step)(png_work *work)) {
  if (setjmp(work->escape)) return false;
  step(work);
  if (work->no_memory) work->status = out_of_memory(work);
  return !work->no_memory;
}

static rung_status no_memory(const char *name, rung_error *error) {
  return rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory for an image", name);
}

static rung_status begin_work(png_work **work, const char *name, rung_error *error) {
  const rung_status status =
      shared_load(RUNG_PNG, names, sizeof names / sizeof *names, &lib, name, error);
  if (status) return status;
  *work = calloc(1, sizeof **work);
  return *work ? RUNG_OK : no_memory(name, error);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void read_bytes(png_structp png, png_bytep to, size_t bytes) {
  png_work *work = lib.png_get_io_ptr(png);
  const rung_status status = source_take(&work->reader->in, to, bytes, "data", work->reader->error);
  if (status) leave(work, status);
}

static void read_header(png_work *work) {
  lib.png_set_read_fn(work->png, work, read_bytes);
  lib.png_set_user_limits(work->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  lib.png_set_chunk_malloc_max(work->png, CHUNK_MOST);
  lib.png_set_benign_errors(work->png, 1);
  lib.png_read_info(work->png, work->info);
}

/* Only now, when the file was found to be large enough for it, are rows allocated. */
static void prepare_rows(png_work *work) {
  lib.png_set_expand(work->png);
  work->passes = lib.png_set_interlace_handling(work->png);
  lib.png_read_update_info(work->png, work->info);
}

static rung_status keep_texts(png_work *work, png_infop from) {
  array_reader *reader = work->reader;
  png_textp texts = NULL;
  int count = 0;
  rung_status status = RUNG_OK;
  lib.png_get_text(work->png, from, &texts, &count);
  for (int i = 0; !status && i < count; i++) {
    const file_text text = {texts[i].compression, texts[i].key, texts[i].text, texts[i].lang,
                            texts[i].lang_key};
    status = notes_add_text(&reader->notes, &text, reader->error);
  }
  return status;
}

static rung_status keep_colours(png_work *work) {
  file_notes *notes = &work->reader->notes;
  png_charp name = NULL;
  png_bytep profile = NULL;
  png_uint_32 bytes = 0;
  int kind = 0;
  png_fixed_point gamma = 0;
  notes->has_srgb = lib.png_get_sRGB(work->png, work->info, &notes->intent) != 0;
  notes->has_gamma = lib.png_get_gAMA_fixed(work->png, work->info, &gamma) != 0;
  notes->gamma = gamma;
  if (!lib.png_get_iCCP(work->png, work->info, &name, &kind, &profile, &bytes)) return RUNG_OK;
  return notes_set_profile(notes, name, profile, bytes, work->reader->error);
}

static rung_status open_png(array_reader *reader) {
  png_work *work = NULL;
  rung_status status = source_seekable(&reader->in, reader->error);
  if (!status) status = begin_work(&work, reader->in.name, reader->error);
  reader->state = work;
  if (status) return status;
  work->reader = reader;
  work->png = lib.png_create_read_struct_2(PNG_LIBPNG_VER_STRING, work, failed, warned, work,
                                           take_memory, give_memory);
  if (work->png) work->info = lib.png_create_info_struct(work->png);
  if (work->png) work->last = lib.png_create_info_struct(work->png);
  if (!work->info || !work->last) return no_memory(reader->in.name, reader->error);
  if (!try(work, read_header)) return work->status;
  const int64_t width = lib.png_get_image_width(work->png, work->info),
                height = lib.png_get_image_height(work->png, work->info);
  const double raw = (double)height * (double)lib.png_get_rowbytes(work->png, work->info);
  if (raw / GROWTH > (double)reader->in.all)
    return rung_fail(reader->error, RUNG_BAD_FILE,
                     "%s: truncated: %lld x %lld pixels cannot be in %lld bytes", reader->in.name,
                     (long long)width, (long long)height, (long long)reader->in.all);
  if (!try(work, prepare_rows)) return work->status;
  work->row_bytes = (int64_t)lib.png_get_rowbytes(work->png, work->info);
  const bool wide = lib.png_get_bit_depth(work->png, work->info) == 16;
  reader->swapped = wide && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  status = keep_texts(work, work->info);
  if (!status) status = keep_colours(work);
  if (status) return status;
  return array_is_image(reader, wide ? RUNG_U16 : RUNG_U8, height, width,
                        lib.png_get_channels(work->png, work->info), 0);
}

static void read_some(png_work *work) {
  for (; work->rows > 0; work->rows--, work->at += work->row_bytes)
    lib.png_read_row(work->png, work->at, NULL);
}

static void read_interlaced(png_work *work) {
  for (; work->passes > 0; work->passes--)
    for (int64_t y = 0; y < work->reader->about.rows; y++)
      lib.png_read_row(work->png, work->whole + y * work->row_bytes, NULL);
}

static void read_last(png_work *work) {
  lib.png_read_end(work->png, work->last);
}

/* The whole image, once: a row of it is complete after the last pass. */
static rung_status read_whole(png_work *work) {
  array_reader *reader = work->reader;
  work->whole = calloc((size_t)reader->about.rows, (size_t)work->row_bytes);
  if (!work->whole) return no_memory(reader->in.name, reader->error);
  return try(work, read_interlaced) ? RUNG_OK : work->status;
}

static rung_status read_rows(array_reader *reader, int64_t count, void *to) {
  png_work *work = reader->state;
  if (work->passes > 1) {
    const rung_status status = read_whole(work);
    if (status) return status;
  }
  work->at = to;
  work->rows = count;
  if (work->whole)
    memcpy(to, work->whole + reader->done * work->row_bytes, (size_t)(count * work->row_bytes));
  else if (!try(work, read_some))
    return work->status;
  if (reader->done + count < reader->about.rows) return RUNG_OK;
  return try(work, read_last) ? keep_texts(work, work->last) : work->status;
}

static void close_png(array_reader *reader) {
  png_work *work = reader->state;
  if (!work) return;
  if (work->png) lib.png_destroy_read_struct(&work->png, &work->info, &work->last);
  free(work->whole);
  free(work);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void write_bytes(png_structp png, png_bytep from, size_t bytes) {
  png_work *work = lib.png_get_io_ptr(png);
  if (fwrite(from, 1, bytes, work->writer->stream) != bytes)
    leave(work, array_cannot_write(work->writer));
}

static void flush_bytes(png_structp png) {
  (void)png;
}

static void write_header(png_work *work) {
  static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  const array_about *about = &work->writer->about;
  const file_notes *notes = work->writer->notes;
  const bool wide = about->dtype == RUNG_U16;
  lib.png_set_write_fn(work->png, work, write_bytes, flush_bytes);
  lib.png_set_user_limits(work->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  lib.png_set_benign_errors(work->png, 1);
  lib.png_set_IHDR(work->png, work->info, (png_uint_32)about->shape[1],
                   (png_uint_32)about->shape[0], wide ? 16 : 8, colours[array_channels(about)],
                   PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (notes && notes->has_gamma) lib.png_set_gAMA_fixed(work->png, work->info, notes->gamma);
  if (notes && notes->profile)
    lib.png_set_iCCP(work->png, work->info, notes->profile_name, PNG_COMPRESSION_TYPE_BASE,
                     notes->profile, notes->profile_bytes);
  else if (notes && notes->has_srgb)
    lib.png_set_sRGB(work->png, work->info, notes->intent);
  lib.png_write_info(work->png, work->info);
  if (wide && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) lib.png_set_swap(work->png);
}

static rung_status create_png(array_writer *writer) {
  png_work *work = NULL;
  const rung_status status = begin_work(&work, writer->path, writer->error);
  writer->state = work;
  if (status) return status;
  work->writer = writer;
  work->png = lib.png_create_write_struct_2(PNG_LIBPNG_VER_STRING, work, failed, warned, work,
                                            take_memory, give_memory);
  if (work->png) work->info = lib.png_create_info_struct(work->png);
  if (!work->info) return no_memory(writer->path, writer->error);
  return try(work, write_header) ? RUNG_OK : work->status;
}

static void write_some(png_work *work) {
  for (; work->rows > 0; work->rows--, work->at += work->writer->about.row_bytes)
    lib.png_write_row(work->png, work->at);
}

static rung_status put_png(array_writer *writer, int64_t count, const void *from) {
  png_work *work = writer->state;
  work->rows = count;
  work->at = (unsigned char *)from;
  return try(work, write_some) ? RUNG_OK : work->status;
}

/* Texts come last, for those behind the samples are known only now. */
static void write_last(png_work *work) {
  const file_notes *notes = work->writer->notes;
  for (int i = 0; notes && i < notes->count; i++) {
    const file_text *from = &notes->texts[i];
    const png_text copy = {.compression = from->kind,
                           .key = from->key,
                           .text = from->text,
                           .lang = from->language,
                           .lang_key = from->translated};
    lib.png_set_text(work->png, work->info, &copy, 1);
  }
  lib.png_write_end(work->png, work->info);
}

static rung_status end_png(array_writer *writer) {
  png_work *work = writer->state;
  return try(work, write_last) ? RUNG_OK : work->status;
}

static void drop_png(array_writer *writer) {
  png_work *work = writer->state;
  if (!work) return;
  if (work->png) lib.png_destroy_write_struct(&work->png, &work->info);
  free(work);
}

const array_format png_format = {PNG_HOLDS,          .open = open_png,     .rows = read_rows,
                                 .close = close_png, .create = create_png, .put = put_png,
                                 .end = end_png,     .drop = drop_png};
#else
static rung_status open_png(array_reader *reader) {
  return shared_left_out("libpng", reader->in.name, reader->error);
}

static rung_status create_png(array_writer *writer) {
  return shared_left_out("libpng", writer->path, writer->error);
}

const array_format png_format = {PNG_HOLDS, .open = open_png, .create = create_png};
#endif
