/* The lines of an operand in fixed point, as CPU rungs read them: op(A)'s rows or op(B)'s columns
 * of one matrix. */
#ifndef RUNG_MATMUL_CPU_LINES_H
#define RUNG_MATMUL_CPU_LINES_H

#include "backend/cpu/isa.h"
#include "ops/matmul/cpu/place.h"
#include "ops/matmul/fixed.h"

typedef struct matmul_lines {
  const char *from;
  rung_dtype dtype;
  int64_t line, step; /* elements from a line to the next, and within it */
  int64_t lines, k;
} matmul_lines;

static inline matmul_lines matmul_lines_of(const matmul_at *at, bool of_a) {
  const matmul_problem *p = at->p;
  if (of_a) return (matmul_lines){at->a, p->types.in, at->as.row, at->as.column, p->m, p->k};
  return (matmul_lines){at->b, p->types.in, at->bs.column, at->bs.row, p->n, p->k};
}

/* So many elements of a line at a time. */
enum { MATMUL_CHUNK = 64 };

/* The largest magnitude's bits, of the elements from l on and of what is the largest so far. */
uint32_t RUNG_ENTRY(matmul_largest_chunk)(const matmul_lines *of, int64_t line, int64_t l,
                                          uint32_t largest);

/* Digits of the elements [l, l + MATMUL_CHUNK) of a line, zeros beyond k. */
void RUNG_ENTRY(matmul_digits_chunk)(const matmul_lines *of, int64_t line, int64_t l,
                                     matmul_scale scale, int digits, uint32_t words[MATMUL_CHUNK]);

#endif
