/* Tiles in shared memory: their extents and bytes, for the ladder and the rungs. */
#ifndef RUNG_CORRELATE_TILES_H
#define RUNG_CORRELATE_TILES_H

#include "ops/correlate/correlate.h"

/* Bytes of a number as it is kept in shared memory. */
static inline int64_t correlate_number_bytes(const correlate_problem *p) {
  if (p->types.accumulate == RUNG_I64) return p->small ? 4 : 8;
  return p->types.accumulate == RUNG_F64 ? 8 : 4;
}

/* Threads across and down; each makes an element. */
typedef struct correlate_shape {
  unsigned x, y;
} correlate_shape;

/* A warp at least, 32 wide. */
static inline correlate_shape correlate_shared_block(const rung_task *task) {
  const unsigned threads = task->block == 0 ? 256 : (unsigned)task->block;
  const correlate_shape shape = {32, threads < 32 ? 1 : threads / 32};
  return shape;
}

static inline int64_t correlate_shared_bytes(const rung_task *task) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const correlate_shape shape = correlate_shared_block(task);
  return (shape.y + p->kernel_rows - 1) * (shape.x + p->kernel_columns - 1) *
         correlate_number_bytes(p);
}

/* Elements that a thread makes one under another, where it keeps them in registers alone. */
enum { CORRELATE_COLUMN = 8 };

/* ---- several elements a thread ----------------------------------------------------------------
 *
 * A thread makes `rows` rows of `groups` vectors of 16 bytes each; so many lanes of a warp lie side
 * by side, the others and the other warps below. */

typedef struct correlate_panel {
  int rows, groups, vector; /* elements of a vector */
  int lanes, warps;
} correlate_panel;

static inline int64_t correlate_panel_columns(const correlate_panel *panel) {
  return panel->lanes * (int64_t)panel->groups * panel->vector;
}
static inline int64_t correlate_panel_rows(const correlate_panel *panel) {
  return (int64_t)panel->rows * panel->warps * (32 / panel->lanes);
}
/* Numbers from a row of the tile to the next: the last taps' vector begins within. */
static inline int64_t correlate_panel_pitch(const correlate_panel *panel, int kernel_columns) {
  return correlate_panel_columns(panel) + (kernel_columns + 3) / 4 * 4 + 4;
}
static inline int64_t correlate_panel_bytes(const correlate_panel *panel, int kernel_rows,
                                            int kernel_columns, int64_t number) {
  const int64_t rows = correlate_panel_rows(panel) + kernel_rows - 1;
  const int64_t taps = (int64_t)kernel_rows * ((kernel_columns + 3) / 4 * 4);
  return (rows * correlate_panel_pitch(panel, kernel_columns) + taps) * number;
}

static inline int64_t correlate_panel_blocks(const rung_task *task, const correlate_panel *panel) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t wide = correlate_panel_columns(panel), high = correlate_panel_rows(panel);
  return (p->columns + wide - 1) / wide * ((p->rows + high - 1) / high) * p->channels;
}

/* How long a multiprocessor takes for `blocks` of its blocks at a time: warps hide each other's
 * delays, and wide panels load less by multiply-add. Fitted to an H100's times of 17 to 31 rows of
 * taps; the unit is of no account. */
static inline int64_t correlate_panel_time(const correlate_panel *panel, int64_t blocks) {
  const int64_t rate = panel->groups == 1 ? 9 : 14, delay = panel->groups == 1 ? 6 : 5;
  const int64_t elements = correlate_panel_columns(panel) * correlate_panel_rows(panel);
  return blocks == 0 ? 0 : elements * (blocks * panel->warps + delay) / (panel->warps * rate);
}

/* Of the panels whose tiles fit that which takes the least time: large tiles load and read little
 * twice, small ones leave no multiprocessor without any. The last is for what else does not fit. */
static inline correlate_panel correlate_panel_of(const rung_task *task) {
  static const correlate_panel singles[] = {
      {4, 4, 4, 16, 8}, {4, 4, 4, 16, 4}, {4, 1, 4, 32, 8}, {4, 1, 4, 32, 4}, {4, 1, 4, 32, 2}};
  static const correlate_panel doubles[] = {
      {4, 4, 2, 32, 8}, {4, 4, 2, 32, 4}, {4, 1, 2, 32, 8}, {4, 1, 2, 32, 4}, {4, 1, 2, 32, 2}};
  enum { PANELS = sizeof singles / sizeof *singles };
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t number = correlate_number_bytes(p), room = task->device->shared_bytes;
  const correlate_panel *panels = number == 4 ? singles : doubles, *best = &panels[PANELS - 1];
  int64_t least = INT64_MAX;
  for (const correlate_panel *panel = panels; panel < &panels[PANELS - 1]; panel++) {
    const int64_t bytes = correlate_panel_bytes(panel, p->kernel_rows, p->kernel_columns, number);
    if (bytes > room) continue;
    const int64_t most = (panel->groups == 1 ? 32 : 16) / panel->warps, fit = room / bytes;
    const int64_t held = fit < most ? fit : most;
    const int64_t each = (correlate_panel_blocks(task, panel) + task->device->processors - 1) /
                         task->device->processors;
    const int64_t time =
        each / held * correlate_panel_time(panel, held) + correlate_panel_time(panel, each % held);
    if (time >= least) continue;
    least = time;
    best = panel;
  }
  return *best;
}

/* ---- a block walks down, in two passes --------------------------------------------------------
 */

/* A block's columns, a thread each, in bytes; rows that it takes at a time. */
enum { CORRELATE_SWEPT_BYTES = 1024, CORRELATE_SWEPT_ROWS = 8 };

