/* An element by its definition: what the rungs share that make one a thread, from the device's
 * memory. */
#ifndef RUNG_CORRELATE_CUDA_ELEMENT_CUH
#define RUNG_CORRELATE_CUDA_ELEMENT_CUH

#include "ops/correlate/cuda/correlate.cuh"

/* Element x of row y, by taps from `taps` on. */
template <typename S, typename T>
static __device__ inline S correlate_element(const correlate_job<S> &job, const T *taps, int64_t y,
                                             int64_t x) {
  const int64_t pixel = job.first_column + x / job.channels;
  const int channel = (int)(x % job.channels);
  S t = 0;
  for (int i = 0; i < job.kernel_rows; i++)
    for (int j = 0; j < job.kernel_columns; j++, taps++)
      t = correlate_fma(*taps, correlate_pixel(job, job.first_row + y + i, pixel + j, channel), t);
  return t;
}

#endif
