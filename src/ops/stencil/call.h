/* What calls of the stencil share: of a whole grid, and of a rank's part of one. */
#ifndef RUNG_STENCIL_CALL_H
#define RUNG_STENCIL_CALL_H

#include "core/plan.h"
#include "ops/stencil/stencil.h"

/* What the callers know the arrays by. */
extern const char *const stencil_names[], *const stencil_radiator_names[];

/* Its job; `problem` is borrowed. */
rung_job stencil_job_of(stencil_problem *problem, const rung_view *arrays,
                        const char *const *names);

/* One of T steps on rows whose cut ends feel no edge (cone.c): columns [first, end) of the row
 * that `window` has from column `origin` on, columns before 0 and behind the last one being those
 * of the other end. `window` has radius * steps columns more at either end; there and here these
 * are at most STENCIL_HALO. Writes end - first columns to `to`. */
enum { STENCIL_HALO = 256 };
void stencil_cone(const stencil_problem *problem, int64_t steps, const void *window, int64_t origin,
                  int64_t first, int64_t end, void *to);

#endif
