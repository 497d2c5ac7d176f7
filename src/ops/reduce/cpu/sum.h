/* The canonical sum of floats (core/sum.h) of one contiguous line, on one CPU thread:
 *
 *   float reduce_sum_f32(const float *line, int64_t n)       1 <= n
 *   float reduce_mean_f32(float sum, int64_t n)
 *
 * and the same for double, _f64. Data need be aligned to their element only. Lent to other
 * operations, which so take means where a line is still in a cache.
 *
 * For the files under an operation's cpu/ folder, which are compiled once per instruction set. The
 * lanes of a tile are taken in strips that fit the vector registers; a strip goes down all rows of
 * the tile before the next one starts, so that an element costs one load and one addition. Row by
 * row, with the lanes' sums in the first-level cache, every element costs a second load and a
 * store. */
#ifndef RUNG_REDUCE_CPU_SUM_H
#define RUNG_REDUCE_CPU_SUM_H

#include "backend/cpu/lanes.h"
#include "core/sum.h"

#define SUM_ELEMENT float
#define SUM_NUMBER float
#define SUM_WIDTH LANES_F32
#define SUM_NAME(name) name##_f32
#define SUM_FOLD reduce_fold_lanes_f32
#include "ops/reduce/cpu/sum_of.h"
#undef SUM_ELEMENT
#undef SUM_NUMBER
#undef SUM_WIDTH
#undef SUM_NAME
#undef SUM_FOLD

static inline float reduce_mean_f32(float sum, int64_t n) {
  return (float)((double)sum / (double)n);
}

#define SUM_ELEMENT double
#define SUM_NUMBER double
#define SUM_WIDTH LANES_F64
#define SUM_NAME(name) name##_f64
#define SUM_FOLD reduce_fold_lanes_f64
#include "ops/reduce/cpu/sum_of.h"
#undef SUM_ELEMENT
#undef SUM_NUMBER
#undef SUM_WIDTH
#undef SUM_NAME
#undef SUM_FOLD

static inline double reduce_mean_f64(double sum, int64_t n) {
  return (double)((double)sum / (double)n);
}

#endif
