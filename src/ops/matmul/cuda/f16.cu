/* Rung `f16`: factors in f16, on tensor cores; those of f32 rounded first. */
#include "ops/matmul/cuda/wgmma.cuh"

extern "C" rung_status RUNG_ENTRY(matmul_f16)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  if (p->types.in == RUNG_F32)
    return wgmma_run<wgmma_f16<false>, float, matmul_as_f16>(task, &matmul_f16);
  if (matmul_operands_of(task, &matmul_f16).b_lines)
    return wgmma_run<wgmma_f16<true>, uint16_t, matmul_as_is>(task, &matmul_f16);
  return wgmma_run<wgmma_f16<false>, uint16_t, matmul_as_is>(task, &matmul_f16);
}
