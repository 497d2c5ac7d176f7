/* Rung `rowwise`: rows are independent, so a row takes all its steps while it is in the cache;
 * memory sees it once in and once out instead of once a step. */
#include <string.h>

#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/reduce/cpu/sum.h"
#include "ops/stencil/cpu/cpu.h"

#define REAL float
#define NAME(x) x##_f32
#define FUSED fmaf
#include "ops/stencil/cpu/row.h"
#include "ops/stencil/cpu/rowwise_body.h"
#undef REAL
#undef NAME
#undef FUSED

#define REAL double
#define NAME(x) x##_f64
#define FUSED fma
#include "ops/stencil/cpu/row.h"
#include "ops/stencil/cpu/rowwise_body.h"

rung_status RUNG_ENTRY(stencil_rowwise)(const rung_task *task) {
  const stencil_problem *p = task->problem;
  if (p->dtype == RUNG_F32)
    rung_parallel(task->device->threads, p->rows, rowwise_row_f32, (void *)task);
  else
    rung_parallel(task->device->threads, p->rows, rowwise_row_f64, (void *)task);
  return RUNG_OK;
}
