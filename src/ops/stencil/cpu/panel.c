/* Rung `panel`: as many rows as a vector has lanes, turned on their side, several steps pipelined
 * in registers. The panel stays in the second-level cache for all p steps; memory sees every
 * element once in and once out. Threads take whole panels. */
#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "core/sum.h"
#include "ops/stencil/cpu/cpu.h"

/* Steps pipelined at once: as many as the registers hold windows for between them, beside the
 * weights and two sums. 7 for 3 taps, 5 for 5 taps on AVX-512 and NEON; 3 and 2 on AVX2. One where
 * multiply-adds are calls, which leave no register alone. */
enum { STENCIL_MAX_DEPTH = 10, STENCIL_PAD = 3 * STENCIL_MAX_DEPTH + STENCIL_TAPS };
#if defined(__FMA__) || defined(__aarch64__)
#define STENCIL_DEPTH(taps) \
  ((LANES_REGISTERS - 2 - (taps)) > 0 ? 1 + (LANES_REGISTERS - 2 - (taps)) / ((taps) + 1) : 1)
#else
#define STENCIL_DEPTH(taps) 1
#endif
#define STENCIL_STRIP(r) (4 * (r)*STENCIL_DEPTH(2 * (r) + 1)) /* cells in the widest strip */

#define REAL float
#define LANE lanes_f32
#define LANES LANES_F32
#define NAME(x) x##_f32
#include "ops/stencil/cpu/panel_body.h"
#undef REAL
#undef LANE
#undef LANES
#undef NAME

#define REAL double
#define LANE lanes_f64
#define LANES LANES_F64
#define NAME(x) x##_f64
#include "ops/stencil/cpu/panel_body.h"

/* Bytes of scratch a thread: the panel, and four strips. The widest vector counts: one size for
 * every instruction set. */
rung_status RUNG_ENTRY(stencil_panel)(const rung_task *task) {
  const stencil_problem *p = task->problem;
  const size_t bytes = stencil_panel_bytes(p);
  if (p->dtype == RUNG_F32)
    panel_run_f32(task, bytes);
  else
    panel_run_f64(task, bytes);
  return RUNG_OK;
}
