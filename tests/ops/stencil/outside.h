/* What the stencil's tests from outside the code share: a brute force of their own, the canonical
 * mean written out anew, contexts of every instruction set, tensors in one line. Nothing here
 * calls the code under test but through rung.h. */
#ifndef TESTS_STENCIL_OUTSIDE_H
#define TESTS_STENCIL_OUTSIDE_H

#include <stdio.h>

#include "ops/isas.h"
#include "ops/stencil/stencil.h"

/* ---- numbers -------------------------------------------------------------------------------- */

static uint64_t out_seed = 1;

static inline uint64_t out_random(void) { /* xorshift64* */
  out_seed ^= out_seed >> 12;
  out_seed ^= out_seed << 25;
  out_seed ^= out_seed >> 27;
  return out_seed * 2685821657736338717u;
}

static inline int64_t out_below(int64_t n) {
  return (int64_t)(out_random() >> 11) % n;
}

static inline double out_number(void) { /* -1 ... 1, exact in float */
  return (double)(out_random() >> 40) * 0x1p-23 - 1;
}

/* Sanitizers make every step tens of times slower: there every so-manieth shape is taken. */
enum { OUT_EVERY = INSTRUMENTED ? 16 : 1 };

/* ---- elements of either type ---------------------------------------------------------------- */

static inline double out_get(const void *data, bool wide, int64_t at) {
  return wide ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static inline void out_set(void *data, bool wide, int64_t at, double value) {
  if (wide)
    ((double *)data)[at] = value;
  else
    ((float *)data)[at] = (float)value;
}

/* Every bit, except that a NaN is a NaN. */
static inline bool out_same(const void *a, const void *b, bool wide, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    const double x = out_get(a, wide, k), y = out_get(b, wide, k);
    if (isnan(x) && isnan(y)) continue;
    if (x != y || signbit(x) != signbit(y)) return false;
  }
  return true;
}

static inline DLTensor out_tensor(void *data, bool wide, int ndim, int64_t *shape,
                                  int64_t *strides) {
  return (DLTensor){.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = ndim,
                    .dtype = {kDLFloat, wide ? 64 : 32, 1},
                    .shape = shape,
                    .strides = strides};
}

/* ---- brute force ---------------------------------------------------------------------------- */

/* The value at index c of a row, by walking: one column at a time back inside. */
static inline long double out_at(rung_edge edge, double constant, const long double *row, int64_t m,
                                 int64_t c) {
  while (c < 0 || c >= m) {
    if (edge == RUNG_EDGE_CONSTANT) return constant;
    if (edge == RUNG_EDGE_WRAP) c += c < 0 ? m : -m;
    if (edge == RUNG_EDGE_NEAREST) c = c < 0 ? 0 : m - 1;
    if (edge == RUNG_EDGE_REFLECT) c = c < 0 ? -1 - c : 2 * m - 1 - c;
    if (edge == RUNG_EDGE_MIRROR) c = m == 1 ? 0 : c < 0 ? -c : 2 * (m - 1) - c;
  }
  return row[c];
}

/* One row in place, with the weights as given. */
static inline void out_brute(const rung_stencil_model *model, double constant, long double *row,
                             int64_t m) {
  long double *old = malloc((size_t)m * sizeof *old);
  for (int64_t step = 0; step < model->steps; step++) {
    memcpy(old, row, (size_t)m * sizeof *old);
    for (int64_t j = model->fixed; j < m; j++) {
      long double sum = 0;
      for (int k = 0; k <= 2 * model->radius; k++)
        sum += model->weights[k] * out_at(model->edge, constant, old, m, j + k - model->radius);
      row[j] = sum / model->divide;
    }
  }
  free(old);
}

/* The contract's bound after all steps for values up to `most`; `more` roundings beside the
 * chain's own. The last factor is for what is of second order. */
static inline double out_bound(const rung_stencil_model *model, double most, bool wide, int more) {
  double sum = 0, largest = 0, error = 0;
  for (int k = 0; k <= 2 * model->radius; k++) {
    const double weight = fabs(model->weights[k] / model->divide);
    sum += weight;
    largest = fmax(largest, weight);
  }
  const double eps = wide ? 0x1p-53 : 0x1p-24;
  const double step = eps * ((2 * model->radius + 1) * (sum + 2 * largest) + more * sum);
  for (int64_t s = 0; s < model->steps; s++) {
    error = sum * error + step * (most + error);
    if (sum > 1) most *= sum;
  }
  return error * (1 + 0x1p-20);
}

