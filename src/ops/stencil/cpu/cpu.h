/* What the CPU rungs of the stencil share with their ladder. */
#ifndef RUNG_STENCIL_CPU_H
#define RUNG_STENCIL_CPU_H

#include "ops/stencil/stencil.h"

RUNG_CPU_DECLARE(stencil_sweep);
RUNG_CPU_DECLARE(stencil_scaled);
RUNG_CPU_DECLARE(stencil_threads);
RUNG_CPU_DECLARE(stencil_rowwise);
RUNG_CPU_DECLARE(stencil_panel);
RUNG_CPU_DECLARE(stencil_composed);

/* Scratch of one thread for a panel: 64-byte cells, one a column, room for the pipeline to run
 * over both ends, and four strips (the widest: 4 * radius * depth cells, plus ghosts). */
static inline size_t stencil_panel_bytes(const stencil_problem *p) {
  const size_t r = (size_t)p->radius;
  return ((size_t)p->columns + 128 + 4 * (4 * r * 10 + 2 * r)) * 64;
}

/* Scratch of one thread for a panel that is no pipeline: the cells alone. */
static inline size_t stencil_cells_bytes(const stencil_problem *p) {
  return (size_t)p->columns * 64;
}

/* Scratch of one thread for one row, a multiple of 64 bytes so that rows of threads share no cache
 * line. */
static inline size_t stencil_row_bytes(const stencil_problem *p) {
  return ((size_t)p->columns * rung_dtype_bytes(p->dtype) + 127) / 64 * 64;
}

#endif
