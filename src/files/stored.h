/* An NPY file as a store (rung.h): elements are read from it, or written to it, where the library
 * asks for them, so that no more than a piece of it is in memory. */
#ifndef RUNG_FILES_STORED_H
#define RUNG_FILES_STORED_H

#include "files/share.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed: none. It must not move while it is open. */
typedef struct file_store {
  rung_store store;
  bool open;
  int descriptor;
  int64_t offset; /* of the first element */
  size_t element; /* bytes, whose order is turned round where `swapped` */
  bool swapped;
  const char *path, *verb; /* for a sentence: what cannot be done with it */
  share_file file;         /* of one that is read: as it was when it was opened */
  int failed;              /* 0, or the errno of one that failed; -1: it ends early */
} file_store;

/* Opens a file of more than `most` bytes of elements, whose array in *array has the store in place
 * of memory. *store is not open, and *array zeroed, where it has fewer, or is no file in C order of
 * that format on a disk: whoever reads it whole says what is wrong with it, if anything is. */
rung_status file_store_open(file_store *store, const char *path, int64_t most, file_array *array,
                            rung_error *error);

/* An output in the making, to be written where share_create() has made place for it. */
rung_status file_store_create(file_store *store, const share_place *place, const char *path,
                              size_t element, rung_error *error);

/* What a read or a write came to, once no more of them are under way: a sentence that names the
 * file; and of one that is read, whether it is what it was. */
rung_status file_store_check(const file_store *store, rung_error *error);

/* Or one that is not open. RUNG_FILE_FAILED: what was written has not arrived. */
rung_status file_store_close(file_store *store, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
