/* OpenBLAS, on as many threads as the device has. Its functions are declared here as its
 * documentation has them (cblas.h, with int as the type of extents). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peers/blas/blas.h"

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

static struct {
  void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                int lda, const float *b, int ldb, float beta, float *c, int ldc);
  void (*dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                int lda, const double *b, int ldb, double beta, double *c, int ldc);
  void (*sgemv)(int order, int ta, int m, int n, float alpha, const float *a, int lda,
                const float *x, int incx, float beta, float *y, int incy);
  void (*dgemv)(int order, int ta, int m, int n, double alpha, const double *a, int lda,
                const double *x, int incx, double beta, double *y, int incy);
  void (*set_threads)(int threads);
  char *(*config)(void);
} blas;

char peer_openblas_text[PEER_TEXT];

bool peer_openblas_look(void) {
  static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", NULL};
  static const peer_symbol symbols[] = {
      {"cblas_sgemm", &blas.sgemm},
      {"cblas_dgemm", &blas.dgemm},
      {"cblas_sgemv", &blas.sgemv},
      {"cblas_dgemv", &blas.dgemv},
      {"openblas_set_num_threads", &blas.set_threads},
      {"openblas_get_config", &blas.config},
  };
  if (peer_openblas_text[0]) return true;
  /* Its threads that wait would look out for work for 20 ms, in everybody's way; so they do for
   * 2^20 cycles, about as long as a rung's. */
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
  void *library = peer_library(names);
  if (!library || !peer_symbols(library, symbols, sizeof symbols / sizeof *symbols)) return false;
  /* "OpenBLAS 0.3.21 DYNAMIC_ARCH Zen MAX_THREADS=64": name and version, how it was built, the
   * kernels that it chose. */
  const char *config = blas.config();
  const size_t name = strcspn(config, " "), version = name + 1 + strcspn(config + name + 1, " ");
  if (strlen(config) <= version) return false;
  snprintf(peer_openblas_text, sizeof peer_openblas_text, "%.*s,%s", (int)version, config,
           config + version);
  return true;
}

bool peer_openblas_supports(const rung_task *task, char why[RUNG_REASON]) {
  if (peer_openblas_text[0]) return peer_blas_supports(task, why);
  snprintf(why, RUNG_REASON,
           "libopenblas.so.0 cannot be loaded; Debian's package libopenblas0-pthread has it");
  return false;
}

/* A matrix times a column, y = M x: where C is one column, or one row, which is B's transpose times
 * A's. */
typedef struct vector_call {
  bool turned;
  int rows, columns, ld;
  const char *matrix, *x;
} vector_call;

static vector_call vector_of(const peer_blas *of, const char *a, const char *b) {
  const bool row = of->m == 1, turned = row ? !of->b_turned : of->a_turned;
  const int wide = of->k, high = row ? of->n : of->m; /* of the matrix as a column meets it */
  return (vector_call){
      turned,      turned ? wide : high, turned ? high : wide, row ? of->ldb : of->lda,
      row ? b : a, row ? a : b};
}

static void run_f32(const peer_blas *of, const char *a, const char *b, char *c) {
  const int ta = of->a_turned ? TRANSPOSED : PLAIN, tb = of->b_turned ? TRANSPOSED : PLAIN;
  const float alpha = (float)of->p->alpha;
  if (of->m > 1 && of->n > 1) {
    blas.sgemm(ROW_MAJOR, ta, tb, of->m, of->n, of->k, alpha, (const float *)a, of->lda,
               (const float *)b, of->ldb, 0, (float *)c, of->ldc);
    return;
  }
  const vector_call v = vector_of(of, a, b);
  blas.sgemv(ROW_MAJOR, v.turned ? TRANSPOSED : PLAIN, v.rows, v.columns, alpha,
             (const float *)v.matrix, v.ld, (const float *)v.x, 1, 0, (float *)c, 1);
}

static void run_f64(const peer_blas *of, const char *a, const char *b, char *c) {
  const int ta = of->a_turned ? TRANSPOSED : PLAIN, tb = of->b_turned ? TRANSPOSED : PLAIN;
  const double alpha = of->p->alpha;
  if (of->m > 1 && of->n > 1) {
    blas.dgemm(ROW_MAJOR, ta, tb, of->m, of->n, of->k, alpha, (const double *)a, of->lda,
               (const double *)b, of->ldb, 0, (double *)c, of->ldc);
    return;
  }
  const vector_call v = vector_of(of, a, b);
  blas.dgemv(ROW_MAJOR, v.turned ? TRANSPOSED : PLAIN, v.rows, v.columns, alpha,
             (const double *)v.matrix, v.ld, (const double *)v.x, 1, 0, (double *)c, 1);
}

rung_status peer_openblas(const rung_task *task) {
  static int threads;
  const peer_blas of = peer_blas_of(task);
  const bool wide = of.p->types.in == RUNG_F64;
  const int64_t size = wide ? 8 : 4;
  if (threads != task->device->threads) blas.set_threads(threads = task->device->threads);
  for (int64_t i = 0; i < of.batch; i++)
    (wide ? run_f64 : run_f32)(&of, of.a + i * of.a_step * size, of.b + i * of.b_step * size,
                               of.c + i * of.c_step * size);
  return RUNG_OK;
}
