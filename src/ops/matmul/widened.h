/* Products of f16 and bf16 as products of f32: where the copies lie, and what follows what. A copy
 * has the order of what it was made of. For the host and for kernels' launches. */
#ifndef RUNG_MATMUL_WIDENED_H
#define RUNG_MATMUL_WIDENED_H

#include "ops/matmul/matmul.h"

/* Rows shorter than this go on without gaps in a copy where they do so in the array: up to three
 * numbers behind each would be many. Longer ones all begin at a multiple of 16 bytes. */
enum { MATMUL_WIDENED_SHORT = 32 };

typedef struct matmul_copy {
  int64_t matrices, rows, columns; /* 0 matrices: there is none */
  int64_t pitch;                   /* from a row to the next */
  bool whole;                      /* neither the array nor its copy has gaps */
  rung_view view;                  /* in scratch */
} matmul_copy;

typedef struct matmul_widened {
  matmul_copy a, b;
  matmul_copy chains; /* C before it is rounded: none where C is of f32 */
  size_t bytes;       /* of scratch */
} matmul_widened;

static inline matmul_copy matmul_copy_like(const rung_view *view, int64_t batch) {
  const int last = view->ndim - 1;
  const matmul_steps steps = matmul_steps_of(view, false);
  matmul_copy copy = {0, 0, 0, 0, true, *view};
  if (view->count == 0) return copy;
  copy.matrices = steps.batch == 0 ? 1 : batch;
  copy.rows = view->shape[last - 1];
  copy.columns = view->shape[last];
  copy.whole = (copy.columns % 4 == 0 || copy.columns < MATMUL_WIDENED_SHORT) &&
               (copy.rows == 1 || steps.row == copy.columns) &&
               (copy.matrices == 1 || steps.batch == copy.rows * copy.columns);
  copy.pitch = copy.whole ? copy.columns : (copy.columns + 3) / 4 * 4;
  return copy;
}

/* `at`: where in scratch it begins, then where the next one does. */
static inline void matmul_place_copy(const rung_task *task, matmul_copy *copy, size_t *at) {
  rung_view *view = &copy->view;
  const int ndim = copy->matrices > 1 ? 3 : 2, last = ndim - 1;
  view->dtype = RUNG_F32;
  if (copy->matrices == 0) return;
  view->data = (char *)((uintptr_t)task->scratch + *at);
  view->ndim = ndim;
  view->shape[0] = copy->matrices;
  view->stride[0] = copy->rows * copy->pitch;
  view->shape[last - 1] = copy->rows;
  view->stride[last - 1] = copy->pitch;
  view->shape[last] = copy->columns;
  view->stride[last] = 1;
  view->count = copy->matrices * copy->rows * copy->columns;
  *at += ((size_t)copy->matrices * (size_t)copy->rows * (size_t)copy->pitch * sizeof(float) + 255) /
         256 * 256;
}

/* Not yet placed. C is walked through with what is added to it. */
static inline matmul_copy matmul_chains_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  matmul_copy chains = matmul_copy_like(&task->arrays[MATMUL_C], p->batch);
  if (!matmul_copy_like(&task->arrays[MATMUL_ADDED], p->batch).whole) chains.whole = false;
  if (!chains.whole) chains.pitch = (chains.columns + 3) / 4 * 4;
  return chains;
}

static inline matmul_widened matmul_widened_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  matmul_widened of;
  of.a = matmul_copy_like(&task->arrays[MATMUL_A], p->batch);
  of.b = matmul_copy_like(&task->arrays[MATMUL_B], p->batch);
  of.chains = matmul_chains_of(task);
  of.bytes = 0;
  if (p->types.out == RUNG_F32) of.chains.matrices = 0;
  matmul_place_copy(task, &of.a, &of.bytes);
  matmul_place_copy(task, &of.b, &of.bytes);
  matmul_place_copy(task, &of.chains, &of.bytes);
  return of;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the copies: the best rung of f32. */
rung_status matmul_after_widening(const rung_task *task, rung_step *step);
/* Behind a rung of f32: of a product of halves whose results are halves its end, which is the
 * second task that `widened` knows, of f32 chains in the place of A. */
rung_status matmul_after_chains(const rung_task *task, rung_step *step);

#ifdef __cplusplus
}
#endif

#endif
