/* Single precision that knows its error: points are sorted along a Morton curve, a tile of them and
 * one of the others are taken relative to the second one's middle and in units of the bins' width,
 * and a root in float gives the bin. Where that comes nearer to an edge than its error may be, the
 * threshold is asked in double: the counts are the contract's. docs/NUMERICS.md has the bounds.
 *
 * A distance t becomes an integer by adding a power of two whose last place weighs 2^-FRACTION: the
 * sum's low bits are t's fraction, the ones above the bin. `doubt` places are added on top, so that
 * a fraction of less than twice as many says that an edge is near, and that the bin is this one or
 * the one below. Such pairs are noted, and settled many at a time, for a look at memory takes long.
 * Far from each other, tiles take |a|^2 + |b|^2 - 2 a b, one operation an axis;
 * near, where that would lose its digits, differences. */
#include "ops/pairs/cuda/exact32.h"
#include "ops/pairs/cuda/excluded.cuh"
#include "ops/pairs/cuda/sort.cuh"

/* How blocks share the work: every tile of a is taken `shares` times, with every shares-th tile of
 * b. */
struct pairs_exact_plan {
  int64_t tiles_a, tiles_b;
  int shares;
  pairs_exact_guide guide;
};

/* What a warp knows of a pair of tiles, and of how their pairs are counted. */
struct pairs_exact_pair {
  const float4 *b;          /* shared: x, y, z, and their squares' sum */
  int64_t first_a, first_b; /* a: the thread's own first point; the next are a block's width on */
  int count_b;
  float most;      /* the square from which on distances count as just beyond the last edge */
  unsigned *table; /* shared, by place among the edges: below, the bins, above */
  /* even bins */
  float magic;
  unsigned doubt;
  /* by a guide, shared: see pairs_exact_cell() */
  const float2 *guide;
  int shift, base;
  float error, floor; /* of a square; squares up to `floor` are in doubt */
};

/* A thread's own points: relative, in units of the width. */
struct pairs_exact_own {
  float x[PAIRS_EXACT_OWN], y[PAIRS_EXACT_OWN], z[PAIRS_EXACT_OWN], w[PAIRS_EXACT_OWN];
};

/* Points of b that are looked at before doubts are noted. */
template <int FRACTION>
static __device__ __forceinline__ constexpr int pairs_exact_step() {
  return FRACTION > 0 ? 4 : 2;
}

/* A warp's notes of pairs in doubt: which of the thread's own points, which lane, which point of b,
 * and the place where it was counted. */
struct pairs_exact_notes {
  unsigned *at; /* shared */
  unsigned *count;
};

/* What the sum of t and the power of two is beyond bin 0, as an integer. */
template <int FRACTION>
static __device__ __forceinline__ constexpr unsigned pairs_exact_zero() {
  return (unsigned)(127 + 23 - FRACTION) << (23 - FRACTION);
}

static __device__ __forceinline__ bool pairs_exact_valid(const pairs_job &job, int64_t i,
                                                         int64_t j) {
  return i < job.a.n && j < job.b.n && (job.problem.cross || i < j);
}

static __device__ __forceinline__ unsigned pairs_exact_note(int u, int lane, int b, unsigned bin) {
  return (unsigned)u << 30 | (unsigned)lane << 25 | (unsigned)b << 17 | bin;
}

/* Pairs that were noted are counted where they belong. */
template <int THREADS>
static __device__ __forceinline__ void pairs_exact_settle(const pairs_job &job,
                                                          const pairs_exact_pair &pair,
                                                          const pairs_exact_notes &notes) {
  const int lane = (int)threadIdx.x % 32;
  __syncwarp();
  const unsigned count = *notes.count;
  __syncwarp();
  if (lane == 0) *notes.count = 0;
  for (unsigned k = (unsigned)lane; k < count; k += 32) {
    const unsigned note = notes.at[k];
    const int64_t i = pair.first_a - lane + (note >> 25 & 31) + (note >> 30) * THREADS,
                  j = pair.first_b + (note >> 17 & 255);
    const double d2 =
        pairs_apart<PAIRS_OPEN>(job.problem.box, pairs_at(job.a, i), pairs_at(job.b, j));
    int place = (int)(note & 0x1ffff);
    while (place > 0 && d2 < job.thresholds[place - 1]) --place;
    while (place <= job.problem.bins && d2 >= job.thresholds[place]) ++place;
    if (place == (int)(note & 0x1ffff)) continue;
    atomicAdd(&pair.table[note & 0x1ffff], ~0u);
    atomicAdd(&pair.table[place], 1u);
  }
  __syncwarp();
}

