/* The private tables of the CPU's rungs: how large they are, for the rungs and for their scratch.
 */
#ifndef RUNG_HISTOGRAM_PRIVATE_H
#define RUNG_HISTOGRAM_PRIVATE_H

#include "ops/histogram/histogram.h"

/* Copies of a table: of bytes one for each of a word's eight. More slots than HISTOGRAM_FEW would
 * leave the first-level cache, and are less likely to be met twice in a row. */
enum { HISTOGRAM_COPIES = 4, HISTOGRAM_BYTE_COPIES = 8, HISTOGRAM_FEW = 2048 };

/* From copy to copy of a table of n entries, in counters: no multiple of a page, or stores to one
 * copy would be taken for stores to the next. */
#define HISTOGRAM_PITCH(n) (((n) + 15) / 16 * 16 + 16)
enum { HISTOGRAM_BYTE_PITCH = HISTOGRAM_PITCH(256) };

/* Elements that a thread takes at a time. */
enum { HISTOGRAM_CHUNK = 1 << 16 };

/* Bytes that a thread counts by pairs of neighbours: an increment is for two, and the table of 2^16
 * pairs, which the second-level cache holds, must be cleared and added up. */
enum { HISTOGRAM_PAIRS = 1 << 16, HISTOGRAM_PAIRED = 1 << 19 };

typedef struct histogram_private {
  int width; /* entries: slots, or values of a byte */
  int64_t copies, pitch;
  int64_t pairs; /* after them: HISTOGRAM_PAIRS counters, or 0 */
} histogram_private;

/* Of `threads` that share the elements of a row. */
static inline histogram_private histogram_private_of(const histogram_problem *problem,
                                                     int64_t threads) {
  histogram_private p = {.width = problem->rule.slots, .copies = 1};
  if (histogram_by_value(problem)) {
    p.width = 256;
    p.copies = HISTOGRAM_BYTE_COPIES;
    if (problem->columns >= threads * HISTOGRAM_PAIRED) p.pairs = HISTOGRAM_PAIRS;
  } else if (p.width <= HISTOGRAM_FEW && problem->columns > HISTOGRAM_COPIES * (int64_t)p.width) {
    p.copies = HISTOGRAM_COPIES;
  }
  p.pitch = HISTOGRAM_PITCH(p.width);
  return p;
}

static inline int64_t histogram_counters(const histogram_private *p) {
  return p->copies * p->pitch + p->pairs;
}

/* Bytes are looked up one by one at the end, and need no guide. */
static inline bool histogram_has_guide(const histogram_problem *problem) {
  return problem->rule.way == HISTOGRAM_SEARCH && !histogram_by_value(problem);
}

/* Edges of a search with room for every step that it may take beyond them. */
static inline int histogram_padded(const histogram_problem *problem) {
  return 2 * problem->rule.bins;
}

/* These and the guide, in whole cache lines. */
static inline size_t histogram_guide_bytes(const histogram_problem *problem) {
  if (!histogram_has_guide(problem)) return 0;
  const size_t bytes = (size_t)histogram_padded(problem) * sizeof(double) +
                       (size_t)(problem->rule.cells + 1) * sizeof(uint32_t);
  return (bytes + 63) / 64 * 64;
}

/* Threads that find something to do. */
static inline int64_t histogram_threads(const histogram_problem *problem,
                                        const rung_device *device) {
  const int64_t chunks = (problem->columns + HISTOGRAM_CHUNK - 1) / HISTOGRAM_CHUNK;
  const int64_t most = chunks > problem->rows ? chunks : problem->rows;
  return device->threads < most ? device->threads : most;
}

/* What the threads have counted, in whole cache lines. */
static inline size_t histogram_counted_bytes(const histogram_problem *problem,
                                             const rung_device *device) {
  return ((size_t)histogram_threads(problem, device) * sizeof(int64_t) + 63) / 64 * 64;
}

#endif
