/* Blocks of an image, widened at their edges into scratch as numbers of the sums' type, so that no
 * loop over taps asks where the image ends; then the kernels' rows over them, some at a time, and
 * the sums to out's type. A block stays in the second-level cache. Those that need no widening are
 * read where they lie, unless rows of the image would push each other out of it. */
#include <string.h>

#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/correlate/cpu/filter.h"

enum {
  ALONE = 10000,     /* elements of out that one thread makes before others have begun */
  FEWEST = 16,       /* rows of a block where more threads want some */
  MEETS = 1 << 14,   /* rows a multiple of so many bytes apart meet in few sets of a cache */
  STAYS = 1 << 12,   /* or of so many, if they are to be found there again */
  AHEAD = 4,         /* rows that meet are fetched so many before they are copied */
  STREAMED = 1 << 23 /* bytes of out: more are not kept in a cache */
};

typedef struct filter {
  const rung_task *task;
  const correlate_kernels *of;
  correlate_block block;
  char *taps, *scratch;
  bool streams;
  bool lies, meets;      /* blocks inside the image are read where they lie; its rows meet */
  int64_t rows, panel;   /* of a block; elements of its rows */
  int64_t share, shares; /* elements of a row that are dealt out together, and such parts */
} filter;

/* A block of out: rows and elements of rows. */
typedef struct place {
  int64_t y, rows, x, n;
  const char *in; /* what its first output has under the kernel's first tap; rows as far apart: */
  int64_t in_row; /* elements */
  char *scratch;
} place;

/* ---- taps -------------------------------------------------------------------------------------
 */

static void set_taps(const filter *f) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t count = p->kernels * p->kernel_rows * p->kernel_columns;
  if (p->types.accumulate != RUNG_I64)
    memcpy(f->taps, p->taps, (size_t)(count * f->block.size));
  else
    for (int64_t i = 0; i < count; i++) f->of->set(f->taps, i, ((const int32_t *)p->taps)[i]);
}

/* ---- a block ----------------------------------------------------------------------------------
 */

/* Where the image has what n elements of out from x on need, in the block's rows; NULL: it has not
 * all of it. */
static const char *find_inside(const filter *f, const place *at, int64_t x, int64_t n) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t row = p->first_row + at->y, first = p->first_column * p->channels + x;
  if (row < 0 || row + at->rows + p->kernel_rows - 1 > p->height || first < 0 ||
      first + n + (p->kernel_columns - 1) * p->channels > p->width * p->channels)
    return NULL;
  return correlate_in_row(f->task, row) + first * (int64_t)rung_dtype_bytes(p->types.in);
}

/* The rows of the image that the next block of the same rows needs, where all of it is inside:
 * fetched by the first pass, unless they would push each other out of the cache. */
static void fetch_next(const filter *f, const place *at, correlate_pass *pass) {
  const rung_view *in = &f->task->arrays[CORRELATE_IN];
  pass->next = find_inside(f, at, at->x + f->panel, f->panel);
  pass->next_size = (int64_t)rung_dtype_bytes(in->dtype);
  pass->next_row = in->stride[0] * pass->next_size;
}

/* Over a kernel's rows. */
static int64_t passes_of(const filter *f) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  return (p->kernel_rows + f->of->most - 1) / f->of->most;
}

/* A kernel's rows in passes as even as can be. The last one's sums go to `direct` if not NULL,
 * which is a place in out; else they stay in the block. */
static void sum_kernel(const filter *f, const place *at, int64_t k, char *direct) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t size = f->block.size, passes = passes_of(f);
  char *sums = at->scratch + f->block.sums;
  correlate_pass pass = {.taps_columns = p->kernel_columns,
                         .step = p->channels,
                         .in_row = at->in_row,
                         .sums_row = f->block.sums_row / size,
                         .to = sums,
                         .to_row = f->block.sums_row / size,
                         .rows = at->rows,
                         .n = at->n};
  if (k == 0 && !f->meets) fetch_next(f, at, &pass);
  for (int64_t i = 0, done = 0; i < passes; i++, done += pass.taps_rows) {
    const int64_t tap = (k * p->kernel_rows + done) * p->kernel_columns;
    pass.taps_rows = (int)((p->kernel_rows - done) / (passes - i));
    pass.taps = f->taps + tap * size;
    pass.in = at->in + done * at->in_row * size;
    if (i == passes - 1 && direct != NULL) {
      pass.to = direct;
      pass.to_row = f->task->arrays[CORRELATE_OUT].stride[p->kernels > 1];
      pass.stream = f->streams && ((uintptr_t)direct | (uint64_t)(pass.to_row * size)) % 64 == 0;
    }
    f->of->pass(&pass);
    pass.sums = sums;
    pass.next = NULL;
  }
}

