/* Fixed point on all cores: digits in packed panels, and tiles of whole-number sums in registers. A
 * block of C is made at a time, its sums in 64 bits beside it, along all of k. */
#include "backend/cpu/parallel.h"
#include "ops/matmul/cpu/dots.h"
#include "ops/matmul/cpu/product.h"

/* Of a block's packed digits, along MATMUL_DOTS_K, A's have 96 KiB in four digits of bytes and B's
 * 256, which the second-level cache holds; whole panels of every kernel. */
enum { BLOCK_ROWS = 48, BLOCK_COLUMNS = 128 };

/* One operand's panels in scratch. */
typedef struct panels {
  int64_t matrices, panels, lines; /* of the batch, of a matrix, of a panel */
  size_t bytes;                    /* of a panel */
  size_t digits, largest, less;    /* where these begin */
} panels;

typedef struct layout {
  const matmul_dots *by;
  int digits;
  int64_t groups;
  panels a, b;
  size_t sums, bytes; /* a thread's, from there on; all */
} layout;

static panels place(const layout *of, int64_t matrices, int64_t lines, int64_t panel, size_t at) {
  const int64_t count = (lines + panel - 1) / panel;
  panels placed = {matrices, count, panel, (size_t)(of->groups * of->digits * panel * 4), at, 0, 0};
  placed.largest = at + matmul_whole_256(matrices * count * (int64_t)placed.bytes);
  placed.less = placed.largest + matmul_whole_256(matrices * count * panel * 4);
  return placed;
}

static size_t end_of(const panels *of) {
  return of->less + matmul_whole_256(of->matrices * of->panels * of->lines * 8);
}

static layout layout_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_planes planes = matmul_planes_of(task);
  layout of = {.by = RUNG_ENTRY(matmul_dots_here)(), .digits = planes.digits};
  of.groups = (p->k + of.by->group - 1) / of.by->group;
  of.a = place(&of, planes.a_matrices, p->m, of.by->rows, 0);
  of.b = place(&of, planes.b_matrices, p->n, of.by->columns, end_of(&of.a));
  of.sums = end_of(&of.b);
  of.bytes = of.sums + (size_t)task->device->threads * BLOCK_ROWS * BLOCK_COLUMNS * 8;
  return of;
}

size_t RUNG_ENTRY(matmul_packed_digits_scratch)(const rung_task *task);
size_t RUNG_ENTRY(matmul_packed_digits_scratch)(const rung_task *task) {
  return layout_of(task).bytes;
}

typedef struct work {
  const rung_task *task;
  layout of;
  int64_t down, across; /* blocks of a matrix */
} work;

/* ---- packing ----------------------------------------------------------------------------------
 */

static void pack_panel(void *arg, int64_t chunk, int thread) {
  const work *job = (const work *)arg;
  const matmul_problem *p = (const matmul_problem *)job->task->problem;
  const panels *a = &job->of.a, *b = &job->of.b;
  const int64_t of_a = a->matrices * a->panels;
  const bool is_b = chunk >= of_a;
  const panels *of = is_b ? b : a;
  const int64_t number = is_b ? chunk - of_a : chunk;
  const matmul_at at = matmul_matrix(job->task, number / of->panels);
  const matmul_lines lines = matmul_lines_of(&at, !is_b);
  char *scratch = (char *)job->task->scratch;
  (void)thread;
  job->of.by->pack(&lines, number % of->panels * of->lines, is_b, p->bits,
                   (uint32_t *)(scratch + of->largest) + number * of->lines,
                   (int64_t *)(scratch + of->less) + number * of->lines,
                   scratch + of->digits + (size_t)number * of->bytes);
}

/* ---- a block of C -----------------------------------------------------------------------------
 */

