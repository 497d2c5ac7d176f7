/* pairs: how many pairs of points are how far apart.
 *
 * a, b          (n, 3), (m, 3)   f32 | f64, compact; b of count 0: pairs i < j within a
 *                                                  arrays[PAIRS_A], arrays[PAIRS_B]
 * a's, b's weights    (n), (m)   f64; count 0: none, and there are no sums
 *                                                  arrays[PAIRS_A_WEIGHTS], [PAIRS_B_WEIGHTS]
 * a's, b's molecules  (n), (m)   i64; count 0: none
 *                                                  arrays[PAIRS_A_MOLECULES], [PAIRS_B_MOLECULES]
 * thresholds    (bins + 1)       f64, never falling: see below           arrays[PAIRS_THRESHOLDS]
 * counts        (bins)           i64 or u64                                  arrays[PAIRS_COUNTS]
 * outside       (3)              i64 or u64: below, above, NaN; or of count 0: not asked for
 *                                                                           arrays[PAIRS_OUTSIDE]
 * sums          (bins)           f64; or of count 0: not asked for             arrays[PAIRS_SUMS]
 *
 * Where every point is: pairs_place(). In a box a point p becomes p - T(floor(s)), where
 *     s_i = (p.x * inverse[0][i] + p.y * inverse[1][i]) + p.z * inverse[2][i]
 *     T(n) = (n_0 * cell[0] + n_1 * cell[1]) + n_2 * cell[2], by component
 * of the reduced cell (box.c). A point that has no place in the cell is NaN, and so are its
 * distances: one that is not finite, is more than 2^45 cells away along a vector, or has fractional
 * coordinates outside -1/64 ... 1 + 1/64 afterwards.
 *
 * How far apart two are: d2 = (dx * dx + dy * dy) + dz * dz of dx = p.x - q.x and so on; in a box
 * the least such of dx + T(n).x ..., over all n of -2 ... 2 (125 images). Every operation is
 * rounded to double, none is fused.
 *
 * The bin of d2 is the k with thresholds[k] <= d2 < thresholds[k + 1]: below where it is under
 * thresholds[0], above where it is not under thresholds[bins]. The thresholds stand for the
 * contract's bins exactly: thresholds[k] is the least double whose root, over the width, is k or
 * more (whose root is edges[k] or more), and rounded roots and quotients never fall as their
 * operands rise. So no rung need take a root or divide.
 *
 * Sums: exact integers of 128 bits in units of 2^(exponent - 62), see sums.h. Pairs that molecules
 * exclude (pairs_excluded()) are counted nowhere.
 *
 * Least work: bytes = every point once, the outputs once. No least number of flops is known: a rung
 * need not look at every pair. Cases in which no distance is beyond the bins, and these are too
 * narrow for many pairs of neighbours to be counted at once, say 8 a pair, of single precision:
 * most pairs' bins are certain in it, whatever the points are given in. */
#ifndef RUNG_PAIRS_H
#define RUNG_PAIRS_H

#include "core/ladder.h"

enum {
  PAIRS_A,
  PAIRS_B,
  PAIRS_A_WEIGHTS,
  PAIRS_B_WEIGHTS,
  PAIRS_A_MOLECULES,
  PAIRS_B_MOLECULES,
  PAIRS_THRESHOLDS,
  PAIRS_COUNTS,
  PAIRS_OUTSIDE,
  PAIRS_SUMS,
  PAIRS_ARRAYS
};

/* A slot is where a pair is counted: a bin, or after the bins one of these. */
enum { PAIRS_BELOW, PAIRS_ABOVE, PAIRS_NAN, PAIRS_OUTER };

#define PAIRS_MOST (((int64_t)1 << 31) - 1)

typedef enum pairs_space {
  PAIRS_OPEN,
  PAIRS_RECTANGULAR, /* the reduced cell is diagonal */
  PAIRS_TRICLINIC,
  PAIRS_SPACES
} pairs_space;

