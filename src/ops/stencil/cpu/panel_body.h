/* The panel rung for one type: included by panel.c with REAL, LANE, LANES and NAME(x) defined.
 *
 * A panel is LANES rows turned on their side: cell[j] is a vector that holds column j of all of
 * them, so a step along the row needs no neighbour lanes. `depth` steps at once run down the
 * panel as a pipeline: while column c is read, step 1 computes column c - r, step 2 column
 * c - 1 - 2r, step s column c - (s-1) - s*r. Between two steps a window of the last 2r+1 results
 * is kept in registers; slot c % (2r+1) is the one to replace, so nothing moves. Every step works
 * on what the step before made one column earlier: no chain is longer than one sum. */

/* The inside of a row: columns [low + r*depth, high - r*depth) after `depth` steps, in place. What
 * the pipeline computes before it is full is garbage and is never stored. */
LANES_INLINE void NAME(pass)(LANE *cell, int64_t low, int64_t high, const REAL *weights,
                             const int radius, const int depth) {
  const int taps = 2 * radius + 1;
  LANE window[STENCIL_MAX_DEPTH][STENCIL_TAPS], w[STENCIL_TAPS];
#pragma GCC unroll 17
  for (int k = 0; k < taps; k++) w[k] = NAME(lanes_all)(weights[k]);
#pragma GCC unroll 10
  for (int s = 0; s < depth; s++)
#pragma GCC unroll 17
    for (int k = 0; k < taps; k++) window[s][k] = (LANE){0};

  const int64_t lag = (depth - 1) + (int64_t)depth * radius; /* from read to stored column */
  const int64_t first = low + (int64_t)radius * depth, last = high - (int64_t)radius * depth;
  for (int64_t c = low; c < last + lag; c += taps) {
#pragma GCC unroll 17
    for (int u = 0; u < taps; u++) {
      LANE fresh = (LANE){0};
#pragma GCC unroll 10
      for (int s = depth - 1; s >= 0; s--) {
        /* window[s] holds the last `taps` values of step s (step 0: the cells read); its newest,
         * one column old for s > 0, is in slot u - 1, the one before in u - 2, ... */
        if (s == 0) window[0][u] = cell[c + u];
        const int newest = s == 0 ? u : u + taps - 1;
        LANE sum = w[taps - 1] * window[s][newest % taps];
#pragma GCC unroll 17
        for (int k = taps - 2; k >= 0; k--)
          sum = NAME(lanes_fma)(w[k], window[s][(newest + taps - (taps - 1 - k)) % taps], sum);
        if (s == depth - 1)
          fresh = sum;
        else
          window[s + 1][u] = sum;
      }
      const int64_t to = c + u - lag;
      if (to >= first && to < last) cell[to] = fresh;
    }
  }
}

/* The pass for a radius and a depth, every loop unrolled. Only full depth and single steps are
 * made: what is left over after full passes goes step by step. */
#define STENCIL_PASS(r)                                                  \
  case r:                                                                \
    if (depth == 1)                                                      \
      NAME(pass)(cell, low, high, weights, r, 1);                        \
    else                                                                 \
      NAME(pass)(cell, low, high, weights, r, STENCIL_DEPTH(2 * r + 1)); \
    break;

static void NAME(pass_of)(LANE *cell, int64_t low, int64_t high, const REAL *weights, int radius,
                          int depth) {
  switch (radius) {
    STENCIL_PASS(1)
    STENCIL_PASS(2)
    STENCIL_PASS(3)
    STENCIL_PASS(4)
    STENCIL_PASS(5)
    STENCIL_PASS(6)
    STENCIL_PASS(7)
    STENCIL_PASS(8)
  }
}
#undef STENCIL_PASS

/* A stretch of columns at an end of the row, taken step by step because of what the edge rule
 * brings in. Every step loses `radius` columns on each side that is not an end. */
typedef struct NAME(strip) {
  LANE *old, *fresh; /* `count` cells, with room for a radius of ghosts on both sides */
  int64_t first, count;
} NAME(strip);

/* The cell at column c, inside the row or out, as the strips have it now. What is in no strip is
 * a fixed column, and the panel still has it. */
static LANE NAME(strip_at)(const stencil_problem *p, const NAME(strip) * strips, int count,
                           const LANE *cell, int64_t c) {
  const int64_t from = stencil_edge_column(p->edge, c, p->columns);
  if (from < 0) return NAME(lanes_all)((REAL)p->edge_value);
  for (int i = 0; i < count; i++)
    if (from >= strips[i].first && from < strips[i].first + strips[i].count)
      return strips[i].old[from - strips[i].first];
  return cell[from];
}

