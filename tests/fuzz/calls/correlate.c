#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/calls/calls.h"

typedef struct filter {
  rung_filter_model model;
  bool reversed, fast;
  bool separable; /* what ran: another order, within a bound */
} filter;

static const DLDataType types[] = {
    {kDLFloat, 32, 1}, {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLFloat, 64, 1}, {kDLFloat, 16, 1}};
static const DLDataType of_taps[] = {
    {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLInt, 8, 1}, {kDLUInt, 16, 1}, {kDLInt, 32, 1}};

static void put(const array *to, int64_t at, double value) {
  uint8_t *element = to->before + (to->first - to->memory) + at * (to->type.bits / 8);
  const float narrow = (float)value;
  const int64_t whole = (int64_t)value; /* little-endian, as all that is fuzzed */
  if (fuzz_floats(to->type))
    memcpy(element, to->type.bits == 32 ? (const void *)&narrow : (const void *)&value,
           to->type.bits / 8);
  else
    memcpy(element, &whole, to->type.bits / 8);
}

/* Kernels that are the product of a column and a row. */
static void make_separable(fuzz_input *input, const array *kernel) {
  const int several = kernel->ndim == 3;
  const int64_t *s = kernel->strides, rows = kernel->shape[several],
                columns = kernel->shape[several + 1];
  const int down = fuzz_pick(input, 7), across = fuzz_pick(input, 5);
  for (int64_t k = 0; k < (several ? kernel->shape[0] : 1); k++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++)
        put(kernel, (several ? k * s[0] : 0) + i * s[several] + j * s[several + 1],
            (double)((i + down + k) % 6 * ((j + across) % 4)));
}

static void make(fuzz_input *input, job *job) {
  filter *of = job->of = malloc(sizeof *of);
  int64_t s[3], k[2];
  (void)fuzz_shape(input, 3, s); /* kernels, height, width */
  (void)fuzz_shape(input, 2, k);
  const int64_t channels = 1 + fuzz_pick(input, 4);
  const bool several = fuzz_pick(input, 2), pixels = fuzz_pick(input, 2);
  const DLDataType from = types[fuzz_pick(input, 5)], to = types[fuzz_pick(input, 5)];
  const int64_t in[] = {s[1], s[2], channels}, kernel[] = {s[0], k[0] % 64, k[1] % 64},
                out[] = {s[0], s[1], s[2], channels};
  of->reversed = fuzz_pick(input, 2);
  of->model = (rung_filter_model){.edge = (rung_edge)fuzz_pick(input, RUNG_EDGE_MIRROR + 1),
                                  .edge_value = fuzz_pick(input, 9) - 4};
  for (int d = 0; d < 2; d++)
    if (kernel[1 + d] > 0)
      of->model.origin[d] = fuzz_pick(input, (int)kernel[1 + d]) - kernel[1 + d] / 2;
  fuzz_array(input, job, 0, true, from, 2 + pixels, in);
  const array *taps =
      fuzz_array(input, job, 0, true, of_taps[fuzz_pick(input, 5)], 2 + several, kernel + !several);
  fuzz_array(input, job, OUTPUT, false, to, 2 + several + pixels, out + !several);
  of->fast = fuzz_pick(input, 3) == 1;
  of->separable = false;
  if (fuzz_pick(input, 2)) make_separable(input, taps);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  filter *of = job->of;
  if (of->fast && how->math == RUNG_MATH_STRICT) how->math = RUNG_MATH_FAST;
  const rung_status status = (of->reversed ? rung_convolve : rung_correlate)(
      context, &of->model, &job->arrays[0].tensor, &job->arrays[1].tensor, &job->arrays[2].tensor,
      how);
  of->separable = status == RUNG_OK && how->used != NULL && strcmp(how->used, "separable") == 0;
  return status;
}

static void spoil(fuzz_input *input, job *job) {
  filter *of = job->of;
  const int d = fuzz_pick(input, 2);
  switch (fuzz_pick(input, 4)) {
    case 0:
      of->model.edge = (rung_edge)fuzz_pick(input, 256);
      break;
    case 1:
      of->model.edge_value = fuzz_pick(input, 2) ? NAN : -INFINITY;
      break;
    case 2:
      of->model.origin[d] = fuzz_pick(input, 2) ? INT64_MIN : INT64_MAX;
      break;
    default:
      of->model.region[d] = fuzz_pick(input, 2) ? INT64_MIN : INT64_MAX;
  }
}

/* ---- some of the results, by a loop ------------------------------------------------------------
 */

