/* One thread: tiles of neighbouring points, whose boxes say between which thresholds all their
 * distances lie. Few thresholds: comparisons in lanes, in single precision where that proves what
 * double would say. */
#include "ops/pairs/cpu/tiles.h"

rung_status RUNG_ENTRY(pairs_lanes)(const rung_task *task) {
  pairs_work work;
  pairs_begin(task, 1, false, &work);
  pairs_all_by_tiles(&work);
  pairs_end(&work);
  return RUNG_OK;
}
