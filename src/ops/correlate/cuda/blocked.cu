/* Rung `blocked`: a thread an element, in blocks 16 wide and high: every tap and every pixel comes
 * from global memory, by way of the caches. */
#include "ops/correlate/cuda/element.cuh"

template <typename S, typename T>
__global__ void __launch_bounds__(1024) correlate_blocked(correlate_job<S> job, const T *taps) {
  const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= job.n) return;
  for (int64_t k = 0; k < job.kernels; k++, taps += job.kernel_rows * job.kernel_columns)
    for (int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < job.rows;
         y += (int64_t)gridDim.y * blockDim.y)
      correlate_store(job.out_type, correlate_row_out(job, k, y), x,
                      correlate_element(
                          job, [&](int i) { return taps[i]; }, y, x));
}

template <typename S>
static rung_status run(const rung_task *task) {
  typedef typename correlate_tap<S>::type T;
  const rung_status status = correlate_taps_in_memory<S>(task);
  if (status != RUNG_OK) return status;
  const auto job = correlate_job_of<S>(task);
  const dim3 block = correlate_block(task);
  RUNG_LAUNCH(task, (correlate_blocked<S, T>), correlate_grid(job, block), block, 0, job,
              static_cast<const T *>(task->scratch));
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(correlate_blocked)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
