/* The textbook on a GPU: a thread sums a row by itself. Four running sums let four additions
 * overlap, and four elements come with one load (float4) or two (double2) where rows are aligned.
 * Still every thread of a warp reads another row: each load of a warp touches 32 lines of memory,
 * of which only the cache can save the rest for the next loads. */
#include "ops/reduce/cuda/levels.cuh"
#include "ops/reduce/cuda/sum.cuh"

#define SUMS 4

template <typename S, int V>
static __global__ void reduce_thread_kernel(reduce_level<S> level) {
  typedef typename S::in T;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < level.outer;
       i += (int64_t)gridDim.x * blockDim.x) {
    const T *row = level.in + i * level.in_outer;
    T sums[SUMS] = {(T)-0.0, (T)-0.0, (T)-0.0, (T)-0.0};
    int64_t j = 0;
    for (; j + SUMS <= level.columns; j += SUMS) {
#pragma unroll
      for (int s = 0; s < SUMS; s += V) {
        const reduce_chunk<T, V> chunk = *(const reduce_chunk<T, V> *)(row + j + s);
#pragma unroll
        for (int c = 0; c < V; ++c) sums[s + c] += chunk.at[c];
      }
    }
    T sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; j < level.columns; ++j) sum += row[j];
    reduce_put(level.end, sum, level.out, i * level.out_outer);
  }
}

struct reduce_thread_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    enum { WIDE = 16 / sizeof(typename S::in) };
    const int64_t threads = task->block == 0 ? REDUCE_THREAD_BLOCK : task->block;
    reduce_level<S> level = reduce_level_of<S>(task);
    reduce_cut(task, &level, level.columns, NULL);
    const unsigned grid = reduce_grid((level.outer + threads - 1) / threads);
    if (reduce_wide(level))
      RUNG_LAUNCH(task, (reduce_thread_kernel<S, WIDE>), grid, (unsigned)threads, 0, level);
    else
      RUNG_LAUNCH(task, (reduce_thread_kernel<S, 1>), grid, (unsigned)threads, 0, level);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_row_per_thread)(const rung_task *task) {
  return reduce_by_float<reduce_thread_rung>(task);
}
