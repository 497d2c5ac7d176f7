/* One row on the CPU: how it starts, and one step of it, for one type. Included with
 * REAL, NAME(x) and FUSED (fmaf or fma) defined; every CPU rung but `panel` is made of these. */

/* Row i's start into `row`: the input's elements, or the radiator's own. */
static inline void NAME(load_row)(const rung_task *task, int64_t i, REAL *row) {
  const stencil_problem *p = task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN];
  if (p->start.own) {
    for (int64_t j = 0; j < p->columns; j++)
      row[j] = (REAL)stencil_start_value(&p->start, i, j, p->columns);
    return;
  }
  memmove(row, (const REAL *)in->data + i * in->stride[0], (size_t)p->columns * sizeof *row);
}

/* The value at index c of a row, inside or outside. */
static inline REAL NAME(at)(const stencil_problem *p, const REAL *row, int64_t c) {
  const int64_t from = rung_edge_index(p->edge, c, p->columns);
  return from < 0 ? (REAL)p->edge_value : row[from];
}

/* The textbook's arithmetic: weights as given, products and sums each rounded, left to right, the
 * sum divided at the end; an `if` in disguise for every tap that may lie outside. */
static inline REAL NAME(textbook_at_edge)(const stencil_problem *p, const REAL *row, int64_t j) {
  const int r = p->radius;
  REAL sum = (REAL)p->weights[0] * NAME(at)(p, row, j - r);
  for (int k = 1; k <= 2 * r; k++) sum += (REAL)p->weights[k] * NAME(at)(p, row, j + k - r);
  return sum / (REAL)p->divide;
}

LANES_INLINE void NAME(textbook_inside)(const REAL *w, REAL divide, const int radius, int64_t from,
                                        int64_t to, const REAL *restrict old,
                                        REAL *restrict fresh) {
  for (int64_t j = from; j < to; j++) {
    REAL sum = w[0] * old[j - radius];
#pragma GCC unroll 17
    for (int k = 1; k <= 2 * radius; k++) sum += w[k] * old[j + k - radius];
    fresh[j] = sum / divide;
  }
}

/* The contract's chain, where a tap may lie outside the row. */
static inline REAL NAME(chain_at_edge)(const stencil_problem *p, const REAL *row, int64_t j) {
  const int r = p->radius;
  REAL sum = (REAL)p->scaled[2 * r] * NAME(at)(p, row, j + r);
  for (int k = r - 1; k >= -r; k--)
    sum = FUSED((REAL)p->scaled[k + r], NAME(at)(p, row, j + k), sum);
  return sum;
}

/* One step of a row by the contract's chain; the compiler vectorises the loop over columns. */
LANES_INLINE void NAME(chain_inside)(const REAL *w, const int radius, int64_t from, int64_t to,
                                     const REAL *restrict old, REAL *restrict fresh) {
  for (int64_t j = from; j < to; j++) {
    REAL sum = w[2 * radius] * old[j + radius];
#pragma GCC unroll 17
    for (int k = 2 * radius - 1; k >= 0; k--) sum = FUSED(w[k], old[j + k - radius], sum);
    fresh[j] = sum;
  }
}

/* A step of one row: the ends tap by tap, the inside at speed. */
typedef void NAME(step)(const stencil_problem *p, const REAL *restrict old, REAL *restrict fresh);

/* Columns [*from, *to) have all their taps inside the row; [fixed, *from) and [*to, m) do not. */
static inline void NAME(inside_of)(const stencil_problem *p, int64_t *from, int64_t *to) {
  const int64_t m = p->columns, r = p->radius;
  *from = p->fixed > r ? p->fixed : r;
  if (*from > m) *from = m;
  *to = m - r > *from ? m - r : *from;
}

#define STENCIL_BY_RADIUS(r, call) \
  switch (r) {                     \
    case 1:                        \
      call(1);                     \
      break;                       \
    case 2:                        \
      call(2);                     \
      break;                       \
    case 3:                        \
      call(3);                     \
      break;                       \
    case 4:                        \
      call(4);                     \
      break;                       \
    default:                       \
      call(p->radius);             \
  }

