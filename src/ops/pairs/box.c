/* The cell of a periodic system, as rungs use it: reduced to short vectors, so that the nearest
 * image of a point is always near by.
 *
 * The reduction is the greedy one (Semaev 2001; Nguyen and Stehle 2009): as long as a vector can be
 * made shorter by whole multiples of the others, it is. In three dimensions what is left when none
 * can is reduced in Minkowski's sense: the first is the shortest vector between images, and no
 * height of the cell is below 1/sqrt(2) of its vector's length. */
#include <math.h>

#include "ops/pairs/space.h"

/* Lengths whose fourth powers are far from a double's ends, those of flat cells too. */
#define SHORTEST 1e-70
#define LONGEST 1e70
/* A flat cell's volume over the product of its lengths. */
#define FLAT 1e-12
/* Every round shortens a vector; cells that are not flat take far fewer. */
enum { ROUNDS = 10000 };

typedef struct vector {
  double x, y, z;
} vector;

static double dot(vector a, vector b) {
  return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static vector cross(vector a, vector b) {
  return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* a - q b, rounded once each. */
static vector less(vector a, double q, vector b) {
  return (vector){fma(-q, b.x, a.x), fma(-q, b.y, a.y), fma(-q, b.z, a.z)};
}

static double length(vector a) {
  return sqrt(dot(a, a));
}

static void swap(vector *a, vector *b) {
  const vector was = *a;
  *a = *b;
  *b = was;
}

/* ---- checking --------------------------------------------------------------------------------
 */

static rung_status check(rung_error *error, const rung_box *box) {
  const double *vectors[3] = {box->a, box->b, box->c};
  for (int i = 0; i < 3; ++i) {
    const double *v = vectors[i];
    for (int k = 0; k < 3; ++k)
      if (!isfinite(v[k]))
        return rung_fail(error, RUNG_BAD_ARGUMENT, "box->%c[%d] is %g; expected: a finite number",
                         'a' + i, k, v[k]);
    const double long_is = length((vector){v[0], v[1], v[2]});
    if (!(long_is >= SHORTEST && long_is <= LONGEST))
      return rung_fail(
          error, RUNG_BAD_ARGUMENT,
          "box->%c is (%.17g, %.17g, %.17g), a vector of length %.3g; expected: a length of "
          "%g ... %g",
          'a' + i, v[0], v[1], v[2], long_is, SHORTEST, LONGEST);
  }
  return RUNG_OK;
}

static rung_status check_volume(rung_error *error, vector a, vector b, vector c) {
  const double volume = fabs(dot(cross(a, b), c)), most = length(a) * length(b) * length(c);
  if (volume > FLAT * most) return RUNG_OK;
  return rung_fail(
      error, RUNG_BAD_ARGUMENT,
      "box->a, b and c span a volume of %.3g, and their lengths would allow %.3g; expected: "
      "vectors that lie in no plane",
      volume, most);
}

/* ---- reducing --------------------------------------------------------------------------------
 */

/* Shortens b by multiples of a, which is no longer; false: it cannot be. */
static bool shorten(vector a, vector *b) {
  const vector shorter = less(*b, rint(dot(a, *b) / dot(a, a)), a);
  if (!(dot(shorter, shorter) < dot(*b, *b))) return false;
  *b = shorter;
  return true;
}

/* Shortens c by multiples of a and b, which shorten() has nothing left to do with: those nearest to
 * c's share of the plane, and their neighbours. */
static bool shorten_last(vector a, vector b, vector *c) {
  const double aa = dot(a, a), ab = dot(a, b), bb = dot(b, b), ca = dot(*c, a), cb = dot(*c, b);
  const double area = aa * bb - ab * ab;
  const double p = rint((ca * bb - cb * ab) / area), q = rint((cb * aa - ca * ab) / area);
  vector best = *c;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) {
      const vector other = less(less(*c, p + i, a), q + j, b);
      if (dot(other, other) < dot(best, best)) best = other;
    }
  if (!(dot(best, best) < dot(*c, *c))) return false;
  *c = best;
  return true;
}

static void reduce(vector *a, vector *b, vector *c) {
  for (int round = 0; round < ROUNDS; ++round) {
    if (dot(*b, *b) < dot(*a, *a)) swap(a, b);
    if (dot(*c, *c) < dot(*b, *b)) swap(b, c);
    if (dot(*b, *b) < dot(*a, *a)) swap(a, b);
    if (!shorten(*a, b) && !shorten_last(*a, *b, c)) return;
  }
}

/* ---- the cell as rungs use it ------------------------------------------------------------------
 */

/* Whether the vectors lie along the axes, one along each; then their lengths by axis. */
static bool is_rectangular(const vector v[3], double lengths[3]) {
  int along[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    const double at[3] = {v[i].x, v[i].y, v[i].z};
    int set = 0, axis = 0;
    for (int k = 0; k < 3; ++k)
      if (at[k] != 0) {
        ++set;
        axis = k;
      }
    if (set != 1) return false;
    ++along[axis];
    lengths[axis] = fabs(at[axis]);
  }
  return along[0] == 1 && along[1] == 1 && along[2] == 1;
}

static void set_rectangular(const double lengths[3], pairs_box *box) {
  box->space = PAIRS_RECTANGULAR;
  for (int i = 0; i < 3; ++i) {
    box->cell[i][i] = box->height[i] = lengths[i];
    box->inverse[i][i] = 1 / lengths[i];
  }
  box->reach = 0.5 * fmin(lengths[0], fmin(lengths[1], lengths[2]));
}

static void set_triclinic(const vector v[3], pairs_box *box) {
  const double volume = dot(cross(v[0], v[1]), v[2]);
  box->space = PAIRS_TRICLINIC;
  for (int i = 0; i < 3; ++i) {
    const vector face = cross(v[(i + 1) % 3], v[(i + 2) % 3]);
    const double row[3] = {v[i].x, v[i].y, v[i].z}, column[3] = {face.x, face.y, face.z};
    for (int k = 0; k < 3; ++k) {
      box->cell[i][k] = row[k];
      box->inverse[k][i] = column[k] / volume;
    }
    box->height[i] = fabs(volume) / length(face);
  }
  box->reach = 0.5 * fmin(length(v[0]), fmin(length(v[1]), length(v[2])));
}

/* What fractional coordinates may stray by through all roundings, 32 units of them to be generous:
 * places are sums of parts as long as the cell's vectors. */
static double stray(const pairs_box *box, double lengths, int i) {
  return 0x1p-48 * lengths / box->height[i];
}

/* An image within `last` has fractional coordinates of at most last / height, and rint() leaves a
 * difference -1/2 ... 1/2: they can belong to different images only where both come to 1. */
static void set_near(double last, double lengths, pairs_box *box) {
  bool far[3];
  for (int i = 0; i < 3; ++i) far[i] = last / box->height[i] + 0.5 + stray(box, lengths, i) >= 1;
  box->nears = 1;
  for (int n = 0; n < 27; ++n) {
    const int o[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
    bool near = n != 13;
    for (int i = 0; i < 3; ++i) near = near && (o[i] == 0 || far[i]);
    for (int i = 0; i < 3 && near; ++i) box->near[box->nears][i] = (signed char)o[i];
    box->nears += near;
  }
}

rung_status pairs_box_of(rung_error *error, const rung_box *box, double last, pairs_box *reduced) {
  *reduced = (pairs_box){.space = PAIRS_OPEN, .nears = 1};
  if (box == NULL) return RUNG_OK;
  rung_status status = check(error, box);
  if (status != RUNG_OK) return status;
  vector v[3] = {{box->a[0], box->a[1], box->a[2]},
                 {box->b[0], box->b[1], box->b[2]},
                 {box->c[0], box->c[1], box->c[2]}};
  if ((status = check_volume(error, v[0], v[1], v[2])) != RUNG_OK) return status;
  double along[3];
  reduce(&v[0], &v[1], &v[2]);
  if (is_rectangular(v, along))
    set_rectangular(along, reduced);
  else
    set_triclinic(v, reduced);
  const double lengths = length(v[0]) + length(v[1]) + length(v[2]);
  for (int i = 0; i < 3; ++i)
    if (!(stray(reduced, lengths, i) <= PAIRS_OUT))
      return rung_fail(
          error, RUNG_BAD_ARGUMENT,
          "box is %.3g thick where its shortest vectors' lengths add up to %.3g; expected: a "
          "cell less than 10^12 times as long as it is thick",
          reduced->height[i], lengths);
  set_near(last, lengths, reduced);
  return RUNG_OK;
}
