/* Grids, images and matrices over ranks: each rank writes its part of one result. */
#ifndef TESTS_OPS_RANKS_GRIDS_H
#define TESTS_OPS_RANKS_GRIDS_H

#include "core/random.h"
#include "ops/ranks.h"

typedef enum over {
  REDUCE,
  SCAN,
  HISTOGRAM,
  PAIRS,
  STENCIL,
  RADIATOR,
  MATMUL,
  CORRELATE,
  CONVOLVE
} over;

/* What an over_job's `how` says of them. Its total counts elements of a grid, rows of a matrix or
 * an image. */
typedef struct over_grid {
  int64_t columns;  /* of a grid, of C, of an image */
  int64_t steps;    /* of a grid; of matrices k */
  int rows, across; /* of a kernel; a grid's radius, and columns that are fixed */
  rung_edge edge;
  int count, channels; /* of kernels; count: of a grid 1 if means are asked for */
  double alpha, beta;
  DLDataType kernel, out; /* of an image's, of C */
} over_grid;

static const over_grid over_grids[] = {
    {37, 9, 2, 0, RUNG_EDGE_MIRROR, 1, 0, 0, 0, {0}, {0}},
    {200, 30, 8, 3, RUNG_EDGE_WRAP, 0, 0, 0, 0, {0}, {0}},
    {40, 100, 1, 40, RUNG_EDGE_CONSTANT, 1, 0, 0, 0, {0}, {0}},
    {70001, 70, 8, 0, RUNG_EDGE_REFLECT, 1, 0, 0, 0, {0}, {0}},
    {70001, 130, 2, 1, RUNG_EDGE_WRAP, 0, 0, 0, 0, {0}, {0}}, /* 4 */
    {65537, 40, 8, 3, RUNG_EDGE_WRAP, 1, 0, 0, 0, {0}, {0}},
    {65537, 9, 4, 700, RUNG_EDGE_WRAP, 0, 0, 0, 0, {0}, {0}},
    {65537, 300, 1, 0, RUNG_EDGE_WRAP, 0, 0, 0, 0, {0}, {0}},
    {65537, 3, 2, 2, RUNG_EDGE_CONSTANT, 1, 0, 0, 0, {0}, {0}},
    {65537, 0, 2, 2, RUNG_EDGE_NEAREST, 1, 0, 0, 0, {0}, {0}}, /* 9 */
    {33, 40, 0, 0, RUNG_EDGE_WRAP, 0, 0, 1.5, 0, {0}, {kDLFloat, 32, 1}},
    {20, 77, 0, 0, RUNG_EDGE_WRAP, 0, 0, -1, 0.75, {0}, {kDLFloat, 64, 1}},
    {50, 9, 0, 0, RUNG_EDGE_WRAP, 0, 0, 1, 2, {0}, {kDLFloat, 16, 1}},
    {31, 64, 0, 0, RUNG_EDGE_WRAP, 0, 0, 3, 7, {0}, {kDLInt, 32, 1}},
    {1000, 4400, 0, 0, RUNG_EDGE_WRAP, 0, 0, 1, 0.5, {0}, {kDLFloat, 32, 1}}, /* 14 */
    {40, 0, 5, 3, RUNG_EDGE_WRAP, 1, 1, 0, 0, {kDLFloat, 32, 1}, {kDLFloat, 32, 1}},
    {30, 0, 4, 6, RUNG_EDGE_MIRROR, 2, 3, 0, 0, {kDLInt, 16, 1}, {kDLUInt, 8, 1}},
    {21, 0, 63, 1, RUNG_EDGE_CONSTANT, 1, 1, 0, 0, {kDLFloat, 64, 1}, {kDLFloat, 64, 1}},
    {21, 0, 31, 2, RUNG_EDGE_REFLECT, 1, 2, 0, 0, {kDLFloat, 32, 1}, {kDLFloat, 16, 1}},
    {64, 0, 1, 9, RUNG_EDGE_NEAREST, 3, 1, 0, 0, {kDLFloat, 32, 1}, {kDLFloat, 32, 1}}, /* 19 */
    {15, 0, 7, 2, RUNG_EDGE_WRAP, 1, 1, 0, 0, {kDLInt, 8, 1}, {kDLUInt, 16, 1}},
};

