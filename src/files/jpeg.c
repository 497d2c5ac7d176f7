/* JPEG, read by libjpeg: 8 bits, grey or RGB. Its colour profile is kept. */
#include "files/array_format.h"
#include "files/shared.h"

static const char *const extensions[] = {"jpg", "jpeg", NULL};

static bool is_jpeg(const unsigned char start[SOURCE_START]) {
  return start[0] == 0xff && start[1] == 0xd8 && start[2] == 0xff;
}

#define JPEG_HOLDS .name = "JPEG", .extensions = extensions, .knows = is_jpeg

#ifdef RUNG_JPEG
#include <setjmp.h>
#include <stdlib.h>
/* */
#include <jpeglib.h>
/* */
#include <jerror.h>

/* A block of 8 x 8 samples takes one bit or more, unless it is coded arithmetically. */
enum { GROWTH = 8 * 64, GROWTH_ARITHMETIC = 64 * GROWTH, READ_AHEAD = 4096 };

#define FUNCTIONS(X)         \
  X(jpeg_std_error)          \
  X(jpeg_CreateDecompress)   \
  X(jpeg_destroy_decompress) \
  X(jpeg_resync_to_restart)  \
  X(jpeg_save_markers)       \
  X(jpeg_read_header)        \
  X(jpeg_read_icc_profile)   \
  X(jpeg_start_decompress)   \
  X(jpeg_read_scanlines)     \
  X(jpeg_finish_decompress)
static struct { FUNCTIONS(SHARED_MEMBER) } lib;
static const char *const names[] = {FUNCTIONS(SHARED_NAME)};

/* As in png.c: what fails inside the library comes back by longjmp to try(). */
typedef struct jpeg_work {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  array_reader *reader;
  rung_status status;
  bool begun;
  JOCTET *profile; /* the library's, to be freed */
  unsigned profile_bytes;
  unsigned char *at;
  int64_t rows;
  JOCTET ahead[READ_AHEAD];
  jmp_buf escape;
} jpeg_work;

static bool try(jpeg_work *work, void (*step)(jpeg_work *work)) {
  if (setjmp(work->escape)) return false;
  step(work);
  return true;
}

static void leave(jpeg_work *work, rung_status status) {
  work->status = status;
  longjmp(work->escape, 1);
}

static void failed(j_common_ptr jpeg) {
  jpeg_work *work = jpeg->client_data;
  char what[JMSG_LENGTH_MAX];
  const char *name = work->reader->in.name;
  rung_error *error = work->reader->error;
  if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
    leave(work, rung_fail(error, RUNG_OUT_OF_MEMORY, "%s: no memory for an image", name));
  jpeg->err->format_message(jpeg, what);
  leave(work, rung_fail(error, RUNG_BAD_FILE, "%s: is no good .jpg file: %s", name, what));
}

/* Warnings that stand for samples made up by the library are failures; level -1 is a warning. */
static void warned(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  const bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
                        code == JWRN_ADOBE_XFORM || code == JWRN_TOO_MUCH_DATA;
  if (level < 0 && !harmless) failed(jpeg);
}

static void say_nothing(j_common_ptr jpeg) {
  (void)jpeg;
}

/* ---- bytes -------------------------------------------------------------------------------- */

static void begin_source(j_decompress_ptr jpeg) {
  (void)jpeg;
}

static boolean fill(j_decompress_ptr jpeg) {
  jpeg_work *work = jpeg->client_data;
  array_reader *reader = work->reader;
  work->source.bytes_in_buffer = source_read(&reader->in, work->ahead, sizeof work->ahead);
  work->source.next_input_byte = work->ahead;
  if (work->source.bytes_in_buffer == 0) /* what cannot be read says so, or that it ends early */
    leave(work, source_take(&reader->in, work->ahead, 1, "data", reader->error));
  return TRUE;
}

static void skip(j_decompress_ptr jpeg, long bytes) {
  struct jpeg_source_mgr *source = jpeg->src;
  for (; bytes > (long)source->bytes_in_buffer; fill(jpeg)) bytes -= (long)source->bytes_in_buffer;
  if (bytes <= 0) return;
  source->next_input_byte += bytes;
  source->bytes_in_buffer -= (size_t)bytes;
}

