/* Points brought to their places and sorted by cells, on the device: a kernel finds the bounds, one
 * counts the points of every cell, three sum the counts up, one puts the points where they belong.
 * Few points are all done by one block. Which of the points of one cell comes first is left to
 * chance, but of a job that is dealt out: its tiles must be the same on every device. */
#ifndef RUNG_PAIRS_CUDA_SORT_CUH
#define RUNG_PAIRS_CUDA_SORT_CUH

#include "backend/gpu.h"
#include "ops/pairs/cuda/grid.h"
#include "ops/pairs/cuda/set.cuh"

/* Of all finite points, along each axis: the greatest of numbers that fall (low), or rise, as the
 * coordinates rise. All begin as 0. */
typedef struct pairs_bounds {
  unsigned long long low[3], high[3];
  unsigned stray; /* a point was counted to another cell than that in which it lies */
} pairs_bounds;
static_assert(sizeof(pairs_bounds) <= PAIRS_BOUNDS_BYTES, "bounds have room");

/* A set as it came, and the room for what becomes of it. */
typedef struct pairs_sorting {
  const void *points;
  int64_t n;
  double *x, *y, *z;
  int *origin;
  unsigned *keys, *ranks, *start;
} pairs_sorting;

/* ---- bounds ------------------------------------------------------------------------------------
 */

static __device__ __forceinline__ unsigned long long pairs_rising(double x) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(x);
  return bits >> 63 != 0 ? ~bits : bits | 1ull << 63;
}

static __device__ __forceinline__ double pairs_of_rising(unsigned long long bits) {
  return __longlong_as_double((long long)(bits >> 63 != 0 ? bits & ~(1ull << 63) : ~bits));
}

static __device__ __forceinline__ bool pairs_finite(pairs_point p) {
  return isfinite(p.x) && isfinite(p.y) && isfinite(p.z);
}

static __device__ __forceinline__ void pairs_widen(unsigned long long range[2], double x) {
  const unsigned long long at = pairs_rising(x);
  range[0] = max(range[0], ~at);
  range[1] = max(range[1], at);
}

/* The greatest of each thread's low and of its high. */
static __device__ __forceinline__ void pairs_bound_axis(unsigned long long *shared,
                                                        const unsigned long long range[2],
                                                        unsigned long long *low,
                                                        unsigned long long *high) {
  const unsigned t = threadIdx.x;
  shared[t] = range[0];
  shared[PAIRS_SET_BLOCK + t] = range[1];
  __syncthreads();
  for (unsigned s = PAIRS_SET_BLOCK / 2; s > 0; s /= 2) {
    if (t < s) {
      shared[t] = max(shared[t], shared[t + s]);
      shared[PAIRS_SET_BLOCK + t] =
          max(shared[PAIRS_SET_BLOCK + t], shared[PAIRS_SET_BLOCK + t + s]);
    }
    __syncthreads();
  }
  if (t == 0) {
    atomicMax(low, shared[0]);
    atomicMax(high, shared[PAIRS_SET_BLOCK]);
  }
  __syncthreads();
}

static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_bounds_kernel(pairs_problem problem, const void *points, int64_t n,
                        pairs_bounds *bounds) {
  rung_take_turn();
  RUNG_DYNAMIC_SHARED(unsigned long long, shared);
  unsigned long long range[3][2] = {};
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const pairs_point p = pairs_place_of(&problem, points, i);
    if (!pairs_finite(p)) continue;
    pairs_widen(range[0], p.x);
    pairs_widen(range[1], p.y);
    pairs_widen(range[2], p.z);
  }
  for (int axis = 0; axis < 3; ++axis)
    pairs_bound_axis(shared, range[axis], &bounds->low[axis], &bounds->high[axis]);
}

/* ---- cells -------------------------------------------------------------------------------------
 */

/* What brings a coordinate to a cell's number along its axis. */
struct pairs_frame {
  double low[3], scale[3];
};

static __device__ __forceinline__ pairs_frame pairs_frame_of(const pairs_grid &grid,
                                                             const pairs_bounds *bounds) {
  pairs_frame frame;
  for (int i = 0; i < 3; ++i) {
    frame.low[i] = pairs_of_rising(~bounds->low[i]);
    const double extent = pairs_of_rising(bounds->high[i]) - frame.low[i];
    frame.scale[i] = extent > 0 ? grid.cells[i] / extent : 0;
  }
  return frame;
}

