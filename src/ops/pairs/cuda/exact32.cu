/* Single precision that knows its error: points are sorted along a Morton curve, unless they are
 * few, a tile of them and one of the others are taken relative to the second one's middle and in
 * units of the bins' width, and a root in float gives the bin. Where that comes nearer to an edge
 * than its error may be, the threshold is asked in double: the counts are the contract's.
 * docs/NUMERICS.md has the bounds.
 *
 * A distance t becomes an integer by adding a power of two whose last place weighs 2^-FRACTION: the
 * sum's low bits are t's fraction, the ones above the bin. As many places as it may be wrong by are
 * added on top, so that a fraction of at most twice as many says that an edge is near, and that the
 * bin is this one or the one below. Such pairs are noted, and settled many at a time, for a look at
 * memory takes long. Far from each other, tiles take |a|^2 + |b|^2 - 2 a b, one operation an axis;
 * near, where that would lose its digits, differences. */
#include "ops/pairs/cuda/exact32.h"
#include "ops/pairs/cuda/excluded.cuh"
#include "ops/pairs/cuda/once.cuh"
#include "ops/pairs/cuda/sort.cuh"

/* Pieces of the kernel: inlined on a GPU, whatever it takes, and once each on the simulator, whose
 * code is large. */
#ifdef __CUDACC__
#define PAIRS_EXACT_PIECE __forceinline__
#else
#define PAIRS_EXACT_PIECE RUNG_ASIDE
#endif

/* How blocks share the work: every tile of a is taken `shares` times, with every shares-th tile of
 * b. Of a job that is dealt out the next of these is the next job's, and a tile of a further each
 * begins with another one. */
struct pairs_exact_plan {
  int64_t tiles_a, tiles_b;
  int part; /* points of a tile of b */
  int shares, dealt, turn;
  int step; /* from a block's tile of b to its next */
  pairs_exact_guide guide;
  double scale;    /* lengths to units */
  float slack;     /* what double rounds where images are moved, in units */
  pairs_once once; /* of few pairs */
};

/* In a box pairs are counted image by image, for of a pair's images at most one is within the last
 * edge: a's points, or what they are relative to, moved by T(n). */
struct pairs_exact_image {
  int number;         /* of n, each of -1 ... 1 */
  pairs_point middle; /* what a's points are relative to: b's middle less T(n) */
};

enum { PAIRS_EXACT_IMAGES = 27, PAIRS_EXACT_STILL = 13 }; /* n = 0 */

/* What a warp knows of a pair of tiles, and of how their pairs are counted. */
struct pairs_exact_pair {
  const float4 *b;          /* shared: x, y, z, and their squares' sum */
  pairs_exact_image *image; /* shared, the warp's */
  int64_t first_a, first_b; /* a: the thread's own first point; the next are a warp's width on */
  int count_b, end_b;       /* points there, and those that are looked at: whole steps */
  double scale;
  float slack;
  float most;      /* the square from which on distances count as just beyond the last edge */
  unsigned *table; /* shared, by place among the edges: below, the bins, above */
  unsigned column; /* where in a row of the table the thread counts, in bytes */
  /* even bins */
  float magic;
  unsigned near; /* fractions less than that have an edge near */
  /* by a guide, shared: see pairs_exact_cell() */
  const float2 *guide;
  int shift, base;
  float error, floor; /* of a square; squares up to `floor` are in doubt */
};

/* Points of a tile of a that a thread has, and points of b that are looked at before doubts are
 * noted. Where every lane has its counters, the queue of roots, loads and counters is the limit,
 * and a point of b that is loaded once for six pairs relieves it; with two a step registers last.
 */
template <int FRACTION, bool FEW>
static __device__ __host__ __forceinline__ constexpr int pairs_exact_own() {
  return FRACTION == 16 && !FEW ? 6 : 4;
}
template <int FRACTION, bool FEW>
static __device__ __forceinline__ constexpr int pairs_exact_step() {
  return FRACTION > 0 && pairs_exact_own<FRACTION, FEW>() == 4 ? 4 : 2;
}

/* A warp's notes of pairs in doubt: which of the thread's own points, which lane, which point of b.
 */
struct pairs_exact_notes {
  unsigned short *at; /* shared */
  unsigned *count;
};

/* What the sum of t and the power of two is in place 0, as an integer. */
template <int FRACTION>
static __device__ __forceinline__ constexpr unsigned pairs_exact_zero() {
  return (unsigned)(127 + 23 - FRACTION) << (23 - FRACTION);
}

/* Few bins: a counter of every place for each lane, 256 bytes a place, so that no two lanes of a
 * warp meet in a bank and one byte permutation makes the address of a sum's bits. */
template <int FRACTION>
static __device__ __forceinline__ constexpr int pairs_exact_columns() {
  return FRACTION == 16 ? PAIRS_EXACT_COLUMNS : 1;
}

template <int FRACTION>
static __device__ __forceinline__ void pairs_exact_add(const pairs_exact_pair &pair, unsigned place,
                                                       unsigned n) {
  atomicAdd(
      (unsigned *)((char *)(pair.table + place * pairs_exact_columns<FRACTION>()) + pair.column),
      n);
}

