/* Rung `shared`: a block brings the tile of the image that its elements need into shared memory
 * once, with the border around it: the question what lies beyond the image is asked once an element
 * and not once a tap. */
#include "ops/correlate/cuda/tile.cuh"
#include "ops/correlate/tiles.h"

template <typename S, typename T, int N>
__global__ void __launch_bounds__(1024)
    correlate_shared(correlate_job<S> job, const __grid_constant__ correlate_taps<T, N> taps,
                     int64_t k, int64_t across) {
  RUNG_DYNAMIC_SHARED(S, pixels);
  const int columns = (int)blockDim.x + job.kernel_columns - 1;
  for (int64_t number = blockIdx.y; number * blockDim.y < job.rows; number += gridDim.y) {
    const correlate_tile tile = {number * blockDim.y,
                                 blockIdx.x % across * blockDim.x,
                                 (int)blockDim.y + job.kernel_rows - 1,
                                 columns,
                                 columns,
                                 (int)(blockIdx.x / across)};
    correlate_fill_tile(job, tile, pixels, threadIdx.y, blockDim.y);
    const int64_t y = tile.y + threadIdx.y, x = tile.x + threadIdx.x;
    if (y < job.rows && x * job.channels < job.n) {
      S t = 0;
      for (int i = 0; i < job.kernel_rows; i++)
        for (int j = 0; j < job.kernel_columns; j++)
          t = correlate_fma(taps.at[i * job.kernel_columns + j],
                            pixels[(threadIdx.y + i) * columns + threadIdx.x + j], t);
      correlate_store(job.out_type, correlate_row_out(job, k, y), x * job.channels + tile.channel,
                      t);
    }
    __syncthreads();
  }
}

template <typename S, int N>
static rung_status run_taps(const rung_task *task, correlate_room<N>) {
  typedef typename correlate_tap<S>::type T;
  const auto job = correlate_job_of<S>(task);
  const int64_t bytes = correlate_shared_bytes(task);
  const correlate_shape shape = correlate_shared_block(task);
  const int64_t across = (job.n / job.channels + shape.x - 1) / shape.x;
  const int64_t down = (job.rows + shape.y - 1) / shape.y;
  const dim3 grid((unsigned)(across * job.channels), (unsigned)(down < 65535 ? down : 65535));
  if (bytes > 48 << 10) RUNG_ALLOW_SHARED(task, (correlate_shared<S, T, N>), bytes);
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_shared<S, T, N>), grid, dim3(shape.x, shape.y), bytes, job,
                (correlate_taps_of<T, N>(task, k)), k, across);
  return RUNG_OK;
}

template <typename S>
static rung_status run(const rung_task *task) {
  return correlate_by_taps<S>(task, [&](auto room) { return run_taps<S>(task, room); });
}

extern "C" rung_status RUNG_ENTRY(correlate_shared)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
