#include <math.h>

#include "fuzz/calls/calls.h"

enum { MOST = 40, BELOW = 0, ABOVE = 1, NOT_A_NUMBER = 2, OUTSIDE = 3 };

typedef struct histogram {
  rung_bins bins;
  double edges[MOST + 1];
  bool rows, outside;
} histogram;

static void make_bins(fuzz_input *input, histogram *of, DLDataType type) {
  rung_bins *bins = &of->bins;
  *bins = (rung_bins){.size = sizeof *bins, .count = 1 + fuzz_pick(input, MOST)};
  bins->kind = (rung_bins_kind)(1 + fuzz_pick(input, 2));
  if (!fuzz_floats(type) && fuzz_rarely(input, 3)) bins->kind = RUNG_BINS_MODULO;
  if (type.code == kDLUInt && type.bits == 8 && fuzz_rarely(input, 2)) {
    bins->kind = RUNG_BINS_BYTES;
    bins->count = 256;
  }
  bins->low = (fuzz_byte(input) - 128) * 0.25;
  bins->high = bins->low + (1 + fuzz_pick(input, 100)) * 0.125;
  if (bins->kind == RUNG_BINS_EDGES) {
    fuzz_edges(input, of->edges, bins->count + 1);
    bins->edges = of->edges;
  }
}

static void make(fuzz_input *input, job *job) {
  histogram *of = job->of = malloc(sizeof *of);
  int64_t shape[DIMS], counts[2];
  const DLDataType type = fuzz_type(input);
  of->rows = fuzz_rarely(input, 3);
  of->outside = fuzz_rarely(input, 2);
  const int ndim = fuzz_shape(input, of->rows ? 2 : fuzz_pick(input, DIMS + 1), shape);
  make_bins(input, of, type);
  fuzz_array(input, job, 0, fuzz_pick(input, 4) > 0, type, ndim, shape);
  counts[0] = of->rows ? shape[0] : of->bins.count;
  counts[1] = of->bins.count;
  fuzz_array(input, job, OUTPUT, false, rung_type(kDLUInt - fuzz_pick(input, 2), 64), 1 + of->rows,
             counts);
  counts[of->rows] = OUTSIDE;
  if (of->outside)
    fuzz_array(input, job, OUTPUT, false, rung_type(kDLUInt, 64), 1 + of->rows, counts);
}

static rung_status call(rung_context *context, job *job, rung_call *how) {
  const histogram *of = job->of;
  return rung_histogram(context, &of->bins, &job->arrays[0].tensor, &job->arrays[1].tensor,
                        of->outside ? &job->arrays[2].tensor : NULL, how);
}

static void spoil(fuzz_input *input, job *job) {
  histogram *of = job->of;
  switch (fuzz_pick(input, 6)) {
    case 0:
      of->bins.size = (size_t)fuzz_bits(input);
      if (of->bins.size > sizeof of->bins) of->bins.size |= SIZE_MAX / 2; /* never believed */
      break;
    case 1:
      of->bins.kind = (rung_bins_kind)(4 + fuzz_byte(input));
      break;
    case 2:
      of->bins.count = -(int64_t)fuzz_byte(input);
      break;
    case 3:
      of->bins.high = fuzz_pick(input, 2) ? of->bins.low : (double)NAN;
      break;
    case 4:
      of->bins.edges = NULL;
      break;
    default:
      of->edges[fuzz_pick(input, MOST)] = -1.0 / fuzz_pick(input, 2);
  }
}

/* ---- by a loop --------------------------------------------------------------------------------
 */

static double edge(const rung_bins *bins, DLDataType type, int64_t k) {
  if (bins->kind == RUNG_BINS_EDGES) return bins->edges[k];
  const double width = (bins->high - bins->low) / (double)bins->count;
  const double at = k == bins->count ? bins->high : (double)k * width + bins->low;
  return type.code == kDLFloat && type.bits == 32 ? (double)(float)at : at;
}

/* The bin of an element; below 0: -1 - what is outside. */
static int64_t bin_of(const rung_bins *bins, DLDataType type, const void *elements, int64_t k) {
  const uint64_t bits = fuzz_integer(type, elements, k);
  const double x = fuzz_number(type, elements, k);
  if (bins->kind == RUNG_BINS_BYTES) return (int64_t)bits;
  if (bins->kind == RUNG_BINS_MODULO) {
    if (type.code == kDLUInt) return (int64_t)(bits % (uint64_t)bins->count);
    const int64_t rest = (int64_t)bits % bins->count;
    return rest < 0 ? rest + bins->count : rest;
  }
  if (x != x) return -1 - NOT_A_NUMBER;
  if (x < edge(bins, type, 0)) return -1 - BELOW;
  if (x > edge(bins, type, bins->count)) return -1 - ABOVE;
  int64_t bin = bins->count - 1;
  while (x < edge(bins, type, bin)) bin--;
  return bin;
}

static void check(const job *job) {
  const histogram *of = job->of;
  const array *in = &job->arrays[0];
  const bool rounded = in->type.bits == 16 && of->bins.kind == RUNG_BINS_EVEN; /* edges, to it */
  const int64_t rows = of->rows ? in->shape[0] : 1, bins = of->bins.count;
  if ((rounded && fuzz_floats(in->type)) || rows == 0) return;
  const int64_t columns = fuzz_count(in) / rows;
  void *elements = fuzz_gather(in), *counts = fuzz_gather(&job->arrays[1]);
  void *outside = of->outside ? fuzz_gather(&job->arrays[2]) : NULL;
  for (int64_t row = 0; row < rows; row++) {
    uint64_t wanted[256] = {0}, apart[OUTSIDE] = {0};
    for (int64_t i = row * columns; i < (row + 1) * columns; i++) {
      const int64_t bin = bin_of(&of->bins, in->type, elements, i);
      ++*(bin < 0 ? &apart[-1 - bin] : &wanted[bin]);
    }
    for (int64_t k = 0; k < bins; k++)
      if (fuzz_integer(rung_type(kDLUInt, 64), counts, row * bins + k) != wanted[k])
        fuzz_wrong("row %lld, bin %lld is wrong", (long long)row, (long long)k);
    for (int k = 0; k < OUTSIDE && of->outside; k++)
      if (fuzz_integer(rung_type(kDLUInt, 64), outside, row * OUTSIDE + k) != apart[k])
        fuzz_wrong("row %lld, %d outside is wrong", (long long)row, k);
  }
  free(elements);
  free(counts);
  free(outside);
}

const operation fuzz_histogram = {make, call, spoil, check};
