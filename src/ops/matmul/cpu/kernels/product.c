/* A product by tiles. Large ones by blocks of k: B's is packed by all threads, then each takes
 * blocks of A's rows, packs them and makes the tiles. A tile's chains are loaded at the begin of
 * each block of k and stored at its end, so that they stay one chain. */
#include "ops/matmul/cpu/product.h"
#include "backend/cpu/parallel.h"

typedef struct product {
  const matmul_kernels *of;
  matmul_at at;
  int threads;
  char *b, *a, *parked;
  size_t a_bytes;
  bool plain;
  /* Of the chains so far, where there is more than one block of k: C, or parked ones. */
  char *chains;
  int64_t chains_row, chains_first; /* the first column's */
  int64_t j, n;                     /* the columns under way */
  int64_t l, k;                     /* and the block of k */
  int64_t most;                     /* rows of a block */
  int64_t row_blocks, groups, group;
} product;

void RUNG_ENTRY(matmul_finish)(const matmul_at *at, int64_t i, int64_t j, int64_t n,
                               const void *t) {
  matmul_finish_row(at, i, j, n, t);
}

/* ---- a tile -----------------------------------------------------------------------------------
 */

/* The tile whose element 0 is row i, column j of C; `tile` says all but from and to. */
static void run_tile(const product *job, int64_t i, int64_t j, int64_t columns, matmul_tile *tile) {
  union {
    double aligned[MATMUL_TILE / 8];
    char bytes[MATMUL_TILE];
  } own;
  const matmul_problem *p = job->at.p;
  const int64_t size = job->of->size, width = job->of->columns;
  const bool first = job->l == 0, last = job->l + job->k >= p->k;
  char *c = job->at.c + (i * job->at.c_row + j) * job->at.result_size;
  char *chains = NULL;
  if (!first || !last) chains = job->chains + (i * job->chains_row + j - job->chains_first) * size;
  const bool whole = columns == width && (!last || job->plain);
  tile->from = tile->to = own.bytes;
  tile->from_row = tile->to_row = width;
  if (columns == width) {
    tile->from = chains;
    tile->from_row = job->chains_row;
  } else if (!first) {
    for (int64_t r = 0; r < tile->rows; r++)
      memcpy(&own.bytes[r * width * size], chains + r * job->chains_row * size,
             (size_t)(columns * size));
  }
  if (first) tile->from = NULL;
  if (whole) {
    tile->to = last ? c : chains;
    tile->to_row = last ? job->at.c_row : job->chains_row;
  }
  tile->below = whole && p->k > MATMUL_K;
  tile->narrow = columns <= width / 2;
  job->of->tile(tile);
  for (int64_t r = 0; r < tile->rows && !whole; r++) {
    const char *row = &own.bytes[r * width * size];
    if (last)
      RUNG_ENTRY(matmul_finish)(&job->at, i + r, j, columns, row);
    else
      memcpy(chains + r * job->chains_row * size, row, (size_t)(columns * size));
  }
}

/* ---- packed -----------------------------------------------------------------------------------
 */

/* Panels of B that a thread packs at a time. */
enum { PANELS = 4 };

static void pack_panels(void *arg, int64_t chunk, int thread) {
  const product *job = (const product *)arg;
  const int64_t most = PANELS * job->of->columns, j = chunk * most;
  const matmul_packing what = {.at = &job->at,
                               .first = job->j + j,
                               .count = matmul_least(most, job->n - j),
                               .from = job->l,
                               .k = job->k,
                               .to = job->b + j * job->k * job->of->size};
  (void)thread;
  job->of->pack_b(&what);
}

/* Blocks of whole tiles but for the last one's end, as even as can be. */
static int64_t first_row(const product *job, int64_t block) {
  const int64_t rows = job->of->rows, tiles = (job->at.p->m + rows - 1) / rows;
  return matmul_least(tiles * block / job->row_blocks * rows, job->at.p->m);
}

/* A block of A's rows with a group of B's panels. Threads begin at panels apart from each other: at
 * the same one, each would wait for what the other has just taken out of the shared cache. */
static void run_block(void *arg, int64_t chunk, int thread) {
  const product *job = (const product *)arg;
  const int64_t size = job->of->size, rows = job->of->rows, width = job->of->columns;
  const int64_t block = chunk % job->row_blocks, group = chunk / job->row_blocks;
  const int64_t i = first_row(job, block), count = first_row(job, block + 1) - i;
  const int64_t first = group * job->group, end = matmul_least(job->n, first + job->group);
  const int64_t panels = (end - first + width - 1) / width, begin = panels * thread / job->threads;
  char *a = job->a + (size_t)thread * job->a_bytes;
  const matmul_packing what = {&job->at, i, count, job->l, job->k, a};
  job->of->pack_a(&what);
  for (int64_t p = begin; p < begin + panels; p++) {
    const int64_t j = first + p % panels * width;
    for (int64_t r = 0; r < count; r += rows) {
      matmul_tile tile = {.rows = matmul_least(rows, count - r),
                          .k = job->k,
                          .a = a + r * job->k * size,
                          .a_row = 1,
                          .a_step = rows,
                          .b = job->b + j * job->k * size,
                          .b_step = width};
      run_tile(job, i + r, job->j + j, matmul_least(width, end - j), &tile);
    }
  }
}

