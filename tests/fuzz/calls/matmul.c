#include <math.h>

#include "fuzz/calls/calls.h"

typedef struct matmul {
  double alpha, beta;
  int bits; /* of fixed point; 0: strict */
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
  const bool taken = fuzz_floats(type) && type.bits < 64;
  of->bits = taken && fuzz_pick(input, 3) == 1 ? 8 + fuzz_pick(input, 24) : 0;
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const matmul *of = job->of;
  if (of->bits != 0 && how->math == RUNG_MATH_STRICT) {
    how->math = RUNG_MATH_FIXED;
    how->bits = of->bits;
  }
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

/* ---- in fixed point: within the bound that the header states -----------------------------------
 */

/* e with all of a line below 2^e, the least; false: the line has none. */
static bool exponent_of(DLDataType type, const void *x, int64_t first, int64_t step, int64_t k,
                        int *e) {
  double largest = 0;
  for (int64_t l = 0; l < k; l++) {
    const double here = fabs(fuzz_number(type, x, first + l * step));
    if (!isfinite(here)) return false;
    largest = fmax(largest, here);
  }
  *e = largest == 0 ? 0 : ilogb(largest) + 1;
  return true;
}

static bool is_near(const job *job, const void *a, const void *b, const void *c, int64_t i,
                    int64_t j, int64_t at[3]) {
  const array *left = &job->arrays[0], *out = &job->arrays[2];
  const matmul *of = job->of;
  const int64_t k = left->shape[left->ndim - 1], n = out->shape[out->ndim - 1];
  const int64_t x = at[0] + i * k, y = at[1] + j;
  const double found = fuzz_number(out->type, c, at[2] + i * n + j);
  const double least = of->bits >= 24 ? -28.4 : of->bits >= 16 ? -20.9 : -14;
  int e, f;
  if (!exponent_of(left->type, a, x, 1, k, &e) || !exponent_of(left->type, b, y, n, k, &f))
    return isnan(found);
  long double exact = 0, bound = (long double)k * exp2l(least + e + f);
  for (int64_t l = 0; l < k; l++) {
    const long double u = fuzz_number(left->type, a, x + l);
    const long double v = fuzz_number(left->type, b, y + l * n);
    exact += u * v;
    bound += ldexpl(fabsl(u), f - of->bits) + ldexpl(fabsl(v), e - of->bits) +
             ldexpl(1, e + f - 2 * of->bits);
  }
  if (fabsl(exact) + bound > 0x1p124L) return true; /* overflow is not looked at */
  exact *= of->alpha;
  bound *= fabs(of->alpha);
  /* Twice for what floats round, of t and of alpha times it. */
  bound += 0x1p-22L * (fabsl(exact) + bound) + 0x1p-148L;
  return fabsl((long double)found - exact) <= bound;
}

static void check(const job *job) {
  const array *left = &job->arrays[0], *right = &job->arrays[1], *out = &job->arrays[2];
  const int64_t m = out->shape[out->ndim - 2], n = out->shape[out->ndim - 1];
  const int64_t batch = out->ndim == 3 ? out->shape[0] : 1, k = left->shape[left->ndim - 1];
  const bool fixed = ((const matmul *)job->of)->bits != 0;
  /* Of halves the strict chain is not followed, nor a result's second rounding. */
  const bool single = out->type.bits == 32;
  if (((const matmul *)job->of)->beta != 0 || (fixed ? !single : left->type.bits == 16)) return;
  void *a = fuzz_gather(left), *b = fuzz_gather(right), *c = fuzz_gather(out);
  for (int64_t p = 0; p < batch; p++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++)
        if (!(fixed ? is_near : is_right)(job, a, b, c, i, j,
                                          (int64_t[]){p * m * k, p * k * n, p * m * n}))
          fuzz_wrong("matmul: element (%lld, %lld, %lld) is wrong", (long long)p, (long long)i,
                     (long long)j);
  free(a);
  free(b);
  free(c);
}

const operation fuzz_matmul = {make, call, spoil, check};
