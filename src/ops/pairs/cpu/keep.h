/* Squares of distances by the list: those below the last threshold are kept, then each finds its
 * rank. */
#ifndef RUNG_PAIRS_CPU_KEEP_H
#define RUNG_PAIRS_CPU_KEEP_H

#include "backend/cpu/lanes.h"
#include "ops/pairs/cpu/work.h"

/* Squares beyond the last kept that may be written. */
enum { PAIRS_SPARE = 8 };

/* Appends those below `largest` to `kept`, and returns how many that holds then. */
LANES_INLINE int pairs_keep(lanes_f64 squares, lanes_f64 largest, double *kept, int count) {
#if defined(__AVX512F__)
  const __mmask8 below = _mm512_cmp_pd_mask((__m512d)squares, (__m512d)largest, _CMP_LT_OQ);
  _mm512_storeu_pd(kept + count, _mm512_maskz_compress_pd(below, (__m512d)squares));
  return count + __builtin_popcount(below);
#else
  const lanes_i64 below = squares < largest;
  for (int l = 0; l < LANES_F64; ++l) {
    kept[count] = squares[l];
    count -= (int)below[l];
  }
  return count;
#endif
}

/* One by one. */
static inline void pairs_count_singly(const pairs_ranks *ranks, const double *squares, int count,
                                      uint64_t *singles) {
  const pairs_ranks own = *ranks; /* no store to `singles` can change it */
  if (own.most == 1) {
    for (int k = 0; k < count; ++k) {
      const uint32_t rank = own.guide[pairs_cell_of(&own, squares[k])];
      ++singles[rank + (own.thresholds[rank] <= squares[k] ? 1 : 0)];
    }
    return;
  }
  for (int k = 0; k < count; ++k) ++singles[pairs_rank(&own, squares[k])];
}

#endif
