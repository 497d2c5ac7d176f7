/* A tile of points against another: each is read once for a whole block, and blocks take pairs of
 * tiles, which are all the same work, not rows of a triangle, which are not. */
#include "ops/pairs/cuda/tiles.cuh"

extern "C" rung_status RUNG_ENTRY(pairs_tiled)(const rung_task *task) {
  return pairs_run<pairs_tiles_rung<pairs_no_table, true>>(task);
}
