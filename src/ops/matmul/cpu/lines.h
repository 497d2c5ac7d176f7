/* The lines of an operand in fixed point, as CPU rungs read them: op(A)'s rows or op(B)'s columns
 * of one matrix. */
#ifndef RUNG_MATMUL_CPU_LINES_H
#define RUNG_MATMUL_CPU_LINES_H

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

/* Elements [l, l + count) of a line as floats, which is exact. */
static inline void matmul_load_chunk(const matmul_lines *of, int64_t line, int64_t l, int64_t count,
                                     float *to) {
  const int64_t at = line * of->line + l * of->step, step = of->step;
  const float *single = (const float *)of->from + at;
  const uint16_t *half = (const uint16_t *)of->from + at;
  if (of->dtype == RUNG_F32 && step == 1)
    memcpy(to, single, (size_t)count * sizeof *to);
  else if (of->dtype == RUNG_F32)
    for (int64_t i = 0; i < count; i++) to[i] = single[i * step];
  else
    for (int64_t i = 0; i < count; i++)
      to[i] = rung_half_to_f32(half[i * step], of->dtype == RUNG_BF16);
}

static inline int64_t matmul_chunk_of(const matmul_lines *of, int64_t l) {
  return of->k - l < MATMUL_CHUNK ? of->k - l : MATMUL_CHUNK;
}

/* The largest magnitude's bits, of the elements from l on and of what is the largest so far. */
static inline uint32_t matmul_largest_chunk(const matmul_lines *of, int64_t line, int64_t l,
                                            uint32_t largest) {
  float x[MATMUL_CHUNK];
  const int64_t count = matmul_chunk_of(of, l);
  matmul_load_chunk(of, line, l, count, x);
  for (int64_t i = 0; i < count; i++) {
    const uint32_t magnitude = matmul_magnitude(x[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/* Digits of the elements [l, l + MATMUL_CHUNK) of a line, zeros beyond k. */
static inline void matmul_digits_chunk(const matmul_lines *of, int64_t line, int64_t l,
                                       matmul_scale scale, int digits,
                                       uint32_t words[MATMUL_CHUNK]) {
  float x[MATMUL_CHUNK] = {0};
  matmul_load_chunk(of, line, l, matmul_chunk_of(of, l), x);
  for (int i = 0; i < MATMUL_CHUNK; i++)
    words[i] = matmul_digits(matmul_whole(x[i], scale), digits);
}

#endif
