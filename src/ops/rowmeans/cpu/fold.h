/* The canonical order of sums (core/sum.h) for one contiguous row, on one CPU thread:
 *
 *   float rowmeans_tile_f32(const float *tile, int count)       1 <= count <= RUNG_SUM_TILE
 *   float rowmeans_sum_f32(const float *row, int64_t columns)   1 <= columns
 *   float rowmeans_mean_f32(float sum, int64_t columns)
 *
 * and the same for double, _f64. Data need be aligned to their element only.
 *
 * For the files under an operation's cpu/ folder, which are compiled once per instruction set. The
 * lanes of a tile are taken in strips that fit the vector registers; a strip goes down all rows of
 * the tile before the next one starts, so that an element costs one load and one addition. Row by
 * row, with the lanes' sums in the first-level cache, every element costs a second load and a
 * store. */
#ifndef RUNG_ROWMEANS_CPU_FOLD_H
#define RUNG_ROWMEANS_CPU_FOLD_H

#include "backend/cpu/lanes.h"
#include "core/sum.h"

#define ROWMEANS_ELEMENT float
#define ROWMEANS_WIDTH LANES_F32
#define ROWMEANS_NAME(name) name##_f32
#include "ops/rowmeans/cpu/fold_of.h"
#undef ROWMEANS_ELEMENT
#undef ROWMEANS_WIDTH
#undef ROWMEANS_NAME

#define ROWMEANS_ELEMENT double
#define ROWMEANS_WIDTH LANES_F64
#define ROWMEANS_NAME(name) name##_f64
#include "ops/rowmeans/cpu/fold_of.h"
#undef ROWMEANS_ELEMENT
#undef ROWMEANS_WIDTH
#undef ROWMEANS_NAME

#endif
