/* Rung `registers`: a thread makes eight elements, one under another, and a pixel that it has read
 * serves all of them under which it lies: no shared memory, no barrier. Taps come from constant
 * memory, and an element's still in their order, for its rows of pixels come in theirs. Threads
 * whose pixels all lie within the image do not ask where it ends. */
#include "ops/correlate/cuda/correlate.cuh"
#include "ops/correlate/tiles.h"

static constexpr int HIGH = CORRELATE_COLUMN;

/* pixel(r, j): what is under tap j of row r of the first element. */
template <typename S, typename T, typename Pixel>
static __device__ __forceinline__ void correlate_column(const correlate_job<S> &job, const T *taps,
                                                        int rows, S *sums, Pixel pixel) {
  for (int r = 0; r < rows; r++)
    for (int j = 0; j < job.kernel_columns; j++) {
      const S number = pixel(r, j);
#pragma unroll
      for (int y = 0; y < HIGH; y++)
        if ((unsigned)(r - y) < (unsigned)job.kernel_rows)
          sums[y] = correlate_fma(taps[(r - y) * job.kernel_columns + j], number, sums[y]);
    }
}

/* HIGH elements from (top, x) on, as far as the result has them. */
template <typename E, typename S, typename T>
static __device__ __forceinline__ void correlate_make(const correlate_job<S> &job, const T *taps,
                                                      int64_t top, int64_t x, S *sums) {
  const int64_t left = job.rows - top, above = job.first_row + top;
  const int64_t column = job.first_column + x / job.channels;
  const int rows = (int)(left < HIGH ? left : HIGH) + job.kernel_rows - 1;
  const int channel = (int)(x % job.channels);
  if (above >= 0 && above + rows <= job.height && column >= 0 &&
      column + job.kernel_columns <= job.width) {
    const E *first = static_cast<const E *>(job.in) + (above - job.view_row) * job.in_line +
                     column * job.channels + channel;
    correlate_column(job, taps, rows, sums, [&](int r, int j) {
      return correlate_number<S>(first[r * job.in_line + j * job.channels]);
    });
  } else {
    correlate_column(job, taps, rows, sums, [&](int r, int j) {
      return correlate_pixel(job, above + r, column + j, channel);
    });
  }
}

template <typename S, typename T, int N>
__global__ void __launch_bounds__(1024)
    correlate_registers(correlate_job<S> job, const __grid_constant__ correlate_taps<T, N> taps,
                        int64_t k) {
  const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= job.n) return;
  for (int64_t top = ((int64_t)blockIdx.y * blockDim.y + threadIdx.y) * HIGH; top < job.rows;
       top += (int64_t)gridDim.y * blockDim.y * HIGH) {
    S sums[HIGH] = {};
    switch (job.in_type) {
      case RUNG_U8:
        correlate_make<uint8_t>(job, taps.at, top, x, sums);
        break;
      case RUNG_U16:
        correlate_make<uint16_t>(job, taps.at, top, x, sums);
        break;
      case RUNG_F16:
        correlate_make<correlate_half>(job, taps.at, top, x, sums);
        break;
      case RUNG_F32:
        correlate_make<float>(job, taps.at, top, x, sums);
        break;
      default:
        correlate_make<double>(job, taps.at, top, x, sums);
    }
#pragma unroll
    for (int y = 0; y < HIGH; y++)
      if (top + y < job.rows)
        correlate_store(job.out_type, correlate_row_out(job, k, top + y), x, sums[y]);
  }
}

template <typename S, int N>
static rung_status run_taps(const rung_task *task, correlate_room<N>) {
  typedef typename correlate_tap<S>::type T;
  const auto job = correlate_job_of<S>(task);
  const correlate_shape shape = correlate_shared_block(task);
  const int64_t high = (int64_t)shape.y * HIGH, down = (job.rows + high - 1) / high;
  const dim3 grid((unsigned)((job.n + shape.x - 1) / shape.x),
                  (unsigned)(down < 65535 ? down : 65535));
  for (int64_t k = 0; k < job.kernels; k++)
    RUNG_LAUNCH(task, (correlate_registers<S, T, N>), grid, dim3(shape.x, shape.y), 0, job,
                (correlate_taps_of<T, N>(task, k)), k);
  return RUNG_OK;
}

template <typename S>
static rung_status run(const rung_task *task) {
  return correlate_by_taps<S>(task, [&](auto room) { return run_taps<S>(task, room); });
}

extern "C" rung_status RUNG_ENTRY(correlate_registers)(const rung_task *task) {
#define RUN(S) return run<S>(task)
  CORRELATE_BY_SUM(task, RUN)
#undef RUN
}
