/* Which operands of a product are worth a copy that lies better: line beside line, in 16 bytes, as
 * many lines as whole tiles have. A copy costs a launch and two passes over an operand; it saves an
 * eighth of the multiply-adds' time. For the host and for kernels' launches. */
#ifndef RUNG_MATMUL_TURNED_H
#define RUNG_MATMUL_TURNED_H

#include "ops/matmul/matmul.h"

enum { MATMUL_TURNED_ROWS = 64, MATMUL_TURNED_COLUMNS = 128, MATMUL_TURNED_USES = 512 };

typedef struct matmul_turned {
  bool a, b;
  int64_t a_lines, b_lines; /* of a copy, more than there are */
  size_t a_bytes, b_bytes;  /* of scratch, A's first; 0: none */
} matmul_turned;

static inline size_t matmul_turned_bytes(const matmul_problem *p, const matmul_steps *steps,
                                         int64_t lines) {
  const int64_t matrices = steps->batch == 0 ? 1 : p->batch;
  return ((size_t)matrices * (size_t)p->k * (size_t)lines * rung_dtype_bytes(p->types.in) + 255) /
         256 * 256;
}

/* Of a matrix of so many elements that meet so many rows or columns of the other: the passes are
 * paid for by MATMUL_TURNED_USES of these, the launch by the rest. */
static inline bool matmul_turned_pays(const matmul_problem *p, const matmul_steps *steps,
                                      int64_t lines, int64_t uses) {
  const double elements = (double)lines * (double)p->k * (steps->batch == 0 ? 1 : (double)p->batch);
  return (double)(uses - MATMUL_TURNED_USES) * elements >= 6e8;
}

/* Copies of A, of B, or of both, of multiples of so many lines. */
static inline matmul_turned matmul_turned_as(const rung_task *task, bool a, bool b, int rows,
                                             int columns) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_steps a_steps = matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned);
  const matmul_steps b_steps = matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned);
  matmul_turned turned = {a, b, p->m, p->n, 0, 0};
  if (a) {
    turned.a_lines = (p->m + rows - 1) / rows * rows;
    turned.a_bytes = matmul_turned_bytes(p, &a_steps, turned.a_lines);
  }
  if (b) {
    turned.b_lines = (p->n + columns - 1) / columns * columns;
    turned.b_bytes = matmul_turned_bytes(p, &b_steps, turned.b_lines);
  }
  return turned;
}

/* Those that pay for `quads`. */
static inline matmul_turned matmul_turned_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_steps a = matmul_steps_of(&task->arrays[MATMUL_A], p->a_turned);
  const matmul_steps b = matmul_steps_of(&task->arrays[MATMUL_B], p->b_turned);
  const bool may = p->types.in == RUNG_F32 && p->k >= 64 && p->m >= MATMUL_TURNED_ROWS &&
                   p->n >= MATMUL_TURNED_COLUMNS;
  return matmul_turned_as(task,
                          may && matmul_turned_pays(p, &a, p->m, p->n) &&
                              (!p->a_turned || a.column % 4 != 0 || p->m % 4 != 0),
                          may && matmul_turned_pays(p, &b, p->n, p->m) &&
                              (p->b_turned || b.row % 4 != 0 || p->n % 4 != 0),
                          MATMUL_TURNED_ROWS, MATMUL_TURNED_COLUMNS);
}

/* What a copy takes, in cycles of a multiprocessor: a launch, and two passes at 4 TB/s; measured on
 * an H200. */
static inline double matmul_turned_cycles(const matmul_turned *turned) {
  const double bytes = (double)turned->a_bytes + (double)turned->b_bytes;
  return bytes > 0 ? 6000 + 0.001 * bytes : 0;
}

#endif
