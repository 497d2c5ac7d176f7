/* A product over ranks as a grid of blocks of C, each made by one rank. Every rank gets the rows of
 * A that its block needs, from those that have them, and C's where beta is not 0; then of all rows
 * of B the block's columns, as many at once as there is memory for; and sends the finished rows
 * back to those that they belong to.
 *
 *   rows      of A, to all that make blocks of them
 *   blocks    of C, to those that make them, where they are added to
 *   columns   of B, to all that make blocks of them; once a block
 *   blocks    of C, made, to those whose rows they are
 *   word      have all got theirs?
 *   word      have all written? */
#ifndef RUNG_MATMUL_BLOCKS_H
#define RUNG_MATMUL_BLOCKS_H

#include "core/room.h"
#include "core/strips.h"
#include "ops/matmul/grid.h"

/* A call over ranks, whichever way. */
typedef struct matmul_over {
  rung_strips strips; /* of B */
  double alpha, beta;
  rung_view a, b, c; /* this rank's rows */
  matmul_shares shares;
  rung_room room;
} matmul_over;

/* This rank's part of it. */
typedef struct matmul_blocks {
  matmul_over *over;
  matmul_grid grid;
  matmul_span rows, columns; /* of its block */
  int64_t step, steps;       /* columns of B at once, at most, and how often */
  bool has_rows;             /* of A, itself */
  /* In the room: what it gets of A and B, the block, and what others are to have or have made. */
  char *a, *b, *c, *parcels;
} matmul_blocks;

#ifdef __cplusplus
extern "C" {
#endif

/* c = alpha a b + beta c of views that fit; `reserve`: only the memory for it is found. */
rung_status matmul_blocks_multiply(matmul_over *over, const rung_view *a, const rung_view *b,
                                   const rung_view *c, bool reserve);

/* All memory that a rank needs. OUT_OF_MEMORY: it has not so much, or not on its device, or may
 * not. */
rung_status matmul_blocks_begin(matmul_over *over, matmul_grid grid, matmul_blocks *blocks);

/* To the end; but for the last word, before which nothing else is to be done. *own: how the rank
 * has written its rows of C. Not OK: there is no more word. */
rung_status matmul_blocks_run(matmul_blocks *blocks, rung_status *own);

#ifdef __cplusplus
}
#endif
#endif
