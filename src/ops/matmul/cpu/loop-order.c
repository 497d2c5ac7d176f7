/* The loops the other way round: a row of A after the other, and for each of its elements all of a
 * row of B. A row of chains goes on at once, side by side in vectors, and B is read as it lies in
 * memory; but for every row of A all of B comes in again. */
#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "ops/matmul/cpu/place.h"

/* t[0 ... n) = fma(a, a row of B, t); B's elements are `step` apart. */
#define MULTIPLY(name, type, lanes, LANES, LOAD, STORE, ALL, FMA, fma)        \
  static void name(type a, const type *b, int64_t step, int64_t n, type *t) { \
    int64_t j = 0;                                                            \
    const lanes all = ALL(a);                                                 \
    for (; step == 1 && j + (LANES) <= n; j += (LANES))                       \
      STORE(t + j, FMA(all, LOAD(b + j), LOAD(t + j)));                       \
    for (; j < n; j++) t[j] = fma(a, b[j * step], t[j]);                      \
  }
MULTIPLY(multiply_f32, float, lanes_f32, LANES_F32, lanes_load_f32, lanes_store_f32, lanes_all_f32,
         lanes_fma_f32, fmaf)
MULTIPLY(multiply_f64, double, lanes_f64, LANES_F64, lanes_load_f64, lanes_store_f64, lanes_all_f64,
         lanes_fma_f64, fma)

static void row(const matmul_at *at, int64_t i, void *t) {
  const matmul_problem *p = at->p;
  const int64_t first = i * at->as.row;
  memset(t, 0, (size_t)(p->n * at->size));
  for (int64_t l = 0; l < p->k; l++) {
    const int64_t a = first + l * at->as.column, b = l * at->bs.row;
    if (p->types.in == RUNG_F64)
      multiply_f64(((const double *)at->a)[a], (const double *)at->b + b, at->bs.column, p->n,
                   (double *)t);
    else
      multiply_f32(((const float *)at->a)[a], (const float *)at->b + b, at->bs.column, p->n,
                   (float *)t);
  }
  matmul_finish_row(at, i, 0, p->n, t);
}

rung_status RUNG_ENTRY(matmul_loop_order)(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  for (int64_t batch = 0; batch < p->batch; batch++) {
    const matmul_at at = matmul_matrix(task, batch);
    for (int64_t i = 0; i < p->m; i++) row(&at, i, task->scratch);
  }
  return RUNG_OK;
}
