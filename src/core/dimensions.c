#include "core/dimensions.h"

#include <stdlib.h>

rung_dimensions rung_dimensions_of(const rung_view *in, int axis, const rung_view *out) {
  rung_dimensions found = {0};
  const bool less = out != NULL && out->ndim < in->ndim;
  for (int d = 0; d < in->ndim; d++) {
    if (d == axis || in->shape[d] == 1) continue;
    rung_dimension *at = &found.at[found.count++];
    *at = (rung_dimension){.extent = in->shape[d], .in = in->stride[d]};
    if (out != NULL) at->out = out->stride[less && d > axis ? d - 1 : d];
  }
  return found;
}

static uint64_t magnitude(int64_t stride) {
  return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

static int by_stride(const void *a, const void *b) {
  const uint64_t x = magnitude(((const rung_dimension *)a)->in);
  const uint64_t y = magnitude(((const rung_dimension *)b)->in);
  return x < y ? 1 : x > y ? -1 : 0;
}

void rung_dimensions_by_stride(rung_dimensions *d) {
  qsort(d->at, (size_t)d->count, sizeof d->at[0], by_stride);
}

/* Whether `wide` steps over just what `extent` steps of `narrow` do. Strides of a view without
 * elements may be anything. */
static bool goes_on(int64_t wide, int64_t narrow, int64_t extent) {
  int64_t span;
  return !__builtin_mul_overflow(narrow, extent, &span) && span == wide;
}

void rung_dimensions_merge(rung_dimensions *d) {
  int count = 0;
  for (int i = 0; i < d->count; i++) {
    rung_dimension *last = count > 0 ? &d->at[count - 1] : NULL;
    const rung_dimension *next = &d->at[i];
    if (last != NULL && goes_on(last->in, next->in, next->extent) &&
        goes_on(last->out, next->out, next->extent))
      *last = (rung_dimension){last->extent * next->extent, next->in, next->out};
    else
      d->at[count++] = *next;
  }
  d->count = count;
}

void rung_dimensions_forwards(rung_dimensions *d, rung_view *in) {
  for (int i = 0; i < d->count; i++) {
    if (d->at[i].in >= 0) continue;
    in->data += (d->at[i].extent - 1) * d->at[i].in * (int64_t)rung_dtype_bytes(in->dtype);
    d->at[i].in = -d->at[i].in;
  }
}

void rung_view_reshape(rung_view *view, int ndim, const int64_t *shape, const int64_t *stride) {
  view->ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    view->shape[d] = shape[d];
    view->stride[d] = stride[d];
  }
}
