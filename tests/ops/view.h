/* Views as the tests write them down. */
#ifndef TESTS_OPS_VIEW_H
#define TESTS_OPS_VIEW_H

#include <stdint.h>

enum { DIMS = 8 };

typedef struct view {
  int ndim;
  int64_t shape[DIMS], stride[DIMS];
} view;

static inline int64_t count_of(const view *v) {
  int64_t count = 1;
  for (int d = 0; d < v->ndim; ++d) count *= v->shape[d];
  return count;
}

/* Where the element of row-major number `i` lies, from the first one. */
static inline int64_t offset_of(const view *v, int64_t i) {
  int64_t at = 0;
  for (int d = v->ndim - 1; d >= 0; --d) {
    at += i % v->shape[d] * v->stride[d];
    i /= v->shape[d];
  }
  return at;
}

#endif
