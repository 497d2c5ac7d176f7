/* Tiles in the canonical order (scan.h). A block of 256 threads takes a tile: a warp a band, a
 * thread one group of each of the band's eight rows, 32 elements in registers. */
#ifndef RUNG_SCAN_CUDA_TILE_CUH
#define RUNG_SCAN_CUDA_TILE_CUH

#include <string.h>

#include "ops/scan/cuda/operators.cuh"

enum { SCAN_THREADS = 32 * SCAN_EIGHT };

/* A group's elements in one load, or two where they have 8 bytes. */
template <typename T>
struct alignas(SCAN_GROUP * sizeof(T) < 16 ? SCAN_GROUP * sizeof(T) : 16) scan_chunk {
  T at[SCAN_GROUP];
};

/* What a thread holds of its warp's band. */
template <typename S>
struct scan_held {
  typename S::value e[SCAN_EIGHT][SCAN_GROUP]; /* elements, then the prefixes of groups */
  typename S::value g[SCAN_EIGHT];             /* the prefixes of rows, from the groups' totals */
};

/* Where a thread's group of a row begins, from the band's first element. */
__device__ __forceinline__ int scan_group_at(int row) {
  return row * SCAN_ROW + (int)(threadIdx.x % 32) * SCAN_GROUP;
}

/* The band at `in`, of which `count` elements are there (none or less: an empty one). */
template <typename S>
__device__ __forceinline__ void scan_load(const scan_lines<S> &lines, const typename S::in *in,
                                          int count, scan_held<S> &held) {
  typedef scan_chunk<typename S::in> chunk;
  if (lines.wide && count >= SCAN_BAND) {
    chunk chunks[SCAN_EIGHT];
#pragma unroll
    for (int r = 0; r < SCAN_EIGHT; ++r) chunks[r] = *(const chunk *)(in + scan_group_at(r));
#pragma unroll
    for (int r = 0; r < SCAN_EIGHT; ++r) {
#pragma unroll
      for (int c = 0; c < SCAN_GROUP; ++c) held.e[r][c] = S::load(chunks[r].at[c], lines.key);
    }
    return;
  }
#pragma unroll
  for (int r = 0; r < SCAN_EIGHT; ++r) {
#pragma unroll
    for (int c = 0; c < SCAN_GROUP; ++c) {
      const int at = scan_group_at(r) + c;
      held.e[r][c] = at < count ? S::load(in[at], lines.key) : S::identity();
    }
  }
}

/* The prefixes of a group, in place: K of the contract. */
template <typename S>
__device__ __forceinline__ void scan_group_prefixes(typename S::value e[]) {
  const typename S::value left = S::combine(e[0], e[1]), middle = S::combine(e[1], e[2]);
  e[3] = S::combine(left, S::combine(e[2], e[3]));
  e[2] = S::combine(e[0], middle);
  e[1] = left;
}

/* The prefixes of groups and rows. The band's total is returned to the warp's last thread. */
template <typename S>
__device__ __forceinline__ typename S::value scan_prefixes(scan_held<S> &held) {
  typename S::value rows = S::identity();
#pragma unroll
  for (int r = 0; r < SCAN_EIGHT; ++r) {
    scan_group_prefixes<S>(held.e[r]);
    held.g[r] = scan_warp<S>(held.e[r][SCAN_GROUP - 1]);
    rows = r == 0 ? held.g[r] : S::combine(rows, held.g[r]);
  }
  return rows;
}

/* A group's results, from its prefixes and what comes before it; `begins`: it is its line's first.
 */
template <typename S>
__device__ __forceinline__ scan_chunk<typename S::in> scan_group_results(
    const typename S::value e[], typename S::value base, const scan_lines<S> &lines, bool begins) {
  scan_chunk<typename S::in> results;
#pragma unroll
  for (int c = 0; c < SCAN_GROUP; ++c) {
    const typename S::value within = lines.exclusive && c > 0 ? e[c > 0 ? c - 1 : 0] : e[c];
    results.at[c] =
        S::store(lines.exclusive && c == 0 ? base : S::combine(base, within), lines.key);
  }
  if (lines.exclusive && begins) results.at[0] = S::empty(lines.key);
  return results;
}

