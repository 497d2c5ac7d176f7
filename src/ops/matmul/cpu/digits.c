/* Fixed point, the textbook: every element as a whole number of its line's scale, that as digits of
 * 8 bits, and for every element of C the products of digits, a plane of A's with a plane of B's at
 * a time. */
#include "ops/matmul/cpu/lines.h"
#include "ops/matmul/cpu/product.h"

typedef struct operand {
  matmul_lines lines;
  int8_t *planes; /* of the matrix */
  uint32_t *largest;
} operand;

static void make_planes(const operand *of, const matmul_problem *p, int64_t pitch) {
  const int digits = matmul_digits_of(p->bits);
  uint32_t words[MATMUL_CHUNK];
  for (int64_t i = 0; i < of->lines.lines; i++) {
    of->largest[i] = 0;
    for (int64_t l = 0; l < p->k; l += MATMUL_CHUNK)
      of->largest[i] = RUNG_ENTRY(matmul_largest_chunk)(&of->lines, i, l, of->largest[i]);
    const matmul_scale scale = matmul_scale_of(of->largest[i], p->bits);
    for (int64_t l = 0; l < pitch; l += MATMUL_CHUNK) {
      const int64_t in = l < p->k ? l : p->k; /* beyond k there are zeros */
      RUNG_ENTRY(matmul_digits_chunk)(&of->lines, i, in, scale, digits, words);
      for (int plane = 0; plane < digits; plane++) {
        int8_t *to = of->planes + (plane * of->lines.lines + i) * pitch + l;
        for (int c = 0; c < MATMUL_CHUNK; c++) to[c] = matmul_digit(words[c], digits, plane);
      }
    }
  }
}

static int64_t product_of(const int8_t *a, const int8_t *b, int64_t k) {
  int64_t sum = 0;
  for (int64_t l = 0; l < k; l++) sum += a[l] * b[l];
  return sum;
}

static void make_element(const matmul_at *at, const operand *a, const operand *b, int64_t pitch,
                         int64_t i, int64_t j) {
  const int digits = matmul_digits_of(at->p->bits);
  const int64_t k = at->p->k;
  int64_t sum = 0;
  for (int u = 0; u < digits; u++)
    for (int v = 0; u + v < digits; v++)
      sum +=
          matmul_weight(digits, u, v) * product_of(a->planes + (u * a->lines.lines + i) * pitch,
                                                   b->planes + (v * b->lines.lines + j) * pitch, k);
  const float t = matmul_fixed_t(sum, a->largest[i], b->largest[j], digits);
  RUNG_ENTRY(matmul_finish)(at, i, j, 1, &t);
}

rung_status RUNG_ENTRY(matmul_digits)(const rung_task *task) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const matmul_planes planes = matmul_planes_of(task);
  const int64_t pitch = planes.pitch, plane = planes.digits * pitch;
  char *scratch = (char *)task->scratch;
  for (int64_t batch = 0; batch < p->batch; batch++) {
    const matmul_at at = matmul_matrix(task, batch);
    const int64_t in_a = planes.a_matrices > 1 ? batch : 0,
                  in_b = planes.b_matrices > 1 ? batch : 0;
    const operand a = {matmul_lines_of(&at, true), (int8_t *)scratch + in_a * p->m * plane,
                       (uint32_t *)(scratch + planes.a_largest) + in_a * p->m};
    const operand b = {matmul_lines_of(&at, false),
                       (int8_t *)scratch + planes.b + in_b * p->n * plane,
                       (uint32_t *)(scratch + planes.b_largest) + in_b * p->n};
    if (batch == in_a) make_planes(&a, p, pitch);
    if (batch == in_b) make_planes(&b, p, pitch);
    for (int64_t i = 0; i < p->m; i++)
      for (int64_t j = 0; j < p->n; j++) make_element(&at, &a, &b, pitch, i, j);
  }
  return RUNG_OK;
}
