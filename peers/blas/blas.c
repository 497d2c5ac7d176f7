/* What the BLAS libraries share, and their rows. */
#include "peers/blas/blas.h"

#include <stdio.h>

/* ---- a case -----------------------------------------------------------------------------------
 */

bool peer_blas_supports(const rung_task *task, char why[RUNG_REASON]) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const bool fits = p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX;
  if (p->beta == 0 && p->k > 0 && fits && p->batch <= INT32_MAX) return true;
  snprintf(why, RUNG_REASON,
           "as a peer it makes products to which nothing is added, of 1 ... 2^31 - 1 rows and "
           "columns; expected: beta=0");
  return false;
}

peer_blas peer_blas_of(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const rung_view *arrays = task->arrays;
  const matmul_steps a = matmul_steps_of(&arrays[MATMUL_A], p->a_turned),
                     b = matmul_steps_of(&arrays[MATMUL_B], p->b_turned),
                     c = matmul_steps_of(&arrays[MATMUL_C], false);
  return (peer_blas){.p = p,
                     .m = (int)p->m,
                     .n = (int)p->n,
                     .k = (int)p->k,
                     .batch = (int)p->batch,
                     .a_turned = p->a_turned,
                     .b_turned = p->b_turned,
                     .lda = (int)(p->a_turned ? a.column : a.row),
                     .ldb = (int)(p->b_turned ? b.column : b.row),
                     .ldc = (int)c.row,
                     .a_step = a.batch,
                     .b_step = b.batch,
                     .c_step = c.batch,
                     .a = arrays[MATMUL_A].data,
                     .b = arrays[MATMUL_B].data,
                     .c = arrays[MATMUL_C].data};
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

#define TENSOR_TYPES (RUNG_SINGLE_DOUBLE | RUNG_HALVES | RUNG_TYPE(RUNG_I8))

rung_row peer_matmul_rows[PEER_MATMUL] = {
    {.name = "openblas",
     .peer = "OpenBLAS, not found",
     .family = RUNG_ON_CPU,
     .order = RUNG_TEXTBOOK,
     .types = RUNG_ALIKE(RUNG_SINGLE_DOUBLE),
     .idea = "cblas_sgemm, cblas_dgemm, one after the other; of a single row or column _gemv",
     .supports = peer_openblas_supports,
     .launch = {peer_openblas, peer_openblas, peer_openblas}},
    {.name = "cublas",
     .peer = "cuBLAS, not found",
     .family = RUNG_ON_GPU,
     .capability = 75,
     .order = RUNG_TEXTBOOK,
     .types = RUNG_ALIKE(RUNG_TYPE(RUNG_F32)),
     .idea = "cublasGemmEx, of batches cublasGemmStridedBatchedEx: CUBLAS_COMPUTE_32F_PEDANTIC",
     .supports = peer_cublas_supports,
     .scratch_bytes = peer_cublas_scratch,
     .launch = {peer_cublas}},
    {.name = "cublas-tensor",
     .peer = "cuBLAS, not found",
     .family = RUNG_ON_GPU,
     .capability = 75,
     .order = RUNG_LOOSE,
     .types = {TENSOR_TYPES, MATMUL_SUM_DTYPES, MATMUL_RESULT_DTYPES},
     .idea = "the same on tensor cores: f32 as TF32, f16 and bf16 in f32, f64, i8 in i32",
     .supports = peer_cublas_supports,
     .scratch_bytes = peer_cublas_scratch,
     .launch = {peer_cublas_tensor}},
};

void peer_matmul_look(rung_kind kind) {
  if (kind == RUNG_CPU && peer_openblas_look()) peer_matmul_rows[0].peer = peer_openblas_text;
  if (kind == RUNG_CUDA && peer_cublas_look()) {
    peer_matmul_rows[1].peer = peer_cublas_text;
    peer_matmul_rows[2].peer = peer_cublas_tensor_text;
  }
}
