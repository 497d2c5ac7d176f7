/* Sums of products of digits, by tiles in registers: what the rung `packed-digits` is made of.
 * Compiled once per instruction set. */
#ifndef RUNG_MATMUL_CPU_DOTS_H
#define RUNG_MATMUL_CPU_DOTS_H

#include "backend/cpu/isa.h"
#include "ops/matmul/cpu/lines.h"

/* Lines are packed in panels, A's of `rows`, B's of `columns`, of which the last is filled up with
 * zeros. A panel is a group of l's after the other, as many as fill 32 bits; of a group a plane
 * after the other, the most significant first; of a plane a line after the other. */
enum { MATMUL_PANEL = 16 }; /* lines at most */

/* Kernels that multiply by the same instruction. */
typedef struct matmul_dots {
  int rows, columns; /* of a tile */
  int group;         /* l's in 32 bits */
  /* Packs the panel of lines [first, first + rows or columns), and writes, of each, its largest
   * magnitude's bits and what its sums are to be less by. */
  void (*pack)(const matmul_lines *of, int64_t first, bool of_b, int bits, uint32_t *largest,
               int64_t *less, void *to);
  /* By the number of digits: adds to rows by columns sums, `row` of them apart, the products of so
   * many groups of a panel of A and one of B, at most MATMUL_DOTS_K / group of them, so that sums
   * of 32 bits hold what comes before. */
  void (*tile[MATMUL_DIGITS + 1])(const void *a, const void *b, int64_t groups, int64_t *sums,
                                  int64_t row);
} matmul_dots;

enum { MATMUL_DOTS_K = 512 };

/* The fastest here. */
const matmul_dots *RUNG_ENTRY(matmul_dots_here)(void);
/* The index-th that runs here, NULL: there are no more. */
const matmul_dots *RUNG_ENTRY(matmul_dots_at)(int index);

#endif
