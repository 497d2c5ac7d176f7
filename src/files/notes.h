/* What an image file says beside its samples, on the way from one file to another: texts and the
 * colours' profile. A format that has no place for a note leaves it out. */
#ifndef RUNG_FILES_NOTES_H
#define RUNG_FILES_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct file_text {
  int kind;                                 /* PNG's: of its compression and its letters */
  char *key, *text, *language, *translated; /* the memory is key's */
} file_text;

typedef struct file_notes {
  file_text *texts;
  int count;
  unsigned char *profile; /* an ICC profile; NULL: none */
  uint32_t profile_bytes;
  char profile_name[80];
  bool has_srgb, has_gamma;
  int intent;    /* how sRGB is to be rendered */
  int32_t gamma; /* of 100000 */
} file_notes;

/* Adds a copy; NULL texts are "". RUNG_OUT_OF_MEMORY. */
rung_status notes_add_text(file_notes *notes, const file_text *text, rung_error *error);
rung_status notes_set_profile(file_notes *notes, const char *name, const void *profile,
                              uint32_t bytes, rung_error *error);
void notes_free(file_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
