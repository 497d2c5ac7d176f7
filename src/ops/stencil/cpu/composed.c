/* Rung `composed`: p steps as one filter. Panels of rows as in `panel`, but inside a row every
 * column is one sum of all the taps that p steps amount to, less those too small to matter: 130
 * of 401 after 100 steps, where the steps take 500 multiply-adds. The ends of the rows, where the
 * filter would reach an edge, are a grid of short rows, for which `panel` takes the steps. */
#include "ops/stencil/composed.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "core/sum.h"
#include "ops/stencil/cpu/cpu.h"

/* Columns made at once and taps held at once: as many as the registers take beside one value. */
enum {
  COMPOSED_COLUMNS = LANES_REGISTERS == 32 ? 12 : 8,
  COMPOSED_HELD = LANES_REGISTERS == 32 ? 8 : 4
};

#define REAL float
#define LANE lanes_f32
#define LANES LANES_F32
#define NAME(x) x##_f32
#include "ops/stencil/cpu/composed_body.h"
#undef REAL
#undef LANE
#undef LANES
#undef NAME

#define REAL double
#define LANE lanes_f64
#define LANES LANES_F64
#define NAME(x) x##_f64
#include "ops/stencil/cpu/composed_body.h"

rung_status RUNG_ENTRY(stencil_composed)(const rung_task *task) {
  const stencil_problem *p = task->problem;
  char why[RUNG_REASON];
  stencil_filter filter;
  if (!stencil_compose(p, &filter, why))
    return rung_fail(task->error, RUNG_UNSUPPORTED, "rung \"composed\" cannot do this: %s", why);
  return p->dtype == RUNG_F32 ? composed_run_f32(task, &filter) : composed_run_f64(task, &filter);
}