/* In [0, cells), whatever the rounding. */
static __device__ __forceinline__ int pairs_held(double at, int cells) {
  return at < cells ? (int)at : cells - 1;
}

/* The cell of a finite place. True where it is another one than that in which the place lies. */
static __device__ __forceinline__ bool pairs_cell_of(const pairs_problem &problem,
                                                     const pairs_grid &grid,
                                                     const pairs_frame &frame, pairs_point p,
                                                     int cell[3]) {
  if (grid.morton || problem.box.space == PAIRS_OPEN) {
    cell[0] = pairs_held((p.x - frame.low[0]) * frame.scale[0], grid.cells[0]);
    cell[1] = pairs_held((p.y - frame.low[1]) * frame.scale[1], grid.cells[1]);
    cell[2] = pairs_held((p.z - frame.low[2]) * frame.scale[2], grid.cells[2]);
    return false;
  }
  bool stray = false;
  for (int i = 0; i < 3; ++i) {
    const int cells = grid.cells[i];
    const double at = pairs_fraction(&problem.box, p.x, p.y, p.z, i) * cells;
    if (at >= -PAIRS_CUT_STRAY && at <= cells + PAIRS_CUT_STRAY) {
      cell[i] = at > 0 ? pairs_held(at, cells) : 0;
    } else { /* in an image of the box: a place is less than a box outside */
      stray = true;
      cell[i] = at > 0 ? pairs_held(at - cells, cells) : pairs_held(fmax(at + cells, 0.0), cells);
    }
  }
  return stray;
}

/* The Morton curve's number, or that by row. */
static __device__ __forceinline__ unsigned pairs_key_of(const pairs_grid &grid, const int cell[3]) {
  if (!grid.morton)
    return (unsigned)((cell[2] * (int64_t)grid.cells[1] + cell[1]) * grid.cells[0] + cell[0]);
  unsigned key = 0;
  for (int bit = 0; bit < grid.bits; ++bit)
    for (int i = 0; i < 3; ++i) key |= ((unsigned)cell[i] >> bit & 1) << (3 * bit + i);
  return key;
}

/* The key of a place; *stray: it is that of another cell. */
static __device__ __forceinline__ unsigned pairs_find_key(const pairs_problem &problem,
                                                          const pairs_grid &grid,
                                                          const pairs_frame &frame, pairs_point p,
                                                          bool *stray) {
  int cell[3];
  if (!pairs_finite(p)) return (unsigned)grid.count;
  *stray = pairs_cell_of(problem, grid, frame, p, cell);
  return pairs_key_of(grid, cell);
}

/* Counts the points of every key, and says which one of its key a point is. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_keys_kernel(pairs_problem problem, pairs_grid grid, const void *points, int64_t n,
                      pairs_bounds *bounds, unsigned *count, unsigned *keys, unsigned *ranks) {
  rung_take_turn();
  const pairs_frame frame = pairs_frame_of(grid, bounds);
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    bool stray = false;
    const unsigned key =
        pairs_find_key(problem, grid, frame, pairs_place_of(&problem, points, i), &stray);
    if (stray) atomicOr(&bounds->stray, 1u);
    keys[i] = key;
    ranks[i] = atomicAdd(&count[key], 1u);
  }
}

static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_scatter_kernel(pairs_problem problem, const void *points, int64_t n, const unsigned *keys,
                         const unsigned *ranks, const unsigned *start, double *x, double *y,
                         double *z, int *origin) {
  rung_take_turn();
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const pairs_point p = pairs_place_of(&problem, points, i);
    const unsigned to = start[keys[i]] + ranks[i];
    x[to] = p.x;
    y[to] = p.y;
    z[to] = p.z;
    origin[to] = (int)i;
  }
}

/* The how manieth of its key a point is by where it came, for whoever has to have the same order
 * again; that of chance has been scattered by. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_order_kernel(int64_t n, const unsigned *keys, const unsigned *start, const int *origin,
                       unsigned *ranks) {
  rung_take_turn();
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const unsigned end = start[keys[i] + 1];
    unsigned before = 0;
    for (unsigned at = start[keys[i]]; at < end; ++at) before += origin[at] < i;
    ranks[i] = before;
  }
}

/* ---- from counts to beginnings -----------------------------------------------------------------
 */

