/* Rung `serial`: the CPU's loops in one thread of the GPU, which does a multiply-add where it could
 * do thousands: what a GPU is not for. */
#include "ops/correlate/cuda/element.cuh"

template <typename S, typename T>
__global__ void __launch_bounds__(1) correlate_serial(correlate_job<S> job, const T *taps) {
  for (int64_t k = 0; k < job.kernels; k++, taps += job.kernel_rows * job.kernel_columns)
    for (int64_t y = 0; y < job.rows; y++) {
      void *row = correlate_row_out(job, k, y);
      for (int64_t x = 0; x < job.n; x++)
        correlate_store(job.out_type, row, x,
                        correlate_element(
                            job, [&](int i) { return taps[i]; }, y, x));
    }
}

template <typename S>
static rung_status run(const rung_task *task) {
  typedef typename correlate_tap<S>::type T;
  const rung_status status = correlate_taps_in_memory<S>(task);
  if (status != RUNG_OK) return status;
  RUNG_LAUNCH(task, (correlate_serial<S, T>), 1, 1, 0, correlate_job_of<S>(task),
              static_cast<const T *>(task->scratch));
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(correlate_serial)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
