/* Parts of the library that are loaded when they are first asked for: the CUDA rungs with their
 * backend, and the simulator. A part is a shared object beside the library, librung-cuda.so.0 or
 * librung-sim.so.0, that shows one name: its rung_part. In a static program the part is an archive
 * linked like any other (`pkg-config --static`), and nothing is loaded. */
#ifndef RUNG_CORE_PART_H
#define RUNG_CORE_PART_H

#include "core/ladder.h"

/* One GPU rung as a part brings it. */
typedef struct rung_entry {
  const char *operation, *rung; /* as the ladders name them */
  rung_launch *launch;
} rung_entry;

typedef struct rung_part {
  const char *version; /* RUNG_VERSION it was built with; this member stays the first for ever */
  size_t layout;       /* RUNG_PART_LAYOUT */
  const rung_backend *backend;
  const rung_entry *entries; /* ended by a NULL operation */
} rung_part;

/* Differs where library and part were built from headers that do not agree. */
#define RUNG_PART_LAYOUT \
  (sizeof(rung_backend) + 1000 * sizeof(rung_task) + 1000000 * sizeof(rung_device))

#ifdef __cplusplus
extern "C" {
#endif

/* The backend of a kind of device. GPU kinds: the first call loads the part and gives the ladders
 * its launches; later ones are a look. NULL: RUNG_NO_DEVICE in *error (NULL allowed), with a
 * sentence that names the file, what is wrong with it and what would help; the next call tries
 * again. Any thread may call it. */
RUNG_PRIVATE const rung_backend *rung_backend_of(rung_kind kind, rung_error *error);

#ifdef __cplusplus
}
#endif
#endif
