/* All cores: pairs of groups of tiles are dealt out, every thread counts in tables of its own. */
#include "ops/pairs/cpu/run.h"

rung_status RUNG_ENTRY(pairs_threads)(const rung_task *task) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  pairs_work work;
  pairs_begin(task, pairs_threads(problem, task->device), false, &work);
  pairs_all_by_tiles(&work);
  pairs_end(&work);
  return RUNG_OK;
}
