/* Peers of matmul: the BLAS libraries that a user would call, found when the command runs and
 * loaded then, so that neither is needed to build it. Each adds its rows to the table of peers. */
#ifndef RUNG_PEERS_BLAS_H
#define RUNG_PEERS_BLAS_H

#include "ops/matmul/matmul.h"
#include "peers/loaded.h"

enum { PEER_MATMUL = 3 };
extern rung_row peer_matmul_rows[PEER_MATMUL];

/* Looks, once, whether the library for that device is there, and writes its version into its rows.
 */
void peer_matmul_look(rung_kind kind);

/* A case as a BLAS is asked for it: row-major, a stride from each row (or, transposed, column) to
 * the next. */
typedef struct peer_blas {
  const matmul_problem *p;
  int m, n, k, batch;
  bool a_turned, b_turned;
  int lda, ldb, ldc;
  int64_t a_step, b_step, c_step; /* from matrix to matrix */
  const char *a, *b;
  char *c;
} peer_blas;
peer_blas peer_blas_of(const rung_task *task);

/* Whether a BLAS makes the product in one call a matrix: nothing added, extents in 32 bits. */
bool peer_blas_supports(const rung_task *task, char why[RUNG_REASON]);

/* openblas.c */
extern char peer_openblas_text[PEER_TEXT];
bool peer_openblas_look(void);
bool peer_openblas_supports(const rung_task *task, char why[RUNG_REASON]);
rung_launch peer_openblas;

/* cublas.c */
extern char peer_cublas_text[PEER_TEXT], peer_cublas_tensor_text[PEER_TEXT];
bool peer_cublas_look(void);
bool peer_cublas_supports(const rung_task *task, char why[RUNG_REASON]);
size_t peer_cublas_scratch(const rung_task *task);
rung_launch peer_cublas, peer_cublas_tensor;

#endif
