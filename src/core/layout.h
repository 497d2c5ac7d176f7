/* Structs of the public interface that grow: they begin with their size, 0 for the first layout.
 * Here alone is decided what of another header's struct is read and written. */
#ifndef RUNG_CORE_LAYOUT_H
#define RUNG_CORE_LAYOUT_H

#include <stddef.h>

#include "core/error.h"

/* One such struct: its name, where its first layout (version 0.2) ends, its bytes as known here. */
typedef struct rung_layout {
  const char *name;
  size_t first, bytes;
} rung_layout;

#define RUNG_LAYOUT(type, last) \
  { #type, offsetof(type, last) + sizeof(((type *)0)->last), sizeof(type) }

extern const rung_layout rung_options_layout, rung_call_layout, rung_device_layout,
    rung_operation_layout, rung_ladder_layout, rung_stencil_layout, rung_filter_layout,
    rung_bins_layout, rung_points_layout, rung_distances_layout, rung_ranks_layout,
    rung_store_layout;

#ifdef __cplusplus
extern "C" {
#endif

/* No struct will ever be larger: a size beyond it was never set, and is not believed. */
enum { RUNG_LARGEST_STRUCT = 16384 };

/* Copies the caller's struct into *known, members that it lacks as zeros. BAD_ARGUMENT, *known
 * untouched: NULL, a size below the first layout or beyond RUNG_LARGEST_STRUCT, or bytes that are
 * not zero beyond what is known here. `argument` is the name used in the sentence. */
rung_status rung_read_struct(rung_error *error, const char *argument, const rung_layout *layout,
                             const void *given, void *known);

/* Copies *made into the caller's struct, as far as its size goes, which stays; what is not known
 * here becomes zero. BAD_ARGUMENT: NULL, or a size that rung_read_struct() would refuse. */
rung_status rung_write_struct(const rung_layout *layout, const void *made, void *given);

/* Whether a member lies within the size of a caller's struct that was read before. */
#define RUNG_HAS_MEMBER(layout, given, type, member) \
  (rung_struct_size((layout), (given)) >= offsetof(type, member) + sizeof((given)->member))
size_t rung_struct_size(const rung_layout *layout, const void *given);

#ifdef __cplusplus
}
#endif
#endif
