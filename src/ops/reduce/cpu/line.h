/* The canonical sum of floats (core/sum.h) of one contiguous line, on one CPU thread:
 *
 *   float reduce_sum_f32(const float *line, int64_t n, bool far)       1 <= n
 *   void reduce_chain_f32(from, row, rows, ahead, n, to)     `rows` of n numbers, `row` from each
 * to the next, added up in their order
 *
 * and the same for double, _f64. `far`: numbers come from memory, and those that follow are asked
 * for meanwhile. Data need be aligned to their element only. For the files under
 * cpu/, which are compiled once per instruction set; other operations see sum.h.
 *
 * The rows of a tile are read eight at a time, side by side, and the lanes' sums lie in the
 * first-level cache: an element costs one load and one addition, and a quarter of a load and a
 * store of a sum. A strip of lanes that stays in registers while it goes down all rows saves those,
 * but jumps from row to row, which is slower from every cache but the first, and from memory. */
#ifndef RUNG_REDUCE_CPU_LINE_H
#define RUNG_REDUCE_CPU_LINE_H

#include <stdbool.h>

#include "backend/cpu/lanes.h"
#include "core/sum.h"

/* Before a loop of at most eight rounds. A compiler that does not optimise says that it will not.
 */
#ifdef __OPTIMIZE__
#define SUM_UNROLL _Pragma("GCC unroll 8")
#else
#define SUM_UNROLL
#endif

/* Within a loop: no vector is gathered from `pointer` on, which takes longer than its elements. */
#define SUM_ONE_BY_ONE(pointer) __asm__("" : "+r"(pointer))

/* How many elements on from the rows that are read is asked for: what follows them, 16 KiB at
 * least. */
#define SUM_AHEAD(read) \
  ((read) * (int64_t)sizeof(SUM_ELEMENT) > 16384 ? (read) : 16384 / (int64_t)sizeof(SUM_ELEMENT))

#define SUM_ELEMENT float
#define SUM_NUMBER float
#define SUM_WIDTH LANES_F32
#define SUM_NAME(name) name##_f32
#define SUM_FOLD reduce_fold_lanes_f32
#include "ops/reduce/cpu/line_of.h"
#undef SUM_ELEMENT
#undef SUM_NUMBER
#undef SUM_WIDTH
#undef SUM_NAME
#undef SUM_FOLD

#define SUM_ELEMENT double
#define SUM_NUMBER double
#define SUM_WIDTH LANES_F64
#define SUM_NAME(name) name##_f64
#define SUM_FOLD reduce_fold_lanes_f64
#include "ops/reduce/cpu/line_of.h"
#undef SUM_ELEMENT
#undef SUM_NUMBER
#undef SUM_WIDTH
#undef SUM_NAME
#undef SUM_FOLD

#endif
