/* Rung `tf32`: factors rounded to ten bits of fraction, on tensor cores. */
#include "ops/matmul/cuda/wgmma.cuh"

extern "C" rung_status RUNG_ENTRY(matmul_tf32)(const rung_task *task) {
  return wgmma_run<wgmma_tf32<256, 0>, float, matmul_as_is>(task, &matmul_tf32);
}
