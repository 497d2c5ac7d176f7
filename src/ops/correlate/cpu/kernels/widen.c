/* Rows of an image as numbers of the sums' type, with what lies beyond its edges filled in, so that
 * no loop over taps asks where the image ends. */
#include <string.h>

#include "ops/correlate/cpu/filter.h"

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* There is one channel most of the time, and a division takes as long as a short row. */
static int64_t pixels(int64_t elements, int channels) {
  return channels == 1 ? elements : elements / channels;
}

const correlate_kernels *RUNG_ENTRY(correlate_kernels_of)(const correlate_problem *p) {
  const rung_dtype number = correlate_number_of(p);
  return number == RUNG_F32   ? &RUNG_ENTRY(correlate_kernels_f32)
         : number == RUNG_F64 ? &RUNG_ENTRY(correlate_kernels_f64)
                              : &RUNG_ENTRY(correlate_kernels_i64);
}

/* The pixels from `first` on, `count` of them, all on one side of the image. */
static void widen_outside(const correlate_problem *p, const correlate_kernels *of, const char *row,
                          int64_t first, int64_t count, char *to) {
  const int64_t pixel = p->channels * (int64_t)rung_dtype_bytes(p->types.in);
  const int64_t size = p->channels * (int64_t)rung_dtype_bytes(of->dtype);
  if (rung_edge_index(p->edge, first, p->width) < 0) {
    of->set(to, 0, count * p->channels, p->edge_value);
    return;
  }
  for (int64_t c = first; c < first + count; c++, to += size)
    of->widen(p->types.in, row + rung_edge_index(p->edge, c, p->width) * pixel, p->channels, to);
}

void RUNG_ENTRY(correlate_widen)(const rung_task *task, const correlate_kernels *of, int64_t r,
                                 int64_t x, int64_t n, int64_t room, char *to) {
  const correlate_problem *p = (const correlate_problem *)task->problem;
  const int64_t size = p->channels * (int64_t)rung_dtype_bytes(of->dtype);
  const int64_t first = p->first_column + pixels(x, p->channels);
  const int64_t end = first + pixels(n, p->channels) + p->kernel_columns - 1;
  const int64_t left = first < 0 ? least(0, end) : first, right = least(end, p->width);
  const int64_t from = rung_edge_index(p->edge, r, p->height);
  const int64_t used = (end - first) * size, rest = least(room - used, CORRELATE_STRIP);
  memset(to + used, 0, (size_t)rest); /* a strip may be wider than the block */
  if (from < 0) {
    of->set(to, 0, (end - first) * p->channels, p->edge_value);
    return;
  }
  const char *row = correlate_in_row(task, from);
  const int64_t pixel = p->channels * (int64_t)rung_dtype_bytes(p->types.in);
  if (first < left) widen_outside(p, of, row, first, left - first, to);
  if (left < right)
    of->widen(p->types.in, row + left * pixel, (right - left) * p->channels,
              to + (left - first) * size);
  const int64_t after = left < right ? right : left;
  if (after < end) widen_outside(p, of, row, after, end - after, to + (after - first) * size);
}
