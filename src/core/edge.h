/* What stands beyond an image or a row: the element within that an index outside stands for. */
#ifndef RUNG_CORE_EDGE_H
#define RUNG_CORE_EDGE_H

#include "core/dtype.h"
#include "rung/rung.h"

/* Index i of n >= 1 elements, however far outside; -1: the edge's constant. */
RUNG_ANYWHERE int64_t rung_edge_index(rung_edge edge, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (edge == RUNG_EDGE_CONSTANT) return -1;
  if (edge == RUNG_EDGE_NEAREST) return i < 0 ? 0 : n - 1;
  if (edge == RUNG_EDGE_MIRROR && n == 1) return 0;
  const int64_t period = edge == RUNG_EDGE_WRAP ? n : edge == RUNG_EDGE_REFLECT ? 2 * n : 2 * n - 2;
  int64_t t = i % period;
  if (t < 0) t += period;
  if (t < n) return t;
  return edge == RUNG_EDGE_REFLECT ? 2 * n - 1 - t : 2 * n - 2 - t;
}

#endif
