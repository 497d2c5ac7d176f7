/* The slots of a strip of elements. Compiled once per instruction set. */
#ifndef RUNG_HISTOGRAM_CPU_SLOTS_H
#define RUNG_HISTOGRAM_CPU_SLOTS_H

#include <math.h>

#include "backend/cpu/isa.h"
#include "ops/histogram/rule.h"

/* Elements a strip: slots and what leads to them stay in the first-level cache. */
enum { HISTOGRAM_STRIP = 512 };

/* Even bins whose edges are a grid of powers of two: multiples k * step, `at` <= k, which floats
 * hold, or integers a power of two apart. An element's bin is then found without any rounding, and
 * what lies on an edge is like any other: no guess, nothing to settle. */
typedef struct histogram_grid {
  bool floats, integers; /* whether it is one for elements that are */
  double inverse, at;    /* 1 / step, and the first edge as a multiple */
  int shift;             /* of integers: step = 2^shift; */
  int64_t low, high;     /* and the outermost edges */
} histogram_grid;

static inline histogram_grid histogram_grid_of(const histogram_rule *rule) {
  histogram_grid grid = {.floats = false};
  int exponent;
  if (!rule->even || !(rule->step > 0) || frexp(rule->step, &exponent) != 0.5) return grid;
  const double most = 0x1p22, at = rule->low / rule->step;
  const bool holds = rule->low + rule->bins * rule->step == rule->high;
  grid.inverse = 1 / rule->step;
  grid.at = at;
  grid.floats = holds && exponent > -100 && exponent < 100 && at == floor(at) && fabs(at) <= most &&
                rule->bins <= most;
  grid.integers = holds && exponent >= 1 && exponent <= 32 && rule->low == floor(rule->low) &&
                  fabs(rule->low) <= 0x1p32 && fabs(rule->high) <= 0x1p33 &&
                  rule->high - rule->low <= 0x1p32;
  if (!grid.integers) return grid;
  grid.shift = exponent - 1;
  grid.low = (int64_t)rule->low;
  grid.high = (int64_t)rule->high;
  return grid;
}

/* The edges of a search and what leads to them. */
typedef struct histogram_given {
  const double *edges;  /* as they were given, or NULL */
  const double *padded; /* edges 0 ... bins - 1, and after them infinities */
  const uint32_t *guide;
  int steps; /* halvings that are left in the cell with the most edges */
  histogram_grid grid;
} histogram_given;

/* n <= HISTOGRAM_STRIP elements from the `at`-th on. *given is filled where the way is a search. */
typedef void histogram_slots(const histogram_rule *rule, const histogram_given *given,
                             const void *in, int64_t at, int n, uint32_t *slots);

/* The function for elements of a type; of bytes, which are counted by value, there is none. */
histogram_slots *RUNG_ENTRY(histogram_slots_of)(rung_dtype dtype);

#endif