/* Numbers from a row of the tile to the next: what runs of 32 bytes load, and 16 bytes more than a
 * multiple of 128. */
static inline int correlate_swept_pitch(const correlate_problem *p, int number) {
  const int run = 32 / number, line = 128 / number, more = 16 / number;
  const int least = CORRELATE_SWEPT_BYTES / number + p->kernel_columns / run * run + run;
  return (least - more + line - 1) / line * line + more;
}

/* Two tiles, and the sums along the rows of one. */
static inline int64_t correlate_swept_bytes(const correlate_problem *p, int number) {
  const int64_t numbers =
      2 * correlate_swept_pitch(p, number) + (CORRELATE_SWEPT_BYTES + 16) / number;
  return CORRELATE_SWEPT_ROWS * numbers * number;
}

/* Rows that a block makes, of which `across` lie side by side and a multiprocessor holds so many:
 * those of one wave, but not so few that the rows above, which are summed twice, are most of them.
 */
static inline int64_t correlate_swept_high(const rung_task *task, int64_t across, int blocks) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t all = (int64_t)blocks * task->device->processors;
  const int64_t down = across < all ? all / across : 1;
  const int64_t wave = (p->rows + down - 1) / down;
  const int64_t least = p->kernel_rows + CORRELATE_SWEPT_ROWS;
  return wave < least ? least : wave;
}

/* ---- a block walks down ------------------------------------------------------------------------
 */

/* Rows and columns of a kernel, at most, and of one that is taken as narrow; rows that a block
 * makes, at most, and its threads. */
enum {
  CORRELATE_STREAMED = 16,
  CORRELATE_NARROW = 8,
  CORRELATE_STRIP_ROWS = 256,
  CORRELATE_STRIP_THREADS = 128
};

/* There is a kernel of the GPU for every number of columns, of several channels for the usual ones;
 * tall ones are kept where many columns, or a single one, want them. */
static inline bool correlate_streams(int rows, int columns, int channels) {
  if (channels > 1) return rows <= CORRELATE_NARROW && columns > 1 && columns < 8 && columns % 2;
  if (rows > CORRELATE_STREAMED || columns > CORRELATE_STREAMED) return false;
  return rows <= CORRELATE_NARROW || columns > CORRELATE_NARROW || columns == 1;
}

/* Of taps of integers the first that is no signed byte, or 0. */
static inline int32_t correlate_wide_tap(const correlate_problem *p) {
  const int64_t count = p->kernels * p->kernel_rows * p->kernel_columns;
  for (int64_t i = 0; i < count; i++) {
    const int32_t tap = ((const int32_t *)p->taps)[i];
    if (tap < INT8_MIN || tap > INT8_MAX) return tap;
  }
  return 0;
}

/* Whether the image is of bytes and all taps are signed ones: products of which instructions take
 * several at a time. */
static inline bool correlate_of_bytes(const correlate_problem *p) {
  return p->types.in == RUNG_U8 && p->types.accumulate == RUNG_I64 && correlate_wide_tap(p) == 0;
}

/* ---- bands ------------------------------------------------------------------------------------
 */

/* Elements of a row of taps, and steps of 32 bytes that hold them for 16 outputs; at most so many
 * steps. */
enum { CORRELATE_BAND_STEPS = 3 };
static inline int correlate_band_columns(const correlate_problem *p) {
  return (p->kernel_columns - 1) * p->channels + 1;
}
static inline int correlate_band_steps(const correlate_problem *p) {
  return (correlate_band_columns(p) + 15 + 31) / 32;
}
/* The band, in the device's memory: 16 bytes a lane, step and row of taps. */
static inline int64_t correlate_band_bytes(const correlate_problem *p) {
  return (int64_t)p->kernel_rows * correlate_band_steps(p) * 32 * 16;
}

/* Rows that a block of `threads` makes, of `vector` columns a thread and so many rows of taps, of
 * which blocks `across` lie side by side and a multiprocessor holds `blocks`. Those share its issue
 * slots and the memory, and every row has its delays; as many rows as the kernel has, but one, come
 * through in vain. Of what takes nearly the least time, that with most blocks. */
static inline int correlate_strip_rows(const rung_task *task, int64_t across, int blocks,
                                       int threads, int vector, int taps_rows) {
  const int64_t delay = 330, bytes_a_cycle = 16, other = 76; /* in cycles and slots, of an H200 */
  const correlate_problem *p = (const correlate_problem *)task->problem;
  /* So many blocks side by side count as one of the usual size. */
  const int together = CORRELATE_STRIP_THREADS / threads;
  across = (across + together - 1) / together;
  blocks /= together;
  const int64_t moved = (int64_t)CORRELATE_STRIP_THREADS * vector *
                        (int64_t)(rung_dtype_bytes(p->types.in) + rung_dtype_bytes(p->types.out));
  const int64_t taps = (int64_t)taps_rows * p->kernel_columns,
                issued = taps * vector + taps / 2 + other;
  const int64_t row = issued > moved / bytes_a_cycle ? issued : moved / bytes_a_cycle;
  int64_t best = 1, least = INT64_MAX;
  for (int pass = 0; pass < 2; pass++)
    for (int held = 1; held <= blocks; held++) {
      int64_t down = (int64_t)held * task->device->processors / across;
      if (down < 1) down = 1;
      int64_t high = (p->rows + down - 1) / down;
      const int64_t waves = (high + CORRELATE_STRIP_ROWS - 1) / CORRELATE_STRIP_ROWS;
      high = (high + waves - 1) / waves;
      const int64_t time = waves * (high + taps_rows - 1) * (delay + row * held);
      if (pass == 0 && time < least) least = time;
      if (pass == 1 && time <= least + least / 32) best = high;
    }
  return (int)best;
}

#endif
