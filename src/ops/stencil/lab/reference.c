/* The stencil as one would write it on a blackboard, row by row: what every rung is checked by. */
#include <math.h>
#include <string.h>

#include "lab/fma.h"
#include "ops/stencil/lab/cases.h"

/* Wide: in double, with the weights as given and a division at the end of every sum. */
void stencil_reference_wide(const stencil_problem *p, const double *in, double *out,
                            double *spare) {
  const int64_t m = p->columns;
  memcpy(out, in, (size_t)m * sizeof *out);
  for (int64_t step = 0; step < p->steps; step++) {
    memcpy(spare, out, (size_t)m * sizeof *out);
    for (int64_t j = p->fixed; j < m; j++) {
      double sum = 0;
      for (int k = -p->radius; k <= p->radius; k++) {
        const int64_t from = rung_edge_index(p->edge, j + k, m);
        sum += p->weights[k + p->radius] * (from < 0 ? p->edge_value : spare[from]);
      }
      out[j] = sum / p->divide;
    }
  }
}

/* Strict: the contract's chain, in the problem's own type. */
LAB_WITH_FMA static void strict_f32(const stencil_problem *p, const float *in, float *out,
                                    float *spare) {
  const int64_t m = p->columns;
  memcpy(out, in, (size_t)m * sizeof *out);
  for (int64_t step = 0; step < p->steps; step++) {
    memcpy(spare, out, (size_t)m * sizeof *out);
    for (int64_t j = p->fixed; j < m; j++) {
      float sum = 0;
      for (int k = p->radius; k >= -p->radius; k--) {
        const int64_t from = rung_edge_index(p->edge, j + k, m);
        const float x = from < 0 ? (float)p->edge_value : spare[from];
        const float w = (float)p->scaled[k + p->radius];
        sum = k == p->radius ? w * x : fmaf(w, x, sum);
      }
      out[j] = sum;
    }
  }
}

LAB_WITH_FMA static void strict_f64(const stencil_problem *p, const double *in, double *out,
                                    double *spare) {
  const int64_t m = p->columns;
  memcpy(out, in, (size_t)m * sizeof *out);
  for (int64_t step = 0; step < p->steps; step++) {
    memcpy(spare, out, (size_t)m * sizeof *out);
    for (int64_t j = p->fixed; j < m; j++) {
      double sum = 0;
      for (int k = p->radius; k >= -p->radius; k--) {
        const int64_t from = rung_edge_index(p->edge, j + k, m);
        const double x = from < 0 ? p->edge_value : spare[from];
        const double w = p->scaled[k + p->radius];
        sum = k == p->radius ? w * x : fma(w, x, sum);
      }
      out[j] = sum;
    }
  }
}

void stencil_reference_strict(const stencil_problem *p, const void *in, void *out, void *spare) {
  if (p->dtype == RUNG_F32)
    strict_f32(p, in, out, spare);
  else
    strict_f64(p, in, out, spare);
}
