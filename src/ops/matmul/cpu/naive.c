/* The textbook: for every element a loop over k. Each multiply-add waits for the one before, and of
 * B a whole line of memory is brought in for every element. */
#include "backend/cpu/isa.h"
#include "ops/matmul/cpu/place.h"

/* A chain: k elements of a row of A and of a column of B, so far apart. */
#define CHAIN(name, element, total, LOAD, FMA)                                                   \
  static total name(const char *a, int64_t a_step, const char *b, int64_t b_step, int64_t k,     \
                    bool bfloat) {                                                               \
    const element *x = (const element *)a, *y = (const element *)b;                              \
    total t = 0;                                                                                 \
    (void)bfloat;                                                                                \
    for (int64_t l = 0; l < k; l++) t = FMA((total)LOAD(x[l * a_step]), LOAD(y[l * b_step]), t); \
    return t;                                                                                    \
  }
#define SAME(x) (x)
#define FROM_HALF(x) rung_half_to_f32(x, bfloat)
#define MODULAR(a, b, t) ((a) * (uint32_t)(b) + (t))
CHAIN(chain_f32, float, float, SAME, fmaf)
CHAIN(chain_f64, double, double, SAME, fma)
CHAIN(chain_half, uint16_t, float, FROM_HALF, fmaf)
CHAIN(chain_i8, int8_t, uint32_t, SAME, MODULAR)

static void element(const matmul_at *at, int64_t i, int64_t j) {
  const char *a = at->a + i * at->as.row * at->size, *b = at->b + j * at->bs.column * at->size;
  const int64_t k = at->p->k, along_a = at->as.column, along_b = at->bs.row;
  union {
    float f32;
    double f64;
    uint32_t u32;
  } t;
  switch (at->p->types.in) {
    case RUNG_F32:
      t.f32 = chain_f32(a, along_a, b, along_b, k, false);
      break;
    case RUNG_F64:
      t.f64 = chain_f64(a, along_a, b, along_b, k, false);
      break;
    case RUNG_I8:
      t.u32 = chain_i8(a, along_a, b, along_b, k, false);
      break;
    default:
      t.f32 = chain_half(a, along_a, b, along_b, k, at->p->types.in == RUNG_BF16);
  }
  matmul_finish_row(at, i, j, 1, &t);
}

rung_status RUNG_ENTRY(matmul_naive)(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  for (int64_t batch = 0; batch < p->batch; batch++) {
    const matmul_at at = matmul_matrix(task, batch);
    for (int64_t i = 0; i < p->m; i++)
      for (int64_t j = 0; j < p->n; j++) element(&at, i, j);
  }
  return RUNG_OK;
}
