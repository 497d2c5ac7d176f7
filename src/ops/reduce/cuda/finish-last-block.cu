/* Finishes in the same launch: every block counts itself in when its partial result is stored, and
 * the one that finds it was a line's last folds the line's partial results. No second launch, and
 * no order among the blocks; the counters are cleared on the stream before. */
#include "ops/reduce/cuda/last.cuh"
#include "ops/reduce/cuda/shuffle.cuh"

template <typename S>
static __global__ void reduce_finish_last_block_kernel(reduce_level<S> level, unsigned *counters,
                                                       reduce_level<typename S::next> rest) {
  typedef typename S::partial P;
  RUNG_DYNAMIC_SHARED(P, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    reduce_shuffle_job(level, job, shared);
    const int64_t line = reduce_line_of(level, job);
    if (level.parts == 1 || !reduce_is_last(&counters[line], level.parts)) continue;
    P value = S::none();
    for (int64_t k = threadIdx.x; k < rest.columns; k += blockDim.x)
      value = S::join(value, rest.in[line * rest.in_outer + k]);
    value = reduce_fold_block<S>(value, shared);
    if (threadIdx.x == 0) reduce_put(rest.end, value, rest.out, line * rest.out_outer);
    __syncthreads();
  }
}

struct reduce_finish_last_block_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    const size_t bytes = reduce_counter_bytes((const reduce_problem *)task->problem);
    const int64_t threads = reduce_block(task);
    unsigned *counters = (unsigned *)task->scratch;
    reduce_level<S> level = reduce_level_of<S>(task);
    reduce_cut(task, &level, reduce_shuffle_rung::part(task), (char *)task->scratch + bytes);
    reduce_level<typename S::next> rest = reduce_next(level);
    reduce_cut(task, &rest, rest.columns, NULL);
    if (level.parts > 1) RUNG_FILL_ON_DEVICE(task, counters, 0, bytes);
    RUNG_LAUNCH(task, (reduce_finish_last_block_kernel<S>), reduce_grid(level.outer * level.parts),
                (unsigned)threads, threads * sizeof(typename S::partial), level, counters, rest);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_finish_last_block)(const rung_task *task) {
  return reduce_by_source<reduce_finish_last_block_rung>(task);
}