/* Elements of the input in one of what `total` counts. */
static inline int64_t over_unit(over over, int how) {
  const over_grid *g = &over_grids[how];
  if (over < STENCIL) return 1;
  if (over == MATMUL) return g->steps;
  return over >= CORRELATE ? g->columns * g->channels : 1;
}

/* How many elements of input there are. */
static inline int64_t over_elements(over over, int how, int64_t total) {
  return over_unit(over, how) * total +
         (over == MATMUL ? over_grids[how].steps * over_grids[how].columns : 0);
}

/* Where in the output what a rank with [first, end) of it writes lies, in bytes; how many ranges.
 */
typedef struct over_range {
  int64_t first, count;
} over_range;
enum { OVER_RANGES = 3 };

static inline int over_ranges(over over, int how, int64_t total, int bits, int64_t first,
                              int64_t end, over_range range[OVER_RANGES]) {
  const over_grid *g = &over_grids[how];
  int64_t unit = bits / 8;
  if (over == MATMUL) unit = g->columns * g->out.bits / 8;
  if (over >= CORRELATE) unit = g->columns * g->channels * g->out.bits / 8;
  const int count = over >= CORRELATE ? g->count : 1;
  for (int k = 0; k < count; k++)
    range[k] = (over_range){(total * k + first) * unit, (end - first) * unit};
  if ((over != STENCIL && over != RADIATOR) || g->count == 0) return count;
  const int64_t row = first / g->columns; /* means lie behind the grid */
  range[1] = (over_range){(total + row) * unit, (end / g->columns - row) * unit};
  return 2;
}

typedef struct over_part {
  over over;
  int how;
  DLDataType type;
  int64_t total, first, end; /* of it, a rank's part */
  bool in_place;
  const char *in; /* all of it, and of out */
  char *out;
} over_part;

static inline rung_status over_stencil(rung_context *context, const rung_ranks *ranks,
                                       const over_part *p, rung_call *call) {
  const over_grid *g = &over_grids[p->how];
  over_range range[OVER_RANGES];
  const double weights[17] = {0.11, -0.2, 0.3, 0.17, 0.05, 0.4, 0.31, 0.02, 0.13,
                              0.25, -0.1, 0.2, 0.07, 0.09, 0.1, 0.06, 0.21};
  const rung_stencil_model model = {.radius = g->rows,
                                    .weights = weights,
                                    .divide = 2.3,
                                    .steps = g->steps,
                                    .fixed = g->across,
                                    .edge = g->edge,
                                    .edge_value = 0.3};
  rung_radiator_model heat;
  int64_t shape[2] = {p->end - p->first, g->columns};
  int ndim = 1;
  if (p->first % g->columns == 0 && p->end % g->columns == 0) { /* rows, as a user has them */
    shape[0] /= g->columns;
    ndim = 2;
  }
  over_ranges(p->over, p->how, p->total, p->type.bits, p->first, p->end, range);
  DLTensor out = tensor(p->out + range[0].first, p->type, ndim, shape, NULL);
  DLTensor in = tensor(p->in + range[0].first, p->type, ndim, shape, NULL), means;
  DLTensor *mean = NULL;
  int64_t rows = p->end / g->columns - p->first / g->columns;
  if (g->count > 0) {
    means = tensor(p->out + range[1].first, p->type, 1, &rows, NULL);
    mean = &means;
  }
  rung_radiator_preset(g->across == 1 ? "2025" : "2019", &heat);
  if (p->over == RADIATOR && ranks == NULL)
    return rung_radiator(context, &heat, g->steps, &out, mean, call);
  if (p->over == RADIATOR)
    return rung_radiator_ranks(context, ranks, &heat, g->steps, g->columns, &out, mean, call);
  if (ranks == NULL)
    return rung_stencil(context, &model, p->in_place ? &out : &in, &out, mean, call);
  return rung_stencil_ranks(context, ranks, &model, g->columns, p->in_place ? &out : &in, &out,
                            mean, call);
}

