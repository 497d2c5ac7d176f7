/* A block a line, and when it ran: each block writes down the clock at its start and its end, and
 * the multiprocessor it ran on, which is what `rung timeline` draws. The reduction is the plainest:
 * every thread takes each blockDim-th element, then the block folds by halves. */
#include "ops/reduce/cuda/levels.cuh"

template <typename S>
static __global__ void reduce_timed_kernel(reduce_level<S> level, rung_block_time *times) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t line = blockIdx.x; line < level.outer; line += gridDim.x) {
    if (thread == 0) times[line].start = rung_global_timer();
    typename S::partial value = S::none();
    for (int64_t k = thread; k < level.columns; k += blockDim.x)
      value = S::join(value, S::take(level.in[line * level.in_outer + k], level.turn));
    shared[thread] = value;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (thread < s) shared[thread] = S::join(shared[thread], shared[thread + s]);
      __syncthreads();
    }
    if (thread == 0) {
      reduce_put(level.end, shared[0], level.out, line * level.out_outer);
      times[line].processor = rung_processor();
      times[line].end = rung_global_timer();
    }
    __syncthreads();
  }
}

struct reduce_timed_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    const int64_t threads = task->block == 0 ? REDUCE_TIMED_BLOCK : task->block;
    reduce_level<S> level = reduce_level_of<S>(task);
    reduce_cut(task, &level, level.columns, NULL);
    RUNG_LAUNCH(task, (reduce_timed_kernel<S>), reduce_grid(level.outer), (unsigned)threads,
                threads * sizeof(typename S::partial), level, (rung_block_time *)task->scratch);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_timed)(const rung_task *task) {
  return reduce_by_source<reduce_timed_rung>(task);
}
