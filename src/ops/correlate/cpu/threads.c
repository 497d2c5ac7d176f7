/* The same on all cores: the blocks are dealt out. */
#include "ops/correlate/cpu/filter.h"

rung_status RUNG_ENTRY(correlate_threads)(const rung_task *task) {
  return RUNG_ENTRY(correlate_filter)(task, (int)task->device->threads);
}
