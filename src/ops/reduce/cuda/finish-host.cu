/* Finishes on the host, as the oldest textbooks do: one launch, its partial results copied to the
 * host, added up there, the results copied back. Nothing waits: the copies and the host's function
 * are queued on the stream, and what the host is to do travels with the partial results, left
 * beside them by the kernel, for the host's memory may be in use by an earlier call until this
 * one's turn. */
#include "ops/reduce/cuda/shuffle.cuh"

/* Partial results lie as (outer, parts), a line's padded to `pitch`. Aligned to be stored by 16
 * bytes. */
struct alignas(16) reduce_note {
  reduce_end end;
  int64_t outer, parts, pitch;
};
static_assert(sizeof(reduce_note) <= REDUCE_NOTE, "there is room for a note");

template <typename S>
static __global__ void REDUCE_WHOLE reduce_finish_host(reduce_level level, reduce_note note,
                                                       reduce_note *there) {
  RUNG_DYNAMIC_SHARED(typename S::partial, shared);
  if (blockIdx.x == 0 && threadIdx.x == 0) rung_store_whole(there, note);
  for (int64_t job = blockIdx.x; job < level.outer * level.parts; job += gridDim.x)
    reduce_shuffle_job<S>(level, job, shared);
}

/* [note | partial results | results] */
template <typename S>
static void reduce_finish_on_host(void *memory) {
  typedef typename S::partial P;
  const reduce_note *note = (const reduce_note *)memory;
  const P *partials = (const P *)((const char *)memory + REDUCE_NOTE);
  void *results = (P *)partials + note->outer * note->pitch;
  for (int64_t line = 0; line < note->outer; ++line) {
    P value = S::identity();
    for (int64_t k = 0; k < note->parts; ++k)
      value = S::combine(value, partials[line * note->pitch + k]);
    reduce_finish(note->end, value, results, line);
  }
}

typedef void (*kernel_with_note)(reduce_level level, reduce_note note, reduce_note *there);
static kernel_with_note pick_kernel(reduce_operator op, rung_dtype dtype) {
  REDUCE_PICK_OF(op, dtype, reduce_finish_host)
}

typedef void (*finish_of_host)(void *memory);
static finish_of_host pick_finish(reduce_operator op) {
  REDUCE_PICK_ANY(op, reduce_finish_on_host)
}

extern "C" rung_status RUNG_ENTRY(reduce_finish_host)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_operator op = reduce_operator_of(problem);
  char *there = (char *)task->scratch, *here = (char *)task->host_scratch;
  reduce_level level = reduce_level_of(task);
  reduce_cut(task, &level, reduce_shuffle_part(task), there + REDUCE_NOTE);
  if (level.parts == 1) return RUNG_ENTRY(reduce_shuffle_level)(task, level, op);
  const reduce_note note = {level.end, level.outer, level.parts, level.out_outer};
  const kernel_with_note reduce_finish_host_kernel = pick_kernel(op, level.dtype);
  RUNG_LAUNCH(task, reduce_finish_host_kernel, reduce_grid(level.outer * level.parts),
              (unsigned)reduce_block(task), reduce_block_shared(task, op), level, note,
              (reduce_note *)there);
  const size_t bytes =
      REDUCE_NOTE + (size_t)(note.outer * note.pitch) * rung_dtype_bytes(reduce_partial_of(op));
  RUNG_COPY_TO_HOST(task, here, there, bytes);
  RUNG_CALL_ON_HOST(task, pick_finish(op), here);
  RUNG_COPY_TO_DEVICE(task, task->arrays[REDUCE_OUT].data, here + bytes,
                      (size_t)note.outer * rung_dtype_bytes(problem->result));
  return RUNG_OK;
}
