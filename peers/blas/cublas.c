/* cuBLAS. Its functions and constants are declared here as its documentation has them, so that the
 * toolkit's headers are not needed. Row-major C = A B is to it the column-major product of the
 * transposed matrices, B's first. */
#include <stdio.h>

#include "core/error.h"
#include "peers/blas/blas.h"

/* cublas_api.h, library_types.h */
typedef enum data_type {
  DATA_R_32F = 0,
  DATA_R_64F = 1,
  DATA_R_16F = 2,
  DATA_R_8I = 3,
  DATA_R_32I = 10,
  DATA_R_16BF = 14
} data_type;
typedef enum compute_type {
  COMPUTE_32F = 68,
  COMPUTE_32F_PEDANTIC = 69,
  COMPUTE_64F = 70,
  COMPUTE_32I = 72,
  COMPUTE_32F_FAST_TF32 = 77
} compute_type;
enum { OP_N = 0, OP_T = 1, GEMM_DEFAULT = -1 };

static struct {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*set_stream)(void *handle, void *stream);
  int (*set_workspace)(void *handle, void *workspace, size_t bytes);
  int (*property)(int which, int *value); /* 0, 1, 2: major, minor, patch */
  const char *(*status)(int status);
  int (*gemm)(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
              data_type a_type, int lda, const void *b, data_type b_type, int ldb, const void *beta,
              void *c, data_type c_type, int ldc, compute_type compute, int algorithm);
  int (*gemm_batched)(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                      const void *a, data_type a_type, int lda, long long a_step, const void *b,
                      data_type b_type, int ldb, long long b_step, const void *beta, void *c,
                      data_type c_type, int ldc, long long c_step, int batch, compute_type compute,
                      int algorithm);
} blas;

char peer_cublas_text[PEER_TEXT], peer_cublas_tensor_text[PEER_TEXT];

bool peer_cublas_look(void) {
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                      "/usr/local/cuda/lib64/libcublas.so", NULL};
  static const peer_symbol symbols[] = {
      {"cublasCreate_v2", &blas.create},
      {"cublasDestroy_v2", &blas.destroy},
      {"cublasSetStream_v2", &blas.set_stream},
      {"cublasSetWorkspace_v2", &blas.set_workspace},
      {"cublasGetProperty", &blas.property},
      {"cublasGetStatusString", &blas.status},
      {"cublasGemmEx", &blas.gemm},
      {"cublasGemmStridedBatchedEx", &blas.gemm_batched},
  };
  int version[3] = {0};
  if (peer_cublas_text[0]) return true;
  void *library = peer_library(names);
  if (!library || !peer_symbols(library, symbols, sizeof symbols / sizeof *symbols)) return false;
  for (int i = 0; i < 3; i++) blas.property(i, &version[i]);
  snprintf(peer_cublas_text, sizeof peer_cublas_text,
           "cuBLAS %d.%d.%d, CUBLAS_COMPUTE_32F_PEDANTIC", version[0], version[1], version[2]);
  snprintf(peer_cublas_tensor_text, sizeof peer_cublas_tensor_text,
           "cuBLAS %d.%d.%d, CUBLAS_COMPUTE_32F_FAST_TF32 of f32, _32F of f16 and bf16, _64F of "
           "f64, _32I of i8",
           version[0], version[1], version[2]);
  return true;
}

bool peer_cublas_supports(const rung_task *task, char why[RUNG_REASON]) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  if (!peer_cublas_text[0]) {
    snprintf(why, RUNG_REASON,
             "libcublas.so.13 or .12 cannot be loaded; the CUDA toolkit has it (LD_LIBRARY_PATH "
             "may name its folder)");
    return false;
  }
  if (!peer_blas_supports(task, why)) return false;
  if (p->types.in != RUNG_I8 || (p->m % 4 == 0 && p->n % 4 == 0 && p->k % 4 == 0)) return true;
  snprintf(why, RUNG_REASON, "of i8 it takes rows and columns in multiples of 4");
  return false;
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* As large as its documentation advises for GPUs of capability 9.0, which ask for the most. */
enum { WORKSPACE = 32 << 20 };

