/* Rung `reciprocal`: the weights are divided once, on the host, and put on a grid so that their sum
 * survives; no sum is divided, every product is fused with its sum. From here on the bits are the
 * contract's. */
#include "ops/stencil/cuda/peeled.cuh"
#include "ops/stencil/cuda/selfstart.cuh"

template <typename T>
static rung_status run(const rung_task *task) {
  rung_task begun;
  const rung_status status = selfstart<T>(task, &begun);
  return status != RUNG_OK ? status : peeled_steps<stencil_chain, T>(&begun, true);
}

extern "C" rung_status RUNG_ENTRY(stencil_reciprocal)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run<float>(task)
                                                                     : run<double>(task);
}
