/* Where a point is and how far apart two are: the contract's arithmetic (pairs.h), for the host and
 * for kernels. docs/NUMERICS.md, "Pairs", says why the short ways give the long way's value. */
#ifndef RUNG_PAIRS_SPACE_H
#define RUNG_PAIRS_SPACE_H

#include <math.h>

#include "ops/pairs/pairs.h"

/* How far outside the cell a place may be, in fractional coordinates: roundings only. */
#define PAIRS_OUT 0x1p-6
/* How many cells away a point may be: beyond that its place would be little but roundings. */
#define PAIRS_FAR 0x1p45

PAIRS_ANYWHERE double pairs_fraction(const pairs_box *box, double x, double y, double z, int i) {
  return (x * box->inverse[0][i] + y * box->inverse[1][i]) + z * box->inverse[2][i];
}

/* The contract's place of a point. Open space leaves it as it is; what has no place in the cell is
 * NaN. */
PAIRS_ANYWHERE pairs_point pairs_place(const pairs_box *box, double x, double y, double z) {
  pairs_point p = {x, y, z};
  if (box->space == PAIRS_OPEN) return p;
  const double n0 = floor(pairs_fraction(box, x, y, z, 0)),
               n1 = floor(pairs_fraction(box, x, y, z, 1)),
               n2 = floor(pairs_fraction(box, x, y, z, 2));
  const pairs_point t = pairs_shift(box, n0, n1, n2);
  p.x -= t.x;
  p.y -= t.y;
  p.z -= t.z;
  bool inside = fabs(n0) <= PAIRS_FAR && fabs(n1) <= PAIRS_FAR && fabs(n2) <= PAIRS_FAR;
  for (int i = 0; i < 3; ++i) {
    const double s = pairs_fraction(box, p.x, p.y, p.z, i);
    inside = inside && s >= -PAIRS_OUT && s <= 1 + PAIRS_OUT;
  }
  if (!inside) p.x = p.y = p.z = (double)NAN;
  return p;
}

/* Point `at` of compact coordinates, at its place. */
PAIRS_ANYWHERE pairs_point pairs_place_of(const pairs_problem *problem, const void *data,
                                          int64_t at) {
  if (problem->dtype == RUNG_F32) {
    const float *p = (const float *)data + 3 * at;
    return pairs_place(&problem->box, (double)p[0], (double)p[1], (double)p[2]);
  }
  const double *p = (const double *)data + 3 * at;
  return pairs_place(&problem->box, p[0], p[1], p[2]);
}

/* The contract: the least over 125 images. One NaN makes all of them NaN. */
PAIRS_ANYWHERE double pairs_square_full(const pairs_box *box, double dx, double dy, double dz) {
  double least = pairs_square_open(dx, dy, dz);
  if (box->space == PAIRS_OPEN) return least;
  for (int n0 = -2; n0 <= 2; ++n0)
    for (int n1 = -2; n1 <= 2; ++n1)
      for (int n2 = -2; n2 <= 2; ++n2) {
        const pairs_point t = pairs_shift(box, n0, n1, n2);
        const double square = pairs_square_open(dx + t.x, dy + t.y, dz + t.z);
        if (square < least) least = square;
      }
  return least;
}

/* The lesser of |d| and ||d| - length|: the nearest image along one axis. NaN where d is. */
PAIRS_ANYWHERE double pairs_fold(double d, double length) {
  const double straight = fabs(d), around = fabs(straight - length);
  return around < straight ? around : straight;
}

/* A diagonal cell: the contract's value, of places. */
PAIRS_ANYWHERE double pairs_square_rectangular(const pairs_box *box, double dx, double dy,
                                               double dz) {
  return pairs_square_open(pairs_fold(dx, box->cell[0][0]), pairs_fold(dy, box->cell[1][1]),
                           pairs_fold(dz, box->cell[2][2]));
}

/* Any cell: the contract's value wherever that is below the last threshold, and not below it
 * otherwise. */
PAIRS_ANYWHERE double pairs_square_near(const pairs_box *box, double dx, double dy, double dz) {
  const double n0 = -rint(pairs_fraction(box, dx, dy, dz, 0)),
               n1 = -rint(pairs_fraction(box, dx, dy, dz, 1)),
               n2 = -rint(pairs_fraction(box, dx, dy, dz, 2));
  pairs_point t = pairs_shift(box, n0, n1, n2);
  double least = pairs_square_open(dx + t.x, dy + t.y, dz + t.z);
  for (int k = 1; k < box->nears; ++k) {
    t = pairs_shift(box, n0 + box->near[k][0], n1 + box->near[k][1], n2 + box->near[k][2]);
    const double square = pairs_square_open(dx + t.x, dy + t.y, dz + t.z);
    if (square < least) least = square;
  }
  return least;
}

/* The short way of a space, of the differences of two places. */
PAIRS_ANYWHERE double pairs_square(const pairs_box *box, double dx, double dy, double dz) {
  return box->space == PAIRS_OPEN          ? pairs_square_open(dx, dy, dz)
         : box->space == PAIRS_RECTANGULAR ? pairs_square_rectangular(box, dx, dy, dz)
                                           : pairs_square_near(box, dx, dy, dz);
}

/* All pairs of the job, those that molecules exclude among them. */
PAIRS_ANYWHERE int64_t pairs_all(const pairs_problem *problem) {
  const int64_t n = problem->n;
  if (problem->cross) return n * problem->m;
  return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

/* Whether two points' molecules exclude the pair. */
PAIRS_ANYWHERE bool pairs_excluded(int64_t a, int64_t b) {
  return a == b && a >= 0;
}

#endif
