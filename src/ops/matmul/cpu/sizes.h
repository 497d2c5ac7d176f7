/* What the CPU's packed rungs cut a product into, and the scratch that takes: the same for all
 * instruction sets. */
#ifndef RUNG_MATMUL_CPU_SIZES_H
#define RUNG_MATMUL_CPU_SIZES_H

#include "ops/matmul/matmul.h"

/* A block of A, MATMUL_M by MATMUL_K or as many rows as that cache holds, stays in the second-level
 * cache while all panels of B, MATMUL_K by two vectors, go by, each of them once for all of the
 * block; and these, MATMUL_K by MATMUL_N, in the last-level one. C is loaded and stored once in
 * MATMUL_K multiply-adds, which is what bounds MATMUL_K from below. All are multiples of every
 * kernel's tile. */
enum { MATMUL_K = 512, MATMUL_M = 240, MATMUL_LEAST_M = 60, MATMUL_N = 4096 };

/* Rows of a block. */
static inline int64_t matmul_block_rows(const rung_device *device, int64_t size) {
  int64_t bytes = 0;
  for (int i = 0; i < RUNG_CACHES; i++)
    if (device->caches[i].level == 2) bytes = device->caches[i].bytes / device->processors;
  const int64_t rows = bytes / (MATMUL_K * size) / MATMUL_LEAST_M * MATMUL_LEAST_M;
  if (bytes == 0 || rows > MATMUL_M) return MATMUL_M;
  return rows > MATMUL_LEAST_M ? rows : MATMUL_LEAST_M;
}

/* Products of few rows, or columns, are not packed. Strips have at most so many bytes of chains, a
 * column of them no more than MATMUL_COLUMN; of more than MATMUL_THIN rows only where what has many
 * columns is read by tiles from the second-level cache, of a strip no more than MATMUL_NEAR bytes,
 * or turned. */
enum {
  MATMUL_THIN = 8,
  MATMUL_STRIP = 1 << 14,
  MATMUL_COLUMN = 1 << 8,
  MATMUL_NEAR = 1 << 19,
  MATMUL_FAR = 1 << 24, /* what is larger comes from memory */
  MATMUL_MEETS = 2048   /* columns so many bytes apart, or a multiple, share places of a cache */
};

/* Matrices of a batch with so many rows and elements of k at most are made one after the other,
 * nothing decided anew for each. */
enum { MATMUL_FEW = 16 };

/* So many multiply-adds are not worth waking threads for. */
enum { MATMUL_ALONE = 1 << 20 };

static inline int64_t matmul_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Whether the chains of a block of k have no place in C until the last one. */
static inline bool matmul_parks(const matmul_problem *p, bool adds) {
  return p->k > MATMUL_K && (adds || p->types.out != p->types.accumulate);
}

/* Bytes of the panels of B, of a thread's block of A (with room for a vector that is stored
 * beyond), of the chains that are parked; each in whole 256 bytes. */
typedef struct matmul_scratch {
  size_t b, a, parked;
} matmul_scratch;

static inline matmul_scratch matmul_scratch_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const size_t size = rung_dtype_bytes(p->types.accumulate);
  const int64_t k = matmul_least(p->k, MATMUL_K), m = matmul_least(p->m, MATMUL_M),
                n = matmul_least(p->n, MATMUL_N), columns = (n + 31) / 32 * 32;
  const bool parks = matmul_parks(p, task->arrays[MATMUL_ADDED].count > 0);
  return (matmul_scratch){.b = ((size_t)(k * columns) * size + 255) / 256 * 256,
                          .a = ((size_t)(k * (m + 12)) * size + 511) / 256 * 256,
                          .parked = parks ? (size_t)(p->m * n) * size : 0};
}

/* Whether a thread makes whole matrices of a batch, with scratch of its own. */
static inline bool matmul_deals(const matmul_problem *p) {
  return p->batch > 1 && p->flops / (double)p->batch <= 1 << 23;
}

/* Of so many threads at one matrix. */
static inline size_t matmul_product_scratch(const rung_task *task, int64_t threads) {
  const matmul_scratch parts = matmul_scratch_of(task);
  return parts.b + (size_t)threads * parts.a + parts.parked;
}

#endif