/* Counts a pair by its sum, or by its place. */
template <int FRACTION>
static __device__ __forceinline__ void pairs_exact_tick(const pairs_exact_pair &pair, unsigned at,
                                                        unsigned place) {
  if (FRACTION == 16)
    atomicAdd((unsigned *)((char *)pair.table + __byte_perm(at, pair.column, 0x5524)), 1u);
  else
    pairs_exact_add<FRACTION>(pair, place, 1u);
}

/* A point of a set. FEW: as it came, in the caller's array, to which the set's x points. */
template <bool FEW>
static __device__ __forceinline__ pairs_point pairs_exact_at(const pairs_job &job,
                                                             const pairs_set &set, int64_t i) {
  return FEW ? pairs_place_of(&job.problem, set.x, i) : pairs_at(set, i);
}

static __device__ __forceinline__ bool pairs_exact_valid(const pairs_job &job, int64_t i,
                                                         int64_t j) {
  return i < job.a.n && j < job.b.n && (job.problem.cross || i < j);
}

static __device__ __forceinline__ pairs_point pairs_exact_shift(const pairs_box &box, int image) {
  return pairs_shift(&box, image / 9 - 1, image / 3 % 3 - 1, image % 3 - 1);
}

/* The contract's square of an image's distance. */
static __device__ __forceinline__ double pairs_exact_square(const pairs_box &box, pairs_point p,
                                                            pairs_point q, int image) {
  const pairs_point t = pairs_exact_shift(box, image);
  return pairs_square_open(p.x - q.x + t.x, p.y - q.y + t.y, p.z - q.z + t.z);
}

/* The same, where this image is the pair's: the nearest, the first of several. Else, and where it
 * is not within the last edge, infinite: then the pair is counted with another one, or is above. */
static __device__ PAIRS_EXACT_PIECE double pairs_exact_own_square(const pairs_problem &problem,
                                                                  pairs_point p, pairs_point q,
                                                                  int image) {
  if (problem.box.space == PAIRS_OPEN) return pairs_apart<PAIRS_OPEN>(problem.box, p, q);
  const double square = pairs_exact_square(problem.box, p, q, image);
  bool own = square < problem.largest;
#pragma unroll 1
  for (int k = 0; k < PAIRS_EXACT_IMAGES && own; ++k) {
    const double other = pairs_exact_square(problem.box, p, q, k);
    own = !(other < square || (other == square && k < image));
  }
  return own ? square : (double)INFINITY;
}

static __device__ __forceinline__ unsigned short pairs_exact_note(int u, int lane, int b) {
  return (unsigned short)(u << 13 | lane << 8 | b);
}

/* A point relative to the middle, in units of the width, and the square of its distance from it,
 * rounded once. */
static __device__ __forceinline__ float4 pairs_exact_point(pairs_point p, pairs_point middle,
                                                           double scale) {
  const double x = (p.x - middle.x) * scale, y = (p.y - middle.y) * scale,
               z = (p.z - middle.z) * scale;
  return make_float4((float)x, (float)y, (float)z, (float)(x * x + y * y + z * z));
}

/* In place of a point that is not there: so far from everything that it counts as above. Those of a
 * are on one side, those of b on the other. */
static __device__ __forceinline__ float4 pairs_exact_nowhere(float side) {
  return make_float4(side * 1e18f, 0.0f, 0.0f, 1e36f);
}

/* A point of a as products want it. */
static __device__ __forceinline__ float4 pairs_exact_factor(float4 a) {
  return make_float4(-2 * a.x, -2 * a.y, -2 * a.z, a.w);
}

/* The place of a pair in float, and in *at what says whether an edge is near: the sum, or (FRACTION
 * 0) the square less the edge in its cell. DOT: by products, a is a factor; CAPPED: it may be
 * beyond the last edge, where those are that are no pairs. */
template <int FRACTION, bool DOT, bool CAPPED>
static __device__ __forceinline__ unsigned pairs_exact_place(const pairs_exact_pair &pair, float4 a,
                                                             float4 b, unsigned *at,
                                                             bool valid = true) {
  float d2;
  if (DOT) {
    d2 = fabsf(fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, b.w))) + a.w);
  } else {
    const float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
  }
  if (CAPPED) d2 = valid ? fminf(d2, pair.most) : pair.most;
  if constexpr (FRACTION > 0) {
    *at = __float_as_uint(rung_root(d2) + pair.magic);
    return (*at >> FRACTION) - pairs_exact_zero<FRACTION>();
  } else {
    const float2 cell = pair.guide[max((__float_as_int(d2) >> pair.shift) - pair.base, 0)];
    const float over = !DOT && d2 <= pair.floor ? 0.0f : d2 - cell.x;
    *at = __float_as_uint(over);
    return __float_as_uint(cell.y) - (*at >> 31);
  }
}

/* Two fractions of up to 16 bits, side by side. */
template <int FRACTION>
static __device__ __forceinline__ unsigned pairs_exact_two(unsigned first, unsigned second) {
  constexpr unsigned low = (1u << FRACTION) - 1;
  return __byte_perm(first, second, 0x5410) & (low << 16 | low);
}