/* Writes them, `at` elements into a band of `count`; `begins`: the band is its line's first. */
template <typename S>
__device__ __forceinline__ void scan_store_group(const typename S::value e[],
                                                 typename S::value base, const scan_lines<S> &lines,
                                                 bool begins, typename S::in *out, int at,
                                                 int count) {
  typedef scan_chunk<typename S::in> chunk;
  const chunk results = scan_group_results<S>(e, base, lines, begins && at == 0);
  if (lines.wide && at + SCAN_GROUP <= count) {
    rung_store_whole(out + at, results);
  } else {
#pragma unroll
    for (int c = 0; c < SCAN_GROUP; ++c)
      if (at + c < count) out[at + c] = results.at[c];
  }
}

/* Writes a band's results; `offset` is what comes before it, `begins` whether its first element is
 * its line's. */
template <typename S>
__device__ __forceinline__ void scan_store(const scan_held<S> &held, typename S::value offset,
                                           const scan_lines<S> &lines, bool begins,
                                           typename S::in *out, int count) {
  const unsigned lane = threadIdx.x % 32;
  typename S::value rows = S::identity();
#pragma unroll
  for (int r = 0; r < SCAN_EIGHT; ++r) {
    typename S::value back = __shfl_up_sync(0xffffffffu, held.g[r], 1);
    if (lane == 0) back = S::identity();
    const typename S::value above = r == 0 ? offset : S::combine(offset, rows);
    scan_store_group<S>(held.e[r], S::combine(above, back), lines, begins, out, scan_group_at(r),
                        count);
    const typename S::value row = __shfl_sync(0xffffffffu, held.g[r], 31);
    if (r < SCAN_EIGHT - 1) rows = r == 0 ? row : S::combine(rows, row);
  }
}

/* The running result of the first `count` bands' totals. */
template <typename S>
__device__ __forceinline__ typename S::value scan_bands(const typename S::value *bands, int count) {
  typename S::value all = S::identity();
#pragma unroll
  for (int b = 0; b < SCAN_EIGHT; ++b)
    if (b < count) all = S::combine(all, bands[b]);
  return all;
}

/* What comes before lines' first elements: of ranges of one (scan_problem) their numbers; else
 * nothing. A kernel's argument. */
template <typename S>
struct scan_beginnings {
  bool range;
  int first; /* so many of the lines have no other range before them */
  typename S::value before[SCAN_FAMILY];

  __device__ __forceinline__ typename S::value of(int64_t line) const {
    return range ? before[line] : S::identity();
  }
};

/* Launch::run(task, lines, beginnings) of all lines; of ranges, of as many at a time as there is
 * room for beginnings. */
template <typename Launch, typename S>
static rung_status scan_by_beginnings(const rung_task *task, const scan_lines<S> &all) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  const int64_t most = problem->range ? (int64_t)SCAN_FAMILY : all.lines;
  for (int64_t first = 0; first < all.lines; first += most) {
    scan_lines<S> lines = all;
    const int begin = !problem->range ? INT32_MAX : problem->begins && first == 0 ? 1 : 0;
    scan_beginnings<S> beginnings = {problem->range, begin, {}};
    lines.in += first * lines.in_pitch;
    lines.out += first * lines.out_pitch;
    lines.lines = all.lines - first < most ? all.lines - first : most;
    for (int64_t i = 0; i < lines.lines && problem->range; ++i)
      memcpy(&beginnings.before[i], problem->before + (first + i) * problem->before_step,
             sizeof beginnings.before[i]);
    const rung_status status = Launch::run(task, lines, beginnings);
    if (status != RUNG_OK) return status;
  }
  return RUNG_OK;
}

/* Whether a task's lines have a band at most; ranges of a line are tiles however short they are.
 * `tiles` has the kernel for short lines, and takes them for the other rungs. */
extern "C" {
rung_launch scan_tiles_cuda, scan_tiles_sim;
}

static inline bool scan_is_short(const rung_task *task) {
  const scan_problem *problem = (const scan_problem *)task->problem;
  return problem->columns <= SCAN_BAND && !problem->range;
}

/* Whether they are ranges of which the aggregates are asked for, which `tiles` has the kernels for.
 */
static inline bool scan_asks_for_aggregates(const rung_task *task) {
  return ((const scan_problem *)task->problem)->aggregates;
}

#endif