/* ---- reading ------------------------------------------------------------------------------ */

static void read_header(jpeg_work *work) {
  j_decompress_ptr jpeg = &work->jpeg;
  lib.jpeg_CreateDecompress(jpeg, JPEG_LIB_VERSION, sizeof *jpeg);
  work->begun = true;
  work->source = (struct jpeg_source_mgr){.init_source = begin_source,
                                          .fill_input_buffer = fill,
                                          .skip_input_data = skip,
                                          .resync_to_restart = lib.jpeg_resync_to_restart,
                                          .term_source = begin_source};
  jpeg->src = &work->source;
  lib.jpeg_save_markers(jpeg, JPEG_APP0 + 2, 0xffff);
  lib.jpeg_read_header(jpeg, TRUE);
  lib.jpeg_read_icc_profile(jpeg, &work->profile, &work->profile_bytes);
}

static void start(jpeg_work *work) {
  lib.jpeg_start_decompress(&work->jpeg);
}

static rung_status open_jpeg(array_reader *reader) {
  rung_status status = source_seekable(&reader->in, reader->error);
  if (!status)
    status = shared_load(RUNG_JPEG, names, sizeof names / sizeof *names, &lib, reader->in.name,
                         reader->error);
  if (status) return status;
  jpeg_work *work = reader->state = calloc(1, sizeof *work);
  if (!work)
    return rung_fail(reader->error, RUNG_OUT_OF_MEMORY, "%s: no memory for an image",
                     reader->in.name);
  work->reader = reader;
  work->jpeg.err = lib.jpeg_std_error(&work->errors);
  work->jpeg.client_data = work;
  work->errors.error_exit = failed;
  work->errors.emit_message = warned;
  work->errors.output_message = say_nothing;
  if (!try(work, read_header)) return work->status;
  const j_decompress_ptr jpeg = &work->jpeg;
  if (jpeg->num_components != 1 && jpeg->num_components != 3)
    return rung_fail(reader->error, RUNG_BAD_FILE,
                     "%s: has %d components; expected: 1 (grey) or 3 (colours)", reader->in.name,
                     jpeg->num_components);
  jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  const int64_t width = jpeg->image_width, height = jpeg->image_height;
  status = array_is_image(reader, RUNG_U8, height, width, 1,
                          jpeg->arith_code ? GROWTH_ARITHMETIC : GROWTH);
  if (!status) status = array_is_image(reader, RUNG_U8, height, width, jpeg->num_components, 0);
  if (!status && work->profile)
    status =
        notes_set_profile(&reader->notes, "icc", work->profile, work->profile_bytes, reader->error);
  if (status) return status;
  return try(work, start) ? RUNG_OK : work->status;
}

static void read_some(jpeg_work *work) {
  const int64_t row = work->reader->about.row_bytes;
  for (; work->rows > 0; work->rows--, work->at += row)
    lib.jpeg_read_scanlines(&work->jpeg, &work->at, 1);
}

static void finish(jpeg_work *work) {
  lib.jpeg_finish_decompress(&work->jpeg);
}

static rung_status read_rows(array_reader *reader, int64_t count, void *to) {
  jpeg_work *work = reader->state;
  work->at = to;
  work->rows = count;
  if (!try(work, read_some)) return work->status;
  if (reader->done + count < reader->about.rows) return RUNG_OK;
  return try(work, finish) ? RUNG_OK : work->status;
}

static void close_jpeg(array_reader *reader) {
  jpeg_work *work = reader->state;
  if (!work) return;
  if (work->begun) lib.jpeg_destroy_decompress(&work->jpeg);
  free(work->profile);
  free(work);
}

const array_format jpeg_format = {JPEG_HOLDS, .open = open_jpeg, .rows = read_rows,
                                  .close = close_jpeg};
#else
static rung_status open_jpeg(array_reader *reader) {
  return shared_left_out("libjpeg", reader->in.name, reader->error);
}

const array_format jpeg_format = {JPEG_HOLDS, .open = open_jpeg};
#endif
