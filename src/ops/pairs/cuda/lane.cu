/* As many copies of every counter as there is room for, a lane's by its number: neighbours that
 * fall into the same bin do not wait for each other. */
#include "ops/pairs/cuda/tiles.cuh"

extern "C" rung_status RUNG_ENTRY(pairs_lane)(const rung_task *task) {
  return pairs_run<pairs_tiles_rung<pairs_lane_tables, false>>(task);
}