static inline rung_status over_matmul(rung_context *context, const rung_ranks *ranks,
                                      const over_part *p, rung_call *call) {
  const over_grid *g = &over_grids[p->how];
  over_range range[OVER_RANGES];
  /* Of B it has as much, in proportion, but that all of it is somebody's. */
  const int64_t bytes = p->type.bits / 8;
  const int64_t from = p->total > 0 ? g->steps * p->first / p->total : 0;
  const int64_t to = p->total > 0 ? g->steps * p->end / p->total : g->steps;
  int64_t a_shape[2] = {p->end - p->first, g->steps}, b_shape[2] = {to - from, g->columns};
  int64_t c_shape[2] = {p->end - p->first, g->columns};
  over_ranges(p->over, p->how, p->total, p->type.bits, p->first, p->end, range);
  DLTensor a = tensor(p->in + p->first * g->steps * bytes, p->type, 2, a_shape, NULL);
  DLTensor b =
      tensor(p->in + (p->total * g->steps + from * g->columns) * bytes, p->type, 2, b_shape, NULL);
  DLTensor c = tensor(p->out + range[0].first, g->out, 2, c_shape, NULL);
  if (ranks == NULL) return rung_matmul(context, g->alpha, &a, &b, g->beta, &c, call);
  return rung_matmul_ranks(context, ranks, g->alpha, &a, &b, g->beta, &c, call);
}

static inline rung_status over_filter(rung_context *context, const rung_ranks *ranks,
                                      const over_part *p, rung_call *call) {
  const over_grid *g = &over_grids[p->how];
  over_range range[OVER_RANGES];
  double taps[3 * 63 * 9];
  int8_t bytes[3 * 63 * 9];
  int16_t words[3 * 63 * 9];
  float floats[3 * 63 * 9];
  rung_random random = {23};
  for (int i = 0; i < g->count * g->rows * g->across; i++) {
    taps[i] = 2 * rung_random_double(&random) - 1;
    floats[i] = (float)taps[i];
    words[i] = (int16_t)(taps[i] * 9);
    bytes[i] = (int8_t)(taps[i] * 5);
  }
  const void *kernel = g->kernel.code == kDLInt && g->kernel.bits == 8 ? (const void *)bytes
                       : g->kernel.code == kDLInt                      ? (const void *)words
                       : g->kernel.bits == 32                          ? (const void *)floats
                                                                       : (const void *)taps;
  int64_t shape[] = {g->count, p->end - p->first, g->columns, g->channels};
  int64_t stride[] = {p->total * g->columns * g->channels, g->columns * g->channels, g->channels,
                      1};
  int64_t extents[] = {g->count, g->rows, g->across};
  const int channels = g->channels > 1, several = g->count > 1;
  const rung_filter_model model = {
      .edge = g->edge, .edge_value = 0.7, .origin = {-(g->rows / 3), (g->across - 1) / 4}};
  over_ranges(p->over, p->how, p->total, p->type.bits, p->first, p->end, range);
  DLTensor in = tensor(p->in + p->first * stride[1] * (p->type.bits / 8), p->type, 2 + channels,
                       shape + 1, NULL);
  DLTensor out = tensor(p->out + range[0].first, g->out, 2 + channels + several,
                        shape + 1 - several, stride + 1 - several);
  DLTensor of = tensor(kernel, g->kernel, 2 + several, extents + 1 - several, NULL);
  if (p->over == CORRELATE && ranks == NULL)
    return rung_correlate(context, &model, &in, &of, &out, call);
  if (p->over == CORRELATE)
    return rung_correlate_ranks(context, ranks, &model, &in, &of, &out, call);
  if (ranks == NULL) return rung_convolve(context, &model, &in, &of, &out, call);
  return rung_convolve_ranks(context, ranks, &model, &in, &of, &out, call);
}

static inline rung_status over_grid_call(rung_context *context, const rung_ranks *ranks,
                                         const over_part *p, rung_call *call) {
  if (p->over == MATMUL) return over_matmul(context, ranks, p, call);
  if (p->over >= CORRELATE) return over_filter(context, ranks, p, call);
  return over_stencil(context, ranks, p, call);
}

#endif
