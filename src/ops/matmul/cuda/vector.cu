/* Rung `vector`: 16 bytes a load, from global and from shared memory; A's panel lies turned there,
 * so that a thread's rows are neighbours. */
#include "ops/matmul/cuda/stream.cuh"

extern "C" rung_status RUNG_ENTRY(matmul_vector)(const rung_task *task) {
  return matmul_run_square<1>(task);
}
