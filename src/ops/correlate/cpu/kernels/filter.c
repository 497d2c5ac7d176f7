/* Blocks of an image, widened at their edges into scratch as numbers of the sums' type, so that no
 * loop over taps asks where the image ends; then the kernels' rows over them, some at a time, and
 * the sums to out's type. Chains that a block has begun and not ended go on in the one below.
 * Blocks that need no widening are read where they lie. Those of a large image have few rows, so
 * that memory is read and written along its rows. */
#include <string.h>

#include "backend/cpu/lanes.h"
#include "backend/cpu/parallel.h"
#include "ops/correlate/cpu/filter.h"

enum {
  ALONE = 10000,     /* elements of out that one thread makes before others have begun */
  FEWEST = 16,       /* rows of a band where more threads want some */
  FLAT = 4,          /* rows of a block of a large image, or of one whose rows meet: */
  MEETS = 1 << 12,   /* those a multiple of so many bytes apart do, in few sets of a cache */
  STREAMED = 1 << 23 /* bytes of out: more are not kept in a cache */
};

typedef struct filter {
  const rung_task *task;
  const correlate_kernels *of;
  correlate_block block;
  char *taps, *scratch;
  bool streams;        /* past the caches */
  bool lies;           /* blocks inside the image are read where they lie */
  bool wide;           /* those are as wide as can be: no sums of theirs are stored in scratch */
  int64_t strip;       /* elements that the last pass makes at once */
  int64_t rows, part;  /* of a block; elements of its rows, or a multiple of so many */
  int64_t band, panel; /* rows that a thread makes in one go, elements of these */
  int64_t panels;      /* of a row */
} filter;

/* A block of out: rows and elements of rows. */
typedef struct place {
  int64_t y, rows, x, n;
  bool resumed, kept;   /* chains of the block above go on here; this one's in the block below */
  int64_t first, fresh; /* rows of the image that no block above has met: the first, counted from
                           the one under out's row 0, and how many */
  const char *in;       /* what the block's first element has in that row; rows as far apart: */
  int64_t in_row;       /* elements */
  char *scratch, *chains;
} place;

/* ---- taps -------------------------------------------------------------------------------------
 */

static void set_taps(const filter *f) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t count = p->kernels * p->kernel_rows * p->kernel_columns;
  if (p->types.accumulate != RUNG_I64)
    memcpy(f->taps, p->taps, (size_t)(count * f->block.size));
  else
    for (int64_t i = 0; i < count; i++) f->of->set(f->taps, i, 1, ((const int32_t *)p->taps)[i]);
}

/* ---- a block ----------------------------------------------------------------------------------
 */

/* Of the rows that are new to the block. */
static const char *find_inside(const filter *f, const place *at, int64_t x, int64_t n) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  return correlate_inside(f->task, p->first_row + at->first, at->fresh, x, n);
}

/* The rows of the image that the next block of the same rows needs, where all of it is inside:
 * fetched by the first pass, but where few rows are read along: the processor does that itself. */
static void fetch_next(const filter *f, const place *at, correlate_pass *pass) {
  const rung_view *in = &f->task->arrays[CORRELATE_IN];
  if (f->rows == FLAT && f->lies) return;
  pass->next = find_inside(f, at, at->x + f->part, f->part);
  pass->next_size = (int64_t)rung_dtype_bytes(in->dtype);
  pass->next_row = in->stride[0] * pass->next_size;
}

/* A kernel's rows in passes as even as can be. The last one's sums go to `direct` if not NULL,
 * which is a place in out; else they stay in the block. Returns where they are. */
