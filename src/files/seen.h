/* How much has been read of the file that was opened last: for a thread that tells somebody. */
#ifndef RUNG_FILES_SEEN_H
#define RUNG_FILES_SEEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file is opened; -1: its size is not known. */
void seen_begin(int64_t bytes);
/* More of it was read. */
void seen_more(int64_t bytes);
/* So many bytes so far; *all is -1 where nobody knows how many there are. */
int64_t seen_bytes(int64_t *all);

#ifdef __cplusplus
}
#endif
#endif
