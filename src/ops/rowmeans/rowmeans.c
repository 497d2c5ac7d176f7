/* The door of rowmeans: looks at the arrays once, then hands over. */
#include "ops/rowmeans/rowmeans.h"

#include <inttypes.h>

#include "core/door.h"

static const char *const array_names[] = {"in", "means"};

rung_status rowmeans_problem_of(rung_error *error, int64_t rows, int64_t columns, rung_dtype dtype,
                                rowmeans_problem *problem) {
  if (rows < 1)
    return rung_fail(error, RUNG_BAD_SHAPE, "in has %" PRId64 " rows: at least 1 is accepted",
                     rows);
  if (columns < 1)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "in has %" PRId64
                     " columns: at least 1 is accepted, as the mean of nothing "
                     "is no number",
                     columns);
  if (columns > ROWMEANS_MOST)
    return rung_fail(error, RUNG_TOO_LARGE, "in has %" PRId64 " columns: at most 2^40 are accepted",
                     columns);
  int64_t count = 0, bytes = 0;
  if (!rung_multiply(rows, columns, &count) ||
      !rung_multiply(count, 2 * (int64_t)rung_dtype_bytes(dtype), &bytes))
    return rung_fail(error, RUNG_TOO_LARGE,
                     "in has %" PRId64 " rows of %" PRId64
                     " columns: their bytes do not fit in 64 "
                     "bits",
                     rows, columns);
  *problem = (rowmeans_problem){.rows = rows, .columns = columns, .dtype = dtype};
  problem->bytes = ((double)count + (double)rows) * (double)rung_dtype_bytes(dtype);
  problem->flops = (double)count;
  return RUNG_OK;
}

static void slice(const void *problem, int64_t first, int64_t rows, void *part) {
  _Static_assert(sizeof(rowmeans_problem) <= RUNG_PROBLEM_BYTES, "a problem fits a slice");
  rowmeans_problem *p = part;
  (void)first;
  *p = *(const rowmeans_problem *)problem;
  p->rows = rows;
}

rung_status rung_rowmeans(rung_context *context, const DLTensor *in, DLTensor *means,
                          rung_call *call) {
  rung_status status = rung_begin(context);
  if (status != RUNG_OK) return status;
  rung_error *error = &context->error;
  rung_view from, to;
  rowmeans_problem problem;
  if ((status = rung_view_of(error, "in", in, RUNG_SINGLE_DOUBLE, 2, &from)) != RUNG_OK ||
      (status = rung_view_of(error, "means", means, RUNG_TYPE(from.dtype), 1, &to)) != RUNG_OK ||
      (status = rowmeans_problem_of(error, from.shape[0], from.shape[1], from.dtype, &problem)) !=
          RUNG_OK)
    return status;
  if (to.shape[0] != problem.rows)
    return rung_fail(error, RUNG_BAD_SHAPE,
                     "means has %" PRId64 " elements: %" PRId64 ", the rows of in, are accepted",
                     to.shape[0], problem.rows);
  if ((status = rung_view_writable(error, "means", &to)) != RUNG_OK ||
      (status = rung_refuse_sides(error, "means", &to, "in", &from)) != RUNG_OK ||
      (status = rung_refuse_overlap(error, "means", &to, "in", &from, false)) != RUNG_OK)
    return status;
  rung_job job = {
      .operation = &rowmeans_operation,
      .task = {.problem = &problem, .arrays = {from, to}},
      .types = RUNG_ALIKE(problem.dtype),
      .inputs = 1,
      .arrays = 2,
      .names = array_names,
      .rows = problem.rows,
      .slice = slice,
  };
  return rung_run(context, &job, call);
}