static const char *sum_kernel(const filter *f, const place *at, int64_t k, char *direct) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t size = f->block.size, passes = f->block.passes;
  char *sums = at->scratch + f->block.sums + passes * f->block.sums_row;
  correlate_pass pass = {.taps_columns = p->kernel_columns,
                         .step = p->channels,
                         .in_row = at->in_row,
                         .sums_row = f->block.sums_row / size,
                         .to_row = f->block.sums_row / size,
                         .chains_row = f->block.chains_row / size,
                         .resumed = at->resumed,
                         .kept = at->kept,
                         .n = at->n};
  if (k == 0) fetch_next(f, at, &pass);
  for (int64_t i = 0, done = 0; i < passes; i++) {
    pass.taps_rows = (int)((p->kernel_rows - done) / (passes - i));
    const int64_t row = k * p->kernel_rows + done;
    pass.taps = f->taps + row * p->kernel_columns * size;
    pass.in = at->in + (at->resumed ? 0 : done * at->in_row * size);
    pass.chains = at->chains + row * f->block.chains_row;
    done += pass.taps_rows;
    pass.rows = at->rows + (at->kept && !at->resumed ? p->kernel_rows - done : 0);
    pass.to = sums -= f->block.sums_row;
    if (i == passes - 1 && direct != NULL) {
      pass.to = direct;
      pass.to_row = f->task->arrays[CORRELATE_OUT].stride[p->kernels > 1];
      pass.stream = f->streams && ((uintptr_t)direct | (uint64_t)(pass.to_row * size)) % 64 == 0;
    }
    f->of->pass(&pass);
    pass.sums = pass.to;
    pass.next = NULL;
  }
  return (const char *)pass.to;
}

/* The rows of the image that are new to the block: as they lie, or widened. */
static void find_image(const filter *f, place *at) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  at->in = f->lies && at->n % f->part == 0 ? find_inside(f, at, at->x, at->n) : NULL;
  at->in_row = f->task->arrays[CORRELATE_IN].stride[0];
  if (at->in != NULL) return;
  at->in = at->scratch;
  at->in_row = f->block.in_row / f->block.size;
  for (int64_t r = 0; r < at->fresh; r++) {
    char *to = at->scratch + r * f->block.in_row;
    RUNG_ENTRY(correlate_widen)
    (f->task, f->of, p->first_row + at->first + r, at->x, at->n, f->block.in_row, to);
  }
}

static void run_block(const filter *f, place *at) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t size = (int64_t)rung_dtype_bytes(p->types.out);
  const bool direct = f->of->dtype == p->types.out && at->n % f->strip == 0;
  find_image(f, at);
  for (int64_t k = 0; k < p->kernels; k++) {
    const char *sums =
        sum_kernel(f, at, k, direct ? correlate_out_row(f->task, k, at->y) + at->x * size : NULL);
    for (int64_t y = 0; y < at->rows && !direct; y++)
      f->of->finish(p->types.out, sums + y * f->block.sums_row, at->n,
                    correlate_out_row(f->task, k, at->y + y) + at->x * size);
  }
}

/* Elements of the block that begins at `at`, before `right`. */
static int64_t width_of(const filter *f, const place *at, int64_t right) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t all = right - at->x;
  if (!f->wide || all < f->part || find_inside(f, at, at->x, f->part) == NULL)
    return correlate_least(f->part, all);
  const int64_t inside = (p->width - p->first_column - p->kernel_columns + 1) * p->channels - at->x;
  return correlate_least(inside, all) / f->part * f->part;
}

/* Blocks beside each other, and below them the next ones, in which their chains go on. */
static void run_band(void *arg, int64_t chunk, int thread) {
  const filter *f = (const filter *)arg;
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t before = p->kernel_rows - 1;
  const int64_t first = chunk / f->panels * f->band,
                last = correlate_least(first + f->band, p->rows);
  const int64_t left = chunk % f->panels * f->panel,
                right = correlate_least(left + f->panel, p->columns * p->channels);
  place at = {.scratch = f->scratch + thread * f->block.bytes};
  for (at.y = first; at.y < last; at.y += f->rows) {
    at.rows = correlate_least(f->rows, last - at.y);
    at.resumed = at.y > first;
    at.kept = at.y + at.rows < last;
    at.first = at.resumed ? at.y + before : at.y;
    at.fresh = at.resumed ? at.rows : at.rows + before;
    at.chains = at.scratch + f->block.chains;
    for (at.x = left; at.x < right; at.x += at.n) {
      at.n = width_of(f, &at, right);
      run_block(f, &at);
      at.chains += at.n * f->block.size;
    }
  }
  if (f->streams) lanes_stream_end();
}

