/* The textbook, and the old report's: a thread a point, which walks over all the points after it
 * and adds every pair to the result in device memory. First threads have the longest walks. */
#include "ops/pairs/cuda/rows.cuh"

extern "C" rung_status RUNG_ENTRY(pairs_naive)(const rung_task *task) {
  return pairs_run<pairs_rows_rung<pairs_no_table, true>>(task);
}