static inline void NAME(step_chain)(const stencil_problem *p, const REAL *restrict old,
                                    REAL *restrict fresh) {
  int64_t from, to;
  REAL w[STENCIL_TAPS];
  for (int k = 0; k <= 2 * p->radius; k++) w[k] = (REAL)p->scaled[k];
  NAME(inside_of)(p, &from, &to);
  memcpy(fresh, old, (size_t)p->fixed * sizeof *old);
  for (int64_t j = p->fixed; j < from; j++) fresh[j] = NAME(chain_at_edge)(p, old, j);
#define CALL(radius) NAME(chain_inside)(w, radius, from, to, old, fresh)
  STENCIL_BY_RADIUS(p->radius, CALL)
#undef CALL
  for (int64_t j = to; j < p->columns; j++) fresh[j] = NAME(chain_at_edge)(p, old, j);
}

static inline void NAME(step_textbook)(const stencil_problem *p, const REAL *restrict old,
                                       REAL *restrict fresh) {
  int64_t from, to;
  const REAL divide = (REAL)p->divide;
  REAL w[STENCIL_TAPS];
  for (int k = 0; k <= 2 * p->radius; k++) w[k] = (REAL)p->weights[k];
  NAME(inside_of)(p, &from, &to);
  memcpy(fresh, old, (size_t)p->fixed * sizeof *old);
  for (int64_t j = p->fixed; j < from; j++) fresh[j] = NAME(textbook_at_edge)(p, old, j);
#define CALL(radius) NAME(textbook_inside)(w, divide, radius, from, to, old, fresh)
  STENCIL_BY_RADIUS(p->radius, CALL)
#undef CALL
  for (int64_t j = to; j < p->columns; j++) fresh[j] = NAME(textbook_at_edge)(p, old, j);
}
#undef STENCIL_BY_RADIUS

static inline void NAME(mean_row)(const rung_task *task, int64_t i, const REAL *row) {
  const rung_view *means = &task->arrays[STENCIL_MEANS];
  const int64_t m = ((const stencil_problem *)task->problem)->columns;
  if (means->count == 0) return;
  ((REAL *)means->data)[i * means->stride[0]] =
      NAME(reduce_mean)(RUNG_ENTRY(NAME(reduce_sum))(row, m), m);
}

/* The whole grid step by step, as the textbook has it: from one copy of the grid into the other.
 * One copy is the output, the other lies in scratch; which of them holds the start is chosen so
 * that the last step ends in the output. */
typedef struct NAME(grid_job) {
  const rung_task *task;
  NAME(step) * step;
  const REAL *old;
  REAL *fresh;
  int64_t old_stride, fresh_stride;
} NAME(grid_job);

enum { NAME(GRID_ROWS) = 8 }; /* rows a thread takes at once */

static inline void NAME(grid_chunk)(void *arg, int64_t chunk, int thread) {
  const NAME(grid_job) *job = arg;
  const stencil_problem *p = job->task->problem;
  const int64_t end = (chunk + 1) * NAME(GRID_ROWS);
  (void)thread;
  for (int64_t i = chunk * NAME(GRID_ROWS); i < end && i < p->rows; i++) {
    REAL *fresh = job->fresh + i * job->fresh_stride;
    if (job->old == NULL)
      NAME(load_row)(job->task, i, fresh);
    else if (job->step == NULL)
      NAME(mean_row)(job->task, i, fresh);
    else
      job->step(p, job->old + i * job->old_stride, fresh);
  }
}

static inline void NAME(sweep_grid)(const rung_task *task, NAME(step) * step, int threads) {
  const stencil_problem *p = task->problem;
  const rung_view *out = &task->arrays[STENCIL_OUT];
  const int64_t chunks = (p->rows + NAME(GRID_ROWS) - 1) / NAME(GRID_ROWS);
  REAL *grid[2] = {(REAL *)out->data, task->scratch};
  const int64_t stride[2] = {out->stride[0], p->columns};
  NAME(grid_job) job = {.task = task, .step = step};
  for (int64_t s = -1; s < p->steps; s++) {
    const int to = (int)((p->steps - 1 - s) % 2);
    job.old = s < 0 ? NULL : grid[1 - to];
    job.old_stride = stride[1 - to];
    job.fresh = grid[to];
    job.fresh_stride = stride[to];
    rung_parallel(threads, chunks, NAME(grid_chunk), &job);
  }
  if (task->arrays[STENCIL_MEANS].count == 0) return;
  job.old = job.fresh; /* not the start any more, even where no step was taken */
  job.step = NULL;
  rung_parallel(threads, chunks, NAME(grid_chunk), &job);
}
