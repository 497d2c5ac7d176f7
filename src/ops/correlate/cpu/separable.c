/* Kernels of rank one in two passes, fused: a thread sweeps down a panel of columns, some rows at a
 * time. Every row of the image that comes by is summed along the row once, into a ring of such rows
 * that stays in the second-level cache, and the columns are summed from there. */
#include "ops/correlate/separable.h"

#include <string.h>

#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/correlate/cpu/filter.h"

enum {
  ALONE = 10000,      /* elements of out that one thread makes before others have begun */
  BAND = 256,         /* rows of a panel, at least, where more threads want some */
  STREAMED = 1 << 23, /* bytes of out: more are not kept in a cache */
};

typedef struct sweep {
  const rung_task *task;
  const correlate_kernels *of;
  correlate_sweep sizes;
  char *taps, *scratch;
  bool streams;
  int64_t panel, panels, piece; /* elements of a row of a panel, panels of a row; of a piece */
  int64_t band;                 /* rows of a panel that a thread makes in one go */
} sweep;

/* A block of out: rows and elements of rows of kernel k. */
typedef struct place {
  int64_t k, y, rows, x, n;
  char *scratch;
} place;

/* Of every kernel its column, then its row. */
static rung_status set_factors(const sweep *s) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const int rows = p->kernel_rows, columns = p->kernel_columns;
  char why[RUNG_REASON];
  correlate_factors factors;
  for (int64_t k = 0; k < p->kernels; k++) {
    if (!correlate_separate(p, k, &factors, why))
      return rung_fail(s->task->error, RUNG_UNSUPPORTED, "rung \"separable\" cannot do this: %s",
                       why);
    char *to = s->taps + k * (rows + columns) * s->sizes.size;
    for (int i = 0; i < rows; i++) s->of->set(to, i, 1, factors.column[i]);
    for (int j = 0; j < columns; j++) s->of->set(to, rows + j, 1, factors.row[j]);
  }
  return RUNG_OK;
}

static const char *factors_of(const sweep *s, int64_t k) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  return s->taps + k * (p->kernel_rows + p->kernel_columns) * s->sizes.size;
}

/* Row r of the image, summed along the row: as it lies, or widened. The row that the next block
 * begins with is fetched meanwhile. */
static void sum_row(const sweep *s, const place *at, int64_t r, char *to) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const bool lies = s->of->dtype == p->types.in;
  correlate_pass pass = {.taps_rows = 1,
                         .taps_columns = p->kernel_columns,
                         .taps = factors_of(s, at->k) + p->kernel_rows * s->sizes.size,
                         .step = p->channels,
                         .rows = 1,
                         .next_size = (int64_t)rung_dtype_bytes(p->types.in)};
  for (int64_t x = 0; x < at->n; x += s->piece) {
    pass.n = correlate_least(s->piece, at->n - x);
    pass.to = to + x * s->sizes.size;
    pass.in =
        lies && pass.n == s->piece ? correlate_inside(s->task, r, 1, at->x + x, pass.n) : NULL;
    if (pass.in == NULL) {
      RUNG_ENTRY(correlate_widen)
      (s->task, s->of, r, at->x + x, pass.n, s->sizes.line, at->scratch);
      pass.in = at->scratch;
    }
    pass.next = correlate_inside(s->task, r + CORRELATE_HIGH, 1, at->x + x, s->piece);
    s->of->pass(&pass);
  }
}

/* The columns of a block from its rows of sums, to out: whole strips of out's own type at once, and
 * others by pieces. */
