/* Both at once: points come through shared memory, and there they are counted, too. */
#include "ops/pairs/cuda/tiles.cuh"

extern "C" rung_status RUNG_ENTRY(pairs_tiled_privatised)(const rung_task *task) {
  return pairs_run<pairs_tiles_rung<pairs_block_table, true>>(task);
}
