/* Rung `constant`: the taps are an argument of the launch, and so in constant memory, which gives
 * one number to all threads of a warp at once. A launch a kernel. */
#include "ops/correlate/cuda/element.cuh"

template <typename S, typename T, int N>
__global__ void __launch_bounds__(1024)
    correlate_constant(correlate_job<S> job, const __grid_constant__ correlate_taps<T, N> taps,
                       int64_t k) {
  const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= job.n) return;
  for (int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; y < job.rows;
       y += (int64_t)gridDim.y * blockDim.y)
    correlate_store(job.out_type, correlate_row_out(job, k, y), x,
                    correlate_element(
                        job, [&](int i) { return taps.at[i]; }, y, x));
}

template <typename S, int N>
static rung_status run_taps(const rung_task *task, correlate_room<N>) {
  typedef typename correlate_tap<S>::type T;
  const auto job = correlate_job_of<S>(task);
  const dim3 block = correlate_block(task);
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_constant<S, T, N>), correlate_grid(job, block), block, 0, job,
                (correlate_taps_of<T, N>(task, k)), k);
  return RUNG_OK;
}

template <typename S>
static rung_status run(const rung_task *task) {
  return correlate_by_taps<S>(task, [&](auto room) { return run_taps<S>(task, room); });
}

extern "C" rung_status RUNG_ENTRY(correlate_constant)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
