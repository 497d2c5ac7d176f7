/* How many tables fit into a block's shared memory: for the GPU rungs, and for what the ladder says
 * of them. */
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

#endif