/* The sum of the values of the threads before the caller; *all: of all of them. */
static __device__ __forceinline__ unsigned pairs_sum_before(unsigned *shared, unsigned value,
                                                            unsigned *all) {
  const unsigned t = threadIdx.x;
  unsigned with = value;
  for (unsigned s = 1; s < PAIRS_SET_BLOCK; s *= 2) {
    shared[t] = with;
    __syncthreads();
    if (t >= s) with += shared[t - s];
    __syncthreads();
  }
  if (t == PAIRS_SET_BLOCK - 1) shared[0] = with;
  __syncthreads();
  *all = shared[0];
  __syncthreads();
  return with - value;
}

enum { PAIRS_SORT_EACH = (int)PAIRS_SORT_PART / (int)PAIRS_SET_BLOCK };

/* A thread's numbers of a part, and their sum. */
static __device__ __forceinline__ unsigned pairs_part_of(const unsigned *numbers, int64_t count,
                                                         int64_t first,
                                                         unsigned part[PAIRS_SORT_EACH]) {
  unsigned sum = 0;
  for (int e = 0; e < PAIRS_SORT_EACH; ++e) {
    part[e] = first + e < count ? numbers[first + e] : 0;
    sum += part[e];
  }
  return sum;
}

static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_part_sums_kernel(const unsigned *numbers, int64_t count, unsigned *sums) {
  rung_take_turn();
  RUNG_DYNAMIC_SHARED(unsigned, shared);
  unsigned part[PAIRS_SORT_EACH], all;
  const int64_t first = (int64_t)blockIdx.x * PAIRS_SORT_PART + threadIdx.x * PAIRS_SORT_EACH;
  pairs_sum_before(shared, pairs_part_of(numbers, count, first, part), &all);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/* Every number becomes the sum of those before it: of part blockIdx.x, to which `sums` says what
 * came before; or, without sums, of all parts, by one block. */
static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_sum_up_kernel(unsigned *numbers, int64_t count, const unsigned *sums) {
  rung_take_turn();
  RUNG_DYNAMIC_SHARED(unsigned, shared);
  unsigned part[PAIRS_SORT_EACH], all, before = sums != NULL ? sums[blockIdx.x] : 0;
  for (int64_t from = (int64_t)blockIdx.x * PAIRS_SORT_PART; from < count;
       from += (int64_t)gridDim.x * PAIRS_SORT_PART) {
    const int64_t first = from + threadIdx.x * PAIRS_SORT_EACH;
    const unsigned own = pairs_part_of(numbers, count, first, part);
    unsigned sum = before + pairs_sum_before(shared, own, &all);
    for (int e = 0; e < PAIRS_SORT_EACH && first + e < count; ++e) {
      numbers[first + e] = sum;
      sum += part[e];
    }
    before += all;
  }
}

/* ---- few points --------------------------------------------------------------------------------
 */

enum { PAIRS_FEW = 1 << 11, PAIRS_FEW_KEYS = 1 << 13, PAIRS_FEW_BLOCK = 1024 };

static inline bool pairs_are_few(const pairs_problem *problem, const pairs_grid *grid) {
  return problem->dealt == 0 && problem->n + problem->m <= PAIRS_FEW &&
         grid->count + 2 <= PAIRS_FEW_KEYS;
}

/* The sum of the values of the threads before the caller; `sums`: shared, one a warp. */
static __device__ __forceinline__ unsigned pairs_few_before(unsigned *sums, unsigned value) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned with = value;
  for (unsigned s = 1; s < 32; s *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, with, s);
    if (lane >= s) with += other;
  }
  __syncthreads();
  if (lane == 31) sums[warp] = with;
  __syncthreads();
  unsigned before = with - value;
  for (unsigned w = 0; w < warp; ++w) before += sums[w];
  return before;
}

static __device__ __forceinline__ void pairs_few_bounds(const pairs_problem &problem,
                                                        const pairs_sorting &set,
                                                        pairs_bounds *bounds) {
  unsigned long long range[3][2] = {};
  for (int64_t i = threadIdx.x; i < set.n; i += PAIRS_FEW_BLOCK) {
    const pairs_point p = pairs_place_of(&problem, set.points, i);
    if (!pairs_finite(p)) continue;
    pairs_widen(range[0], p.x);
    pairs_widen(range[1], p.y);
    pairs_widen(range[2], p.z);
  }
  for (int k = 0; k < 6; ++k) {
    unsigned long long most = range[k / 2][k % 2];
    for (int s = 16; s > 0; s /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, s));
    if (threadIdx.x % 32 == 0)
      atomicMax(k % 2 == 0 ? &bounds->low[k / 2] : &bounds->high[k / 2], most);
  }
}

