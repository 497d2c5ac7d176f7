/* Rung `tf32x3`: every factor as the sum of two of TF32, three of their four products. What 128
 * steps of k come to is added up in float: the cores cut what they add. */
#include "ops/matmul/cuda/wgmma.cuh"

extern "C" rung_status RUNG_ENTRY(matmul_tf32x3)(const rung_task *task) {
  return wgmma_run<wgmma_tf32<128, 4>, float, matmul_as_two_tf32>(task, &matmul_tf32x3);
}
