/* An image filtered block by block: what the rungs `rows` and `threads` share, and, of that,
 * `separable`. Compiled once per instruction set. */
#ifndef RUNG_CORRELATE_CPU_FILTER_H
#define RUNG_CORRELATE_CPU_FILTER_H

#include "backend/cpu/isa.h"
#include "ops/correlate/cpu/sizes.h"

/* Some rows of a kernel on a block. Steps are in elements. */
typedef struct correlate_pass {
  int taps_rows, taps_columns;
  const void *taps;
  int64_t step;   /* from a tap to the next: the image's channels */
  const void *in; /* the row that out's row 0 has under the first row of these taps; of chains that
                     are resumed the first that they have not met */
  int64_t in_row;
  const void *sums; /* what earlier rows have made of the chains; NULL: +0 */
  int64_t sums_row;
  void *chains; /* taps_rows rows of what is under way between two blocks */
  int64_t chains_row;
  bool resumed, kept; /* whether the block above has left such; whether the one below needs it */
  void *to;           /* may be `sums`, but a row higher where chains are resumed or kept */
  int64_t to_row;
  bool stream;     /* past the caches: `to` and its rows are multiples of 64 bytes then */
  int64_t rows, n; /* of output */
  /* What will be read next, rows of elements that have next_size bytes; NULL: nothing. */
  const char *next;
  int64_t next_row, next_size; /* bytes */
} correlate_pass;

/* Single columns of taps on rows that need not lie evenly: out's row r is the chain over rows
 * [r, r + taps), for CORRELATE_HIGH rows at once. */
typedef struct correlate_columns {
  int count; /* of taps */
  const void *taps;
  const char **rows; /* count + CORRELATE_HIGH - 1 of them */
  void *to;
  int64_t to_row;
  bool stream;     /* as in a pass */
  int64_t high, n; /* rows of output, at most CORRELATE_HIGH; elements of these, whole strips */
} correlate_columns;

/* Kernels by the type of the sums. */
typedef struct correlate_kernels {
  rung_dtype dtype;
  int most;          /* rows of a kernel in a pass */
  const int *strips; /* of so many rows, from one on: elements, a part of CORRELATE_PANEL */
  /* Reads and writes rows of n elements, rounded up to strips. */
  void (*pass)(const correlate_pass *pass);
  int strip; /* elements that columns() makes at once, a part of CORRELATE_PANEL */
  void (*columns)(const correlate_columns *columns);
  /* n elements of the image's type as numbers of the sums', and sums as elements of out's. */
  void (*widen)(rung_dtype in, const void *from, int64_t n, void *to);
  void (*finish)(rung_dtype out, const void *sums, int64_t n, void *to);
  void (*set)(void *to, int64_t at, int64_t n, double value); /* n numbers from `at` on */
} correlate_kernels;

extern const correlate_kernels RUNG_ENTRY(correlate_kernels_f32), RUNG_ENTRY(correlate_kernels_f64),
    RUNG_ENTRY(correlate_kernels_i64);

/* Those of correlate_number_of(). */
const correlate_kernels *RUNG_ENTRY(correlate_kernels_of)(const correlate_problem *p);

/* Where the image has what n elements of out from x on need, in its rows [r, r + rows); NULL: it
 * has not all of it. */
static inline const char *correlate_inside(const rung_task *task, int64_t r, int64_t rows,
                                           int64_t x, int64_t n) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t left = p->first_column * p->channels + x;
  if (r < 0 || r + rows > p->height || left < 0 ||
      left + n + (p->kernel_columns - 1) * p->channels > p->width * p->channels)
    return NULL;
  return correlate_in_row(task, r) + left * (int64_t)rung_dtype_bytes(p->types.in);
}

/* Row r of the image, which may be outside, widened at its edges: what n elements of out from x on
 * need, and zeros behind it, as far as there is room, for the widest strip. */
void RUNG_ENTRY(correlate_widen)(const rung_task *task, const correlate_kernels *of, int64_t r,
                                 int64_t x, int64_t n, int64_t room, char *to);

/* All of the task on at most so many threads; its scratch is correlate_filter_scratch(). */
rung_status RUNG_ENTRY(correlate_filter)(const rung_task *task, int threads);

#endif
