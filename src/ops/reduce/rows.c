/* Which arrays single-pass, and which lines subwarp, takes with their gaps. */
#include "ops/reduce/reduce.h"

/* Rows and planes are counted in 32 bits. */
static bool is_counted(int64_t extent, int64_t least) {
  return extent >= least && extent <= INT32_MAX;
}

bool reduce_has_rows(const rung_task *task, reduce_rows *rows) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const rung_view *in = &task->arrays[REDUCE_IN];
  const int last = in->ndim - 1;
  if (problem->form != REDUCE_PACKED || problem->outer != 1 || in->ndim < 2 || in->ndim > 3 ||
      in->stride[last] != 1 || rung_view_is_compact(in) || problem->columns < REDUCE_ROWS_LEAST ||
      !is_counted(in->shape[last], REDUCE_ROW))
    return false;
  const int64_t width = in->shape[last], pitch = in->stride[last - 1];
  int64_t height = INT32_MAX, plane_gap = 0; /* one plane of as many rows as there are */
  if (in->ndim == 3) {
    height = in->shape[1];
    plane_gap = in->stride[0] - height * pitch;
  }
  if (!is_counted(height, REDUCE_ROWS)) return false;
  if (rows != NULL) *rows = (reduce_rows){width, height, pitch - width, plane_gap};
  return true;
}

bool reduce_has_planes(const rung_task *task, reduce_planes *planes) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const rung_view *in = &task->arrays[REDUCE_IN];
  if (problem->form != REDUCE_PACKED || problem->outer == 1 || in->ndim != 3 ||
      in->stride[2] != 1 || rung_view_is_compact(in))
    return false;
  if (planes != NULL)
    *planes =
        (reduce_planes){in->shape[1], in->stride[1], in->stride[0] - in->shape[1] * in->stride[1]};
  return true;
}
