/* The textbook's first: Hillis and Steele's scan of a block. At distances 1, 2, 4 ... every thread
 * adds to its number the one so far to its left. Half of them read what the others write, so each
 * step goes from one buffer in shared memory to the other. (Within one buffer it is a race: that
 * kernel is kept as a cheat, tests/cheats/slips.cu, scan_in_place.) Few steps, much work:
 * n log2 n additions. */
#include "ops/scan/cuda/steps.cuh"

template <typename S>
static __global__ void scan_double_buffered_kernel(scan_level<S> level) {
  typedef typename S::value value;
  RUNG_DYNAMIC_SHARED(value, buffers);
  const unsigned thread = threadIdx.x, threads = blockDim.x;
  for (int64_t job = blockIdx.x; job < level.lines.lines * level.parts; job += gridDim.x) {
    const scan_part<S> part = scan_part_of(level, job);
    value *from = buffers, *to = buffers + threads;
    from[thread] = scan_element(level, part, thread);
    __syncthreads();
    for (unsigned s = 1; s < threads; s *= 2) {
      to[thread] = thread >= s ? S::combine(from[thread - s], from[thread]) : from[thread];
      __syncthreads();
      value *swap = from;
      from = to;
      to = swap;
    }
    scan_put(level, part, thread, thread > 0 ? from[thread - 1] : S::identity(), from[thread]);
    if (thread == threads - 1 && level.parts > 1) level.totals[job] = from[thread];
    __syncthreads();
  }
}

SCAN_STEPPED(scan_double_buffered_rung, scan_double_buffered_kernel, 1, 2 * threads);

extern "C" rung_status RUNG_ENTRY(scan_double_buffered)(const rung_task *task) {
  return scan_by_operator<scan_double_buffered_rung>(task);
}
