/* The dimensions that an input and an output share, sorted and merged: how an operation along an
 * axis brings views of any strides into the few forms that its rungs take. Along these dimensions
 * everything is independent, so their order is free. */
#ifndef RUNG_CORE_DIMENSIONS_H
#define RUNG_CORE_DIMENSIONS_H

#include "core/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strides in elements; `out` is 0 where no output was given. */
typedef struct rung_dimension {
  int64_t extent, in, out;
} rung_dimension;

typedef struct rung_dimensions {
  int count;
  rung_dimension at[RUNG_MAX_DIMS];
} rung_dimensions;

/* All of `in` but `axis` and those of one element. `out`, or NULL, has in's dimensions in their
 * order, with or without the axis. An axis that `in` does not have leaves nothing out. */
rung_dimensions rung_dimensions_of(const rung_view *in, int axis, const rung_view *out);

void rung_dimensions_by_stride(rung_dimensions *d); /* in's widest stride first */

/* Neighbours become one where both arrays go on in even steps. */
void rung_dimensions_merge(rung_dimensions *d);

/* Where the order of elements does not matter, backwards is forwards: negative strides of `in` are
 * turned round, and in->data is where the view then begins. */
void rung_dimensions_forwards(rung_dimensions *d, rung_view *in);

/* Gives the view these dimensions; data and count stay. */
void rung_view_reshape(rung_view *view, int ndim, const int64_t *shape, const int64_t *stride);

#ifdef __cplusplus
}
#endif

#endif
