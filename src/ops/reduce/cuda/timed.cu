/* A block a line, and when it ran: each block writes down the clock at its start and its end, and
 * the multiprocessor it ran on, which is what `rung timeline` draws. The reduction is the plainest:
 * every thread takes each blockDim-th element, then the block folds by halves. */
#include "ops/reduce/cuda/textbook.cuh"

template <typename S>
static __global__ void reduce_timed(reduce_level level, rung_block_time *times) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  const unsigned thread = threadIdx.x;
  for (int64_t line = blockIdx.x; line < level.outer; line += gridDim.x) {
    if (thread == 0) times[line].start = rung_global_timer();
    typename S::partial value = S::identity();
    for (unsigned k = thread; k < level.columns; k += blockDim.x)
      value = S::combine(value, S::at(level, line * level.in_outer, k));
    shared[thread] = value;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (thread < s) shared[thread] = S::combine(shared[thread], shared[thread + s]);
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

typedef void (*timing_kernel)(reduce_level level, rung_block_time *times);
static timing_kernel pick_kernel(reduce_operator op) {
  REDUCE_PICK_ANY(op, reduce_timed)
}

extern "C" rung_status RUNG_ENTRY(reduce_timed)(const rung_task *task) {
  const reduce_operator op = reduce_operator_of((const reduce_problem *)task->problem);
  const int64_t threads = task->block == 0 ? REDUCE_TIMED_BLOCK : task->block;
  const timing_kernel reduce_timed_kernel = pick_kernel(op);
  reduce_level level = reduce_level_of(task);
  reduce_cut(task, &level, level.columns, NULL);
  RUNG_LAUNCH(task, reduce_timed_kernel, reduce_grid(level.outer), (unsigned)threads,
              threads * rung_dtype_bytes(reduce_partial_of(op)), level,
              (rung_block_time *)task->scratch);
  return RUNG_OK;
}