size_t peer_cublas_scratch(const rung_task *task) {
  (void)task;
  return WORKSPACE;
}

static rung_status say(const rung_task *task, const char *function, int status) {
  if (status == 0) return RUNG_OK;
  return rung_fail(task->error, RUNG_DEVICE_FAILED, "%s: %s", function, blas.status(status));
}

/* A handle for the task's device, stream and scratch. Setting a stream gives it back its own
 * workspace, so that comes first. */
static rung_status find_handle(const rung_task *task, void **found) {
  static void *handle, *stream, *scratch;
  static int device = -1;
  rung_status status = RUNG_OK;
  const bool other = handle == NULL || device != task->device->index;
  if (other && handle) {
    blas.destroy(handle);
    handle = NULL;
  }
  if (other) status = say(task, "cublasCreate", blas.create(&handle));
  if (status != RUNG_OK) return status;
  if (other || stream != task->stream || scratch != task->scratch) {
    status = say(task, "cublasSetStream", blas.set_stream(handle, task->stream));
    if (status == RUNG_OK)
      status =
          say(task, "cublasSetWorkspace", blas.set_workspace(handle, task->scratch, WORKSPACE));
    device = task->device->index;
    stream = task->stream;
    scratch = task->scratch;
  }
  *found = handle;
  return status;
}

static data_type type_of(rung_dtype dtype) {
  switch (dtype) {
    case RUNG_F32:
      return DATA_R_32F;
    case RUNG_F64:
      return DATA_R_64F;
    case RUNG_F16:
      return DATA_R_16F;
    case RUNG_BF16:
      return DATA_R_16BF;
    case RUNG_I8:
      return DATA_R_8I;
    default:
      return DATA_R_32I;
  }
}

/* A factor in the type of the sums. */
typedef union factor {
  float f32;
  double f64;
  int32_t i32;
} factor;

static factor factor_of(rung_dtype sum, double value) {
  switch (sum) {
    case RUNG_F32:
      return (factor){.f32 = (float)value};
    case RUNG_F64:
      return (factor){.f64 = value};
    default:
      return (factor){.i32 = (int32_t)(int64_t)value};
  }
}

static rung_status run(const rung_task *task, compute_type compute) {
  void *handle;
  const rung_status status = find_handle(task, &handle);
  if (status != RUNG_OK) return status;
  const peer_blas of = peer_blas_of(task);
  const rung_types types = of.p->types;
  const data_type in = type_of(types.in), out = type_of(types.out);
  const factor alpha = factor_of(types.accumulate, of.p->alpha),
               beta = factor_of(types.accumulate, 0);
  const int ta = of.a_turned ? OP_T : OP_N, tb = of.b_turned ? OP_T : OP_N;
  if (of.batch == 1)
    return say(task, "cublasGemmEx",
               blas.gemm(handle, tb, ta, of.n, of.m, of.k, &alpha, of.b, in, of.ldb, of.a, in,
                         of.lda, &beta, of.c, out, of.ldc, compute, GEMM_DEFAULT));
  return say(task, "cublasGemmStridedBatchedEx",
             blas.gemm_batched(handle, tb, ta, of.n, of.m, of.k, &alpha, of.b, in, of.ldb,
                               of.b_step, of.a, in, of.lda, of.a_step, &beta, of.c, out, of.ldc,
                               of.c_step, of.batch, compute, GEMM_DEFAULT));
}

rung_status peer_cublas(const rung_task *task) {
  return run(task, COMPUTE_32F_PEDANTIC);
}

rung_status peer_cublas_tensor(const rung_task *task) {
  switch (((const matmul_problem *)task->problem)->types.in) {
    case RUNG_F32:
      return run(task, COMPUTE_32F_FAST_TF32);
    case RUNG_F64:
      return run(task, COMPUTE_64F);
    case RUNG_I8:
      return run(task, COMPUTE_32I);
    default:
      return run(task, COMPUTE_32F);
  }
}
