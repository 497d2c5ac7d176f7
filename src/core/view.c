/* What may be asked of a view that is already valid. */
#include "core/tensor.h"

size_t rung_view_bytes(const rung_view *view) {
  return (size_t)view->count * rung_dtype_bytes(view->dtype);
}

void rung_view_extent(const rung_view *view, uintptr_t *low, uintptr_t *high) {
  *low = *high = (uintptr_t)view->data;
  if (view->count == 0) return;
  int64_t element = (int64_t)rung_dtype_bytes(view->dtype);
  for (int d = 0; d < view->ndim; d++) {
    int64_t span = (view->shape[d] - 1) * view->stride[d] * element;
    *(span < 0 ? low : high) += (uintptr_t)span;
  }
  *high += (uintptr_t)element;
}

bool rung_view_compact_rows(const rung_view *view) {
  int last = view->ndim - 1;
  return last < 0 || view->stride[last] == 1 || view->shape[last] <= 1;
}

bool rung_view_same(const rung_view *a, const rung_view *b) {
  if (a->data != b->data || a->store != b->store || a->dtype != b->dtype || a->ndim != b->ndim)
    return false;
  for (int d = 0; d < a->ndim; d++) {
    if (a->shape[d] != b->shape[d]) return false;
    /* The stride of an extent of 1 is never used. */
    if (a->shape[d] > 1 && a->stride[d] != b->stride[d]) return false;
  }
  return true;
}

bool rung_views_overlap(const rung_view *a, const rung_view *b) {
  if (a->count == 0 || b->count == 0 || a->store != b->store) return false;
  uintptr_t a_low, a_high, b_low, b_high;
  rung_view_extent(a, &a_low, &a_high);
  rung_view_extent(b, &b_low, &b_high);
  return a_low < b_high && b_low < a_high;
}

static uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Dimensions of more than one element, by rising |stride|; how many. */
static int sort_dimensions(const rung_view *view, int order[RUNG_MAX_DIMS]) {
  int used = 0;
  for (int d = 0; d < view->ndim; d++) {
    if (view->shape[d] <= 1) continue;
    int at = used++;
    for (; at > 0 && magnitude(view->stride[order[at - 1]]) > magnitude(view->stride[d]); at--)
      order[at] = order[at - 1];
    order[at] = d;
  }
  return used;
}

rung_status rung_view_writable(rung_error *error, const char *argument, const rung_view *view) {
  if (view->count == 0) return RUNG_OK;
  if (view->store != NULL && view->store->write == NULL)
    return rung_fail(error, RUNG_BAD_ARGUMENT,
                     "%s is a store without write(); expected: a function that writes", argument);
  int order[RUNG_MAX_DIMS];
  int used = sort_dimensions(view, order);
  /* Nested dimensions: each must step over all that the smaller ones span. A few views that
   * interleave without touching twice are refused with those that fold; no array library makes
   * them. */
  uint64_t span = 0;
  for (int k = 0; k < used; k++) {
    int d = order[k];
    uint64_t stride = magnitude(view->stride[d]);
    if (stride <= span)
      return rung_fail(error, RUNG_BAD_SHAPE,
                       "%s has stride %lld in dimension %d of extent %lld, so that it would be "
                       "written twice in one place; expected: a stride beyond %llu",
                       argument, (long long)view->stride[d], d, (long long)view->shape[d],
                       (unsigned long long)span);
    span += stride * (uint64_t)(view->shape[d] - 1);
  }
  return RUNG_OK;
}

/* ---- between arrays of a call ------------------------------------------------------------------
 */

rung_status rung_refuse_overlap(rung_error *error, const char *name, const rung_view *output,
                                const char *other_name, const rung_view *other, bool same_allowed) {
  if (output->count == 0 || other->count == 0 || !rung_views_overlap(output, other)) return RUNG_OK;
  if (same_allowed && rung_view_same(output, other)) return RUNG_OK;
  return rung_fail(error, RUNG_OVERLAP, "%s shares memory with %s; %s", name, other_name,
                   same_allowed ? "expected: the very same array, or none of its memory"
                                : "expected: none in common");
}

rung_status rung_refuse_sides(rung_error *error, const char *name, const rung_view *view,
                              const char *other_name, const rung_view *other) {
  const bool device = view->place == RUNG_DEVICE, other_device = other->place == RUNG_DEVICE;
  if (view->count == 0 || other->count == 0 || device == other_device) return RUNG_OK;
  return rung_fail(error, RUNG_BAD_PLACE,
                   "%s lies in %s memory and %s in %s memory; expected: both on the same side",
                   name, device ? "device" : "host", other_name, other_device ? "device" : "host");
}

/* ---- parts ------------------------------------------------------------------------------------
 */

bool rung_view_is_compact(const rung_view *view) {
  int64_t expected = 1;
  for (int d = view->ndim - 1; d >= 0; d--) {
    if (view->shape[d] > 1 && view->stride[d] != expected) return false;
    expected *= view->shape[d];
  }
  return true;
}

void rung_view_narrow(rung_view *view, int d, int64_t first, int64_t count) {
  if (view->count == 0) return;
  view->data += first * view->stride[d] * (int64_t)rung_dtype_bytes(view->dtype);
  view->count = view->count / view->shape[d] * count;
  view->shape[d] = count;
}

void rung_view_drop(rung_view *view, int d, int64_t at) {
  rung_view_narrow(view, d, at, 1);
  view->ndim--;
  for (; d < view->ndim; d++) {
    view->shape[d] = view->shape[d + 1];
    view->stride[d] = view->stride[d + 1];
  }
}

/* `before`: elements of the range that lie before this view's. */
static rung_status boxes_from(const rung_view *view, int64_t first, int64_t count, int64_t before,
                              rung_box_visit *visit, void *user) {
  if (count == 0) return RUNG_OK;
  if (count == view->count) return visit(user, view, before);
  const int64_t row = view->count / view->shape[0];
  rung_status status = RUNG_OK;
  while (count > 0 && status == RUNG_OK) {
    const int64_t into = first % row, left = row - into;
    rung_view box = *view;
    int64_t taken = into == 0 && count >= row ? count - count % row : count < left ? count : left;
    if (taken >= row) {
      rung_view_narrow(&box, 0, first / row, taken / row);
      status = visit(user, &box, before);
    } else {
      rung_view_drop(&box, 0, first / row);
      status = boxes_from(&box, into, taken, before, visit, user);
    }
    first += taken;
    before += taken;
    count -= taken;
  }
  return status;
}

rung_status rung_view_boxes(const rung_view *view, int64_t first, int64_t count,
                            rung_box_visit *visit, void *user) {
  return boxes_from(view, first, count, 0, visit, user);
}
