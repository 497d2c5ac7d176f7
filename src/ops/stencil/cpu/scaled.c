/* Rung `scaled`: the weights are divided once, before the first step, and put on a grid so that
 * their sum survives; every product is fused with its sum. From here on the bits are the
 * contract's. */
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
#undef REAL
#undef NAME
#undef FUSED

#define REAL double
#define NAME(x) x##_f64
#define FUSED fma
#include "ops/stencil/cpu/row.h"

rung_status RUNG_ENTRY(stencil_scaled)(const rung_task *task) {
  const stencil_problem *p = task->problem;
  if (p->dtype == RUNG_F32)
    sweep_grid_f32(task, step_chain_f32, 1);
  else
    sweep_grid_f64(task, step_chain_f64, 1);
  return RUNG_OK;
}
