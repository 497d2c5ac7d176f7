/* A table a block in shared memory, where additions are near and only a block's threads meet. It is
 * empty before the first pair, it is added to the result after the last and before a counter of 32
 * bits can wrap, with the block's barrier between: the old report's was wrong from 64 threads on.
 */
#include "ops/pairs/cuda/rows.cuh"

extern "C" rung_status RUNG_ENTRY(pairs_privatised)(const rung_task *task) {
  return pairs_run<pairs_rows_rung<pairs_block_table, false>>(task);
}
