/* What the ladder and the kernel of `exact32` must agree on. Plain C. */
#ifndef RUNG_PAIRS_CUDA_EXACT32_H
#define RUNG_PAIRS_CUDA_EXACT32_H

#include "ops/pairs/cuda/plan.h"

/* Points of a tile of b, at most. */
enum { PAIRS_EXACT_B = 256 };

/* Notes that a warp has room for (exact32.cu), and what a block has in shared memory besides. */
enum { PAIRS_EXACT_NOTES = 1024, PAIRS_EXACT_STATIC = PAIRS_EXACT_B * 16 + 16 * (32 + 32 + 4) };

/* Counters of a bin, where bins are few. */
enum { PAIRS_EXACT_COLUMNS = 64 };

/* Of given edges a guide leads from the bits of a square, relative to that of the last edge, to its
 * place among them: 2^bits cells an octave, so many octaves below 1 and one above; what is less is
 * in cell 0. */
typedef struct pairs_exact_guide {
  int octaves, bits, cells; /* cells 0: even bins, no guide */
} pairs_exact_guide;

/* How a job is done: binary places behind the point that a distance in bins has, of 23 in all (0:
 * by a guide), threads of a block, shared memory. */
typedef struct pairs_exact_way {
  int fraction, threads;
  pairs_exact_guide guide;
  size_t shared;
} pairs_exact_way;

static inline pairs_exact_guide pairs_exact_guide_of(const pairs_problem *problem) {
  const double ratio = problem->least / problem->largest;
  const int wanted = problem->bins < 384 ? 1536 : problem->bins < 2048 ? 4 * problem->bins : 8192;
  pairs_exact_guide guide;
  guide.octaves = 1;
  while (guide.octaves < 24 && !(ldexp(1, -guide.octaves) <= ratio)) ++guide.octaves;
  guide.bits = 1;
  while (guide.bits < 12 && (guide.octaves + 1) << (guide.bits + 1) <= wanted) ++guide.bits;
  guide.cells = (guide.octaves + 1) << guide.bits;
  return guide;
}

/* How many pairs there are, about. */
static inline double pairs_number(const pairs_problem *problem) {
  return problem->cross ? (double)problem->n * (double)problem->m
                        : (double)problem->n * (double)problem->n / 2;
}

/* Points are not sorted where that would take longer than all that is won by it: near tiles are two
 * thirds as fast as far ones, and to sort takes as long as 2^27 pairs. In a box tiles must be small
 * that few images are in reach. Jobs that are dealt out have the same tiles on every device. */
static inline bool pairs_exact_as_they_come(const pairs_problem *problem) {
  return problem->box.space == PAIRS_OPEN && problem->dealt <= 1 && pairs_number(problem) <= 0x1p27;
}

static inline pairs_exact_way pairs_exact_way_of(const pairs_problem *problem) {
  pairs_exact_way way;
  const int bins = problem->bins;
  way.guide.octaves = way.guide.bits = way.guide.cells = 0;
  way.fraction = bins < (1 << 7) - 2 ? 16 : bins < (1 << 10) - 2 ? 13 : 9;
  /* A counter for every lane must be cleared and added up by every block. */
  if (bins > 24 && way.fraction == 16 && pairs_number(problem) < 0x1.28p26) way.fraction = 13;
  if (!problem->even) {
    way.fraction = 0;
    way.guide = pairs_exact_guide_of(problem);
  }
  /* Tables that leave room for few blocks are shared by larger ones. */
  way.threads = way.fraction > 9 || (way.fraction == 0 && bins < 1024) ? 128 : 512;
  way.shared =
      (size_t)way.guide.cells * 2 * sizeof(float) +
      ((size_t)bins + 2) * (way.fraction == 16 ? PAIRS_EXACT_COLUMNS : 1) * sizeof(uint32_t) +
      (size_t)(way.threads / 32) * PAIRS_EXACT_NOTES * sizeof(uint16_t);
  return way;
}

/* Points of a tile of b: fewer where points are few, and tiles would not keep a device busy on
 * which `at_once` blocks run. What a block takes besides its pairs, most where every lane has its
 * counters, makes it so that half as many blocks have to do for half as many points. */
static inline int pairs_exact_part(const pairs_problem *problem, int fraction, int64_t tiles_a,
                                   int64_t at_once) {
  const int64_t points = problem->cross ? problem->m : problem->n;
  const int64_t wanted = at_once * (fraction == 16 ? 3 : 6) / 4; /* of whole tiles */
  int part = PAIRS_EXACT_B;
  if (!pairs_exact_as_they_come(problem)) return part;
  while (part > 16) {
    const int64_t blocks = tiles_a * ((points + part - 1) / part) / (problem->cross ? 1 : 2);
    if (blocks * PAIRS_EXACT_B >= wanted * part) break;
    part /= 2;
  }
  return part;
}

static inline size_t pairs_exact_zeros(const pairs_problem *problem) {
  return pairs_exact_as_they_come(problem) ? pairs_once_bytes(problem) : 0;
}

static inline size_t pairs_exact_bytes(const pairs_problem *problem) {
  if (pairs_exact_as_they_come(problem)) return pairs_ledger_of(problem).bytes;
  const pairs_grid grid = pairs_grid_morton(problem);
  return pairs_ledger_of(problem).bytes + pairs_sort_bytes(problem, &grid);
}

#endif
