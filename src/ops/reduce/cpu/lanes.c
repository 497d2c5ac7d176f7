/* The canonical order, by one thread: a line's 2048 running sums live in vector registers, strip by
 * strip, and lines that lie side by side are the lanes of a vector themselves. Integers, and the
 * keys that minima are found by, need no order and are the compiler's to make vectors of. */
#include "backend/cpu/isa.h"
#include "ops/reduce/cpu/fold.h"

rung_status RUNG_ENTRY(reduce_lanes)(const rung_task *task) {
  const reduce_problem *problem = (const reduce_problem *)task->problem;
  const reduce_layout layout = reduce_layout_of(task);
  const reduce_operator op = reduce_operator_of(problem);
  const rung_dtype type = reduce_partial_of(op);
  const reduce_end end = reduce_end_of(problem);
  const int64_t size = (int64_t)rung_dtype_bytes(problem->dtype);
  const int64_t partial = (int64_t)rung_dtype_bytes(type);
  const char *in = task->arrays[REDUCE_IN].data;
  char *out = task->arrays[REDUCE_OUT].data;
  reduce_partials partials;
  for (int64_t o = 0; o < problem->outer; ++o)
    for (int64_t i = 0; i < problem->inner; i += REDUCE_STRIP) {
      const int64_t left = problem->inner - i;
      const int width = left < REDUCE_STRIP ? (int)left : REDUCE_STRIP;
      const char *from = problem->columns > 0 ? in + (o * layout.in_outer + i) * size : NULL;
      if (problem->form == REDUCE_ACROSS)
        reduce_folds[op].across(from, layout.in_column, problem->columns, width, &end.key,
                                &partials);
      else
        reduce_folds[op].line(from, problem->columns, &end.key, &partials);
      for (int w = 0; w < width; ++w)
        reduce_finish_any(&end, type, (const char *)&partials + w * partial, out,
                          o * layout.out_outer + i + w);
    }
  return RUNG_OK;
}
