/* The panel rung for one type: included by panel.c with REAL, LANE, LANES and NAME(x) defined.
 *
 * A panel is LANES rows turned on their side: cell[j] is a vector that holds column j of all of
 * them, so a step along the row needs no neighbour lanes. `depth` steps at once run down the
 * panel as a pipeline: while column c is read, step 0 makes column c - r of its result, step s
 * column c - 2s - (s+1)r. Between two steps a window of results stays in registers, one slot more
 * than there are taps: a step works on what the step before made two columns earlier. One column
 * earlier would do, with one slot less; but then every sum waits for one just begun, the waiting
 * sums fill the processor's scheduler, and a tenth of its speed is lost. */
#include "ops/stencil/cpu/panel_rows.h"

/* `taps` + 1 columns through the pipeline, from column c on; the slots come round once. What the
 * last step makes goes to column c - lag and on, where it is in [first, last): of that the middle
 * of the row can be sure (`sure`), so that the inner loop is arithmetic and little else. */
LANES_INLINE void NAME(columns)(LANE *cell, int64_t c, int64_t lag, int64_t first, int64_t last,
                                LANE window[STENCIL_MAX_DEPTH][STENCIL_TAPS + 1], const LANE *w,
                                const int radius, const int depth, const bool sure) {
  const int taps = 2 * radius + 1, slots = taps + 1;
#pragma GCC unroll 18
  for (int u = 0; u < slots; u++) {
    LANE fresh = (LANE){0};
#pragma GCC unroll 10
    for (int s = depth - 1; s >= 0; s--) {
      /* Step 0 works on cells, the others on window[s], what step s - 1 has made: its newest to be
       * used is in slot u - 2, the one before in u - 3, ... A single step overwrites cells that it
       * still needs: it keeps them in window[0], the newest in slot u. */
      const bool on_cells = s == 0 && depth > 1;
      const int newest = s == 0 ? u + slots : u + 2 * slots - 2;
      LANE sum = (LANE){0};
      if (s == 0 && !on_cells) window[0][u] = cell[c + u];
#pragma GCC unroll 17
      for (int k = taps - 1; k >= 0; k--) {
        const int back = taps - 1 - k;
        const LANE value = on_cells ? cell[c + u - back] : window[s][(newest - back) % slots];
        sum = back == 0 ? w[k] * value : NAME(lanes_fma)(w[k], value, sum);
      }
      if (s == depth - 1)
        fresh = sum;
      else
        window[s + 1][u] = sum;
    }
    const int64_t to = c + u - lag;
    if (sure || (to >= first && to < last)) cell[to] = fresh;
  }
}

/* The inside of a row: columns [low + r*depth, high - r*depth) after `depth` steps, in place. What
 * the pipeline computes before it is full is garbage and is never stored. `ahead` is a row wanted
 * soon: it is fetched into the second-level cache on the way, so that memory works while the pass
 * computes. */
LANES_INLINE void NAME(pass)(LANE *cell, int64_t low, int64_t high, const REAL *weights,
                             const REAL *ahead, const int radius, const int depth) {
  const int taps = 2 * radius + 1, slots = taps + 1;
  LANE window[STENCIL_MAX_DEPTH][STENCIL_TAPS + 1], w[STENCIL_TAPS];
#pragma GCC unroll 17
  for (int k = 0; k < taps; k++) w[k] = NAME(lanes_all)(weights[k]);
#pragma GCC unroll 10
  for (int s = 0; s < depth; s++)
#pragma GCC unroll 18
    for (int k = 0; k < slots; k++) window[s][k] = (LANE){0};

  const int64_t lag = 2 * (depth - 1) + (int64_t)depth * radius; /* from read to stored column */
  const int64_t first = low + (int64_t)radius * depth, last = high - (int64_t)radius * depth;
  for (int64_t c = low; c < last + lag;) {
    const int64_t until = c < first + lag ? first + lag : last + lag; /* the ends, in one loop */
    for (; c < until; c += slots)
      NAME(columns)(cell, c, lag, first, last, window, w, radius, depth, false);
    for (; c + slots <= last + lag; c += slots) {
      __builtin_prefetch(ahead + c, 0, 2);
      NAME(columns)(cell, c, lag, first, last, window, w, radius, depth, true);
    }
  }
}

/* The pass for a radius and a depth, every loop unrolled. Only full depth and single steps are
 * made: what is left over after full passes goes step by step. */
#define STENCIL_PASS(r)                                                         \
  case r:                                                                       \
    if (depth == 1 || STENCIL_DEPTH(2 * r + 1) == 1)                            \
      NAME(pass)(cell, low, high, weights, ahead, r, 1);                        \
    else                                                                        \
      NAME(pass)(cell, low, high, weights, ahead, r, STENCIL_DEPTH(2 * r + 1)); \
    break;

static void NAME(pass_of)(LANE *cell, int64_t low, int64_t high, const REAL *weights,
                          const REAL *ahead, int radius, int depth) {
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
  const int64_t from = rung_edge_index(p->edge, c, p->columns);
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
                          const REAL *ahead, int depth) {
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
  NAME(pass_of)(cell, low, m, weights, ahead, (int)r, depth);
  memcpy(cell + low, strips[0].old, (size_t)reach * sizeof *cell);
  memcpy(cell + m - reach, strips[1].old + reach, (size_t)reach * sizeof *cell);
}

typedef struct NAME(panel_job) {
  const rung_task *task;
  REAL weights[STENCIL_TAPS];
  size_t bytes; /* of scratch a thread */
} NAME(panel_job);

/* A row to fetch during a pass: of the panel this thread is likely to get next, a row a pass. Where
 * there is none, any memory of the thread's own does. */
static const REAL *NAME(row_ahead)(const rung_task *task, int64_t first_row, int pass) {
  const stencil_problem *p = task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN];
  const int64_t row = first_row + (int64_t)task->device->threads * LANES + pass;
  if (p->start.own || pass >= LANES || row >= p->rows) return task->scratch;
  return (const REAL *)in->data + row * in->stride[0];
}

static void NAME(panel_chunk)(void *arg, int64_t chunk, int thread) {
  const NAME(panel_job) *job = arg;
  const rung_task *task = job->task;
  const stencil_problem *p = task->problem;
  LANE *cell = (LANE *)((char *)task->scratch + (size_t)thread * job->bytes) + STENCIL_PAD;
  LANE *spare = cell + p->columns + STENCIL_PAD;
  const int64_t first_row = chunk * LANES;
  memset(cell - STENCIL_PAD, 0, STENCIL_PAD * sizeof *cell);
  memset(cell + p->columns, 0, STENCIL_PAD * sizeof *cell);
  NAME(load_panel)(task, first_row, cell);
  const int depth = STENCIL_DEPTH(2 * p->radius + 1);
  int64_t done = 0;
  for (int pass = 0; done + depth <= p->steps; done += depth, pass++)
    NAME(advance)(p, job->weights, cell, spare, NAME(row_ahead)(task, first_row, pass), depth);
  for (; done < p->steps; done++) NAME(advance)(p, job->weights, cell, spare, task->scratch, 1);
  NAME(store_panel)(task, first_row, cell);
  NAME(mean_panel)(task, first_row, cell);
}

static void NAME(panel_run)(const rung_task *task, size_t bytes) {
  const stencil_problem *p = task->problem;
  NAME(panel_job) job = {.task = task, .bytes = bytes};
  for (int k = 0; k <= 2 * p->radius; k++) job.weights[k] = (REAL)p->scaled[k];
  rung_parallel(task->device->threads, (p->rows + LANES - 1) / LANES, NAME(panel_chunk), &job);
}
