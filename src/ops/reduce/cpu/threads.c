/* All cores. What is shared out is tiles of long lines, short lines by the hundred, or tiles of
 * strips of lines side by side: their partial results are independent by the contract, so that one
 * long line keeps all threads busy too. They meet in the scratch, laid out as the lines of another
 * reduction, which ends it. */
#include "backend/cpu/isa.h"
#include "backend/cpu/parallel.h"
#include "ops/reduce/cpu/units.h"

static void fold_chunk(void *arg, int64_t chunk, int thread) {
  const reduce_job *job = (const reduce_job *)arg;
  const reduce_units *units = &job->units;
  const int64_t first = chunk * units->chunk, left = units->all - first;
  for (int64_t unit = first; unit < first + (left < units->chunk ? left : units->chunk); ++unit)
    RUNG_ENTRY(reduce_do_unit)(job, unit, job->rooms + thread * job->room);
}

static void end_strip(void *arg, int64_t at, int thread) {
  const reduce_job *job = (const reduce_job *)arg;
  RUNG_ENTRY(reduce_end_strip)(job, at, job->rooms + thread * job->room);
}

rung_status RUNG_ENTRY(reduce_threads)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const int64_t threads = reduce_threads(task);
  reduce_job job = RUNG_ENTRY(reduce_job_of)(task, task->device->threads, threads);
  rung_parallel((int)threads, reduce_chunks(&job.units), fold_chunk, &job);
  if (job.units.rows > 0)
    rung_parallel((int)threads, problem->outer * job.units.strips, end_strip, &job);
  return RUNG_OK;
}