/* Whether the last pass over n elements ends where they do. */
static bool ends_there(const filter *f, int64_t n) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t passes = passes_of(f);
  return n % f->of->strips[(p->kernel_rows + passes - 1) / passes - 1] == 0;
}

/* The block's part of the image, widened. */
static void widen_rows(const filter *f, const place *at) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const rung_view *in = &f->task->arrays[CORRELATE_IN];
  const int64_t rows = at->rows + p->kernel_rows - 1, size = (int64_t)rung_dtype_bytes(in->dtype);
  const char *next = f->meets ? find_inside(f, at, at->x, at->n) : NULL;
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t b = 0; next != NULL && r + AHEAD < rows && b < at->n * size; b += 64)
      __builtin_prefetch(next + (r + AHEAD) * in->stride[0] * size + b);
    RUNG_ENTRY(correlate_widen)
    (f->task, f->of, p->first_row + at->y + r, at->x, at->n, f->block.in_row,
     at->scratch + r * f->block.in_row);
  }
}

/* That, or as it lies. */
static void find_image(const filter *f, place *at) {
  at->in = f->lies && at->n == f->panel ? find_inside(f, at, at->x, at->n) : NULL;
  at->in_row = f->task->arrays[CORRELATE_IN].stride[0];
  if (at->in != NULL) return;
  at->in = at->scratch;
  at->in_row = f->block.in_row / f->block.size;
  widen_rows(f, at);
}

static void run_block(const filter *f, place *at) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t size = (int64_t)rung_dtype_bytes(p->types.out);
  const bool direct = f->of->dtype == p->types.out && ends_there(f, at->n);
  find_image(f, at);
  for (int64_t k = 0; k < p->kernels; k++) {
    sum_kernel(f, at, k, direct ? correlate_out_row(f->task, k, at->y) + at->x * size : NULL);
    for (int64_t y = 0; y < at->rows && !direct; y++)
      f->of->finish(p->types.out, at->scratch + f->block.sums + y * f->block.sums_row, at->n,
                    correlate_out_row(f->task, k, at->y + y) + at->x * size);
  }
}

/* Blocks beside each other: the next one's rows are fetched while one is made. */
static void run_share(void *arg, int64_t chunk, int thread) {
  const filter *f = (const filter *)arg;
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t n = p->columns * p->channels;
  place at = {.y = chunk / f->shares * f->rows, .scratch = f->scratch + thread * f->block.bytes};
  at.rows = correlate_least(f->rows, p->rows - at.y);
  at.x = chunk % f->shares * f->share;
  for (const int64_t end = correlate_least(at.x + f->share, n); at.x < end; at.x += f->panel) {
    at.n = correlate_least(f->panel, end - at.x);
    run_block(f, &at);
  }
  if (f->streams) lanes_stream_end();
}

rung_status RUNG_ENTRY(correlate_filter)(const rung_task *task, int threads) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t n = p->columns * p->channels;
  if (p->rows * n * p->kernels <= ALONE) threads = 1;
  filter f = {.task = task, .block = correlate_block_of(p)};
  f.of = RUNG_ENTRY(correlate_kernels_of)(p);
  f.taps = (char *)task->scratch;
  f.scratch = f.taps + correlate_taps_bytes(p);
  f.streams = p->rows * n * p->kernels * (int64_t)rung_dtype_bytes(p->types.out) > STREAMED;
  const bool once = p->kernel_rows <= f.of->most && p->kernels == 1;
  const int64_t apart =
      task->arrays[CORRELATE_IN].stride[0] * (int64_t)rung_dtype_bytes(p->types.in);
  f.meets = apart % MEETS == 0;
  f.lies = f.of->dtype == p->types.in && apart % (once ? MEETS : STAYS) != 0;
  set_taps(&f);
  f.panel = CORRELATE_PANEL / f.block.size;
  const int64_t panels = (n + f.panel - 1) / f.panel;
  const int64_t even = (p->rows * panels + 4 * threads - 1) / (4 * threads);
  f.rows = threads == 1 ? CORRELATE_ROWS
                        : correlate_least(CORRELATE_ROWS, even < FEWEST ? FEWEST : even);
  const int64_t bands = (p->rows + f.rows - 1) / f.rows;
  f.share = bands < 4 * threads ? f.panel : panels * f.panel;
  f.shares = (n + f.share - 1) / f.share;
  rung_parallel(threads, bands * f.shares, run_share, &f);
  return RUNG_OK;
}
