/* correlate: an image filtered by a kernel, or by several.
 *
 *   in       (height, width x channels)            u8 | u16 | f16 | f32 | f64 arrays[CORRELATE_IN]
 *   out      (rows, columns x channels)            u8 | u16 | f16 | f32 | f64 arrays[CORRELATE_OUT]
 *            of more than one kernel (kernels, rows, columns x channels)
 *
 * The channels of a pixel follow one another: element x of a row is channel x % channels of pixel
 * x / channels. Rows may be any distance apart. Rungs see `in` from row `view_row` of the image on,
 * as many rows as out's need.
 *
 *   out[k, y, x] = sum over (i, j) of taps[k, i, j] * pixel(first_row + y + i, first_column + x +
 * j)
 *
 * where pixel() is what rung_edge_index() finds for rows of `height` and columns of `width`, or
 * edge_value. A convolution's taps have been reversed.
 *
 * Order of arithmetic: one chain of fused multiply-adds over the taps in row-major order, from +0:
 * in f64 where in or out is f64, in f32 else. Of u8 and u16 by taps of integers: the exact sum, in
 * 64 bits, for which no order is needed; where `small`, it and all its parts are numbers of f32
 * too. Taps of floats that are such integers, all of them, are taken as integers: the sum is the
 * same. The sum is rounded to out's type once, half to even; to u8 and u16 it saturates, of a NaN
 * to 0.
 *
 * RUNG_MATH_FAST allows a kernel of rank one to be taken in two passes (separable.h): another
 * order, with a bound of its own.
 *
 * Error against the exact result, as matmul's of k = rows x columns taps and alpha = 1:
 *     |error| <= ((k + 2) eps + stored) |taps||in| + (k + 2) 2 tiny
 * but for results of integers, which are the nearest to a number within that.
 *
 * Least work: bytes = every element of in that is used and of out once, flops = 2 a tap and
 * element. */
#ifndef RUNG_CORRELATE_H
#define RUNG_CORRELATE_H

#include "core/edge.h"
#include "core/ladder.h"

enum { CORRELATE_IN, CORRELATE_OUT };
enum { CORRELATE_CHANNELS = 4, CORRELATE_TAPS = RUNG_KERNEL_MOST * RUNG_KERNEL_MOST };

#define CORRELATE_INTEGERS (RUNG_TYPE(RUNG_U8) | RUNG_TYPE(RUNG_U16))
#define CORRELATE_DTYPES (CORRELATE_INTEGERS | RUNG_TYPE(RUNG_F16) | RUNG_SINGLE_DOUBLE)
#define CORRELATE_SUM_DTYPES (RUNG_SINGLE_DOUBLE | RUNG_TYPE(RUNG_I64))
#define CORRELATE_INTEGER_TAPS \
  (CORRELATE_INTEGERS | RUNG_TYPE(RUNG_I8) | RUNG_TYPE(RUNG_I16) | RUNG_TYPE(RUNG_I32))
#define CORRELATE_TAP_DTYPES (CORRELATE_INTEGER_TAPS | RUNG_SINGLE_DOUBLE)

typedef struct correlate_problem {
  int64_t kernels, rows, columns; /* of out; columns are pixels */
  int channels;
  int kernel_rows, kernel_columns;
  int64_t height, width;           /* of the image, in pixels */
  int64_t first_row, first_column; /* the pixel under tap (0, 0) of out[0, 0]; may be outside */
  int64_t view_row;
  rung_edge edge;
  double edge_value; /* a number of in's type */
  rung_types types;
  /* (kernels, kernel_rows, kernel_columns): of the sum's type; int32_t where that is RUNG_I64. Host
   * memory that lasts until the launch returns. */
  const void *taps;
  const double *given; /* the same as they were given, before they were rounded; beside taps */
  bool small;
  double bytes, flops;
} correlate_problem;

/* The address of row y of kernel k of out, and of row r of the image, which the view has. */
static inline char *correlate_out_row(const rung_task *task, int64_t k, int64_t y) {
  const rung_view *out = &task->arrays[CORRELATE_OUT];
  const bool several = ((const correlate_problem *)task->problem)->kernels > 1;
  const int64_t at = several ? k * out->stride[0] + y * out->stride[1] : y * out->stride[0];
  return out->data + at * (int64_t)rung_dtype_bytes(out->dtype);
}
static inline const char *correlate_in_row(const rung_task *task, int64_t r) {
  const rung_view *in = &task->arrays[CORRELATE_IN];
  const correlate_problem *p = (const correlate_problem *)task->problem;
  return in->data + (r - p->view_row) * in->stride[0] * (int64_t)rung_dtype_bytes(in->dtype);
}

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation correlate_operation;

/* Axis: rows of out. */
extern const struct rung_cut correlate_parts;

/* What sums are made in. */
rung_dtype correlate_sum_of(rung_dtype in, rung_dtype taps, rung_dtype out);

/* What sums may be kept in, so that none is rounded where they are exact: f32, f64, or i64. */
rung_dtype correlate_number_of(const correlate_problem *p);

/* A kernel's count * rows * columns taps, as the sum's type has them, `reversed` or not; `from` has
 * them compact, and `to` has room for twice as many numbers of 8 bytes. Refused: one that is not
 * finite then. Sets p->taps, which is `to`, given, and small: types, which become those of integers
 * where such taps are, and the kernels' extents are set. */
rung_status correlate_set_taps(rung_error *error, correlate_problem *p, rung_dtype dtype,
                               const void *from, bool reversed, void *to);

/* Where the rows of the image that output rows [first, first + count) need begin, and how many
 * there are. */
void correlate_rows_needed(const correlate_problem *p, int64_t first, int64_t count, int64_t *row,
                           int64_t *rows);

/* bytes and flops. */
void correlate_measure(correlate_problem *p);

#ifdef __cplusplus
}
#endif
#endif
