/* Where a place beyond an image lies within it, found in another way than the library's. */
#ifndef RUNG_TESTS_CORRELATE_FOLD_H
#define RUNG_TESTS_CORRELATE_FOLD_H

#include "rung/rung.h"

/* Step by step, as often as it takes; -1: the edge's value. */
static int64_t fold(rung_edge edge, int64_t i, int64_t n) {
  while (i < 0 || i >= n) {
    if (edge == RUNG_EDGE_CONSTANT) return -1;
    if (edge == RUNG_EDGE_WRAP)
      i += i < 0 ? n : -n;
    else if (edge == RUNG_EDGE_NEAREST || n == 1)
      i = i < 0 ? 0 : n - 1;
    else if (edge == RUNG_EDGE_REFLECT)
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    else
      i = i < 0 ? -i : 2 * n - 2 - i;
  }
  return i;
}

#endif