/* Parts of so many, the last one perhaps smaller. A division takes as long as a short row. */
static int64_t parts_of(int64_t all, int64_t part) {
  return all <= part ? 1 : part == 1 ? all : (all + part - 1) / part;
}

/* Panels as wide and bands as high as leave enough of them for all threads; false: bands are too
 * low to keep chains. The first pass is ahead of the last one by the kernel's height at a band's
 * end. Flat blocks are worth narrow panels; others fetch the one beside them. */
static bool cut_bands(filter *f, int64_t parts, int64_t even, bool flat) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const int64_t high = 8 * p->kernel_rows, least = high < CORRELATE_ROWS ? CORRELATE_ROWS : high;
  const bool many = f->block.passes > 2 && p->kernel_columns <= 2; /* stores, for what is summed */
  if (f->block.parts == 0 || many || even < least) return false;
  const int64_t most = correlate_least(f->block.parts, flat ? even / least : parts);
  const int64_t wide = parts_of(parts, parts_of(parts, most));
  f->panel = wide * f->part;
  f->band = parts_of(even, wide);
  return f->band >= least;
}

/* `even`: rows of parts for each of so many chunks. Where no chains are kept, a band is a block. */
static void cut(filter *f, int threads) {
  const correlate_problem *p = (const correlate_problem *)f->task->problem;
  const rung_view *in = &f->task->arrays[CORRELATE_IN];
  const bool meets = in->stride[0] * (int64_t)rung_dtype_bytes(in->dtype) % MEETS == 0;
  const bool flat = f->streams || meets;
  const int64_t n = p->columns * p->channels;
  f->part = f->block.size == sizeof(float) ? CORRELATE_PANEL / 4 : CORRELATE_PANEL / 8;
  const int64_t parts = parts_of(n, f->part);
  const int64_t even = parts_of(p->rows * parts, threads == 1 ? 1 : 4 * threads);
  const bool keeps = cut_bands(f, parts, even, flat);
  if (!keeps) {
    f->band = correlate_least(CORRELATE_ROWS, even < FEWEST ? FEWEST : even);
    f->band = correlate_least(f->band, p->rows);
    f->panel = correlate_least(parts, parts_of(even, f->band)) * f->part;
  }
  f->panels = parts_of(n, f->panel);
  f->rows = keeps && flat ? FLAT : CORRELATE_ROWS;
  f->lies = f->of->dtype == in->dtype && (f->rows == FLAT || !meets);
  f->wide = f->rows == FLAT && f->lies && f->block.passes == 1 && f->of->dtype == p->types.out;
}

rung_status RUNG_ENTRY(correlate_filter)(const rung_task *task, int threads) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t all = p->rows * p->columns * p->channels * p->kernels;
  if (all <= ALONE) threads = 1;
  filter f = {.task = task, .block = correlate_block_of(p)};
  f.of = RUNG_ENTRY(correlate_kernels_of)(p);
  f.taps = (char *)task->scratch;
  f.scratch = f.taps + correlate_taps_bytes(p);
  f.streams = all * (int64_t)rung_dtype_bytes(p->types.out) > STREAMED;
  f.strip = f.of->strips[(p->kernel_rows + f.block.passes - 1) / f.block.passes - 1];
  set_taps(&f);
  cut(&f, threads);
  rung_parallel(threads, parts_of(p->rows, f.band) * f.panels, run_band, &f);
  return RUNG_OK;
}
