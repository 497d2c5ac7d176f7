/* What a reduction is, in numbers: types, sizes, work, and how its elements are taken. */
#include <inttypes.h>

#include "ops/reduce/reduce.h"

static bool is_sum(rung_reduction what) {
  return what == RUNG_SUM || what == RUNG_MEAN;
}

rung_dtype reduce_result_of(rung_reduction what, rung_dtype dtype) {
  if (!is_sum(what) || rung_dtype_is_float(dtype)) return dtype;
  if (what == RUNG_MEAN) return RUNG_F64;
  return rung_traits_of(dtype)->kind == RUNG_SIGNED ? RUNG_I64 : RUNG_U64;
}

rung_types reduce_types_of(rung_reduction what, rung_dtype dtype) {
  const rung_dtype sum = reduce_result_of(is_sum(what) ? RUNG_SUM : what, dtype);
  return (rung_types){dtype, sum, reduce_result_of(what, dtype)};
}

rung_status reduce_problem_of(rung_error *error, rung_reduction what, rung_dtype dtype,
                              reduce_form form, int64_t outer, int64_t columns, int64_t inner,
                              reduce_problem *problem) {
  if (columns > REDUCE_MOST)
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " elements to a result: at most 2^40 are accepted", columns);
  int64_t results = 0, count = 0, bytes = 0;
  if (!rung_multiply(outer, inner, &results) || !rung_multiply(results, columns, &count) ||
      !rung_multiply(count > results ? count : results, 16, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " times %" PRId64 " times %" PRId64
                     " elements: their bytes do not fit in 64 bits",
                     outer, columns, inner);
  if (!is_sum(what) && columns == 0 && results > 0)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "in has 0 elements to a result: at least 1 is accepted, as nothing has no %s",
                     what == RUNG_MIN ? "minimum" : "maximum");
  *problem = (reduce_problem){.what = what,
                              .dtype = dtype,
                              .result = reduce_result_of(what, dtype),
                              .form = form,
                              .outer = outer,
                              .columns = columns,
                              .inner = inner};
  problem->bytes = (double)count * (double)rung_dtype_bytes(dtype) +
                   (double)results * (double)rung_dtype_bytes(problem->result);
  problem->flops = (double)count;
  return RUNG_OK;
}

reduce_source reduce_source_of(const reduce_problem *problem) {
  static const reduce_source sums[RUNG_DTYPES] = {
      [RUNG_U8] = REDUCE_ADD_U8,   [RUNG_I32] = REDUCE_ADD_I32, [RUNG_U32] = REDUCE_ADD_U32,
      [RUNG_I64] = REDUCE_ADD_64,  [RUNG_U64] = REDUCE_ADD_64,  [RUNG_F32] = REDUCE_ADD_F32,
      [RUNG_F64] = REDUCE_ADD_F64,
  };
  static const reduce_source leasts[RUNG_DTYPES] = {
      [RUNG_U8] = REDUCE_LEAST_U8,   [RUNG_I32] = REDUCE_LEAST_32, [RUNG_U32] = REDUCE_LEAST_32,
      [RUNG_I64] = REDUCE_LEAST_64,  [RUNG_U64] = REDUCE_LEAST_64, [RUNG_F32] = REDUCE_LEAST_F32,
      [RUNG_F64] = REDUCE_LEAST_F64,
  };
  return (is_sum(problem->what) ? sums : leasts)[problem->dtype];
}

reduce_source reduce_source_next(reduce_source source) {
  static const reduce_source next[REDUCE_SOURCES] = {
      [REDUCE_ADD_F32] = REDUCE_ADD_F32,    [REDUCE_ADD_F64] = REDUCE_ADD_F64,
      [REDUCE_ADD_U8] = REDUCE_ADD_64,      [REDUCE_ADD_I32] = REDUCE_ADD_64,
      [REDUCE_ADD_U32] = REDUCE_ADD_64,     [REDUCE_ADD_64] = REDUCE_ADD_64,
      [REDUCE_LEAST_U8] = REDUCE_LEAST_32,  [REDUCE_LEAST_32] = REDUCE_LEAST_32,
      [REDUCE_LEAST_F32] = REDUCE_LEAST_32, [REDUCE_LEAST_64] = REDUCE_LEAST_64,
      [REDUCE_LEAST_F64] = REDUCE_LEAST_64,
  };
  return next[source];
}

size_t reduce_partial_bytes(reduce_source source) {
  const reduce_source next = reduce_source_next(source);
  return next == REDUCE_ADD_F32 || next == REDUCE_LEAST_32 ? 4 : 8;
}

int64_t reduce_turn_of(const reduce_problem *problem) {
  if (is_sum(problem->what)) return 0;
  return rung_key_turn(problem->dtype, problem->what == RUNG_MAX);
}

/* Blocks that are worth having, at most `most`. */
static int64_t busy_blocks(const rung_task *task, int64_t most) {
  const int64_t busy = 2 * task->device->processors;
  return busy < most ? busy : most;
}

static bool is_ordered(const rung_task *task) {
  return reduce_source_of((const reduce_problem *)task->problem) <= REDUCE_ADD_F64;
}

/* Lines, none of them empty, of so few tiles that every block has one at the most; and blocks of
 * REDUCE_FEW_BLOCK will do. */
static bool has_few_tiles(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const bool free = task->block == 0 || task->block == REDUCE_FEW_BLOCK;
  return free && problem->form != REDUCE_ACROSS && problem->columns > 0 &&
         problem->outer <= busy_blocks(task, REDUCE_FEW_TILES) / reduce_tiles(problem->columns);
}

bool reduce_is_few(const rung_task *task) {
  return is_ordered(task) && has_few_tiles(task);
}

bool reduce_is_short(const rung_task *task) {
  return has_few_tiles(task) && ((const reduce_problem *)task->problem)->columns <= REDUCE_SHORT;
}

int reduce_slices_of(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const int64_t tiles = reduce_tiles(problem->columns);
  const bool few = reduce_is_few(task);
  const int64_t blocks = busy_blocks(task, few ? REDUCE_FEW_TILES : REDUCE_MOST_SLICED);
  const int most = few ? REDUCE_FEW_SLICES : REDUCE_MOST_SLICES;
  int slices = 1;
  if (tiles == 1 || problem->form == REDUCE_ACROSS) return 1;
  if (!few && is_ordered(task)) return 1;
  while (2 * slices <= most && problem->outer <= blocks / (2 * slices * tiles)) slices *= 2;
  return slices;
}

reduce_layout reduce_layout_of(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const rung_view *in = &task->arrays[REDUCE_IN], *out = &task->arrays[REDUCE_OUT];
  reduce_layout layout = {.in_outer = problem->columns, .in_column = 1, .out_outer = 1};
  if (problem->form == REDUCE_PACKED) return layout;
  layout.in_outer = in->stride[0];
  layout.out_outer = out->stride[0];
  if (problem->form == REDUCE_ACROSS) layout.in_column = in->stride[1];
  return layout;
}
