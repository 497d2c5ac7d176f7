/* Fixed point on a GPU: in how many pieces k is looked through and multiplied, and what memory that
 * takes besides the planes. For the host and for kernels' launches. */
#ifndef RUNG_MATMUL_PIECES_H
#define RUNG_MATMUL_PIECES_H

#include "ops/matmul/fixed.h"

/* 32 bits hold a level's products of so many k: of n pairs of digits the two that have a highest
 * one are at most 2^13 each, the others 2^14. */
enum { MATMUL_PIECE = 1 << 15 };

typedef struct matmul_pieces {
  int a, b;          /* of k, in which the largest magnitudes of lines are looked for */
  size_t a_at, b_at; /* where in scratch those of the pieces are, behind the planes */
  size_t bytes;      /* of scratch, planes included */
  int product;       /* of k, whose products are added up by different blocks */
  int64_t length;    /* of such a piece */
  size_t counters;   /* where in zeros the tiles' counters are, behind sums of 64 bits */
  size_t zeros;      /* bytes of them; 0: one piece */
} matmul_pieces;

/* As many as give every multiprocessor two strips of 32 lines, but none shorter than 256. */
static inline int matmul_look_pieces(const rung_task *task, int64_t matrices, int64_t lines,
                                     int64_t k) {
  const int64_t strips = matrices * ((lines + 31) / 32), wanted = 2 * task->device->processors;
  int64_t pieces = strips == 0 ? 1 : wanted / strips;
  if (pieces > k / 256) pieces = k / 256;
  return pieces < 1 ? 1 : pieces > 32 ? 32 : (int)pieces;
}

static inline int64_t matmul_squares(const matmul_problem *p, int side) {
  return p->batch * ((p->m + side - 1) / side) * ((p->n + side - 1) / side);
}

/* For products of tiles of `side` by `side`, of which `blocks` run at once; a piece of k is at
 * least `least` long. side 0: products are not cut. */
static inline matmul_pieces matmul_pieces_of(const rung_task *task, int side, int64_t blocks,
                                             int64_t least) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_planes planes = matmul_planes_of(task);
  matmul_pieces of = {0, 0, 0, 0, 0, 1, planes.pitch, 0, 0};
  of.a = matmul_look_pieces(task, planes.a_matrices, p->m, p->k);
  of.b = matmul_look_pieces(task, planes.b_matrices, p->n, p->k);
  of.a_at = planes.bytes;
  of.b_at = of.a_at + matmul_whole_256(planes.a_matrices * p->m * 4 * of.a);
  of.bytes = of.b_at + matmul_whole_256(planes.b_matrices * p->n * 4 * of.b);
  if (side == 0 || p->k == 0) return of;
  const int64_t tiles = matmul_squares(p, side);
  int64_t pieces = tiles == 0 ? 1 : blocks / tiles;
  if (pieces > p->k / least) pieces = p->k / least;
  if (pieces < 1) pieces = 1;
  of.length = (p->k + pieces - 1) / pieces;
  if (of.length > MATMUL_PIECE) of.length = MATMUL_PIECE;
  of.length = (of.length + MATMUL_FIXED_LINE - 1) / MATMUL_FIXED_LINE * MATMUL_FIXED_LINE;
  of.product = (int)((p->k + of.length - 1) / of.length);
  if (of.product == 1) return of;
  of.counters = matmul_whole_256(p->batch * p->m * p->n * 8);
  of.zeros = of.counters + matmul_whole_256(tiles * 8);
  return of;
}

/* Of the rungs that cut products: */
static inline int matmul_mma_side(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  return matmul_squares(p, 128) * 4 >= task->device->processors * 3 ? 128 : 64;
}
static inline matmul_pieces matmul_mma_pieces(const rung_task *task) {
  return matmul_pieces_of(task, matmul_mma_side(task), task->device->processors, 256);
}
static inline matmul_pieces matmul_wgmma_pieces(const rung_task *task) {
  return matmul_pieces_of(task, 256, task->device->processors / 2, 512);
}

/* Of `fused`, which has no planes: how k is cut for products, two blocks a multiprocessor, and for
 * the look at it before. */
enum { MATMUL_FUSED_SIDE = 64 };

typedef struct matmul_fused_cut {
  int pieces; /* of k, of a tile's products */
  int64_t length;
  int64_t look, looks; /* so many of k, so many times, of each strip of 32 lines */
  /* In zeros: sums of 64 bits (pieces > 1), counters of tiles and one of blocks, and the largest
   * magnitudes of A's lines and of B's. */
  size_t counters, largest, bytes;
} matmul_fused_cut;

static inline matmul_fused_cut matmul_fused_cut_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_planes planes = matmul_planes_of(task);
  const int64_t tiles = matmul_squares(p, MATMUL_FUSED_SIDE);
  const int64_t blocks = 2 * (int64_t)task->device->processors;
  const int64_t strips =
      planes.a_matrices * ((p->m + 31) / 32) + planes.b_matrices * ((p->n + 31) / 32);
  matmul_fused_cut cut = {1, p->k, p->k, 1, 0, 0, 0};
  int64_t pieces = tiles == 0 ? 1 : blocks / tiles, looks = strips == 0 ? 1 : 2 * blocks / strips;
  if (pieces > p->k / 128) pieces = p->k / 128;
  if (pieces < 1) pieces = 1;
  cut.length = (p->k + pieces - 1) / pieces;
  if (cut.length > MATMUL_PIECE) cut.length = MATMUL_PIECE;
  cut.length = (cut.length + 63) / 64 * 64;
  if (p->k > 0) cut.pieces = (int)((p->k + cut.length - 1) / cut.length);
  if (looks > p->k / 128) looks = p->k / 128;
  if (looks < 1) looks = 1;
  cut.look = ((p->k + looks - 1) / looks + 127) / 128 * 128;
  cut.looks = p->k == 0 ? 1 : (p->k + cut.look - 1) / cut.look;
  if (cut.pieces > 1) cut.counters = matmul_whole_256(p->batch * p->m * p->n * 8);
  cut.largest = cut.counters + matmul_whole_256(((cut.pieces > 1 ? tiles : 0) + 1) * 4);
  cut.bytes =
      cut.largest + matmul_whole_256((planes.a_matrices * p->m + planes.b_matrices * p->n) * 4);
  return cut;
}

#endif
