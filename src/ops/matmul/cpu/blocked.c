/* Blocks of C whose chains stay in the first-level cache while all of k goes by: a piece of a row
 * of B that comes in serves all rows of the block. Memory is asked for B a sixteenth as often;
 * every multiply-add still loads and stores its chain. */
#include "backend/cpu/isa.h"
#include "backend/cpu/lanes.h"
#include "ops/matmul/cpu/place.h"

enum { ROWS = 16, BYTES = 1024 }; /* of a block: so many rows of so many bytes */

/* A block's rows from i on, its columns from j on; t: (rows, columns) chains, without gaps. */
typedef struct block {
  const matmul_at *at;
  int64_t i, j, rows, columns;
} block;

#define BLOCK(name, type, lanes, LANES, LOAD, STORE, ALL, FMA, fma)       \
  static void name(const block *of, type *t) {                            \
    const matmul_at *at = of->at;                                         \
    const type *a = (const type *)at->a, *b = (const type *)at->b;        \
    const int64_t n = of->columns, step = at->bs.column;                  \
    for (int64_t l = 0; l < at->p->k; l++) {                              \
      const type *line = b + l * at->bs.row + of->j * step;               \
      for (int64_t i = 0; i < of->rows; i++) {                            \
        const type x = a[(of->i + i) * at->as.row + l * at->as.column];   \
        const lanes all = ALL(x);                                         \
        type *chains = t + i * n;                                         \
        int64_t j = 0;                                                    \
        for (; step == 1 && j + (LANES) <= n; j += (LANES))               \
          STORE(chains + j, FMA(all, LOAD(line + j), LOAD(chains + j)));  \
        for (; j < n; j++) chains[j] = fma(x, line[j * step], chains[j]); \
      }                                                                   \
    }                                                                     \
  }
BLOCK(block_f32, float, lanes_f32, LANES_F32, lanes_load_f32, lanes_store_f32, lanes_all_f32,
      lanes_fma_f32, fmaf)
BLOCK(block_f64, double, lanes_f64, LANES_F64, lanes_load_f64, lanes_store_f64, lanes_all_f64,
      lanes_fma_f64, fma)

static void run(const block *of) {
  union {
    float f32[ROWS * BYTES / 4];
    double f64[ROWS * BYTES / 8];
    char bytes[ROWS * BYTES];
  } t;
  const int64_t size = of->at->size;
  memset(&t, 0, (size_t)(of->rows * of->columns * size));
  if (size == 8)
    block_f64(of, t.f64);
  else
    block_f32(of, t.f32);
  for (int64_t i = 0; i < of->rows; i++)
    matmul_finish_row(of->at, of->i + i, of->j, of->columns, &t.bytes[i * of->columns * size]);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

rung_status RUNG_ENTRY(matmul_blocked)(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  for (int64_t batch = 0; batch < p->batch; batch++) {
    const matmul_at at = matmul_matrix(task, batch);
    const int64_t columns = BYTES / at.size;
    for (int64_t j = 0; j < p->n; j += columns)
      for (int64_t i = 0; i < p->m; i += ROWS) {
        const block of = {&at, i, j, least(ROWS, p->m - i), least(columns, p->n - j)};
        run(&of);
      }
  }
  return RUNG_OK;
}
