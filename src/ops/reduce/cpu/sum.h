/* The canonical sum of floats (core/sum.h) of one contiguous line, on one CPU thread, and the mean
 * from it:
 *
 *   float RUNG_ENTRY(reduce_sum_f32)(const float *line, int64_t n)       1 <= n
 *   float reduce_mean_f32(float sum, int64_t n)
 *
 * and the same for double, _f64. Data need be aligned to their element only. Lent to other
 * operations, which so take means where a line is still in a cache: compiled once per instruction
 * set, in kernels/units.c. */
#ifndef RUNG_REDUCE_CPU_SUM_H
#define RUNG_REDUCE_CPU_SUM_H

#include <stdint.h>

#include "backend/cpu/isa.h"

float RUNG_ENTRY(reduce_sum_f32)(const float *line, int64_t n);
double RUNG_ENTRY(reduce_sum_f64)(const double *line, int64_t n);

static inline float reduce_mean_f32(float sum, int64_t n) {
  return (float)((double)sum / (double)n);
}

static inline double reduce_mean_f64(double sum, int64_t n) {
  return (double)((double)sum / (double)n);
}

#endif
