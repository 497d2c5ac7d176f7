/* Kernels of one's own in the laboratory: a matrix product and two sums.
 *
 *   cc -O3 -march=native -ffp-contract=off -shared -fPIC kernels.c $(pkg-config --cflags rung)
 *      -o kernels.so                                               (one line)
 *   rung verify reduce --kernels kernels.so --rung one-by-one
 *   rung bench matmul --kernels kernels.so --sizes n=512 --peers */
#include <rung/lab.h>

#include <math.h>

/* Every element of C is one chain of fused multiply-adds over rising k, from +0: the contract's
 * order, so that the bits are those of every rung. Going along rows of B lets the compiler use
 * vectors. */
static const char *rows_of_b(const rung_lab_job *job) {
  const DLTensor *a = &job->arrays[0], *b = &job->arrays[1], *c = &job->arrays[3];
  const int64_t m = c->shape[0], n = c->shape[1], k = a->shape[1];
  for (int64_t i = 0; i < m; i++) {
    float *to = (float *)c->data + i * c->strides[0];
    for (int64_t j = 0; j < n; j++) to[j] = 0;
    for (int64_t l = 0; l < k; l++) {
      const float left = ((const float *)a->data)[i * a->strides[0] + l * a->strides[1]];
      const float *right = (const float *)b->data + l * b->strides[0];
      for (int64_t j = 0; j < n; j++) to[j] = fmaf(left, right[j], to[j]);
    }
  }
  return NULL;
}

static const char *not_plain(const rung_lab_job *job) {
  if (!rung_lab_is(job, "layout", "nn")) return "it takes matrices as they are, not transposed";
  if (job->arrays[3].ndim != 2 || job->arrays[2].ndim != 0) return "it makes one A B alone";
  return rung_lab_number(job, "alpha", 1) != 1 ? "it knows no alpha" : NULL;
}

/* Sums of lines, but for the last `missing` elements, one after the other: the textbook's order,
 * which is not the contract's. */
static void sum_lines(const rung_lab_job *job, int64_t missing) {
  const DLTensor *in = &job->arrays[0], *out = &job->arrays[1];
  for (int64_t line = 0; line < in->shape[0]; line++) {
    const float *from = (const float *)in->data + line * in->strides[0];
    float sum = 0;
    for (int64_t i = 0; i < in->shape[1] - missing; i++) sum += from[i];
    ((float *)out->data)[line * out->strides[0]] = sum;
  }
}

static const char *one_by_one(const rung_lab_job *job) {
  sum_lines(job, 0);
  return NULL;
}

/* With an error, which will be found. */
static const char *all_but_one(const rung_lab_job *job) {
  sum_lines(job, 1);
  return NULL;
}

static const char *not_sums_of_lines(const rung_lab_job *job) {
  if (!rung_lab_is(job, "op", "sum")) return "it makes sums only";
  return job->arrays[0].ndim != 2 ? "it goes along the last axis only" : NULL;
}

RUNG_LAB_KERNELS = {{.size = sizeof(rung_lab_kernel),
                     .operation = "matmul",
                     .name = "rows-of-b",
                     .idea = "three loops, the inner one along rows of B and C",
                     .types = "f32",
                     .order = RUNG_LAB_SAME_BITS,
                     .launch = rows_of_b,
                     .refuses = not_plain},
                    {.size = sizeof(rung_lab_kernel),
                     .operation = "reduce",
                     .name = "one-by-one",
                     .idea = "one sum from the first element to the last",
                     .types = "f32",
                     .order = RUNG_LAB_OTHER_ORDER,
                     .launch = one_by_one,
                     .refuses = not_sums_of_lines},
                    {.size = sizeof(rung_lab_kernel),
                     .operation = "reduce",
                     .name = "all-but-one",
                     .idea = "the same, but for the last element",
                     .types = "f32",
                     .order = RUNG_LAB_OTHER_ORDER,
                     .launch = all_but_one,
                     .refuses = not_sums_of_lines},
                    {0}};
