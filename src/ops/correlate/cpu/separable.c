/* Kernels of rank one in two passes, fused: a thread sweeps down a panel of columns. Every row of
 * the image that comes by is summed along the row once, into a block of such rows that stays in the
 * second-level cache, and the block's columns are summed from there; its last rows are the first of
 * the next block. Both passes are the strict rungs' kernels: one with a single row of taps, one
 * with single columns. */
#include "ops/correlate/separable.h"

#include <string.h>

#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/correlate/cpu/filter.h"

enum {
  ALONE = 10000,      /* elements of out that one thread makes before others have begun */
  BAND = 256,         /* rows of a panel, at least, where more threads want some */
  AHEAD = 2,          /* rows of the image that are fetched before they are needed */
  STREAMED = 1 << 23, /* bytes of out: more are not kept in a cache */
};

typedef struct sweep {
  const rung_task *task;
  const correlate_kernels *of;
  correlate_sweep sizes;
  char *taps, *scratch;
  bool streams;
  int64_t panel, panels, part; /* elements of a row of a panel, panels of a row; of a part of one */
  int64_t band;                /* rows of a panel that a thread makes in one go */
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
    for (int i = 0; i < rows; i++) s->of->set(to, i, factors.column[i]);
    for (int j = 0; j < columns; j++) s->of->set(to, rows + j, factors.row[j]);
  }
  return RUNG_OK;
}

static const char *factors_of(const sweep *s, int64_t k) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  return s->taps + k * (p->kernel_rows + p->kernel_columns) * s->sizes.size;
}

/* Asks for a row of the image that will be widened soon, where all of it is inside. */
static void fetch(const sweep *s, const place *at, int64_t row, correlate_pass *pass) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const int64_t size = (int64_t)rung_dtype_bytes(p->types.in);
  const int64_t x = p->first_column * p->channels + at->x;
  if (row < 0 || row >= p->height || x < 0 || x + s->panel > p->width * p->channels) return;
  pass->next = correlate_in_row(s->task, row) + x * size;
  pass->next_size = size;
}

/* Row r of the image, summed along the row. */
static void sum_row(const sweep *s, const place *at, int64_t r, char *to) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  correlate_pass pass = {.taps_rows = 1,
                         .taps_columns = p->kernel_columns,
                         .taps = factors_of(s, at->k) + p->kernel_rows * s->sizes.size,
                         .step = p->channels,
                         .in = at->scratch,
                         .to = to,
                         .rows = 1,
                         .n = at->n};
  RUNG_ENTRY(correlate_widen)(s->task, s->of, r, at->x, at->n, s->sizes.line, at->scratch);
  fetch(s, at, r + AHEAD, &pass);
  s->of->pass(&pass);
}

/* The columns of a part of the block, in passes as even as can be; `rows` begins at the first of
 * its sums along the row. */
static void sum_columns(const sweep *s, const place *at, const char *rows) {
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const int64_t size = s->sizes.size, out_size = (int64_t)rung_dtype_bytes(p->types.out);
  const int64_t passes = (p->kernel_rows + s->of->most - 1) / s->of->most;
  const bool direct = s->of->dtype == p->types.out && at->n == s->part;
  char *sums = at->scratch + s->sizes.sums;
  correlate_pass pass = {.taps_columns = 1,
                         .step = p->channels,
                         .in_row = s->sizes.row / size,
                         .sums_row = s->sizes.sums_row / size,
                         .to = sums,
                         .to_row = s->sizes.sums_row / size,
                         .rows = at->rows,
                         .n = at->n};
  for (int64_t i = 0, done = 0; i < passes; i++, done += pass.taps_rows) {
    pass.taps_rows = (int)((p->kernel_rows - done) / (passes - i));
    pass.taps = factors_of(s, at->k) + done * size;
    pass.in = rows + done * s->sizes.row;
    if (i == passes - 1 && direct) {
      pass.to = correlate_out_row(s->task, at->k, at->y) + at->x * size;
      pass.to_row = s->task->arrays[CORRELATE_OUT].stride[p->kernels > 1];
      pass.stream = s->streams && ((uintptr_t)pass.to | (uint64_t)(pass.to_row * size)) % 64 == 0;
    }
    s->of->pass(&pass);
    pass.sums = sums;
  }
  for (int64_t y = 0; y < at->rows && !direct; y++)
    s->of->finish(p->types.out, sums + y * s->sizes.sums_row, at->n,
                  correlate_out_row(s->task, at->k, at->y + y) + at->x * out_size);
}

/* Down a band of a panel. */
static void run_band(void *arg, int64_t chunk, int thread) {
  const sweep *s = (const sweep *)arg;
  const correlate_problem *p = (const correlate_problem *)s->task->problem;
  const int64_t bands = (p->rows + s->band - 1) / s->band, before = p->kernel_rows - 1;
  const int64_t first = chunk / s->panels % bands * s->band,
                end = correlate_least(first + s->band, p->rows);
  place at = {.k = chunk / s->panels / bands,
              .x = chunk % s->panels * s->panel,
              .scratch = s->scratch + thread * s->sizes.bytes};
  at.n = correlate_least(s->panel, p->columns * p->channels - at.x);
  char *rows = at.scratch + s->sizes.line;
  for (at.y = first; at.y < end; at.y += CORRELATE_ROWS) {
    at.rows = correlate_least(CORRELATE_ROWS, end - at.y);
    const int64_t kept = at.y > first ? before : 0;
    if (kept > 0) memcpy(rows, rows + CORRELATE_ROWS * s->sizes.row, (size_t)(kept * s->sizes.row));
    for (int64_t r = kept; r < at.rows + before; r++)
      sum_row(s, &at, p->first_row + at.y + r, rows + r * s->sizes.row);
    for (int64_t x = 0; x < at.n; x += s->part) {
      place part = at;
      part.x += x;
      part.n = correlate_least(s->part, at.n - x);
      sum_columns(s, &part, rows + x * s->sizes.size);
    }
  }
  if (s->streams) lanes_stream_end();
}

rung_status RUNG_ENTRY(correlate_separable)(const rung_task *task) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  _Static_assert(CORRELATE_ROWS >= RUNG_KERNEL_MOST - 1,
                 "a block's last rows are none of its first");
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
  s.panel = CORRELATE_SWEPT / s.sizes.size;
  s.part = CORRELATE_PANEL / s.sizes.size;
  s.panels = (n + s.panel - 1) / s.panel;
  const int64_t even = (p->rows * s.panels * p->kernels + 4 * threads - 1) / (4 * threads);
  s.band = even < BAND ? BAND : even < p->rows ? even : p->rows;
  const int64_t bands = (p->rows + s.band - 1) / s.band;
  rung_parallel(threads, p->kernels * bands * s.panels, run_band, &s);
  return RUNG_OK;
}
