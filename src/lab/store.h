/* JSON files that are written whole or not at all. (The lab may not use files/, which belongs to
 * the command.) */
#ifndef RUNG_LAB_STORE_H
#define RUNG_LAB_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "core/error.h"

/* Writes `json` into a temporary file beside `path`, flushes it to the disk and renames it there:
 * readers see the old file or the new one, and of several writers the last one's is whole.
 * Borrows `json`. RUNG_FILE_FAILED with a sentence, the old file untouched. */
rung_status lab_store(const char *path, const json_t *json, rung_error *error);
/* The same of text. */
rung_status lab_store_text(const char *path, const char *text, rung_error *error);

/* Opens a regular file of at most `most` bytes for reading: its descriptor, -1 with errno where it
 * is none. A FIFO or a device is neither waited for nor read. */
int lab_open_regular(const char *path, int64_t most);
/* All of such a file, with a 0 behind, to be freed; *length: its bytes, where that is not NULL. The
 * descriptor is closed. NULL: no memory. */
char *lab_take_text(int descriptor, size_t *length);

/* A number; null where it is not finite, for JSON has neither NaN nor infinity. */
json_t *lab_number(double value);

#endif