/* How the rows, and where there are too few of them for all threads the columns, are dealt out. */
static void deal(product *job) {
  const int64_t rows = job->of->rows, width = job->of->columns, m = job->at.p->m;
  const int64_t panels = (job->n + width - 1) / width, most = job->most * job->threads;
  const int64_t blocks = (m + most - 1) / most * job->threads; /* as many for each thread */
  job->row_blocks = matmul_least(blocks, (m + rows - 1) / rows);
  job->groups = matmul_least(panels, (2 * job->threads + job->row_blocks - 1) / job->row_blocks);
  if (job->threads == 1 || job->row_blocks >= 2 * job->threads) job->groups = 1;
  job->group = (panels + job->groups - 1) / job->groups * width;
  job->groups = (job->n + job->group - 1) / job->group;
}

static void run_packed(product *job) {
  const matmul_problem *p = job->at.p;
  const int64_t panels = PANELS * job->of->columns;
  for (job->j = 0; job->j < p->n; job->j += MATMUL_N) {
    job->n = matmul_least(MATMUL_N, p->n - job->j);
    if (job->parked != NULL) {
      job->chains = job->parked;
      job->chains_row = job->n;
      job->chains_first = job->j;
    }
    deal(job);
    for (job->l = 0; job->l < p->k; job->l += MATMUL_K) {
      job->k = matmul_least(MATMUL_K, p->k - job->l);
      rung_parallel(job->threads, (job->n + panels - 1) / panels, pack_panels, job);
      rung_parallel(job->threads, job->row_blocks * job->groups, run_block, job);
    }
  }
}

/* ---- a batch ----------------------------------------------------------------------------------
 */

/* Matrix number `batch`, with scratch of so many threads from `scratch` on. */
static void run_one(const rung_task *task, int64_t batch, int threads, char *scratch) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_scratch parts = matmul_scratch_of(task);
  product job = {.at = matmul_matrix(task, batch), .threads = threads};
  if (RUNG_ENTRY(matmul_unpacked)(&job.at, threads)) return;
  job.of = matmul_kernels_of(p);
  job.most = matmul_block_rows(task->device, job.of->size);
  job.b = scratch;
  job.a = scratch + parts.b;
  job.a_bytes = parts.a;
  job.parked = parts.parked > 0 ? job.a + (size_t)threads * parts.a : NULL;
  job.chains = job.at.c;
  job.chains_row = job.at.c_row;
  job.plain = matmul_is_plain(&job.at);
  run_packed(&job);
}

/* `count` matrices from `first` on; false: they are not such as are made at once. A row times a
 * matrix whose columns go on in memory is as good as that, turned, times a column. */
static bool run_few(const rung_task *task, int64_t first, int64_t count) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_kernels *of = matmul_kernels_of(p);
  if (of->few == NULL || p->k == 0 || p->k > MATMUL_FEW || p->m > MATMUL_FEW || p->n > MATMUL_FEW)
    return false;
  const matmul_at at = matmul_matrix(task, first);
  const bool turned = p->m == 1 && at.bs.row == 1;
  if (!matmul_is_plain(&at) || at.size != of->size) return false;
  matmul_few all = {count, p->m, p->n,  p->k,  at.a,
                    at.b,  at.c, at.as, at.bs, matmul_steps_of(&task->arrays[MATMUL_C], false)};
  if (turned) {
    all.m = p->n;
    all.n = 1;
    all.a = at.b;
    all.b = at.a;
    all.as = (matmul_steps){at.bs.batch, at.bs.column, at.bs.row};
    all.bs = (matmul_steps){at.as.batch, at.as.column, at.as.row};
    all.cs.row = 1;
  } else if ((at.bs.column != 1 && p->n > 1) || p->n > of->columns) {
    return false;
  }
  of->few(&all);
  return true;
}

typedef struct dealt {
  const rung_task *task;
  int64_t each; /* matrices a chunk */
} dealt;

static void run_some(void *arg, int64_t chunk, int thread) {
  const dealt *job = (const dealt *)arg;
  const matmul_problem *p = (const matmul_problem *)job->task->problem;
  const int64_t first = chunk * job->each, end = matmul_least(first + job->each, p->batch);
  char *scratch =
      (char *)job->task->scratch + (size_t)thread * matmul_product_scratch(job->task, 1);
  if (run_few(job->task, first, end - first)) return;
  for (int64_t b = first; b < end; b++) run_one(job->task, b, 1, scratch);
}

rung_status RUNG_ENTRY(matmul_product)(const rung_task *task, int threads) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const double work = p->flops / 2 / (double)p->batch;
  if (threads > 1 && matmul_deals(p)) {
    const double most = ceil(MATMUL_ALONE / (work + 1)),
                 even = (double)p->batch / (4.0 * threads) + 1;
    dealt job = {task, (int64_t)(most < even ? most : even)};
    rung_parallel(threads, (p->batch + job.each - 1) / job.each, run_some, &job);
    return RUNG_OK;
  }
  if (run_few(task, 0, p->batch)) return RUNG_OK;
  for (int64_t b = 0; b < p->batch; b++)
    run_one(task, b, work <= MATMUL_ALONE ? 1 : threads, (char *)task->scratch);
  return RUNG_OK;
}
