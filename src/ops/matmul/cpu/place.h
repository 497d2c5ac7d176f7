/* One matrix of a batch, as CPU rungs see it. */
#ifndef RUNG_MATMUL_CPU_PLACE_H
#define RUNG_MATMUL_CPU_PLACE_H

#include "ops/matmul/finish.h"
#include "ops/matmul/matmul.h"

typedef struct matmul_at {
  const matmul_problem *p;
  const char *a, *b, *added; /* added: NULL, or what is */
  char *c;
  matmul_steps as, bs; /* in elements; of added and C rows only, whose columns go on */
  int64_t added_row, c_row;
  int64_t size, result_size; /* bytes */
} matmul_at;

typedef bool matmul_unpacked(const matmul_at *at, int threads);

static inline matmul_at matmul_matrix(const rung_task *task, int64_t batch) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const rung_view *arrays = task->arrays;
  const matmul_steps as = matmul_steps_of(&arrays[MATMUL_A], p->a_turned),
                     bs = matmul_steps_of(&arrays[MATMUL_B], p->b_turned),
                     ds = matmul_steps_of(&arrays[MATMUL_ADDED], false),
                     cs = matmul_steps_of(&arrays[MATMUL_C], false);
  const int64_t size = (int64_t)rung_dtype_bytes(p->types.in),
                result_size = (int64_t)rung_dtype_bytes(p->types.out);
  matmul_at at = {.p = p, .as = as, .bs = bs, .size = size, .result_size = result_size};
  if (p->k > 0) {
    at.a = arrays[MATMUL_A].data + batch * as.batch * size;
    at.b = arrays[MATMUL_B].data + batch * bs.batch * size;
  }
  if (arrays[MATMUL_ADDED].count > 0)
    at.added = arrays[MATMUL_ADDED].data + batch * ds.batch * result_size;
  at.added_row = ds.row;
  at.c = arrays[MATMUL_C].data + batch * cs.batch * result_size;
  at.c_row = cs.row;
  return at;
}

/* Whether a chain is its result. */
static inline bool matmul_is_plain(const matmul_at *at) {
  const matmul_problem *p = at->p;
  return at->added == NULL && p->types.out == p->types.accumulate && p->alpha == 1;
}

/* Chains of n elements of row i of C, from column j on, to their places. `t` is of the sum's type.
 */
static inline void matmul_finish_row(const matmul_at *at, int64_t i, int64_t j, int64_t n,
                                     const void *t) {
  const matmul_problem *p = at->p;
  const char *added = NULL;
  char *c = at->c + (i * at->c_row + j) * at->result_size;
  if (at->added != NULL) added = at->added + (i * at->added_row + j) * at->result_size;
  switch (p->types.out) {
    case RUNG_F32:
      for (int64_t x = 0; x < n; x++)
        matmul_finish_f32(((const float *)t)[x], (float)p->alpha, (float)p->beta, added, c, x);
      break;
    case RUNG_F64:
      for (int64_t x = 0; x < n; x++)
        matmul_finish_f64(((const double *)t)[x], p->alpha, p->beta, added, c, x);
      break;
    case RUNG_I32:
      for (int64_t x = 0; x < n; x++)
        matmul_finish_u32(((const uint32_t *)t)[x], (uint32_t)(int64_t)p->alpha,
                          (uint32_t)(int64_t)p->beta, added, c, x);
      break;
    default:
      for (int64_t x = 0; x < n; x++)
        matmul_finish_half(((const float *)t)[x], (float)p->alpha, (float)p->beta,
                           p->types.out == RUNG_BF16, added, c, x);
  }
}

#endif
