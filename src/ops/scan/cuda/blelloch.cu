/* Blelloch's scan: up a tree and down again, work for every element twice and no more. The tree
 * lies in shared memory as it is, and the higher a step is in it, the more of its threads want the
 * same bank. */
#include "ops/scan/cuda/blelloch.cuh"

template <typename S>
static __global__ void scan_blelloch_kernel(scan_level<S> level) {
  RUNG_DYNAMIC_SHARED(typename S::value, tree);
  for (int64_t job = blockIdx.x; job < level.lines.lines * level.parts; job += gridDim.x)
    scan_blelloch_part<S, false>(level, job, tree);
}

SCAN_STEPPED(scan_blelloch_rung, scan_blelloch_kernel, 2, 2 * threads);

extern "C" rung_status RUNG_ENTRY(scan_blelloch)(const rung_task *task) {
  return scan_by_operator<scan_blelloch_rung>(task);
}