/* All pairs of two tiles. DOT: by products; CAPPED: some may be beyond the last edge; MASKED: not
 * all of them are pairs. FRACTION 0: by the guide. */
template <int FRACTION, int THREADS, bool DOT, bool CAPPED, bool MASKED>
static __device__ __forceinline__ void pairs_exact_count(const pairs_job &job,
                                                         const pairs_exact_pair &pair,
                                                         const pairs_exact_own &own,
                                                         const pairs_exact_notes &notes) {
  constexpr int STEP = pairs_exact_step<FRACTION>();
  constexpr unsigned low = (1u << FRACTION) - 1, zero = pairs_exact_zero<FRACTION>();
#pragma unroll 2
  for (int first = 0; first < PAIRS_EXACT_B; first += STEP) {
    if (MASKED && first >= pair.count_b) break;
    /* A sum's bits, and `lowest` two fractions of 16 bits; or a square less the edge near it. */
    unsigned at[STEP][PAIRS_EXACT_OWN], place[STEP][PAIRS_EXACT_OWN], lowest = ~0u;
    bool near = false;
#pragma unroll
    for (int s = 0; s < STEP; ++s) {
      const float4 b = pair.b[first + s];
#pragma unroll
      for (int u = 0; u < PAIRS_EXACT_OWN; ++u) {
        float d2;
        if (DOT) {
          d2 = fabsf(fmaf(own.x[u], b.x, fmaf(own.y[u], b.y, fmaf(own.z[u], b.z, b.w))) + own.w[u]);
        } else {
          const float dx = own.x[u] - b.x, dy = own.y[u] - b.y, dz = own.z[u] - b.z;
          d2 = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
        }
        if (CAPPED) d2 = fminf(d2, pair.most);
        if constexpr (FRACTION > 0) {
          at[s][u] = __float_as_uint(rung_root(d2) + pair.magic);
          place[s][u] = (at[s][u] >> FRACTION) - zero + 1;
          if (u % 2 == 1)
            lowest =
                __vminu2(lowest, __byte_perm(at[s][u - 1], at[s][u], 0x5410) & (low << 16 | low));
        } else {
          const float2 cell = pair.guide[max((__float_as_int(d2) >> pair.shift) - pair.base, 0)];
          const float over = d2 - cell.x;
          near |= !(fabsf(over) > pair.error) || (!DOT && d2 <= pair.floor);
          at[s][u] = __float_as_uint(!DOT && d2 <= pair.floor ? 0.0f : over);
          place[s][u] = __float_as_uint(cell.y) - (at[s][u] >> 31);
        }
        if (!MASKED || pairs_exact_valid(job, pair.first_a + u * THREADS, pair.first_b + first + s))
          atomicAdd(&pair.table[place[s][u]], 1u);
      }
    }
    if constexpr (FRACTION > 0) near = (lowest & 0xffff) < pair.doubt || lowest >> 16 < pair.doubt;
    if (!__any_sync(0xffffffffu, near)) continue;
#pragma unroll
    for (int s = 0; s < STEP; ++s) {
#pragma unroll
      for (int u = 0; u < PAIRS_EXACT_OWN; ++u) {
        if (FRACTION > 0 ? (at[s][u] & low) >= pair.doubt
                         : fabsf(__uint_as_float(at[s][u])) > pair.error)
          continue;
        if (MASKED && !pairs_exact_valid(job, pair.first_a + u * THREADS, pair.first_b + first + s))
          continue;
        notes.at[atomicAdd(notes.count, 1u)] =
            pairs_exact_note(u, (int)threadIdx.x % 32, first + s, place[s][u]);
      }
    }
    __syncwarp();
    if (*notes.count > PAIRS_EXACT_NOTES - 32 * STEP * PAIRS_EXACT_OWN)
      pairs_exact_settle<THREADS>(job, pair, notes);
  }
  pairs_exact_settle<THREADS>(job, pair, notes);
}

