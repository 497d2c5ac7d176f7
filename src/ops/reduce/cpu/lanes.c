/* The canonical order, by one thread: a line's rows of 2048 numbers are read side by side and added
 * to 2048 running sums; short lines fold many at a time; and lines that lie side by side are the
 * lanes of a vector themselves. Integers, and the keys that minima are found by, need no order and
 * are the compiler's to make vectors of. */
#include "backend/cpu/isa.h"
#include "ops/reduce/cpu/units.h"

rung_status RUNG_ENTRY(reduce_lanes)(const rung_task *task) {
  const reduce_job job = RUNG_ENTRY(reduce_job_of)(task, 1, 1);
  for (int64_t unit = 0; unit < job.units.all; ++unit)
    RUNG_ENTRY(reduce_do_unit)(&job, unit, job.rooms);
  for (int64_t at = 0; at < job.problem->outer * job.units.strips && job.units.rows > 0; ++at)
    RUNG_ENTRY(reduce_end_strip)(&job, at, job.rooms);
  return RUNG_OK;
}
