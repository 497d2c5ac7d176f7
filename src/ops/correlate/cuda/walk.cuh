/* Where a block that walks down the image finds its rows and columns: looked up once, before it
 * sets out. */
#ifndef RUNG_CORRELATE_CUDA_WALK_CUH
#define RUNG_CORRELATE_CUDA_WALK_CUH

#include "ops/correlate/cuda/correlate.cuh"
#include "ops/correlate/tiles.h"

/* Instead of a column: none of the image stands here, but the value outside. */
static constexpr int NOWHERE = INT32_MAX;

/* The columns, from `left` on, that stand for `count` ones from there on, or NOWHERE; STEP elements
 * from one pixel to the next. */
template <int STEP>
static __device__ __forceinline__ void correlate_find_places(const correlate_job<float> &job,
                                                             int64_t left, int count, int *places) {
  static constexpr int BEFORE = 2 * RUNG_KERNEL_MOST; /* pixels are counted from one before all */
  for (int c = threadIdx.x; c < count; c += blockDim.x) {
    const int64_t pixel = (left + c + (int64_t)BEFORE * STEP) / STEP - BEFORE;
    const int64_t at = correlate_index(job.edge, pixel, job.width);
    places[c] = at < 0 ? NOWHERE : (int)(at * STEP + (left + c - pixel * STEP) - left);
  }
}

/* Where the view's rows that stand for `count` ones from `first` on have column `left`, which may
 * be outside; NULL: none does. */
template <typename E>
static __device__ __forceinline__ void correlate_find_rows(const correlate_job<float> &job,
                                                           int64_t first, int count, int64_t left,
                                                           const E **lines) {
  for (int r = threadIdx.x; r < count; r += blockDim.x) {
    const int64_t row = correlate_index(job.edge, first + r, job.height);
    lines[r] =
        row < 0 ? NULL : static_cast<const E *>(job.in) + (row - job.view_row) * job.in_line + left;
  }
}

#endif