/* The index that an edge puts in the place of i; -1: the edge's value. */
static int64_t fold(rung_edge edge, int64_t i, int64_t n) {
  const int64_t period = edge == RUNG_EDGE_MIRROR ? 2 * (n - 1) : 2 * n;
  if (i >= 0 && i < n) return i;
  switch (edge) {
    case RUNG_EDGE_CONSTANT:
      return -1;
    case RUNG_EDGE_NEAREST:
      return i < 0 ? 0 : n - 1;
    case RUNG_EDGE_WRAP:
      return (i % n + n) % n;
    default:
      if (n == 1) return 0;
      i = (i % period + period) % period;
      return i < n ? i : edge == RUNG_EDGE_MIRROR ? period - i : period - 1 - i;
  }
}

/* A number as an element of a type of integers: half to even, saturating, of a NaN 0. */
static double whole(double value, double most) {
  return isnan(value) || value < 0 ? 0 : value > most ? most : nearbyint(value);
}

static double most_of(DLDataType type) {
  return ldexp(1, type.bits) - 1;
}

/* What the sum is made in, where it is not of integers. */
static double chain(bool doubles, double tap, double number, double sum) {
  return doubles ? fma(tap, number, sum) : (double)fmaf((float)tap, (float)number, (float)sum);
}

static void check(const job *job) {
  enum { LOOKED_AT = 100 };
  const filter *of = job->of;
  const array *in = &job->arrays[0], *kernel = &job->arrays[1], *out = &job->arrays[2];
  const int64_t h = in->shape[0], w = in->shape[1], channels = in->ndim == 3 ? in->shape[2] : 1;
  const int several = kernel->ndim == 3;
  const int64_t rows = kernel->shape[several], columns = kernel->shape[several + 1];
  const int64_t count = fuzz_count(out), image = h * w * channels;
  const bool integers = !fuzz_floats(in->type) && !fuzz_floats(kernel->type);
  const bool doubles = in->type.bits == 64 || out->type.bits == 64;
  if (out->type.bits == 16 && fuzz_floats(out->type)) return; /* this file cannot round to it */
  void *elements = fuzz_gather(in), *taps = fuzz_gather(kernel), *results = fuzz_gather(out);
  const double beyond =
      fuzz_floats(in->type) ? of->model.edge_value : whole(of->model.edge_value, most_of(in->type));
  const int64_t step = count / LOOKED_AT + 1;
  for (int64_t at = 0; at < count; at += step) {
    const int64_t k = at / image, y = at % image / (w * channels), x = at / channels % w;
    int64_t cy = rows / 2 + of->model.origin[0], cx = columns / 2 + of->model.origin[1];
    int64_t exact = 0;
    double sum = 0, size = 0;
    if (of->reversed) {
      cy = rows - 1 - cy;
      cx = columns - 1 - cx;
    }
    for (int64_t t = 0; t < rows * columns; t++) {
      const int64_t tap = k * rows * columns + (of->reversed ? rows * columns - 1 - t : t);
      const int64_t row = fold(of->model.edge, y + t / columns - cy, h);
      const int64_t column = fold(of->model.edge, x + t % columns - cx, w);
      const double number =
          row < 0 || column < 0
              ? beyond
              : fuzz_number(in->type, elements, (row * w + column) * channels + at % channels);
      const double factor = fuzz_number(kernel->type, taps, tap);
      exact += integers ? (int64_t)factor * (int64_t)number : 0;
      sum = chain(doubles, factor, number, sum);
      size += fabs(factor * number);
    }
    if (integers) sum = (double)exact;
    double wanted = fuzz_floats(out->type) ? sum : whole(sum, most_of(out->type));
    if (out->type.bits == 32) wanted = integers ? (double)(float)exact : (double)(float)sum;
    const double found = fuzz_number(out->type, results, at);
    /* Two orders of one sum, and the rounding to the result's type. */
    const double off =
        (double)(rows * columns + rows + columns + 8) * ldexp(1, doubles ? -52 : -23);
    const double stored = fuzz_floats(out->type) ? ldexp(size, -23) : 1;
    const bool near = of->separable && !integers && fabs(found - wanted) <= off * size + stored;
    if (!near && found != wanted && !(isnan(found) && isnan(wanted)))
      fuzz_wrong("filter: result %lld is %g and should be %g", (long long)at, found, wanted);
  }
  free(elements);
  free(taps);
  free(results);
}

const operation fuzz_correlate = {make, call, spoil, check};
