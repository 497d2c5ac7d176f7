/* A product by tiles in registers: what the rungs `packed` and `threads` share. Compiled once per
 * instruction set. */
#ifndef RUNG_MATMUL_CPU_PRODUCT_H
#define RUNG_MATMUL_CPU_PRODUCT_H

#include "backend/cpu/isa.h"
#include "ops/matmul/cpu/place.h"
#include "ops/matmul/cpu/sizes.h"

/* A tile of chains: rows * columns of C, along k elements of A and B, whose steps are in elements.
 * `from`: what the chains are so far; NULL: +0. */
typedef struct matmul_tile {
  int64_t rows, k; /* rows: 1 ... the kernels' */
  const void *a;
  int64_t a_row, a_step;
  const void *b; /* the tile's columns, one after the other */
  int64_t b_step;
  const void *from;
  int64_t from_row;
  void *to;
  int64_t to_row;
} matmul_tile;

/* A range of A's rows or B's columns and of k, to be packed: panels of the kernels' rows or
 * columns, an l after the other; what is missing of the last panel is filled with zeros. */
typedef struct matmul_packing {
  const matmul_at *at;
  int64_t first, count; /* rows or columns */
  int64_t from, k;      /* of k */
  void *to;
} matmul_packing;

/* Kernels by the type of the sums. */
typedef struct matmul_kernels {
  int64_t size, rows, columns; /* bytes of a sum; a tile's extents */
  void (*tile)(const matmul_tile *tile);
  void (*pack_a)(const matmul_packing *what);
  void (*pack_b)(const matmul_packing *what);
  /* Columns [j, j + n) of at most MATMUL_THIN rows, n at most MATMUL_STRIP, without any packing.
   * NULL: not for these. */
  void (*strip)(const matmul_at *at, int64_t j, int64_t n);
} matmul_kernels;

extern const matmul_kernels RUNG_ENTRY(matmul_kernels_f32), RUNG_ENTRY(matmul_kernels_f64),
    RUNG_ENTRY(matmul_kernels_i32);

/* All of the task on at most so many threads; its scratch is matmul_product_scratch(). */
rung_status RUNG_ENTRY(matmul_product)(const rung_task *task, int threads);

#endif
