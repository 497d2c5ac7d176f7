/* Finishes in a loop: the same kernel is launched on the partial results until a line is one
 * block, from one buffer into another and back. The host does not wait between the launches; the
 * stream keeps them in order. */
#include "ops/reduce/cuda/shuffle.cuh"

struct reduce_finish_relaunch_rung {
  template <typename S>
  static rung_status run(const rung_task *task) {
    const int64_t part = reduce_shuffle_rung::part(task);
    typename S::partial *to = (typename S::partial *)task->scratch;
    reduce_level<S> first = reduce_level_of<S>(task);
    reduce_cut(task, &first, part, to);
    rung_status status = reduce_shuffle_rung::launch(task, first);
    typename S::partial *free = to + first.outer * first.out_outer;
    bool done = first.end.last;
    for (reduce_level<typename S::next> level = reduce_next(first); status == RUNG_OK && !done;
         level = reduce_next(level)) {
      reduce_cut(task, &level, part, free);
      status = reduce_shuffle_rung::launch(task, level);
      done = level.end.last;
      typename S::partial *read = to;
      to = free;
      free = read;
    }
    return status;
  }
};

extern "C" rung_status RUNG_ENTRY(reduce_finish_relaunch)(const rung_task *task) {
  return reduce_by_source<reduce_finish_relaunch_rung>(task);
}