/* So many panels of A and B from these on, to sums in rows of BLOCK_COLUMNS. */
static void add_products(const layout *of, const char *a, int64_t a_panels, const char *b,
                         int64_t b_panels, int64_t *sums) {
  const int64_t most = MATMUL_DOTS_K / of->by->group;
  for (int64_t g = 0; g < of->groups; g += most) {
    const int64_t groups = matmul_least(most, of->groups - g);
    const size_t in_a = (size_t)(g * of->digits * of->by->rows * 4),
                 in_b = (size_t)(g * of->digits * of->by->columns * 4);
    for (int64_t j = 0; j < b_panels; j++)
      for (int64_t i = 0; i < a_panels; i++)
        of->by->tile[of->digits](
            a + (size_t)i * of->a.bytes + in_a, b + (size_t)j * of->b.bytes + in_b, groups,
            sums + i * of->by->rows * BLOCK_COLUMNS + j * of->by->columns, BLOCK_COLUMNS);
  }
}

typedef struct ended {
  int digits;
  const int64_t *sums;
  const uint32_t *a_largest, *b_largest;
  const int64_t *less; /* by rows */
} ended;

static void end_rows(const matmul_at *at, const ended *of, int64_t i, int64_t rows, int64_t j,
                     int64_t columns) {
  double powers[BLOCK_COLUMNS];
  float t[BLOCK_COLUMNS];
  for (int64_t c = 0; c < columns; c++) powers[c] = matmul_line_power(of->b_largest[c], 0);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t *sums = of->sums + r * BLOCK_COLUMNS, less = of->less[r];
    const uint32_t largest = of->a_largest[r];
    const double power = matmul_line_power(largest, -8 * of->digits - 4);
    if (at->p->k <= MATMUL_SHORT_K)
      for (int64_t c = 0; c < columns; c++) t[c] = matmul_short_t(sums[c] - less, power, powers[c]);
    else
      for (int64_t c = 0; c < columns; c++)
        t[c] = matmul_fixed_t(sums[c] - less, largest, of->b_largest[c], of->digits);
    RUNG_ENTRY(matmul_finish)(at, i + r, j, columns, t);
  }
}

static void run_block(void *arg, int64_t chunk, int thread) {
  const work *job = (const work *)arg;
  const layout *of = &job->of;
  const matmul_problem *p = (const matmul_problem *)job->task->problem;
  const int64_t batch = chunk / (job->down * job->across), in = chunk % (job->down * job->across);
  const int64_t i = in % job->down * BLOCK_ROWS, j = in / job->down * BLOCK_COLUMNS;
  const int64_t rows = matmul_least(BLOCK_ROWS, p->m - i),
                columns = matmul_least(BLOCK_COLUMNS, p->n - j);
  const int64_t a = (of->a.matrices > 1 ? batch : 0) * of->a.panels + i / of->a.lines,
                b = (of->b.matrices > 1 ? batch : 0) * of->b.panels + j / of->b.lines;
  char *scratch = (char *)job->task->scratch;
  int64_t *sums = (int64_t *)(scratch + of->sums) + (size_t)thread * BLOCK_ROWS * BLOCK_COLUMNS;
  const uint32_t *a_largest = (const uint32_t *)(scratch + of->a.largest) + a * of->a.lines,
                 *b_largest = (const uint32_t *)(scratch + of->b.largest) + b * of->b.lines;
  const int64_t *less = (const int64_t *)(scratch + of->a.less) + a * of->a.lines;
  const matmul_at at = matmul_matrix(job->task, batch);
  memset(sums, 0, BLOCK_ROWS * BLOCK_COLUMNS * sizeof *sums);
  add_products(of, scratch + of->a.digits + (size_t)a * of->a.bytes,
               (rows + of->a.lines - 1) / of->a.lines,
               scratch + of->b.digits + (size_t)b * of->b.bytes,
               (columns + of->b.lines - 1) / of->b.lines, sums);
  const ended block = {of->digits, sums, a_largest, b_largest, less};
  end_rows(&at, &block, i, rows, j, columns);
}

rung_status RUNG_ENTRY(matmul_packed_digits)(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  work job = {.task = task, .of = layout_of(task)};
  const int threads = p->flops / 2 <= MATMUL_ALONE / 4 ? 1 : (int)task->device->threads;
  job.down = (p->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
  job.across = (p->n + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
  rung_parallel(threads, job.of.a.matrices * job.of.a.panels + job.of.b.matrices * job.of.b.panels,
                pack_panel, &job);
  rung_parallel(threads, p->batch * job.down * job.across, run_block, &job);
  return RUNG_OK;
}
