/* Finishes in the same launch: every block counts itself in when its partial result is stored, and
 * the one that finds it was a line's last folds the line's partial results. No second launch, and
 * no order among the blocks; the counters are cleared on the stream before. */
#include "ops/reduce/cuda/shuffle.cuh"

template <typename S>
static __global__ void REDUCE_WHOLE reduce_finish_last_block(reduce_level level, unsigned *counters,
                                                             reduce_level rest) {
  typedef typename S::partial P;
  RUNG_DYNAMIC_SHARED(P, shared);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x) {
    reduce_shuffle_job<S>(level, job, shared);
    const int64_t line = reduce_line_of(level, job);
    if (level.parts == 1 || !rung_is_last(&counters[line], level.parts)) continue;
    P value = S::identity();
    for (int64_t k = threadIdx.x; k < rest.columns; k += blockDim.x)
      value = S::combine(value, ((const P *)rest.in)[line * rest.in_outer + k]);
    value = reduce_fold_block<S>(value, shared);
    if (threadIdx.x == 0) reduce_put(rest.end, value, rest.out, line * rest.out_outer);
    __syncthreads();
  }
}

typedef void (*counting_kernel)(reduce_level level, unsigned *counters, reduce_level rest);
static counting_kernel pick_kernel(reduce_operator op, rung_dtype dtype) {
  REDUCE_PICK_OF(op, dtype, reduce_finish_last_block)
}

extern "C" rung_status RUNG_ENTRY(reduce_finish_last_block)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_operator op = reduce_operator_of(problem);
  const size_t bytes = reduce_counter_bytes(problem);
  unsigned *counters = (unsigned *)task->scratch;
  reduce_level level = reduce_level_of(task);
  reduce_cut(task, &level, reduce_shuffle_part(task), (char *)task->scratch + bytes);
  reduce_level rest = reduce_next(level, reduce_partial_of(op));
  reduce_cut(task, &rest, rest.columns, NULL);
  if (level.parts > 1) RUNG_FILL_ON_DEVICE(task, counters, 0, bytes);
  const counting_kernel reduce_finish_last_block_kernel = pick_kernel(op, level.dtype);
  RUNG_LAUNCH(task, reduce_finish_last_block_kernel, reduce_grid(level.outer * level.parts),
              (unsigned)reduce_block(task), reduce_block_shared(task, op), level, counters, rest);
  return RUNG_OK;
}