/* The same in double: of tiles whose numbers say nothing in float. */
template <int THREADS>
static __device__ __forceinline__ void pairs_exact_slowly(const pairs_job &job,
                                                          const pairs_exact_pair &pair) {
#pragma unroll 1
  for (int k = 0; k < pair.count_b; ++k)
#pragma unroll 1
    for (int u = 0; u < PAIRS_EXACT_OWN; ++u) {
      const int64_t i = pair.first_a + u * THREADS, j = pair.first_b + k;
      if (!pairs_exact_valid(job, i, j)) continue;
      const double d2 =
          pairs_apart<PAIRS_OPEN>(job.problem.box, pairs_at(job.a, i), pairs_at(job.b, j));
      const unsigned slot = pairs_slot_of(job, job.thresholds, d2);
      if (slot < (unsigned)job.problem.bins)
        atomicAdd(&pair.table[slot + 1], 1u);
      else if (slot != (unsigned)job.problem.bins + PAIRS_ABOVE)
        pairs_add(job, slot, 1);
    }
}

/* A point relative to the middle, in units of the width, and the square of its distance from it,
 * rounded once. */
static __device__ __forceinline__ float4 pairs_exact_point(pairs_point p, pairs_point middle,
                                                           double scale) {
  const double x = (p.x - middle.x) * scale, y = (p.y - middle.y) * scale,
               z = (p.z - middle.z) * scale;
  return make_float4((float)x, (float)y, (float)z, (float)(x * x + y * y + z * z));
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
static __device__ __forceinline__ float2 pairs_exact_cell(const pairs_job &job,
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
template <int FRACTION>
static __device__ __forceinline__ bool pairs_exact_bound(pairs_exact_pair &pair, float wide_a,
                                                         float wide_b, float near, float far,
                                                         float limit, bool *dot) {
  const float unit = 0x1p-24f;
  const float products =
      unit * (wide_a * wide_a + 4 * wide_b * wide_b + 10 * wide_a * wide_b + far * far);
  *dot = near > 0.5f * far && products < 0x1p-13f * near * near;
  if constexpr (FRACTION > 0) {
    const float error = *dot ? products * 0.51f / near + 2.1f * unit * far : 6 * unit * far;
    const float doubt = error * (float)(1u << FRACTION) + 1.5f;
    if (!(doubt < (float)(1u << (FRACTION - 2)))) return false;
    pair.doubt = 2 * (unsigned)doubt;
    pair.magic = __uint_as_float((pairs_exact_zero<FRACTION>() << FRACTION) + (unsigned)doubt);
    pair.most = (limit + 0.5f) * (limit + 0.5f);
  } else {
    pair.error = *dot ? 1.02f * products + 4 * unit : unit * (4.5f * far + 6);
    pair.floor = pair.error * (float)(1 / PAIRS_EXACT_MARGIN);
    pair.most = 1.25f;
    if (!(pair.error < 0x1p-10f)) return false;
  }
  return true;
}

/* A tile of b against the block's tile of a. Every thread of the block calls; `shared` is room for
 * the tile of b. */
template <int FRACTION, int THREADS>
static __device__ __forceinline__ void pairs_exact_tiles(const pairs_job &job,
                                                         pairs_exact_pair &pair, float4 *shared,
                                                         const pairs_exact_notes &notes,
                                                         int64_t tile_a, int64_t tile_b) {
  constexpr int TILE = THREADS * PAIRS_EXACT_OWN;
  const int t = (int)threadIdx.x;
  pair.b = shared;
  pair.first_a = tile_a * TILE + t;
  pair.first_b = tile_b * PAIRS_EXACT_B;
  const int64_t left = job.b.n - pair.first_b;
  pair.count_b = left < PAIRS_EXACT_B ? (int)left : PAIRS_EXACT_B;
  const pairs_point middle = pairs_at(job.b, pair.first_b + pair.count_b / 2);
  const double scale = 1 / (FRACTION > 0 ? job.problem.width : job.problem.last);
  __syncthreads();
  for (int k = t; k < PAIRS_EXACT_B; k += THREADS)
    shared[k] = pairs_exact_point(pairs_at(job.b, pair.first_b + (k < pair.count_b ? k : 0)),
                                  middle, scale);
  __syncthreads();

  /* How far the warp's points are from the middle, and b's. */
  pairs_exact_own own;
  unsigned least = 0x7f800000u, most = 0, most_b = 0;
#pragma unroll
  for (int u = 0; u < PAIRS_EXACT_OWN; ++u) {
    const int64_t i = pair.first_a + u * THREADS;
    const bool there = i < job.a.n;
    const float4 p = pairs_exact_point(pairs_at(job.a, there ? i : 0), middle, scale);
    own.x[u] = p.x;
    own.y[u] = p.y;
    own.z[u] = p.z;
    own.w[u] = p.w;
    if (there) least = min(least, __float_as_uint(p.w));
    if (there) most = max(most, __float_as_uint(p.w));
  }
  for (int k = t % 32; k < PAIRS_EXACT_B; k += 32)
    most_b = max(most_b, __float_as_uint(shared[k].w));
  const float wide_a = sqrtf(__uint_as_float(pairs_exact_most(most))) * 1.00001f,
              wide_b = sqrtf(__uint_as_float(pairs_exact_most(most_b))) * 1.00001f;
  const float near = sqrtf(__uint_as_float(~pairs_exact_most(~least))) * 0.99999f - wide_b,
              far = wide_a + wide_b;
  const float limit = FRACTION > 0 ? (float)job.problem.bins : 1.0f;
  if (near > limit * 1.0001f) return; /* all above */
  bool dot = false;
  if (!(far < 0x1p40f) ||
      !pairs_exact_bound<FRACTION>(pair, wide_a, wide_b, near, far, limit, &dot)) {
    pairs_exact_slowly<THREADS>(job, pair);
    return;
  }
  const bool masked = (!job.problem.cross && pair.first_b < (tile_a + 1) * TILE) ||
                      pair.count_b < PAIRS_EXACT_B || (tile_a + 1) * TILE > job.a.n;
  if (masked) {
    pairs_exact_count<FRACTION, THREADS, false, true, true>(job, pair, own, notes);
  } else if (!dot) {
    pairs_exact_count<FRACTION, THREADS, false, true, false>(job, pair, own, notes);
  } else {
#pragma unroll
    for (int u = 0; u < PAIRS_EXACT_OWN; ++u) {
      own.x[u] *= -2;
      own.y[u] *= -2;
      own.z[u] *= -2;
    }
    if (far < limit)
      pairs_exact_count<FRACTION, THREADS, true, false, false>(job, pair, own, notes);
    else
      pairs_exact_count<FRACTION, THREADS, true, true, false>(job, pair, own, notes);
  }
}

/* Adds the table to the results, and clears it. What is above is worked out at the end. */
template <int THREADS>
static __device__ __forceinline__ void pairs_exact_spill(const pairs_job &job, unsigned *table) {
  const int bins = job.problem.bins;
  __syncthreads();
  for (int place = (int)threadIdx.x; place < bins + 2; place += THREADS) {
    if (table[place] != 0 && place <= bins)
      pairs_add(job, (unsigned)(place > 0 ? place - 1 : bins + PAIRS_BELOW), table[place]);
    table[place] = 0;
  }
  __syncthreads();
}

/* Dynamic shared memory: the guide, the table, the warps' notes. */
template <int FRACTION, int THREADS>
static __global__ void __launch_bounds__(THREADS, THREADS > 128 ? 2 : 6)
    pairs_exact_kernel(pairs_job job, pairs_exact_plan plan) {
  RUNG_DYNAMIC_SHARED(float2, guide);
  __shared__ float4 b[PAIRS_EXACT_B];
  __shared__ unsigned counts[THREADS / 32];
  constexpr int TILE = THREADS * PAIRS_EXACT_OWN;
  unsigned *table = (unsigned *)(guide + plan.guide.cells), *noted = table + job.problem.bins + 2;
  const pairs_exact_notes notes = {noted + threadIdx.x / 32 * PAIRS_EXACT_NOTES,
                                   &counts[threadIdx.x / 32]};
  pairs_exact_pair pair;
  pair.table = table;
  pair.guide = guide;
  pair.shift = 23 - plan.guide.bits;
  pair.base = pairs_exact_base(plan.guide);
  const int64_t tile_a = blockIdx.x / (unsigned)plan.shares,
                share = blockIdx.x % (unsigned)plan.shares;
  if (FRACTION == 0)
    for (int cell = (int)threadIdx.x; cell < plan.guide.cells; cell += THREADS)
      guide[cell] = pairs_exact_cell(job, plan.guide, cell);
  for (int place = (int)threadIdx.x; place < job.problem.bins + 2; place += THREADS)
    table[place] = 0;
  if (threadIdx.x % 32 == 0) *notes.count = 0;
  __syncthreads();
  const int64_t first = job.problem.cross ? 0 : tile_a * (TILE / PAIRS_EXACT_B);
  int64_t counted = 0;
  for (int64_t tile_b = first + share; tile_b < plan.tiles_b; tile_b += plan.shares) {
    pairs_exact_tiles<FRACTION, THREADS>(job, pair, b, notes, tile_a, tile_b);
    counted += (int64_t)TILE * PAIRS_EXACT_B;
    if (counted < job.problem.flush) continue;
    pairs_exact_spill<THREADS>(job, table);
    counted = 0;
  }
  pairs_exact_spill<THREADS>(job, table);
}

/* ---- launching ---------------------------------------------------------------------------------
 */

template <int FRACTION, int THREADS>
static rung_status pairs_exact_run(const rung_task *task, const pairs_job &job,
                                   const pairs_exact_way &way) {
  constexpr int TILE = THREADS * PAIRS_EXACT_OWN;
  pairs_exact_plan plan;
  int resident = 0;
  RUNG_ALLOW_SHARED(task, (pairs_exact_kernel<FRACTION, THREADS>), way.shared);
  RUNG_RESIDENT_BLOCKS(task, (pairs_exact_kernel<FRACTION, THREADS>), THREADS, way.shared,
                       &resident);
  plan.guide = way.guide;
  plan.tiles_a = (job.a.n + TILE - 1) / TILE;
  plan.tiles_b = (job.b.n + PAIRS_EXACT_B - 1) / PAIRS_EXACT_B;
  if (plan.tiles_a == 0 || plan.tiles_b == 0) return RUNG_OK;
  /* Blocks enough that the last ones to end are a small part of all. */
  const int64_t busy = 8 * (int64_t)task->device->processors * (resident > 0 ? resident : 1);
  int64_t shares = (busy + plan.tiles_a - 1) / plan.tiles_a;
  if (shares > plan.tiles_b) shares = plan.tiles_b;
  plan.shares = (int)shares;
  RUNG_LAUNCH(task, (pairs_exact_kernel<FRACTION, THREADS>), (unsigned)(plan.tiles_a * shares),
              THREADS, way.shared, job, plan);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(pairs_exact32)(const rung_task *task) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  char *memory = (char *)task->scratch;
  pairs_job job = pairs_job_of(task, memory);
  const pairs_grid grid = pairs_grid_morton(problem);
  const pairs_bounds *bounds;
  memory += pairs_ledger_of(problem).bytes;
  rung_status status = pairs_clear_results(task, job);
  if (status == RUNG_OK) status = pairs_sort(task, &grid, memory, &job.a, &job.b, &bounds);
  if (status == RUNG_OK && job.outside != NULL) status = pairs_count_excluded(task, job, memory);
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
  if (status == RUNG_OK && job.outside != NULL)
    RUNG_LAUNCH(task, pairs_above_kernel, 1, PAIRS_SET_BLOCK, 0, job, pairs_all(problem));
  return status;
}