static void NAME(strip_step)(const stencil_problem *p, const REAL *weights, NAME(strip) * strip,
                             int64_t from, int64_t to) {
  const int r = p->radius;
  for (int64_t j = from; j < to; j++) {
    const int64_t at = j - strip->first;
    LANE sum = strip->old[at];
    if (j >= p->fixed) {
      sum = NAME(lanes_all)(weights[2 * r]) * strip->old[at + r];
      for (int k = 2 * r - 1; k >= 0; k--)
        sum = NAME(lanes_fma)(NAME(lanes_all)(weights[k]), strip->old[at + k - r], sum);
    }
    strip->fresh[at] = sum;
  }
}

static void NAME(strips_run)(const stencil_problem *p, const REAL *weights, NAME(strip) * strips,
                             int count, const LANE *cell, int64_t low, int depth) {
  const int64_t m = p->columns, r = p->radius;
  for (int i = 0; i < count; i++)
    memcpy(strips[i].old, cell + strips[i].first, (size_t)strips[i].count * sizeof *cell);
  for (int s = 1; s <= depth; s++) {
    for (int i = 0; i < count; i++) {
      NAME(strip) *strip = &strips[i];
      const int64_t end = strip->first + strip->count;
      for (int64_t g = 1; g <= r; g++) {
        if (strip->first == 0) strip->old[-g] = NAME(strip_at)(p, strips, count, cell, -g);
        if (end == m)
          strip->old[strip->count + g - 1] = NAME(strip_at)(p, strips, count, cell, m + g - 1);
      }
    }
    for (int i = 0; i < count; i++) {
      NAME(strip) *strip = &strips[i];
      const int64_t end = strip->first + strip->count;
      NAME(strip_step)
      (p, weights, strip, strip->first == low ? low : strip->first + r * s,
       end == m ? m : end - r * s);
    }
    for (int i = 0; i < count; i++) {
      LANE *swap = strips[i].old;
      strips[i].old = strips[i].fresh;
      strips[i].fresh = swap;
    }
  }
}

/* `depth` steps of the whole panel: both ends in strips, the inside in one pass. */
static void NAME(advance)(const stencil_problem *p, const REAL *weights, LANE *cell, LANE *spare,
                          int depth) {
  const int64_t m = p->columns, r = p->radius, reach = r * depth;
  const int64_t low = p->fixed > r ? p->fixed - r : 0; /* what lies left of it has no effect */
  const int64_t room = STENCIL_STRIP(r) + 2 * r;
  NAME(strip) strips[2];
  for (int i = 0; i < 2; i++) {
    strips[i].old = spare + (2 * i) * room + r;
    strips[i].fresh = spare + (2 * i + 1) * room + r;
  }
  if (m - low <= 4 * reach) { /* too short to have an inside */
    strips[0].first = low;
    strips[0].count = m - low;
    NAME(strips_run)(p, weights, strips, 1, cell, low, depth);
    memcpy(cell + low, strips[0].old, (size_t)(m - low) * sizeof *cell);
    return;
  }
  strips[0].first = low;
  strips[1].first = m - 2 * reach;
  strips[0].count = strips[1].count = 2 * reach;
  NAME(strips_run)(p, weights, strips, 2, cell, low, depth);
  NAME(pass_of)(cell, low, m, weights, (int)r, depth);
  memcpy(cell + low, strips[0].old, (size_t)reach * sizeof *cell);
  memcpy(cell + m - reach, strips[1].old + reach, (size_t)reach * sizeof *cell);
}

/* LANES rows in: rows past the last are copies of it, computed and dropped. */
static void NAME(load_panel)(const rung_task *task, int64_t first_row, LANE *cell) {
  const stencil_problem *p = task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN];
  const int64_t m = p->columns, last = p->rows - 1;
  int64_t row[LANES];
  for (int l = 0; l < LANES; l++) row[l] = first_row + l < last ? first_row + l : last;
  if (p->start.own) {
    for (int64_t j = 0; j < m; j++)
      for (int l = 0; l < LANES; l++)
        cell[j][l] = (REAL)stencil_start_value(&p->start, row[l], j, m);
    return;
  }
  const REAL *from[LANES];
  for (int l = 0; l < LANES; l++) from[l] = (const REAL *)in->data + row[l] * in->stride[0];
  int64_t j = 0;
  for (; j + LANES <= m; j += LANES) {
    LANE block[LANES];
    for (int l = 0; l < LANES; l++) block[l] = NAME(lanes_load)(from[l] + j);
    NAME(lanes_transpose)(block);
    memcpy(cell + j, block, sizeof block);
  }
  for (; j < m; j++)
    for (int l = 0; l < LANES; l++) cell[j][l] = from[l][j];
}

