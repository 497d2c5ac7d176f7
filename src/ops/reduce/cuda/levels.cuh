/* Lines cut into parts: a launch makes every part of every line one partial result, the next
 * launch does the same with those, until a line is one part and its result is written. */
#ifndef RUNG_REDUCE_CUDA_LEVELS_CUH
#define RUNG_REDUCE_CUDA_LEVELS_CUH

#include "ops/reduce/cuda/operators.cuh"

/* One launch. Partial results lie as (outer, parts, inner), a line's padded to where 16 bytes
 * begin. */
struct reduce_level {
  const void *in;
  void *out;
  int64_t in_outer, in_column, out_outer; /* strides, in elements */
  int64_t outer, columns, inner, parts;   /* of this level */
  rung_dtype dtype;                       /* of its elements */
  rung_key_code key;                      /* and how they are loaded */
  reduce_end end;
};
typedef void (*reduce_kernel)(reduce_level level);

/* Where a part of a line begins among the elements, and where among the outputs its partial result
 * goes. */
struct reduce_part {
  int64_t first, count, at;
};

__device__ __forceinline__ int64_t reduce_line_of(const reduce_level &level, int64_t job) {
  return level.outer == 1 ? 0 : level.parts == 1 ? job : job / level.parts;
}

/* Of lines one after the other: inner is 1. */
__device__ __forceinline__ reduce_part reduce_part_of(const reduce_level &level, int64_t job,
                                                      int64_t size) {
  const int64_t line = reduce_line_of(level, job);
  const int64_t part = job - line * level.parts;
  const int64_t first = part * size, left = level.columns - first;
  return {line * level.in_outer + first, left < size ? left : size, line * level.out_outer + part};
}

/* As many blocks as there are jobs, at most what a grid can have; kernels stride over the rest. */
static inline unsigned reduce_grid(int64_t jobs) {
  return jobs < INT32_MAX ? (unsigned)jobs : (unsigned)INT32_MAX;
}

/* Whether the lines of floats all begin where a wide load may: four halves, or 16 bytes. */
static inline bool reduce_wide(const reduce_level &level) {
  const int64_t size = (int64_t)rung_dtype_bytes(level.dtype), load = size == 2 ? 8 : 16;
  return (uintptr_t)level.in % load == 0 && (level.outer == 1 || level.in_outer * size % load == 0);
}

/* Cuts a level's lines into parts of `part` elements, whose results go to `to`, or where the result
 * goes: where a line is one part. */
static inline void reduce_cut(const rung_task *task, reduce_level *level, int64_t part, void *to) {
  level->parts = level->columns > part ? (level->columns + part - 1) / part : 1;
  level->end.last = level->parts == 1;
  level->out = level->end.last ? task->arrays[REDUCE_OUT].data : to;
  level->out_outer = level->end.last ? reduce_layout_of(task).out_outer
                                     : reduce_pitch(level->parts) * level->inner;
}

/* The first level of a task, all but its parts and where they go. */
static inline reduce_level reduce_level_of(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_layout layout = reduce_layout_of(task);
  reduce_level level = {};
  level.in = task->arrays[REDUCE_IN].data;
  level.in_outer = layout.in_outer;
  level.in_column = layout.in_column;
  level.outer = problem->outer;
  level.columns = problem->columns;
  level.inner = problem->inner;
  level.dtype = problem->dtype;
  level.end = reduce_end_of(problem);
  level.key = level.end.key;
  return level;
}

/* The level whose elements are the partial results, of type `partial`, of `level`: all but its
 * parts and where they go. */
static inline reduce_level reduce_next(const reduce_level &level, rung_dtype partial) {
  reduce_level next = {};
  next.in = level.out;
  next.in_outer = level.out_outer;
  next.in_column = next.inner = level.inner;
  next.outer = level.outer;
  next.columns = level.parts;
  next.dtype = partial;
  next.end = level.end;
  return next;
}

/* Launches `level` of an operator, and then what is left to do: the partial results are an array
 * like any other. `launch` leaves one for every `part` elements. */
typedef rung_status (*reduce_launch)(const rung_task *task, const reduce_level &level,
                                     reduce_operator op);

static inline rung_status reduce_levels(const rung_task *task, reduce_level level,
                                        reduce_operator op, int64_t part, reduce_launch launch,
                                        char *scratch) {
  reduce_cut(task, &level, part, scratch);
  const rung_status status = launch(task, level, op);
  if (status != RUNG_OK || level.end.last) return status;
  const rung_dtype partial = reduce_partial_of(op);
  return reduce_levels(
      task, reduce_next(level, partial), reduce_operator_next(op), part, launch,
      scratch + level.outer * level.out_outer * (int64_t)rung_dtype_bytes(partial));
}

static inline rung_status reduce_all_levels(const rung_task *task, int64_t part,
                                            reduce_launch launch) {
  return reduce_levels(task, reduce_level_of(task),
                       reduce_operator_of((const reduce_problem *)task->problem), part, launch,
                       (char *)task->scratch);
}

#endif
