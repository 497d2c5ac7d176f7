/* A tile of the image in shared memory, with what its outputs need around it: rows and columns of
 * one channel, as numbers of the sum's type. */
#ifndef RUNG_CORRELATE_CUDA_TILE_CUH
#define RUNG_CORRELATE_CUDA_TILE_CUH

#include "ops/correlate/cuda/correlate.cuh"

/* The tile of output pixels (y, x) and on: so many rows and pixels of input, `pitch` apart. What no
 * output that exists needs is 0. */
struct correlate_tile {
  int64_t y, x;
  int rows, columns, pitch;
  int channel;
};

/* An element to shared memory; of the sum's own type without waiting for it. */
template <typename S, typename E>
static __device__ __forceinline__ void correlate_fill_element(S *to, const E *from) {
  *to = correlate_number<S>(*from);
}
static __device__ __forceinline__ void correlate_fill_element(float *to, const float *from) {
  rung_copy_async(to, from);
}
static __device__ __forceinline__ void correlate_fill_element(double *to, const double *from) {
  rung_copy_async(to, from);
}

/* A row of the tile from the image's row `from`, by a warp. */
template <typename S, typename E>
static __device__ __forceinline__ void correlate_fill_line(const correlate_job<S> &job,
                                                           const correlate_tile &tile, S *line,
                                                           int64_t from, int columns) {
  const int lane = threadIdx.x % 32;
  const int64_t left = job.first_column + tile.x;
  const E *row =
      static_cast<const E *>(job.in) + (from - job.view_row) * job.in_line + tile.channel;
  if (left >= 0 && left + columns <= job.width) {
    const E *first = row + left * job.channels;
#pragma unroll 8
    for (int c = lane; c < columns; c += 32)
      correlate_fill_element(line + c, first + c * job.channels);
  } else { /* an element waits for the one before in any case */
#pragma unroll 1
    for (int c = lane; c < columns; c += 32) {
      const int64_t at = correlate_index(job.edge, left + c, job.width);
      if (at < 0)
        line[c] = job.edge_value;
      else
        correlate_fill_element(line + c, row + at * job.channels);
    }
  }
#pragma unroll 1
  for (int c = columns + lane; c < tile.columns; c += 32) line[c] = 0;
}

template <typename S, typename E>
static __device__ __forceinline__ void correlate_fill(const correlate_job<S> &job,
                                                      const correlate_tile &tile, S *to, int warp,
                                                      int warps) {
  const int64_t top = job.first_row + tile.y, rows_left = job.rows - tile.y + job.kernel_rows - 1;
  const int64_t columns_left = job.n / job.channels - tile.x + job.kernel_columns - 1;
  const int columns = (int)(columns_left < tile.columns ? columns_left : tile.columns);
  for (int r = warp; r < tile.rows; r += warps) {
    S *line = to + r * tile.pitch;
    const int64_t from = r < rows_left ? correlate_index(job.edge, top + r, job.height) : -1;
    const S filling = r < rows_left ? job.edge_value : S(0);
    if (from >= 0)
      correlate_fill_line<S, E>(job, tile, line, from, columns);
    else
#pragma unroll 1
      for (int c = threadIdx.x % 32; c < tile.columns; c += 32) line[c] = filling;
  }
}

/* By all warps of a block, of which the calling thread's is number `warp`; what is copied without
 * waiting is committed. */
template <typename S>
static __device__ __forceinline__ void correlate_begin_tile(const correlate_job<S> &job,
                                                            const correlate_tile &tile, S *to,
                                                            int warp, int warps) {
  switch (job.in_type) {
    case RUNG_U8:
      correlate_fill<S, uint8_t>(job, tile, to, warp, warps);
      break;
    case RUNG_U16:
      correlate_fill<S, uint16_t>(job, tile, to, warp, warps);
      break;
    case RUNG_F16:
      correlate_fill<S, correlate_half>(job, tile, to, warp, warps);
      break;
    case RUNG_F32:
      correlate_fill<S, float>(job, tile, to, warp, warps);
      break;
    default:
      correlate_fill<S, double>(job, tile, to, warp, warps);
  }
  rung_copy_async_commit();
}

/* The same, all of it there; then a barrier. */
template <typename S>
static __device__ __forceinline__ void correlate_fill_tile(const correlate_job<S> &job,
                                                           const correlate_tile &tile, S *to,
                                                           int warp, int warps) {
  correlate_begin_tile(job, tile, to, warp, warps);
  rung_copy_async_wait<0>();
  __syncthreads();
}

#endif
