/* Rung `selfstart`: the radiator's rows compute their own start, so nothing is copied to the
 * device. With a start from an array it is `peeled`. */
#include "ops/stencil/cuda/selfstart.cuh"

template <typename T>
static rung_status run(const rung_task *task) {
  rung_task begun;
  const rung_status status = selfstart<T>(task, &begun);
  return status != RUNG_OK ? status : RUNG_ENTRY(stencil_peeled)(&begun);
}

extern "C" rung_status RUNG_ENTRY(stencil_selfstart)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run<float>(task)
                                                                     : run<double>(task);
}