/* `count` and `sums` are shared. */
static __device__ __forceinline__ void pairs_few_sort(const pairs_problem &problem,
                                                      const pairs_grid &grid,
                                                      const pairs_sorting &set,
                                                      pairs_bounds *bounds, unsigned *count,
                                                      unsigned *sums) {
  const int t = (int)threadIdx.x, all = (int)grid.count + 2;
  const int each = (all + PAIRS_FEW_BLOCK - 1) / PAIRS_FEW_BLOCK;
  const pairs_frame frame = pairs_frame_of(grid, bounds);
  for (int k = t; k < all; k += PAIRS_FEW_BLOCK) count[k] = 0;
  __syncthreads();
  for (int64_t i = t; i < set.n; i += PAIRS_FEW_BLOCK) {
    const pairs_point p = pairs_place_of(&problem, set.points, i);
    bool stray = false;
    const unsigned key = pairs_find_key(problem, grid, frame, p, &stray);
    if (stray) atomicOr(&bounds->stray, 1u);
    set.keys[i] = key;
    set.ranks[i] = atomicAdd(&count[key], 1u);
  }
  __syncthreads();
  unsigned own = 0;
  for (int k = t * each; k < all && k < (t + 1) * each; ++k) own += count[k];
  unsigned before = pairs_few_before(sums, own);
  for (int k = t * each; k < all && k < (t + 1) * each; ++k) {
    const unsigned here = count[k];
    count[k] = before;
    set.start[k] = before;
    before += here;
  }
  __syncthreads();
  for (int64_t i = t; i < set.n; i += PAIRS_FEW_BLOCK) {
    const pairs_point p = pairs_place_of(&problem, set.points, i);
    const unsigned to = count[set.keys[i]] + set.ranks[i];
    set.x[to] = p.x;
    set.y[to] = p.y;
    set.z[to] = p.z;
    set.origin[to] = (int)i;
  }
  __syncthreads();
}

/* One block. Dynamic shared memory: a counter a key. */
static __global__ void __launch_bounds__(PAIRS_FEW_BLOCK)
    pairs_few_kernel(pairs_problem problem, pairs_grid grid, pairs_sorting a, pairs_sorting b,
                     bool bound, pairs_bounds *result) {
  rung_take_turn();
  RUNG_DYNAMIC_SHARED(unsigned, count);
  __shared__ unsigned sums[PAIRS_FEW_BLOCK / 32];
  __shared__ pairs_bounds bounds;
  if (threadIdx.x < 3) bounds.low[threadIdx.x] = bounds.high[threadIdx.x] = 0;
  if (threadIdx.x == 0) bounds.stray = 0;
  __syncthreads();
#pragma unroll 1
  for (int s = 0; bound && s < (problem.cross ? 2 : 1); ++s)
    pairs_few_bounds(problem, s == 0 ? a : b, &bounds);
  __syncthreads();
#pragma unroll 1
  for (int s = 0; s < (problem.cross ? 2 : 1); ++s)
    pairs_few_sort(problem, grid, s == 0 ? a : b, &bounds, count, sums);
  if (threadIdx.x == 0) *result = bounds;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

static inline pairs_sorting pairs_lay_set(const void *points, int64_t n, const pairs_grid *grid,
                                          char *memory) {
  const pairs_sort_room room = pairs_sort_room_of(n, grid);
  return {points,
          n,
          (double *)(memory + room.x),
          (double *)(memory + room.y),
          (double *)(memory + room.z),
          (int *)(memory + room.origin),
          (unsigned *)(memory + room.keys),
          (unsigned *)(memory + room.ranks),
          (unsigned *)(memory + room.start)};
}

static inline rung_status pairs_scatter(const rung_task *task, const pairs_sorting &set) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  RUNG_LAUNCH_NEXT(task, pairs_scatter_kernel, pairs_blocks(task, set.n), PAIRS_SET_BLOCK, 0,
                   *problem, set.points, set.n, (const unsigned *)set.keys,
                   (const unsigned *)set.ranks, (const unsigned *)set.start, set.x, set.y, set.z,
                   set.origin);
  return RUNG_OK;
}

