/* Lines cut into parts: a launch makes every part of every line one partial result, the next
 * launch does the same with those, until a line is one part and its result is written. */
#ifndef RUNG_REDUCE_CUDA_LEVELS_CUH
#define RUNG_REDUCE_CUDA_LEVELS_CUH

#include "ops/reduce/cuda/sources.cuh"

/* One launch. Partial results lie as (outer, parts, inner), a line's padded to where 16 bytes
 * begin. */
template <typename S>
struct reduce_level {
  const typename S::in *in;
  void *out;
  int64_t in_outer, in_column, out_outer; /* strides, in elements */
  int64_t outer, columns, inner, parts;   /* of this level */
  int64_t turn;
  reduce_end end;
};

/* Where a part of a line lies, and where among the outputs its partial result goes. */
template <typename S>
struct reduce_part {
  const typename S::in *in;
  int64_t count, at;
};

template <typename S>
__device__ __forceinline__ int64_t reduce_line_of(const reduce_level<S> &level, int64_t job) {
  return level.outer == 1 ? 0 : level.parts == 1 ? job : job / level.parts;
}

/* Of lines one after the other: inner is 1. */
template <typename S>
__device__ __forceinline__ reduce_part<S> reduce_part_of(const reduce_level<S> &level, int64_t job,
                                                         int64_t size) {
  const int64_t line = reduce_line_of(level, job);
  const int64_t part = job - line * level.parts;
  const int64_t first = part * size, left = level.columns - first;
  reduce_part<S> found;
  found.in = level.in + line * level.in_outer + first;
  found.count = left < size ? left : size;
  found.at = line * level.out_outer + part;
  return found;
}

/* As many blocks as there are jobs, at most what a grid can have; kernels stride over the rest. */
static inline unsigned reduce_grid(int64_t jobs) {
  return jobs < INT32_MAX ? (unsigned)jobs : (unsigned)INT32_MAX;
}

/* Whether every line begins at a multiple of 16 bytes. */
template <typename S>
static bool reduce_wide(const reduce_level<S> &level) {
  const int64_t bytes = level.outer > 1 ? level.in_outer * (int64_t)sizeof(typename S::in) : 0;
  return (uintptr_t)level.in % 16 == 0 && bytes % 16 == 0;
}

/* Cuts a level's lines into parts of `part` elements, whose results go to `to`, or where the result
 * goes: where a line is one part. */
template <typename S>
static void reduce_cut(const rung_task *task, reduce_level<S> *level, int64_t part, void *to) {
  level->parts = level->columns > part ? (level->columns + part - 1) / part : 1;
  level->end.last = level->parts == 1;
  level->out = level->end.last ? task->arrays[REDUCE_OUT].data : to;
  level->out_outer = level->end.last ? reduce_layout_of(task).out_outer
                                     : reduce_pitch(level->parts) * level->inner;
}

/* The level whose elements are the partial results of `level`, all but its parts and where they
 * go. */
template <typename S>
static reduce_level<typename S::next> reduce_next(const reduce_level<S> &level) {
  reduce_level<typename S::next> next = {};
  next.in = (const typename S::partial *)level.out;
  next.in_outer = level.out_outer;
  next.in_column = next.inner = level.inner;
  next.outer = level.outer;
  next.columns = level.parts;
  next.end = level.end;
  return next;
}

/* Rung::part(task) elements make a part; Rung::launch(task, level) launches a level. */
template <typename S, typename Rung>
static rung_status reduce_levels(const rung_task *task, reduce_level<S> level, void *scratch) {
  reduce_cut(task, &level, Rung::part(task), scratch);
  const rung_status status = Rung::launch(task, level);
  if (status != RUNG_OK || level.end.last) return status;
  return reduce_levels<typename S::next, Rung>(
      task, reduce_next(level), (typename S::partial *)scratch + level.outer * level.out_outer);
}