/* Which of a step's pairs have an edge near, a bit a pair in *doubts; false where no thread of the
 * warp has one. Where that is rare it is asked of all pairs at once first. Else two at a time: a
 * fraction less what is near has, where that is negative, all the bits above a fraction's. */
template <int FRACTION, int PAIRS>
static __device__ __forceinline__ bool pairs_exact_doubt(const pairs_exact_pair &pair,
                                                         const unsigned at[PAIRS],
                                                         unsigned *doubts) {
  *doubts = 0;
  if constexpr (FRACTION > 0 && FRACTION < 16) {
    constexpr int GROUP = 16 - FRACTION < PAIRS / 2 ? 16 - FRACTION : PAIRS / 2;
#pragma unroll
    for (int first = 0; first < PAIRS / 2; first += GROUP) {
      unsigned some = 0;
#pragma unroll
      for (int k = 0; k < GROUP && first + k < PAIRS / 2; ++k)
        some |= (pairs_exact_two<FRACTION>(at[2 * (first + k)], at[2 * (first + k) + 1]) -
                 (pair.near << 16 | pair.near)) &
                0x10001u << (FRACTION + k);
      *doubts |= some >> FRACTION << first;
    }
    return __any_sync(0xffffffffu, *doubts != 0) != 0;
  } else {
    bool near = false;
    unsigned lowest = ~0u;
#pragma unroll
    for (int k = 0; k < PAIRS; k += 2) {
      if (FRACTION > 0) /* their upper halves do not matter */
        lowest = __vimin3_u16x2(lowest, at[k], at[k + 1]);
      else
        near |= !(fabsf(__uint_as_float(at[k])) > pair.error) ||
                !(fabsf(__uint_as_float(at[k + 1])) > pair.error);
    }
    if (FRACTION > 0) near = (lowest & 0xffff) < pair.near;
    if (!__any_sync(0xffffffffu, near)) return false;
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
      const bool sure =
          FRACTION > 0 ? (at[k] & 0xffff) >= pair.near : fabsf(__uint_as_float(at[k])) > pair.error;
      *doubts |= sure ? 0 : 1u << (k / 2 + k % 2 * 16);
    }
    return true;
  }
}

/* Pairs that were noted are counted where they belong, and no longer where they were: their place
 * in float, found once more, is what it was. */
template <int FRACTION, bool FEW, bool DOT, bool CAPPED>
static __device__ PAIRS_EXACT_PIECE void pairs_exact_settle(const pairs_job &job,
                                                            const pairs_exact_pair &pair,
                                                            const pairs_exact_notes &notes) {
  const int lane = (int)threadIdx.x % 32;
  __syncwarp();
  const unsigned count = *notes.count;
  __syncwarp();
  if (lane == 0) *notes.count = 0;
  for (unsigned k = (unsigned)lane; k < count; k += 32) {
    const unsigned note = notes.at[k];
    const int64_t i = pair.first_a - lane + (note >> 8 & 31) + (note >> 13) * 32;
    const pairs_point p = pairs_exact_at<FEW>(job, job.a, i),
                      q = pairs_exact_at<FEW>(job, job.b, pair.first_b + (note & 255));
    float4 own = pairs_exact_point(p, pair.image->middle, pair.scale);
    if (DOT) own = pairs_exact_factor(own);
    unsigned at;
    const int was =
        (int)pairs_exact_place<FRACTION, DOT, CAPPED>(pair, own, pair.b[note & 255], &at);
    const double d2 = FEW ? pairs_apart<PAIRS_OPEN>(job.problem.box, p, q)
                          : pairs_exact_own_square(job.problem, p, q, pair.image->number);
    int place = was;
    while (place > 0 && d2 < job.thresholds[place - 1]) --place;
    while (place <= job.problem.bins && d2 >= job.thresholds[place]) ++place;
    if (place == was) continue;
    pairs_exact_add<FRACTION>(pair, (unsigned)was, ~0u);
    pairs_exact_add<FRACTION>(pair, (unsigned)place, 1u);
  }
  __syncwarp();
}

/* All pairs of two tiles. FEW: b's has not as many points as others; MASKED: of one tile with
 * itself. What is no pair, or comes again, counts as above, whose number is worked out at the end.
 */
template <int FRACTION, bool FEW, bool DOT, bool CAPPED, bool MASKED>
static __device__ PAIRS_EXACT_PIECE void pairs_exact_count(const pairs_job &job,
                                                           const pairs_exact_pair &pair,
                                                           const float4 *own,
                                                           const pairs_exact_notes &notes) {
  constexpr int OWN = pairs_exact_own<FRACTION, FEW>(), STEP = pairs_exact_step<FRACTION, FEW>(),
                PAIRS = STEP * OWN;
  const int end = FEW ? pair.end_b : PAIRS_EXACT_B;
  /* Where b's points begin that come after the thread's own first one. */
  const int begin = (int)(pair.first_a - pair.first_b) + 1;
#pragma unroll(FEW ? 1 : 2)
  for (int first = 0; first < end; first += STEP) {
    unsigned at[PAIRS];
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
      const int s = k / OWN, u = k % OWN;
      const unsigned place = pairs_exact_place<FRACTION, DOT, CAPPED>(
          pair, own[u], pair.b[first + s], &at[k], !MASKED || first + s - u * 32 >= begin);
      pairs_exact_tick<FRACTION>(pair, at[k], place);
    }
    unsigned doubts;
    if (!pairs_exact_doubt<FRACTION, PAIRS>(pair, at, &doubts)) continue;
    for (; doubts != 0; doubts &= doubts - 1) {
      const int bit = __ffs((int)doubts) - 1, k = bit % 16 * 2 + bit / 16;
      notes.at[atomicAdd(notes.count, 1u)] =
          pairs_exact_note(k % OWN, (int)threadIdx.x % 32, first + k / OWN);
    }
    __syncwarp();
    if (*notes.count > PAIRS_EXACT_NOTES - 32 * PAIRS)
      pairs_exact_settle<FRACTION, FEW, DOT, CAPPED>(job, pair, notes);
  }
  pairs_exact_settle<FRACTION, FEW, DOT, CAPPED>(job, pair, notes);
}

