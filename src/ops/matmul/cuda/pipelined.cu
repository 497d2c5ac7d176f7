/* Rung `pipelined`: panels come in behind the threads' backs, two stages ahead of the one that is
 * worked on: one barrier a panel, and nobody waits for memory. */
#include "ops/matmul/cuda/stream.cuh"

extern "C" rung_status RUNG_ENTRY(matmul_pipelined)(const rung_task *task) {
  return matmul_run_square<3>(task);
}
