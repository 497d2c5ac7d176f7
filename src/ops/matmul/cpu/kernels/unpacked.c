/* Products that are better not packed: small ones, whose A and B stay in the caches as they lie,
 * and those of few rows or columns. */
#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/matmul/cpu/product.h"

enum {
  SMALL = 1 << 18, /* bytes of A and of B */
  NEAR = 1 << 16,  /* of a B whose columns are read fast as they lie; of a larger one so many rows
                      at least pay for packing a tile's columns */
  PAYS = 32,
  DEEP = 256, /* elements of k that a tile's columns are packed of, at most */
  FEW = 4     /* rows, whose chains do not fill a multiply-add's latency */
};

typedef struct product {
  const matmul_at *at;
  const matmul_kernels *of;
  int64_t block; /* rows, or columns, a chunk */
  bool plain, packs;
  matmul_thin thin;
} product;

/* ---- small ------------------------------------------------------------------------------------
 */

/* A tile's columns of B, from `first` on; so many of them are finished, from j on. The first
 * `whole` rows are read where they lie; the others, from there on, are packed. */
typedef struct panel {
  const char *b, *packed;
  int64_t b_row, whole, first, j, count, width;
} panel;

/* A row of fewer numbers than a vector has, of a tile whose rows are vectors. */
static inline void copy_row(char *to, const char *from, int64_t bytes) {
#if LANES_MASKS
  lanes_i32 row;
  memcpy(&row, from, sizeof row);
  lanes_store_some(to, row, (int)bytes);
#else
  for (; bytes >= 8; bytes -= 8, to += 8, from += 8) memcpy(to, from, 8);
  if (bytes > 0) memcpy(to, from, 4);
#endif
}

static void run_tile(const product *job, const panel *of, int64_t i, int64_t rows) {
  union {
    double aligned[MATMUL_TILE / 8];
    char bytes[MATMUL_TILE];
  } own;
  const matmul_at *at = job->at;
  const int64_t size = job->of->size, width = of->width, k = at->p->k;
  const bool direct = job->plain && at->p->n >= width;
  matmul_tile tile = {.rows = rows,
                      .k = of->whole,
                      .a = at->a + i * at->as.row * size,
                      .a_row = at->as.row,
                      .a_step = at->as.column,
                      .b = of->b,
                      .b_step = of->b_row,
                      .to = direct ? at->c + (i * at->c_row + of->first) * size : own.bytes,
                      .to_row = direct ? at->c_row : width,
                      .narrow = width < job->of->columns};
  if (of->whole > 0) job->of->tile(&tile);
  if (of->whole < k) {
    if (of->whole > 0) tile.from = tile.to;
    tile.from_row = tile.to_row;
    tile.a = (const char *)tile.a + of->whole * at->as.column * size;
    tile.b = of->packed;
    tile.b_step = job->of->columns;
    tile.k = k - of->whole;
    job->of->tile(&tile);
  }
  for (int64_t r = 0; r < rows && !direct; r++) {
    const char *from = &own.bytes[(r * width + of->j - of->first) * size];
    if (job->plain)
      copy_row(at->c + ((i + r) * at->c_row + of->j) * size, from, of->count * size);
    else
      RUNG_ENTRY(matmul_finish)(at, i + r, of->j, of->count, from);
  }
}

/* How many of B's rows are read where they lie. One that is shorter than a tile's columns is read
 * into the next ones, where B has no gaps, but for those at whose end nothing follows. */
static int64_t whole_rows(const product *job, int64_t width) {
  const matmul_at *at = job->at;
  const int64_t n = at->p->n, k = at->p->k;
  if (job->packs || at->bs.column != 1) return 0;
  if (n >= width) return k;
  if (at->bs.row != n) return 0;
  const int64_t last = (width - 1) / n; /* (width - n) / n, rounded up */
  return k > 2 * last ? k - last : 0;
}

/* Columns from j on, as many as a tile has, or half of them: the last together with those before
 * them, which are made twice. */
static void run_rows(void *arg, int64_t chunk, int thread) {
  union {
    double aligned[DEEP * 128 / 8];
    char bytes[DEEP * 128];
  } packed;
  const product *job = (const product *)arg;
  const matmul_at *at = job->at;
  const int64_t n = at->p->n, k = at->p->k, columns = job->of->columns, most = job->of->rows;
  const int64_t whole = n < columns ? columns / 2 : columns;
  const int64_t first = chunk * job->block, end = matmul_least(first + job->block, at->p->m);
  (void)thread;
  for (int64_t j = 0; j < n; j += whole) {
    panel of = {
        .b_row = at->bs.row, .packed = packed.bytes, .j = j, .count = matmul_least(whole, n - j)};
    of.width = of.count <= columns / 2 ? columns / 2 : columns;
    of.first = n < of.width ? 0 : matmul_least(j, n - of.width);
    of.b = at->b + of.first * job->of->size;
    of.whole = whole_rows(job, of.width);
    if (of.whole < k) {
      const matmul_packing what = {at,       of.first,     matmul_least(whole, n - of.first),
                                   of.whole, k - of.whole, packed.bytes};
      job->of->pack_b(&what);
    }
    for (int64_t i = first, rows; i < end; i += rows) {
      /* Two tiles of few rows take as long as one: the last two are as high as each other. */
      rows =
          end - i > most && end - i < most + FEW ? (end - i + 1) / 2 : matmul_least(most, end - i);
      run_tile(job, &of, i, rows);
    }
  }
}