typedef struct pairs_box {
  pairs_space space;
  double cell[3][3];    /* the reduced cell's vectors, by row; rectangular: by axis */
  double inverse[3][3]; /* of that matrix: fractional coordinate i is p . (column i) */
  double height[3];     /* between the cell's opposite faces: how thick it is along vector i */
  double reach;         /* half the shortest vector between images */
  /* For a difference of two places whose fractional parts were brought to -1/2 ... 1/2 by an n, no
   * images but T(n + near[i]) can be nearer than the last edge. near[0] = 0. */
  int nears;
  signed char near[27][3];
} pairs_box;

typedef struct pairs_problem {
  rung_dtype dtype;
  int64_t n, m; /* m: points of b, where cross */
  bool cross, weighted,
      excluding; /* weighted: sums are asked for; excluding: molecules are given */
  int bins;
  bool even;        /* bins of equal width from 0 */
  double width;     /* even: the contract's */
  double last;      /* the last edge, as a distance */
  double largest;   /* the last threshold: d2 that is not below it is above */
  double least;     /* the first threshold */
  double extent[3]; /* open: how far the finite points reach along each axis, where the host could
                       look (known), else 0 */
  bool known;
  pairs_box box;
  int64_t flush; /* so many pairs may be counted in 32 bits before these are added up */
  /* A part of a job: sums are written as integers (pairs_sum), (bins, 2) of i64, in units of the
   * job's exponent */
  bool part;
  int exponent;
  /* 0; or one of so many jobs that are the same but for their `turn`: every two tiles' pairs are
   * one's of them, which counts those and no others. What is above is theirs together, modulo
   * 2^64. Rung "exact32" alone knows of it. */
  int dealt, turn;
  double bytes, flops;
} pairs_problem;

/* For what the host works out and kernels too. */
#ifdef __CUDACC__
#define PAIRS_ANYWHERE static inline __host__ __device__
#else
#define PAIRS_ANYWHERE static inline
#endif

typedef struct pairs_point {
  double x, y, z;
} pairs_point;

/* T(n) of the contract. */
PAIRS_ANYWHERE pairs_point pairs_shift(const pairs_box *box, double n0, double n1, double n2) {
  const double(*c)[3] = box->cell;
  pairs_point t;
  t.x = (n0 * c[0][0] + n1 * c[1][0]) + n2 * c[2][0];
  t.y = (n0 * c[0][1] + n1 * c[1][1]) + n2 * c[2][1];
  t.z = (n0 * c[0][2] + n1 * c[1][2]) + n2 * c[2][2];
  return t;
}

/* The contract's square of a distance in open space. */
PAIRS_ANYWHERE double pairs_square_open(double dx, double dy, double dz) {
  return (dx * dx + dy * dy) + dz * dz;
}

#ifdef __cplusplus
extern "C" {
#endif

extern const rung_operation pairs_operation;

/* Axes: the points of a, and those of b or, within a set, of a again. Results of a part are its
 * counts, outside and sums. */
extern const struct rung_cut pairs_parts;

/* Whether a job's exponent can be found out, which then it is. */
bool pairs_may_cut(pairs_problem *problem, const rung_view *arrays);

/* Fills *problem (extent, known, weighted, excluding, dtype are the caller's to set afterwards) and
 * thresholds[0 ... bins->count]. Refuses bins that are none, a box that is none, a last edge beyond
 * the box's reach, sizes out of range. thresholds may be NULL: only checked. */
rung_status pairs_problem_of(rung_error *error, const rung_distances *bins, const rung_box *box,
                             int64_t n, int64_t m, bool cross, pairs_problem *problem,
                             double *thresholds);

/* Looks how far the points of compact or strided arrays reach: fills extent and known, where they
 * lie in the host's memory and the space is open. */
void pairs_look(pairs_problem *problem, const rung_view *a, const rung_view *b);

/* The same, of points that lie between these. */
void pairs_set_reach(pairs_problem *problem, const double low[3], const double high[3]);

/* Lowers and raises what has been found so far by the coordinates of a set in host memory. */
void pairs_find_ends(const rung_view *at, double low[3], double high[3]);

/* box.c: NULL is open space. `last` is the last edge, which decides near[]. */
rung_status pairs_box_of(rung_error *error, const rung_box *box, double last, pairs_box *reduced);

#ifdef __cplusplus
}
#endif
#endif
