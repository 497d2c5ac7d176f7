/* How many tables fit into a block's shared memory, and which jobs are brief: for the GPU rungs,
 * and for what the ladder says of them. */
#ifndef RUNG_HISTOGRAM_CUDA_COPIES_H
#define RUNG_HISTOGRAM_CUDA_COPIES_H

#include "ops/histogram/histogram.h"

/* Threads a block, where the caller does not say. */
enum { HISTOGRAM_BLOCK = 256, HISTOGRAM_WIDE_BLOCK = 512 };

static inline int histogram_block(const rung_task *task) {
  return task->block == 0 ? HISTOGRAM_BLOCK : task->block;
}

static inline int histogram_warps(const rung_task *task) {
  return (histogram_block(task) + 31) / 32;
}

/* The largest power of two of tables, at most a warp's lanes, that fit into `bytes`; 0: not one. */
static inline int histogram_copies(int64_t slots, int64_t bytes) {
  int copies = 32;
  while (copies > 0 && slots * copies * (int64_t)sizeof(uint32_t) > bytes) copies /= 2;
  return copies;
}

/* ---- brief jobs of `vector` --------------------------------------------------------------------
 *
 * Jobs of so few elements (of a byte each, or wider) and slots are brief; a block takes so many
 * elements. */
enum {
  HISTOGRAM_BRIEF = 1 << 17,
  HISTOGRAM_BRIEF_BYTES = 1 << 15,
  HISTOGRAM_BRIEF_SLOTS = 4096,
  HISTOGRAM_BRIEF_EACH = 2048
};

static inline bool histogram_is_brief(const rung_task *task) {
  const histogram_problem *problem = (const histogram_problem *)task->problem;
  const int64_t most =
      rung_dtype_bytes(problem->dtype) == 1 ? HISTOGRAM_BRIEF_BYTES : HISTOGRAM_BRIEF;
  return task->block == 0 && problem->columns > 0 && problem->columns <= most &&
         problem->rows <= most / problem->columns && problem->columns <= problem->flush &&
         problem->rule.slots <= HISTOGRAM_BRIEF_SLOTS;
}

/* Blocks that share a row. */
static inline int64_t histogram_brief_parts(const histogram_problem *problem) {
  return (problem->columns + HISTOGRAM_BRIEF_EACH - 1) / HISTOGRAM_BRIEF_EACH;
}

#endif
