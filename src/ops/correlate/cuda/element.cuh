/* An element by its definition: what the rungs share that make one a thread. */
#ifndef RUNG_CORRELATE_CUDA_ELEMENT_CUH
#define RUNG_CORRELATE_CUDA_ELEMENT_CUH

#include "ops/correlate/cuda/correlate.cuh"

/* Element x of row y. tap(i): tap i in row-major order; pixel(y, x, c): channel c of a pixel,
 * wherever that is. Taps are asked for by number: a pointer into a launch's argument would be one
 * into global memory, and no longer the constant memory that the argument lies in. */
template <typename S, typename Tap, typename Pixel>
static __device__ __forceinline__ S correlate_element(const correlate_job<S> &job, Tap tap,
                                                      int64_t y, int64_t x, Pixel pixel) {
  const int64_t column = job.first_column + x / job.channels;
  const int channel = (int)(x % job.channels);
  S t = 0;
  int number = 0;
  for (int i = 0; i < job.kernel_rows; i++)
    for (int j = 0; j < job.kernel_columns; j++, number++)
      t = correlate_fma(tap(number), pixel(job.first_row + y + i, column + j, channel), t);
  return t;
}

/* The same from the device's memory. */
template <typename S, typename Tap>
static __device__ inline S correlate_element(const correlate_job<S> &job, Tap tap, int64_t y,
                                             int64_t x) {
  return correlate_element(job, tap, y, x, [&](int64_t row, int64_t column, int channel) {
    return correlate_pixel(job, row, column, channel);
  });
}

#endif
