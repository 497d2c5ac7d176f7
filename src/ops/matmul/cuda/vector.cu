/* Rung `vector`: 16 bytes a load, from global and from shared memory; A's panel lies turned there,
 * so that a thread's rows are neighbours. */
#include "ops/matmul/cuda/stream.cuh"

template <typename T>
static rung_status run(const rung_task *task) {
  return matmul_run_stream<matmul_shape<T, 128, 128, 8, 8, 8, 1>, T>(task);
}

extern "C" rung_status RUNG_ENTRY(matmul_vector)(const rung_task *task) {
  return static_cast<const matmul_problem *>(task->problem)->types.in == RUNG_F32
             ? run<float>(task)
             : run<double>(task);
}
