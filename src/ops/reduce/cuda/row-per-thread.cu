/* The textbook on a GPU: a thread sums a row by itself. Four running sums let four additions
 * overlap, and four elements come with one load (float4) or two (double2) where rows are aligned.
 * Still every thread of a warp reads another row: each load of a warp touches 32 lines of memory,
 * of which only the cache can save the rest for the next loads. */
#include "ops/reduce/cuda/levels.cuh"
#include "ops/reduce/cuda/sum.cuh"

#define SUMS 4

template <typename S, int V>
static __global__ void reduce_thread(reduce_level level) {
  typedef typename S::in T;
  typedef typename S::partial P;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < level.outer;
       i += (int64_t)gridDim.x * blockDim.x) {
    const T *row = (const T *)level.in + i * level.in_outer;
    P sums[SUMS] = {S::identity(), S::identity(), S::identity(), S::identity()};
    int64_t j = 0;
    for (; j + SUMS <= level.columns; j += SUMS) {
#pragma unroll
      for (int s = 0; s < SUMS; s += V) {
        const reduce_chunk<T, V> chunk = *(const reduce_chunk<T, V> *)(row + j + s);
#pragma unroll
        for (int c = 0; c < V; ++c) sums[s + c] += S::load(chunk.at[c], level.key);
      }
    }
    P sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; j < level.columns; ++j) sum += S::load(row[j], level.key);
    reduce_put(level.end, sum, level.out, i * level.out_outer);
  }
}

static reduce_kernel pick_kernel(reduce_operator op, bool wide) {
#define PICK(S) (wide ? reduce_thread<S, S::wide> : reduce_thread<S, 1>)
  REDUCE_PICK_FLOAT(op, PICK)
#undef PICK
}

extern "C" rung_status RUNG_ENTRY(reduce_row_per_thread)(const rung_task *task) {
  const reduce_operator op = reduce_operator_of((const reduce_problem *)task->problem);
  const int64_t threads = task->block == 0 ? REDUCE_THREAD_BLOCK : task->block;
  reduce_level level = reduce_level_of(task);
  reduce_cut(task, &level, level.columns, NULL);
  const reduce_kernel reduce_thread_kernel = pick_kernel(op, reduce_wide(level));
  RUNG_LAUNCH(task, reduce_thread_kernel, reduce_grid((level.outer + threads - 1) / threads),
              (unsigned)threads, 0, level);
  return RUNG_OK;
}