static inline rung_status pairs_sort_set(const rung_task *task, const pairs_grid *grid,
                                         const pairs_sorting &set, unsigned *sums,
                                         pairs_bounds *bounds) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  const unsigned blocks = pairs_blocks(task, set.n);
  const int64_t count = grid->count + 2;
  const unsigned parts = (unsigned)pairs_sort_parts(grid);
  const size_t shared = PAIRS_SET_BLOCK * sizeof(unsigned);
  RUNG_LAUNCH_NEXT(task, pairs_keys_kernel, blocks, PAIRS_SET_BLOCK, 0, *problem, *grid, set.points,
                   set.n, bounds, set.start, set.keys, set.ranks);
  RUNG_LAUNCH_NEXT(task, pairs_part_sums_kernel, parts, PAIRS_SET_BLOCK, shared,
                   (const unsigned *)set.start, count, sums);
  RUNG_LAUNCH_NEXT(task, pairs_sum_up_kernel, 1, PAIRS_SET_BLOCK, shared, sums, (int64_t)parts,
                   (const unsigned *)NULL);
  RUNG_LAUNCH_NEXT(task, pairs_sum_up_kernel, parts, PAIRS_SET_BLOCK, shared, set.start, count,
                   (const unsigned *)sums);
  const rung_status status = pairs_scatter(task, set);
  if (status != RUNG_OK || problem->dealt == 0) return status;
  RUNG_LAUNCH_NEXT(task, pairs_order_kernel, blocks, PAIRS_SET_BLOCK, 0, set.n,
                   (const unsigned *)set.keys, (const unsigned *)set.start, (const int *)set.origin,
                   set.ranks);
  return pairs_scatter(task, set);
}

/* Many points; `memory` begins with the bounds. */
static inline rung_status pairs_sort_many(const rung_task *task, const pairs_grid *grid, bool bound,
                                          char *memory, const pairs_sorting sets[2]) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  pairs_bounds *wide = (pairs_bounds *)memory;
  const int all = problem->cross ? 2 : 1;
  memory += PAIRS_BOUNDS_BYTES;
  RUNG_FILL_ON_DEVICE(task, wide, 0,
                      PAIRS_BOUNDS_BYTES + (size_t)(grid->count + 2) * sizeof(unsigned));
  if (all == 2)
    RUNG_FILL_ON_DEVICE(task, sets[1].start, 0, (size_t)(grid->count + 2) * sizeof(unsigned));
  for (int s = 0; bound && s < all; ++s)
    RUNG_LAUNCH_NEXT(task, pairs_bounds_kernel, pairs_blocks(task, sets[s].n), PAIRS_SET_BLOCK,
                     2 * PAIRS_SET_BLOCK * sizeof(unsigned long long), *problem, sets[s].points,
                     sets[s].n, wide);
  for (int s = 0; s < all; ++s) {
    const pairs_sort_room room = pairs_sort_room_of(sets[s].n, grid);
    const rung_status status =
        pairs_sort_set(task, grid, sets[s], (unsigned *)(memory + room.sums), wide);
    if (status != RUNG_OK) return status;
    memory += room.bytes;
  }
  return RUNG_OK;
}

/* Sorts both sets by one grid over the bounds of both; `memory` has pairs_sort_bytes(). Where there
 * is one set, *b becomes *a. */
static inline rung_status pairs_sort(const rung_task *task, const pairs_grid *grid, char *memory,
                                     pairs_set *a, pairs_set *b, const pairs_bounds **bounds) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  /* A cut-off's cells in a box are its own: nobody needs bounds. */
  const bool bound = grid->morton || problem->box.space == PAIRS_OPEN;
  char *room = memory + PAIRS_BOUNDS_BYTES;
  pairs_sorting sets[2];
  pairs_set *sorted[2] = {a, b};
  sets[0] = sets[1] = pairs_lay_set(task->arrays[PAIRS_A].data, problem->n, grid, room);
  room += pairs_sort_room_of(problem->n, grid).bytes;
  if (problem->cross) sets[1] = pairs_lay_set(task->arrays[PAIRS_B].data, problem->m, grid, room);
  if (pairs_are_few(problem, grid)) {
    RUNG_LAUNCH_NEXT(task, pairs_few_kernel, 1, PAIRS_FEW_BLOCK,
                     (size_t)(grid->count + 2) * sizeof(unsigned), *problem, *grid, sets[0],
                     sets[1], bound, (pairs_bounds *)memory);
  } else {
    const rung_status status = pairs_sort_many(task, grid, bound, memory, sets);
    if (status != RUNG_OK) return status;
  }
  for (int s = 0; s < 2; ++s)
    *sorted[s] = {sets[s].n, sets[s].x, sets[s].y, sets[s].z, sets[s].origin, sets[s].start};
  *bounds = (const pairs_bounds *)memory;
  return RUNG_OK;
}

#endif
