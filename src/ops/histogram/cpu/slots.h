/* The slots of a strip of elements. Compiled once per instruction set. */
#ifndef RUNG_HISTOGRAM_CPU_SLOTS_H
#define RUNG_HISTOGRAM_CPU_SLOTS_H

#include "backend/cpu/isa.h"
#include "ops/histogram/rule.h"

/* Elements a strip: slots and what leads to them stay in the first-level cache. */
enum { HISTOGRAM_STRIP = 512 };

/* The edges of a search and what leads to them. */
typedef struct histogram_given {
  const double *edges;  /* as they were given, or NULL */
  const double *padded; /* edges 0 ... bins - 1, and after them infinities */
  const uint32_t *guide;
  int steps; /* halvings that are left in the cell with the most edges */
} histogram_given;

/* n <= HISTOGRAM_STRIP elements from the `at`-th on. *given is filled where the way is a search. */
typedef void histogram_slots(const histogram_rule *rule, const histogram_given *given,
                             const void *in, int64_t at, int n, uint32_t *slots);

/* The function for elements of a type; of bytes, which are counted by value, there is none. */
histogram_slots *RUNG_ENTRY(histogram_slots_of)(rung_dtype dtype);

#endif