/* The same in double: of tiles whose numbers say nothing in float. A distance that is NaN is so
 * with every image, and counted with the first. */
template <int FRACTION, bool FEW>
static __device__ PAIRS_EXACT_PIECE void pairs_exact_slowly(const pairs_job &job,
                                                            const pairs_exact_pair &pair) {
  const bool still = pair.image->number == PAIRS_EXACT_STILL;
#pragma unroll 1
  for (int k = 0; k < pair.count_b; ++k)
#pragma unroll 1
    for (int u = 0; u < pairs_exact_own<FRACTION, FEW>(); ++u) {
      const int64_t i = pair.first_a + u * 32, j = pair.first_b + k;
      if (!pairs_exact_valid(job, i, j)) continue;
      const pairs_point p = pairs_exact_at<FEW>(job, job.a, i),
                        q = pairs_exact_at<FEW>(job, job.b, j);
      double d2 = pairs_exact_square(job.problem.box, p, q, pair.image->number);
      if (!isnan(d2)) d2 = pairs_exact_own_square(job.problem, p, q, pair.image->number);
      const unsigned slot = pairs_slot_of(job, job.thresholds, d2);
      if (slot < (unsigned)job.problem.bins)
        pairs_exact_add<FRACTION>(pair, slot + 1, 1u);
      else if (slot != (unsigned)job.problem.bins + PAIRS_ABOVE &&
               (slot != (unsigned)job.problem.bins + PAIRS_NAN || still))
        pairs_add(job, slot, 1);
    }
}

/* Of numbers that are not negative, the bits rise as they do, and a NaN's are above all. */
static __device__ __forceinline__ unsigned pairs_exact_most(unsigned bits) {
#pragma unroll
  for (int s = 16; s > 0; s /= 2) bits = max(bits, __shfl_xor_sync(0xffffffffu, bits, s));
  return bits;
}

/* ---- the guide ---------------------------------------------------------------------------------
 */

/* Squares in doubt by more than so much of themselves are below a pair's floor. */
#define PAIRS_EXACT_MARGIN 0x1p-12

static __device__ __forceinline__ int pairs_exact_base(const pairs_exact_guide &guide) {
  return (127 - guide.octaves) << guide.bits;
}

/* How many edges are not above a square, relative to that of the last edge. */
static __device__ __forceinline__ int pairs_exact_edges(const pairs_job &job, double square) {
  const double scale = 1 / job.problem.last;
  int under = -1, over = job.problem.bins + 1; /* thresholds[under] <= square < thresholds[over] */
  while (over - under > 1) {
    const int middle = (under + over) / 2;
    if (job.thresholds[middle] * scale * scale <= square)
      under = middle;
    else
      over = middle;
  }
  return over;
}

/* x: the one edge in the cell or near it, as a square; y: the place of squares from there on, as an
 * integer. No edge: -1. More than one: a NaN, and every pair is in doubt. */
static __device__ PAIRS_EXACT_PIECE float2 pairs_exact_cell(const pairs_job &job,
                                                            const pairs_exact_guide &guide,
                                                            int cell) {
  const int shift = 23 - guide.bits, at = pairs_exact_base(guide) + cell;
  const double low = cell == 0 ? 0.0 : (double)__int_as_float(at << shift),
               high = (double)__int_as_float((at + 1) << shift);
  const int before = pairs_exact_edges(job, low * (1 - PAIRS_EXACT_MARGIN)),
            after = pairs_exact_edges(job, high * (1 + PAIRS_EXACT_MARGIN));
  const double scale = 1 / job.problem.last;
  float edge = after == before       ? -1.0f
               : after == before + 1 ? (float)(job.thresholds[before] * scale * scale)
                                     : __int_as_float(0x7fc00000);
  return make_float2(edge, __int_as_float(after > 0 ? after : edge < 0 ? 0 : 1));
}

/* ---- tiles -------------------------------------------------------------------------------------
 */

/* What to count by, from how far the tiles' points are from the middle: `near` and `far` bound
 * their distances. False: float says too little. docs/NUMERICS.md has the errors. */
