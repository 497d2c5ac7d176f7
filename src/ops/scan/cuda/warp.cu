/* Warps scan in registers: five shuffles, no barrier, no bank. One number a warp goes through
 * shared memory, where the first warp scans those. A block size is taken as whole warps, at least
 * one. */
#include "ops/scan/cuda/steps.cuh"

template <typename S>
static __global__ void scan_warp_kernel(scan_level<S> level) {
  typedef typename S::value value;
  RUNG_DYNAMIC_SHARED(value, warps);
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  for (int64_t job = blockIdx.x; job < level.lines.lines * level.parts; job += gridDim.x) {
    const scan_part<S> part = scan_part_of(level, job);
    const value with = scan_warp<S>(scan_element(level, part, thread));
    value before = __shfl_up_sync(0xffffffffu, with, 1);
    if (lane == 0) before = S::identity();
    if (lane == 31) warps[warp] = with;
    __syncthreads();
    if (warp == 0) {
      const value all = scan_warp<S>(lane < blockDim.x / 32 ? warps[lane] : S::identity());
      warps[lane] = all;
    }
    __syncthreads();
    const value left = warp > 0 ? warps[warp - 1] : S::identity();
    scan_put(level, part, thread, S::combine(left, before), S::combine(left, with));
    if (thread == 0 && level.parts > 1) level.totals[job] = warps[31];
    __syncthreads();
  }
}

struct scan_warp_rung {
  static int64_t size(const rung_task *task) {
    const int64_t warps = scan_block_of(task) / 32;
    return 32 * (warps < 1 ? 1 : warps);
  }
  template <typename S>
  static rung_status launch(const rung_task *task, const scan_level<S> &level) {
    RUNG_LAUNCH(task, (scan_warp_kernel<S>), scan_grid(level.lines.lines * level.parts),
                (unsigned)size(task), 32 * sizeof(typename S::value), level);
    return RUNG_OK;
  }
  template <typename S>
  static rung_status run(const rung_task *task) {
    return scan_steps<S, scan_warp_rung>(task, scan_lines_of<S>(task), task->scratch);
  }
};

extern "C" rung_status RUNG_ENTRY(scan_warp)(const rung_task *task) {
  return scan_by_operator<scan_warp_rung>(task);
}
