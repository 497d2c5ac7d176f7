/* How CPU rungs cut an image into blocks, and the scratch they take: the same for every instruction
 * set. */
#ifndef RUNG_CORRELATE_CPU_SIZES_H
#define RUNG_CORRELATE_CPU_SIZES_H

#include "ops/correlate/correlate.h"

enum {
  CORRELATE_PANEL = 1536,       /* bytes of a block's row of sums: 24 of the widest vectors */
  CORRELATE_CHAINS = 192 << 10, /* bytes of chains that go on from block to block, at most */
  CORRELATE_ROWS = 64,          /* of a block, at most */
  CORRELATE_GROUP = 6,          /* rows of a kernel in a pass, at most */
  CORRELATE_STRIP = 512,        /* bytes of the widest strip */
  CORRELATE_LINE = 64
};

/* A block in scratch, in bytes: its part of the image, widened, and its sums; and the chains of a
 * panel that are under way between two blocks. Rows are an odd number of lines apart, so that a
 * column of them falls into all sets of a cache. */
typedef struct correlate_block {
  int64_t size;   /* of a sum */
  int64_t rows;   /* of the image */
  int64_t passes; /* over a kernel's rows; every one's sums begin a row higher */
  int64_t parts;  /* of CORRELATE_PANEL bytes that a panel has at most; 0: no chains are kept */
  int64_t in_row, sums_row, chains_row, sums, chains, bytes;
} correlate_block;

static inline int64_t correlate_odd_lines(int64_t bytes) {
  return ((bytes + CORRELATE_LINE - 1) / CORRELATE_LINE | 1) * CORRELATE_LINE;
}

static inline correlate_block correlate_block_of(const correlate_problem *p) {
  correlate_block b;
  const int64_t most = p->rows < CORRELATE_ROWS ? p->rows : CORRELATE_ROWS;
  b.size = p->types.accumulate == RUNG_F32 || p->small ? sizeof(float) : sizeof(double);
  b.rows = most + p->kernel_rows - 1;
  const int64_t widest = p->columns * p->channels * b.size + CORRELATE_STRIP;
  const int64_t row = widest < CORRELATE_PANEL ? widest : CORRELATE_PANEL;
  b.in_row = correlate_odd_lines(row + (p->kernel_columns - 1) * p->channels * b.size);
  b.sums_row = correlate_odd_lines(row);
  b.sums = b.rows * b.in_row;
  /* A pass of g rows begins g - 1 rows above the first: of few rows that is most of it. */
  const int64_t group = p->rows < 1 ? 1 : p->rows < CORRELATE_GROUP ? p->rows : CORRELATE_GROUP;
  b.passes = (p->kernel_rows + group - 1) / group;
  b.chains = b.sums + (b.passes + b.rows) * b.sums_row;
  const bool low = p->rows < CORRELATE_ROWS; /* one block is all there is */
  b.parts = low ? 0 : CORRELATE_CHAINS / CORRELATE_PANEL / (p->kernels * p->kernel_rows);
  const int64_t panel = b.parts * CORRELATE_PANEL + CORRELATE_STRIP;
  b.chains_row = correlate_odd_lines(widest < panel ? widest : panel);
  b.bytes = b.chains + (b.parts > 0 ? p->kernels * p->kernel_rows * b.chains_row : 0);
  return b;
}

/* What `separable` keeps of a panel of columns that it sweeps down: a piece of a row of the image,
 * widened; a ring of the last rows of sums along the row; and a piece of some rows of results. */
enum {
  CORRELATE_HIGH = 4, /* rows that are made at once, so that memory is read along its rows */
  CORRELATE_RING = 384 << 10, /* bytes of the ring, about: it stays in the second-level cache */
};

typedef struct correlate_sweep {
  int64_t size;  /* of a sum */
  int64_t panel; /* bytes of a row of a panel: whole pieces of CORRELATE_PANEL */
  int64_t line, row, sums_row, sums, bytes;
} correlate_sweep;

static inline int64_t correlate_pieces(int64_t bytes) {
  return (bytes + CORRELATE_PANEL - 1) / CORRELATE_PANEL;
}

static inline correlate_sweep correlate_sweep_of(const correlate_problem *p) {
  correlate_sweep s;
  const int64_t rows = p->kernel_rows + CORRELATE_HIGH - 1;
  s.size = correlate_number_of(p) == RUNG_F32 ? sizeof(float) : sizeof(double);
  const int64_t all = correlate_pieces(p->columns * p->channels * s.size);
  const int64_t pieces = all > 0 ? all : 1; /* of an image without columns, too */
  const int64_t most = correlate_pieces(CORRELATE_RING / rows), panels = (pieces + most - 1) / most;
  s.panel = (pieces + panels - 1) / panels * CORRELATE_PANEL;
  s.row = correlate_odd_lines(s.panel + CORRELATE_STRIP);
  s.line = correlate_odd_lines(CORRELATE_PANEL + CORRELATE_STRIP +
                               (p->kernel_columns - 1) * p->channels * s.size);
  s.sums_row = correlate_odd_lines(CORRELATE_PANEL);
  s.sums = s.line + rows * s.row;
  s.bytes = s.sums + CORRELATE_HIGH * s.sums_row;
  return s;
}

/* Columns and rows of all kernels. */
static inline int64_t correlate_factors_bytes(const correlate_problem *p) {
  const int64_t taps = p->kernels * (p->kernel_rows + p->kernel_columns);
  return correlate_odd_lines(taps * correlate_sweep_of(p).size);
}

static inline size_t correlate_separable_scratch(const correlate_problem *p, int threads) {
  return (size_t)(correlate_factors_bytes(p) + threads * correlate_sweep_of(p).bytes);
}

/* The taps, as sums have them. */
static inline int64_t correlate_taps_bytes(const correlate_problem *p) {
  const int64_t taps = p->kernels * p->kernel_rows * p->kernel_columns;
  return correlate_odd_lines(taps * correlate_block_of(p).size);
}

static inline size_t correlate_filter_scratch(const correlate_problem *p, int threads) {
  return (size_t)(correlate_taps_bytes(p) + threads * correlate_block_of(p).bytes);
}

static inline int64_t correlate_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

#endif