static void sum_columns(const sweep *s, const place *at, const char **rows) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const int64_t size = s->sizes.size, out_size = (int64_t)rung_dtype_bytes(p->types.out);
  const int64_t direct = s->of->dtype == p->types.out ? at->n / s->of->strip * s->of->strip : 0;
  const char *own[RUNG_KERNEL_MOST + CORRELATE_HIGH - 1];
  correlate_columns columns = {.count = p->kernel_rows,
                               .taps = factors_of(s, at->k),
                               .rows = rows,
                               .high = at->rows,
                               .n = direct};
  if (direct > 0) {
    columns.to = correlate_out_row(s->task, at->k, at->y) + at->x * size;
    columns.to_row = s->task->arrays[CORRELATE_OUT].stride[p->kernels > 1];
    columns.stream =
        s->streams && ((uintptr_t)columns.to | (uint64_t)(columns.to_row * size)) % 64 == 0;
    s->of->columns(&columns);
  }
  columns.rows = own;
  columns.to = at->scratch + s->sizes.sums;
  columns.to_row = s->sizes.sums_row / size;
  columns.stream = false;
  for (int64_t x = direct; x < at->n; x += s->piece) {
    const int64_t n = correlate_least(s->piece, at->n - x);
    for (int i = 0; i < p->kernel_rows + CORRELATE_HIGH - 1; i++) own[i] = rows[i] + x * size;
    columns.n = n;
    s->of->columns(&columns);
    for (int64_t y = 0; y < at->rows; y++)
      s->of->finish(p->types.out, (char *)columns.to + y * s->sizes.sums_row, n,
                    correlate_out_row(s->task, at->k, at->y + y) + (at->x + x) * out_size);
  }
}

/* Down a band of a panel. Below its last row are none; what is summed of the ring's rows there is
 * not stored. */
static void run_band(void *arg, int64_t chunk, int thread) {
  const sweep *s = (const sweep *)arg;
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const int64_t bands = (p->rows + s->band - 1) / s->band,
                all = p->kernel_rows + CORRELATE_HIGH - 1;
  const int64_t first = chunk / s->panels % bands * s->band,
                end = correlate_least(first + s->band, p->rows);
  place at = {.k = chunk / s->panels / bands,
              .x = chunk % s->panels * s->panel,
              .scratch = s->scratch + thread * s->sizes.bytes};
  const char *rows[RUNG_KERNEL_MOST + CORRELATE_HIGH - 1];
  int64_t made = 0; /* rows of sums of the band */
  at.n = correlate_least(s->panel, p->columns * p->channels - at.x);
  for (at.y = first; at.y < end; at.y += CORRELATE_HIGH) {
    at.rows = correlate_least(CORRELATE_HIGH, end - at.y);
    for (; made < at.y - first + at.rows + p->kernel_rows - 1; made++)
      sum_row(s, &at, p->first_row + first + made,
              at.scratch + s->sizes.line + made % all * s->sizes.row);
    for (int64_t i = 0; i < all; i++)
      rows[i] = at.scratch + s->sizes.line + (at.y - first + i) % all * s->sizes.row;
    sum_columns(s, &at, rows);
  }
  if (s->streams) lanes_stream_end();
}

rung_status RUNG_ENTRY(correlate_separable)(const rung_task *task) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t n = p->columns * p->channels, all = p->rows * n * p->kernels;
  const int threads = all <= ALONE ? 1 : (int)task->device->threads;
  sweep s = {.task = task,
             .of = RUNG_ENTRY(correlate_kernels_of)(p),
             .sizes = correlate_sweep_of(p),
             .taps = (char *)task->scratch,
             .scratch = (char *)task->scratch + correlate_factors_bytes(p),
             .streams = all * (int64_t)rung_dtype_bytes(p->types.out) > STREAMED};
  const rung_status status = set_factors(&s);
  if (status != RUNG_OK) return status;
  s.panel = s.sizes.panel / s.sizes.size;
  s.piece = CORRELATE_PANEL / s.sizes.size;
  s.panels = (n + s.panel - 1) / s.panel;
  const int64_t even = (p->rows * s.panels * p->kernels + 4 * threads - 1) / (4 * threads);
  s.band = even < BAND ? BAND : even < p->rows ? even : p->rows;
  const int64_t bands = (p->rows + s.band - 1) / s.band;
  rung_parallel(threads, p->kernels * bands * s.panels, run_band, &s);
  return RUNG_OK;
}