/* The mean of one row in the canonical order of sums, as the contract's text has it. */
static inline double out_mean(const void *row, bool wide, int64_t m) {
  enum { L = 2048, TILE = 2048 * 16 };
  const int64_t columns = m;
  double *x = malloc((size_t)m * sizeof *x), lane[L];
  for (int64_t j = 0; j < m; j++) x[j] = out_get(row, wide, j);
  for (bool first = true; first || m > 1; first = false) {
    int64_t tiles = 0;
    for (int64_t from = 0; from < m; from += TILE, tiles++) {
      for (int l = 0; l < L; l++) lane[l] = -0.0;
      for (int64_t j = from; j < m && j < from + TILE; j++) {
        double *to = &lane[(j - from) % L];
        *to = wide ? *to + x[j] : (double)((float)*to + (float)x[j]);
      }
      for (int s = L / 2; s > 0; s /= 2)
        for (int l = 0; l < s; l++)
          lane[l] = wide ? lane[l] + lane[l + s] : (double)((float)lane[l] + (float)lane[l + s]);
      x[tiles] = lane[0];
    }
    m = tiles;
  }
  const double mean = x[0] / (double)columns;
  free(x);
  return wide ? mean : (double)(float)mean;
}

/* ---- contexts ------------------------------------------------------------------------------- */

enum { OUT_TEAMS = 4 };
static const int out_teams[OUT_TEAMS] = {1, 2, 3, 7};
static rung_context *out_contexts[ISAS][OUT_TEAMS]; /* NULL: of a set that is not tested here */
static rung_context **out_widest;                   /* by team, of the last one that is */

static inline int out_open(void **unused) {
  (void)unused;
  for (int i = first_isa(); i < (INSTRUMENTED ? first_isa() + 1 : ISAS); i++) {
    for (int t = 0; t < OUT_TEAMS; t++) {
      const rung_options options = {.device = "cpu", .threads = out_teams[t], .isa = isas[i]};
      rung_context *context;
      const rung_status status = rung_open(&context, &options);
      if (status == RUNG_OK) {
        out_contexts[i][t] = context;
        continue;
      }
      if (t == 0) print_message("skipped: %s: %s\n", isas[i], rung_last_error(context));
      rung_close(context);
      if (status != RUNG_UNSUPPORTED || i == 0) return -1;
    }
    if (out_contexts[i][0] != NULL) out_widest = out_contexts[i];
  }
  return 0;
}

static inline int out_close(void **unused) {
  (void)unused;
  for (int i = 0; i < ISAS; i++)
    for (int t = 0; t < OUT_TEAMS; t++) rung_close(out_contexts[i][t]);
  return 0;
}

/* The CPU's rungs that keep strict order or teach: k counts from 0; NULL: no more. */
static inline const rung_row *out_rung(int k) {
  for (int i = 0; i < stencil_operation.count; i++) {
    const rung_row *row = &stencil_operation.rows[i];
    if (row->family == RUNG_ON_CPU && row->order != RUNG_LOOSE && k-- == 0) return row;
  }
  return NULL;
}

/* A compact job: out and means (NULL: not wanted) from in. */
static inline rung_status out_run(rung_context *context, const rung_stencil_model *model,
                                  const char *rung, bool wide, int64_t n, int64_t m, const void *in,
                                  void *out, void *means) {
  int64_t shape[2] = {n, m};
  const DLTensor from = out_tensor((void *)in, wide, 2, shape, NULL);
  DLTensor to = out_tensor(out, wide, 2, shape, NULL);
  DLTensor mean = out_tensor(means, wide, 1, shape, NULL);
  rung_call call = {.rung = rung};
  const rung_status status =
      rung_stencil(context, model, &from, &to, means != NULL ? &mean : NULL, &call);
  if (status == RUNG_OK && rung != NULL && strcmp(rung, call.used) != 0)
    fail_msg("%s ran where %s was asked for", call.used, rung);
  return status;
}

#define OUT_OK(context, call)                                        \
  do {                                                               \
    if ((call) != RUNG_OK) fail_msg("%s", rung_last_error(context)); \
  } while (0)

static inline rung_stencil_model out_model(const rung_radiator_model *radiator, int64_t steps) {
  return (rung_stencil_model){.radius = 2,
                              .weights = radiator->weights,
                              .divide = radiator->divide,
                              .steps = steps,
                              .fixed = radiator->fixed};
}

#endif
