/* Rung `tensor-i8`: bytes on tensor cores, which add their products up in 32 bits. */
#include "ops/matmul/cuda/wgmma.cuh"

extern "C" rung_status RUNG_ENTRY(matmul_tensor_i8)(const rung_task *task) {
  return wgmma_run<wgmma_i8, int8_t, matmul_as_is>(task, &matmul_i8);
}
