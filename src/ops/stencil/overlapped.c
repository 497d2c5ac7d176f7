/* How the `overlapped` rung cuts rows into tiles and steps into passes: host arithmetic. */
#include "ops/stencil/cuda/cuda.h"

static int64_t parts(int64_t whole, int64_t part) {
  return (whole + part - 1) / part;
}

/* Where columns come in again at the other end they are made like all others; else they stay, or
 * are looked up at every step. */
int64_t stencil_overlap_outside(const stencil_problem *p, int64_t steps) {
  const bool around = p->edge == RUNG_EDGE_WRAP && p->fixed < p->radius;
  return around ? steps * p->radius : p->radius;
}

/* The most steps whose ends fit a warp's tile of `lane` columns a lane: on either side of what it
 * writes as many columns as it writes, and what comes in from outside. */
static int64_t most_steps(const stencil_problem *p, int lane) {
  const int64_t r = p->radius, room = 32 * (int64_t)lane - 2 * r;
  return room / (r * (p->edge == RUNG_EDGE_WRAP && p->fixed < r ? 3 : 2));
}

/* Of `span` columns: tiles of so many warps that the busiest multiprocessor has the least to do.
 * Where there are too few to fill it, that is four warps' time. A block has room for no more than
 * its shared memory. */
static stencil_tiles cut(const stencil_problem *p, int64_t span, int64_t steps, int columns,
                         int most_warps, const rung_device *device) {
  const int64_t halo = steps * p->radius, room = device->shared_bytes - STENCIL_ONCHIP_STATIC;
  stencil_tiles best = {0};
  int64_t least_work = INT64_MAX;
  for (int warps = most_warps; warps > 0; warps--) {
    const int64_t wide = 32 * (int64_t)warps * columns;
    if (wide > span || wide <= 4 * halo) continue;
    if ((int64_t)stencil_onchip_shared(p, columns, 32 * warps, false) > room) continue;
    const int64_t apart = wide - 2 * halo, count = parts(span - 2 * halo, apart);
    if (p->rows > INT64_MAX / 64 / count) continue;
    const int64_t busiest = parts(p->rows * count, device->processors) * warps;
    const int64_t work = busiest < 4 ? 4 : busiest;
    if (work >= least_work) continue;
    least_work = work;
    best = (stencil_tiles){.count = count,
                           .first = p->fixed,
                           .apart = apart,
                           .last = p->columns - wide,
                           .halo = (int)halo,
                           .threads = 32 * warps};
  }
  return best;
}

/* Blocks, where rows are long enough for them; else warps take all. */
stencil_overlap stencil_overlap_of(const stencil_problem *p, const rung_device *device) {
  stencil_overlap plan = {.passes = 1, .steps = p->steps, .lane = STENCIL_LANE_FEW};
  if (p->steps == 0 || p->rows == 0 || p->columns == 0) return plan;
  const bool narrow = p->dtype == RUNG_F64 || p->radius > STENCIL_ONCHIP_RADIUS;
  plan.passes = parts(p->steps, most_steps(p, STENCIL_LANE_MANY));
  plan.steps = parts(p->steps, plan.passes);
  plan.blocks =
      cut(p, p->columns - p->fixed, plan.steps, narrow ? 30 : 60, narrow ? 16 : 8, device);
  if (plan.steps > most_steps(p, STENCIL_LANE_FEW)) plan.lane = STENCIL_LANE_MANY;
  if (plan.blocks.count > 0) return plan;
  const bool few = p->steps <= STENCIL_OVERLAP_FEW / p->radius;
  plan.lane = few ? STENCIL_LANE_FEW : STENCIL_LANE_MANY;
  plan.passes = few ? 1 : parts(p->steps, STENCIL_OVERLAP_REACH / p->radius);
  plan.steps = parts(p->steps, plan.passes);
  return plan;
}
