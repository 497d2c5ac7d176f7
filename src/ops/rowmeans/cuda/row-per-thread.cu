/* The textbook on a GPU: a thread sums a row by itself. Four running sums let four additions
 * overlap, and four elements come with one load (float4) or two (double2) where rows are aligned.
 * Still every thread of a warp reads another row: each load of a warp touches 32 lines of memory,
 * of which only the cache can save the rest for the next loads. */
#include "ops/rowmeans/cuda/fold.cuh"
#include "ops/rowmeans/cuda/levels.cuh"

#define SUMS 4

template <typename T, int V>
static __global__ void rowmeans_thread_kernel(const T *in, int64_t in_stride, T *means,
                                              int64_t means_stride, int64_t rows, int64_t columns) {
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < rows;
       i += (int64_t)gridDim.x * blockDim.x) {
    const T *row = in + i * in_stride;
    T sums[SUMS] = {(T)-0.0, (T)-0.0, (T)-0.0, (T)-0.0};
    int64_t j = 0;
    for (; j + SUMS <= columns; j += SUMS) {
#pragma unroll
      for (int s = 0; s < SUMS; s += V) {
        const rowmeans_chunk<T, V> chunk = *(const rowmeans_chunk<T, V> *)(row + j + s);
#pragma unroll
        for (int c = 0; c < V; ++c) sums[s + c] += chunk.at[c];
      }
    }
    T sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; j < columns; ++j) sum += row[j];
    means[i * means_stride] = (T)((double)sum / (double)columns);
  }
}

template <typename T>
static rung_status launch(const rung_task *task) {
  enum { WIDE = 16 / sizeof(T) };
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  const rung_view *in = &task->arrays[ROWMEANS_IN], *means = &task->arrays[ROWMEANS_MEANS];
  const T *from = (const T *)in->data;
  T *to = (T *)means->data;
  const int64_t rows = problem->rows, columns = problem->columns;
  const int block = task->block == 0 ? 64 : task->block;
  const unsigned grid = rowmeans_grid(rows, block);
  if (rowmeans_wide(from, in->stride[0], rows))
    RUNG_LAUNCH(task, (rowmeans_thread_kernel<T, WIDE>), grid, block, 0, from, in->stride[0], to,
                means->stride[0], rows, columns);
  else
    RUNG_LAUNCH(task, (rowmeans_thread_kernel<T, 1>), grid, block, 0, from, in->stride[0], to,
                means->stride[0], rows, columns);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(rowmeans_row_per_thread)(const rung_task *task) {
  const rowmeans_problem *problem = (const rowmeans_problem *)task->problem;
  return problem->dtype == RUNG_F32 ? launch<float>(task) : launch<double>(task);
}
