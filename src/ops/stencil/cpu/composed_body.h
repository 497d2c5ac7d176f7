/* The composed rung for one type: included by composed.c with REAL, LANE, LANES and NAME(x)
 * defined. */
#include "ops/stencil/cpu/panel_rows.h"

typedef struct NAME(composed_job) {
  const rung_task *task;
  stencil_ends ends;
  REAL *short_rows; /* (rows, ends.columns) */
  char *panels;     /* one of `bytes` bytes a thread */
  size_t bytes;
  int count;
  int64_t first;
  REAL taps[STENCIL_COMPOSED_TAPS];
} NAME(composed_job);

/* The start of row i's ends. */
static void NAME(composed_gather)(void *arg, int64_t i, int thread) {
  const NAME(composed_job) *job = arg;
  const stencil_problem *p = job->task->problem;
  const rung_view *in = &job->task->arrays[STENCIL_IN];
  const stencil_ends *e = &job->ends;
  const REAL *row = (const REAL *)in->data + (p->start.own ? 0 : i * in->stride[0]);
  REAL *to = job->short_rows + i * e->columns;
  (void)thread;
  for (int64_t c = 0; c < e->columns; c++) {
    const int64_t j = stencil_ends_column(e, c);
    to[c] = p->start.own ? (REAL)stencil_start_value(&p->start, i, j, p->columns) : row[j];
  }
}

/* `columns` neighbours, each its own chain over all taps. With the taps held in registers a cell
 * that was loaded serves up to `held` multiply-adds. */
LANES_INLINE void NAME(filter_columns)(const REAL *taps, int count, const LANE *cell, LANE *made,
                                       const int columns, const int held) {
  LANE sum[COMPOSED_COLUMNS];
#pragma GCC unroll 12
  for (int u = 0; u < columns; u++) sum[u] = (LANE){0};
  int k = 0;
  for (; k + held <= count; k += held) {
    LANE tap[COMPOSED_HELD];
#pragma GCC unroll 8
    for (int h = 0; h < held; h++) tap[h] = NAME(lanes_all)(taps[k + h]);
#pragma GCC unroll 20
    for (int c = 0; c < columns + held - 1; c++) {
      const LANE x = cell[k + c];
#pragma GCC unroll 12
      for (int u = 0; u < columns; u++)
        if (c - u >= 0 && c - u < held) sum[u] = NAME(lanes_fma)(tap[c - u], x, sum[u]);
    }
  }
  for (; k < count; k++) {
    const LANE tap = NAME(lanes_all)(taps[k]);
#pragma GCC unroll 12
    for (int u = 0; u < columns; u++) sum[u] = NAME(lanes_fma)(tap, cell[k + u], sum[u]);
  }
#pragma GCC unroll 12
  for (int u = 0; u < columns; u++) made[u] = sum[u];
}

/* The inside of the panel, in place: a column's result goes where the first of its own taps was
 * read, which no later column needs; then all move to where they belong. */
static void NAME(filter_panel)(const NAME(composed_job) * job, LANE *cell) {
  const int64_t from = job->ends.from, to = job->ends.to;
  int64_t j = from;
  for (; j + COMPOSED_COLUMNS <= to; j += COMPOSED_COLUMNS) {
    LANE *at = cell + j + job->first;
    NAME(filter_columns)(job->taps, job->count, at, at, COMPOSED_COLUMNS, COMPOSED_HELD);
  }
  for (; j < to; j++) {
    LANE *at = cell + j + job->first;
    NAME(filter_columns)(job->taps, job->count, at, at, 1, 1);
  }
  memmove(cell + from, cell + from + job->first, (size_t)(to - from) * sizeof *cell);
}

/* Brings the short rows' outer halves into the panel. */
static void NAME(load_ends)(const NAME(composed_job) * job, int64_t first_row, LANE *cell) {
  const stencil_problem *p = job->task->problem;
  const stencil_ends *e = &job->ends;
  const REAL *left[LANES], *right[LANES];
  for (int l = 0; l < LANES; l++) {
    const int64_t row = first_row + l < p->rows ? first_row + l : p->rows - 1;
    left[l] = job->short_rows + row * e->columns + e->prefix;
    right[l] = job->short_rows + (row + 1) * e->columns - e->reach;
  }
  NAME(load_cells)(left, e->reach, cell + e->low);
  NAME(load_cells)(right, e->reach, cell + e->to);
}

static void NAME(composed_chunk)(void *arg, int64_t chunk, int thread) {
  const NAME(composed_job) *job = arg;
  LANE *cell = (LANE *)(job->panels + (size_t)thread * job->bytes);
  NAME(load_panel)(job->task, chunk * LANES, cell);
  NAME(filter_panel)(job, cell);
  NAME(load_ends)(job, chunk * LANES, cell);
  NAME(store_panel)(job->task, chunk * LANES, cell);
  NAME(mean_panel)(job->task, chunk * LANES, cell);
}

static rung_status NAME(composed_run)(const rung_task *task, const stencil_filter *filter) {
  const stencil_problem *p = task->problem;
  const stencil_problem ends = stencil_ends_problem(p);
  const size_t offset = stencil_grid_bytes(&ends);
  NAME(composed_job)
  job = {
      .task = task,
      .ends = stencil_ends_of(p),
      .short_rows = task->scratch,
      .panels = (char *)task->scratch + offset,
      .bytes = stencil_cells_bytes(p),
      .count = filter->count,
      .first = filter->first,
  };
  for (int k = 0; k < filter->count; k++) job.taps[k] = (REAL)filter->taps[k];
  rung_parallel(task->device->threads, p->rows, NAME(composed_gather), &job);
  rung_task short_task;
  stencil_ends_task(task, &ends, task->scratch, offset, &short_task);
  const rung_status status = RUNG_ENTRY(stencil_panel)(&short_task);
  if (status != RUNG_OK) return status;
  rung_parallel(task->device->threads, (p->rows + LANES - 1) / LANES, NAME(composed_chunk), &job);
  return RUNG_OK;
}