template <int FRACTION, bool FEW>
static __device__ PAIRS_EXACT_PIECE bool pairs_exact_bound(pairs_exact_pair &pair, float wide_a,
                                                           float wide_b, float near, float far,
                                                           float limit, bool *dot) {
  const float unit = 0x1p-24f;
  const float products =
      unit * (wide_a * wide_a + 4 * wide_b * wide_b + 10 * wide_a * wide_b + far * far);
  /* What products shift a root by, which may be several times what differences do: a pair in doubt
   * more costs less than two operations a pair. */
  const float shift = products * 0.51f / near;
  *dot = !FEW && near > 0 && products < (FRACTION > 0 ? 0x1p-7f : 0x1p-13f) * near * near &&
         shift < 46 * unit * far && pair.slack < 0x1p-15f * near;
  if constexpr (FRACTION > 0) {
    const float error = (*dot ? shift + 2.1f * unit * far : 6 * unit * far) + pair.slack;
    const float doubt = error * (float)(1u << FRACTION) + 0.51f;
    if (!(doubt < (float)(1u << (FRACTION - 2)))) return false;
    pair.near = 2 * (unsigned)doubt + 1;
    pair.magic =
        __uint_as_float(((pairs_exact_zero<FRACTION>() + 1) << FRACTION) + (unsigned)doubt);
    pair.most = (limit + 0.5f) * (limit + 0.5f);
  } else {
    pair.error = (*dot ? 1.02f * products + 4 * unit : unit * (4.5f * far + 6)) + 2.5f * pair.slack;
    pair.floor = pair.error * (float)(1 / PAIRS_EXACT_MARGIN);
    pair.most = 1.25f;
    if (!(pair.error < 0x1p-10f)) return false;
  }
  return true;
}

/* Of the warp's points of a: the middle of their bounds, and how far from it they reach. */
struct pairs_exact_ball {
  pairs_point middle;
  float radius; /* in units */
};

static __device__ __forceinline__ double pairs_exact_between(double least, double most) {
#pragma unroll
  for (int s = 16; s > 0; s /= 2) {
    least = fmin(least, __shfl_xor_sync(0xffffffffu, least, s));
    most = fmax(most, __shfl_xor_sync(0xffffffffu, most, s));
  }
  return 0.5 * least + 0.5 * most;
}

