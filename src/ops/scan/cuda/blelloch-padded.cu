/* Blelloch's scan with an empty place in shared memory after every 128 bytes, so that the strides
 * of the tree go from bank to bank. */
#include "ops/scan/cuda/blelloch.cuh"

template <typename S>
static __global__ void scan_blelloch_padded_kernel(scan_level<S> level) {
  RUNG_DYNAMIC_SHARED(typename S::value, tree);
  for (int64_t job = blockIdx.x; job < level.lines.lines * level.parts; job += gridDim.x)
    scan_blelloch_part<S, true>(level, job, tree);
}

SCAN_STEPPED(scan_blelloch_padded_rung, scan_blelloch_padded_kernel, 2,
             2 * threads + 2 * threads * sizeof(typename S::value) / 128);

extern "C" rung_status RUNG_ENTRY(scan_blelloch_padded)(const rung_task *task) {
  return scan_by_operator<scan_blelloch_padded_rung>(task);
}
