/* Inside the files of arrays: what a format brings. */
#ifndef RUNG_FILES_ARRAY_FORMAT_H
#define RUNG_FILES_ARRAY_FORMAT_H

#include "files/array.h"
#include "files/source.h"

#ifdef __cplusplus
extern "C" {
#endif

struct array_reader {
  const array_format *format;
  file_source in;
  rung_error *error; /* of the call that goes on */
  array_about about;
  file_notes notes;
  bool swapped; /* rows() leaves elements in the other byte order */
  int64_t done; /* rows */
  void *state;  /* the format's; NULL: none */
};

struct array_writer {
  const array_format *format;
  const char *path;
  file_replace file;
  FILE *stream; /* the file's; or that of what is staged */
  rung_error *error;
  array_about about;
  const file_notes *notes; /* or NULL */
  int64_t done;
  void *state;
};

/* What fails has recorded its sentence in reader->error, writer->error. */
struct array_format {
  const char *name;              /* for sentences */
  const char *const *extensions; /* without the dot, in lower case, ended by NULL */
  bool (*knows)(const unsigned char start[SOURCE_START]);

  rung_status (*open)(array_reader *reader); /* fills `about` */
  rung_status (*rows)(array_reader *reader, int64_t count, void *to);
  void (*close)(array_reader *reader); /* also after open() failed; may be NULL */

  rung_status (*create)(array_writer *writer); /* NULL: not written */
  rung_status (*put)(array_writer *writer, int64_t count, const void *from);
  rung_status (*end)(array_writer *writer); /* what comes after the rows; may be NULL */
  void (*drop)(array_writer *writer);       /* frees, in every case; may be NULL */
  bool staged;    /* writes here and there, or can fail late: a pipe gets a copy, when complete */
  unsigned types; /* that it writes; 0: those of .npy */
  unsigned channels; /* bit c: images of c channels; 0: arrays of any shape */
};

extern const array_format npy_format, png_format, pnm_format, pfm_format, jpeg_format, tiff_format;

/* Of an image. A sentence refuses sides that are not positive, and what a file of `reader`'s size
 * cannot hold where each of its bytes stands for `growth` of the image at most; 0: not known. */
rung_status array_is_image(array_reader *reader, rung_dtype dtype, int64_t height, int64_t width,
                           int64_t channels, int64_t growth);

/* The channels of an image, 1 of (height, width). */
int array_channels(const array_about *about);

/* The writer's stream refused what was written. */
rung_status array_cannot_write(array_writer *writer);

/* Turns every element's bytes round. */
void array_swap(char *data, int64_t count, size_t size);

/* One dimension of that many elements, which lie in `memory`: the array owns it. */
void array_of_memory(file_array *array, rung_dtype dtype, int64_t count, void *memory);

/* Reads with this format; a NULL one is told by the file. */
rung_status array_read_as(const array_format *format, const char *path, file_array *array,
                          rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
