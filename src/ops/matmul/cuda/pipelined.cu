/* Rung `pipelined`: panels come in behind the threads' backs, two stages ahead of the one that is
 * worked on: one barrier a panel, and nobody waits for memory. */
#include "ops/matmul/cuda/stream.cuh"

template <typename T>
static rung_status run(const rung_task *task) {
  return matmul_run_stream<matmul_shape<T, 128, 128, 8, 8, 8, 3>, T>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_pipelined)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
