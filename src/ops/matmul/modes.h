/* Products on the tensor cores of capability 9.0: to what factors are rounded, and how the operands
 * reach the cores. These want k to go on in memory, from a multiple of 16 bytes to the next; halves
 * may go on along B's columns as well. What lies otherwise, or is to be rounded, is copied. For the
 * host, for kernels' launches, and for the laboratory. */
#ifndef RUNG_MATMUL_MODES_H
#define RUNG_MATMUL_MODES_H

#include <string.h>

#include "ops/matmul/matmul.h"

typedef struct matmul_mode {
  const char *rung; /* which makes its products so */
  int bytes;        /* of a factor on the cores */
  int parts;        /* a factor is the sum of so many */
  /* The error of a rounded factor x is at most `unit` (|x| + `least`); from `beyond` on it is
   * infinite. */
  double unit, least, beyond;
} matmul_mode;

/* Of sums of two parts: the second one's digits below 2^-126 are not counted on. */
static const matmul_mode matmul_tf32 = {"tf32", 4, 1, 0x1p-11, 0x1p-126, 0x1.ffep127};
static const matmul_mode matmul_tf32x3 = {"tf32x3", 4, 2, 0x3p-23, 0x1p-103, 0x1.ffep127};
static const matmul_mode matmul_bf16 = {"bf16", 2, 1, 0x1p-8, 0x1p-126, 0x1.ffp127};
static const matmul_mode matmul_f16 = {"f16", 2, 1, 0x1p-11, 0x1p-14, 0x1.ffep15};
static const matmul_mode matmul_i8 = {"tensor-i8", 1, 1, 0, 0, 0};

/* Lines of a copy are multiples of so many bytes, with zeros behind their last element. Extents
 * stay so far below 2^31. */
enum { MATMUL_LINE = 128, MATMUL_MARGIN = 1024 };

typedef struct matmul_operands {
  bool a_copied, b_copied;
  bool b_lines;            /* B, not copied, goes on along its columns */
  int64_t pitch;           /* elements of a part of a copy's line */
  size_t a_bytes, b_bytes; /* of scratch, A's first */
} matmul_operands;

/* Whether tiles can be brought from where an operand lies: `lines` of `extent` elements, `line`
 * apart, in matrices `batch` apart. As cuTensorMapEncodeTiled() wants it: multiples of 16 bytes,
 * and nothing within another. */
static inline bool matmul_lies_well(const rung_view *view, int64_t extent, int64_t lines,
                                    int64_t line, int64_t batch, int bytes) {
  const int64_t most = INT64_C(1) << 40;
  if (line < extent || line >= most / bytes || line * bytes % 16 != 0) return false;
  if (batch != 0 && (batch % line != 0 || batch / line < lines || batch >= most / bytes))
    return false;
  return (uintptr_t)view->data % 16 == 0;
}

static inline size_t matmul_copy_bytes(const matmul_problem *p, const matmul_mode *mode,
                                       const matmul_steps *steps, int64_t lines, int64_t pitch) {
  const int64_t matrices = steps->batch == 0 ? 1 : p->batch;
  return ((size_t)matrices * (size_t)lines * (size_t)pitch * (size_t)(mode->bytes * mode->parts) +
          255) /
         256 * 256;
}

/* There is room for copies in any case: whether memory is aligned is known at the launch only. */
static inline matmul_operands matmul_operands_of(const rung_task *task, const matmul_mode *mode) {
  const matmul_problem *p = (const matmul_problem *)task->problem;
  const rung_view *in_a = &task->arrays[MATMUL_A], *in_b = &task->arrays[MATMUL_B];
  const matmul_steps a = matmul_steps_of(in_a, p->a_turned), b = matmul_steps_of(in_b, p->b_turned);
  const int bytes = mode->bytes, line = MATMUL_LINE / bytes;
  /* Copies of tiles round f32 to TF32 themselves, but not to halves, and to no sum of two. */
  const bool rounds = p->types.in == RUNG_F32 && (bytes != 4 || mode->parts != 1);
  matmul_operands of = {false, false, false, (p->k + line - 1) / line * line, 0, 0};
  if (p->k == 0) return of;
  of.a_copied = rounds || p->a_turned || !matmul_lies_well(in_a, p->k, p->m, a.row, a.batch, bytes);
  of.b_lines = !rounds && bytes == 2 && !p->b_turned &&
               matmul_lies_well(in_b, p->n, p->k, b.row, b.batch, bytes);
  of.b_copied = !of.b_lines && (rounds || !p->b_turned ||
                                !matmul_lies_well(in_b, p->k, p->n, b.column, b.batch, bytes));
  of.a_bytes = matmul_copy_bytes(p, mode, &a, p->m, of.pitch);
  of.b_bytes = matmul_copy_bytes(p, mode, &b, p->n, of.pitch);
  return of;
}

#endif