static __device__ PAIRS_EXACT_PIECE pairs_exact_ball pairs_exact_ball_of(const pairs_job &job,
                                                                         int64_t first_a, int own,
                                                                         double scale) {
  pairs_point low = {(double)INFINITY, (double)INFINITY, (double)INFINITY},
              high = {-low.x, -low.y, -low.z};
#pragma unroll 1
  for (int u = 0; u < own; ++u) {
    const int64_t i = first_a + u * 32;
    const pairs_point p = pairs_at(job.a, i < job.a.n ? i : job.a.n - 1);
    low = {fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
    high = {fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
  }
  pairs_exact_ball ball;
  ball.middle = {pairs_exact_between(low.x, high.x), pairs_exact_between(low.y, high.y),
                 pairs_exact_between(low.z, high.z)};
  unsigned most = 0;
#pragma unroll 1
  for (int u = 0; u < own; ++u) {
    const int64_t i = first_a + u * 32;
    const pairs_point p = pairs_at(job.a, i < job.a.n ? i : job.a.n - 1);
    most = max(most, __float_as_uint(pairs_exact_point(p, ball.middle, scale).w));
  }
  ball.radius = sqrtf(__uint_as_float(pairs_exact_most(most))) * 1.00001f;
  return ball;
}

/* The images in which points of the two tiles may be within `limit`, a bit each. Where a number is
 * none, all of them. */
static __device__ PAIRS_EXACT_PIECE unsigned pairs_exact_images(const pairs_job &job,
                                                                const pairs_exact_pair &pair,
                                                                const pairs_exact_ball &ball,
                                                                pairs_point middle, float wide_b,
                                                                float limit) {
  const int lane = (int)threadIdx.x % 32;
  if (job.problem.box.space == PAIRS_OPEN) return 1u << PAIRS_EXACT_STILL;
  const pairs_point t = pairs_exact_shift(job.problem.box, lane);
  const pairs_point moved = {ball.middle.x + t.x, ball.middle.y + t.y, ball.middle.z + t.z};
  const float apart = sqrtf(pairs_exact_point(moved, middle, pair.scale).w) * 0.99999f;
  const bool out = apart - ball.radius - wide_b - pair.slack > limit * 1.0001f;
  return __ballot_sync(0xffffffffu, lane < PAIRS_EXACT_IMAGES && !out);
}

/* A tile of b against the warp's points of a, one image. WHOLE: all points of both are there;
 * MASKED: some of these are some of those. */
template <int FRACTION, bool FEW>
static __device__ PAIRS_EXACT_PIECE void pairs_exact_moved(const pairs_job &job,
                                                           pairs_exact_pair &pair,
                                                           const pairs_exact_notes &notes,
                                                           float wide_b, float limit, bool whole,
                                                           bool masked) {
  /* How far the warp's points are from the middle. */
  constexpr int OWN = pairs_exact_own<FRACTION, FEW>();
  float4 own[OWN];
  unsigned least = 0x7f800000u, most = 0;
#pragma unroll
  for (int u = 0; u < OWN; ++u) {
    const int64_t i = pair.first_a + u * 32;
    const bool there = i < job.a.n;
    own[u] = pairs_exact_point(pairs_exact_at<FEW>(job, job.a, there ? i : 0), pair.image->middle,
                               pair.scale);
    if (there) least = min(least, __float_as_uint(own[u].w));
    if (there) most = max(most, __float_as_uint(own[u].w));
    if (!there) own[u] = pairs_exact_nowhere(1.0f);
  }
  const float wide_a = sqrtf(__uint_as_float(pairs_exact_most(most))) * 1.00001f;
  const float near = sqrtf(__uint_as_float(~pairs_exact_most(~least))) * 0.99999f - wide_b,
              far = wide_a + wide_b;
  if (near - pair.slack > limit * 1.0001f) return; /* all above */
  bool dot = false;
  if (!(far < 0x1p40f) ||
      !pairs_exact_bound<FRACTION, FEW>(pair, wide_a, wide_b, near, far, limit, &dot)) {
    pairs_exact_slowly<FRACTION, FEW>(job, pair);
  } else if (masked) {
    pairs_exact_count<FRACTION, FEW, false, true, true>(job, pair, own, notes);
  } else if (FEW || !dot) {
    pairs_exact_count<FRACTION, FEW, false, true, false>(job, pair, own, notes);
  } else if constexpr (!FEW) {
#pragma unroll
    for (int u = 0; u < OWN; ++u) own[u] = pairs_exact_factor(own[u]);
    if (whole && far + pair.slack < limit)
      pairs_exact_count<FRACTION, FEW, true, false, false>(job, pair, own, notes);
    else
      pairs_exact_count<FRACTION, FEW, true, true, false>(job, pair, own, notes);
  }
}

/* A tile of b against the block's tile of a. Every thread of the block calls; `shared` is room for
 * the tile of b. */
template <int FRACTION, int THREADS, bool FEW>
static __device__ __forceinline__ void pairs_exact_tiles(const pairs_job &job,
                                                         pairs_exact_pair &pair, float4 *shared,
                                                         const pairs_exact_notes &notes,
                                                         const pairs_exact_ball &ball,
                                                         int64_t tile_b, int part) {
  constexpr int WARP = 32 * pairs_exact_own<FRACTION, FEW>(),
                STEP = pairs_exact_step<FRACTION, FEW>();
  const int t = (int)threadIdx.x;
  const int64_t warp_a = pair.first_a - t % 32; /* the warp's first point */
  pair.b = shared;
  pair.first_b = tile_b * part;
  const int64_t left = job.b.n - pair.first_b;
  pair.count_b = left < part ? (int)left : part;
  pair.end_b = FEW ? (pair.count_b + STEP - 1) / STEP * STEP : PAIRS_EXACT_B;
  const pairs_point middle = pairs_exact_at<FEW>(job, job.b, pair.first_b + pair.count_b / 2);
  __syncthreads();
  for (int k = t; k < pair.end_b; k += THREADS)
    shared[k] = k < pair.count_b
                    ? pairs_exact_point(pairs_exact_at<FEW>(job, job.b, pair.first_b + k), middle,
                                        pair.scale)
                    : pairs_exact_nowhere(-1.0f);
  __syncthreads();
  const bool triangle = !job.problem.cross;
  if (triangle && pair.first_b + pair.count_b - 1 <= warp_a) return; /* all of b's come before */
  unsigned most_b = 0;
  for (int k = t % 32; k < pair.count_b; k += 32)
    most_b = max(most_b, __float_as_uint(shared[k].w));
  const float wide_b = sqrtf(__uint_as_float(pairs_exact_most(most_b))) * 1.00001f;
  const float limit = FRACTION > 0 ? (float)job.problem.bins : 1.0f;
  const bool whole = pair.count_b == pair.end_b && warp_a + WARP <= job.a.n;
  const bool masked = triangle && pair.first_b < warp_a + WARP;
  unsigned images =
      FEW ? 1u << PAIRS_EXACT_STILL : pairs_exact_images(job, pair, ball, middle, wide_b, limit);
#pragma unroll 1
  for (; images != 0; images &= images - 1) {
    const int image = __ffs((int)images) - 1;
    const pairs_point shift = pairs_exact_shift(job.problem.box, image);
    __syncwarp();
    if (t % 32 == 0)
      *pair.image = {image, {middle.x - shift.x, middle.y - shift.y, middle.z - shift.z}};
    __syncwarp();
    pairs_exact_moved<FRACTION, FEW>(job, pair, notes, wide_b, limit, whole, masked);
  }
}

/* Adds the table to the results, and clears it: a warp takes a place with all its columns. What is
 * above is worked out at the end. */
template <int FRACTION, int THREADS>
static __device__ PAIRS_EXACT_PIECE void pairs_exact_spill(const pairs_job &job, unsigned *table) {
  constexpr int COLUMNS = pairs_exact_columns<FRACTION>(), TOGETHER = COLUMNS < 32 ? COLUMNS : 32;
  const int bins = job.problem.bins, column = (int)threadIdx.x % TOGETHER;
  __syncthreads();
  for (int place = (int)threadIdx.x / TOGETHER; place < bins + 2; place += THREADS / TOGETHER) {
    unsigned sum = 0; /* of columns that settled notes may have taken below 0 */
#pragma unroll
    for (int k = column; k < COLUMNS; k += TOGETHER) {
      sum += table[place * COLUMNS + k];
      table[place * COLUMNS + k] = 0;
    }
    if (TOGETHER == 32)
      for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (sum != 0 && place <= bins && column == 0)
      pairs_add(job, (unsigned)(place > 0 ? place - 1 : bins + PAIRS_BELOW), sum);
  }
  __syncthreads();
}

/* Blocks that a multiprocessor shall have room for. */
template <int FRACTION, int THREADS, bool FEW>
static __device__ __host__ __forceinline__ constexpr int pairs_exact_resident() {
  return THREADS > 128 ? 2 : FRACTION == 16 && !FEW ? 6 : 7;
}

/* Dynamic shared memory: the guide, the table, the warps' notes. */
template <int FRACTION, int THREADS, bool FEW>
static __global__ void __launch_bounds__(THREADS, pairs_exact_resident<FRACTION, THREADS, FEW>())
    pairs_exact_kernel(pairs_job job, pairs_exact_plan plan) {
  RUNG_DYNAMIC_SHARED(float2, guide);
  __shared__ float4 b[PAIRS_EXACT_B];
  __shared__ pairs_exact_image images[THREADS / 32];
  __shared__ pairs_exact_ball balls[THREADS / 32]; /* not in registers, which are few */
  __shared__ unsigned counts[THREADS / 32];
  constexpr int OWN = pairs_exact_own<FRACTION, FEW>(), TILE = THREADS * OWN;
  const int part = FEW ? plan.part : PAIRS_EXACT_B;
  unsigned *table = (unsigned *)(guide + plan.guide.cells);
  const int places = (job.problem.bins + 2) * pairs_exact_columns<FRACTION>();
  unsigned short *noted = (unsigned short *)(table + places);
  const pairs_exact_notes notes = {noted + threadIdx.x / 32 * PAIRS_EXACT_NOTES,
                                   &counts[threadIdx.x / 32]};
  pairs_exact_pair pair;
  pair.table = table;
  pair.column = threadIdx.x % pairs_exact_columns<FRACTION>() * sizeof *table;
  pair.guide = guide;
  pair.image = &images[threadIdx.x / 32];
  pair.scale = plan.scale;
  pair.slack = plan.slack;
  pair.shift = 23 - plan.guide.bits;
  pair.base = pairs_exact_base(plan.guide);
  const unsigned at = blockIdx.x / (unsigned)plan.shares, dealt = (unsigned)plan.dealt,
                 share = blockIdx.x % (unsigned)plan.shares * dealt +
                         (at + (unsigned)plan.turn) % dealt;
  const int64_t tile_a = at, first = job.problem.cross ? 0 : tile_a * (TILE / part);
  rung_let_next_begin();
  if (FEW) rung_await_before();
  if (first + share >= plan.tiles_b) { /* the whole block: the triangle's other half */
    if (!FEW) rung_await_before();
    if (FEW && plan.tiles_b == 0) pairs_end_once(job, plan.once);
    return;
  }
  pair.first_a = tile_a * TILE + threadIdx.x / 32 * (32 * OWN) + threadIdx.x % 32;
  pairs_exact_ball &ball = balls[threadIdx.x / 32];
  if (FRACTION == 0)
    for (int cell = (int)threadIdx.x; cell < plan.guide.cells; cell += THREADS)
      guide[cell] = pairs_exact_cell(job, plan.guide, cell);
  for (int place = (int)threadIdx.x; place < places; place += THREADS) table[place] = 0;
  if (threadIdx.x % 32 == 0) *notes.count = 0;
  if (!FEW) rung_await_before();
  if (!FEW && job.problem.box.space != PAIRS_OPEN) {
    const pairs_exact_ball found = pairs_exact_ball_of(job, pair.first_a, OWN, plan.scale);
    if (threadIdx.x % 32 == 0) ball = found;
  }
  __syncthreads();
  int64_t counted = 0;
  for (int64_t tile_b = first + share; tile_b < plan.tiles_b; tile_b += plan.step) {
    pairs_exact_tiles<FRACTION, THREADS, FEW>(job, pair, b, notes, ball, tile_b, part);
    counted += (int64_t)TILE * part;
    if (counted < job.problem.flush) continue;
    pairs_exact_spill<FRACTION, THREADS>(job, table);
    counted = 0;
  }
  pairs_exact_spill<FRACTION, THREADS>(job, table);
  if (FEW) pairs_end_once(job, plan.once);
}

/* ---- launching ---------------------------------------------------------------------------------
 */

/* Places, differences and shifts are sums of parts of the cell's vectors: a few roundings of
 * numbers a few times as large as all of these together. */
static float pairs_exact_slack(const pairs_box &box, double scale) {
  double all = 0;
  if (box.space == PAIRS_OPEN) return 0;
  for (int i = 0; i < 9; ++i) all += fabs(box.cell[i / 3][i % 3]);
  return (float)(0x1p-47 * all * scale);
}

/* How many blocks have a tile of b, of a job that is not dealt out; at least one. `each`: tiles of
 * b for each of a. */
static int64_t pairs_exact_busy(const pairs_exact_plan &plan, bool cross, int each) {
  int64_t busy = 0;
  if (cross) busy = plan.tiles_b == 0 ? 0 : plan.tiles_a * plan.shares;
  for (int64_t at = 0; !cross && at < plan.tiles_a && at * each < plan.tiles_b; ++at) {
    const int64_t left = plan.tiles_b - at * each;
    busy += left < plan.shares ? left : plan.shares;
  }
  return busy > 0 ? busy : 1;
}

template <int FRACTION, int THREADS, bool FEW>
static rung_status pairs_exact_launch(const rung_task *task, pairs_job job,
                                      const pairs_exact_way &way) {
  constexpr int TILE = THREADS * pairs_exact_own<FRACTION, FEW>();
  pairs_exact_plan plan = {};
  int resident = 0;
  RUNG_ALLOW_SHARED(task, (pairs_exact_kernel<FRACTION, THREADS, FEW>), way.shared);
  RUNG_RESIDENT_BLOCKS(task, (pairs_exact_kernel<FRACTION, THREADS, FEW>), THREADS, way.shared,
                       &resident);
  plan.guide = way.guide;
  plan.scale = 1 / (FRACTION > 0 ? job.problem.width : job.problem.last);
  plan.slack = pairs_exact_slack(job.problem.box, plan.scale);
  plan.dealt = job.problem.dealt > 0 ? job.problem.dealt : 1;
  plan.turn = job.problem.turn;
  plan.tiles_a = (job.a.n + TILE - 1) / TILE;
  const int64_t at_once = (int64_t)task->device->processors * (resident > 0 ? resident : 1);
  plan.part = pairs_exact_part(&job.problem, FRACTION, plan.tiles_a, at_once);
  plan.tiles_b = (job.b.n + plan.part - 1) / plan.part;
  if (!FEW && (plan.tiles_a == 0 || plan.tiles_b == 0)) return RUNG_OK;
  if (plan.tiles_a == 0) { /* somebody has to store zeros */
    plan.tiles_a = 1;
    plan.tiles_b = 0;
  }
  /* Blocks enough that the last ones to end are a small part of all. */
  int64_t shares = (8 * at_once + plan.tiles_a - 1) / plan.tiles_a;
  const int64_t most = (plan.tiles_b + plan.dealt - 1) / plan.dealt;
  if (shares > most) shares = most > 1 ? most : 1;
  plan.shares = (int)shares;
  plan.step = plan.shares * plan.dealt;
  if (FEW) {
    const int64_t busy = pairs_exact_busy(plan, job.problem.cross, TILE / plan.part);
    plan.once = pairs_count_once(task, busy, &job);
  }
  RUNG_LAUNCH_NEXT(task, (pairs_exact_kernel<FRACTION, THREADS, FEW>),
                   (unsigned)(plan.tiles_a * shares), THREADS, way.shared, job, plan);
  return RUNG_OK;
}

template <int FRACTION, int THREADS>
static rung_status pairs_exact_run(const rung_task *task, const pairs_job &job,
                                   const pairs_exact_way &way) {
  return pairs_exact_as_they_come(&job.problem)
             ? pairs_exact_launch<FRACTION, THREADS, true>(task, job, way)
             : pairs_exact_launch<FRACTION, THREADS, false>(task, job, way);
}

static rung_status pairs_exact_sort(const rung_task *task, char *memory, pairs_job *job) {
  const pairs_grid grid = pairs_grid_morton(&job->problem);
  const pairs_bounds *bounds;
  const rung_status status = pairs_clear_results(task, *job);
  return status == RUNG_OK ? pairs_sort(task, &grid, memory, &job->a, &job->b, &bounds) : status;
}

extern "C" rung_status RUNG_ENTRY(pairs_exact32)(const rung_task *task) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  char *memory = (char *)task->scratch;
  pairs_job job = pairs_job_of(task, memory);
  memory += pairs_ledger_of(problem).bytes;
  const bool few = pairs_exact_as_they_come(problem);
  if (few) {
    job.a = {problem->n, (const double *)task->arrays[PAIRS_A].data, NULL, NULL, NULL, NULL};
    job.b = job.a;
    if (problem->cross)
      job.b = {problem->m, (const double *)task->arrays[PAIRS_B].data, NULL, NULL, NULL, NULL};
  }
  rung_status status = few ? RUNG_OK : pairs_exact_sort(task, memory, &job);
  if (status != RUNG_OK) return status;
  const pairs_exact_way way = pairs_exact_way_of(problem);
  if (way.fraction == 16)
    status = pairs_exact_run<16, 128>(task, job, way);
  else if (way.fraction == 13)
    status = pairs_exact_run<13, 128>(task, job, way);
  else if (way.fraction == 9)
    status = pairs_exact_run<9, 512>(task, job, way);
  else if (way.threads == 128)
    status = pairs_exact_run<0, 128>(task, job, way);
  else
    status = pairs_exact_run<0, 512>(task, job, way);
  if (status == RUNG_OK && !few && job.outside != NULL)
    RUNG_LAUNCH_NEXT(task, pairs_above_kernel, 1, PAIRS_SET_BLOCK, 0, job,
                     problem->turn == 0 ? pairs_all(problem) : (int64_t)0);
  return status;
}
