/* What a reduction is, in numbers: types, sizes, work, and how its elements are taken. */
#include <inttypes.h>

#include "ops/reduce/reduce.h"

static bool is_sum(rung_reduction what) {
  return what == RUNG_SUM || what == RUNG_MEAN;
}

rung_dtype reduce_result_of(rung_reduction what, rung_dtype dtype) {
  if (!is_sum(what) || rung_dtype_is_float(dtype)) return dtype;
  if (what == RUNG_MEAN) return RUNG_F64;
  return rung_traits_of(dtype)->sum;
}

rung_types reduce_types_of(rung_reduction what, rung_dtype dtype) {
  const rung_dtype accumulate = is_sum(what) ? rung_traits_of(dtype)->sum : dtype;
  return (rung_types){dtype, accumulate, reduce_result_of(what, dtype)};
}

rung_status reduce_problem_of(rung_error *error, rung_reduction what, rung_dtype dtype,
                              reduce_form form, int64_t outer, int64_t columns, int64_t inner,
                              reduce_problem *problem) {
  if (columns > REDUCE_MOST)
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " elements to a result; expected: at most 2^40", columns);
  int64_t results = 0, count = 0, bytes = 0;
  if (!rung_multiply(outer, inner, &results) || !rung_multiply(results, columns, &count) ||
      !rung_multiply(count > results ? count : results, 16, &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " times %" PRId64 " times %" PRId64
                     " elements: their bytes do not fit in 64 bits; expected: fewer",
                     outer, columns, inner);
  if (!is_sum(what) && columns == 0 && results > 0)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "in has 0 elements to a result; expected: at least 1, as nothing has no %s",
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

static reduce_operator sum_of(rung_dtype dtype) {
  switch (dtype) {
    case RUNG_U8:
    case RUNG_I8:
      return REDUCE_ADD_8;
    case RUNG_U16:
    case RUNG_I16:
      return REDUCE_ADD_16;
    case RUNG_I32:
    case RUNG_U32:
      return REDUCE_ADD_32;
    case RUNG_I64:
    case RUNG_U64:
      return REDUCE_ADD_64;
    case RUNG_F16:
    case RUNG_BF16:
      return REDUCE_ADD_HALF;
    case RUNG_F32:
      return REDUCE_ADD_F32;
    case RUNG_F64:
      return REDUCE_ADD_F64;
    case RUNG_DTYPES:
      break;
  }
  return REDUCE_OPERATORS;
}

static reduce_operator least_of(rung_dtype dtype) {
  switch (dtype) {
    case RUNG_U8:
    case RUNG_I8:
      return REDUCE_LEAST_8;
    case RUNG_U16:
    case RUNG_I16:
    case RUNG_F16:
    case RUNG_BF16:
      return REDUCE_LEAST_16;
    case RUNG_I32:
    case RUNG_U32:
      return REDUCE_LEAST_32;
    case RUNG_I64:
    case RUNG_U64:
      return REDUCE_LEAST_64;
    case RUNG_F32:
      return REDUCE_LEAST_F32;
    case RUNG_F64:
      return REDUCE_LEAST_F64;
    case RUNG_DTYPES:
      break;
  }
  return REDUCE_OPERATORS;
}

reduce_operator reduce_operator_of(const reduce_problem *problem) {
  return (is_sum(problem->what) ? sum_of : least_of)(problem->dtype);
}

reduce_operator reduce_operator_next(reduce_operator op) {
  if (op == REDUCE_ADD_F64) return op;
  if (op <= REDUCE_ADD_HALF) return REDUCE_ADD_F32;
  if (op <= REDUCE_ADD_64) return REDUCE_ADD_64;
  return op <= REDUCE_LEAST_F32 ? REDUCE_LEAST_32 : REDUCE_LEAST_64;
}

rung_dtype reduce_partial_of(reduce_operator op) {
  const reduce_operator next = reduce_operator_next(op);
  if (next == REDUCE_ADD_F32) return RUNG_F32;
  if (next == REDUCE_ADD_F64) return RUNG_F64;
  if (next == REDUCE_ADD_64) return RUNG_U64;
  return next == REDUCE_LEAST_32 ? RUNG_I32 : RUNG_I64;
}

rung_key_code reduce_key_of(const reduce_problem *problem) {
  const rung_traits *traits = rung_traits_of(problem->dtype);
  if (!is_sum(problem->what)) return rung_key_of(problem->dtype, problem->what == RUNG_MAX);
  rung_key_code key = {.bfloat = problem->dtype == RUNG_BF16};
  if (traits->kind == RUNG_SIGNED && traits->bytes < 8)
    key.mask = INT64_C(1) << (8 * traits->bytes - 1);
  return key;
}

reduce_end reduce_end_of(const reduce_problem *problem) {
  return (reduce_end){.last = true,
                      .mean = problem->what == RUNG_MEAN,
                      .negative = rung_traits_of(problem->dtype)->kind == RUNG_SIGNED,
                      .result = problem->result,
                      .columns = problem->columns,
                      .key = reduce_key_of(problem)};
}

/* Blocks that are worth having, at most `most`. */
static int64_t busy_blocks(const rung_task *task, int64_t most) {
  const int64_t busy = 2 * task->device->processors;
  return busy < most ? busy : most;
}

static bool is_ordered(const rung_task *task) {
  return reduce_is_ordered(reduce_operator_of((const reduce_problem *)task->problem));
}

/* Lines, none of them empty, of so few tiles that every block has one at the most; and blocks of
 * REDUCE_FEW_BLOCK are accepted. */
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

bool reduce_is_many(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  if (problem->columns <= RUNG_SUM_LANES)
    return problem->outer > busy_blocks(task, REDUCE_FEW_TILES);
  return problem->outer >= 16 * (int64_t)task->device->processors;
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
