/* rung_edge_index() for kernels: of an index that is outside, and not far. */
#ifndef RUNG_CORE_NEAR_H
#define RUNG_CORE_NEAR_H

#include "core/edge.h"

/* Nobody looks 2^20 beyond an edge: what lies a period or more outside is a small number then, and
 * a remainder of 64 bits is 2 KB of a kernel's code. */
RUNG_ANYWHERE int64_t rung_edge_near(rung_edge edge, int64_t i, int64_t n) {
  if (edge == RUNG_EDGE_CONSTANT) return -1;
  if (edge == RUNG_EDGE_NEAREST) return i < 0 ? 0 : n - 1;
  if (edge == RUNG_EDGE_MIRROR && n == 1) return 0;
  const int64_t last = edge == RUNG_EDGE_REFLECT ? 2 * n - 1 : 2 * n - 2;
  const int64_t period = edge == RUNG_EDGE_WRAP ? n : edge == RUNG_EDGE_REFLECT ? 2 * n : last;
  int64_t t = i < 0 ? i + period : i;
  if (t >= period) t -= period;
  if ((uint64_t)t >= (uint64_t)period) {
    t = (int)t % (int)period;
    if (t < 0) t += period;
  }
  return t < n ? t : last - t;
}

#endif