static void run_small(product *job, int threads) {
  const matmul_problem *p = job->at->p;
  const int64_t rows = job->of->rows, each = (p->m + threads - 1) / threads;
  job->packs = p->k * p->n * job->of->size > NEAR && p->m >= PAYS && p->k <= DEEP;
  job->block = (each + rows - 1) / rows * rows;
  rung_parallel(threads, (p->m + job->block - 1) / job->block, run_rows, job);
}

/* Whether A and B stay in the caches as they lie, or each is read but once; of B no more is packed
 * than there is room for. */
static bool is_small(const product *job) {
  const matmul_problem *p = job->at->p;
  const int64_t size = job->of->size, columns = job->of->columns;
  if (p->k - whole_rows(job, columns / 2) > DEEP) return false;
  return (p->k * p->n * size <= SMALL && p->m * p->k * size <= SMALL) ||
         (p->n <= columns && p->m <= 2 * job->of->rows);
}

/* ---- few rows, or columns ----------------------------------------------------------------------
 */

/* A row of C, of which element r is of row r of the chains. */
static void finish_turned(const product *job, int64_t i, const char *chains, int64_t row) {
  const matmul_at *at = job->at;
  const int64_t size = job->of->size, n = job->thin.rows;
  union {
    double aligned[MATMUL_COLUMN / 8];
    char bytes[MATMUL_COLUMN];
  } own;
  char *to = job->plain ? at->c + i * at->c_row * size : own.bytes;
  if (size == 4)
    for (int64_t r = 0; r < n; r++) memcpy(to + r * 4, chains + r * row * 4, 4);
  else
    for (int64_t r = 0; r < n; r++) memcpy(to + r * 8, chains + r * row * 8, 8);
  if (!job->plain) RUNG_ENTRY(matmul_finish)(at, i, 0, n, own.bytes);
}

static void run_strip(void *arg, int64_t chunk, int thread) {
  union {
    double aligned[MATMUL_STRIP / 8];
    char bytes[MATMUL_STRIP];
  } chains;
  const product *job = (const product *)arg;
  const matmul_thin *thin = &job->thin;
  const int64_t j = chunk * job->block, n = matmul_least(job->block, thin->columns - j);
  const int64_t row = (n + 15) / 16 * 16, size = job->of->size;
  (void)thread;
  job->of->thin(thin, j, n, chains.bytes, row);
  if (thin->turned)
    for (int64_t i = 0; i < n; i++) finish_turned(job, j + i, chains.bytes + i * size, row);
  else
    for (int64_t i = 0; i < thin->rows; i++)
      RUNG_ENTRY(matmul_finish)(job->at, i, j, n, chains.bytes + i * row * size);
}

static void run_thin(product *job, int threads) {
  const matmul_thin *thin = &job->thin;
  const int64_t grain = thin->many_column == 1 ? 64 : 32;
  const int64_t shares = threads > 1 ? 2 * threads : 1;
  const int64_t each = (thin->columns + shares - 1) / shares;
  const int64_t most = MATMUL_STRIP / job->of->size / thin->rows / grain * grain;
  job->block = matmul_least(most, (each + grain - 1) / grain * grain);
  rung_parallel(threads, (thin->columns + job->block - 1) / job->block, run_strip, job);
}

static bool fits(const product *job, const matmul_thin *thin) {
  const int64_t size = job->of->size;
  const bool few = thin->rows <= MATMUL_THIN, some = thin->rows * size <= MATMUL_COLUMN;
  const bool near = thin->k * 64 * size <= MATMUL_NEAR;
  if (thin->many_column != 1) return thin->many_step == 1 && some;
  return (few || (some && near)) && thin->columns > job->of->columns;
}

/* Sets what is few and what is many: as A and B are or, where that is better, C turned. */
static bool find_thin(product *job) {
  const matmul_at *at = job->at;
  const matmul_problem *p = at->p;
  const matmul_thin rows = {.rows = p->m,
                            .columns = p->n,
                            .k = p->k,
                            .few = at->a,
                            .many = at->b,
                            .few_row = at->as.row,
                            .few_step = at->as.column,
                            .many_column = at->bs.column,
                            .many_step = at->bs.row},
                    columns = {.rows = p->n,
                               .columns = p->m,
                               .k = p->k,
                               .few = at->b,
                               .many = at->a,
                               .few_row = at->bs.column,
                               .few_step = at->bs.row,
                               .many_column = at->as.row,
                               .many_step = at->as.column,
                               .turned = true};
  if (job->of->thin == NULL) return false;
  job->thin = p->n < p->m ? columns : rows;
  if (fits(job, &job->thin)) return true;
  job->thin = p->n < p->m ? rows : columns;
  return fits(job, &job->thin);
}

/* ---- which ------------------------------------------------------------------------------------
 */

static void run_empty(const matmul_at *at) {
  static const double zeros[64];
  const matmul_problem *p = at->p;
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j += 64)
      RUNG_ENTRY(matmul_finish)(at, i, j, matmul_least(64, p->n - j), zeros);
}

bool RUNG_ENTRY(matmul_unpacked)(const matmul_at *at, int threads) {
  const matmul_problem *p = at->p;
  product job = {.at = at, .of = matmul_kernels_of(p)};
  job.plain = matmul_is_plain(at);
  if (p->k == 0)
    run_empty(at);
  else if (at->size != job.of->size)
    return false;
  else if (find_thin(&job) && (job.thin.rows <= MATMUL_THIN || !is_small(&job)))
    run_thin(&job, threads);
  else if (is_small(&job))
    run_small(&job, threads);
  else
    return false;
  return true;
}
