/* Arrays of any layout. */
#include <math.h>

#include "fuzz/calls/calls.h"

DLDataType fuzz_type(fuzz_input *input) {
  static const struct {
    uint8_t code, bits;
  } types[] = {{kDLFloat, 32}, {kDLFloat, 64}, {kDLFloat, 16}, {kDLBfloat, 16},
               {kDLUInt, 8},   {kDLInt, 8},    {kDLUInt, 16},  {kDLInt, 16},
               {kDLInt, 32},   {kDLUInt, 32},  {kDLInt, 64},   {kDLUInt, 64}};
  const int k = fuzz_pick(input, sizeof types / sizeof *types);
  return rung_type(types[k].code, types[k].bits);
}

int fuzz_shape(fuzz_input *input, int ndim, int64_t *shape) {
  const int large = fuzz_pick(input, 2 * DIMS);
  for (int d = 0; d < ndim; d++) {
    shape[d] = fuzz_pick(input, SMALL);
    if (d == large) shape[d] = (int64_t)(fuzz_byte(input) << 8 | fuzz_byte(input)) % LARGE;
  }
  return ndim;
}

int64_t fuzz_count(const array *of) {
  int64_t count = 1;
  for (int d = 0; d < of->ndim; d++) count *= of->shape[d];
  return count;
}

/* Strides; how many elements of memory that takes, and where the first one is. */
static int64_t lay_out(fuzz_input *input, array *made, bool row_major, int64_t *first) {
  int order[DIMS] = {0, 1, 2, 3};
  int64_t step = 1;
  *first = 0;
  for (int d = made->ndim - 1; d >= 0; d--) {
    if (!row_major) {
      const int other = fuzz_pick(input, d + 1), swap = order[d];
      order[d] = order[other];
      order[other] = swap;
    }
    const int at = order[d];
    const int64_t extent = made->shape[at];
    const bool backwards = !row_major && fuzz_rarely(input, 4);
    made->strides[at] = backwards ? -step : step;
    if (!row_major && !made->output && fuzz_rarely(input, 16)) {
      made->strides[at] = 0;
      continue;
    }
    if (backwards && extent > 0) *first += (extent - 1) * step;
    step *= extent > 0 ? extent : 1;
    if (!row_major && fuzz_rarely(input, 4)) step += fuzz_pick(input, 5);
  }
  return step;
}

static void fill(fuzz_input *input, array *made, bool tame) {
  const size_t element = made->type.bits / 8;
  for (size_t k = 0; k < made->bytes; k++)
    made->before[k] = (uint8_t)(input->left > 0 ? fuzz_byte(input) : k * 37);
  if (!tame || made->type.code != kDLFloat || element < 4) return;
  for (size_t k = 0; k + element <= made->bytes; k += element) {
    const double number = ((int)made->before[k] - 128) * (made->before[k + 1] % 4 ? 0.25 : 0.37);
    const float narrow = (float)number;
    memcpy(made->before + k, element == 4 ? (const void *)&narrow : (const void *)&number, element);
  }
}

array *fuzz_array(fuzz_input *input, job *job, int output, bool tame, DLDataType type, int ndim,
                  const int64_t *shape) {
  array *made = &job->arrays[job->count++];
  const int64_t element = type.bits / 8;
  const bool compact = fuzz_pick(input, 3) == 0;
  int64_t first;
  *made = (array){.type = type, .output = output != 0, .ndim = ndim};
  memcpy(made->shape, shape, (size_t)ndim * sizeof *shape);
  made->bytes = (size_t)(lay_out(input, made, compact, &first) * element);
  made->memory = malloc(made->bytes);
  made->before = malloc(made->bytes);
  if (made->memory == NULL || made->before == NULL) abort();
  fill(input, made, tame);
  made->first = made->memory + first * element;
  memcpy(made->given_shape, made->shape, sizeof made->shape);
  memcpy(made->given_strides, made->strides, sizeof made->strides);
  made->tensor = rung_array(made->first, type, ndim, made->given_shape);
  if (!compact) made->tensor.strides = made->given_strides;
  return made;
}

/* ---- elements ---------------------------------------------------------------------------------
 */

static uint8_t *gather(const array *from, int d, const uint8_t *at, uint8_t *to) {
  const size_t element = from->type.bits / 8;
  if (d == from->ndim) {
    memcpy(to, at, element);
    return to + element;
  }
  for (int64_t i = 0; i < from->shape[d]; i++)
    to = gather(from, d + 1, at + i * from->strides[d] * (int64_t)element, to);
  return to;
}

void *fuzz_gather(const array *from) {
  uint8_t *elements = malloc((size_t)fuzz_count(from) * from->type.bits / 8 + 1);
  if (elements == NULL) abort();
  gather(from, 0, from->first, elements);
  return elements;
}

uint64_t fuzz_integer(DLDataType type, const void *elements, int64_t index) {
  const size_t bytes = type.bits / 8;
  uint64_t bits = 0;
  memcpy(&bits, (const uint8_t *)elements + (size_t)index * bytes, bytes);
  if (type.code == kDLInt && bytes < 8 && bits >> (type.bits - 1) != 0)
    bits |= ~UINT64_C(0) << type.bits;
  return bits;
}

/* Sign, exponent, fraction. */
static double half(uint64_t bits) {
  const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
  const double size = exponent == 31  ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -size : size;
}

double fuzz_number(DLDataType type, const void *elements, int64_t index) {
  const uint64_t bits = fuzz_integer(type, elements, index);
  const uint32_t narrow_bits = (uint32_t)(type.code == kDLBfloat ? bits << 16 : bits);
  float narrow;
  double wide;
  if (type.code == kDLInt) return (double)(int64_t)bits;
  if (type.code == kDLUInt) return (double)bits;
  if (type.code == kDLFloat && type.bits == 16) return half(bits);
  memcpy(&narrow, &narrow_bits, sizeof narrow);
  memcpy(&wide, &bits, sizeof wide);
  return type.bits == 64 ? wide : (double)narrow;
}

void fuzz_edges(fuzz_input *input, double *edges, int64_t count) {
  double edge = fuzz_pick(input, 4) * 0.5;
  for (int64_t k = 0; k < count; k++) {
    edges[k] = edge;
    edge += (1 + fuzz_pick(input, 64)) * 0.25;
  }
}