static void NAME(store_panel)(const rung_task *task, int64_t first_row, const LANE *cell) {
  const stencil_problem *p = task->problem;
  const rung_view *out = &task->arrays[STENCIL_OUT];
  const int64_t m = p->columns, left = p->rows - first_row;
  const int rows = left < LANES ? (int)left : LANES;
  REAL *to = (REAL *)out->data + first_row * out->stride[0];
  int64_t j = 0;
  for (; j + LANES <= m; j += LANES) {
    LANE block[LANES];
    memcpy(block, cell + j, sizeof block);
    NAME(lanes_transpose)(block);
    for (int l = 0; l < rows; l++) NAME(lanes_store)(to + l * out->stride[0] + j, block[l]);
  }
  for (; j < m; j++)
    for (int l = 0; l < rows; l++) to[l * out->stride[0] + j] = cell[j][l];
}

/* The canonical sums (core/sum.h) of all lanes' rows at once; spoils the cells. A missing element
 * is -0, which changes no sum: it is left out. */
static LANE NAME(sum_panel)(LANE *cell, int64_t m) {
  const int64_t lanes = RUNG_SUM_LANES, tile = lanes * RUNG_SUM_ROWS;
  while (m > 1) {
    const int64_t tiles = (m + tile - 1) / tile;
    for (int64_t t = 0; t < tiles; t++) {
      LANE *x = cell + t * tile;
      const int64_t count = m - t * tile < tile ? m - t * tile : tile;
      int64_t width = count < lanes ? count : lanes;
      for (int64_t l = 0; l < width; l++) {
        LANE sum = x[l];
        for (int64_t i = l + lanes; i < count; i += lanes) sum += x[i];
        x[l] = sum;
      }
      for (int64_t s = lanes / 2; s > 0; s /= 2) {
        for (int64_t l = 0; l < s && l + s < width; l++) x[l] += x[l + s];
        width = width < s ? width : s;
      }
      cell[t] = x[0];
    }
    m = tiles;
  }
  return cell[0];
}

typedef struct NAME(panel_job) {
  const rung_task *task;
  REAL weights[STENCIL_TAPS];
  size_t bytes; /* of scratch a thread */
} NAME(panel_job);

static void NAME(panel_chunk)(void *arg, int64_t chunk, int thread) {
  const NAME(panel_job) *job = arg;
  const rung_task *task = job->task;
  const stencil_problem *p = task->problem;
  const rung_view *means = &task->arrays[STENCIL_MEANS];
  LANE *cell = (LANE *)((char *)task->scratch + (size_t)thread * job->bytes);
  LANE *spare = cell + p->columns + STENCIL_PAD;
  const int64_t first_row = chunk * LANES;
  memset(cell + p->columns, 0, STENCIL_PAD * sizeof *cell);
  NAME(load_panel)(task, first_row, cell);
  const int depth = STENCIL_DEPTH(2 * p->radius + 1);
  int64_t done = 0;
  for (; done + depth <= p->steps; done += depth)
    NAME(advance)(p, job->weights, cell, spare, depth);
  for (; done < p->steps; done++) NAME(advance)(p, job->weights, cell, spare, 1);
  NAME(store_panel)(task, first_row, cell);
  if (means->count == 0) return;
  const LANE sum = NAME(sum_panel)(cell, p->columns);
  for (int l = 0; l < LANES && first_row + l < p->rows; l++)
    ((REAL *)means->data)[(first_row + l) * means->stride[0]] =
        (REAL)((double)sum[l] / (double)p->columns);
}

static void NAME(panel_run)(const rung_task *task, size_t bytes) {
  const stencil_problem *p = task->problem;
  NAME(panel_job) job = {.task = task, .bytes = bytes};
  for (int k = 0; k <= 2 * p->radius; k++) job.weights[k] = (REAL)p->scaled[k];
  rung_parallel(task->device->threads, (p->rows + LANES - 1) / LANES, NAME(panel_chunk), &job);
}
