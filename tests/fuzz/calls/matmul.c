#include <math.h>

#include "fuzz/calls/calls.h"

typedef struct matmul {
  double alpha, beta;
} matmul;

static const DLDataType types[] = {
    {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 1}, {kDLFloat, 16, 1}, {kDLBfloat, 16, 1}};
static const DLDataType i32 = {kDLInt, 32, 1};

static void make(fuzz_input *input, job *job) {
  static const double factors[] = {0, 1, -1, 3};
  matmul *of = job->of = malloc(sizeof *of);
  int64_t s[4];
  const DLDataType type = types[fuzz_pick(input, 5)];
  const int ndim = 2 + fuzz_pick(input, 2);
  (void)fuzz_shape(input, 4, s); /* batch, m, n, k */
  of->alpha = factors[fuzz_pick(input, 4)];
  of->beta = factors[fuzz_pick(input, 4)];
  const int64_t a[] = {s[0], s[1], s[3]}, b[] = {s[0], s[3], s[2]}, c[] = {s[0], s[1], s[2]};
  fuzz_array(input, job, 0, false, type, ndim, a + 3 - ndim);
  fuzz_array(input, job, 0, false, type, ndim, b + 3 - ndim);
  fuzz_array(input, job, OUTPUT, false, type.code == kDLInt ? i32 : type, ndim, c + 3 - ndim);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const matmul *of = job->of;
  return rung_matmul(context, of->alpha, &job->arrays[0].tensor, &job->arrays[1].tensor, of->beta,
                     &job->arrays[2].tensor, how);
}

static void spoil(fuzz_input *input, job *job) {
  static const double factors[] = {NAN, INFINITY, -INFINITY, 1e300, 0.5, -0.0, 0x1p32};
  matmul *of = job->of;
  double *factor = fuzz_pick(input, 2) ? &of->alpha : &of->beta;
  *factor = factors[fuzz_pick(input, 7)];
}

/* ---- against a loop: the contract's chain, in the type of the sum ------------------------------
 */

/* One element: row i of a, column j of b, both of k elements, of matrices that begin at `at`. */
static bool is_right(const job *job, const void *a, const void *b, const void *c, int64_t i,
                     int64_t j, int64_t at[3]) {
  const array *left = &job->arrays[0], *out = &job->arrays[2];
  const int64_t k = left->shape[left->ndim - 1], n = out->shape[out->ndim - 1];
  const double alpha = ((const matmul *)job->of)->alpha;
  const DLDataType type = left->type;
  uint64_t whole = 0;
  double wide = 0;
  float narrow = 0;
  for (int64_t l = 0; l < k; l++) {
    const int64_t x = at[0] + i * k + l, y = at[1] + l * n + j;
    if (type.code == kDLInt) {
      whole += fuzz_integer(type, a, x) * fuzz_integer(type, b, y);
      continue;
    }
    const double u = fuzz_number(type, a, x), v = fuzz_number(type, b, y);
    narrow = fmaf((float)u, (float)v, narrow);
    wide = fma(u, v, wide);
  }
  const int64_t z = at[2] + i * n + j;
  if (type.code == kDLInt)
    return (uint32_t)fuzz_integer(i32, c, z) == (uint32_t)(whole * (uint64_t)(int64_t)alpha);
  const double found = fuzz_number(out->type, c, z),
               wanted = type.bits == 64 ? alpha * wide : (double)((float)alpha * narrow);
  if (isnan(wanted)) return isnan(found);
  return found == wanted && !signbit(found) == !signbit(wanted);
}

static void check(const job *job) {
  const array *left = &job->arrays[0], *right = &job->arrays[1], *out = &job->arrays[2];
  const int64_t m = out->shape[out->ndim - 2], n = out->shape[out->ndim - 1];
  const int64_t batch = out->ndim == 3 ? out->shape[0] : 1, k = left->shape[left->ndim - 1];
  if (((const matmul *)job->of)->beta != 0 || left->type.bits == 16) return;
  void *a = fuzz_gather(left), *b = fuzz_gather(right), *c = fuzz_gather(out);
  for (int64_t p = 0; p < batch; p++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++)
        if (!is_right(job, a, b, c, i, j, (int64_t[]){p * m * k, p * k * n, p * m * n}))
          fuzz_wrong("matmul: element (%lld, %lld, %lld) is wrong", (long long)p, (long long)i,
                     (long long)j);
  free(a);
  free(b);
  free(c);
}

const operation fuzz_matmul = {make, call, spoil, check};
