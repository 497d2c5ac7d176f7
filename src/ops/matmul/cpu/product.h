/* A product by tiles in registers: what the rungs `packed` and `threads` share. Compiled once per
 * instruction set. */
#ifndef RUNG_MATMUL_CPU_PRODUCT_H
#define RUNG_MATMUL_CPU_PRODUCT_H

#include "backend/cpu/isa.h"
#include "ops/matmul/cpu/place.h"
#include "ops/matmul/cpu/sizes.h"

enum { MATMUL_TILE = 12 * 128 }; /* bytes of a tile's chains, at most */

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
  bool below;  /* the next tile goes on there: its chains are fetched beforehand */
  bool narrow; /* half of the columns */
} matmul_tile;

/* A range of A's rows or B's columns and of k, to be packed: panels of the kernels' rows or
 * columns, an l after the other; what is missing of the last panel is filled with zeros. */
typedef struct matmul_packing {
  const matmul_at *at;
  int64_t first, count; /* rows or columns */
  int64_t from, k;      /* of k */
  void *to;
} matmul_packing;

/* So many small matrices of a batch, m by k times k by n <= the kernels' columns, whose chains are
 * their results. Rows of B and C go on in memory. */
typedef struct matmul_few {
  int64_t count, m, n, k;
  const void *a, *b;
  void *c;
  matmul_steps as, bs, cs;
} matmul_few;

/* A product of few rows, which are A's, with many columns, which are B's; or, where C has few
 * columns, C turned: the few rows are B's columns, and the many columns are A's rows. */
typedef struct matmul_thin {
  int64_t rows, columns, k;
  const void *few, *many;
  int64_t few_row, few_step;      /* from row to row, and from l to l; in elements */
  int64_t many_column, many_step; /* one of these is 1 */
  bool turned;                    /* C is */
} matmul_thin;

/* Kernels by the type of the sums. */
typedef struct matmul_kernels {
  int64_t size, rows, columns; /* bytes of a sum; a tile's extents */
  void (*tile)(const matmul_tile *tile);
  void (*pack_a)(const matmul_packing *what);
  void (*pack_b)(const matmul_packing *what);
  /* Columns [j, j + n) of a thin product: chains to rows of `row` numbers, whole vectors. NULL: not
   * for these. */
  void (*thin)(const matmul_thin *what, int64_t j, int64_t n, void *chains, int64_t row);
  void (*few)(const matmul_few *all); /* NULL: not for these */
} matmul_kernels;

extern const matmul_kernels RUNG_ENTRY(matmul_kernels_f32), RUNG_ENTRY(matmul_kernels_f64),
    RUNG_ENTRY(matmul_kernels_i32);

static inline const matmul_kernels *matmul_kernels_of(const matmul_problem *p) {
  switch (p->types.accumulate) {
    case RUNG_F32:
      return &RUNG_ENTRY(matmul_kernels_f32);
    case RUNG_F64:
      return &RUNG_ENTRY(matmul_kernels_f64);
    default:
      return &RUNG_ENTRY(matmul_kernels_i32);
  }
}

/* matmul_finish_row(), of which the kernels share one copy: it has loops for every type. */
void RUNG_ENTRY(matmul_finish)(const matmul_at *at, int64_t i, int64_t j, int64_t n, const void *t);

/* One matrix on at most so many threads, where it is better not packed; false: it has to be. */
matmul_unpacked RUNG_ENTRY(matmul_unpacked);

/* All of the task on at most so many threads; its scratch is matmul_product_scratch(). */
rung_status RUNG_ENTRY(matmul_product)(const rung_task *task, int threads);

#endif