/* The first level of a task, all but its parts and where they go. */
template <typename S>
static reduce_level<S> reduce_level_of(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_layout layout = reduce_layout_of(task);
  reduce_level<S> level = {};
  level.in = (const typename S::in *)task->arrays[REDUCE_IN].data;
  level.in_outer = layout.in_outer;
  level.in_column = layout.in_column;
  level.outer = problem->outer;
  level.columns = problem->columns;
  level.inner = problem->inner;
  level.turn = reduce_turn_of(problem);
  level.end.mean = problem->what == RUNG_MEAN;
  level.end.dtype = problem->dtype;
  level.end.columns = problem->columns;
  level.end.turn = level.turn;
  return level;
}

/* Rung::run<S>(task) for the task's source S. */
template <typename Rung>
static rung_status reduce_by_source(const rung_task *task) {
  switch (reduce_source_of((const reduce_problem *)task->problem)) {
    case REDUCE_ADD_F32:
      return Rung::template run<reduce_add_float<float>>(task);
    case REDUCE_ADD_F64:
      return Rung::template run<reduce_add_float<double>>(task);
    case REDUCE_ADD_U8:
      return Rung::template run<reduce_add_integer<uint8_t>>(task);
    case REDUCE_ADD_I32:
      return Rung::template run<reduce_add_integer<int32_t>>(task);
    case REDUCE_ADD_U32:
      return Rung::template run<reduce_add_integer<uint32_t>>(task);
    case REDUCE_ADD_64:
      return Rung::template run<reduce_add_integer<uint64_t>>(task);
    case REDUCE_LEAST_U8:
      return Rung::template run<reduce_least_integer<uint8_t, int32_t>>(task);
    case REDUCE_LEAST_32:
      return Rung::template run<reduce_least_integer<int32_t, int32_t>>(task);
    case REDUCE_LEAST_F32:
      return Rung::template run<reduce_least_f32>(task);
    case REDUCE_LEAST_64:
      return Rung::template run<reduce_least_integer<int64_t, int64_t>>(task);
    default:
      return Rung::template run<reduce_least_f64>(task);
  }
}

/* The same for rungs that take nothing but sums of floats. */
template <typename Rung>
static rung_status reduce_by_float(const rung_task *task) {
  if (((const reduce_problem *)task->problem)->dtype == RUNG_F32)
    return Rung::template run<reduce_add_float<float>>(task);
  return Rung::template run<reduce_add_float<double>>(task);
}

/* ---- a rung that relaunches one kernel ---------------------------------------------------------
 */

static inline int64_t reduce_block(const rung_task *task) {
  return task->block == 0 ? REDUCE_BLOCK : task->block;
}

/* Elements a thread takes as it loads. */
#define REDUCE_RELAUNCHED(rung, kernel, elements_a_thread)                                     \
  struct rung {                                                                                \
    static int64_t part(const rung_task *task) {                                               \
      return (elements_a_thread)*reduce_block(task);                                           \
    }                                                                                          \
    template <typename S>                                                                      \
    static rung_status launch(const rung_task *task, const reduce_level<S> &level) {           \
      const int64_t threads = reduce_block(task);                                              \
      const size_t shared = (size_t)threads * sizeof(typename S::partial);                     \
      RUNG_LAUNCH(task, (kernel<S>), reduce_grid(level.outer *level.parts), (unsigned)threads, \
                  shared, level);                                                              \
      return RUNG_OK;                                                                          \
    }                                                                                          \
    template <typename S>                                                                      \
    static rung_status run(const rung_task *task) {                                            \
      return reduce_levels<S, rung>(task, reduce_level_of<S>(task), task->scratch);            \
    }                                                                                          \
  }

/* What a thread brings to its block's fold: its element of the part. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_one(const reduce_level<S> &level,
                                                          const reduce_part<S> &part) {
  return threadIdx.x < part.count ? S::take(part.in[threadIdx.x], level.turn) : S::none();
}

/* Or two of them, a block apart. */
template <typename S>
__device__ __forceinline__ typename S::partial reduce_two(const reduce_level<S> &level,
                                                          const reduce_part<S> &part) {
  const int64_t second = (int64_t)threadIdx.x + blockDim.x;
  const typename S::partial first = reduce_one(level, part);
  return second < part.count ? S::join(first, S::take(part.in[second], level.turn)) : first;
}

#endif
