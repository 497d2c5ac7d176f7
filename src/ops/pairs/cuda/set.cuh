/* Points as kernels take them: at their places, in double, a coordinate an array. */
#ifndef RUNG_PAIRS_CUDA_SET_CUH
#define RUNG_PAIRS_CUDA_SET_CUH

#include "backend/gpu.h"
#include "ops/pairs/cuda/grid.h"
#include "ops/pairs/space.h"

/* Of a sorted set (sort.cuh) start[k] is where the points of key k begin, start[cells] where those
 * begin that are not finite, start[cells + 1] = n. */
typedef struct pairs_set {
  int64_t n;
  const double *x, *y, *z;
  const int *origin;     /* which points these were; NULL: in their own order */
  const unsigned *start; /* NULL: not sorted */
} pairs_set;

static __device__ __forceinline__ pairs_point pairs_at(const pairs_set &set, int64_t i) {
  return {set.x[i], set.y[i], set.z[i]};
}

static __device__ __forceinline__ int64_t pairs_origin(const pairs_set &set, int64_t i) {
  return set.origin != NULL ? set.origin[i] : i;
}

/* Kernels that look at every point once. */
enum { PAIRS_SET_BLOCK = 256 };

static inline unsigned pairs_blocks(const rung_task *task, int64_t n) {
  const int64_t blocks = (n + PAIRS_SET_BLOCK - 1) / PAIRS_SET_BLOCK;
  const int64_t most = (int64_t)task->device->processors * 16;
  return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* The square of the distance of two places, of a job whose space is SPACE. */
template <int SPACE>
static __device__ __forceinline__ double pairs_apart(const pairs_box &box, pairs_point p,
                                                     pairs_point q) {
  const double dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
  if (SPACE == PAIRS_OPEN) return pairs_square_open(dx, dy, dz);
  if (SPACE == PAIRS_RECTANGULAR) return pairs_square_rectangular(&box, dx, dy, dz);
  return pairs_square_near(&box, dx, dy, dz);
}

/* Places in their own order, and what of them a kernel is given. */
struct pairs_places_of {
  const void *points;
  int64_t n;
  double *x, *y, *z;
};

static __device__ __forceinline__ void pairs_place(const pairs_problem &problem,
                                                   const pairs_places_of &set) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < set.n; i += step) {
    const pairs_point p = pairs_place_of(&problem, set.points, i);
    set.x[i] = p.x;
    set.y[i] = p.y;
    set.z[i] = p.z;
  }
}

static __global__ void __launch_bounds__(PAIRS_SET_BLOCK)
    pairs_places_kernel(pairs_problem problem, pairs_places_of set) {
  pairs_place(problem, set);
}

/* Where the places of a set, `s`, are put in `memory` of pairs_places_bytes(). */
static inline pairs_places_of pairs_lay_places(const rung_task *task, int s, char *memory) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  const int64_t n = s == 0 ? problem->n : problem->m;
  double *x = (double *)memory;
  return {task->arrays[PAIRS_A + s].data, n, x, x + n, x + 2 * n};
}

/* Both sets in their own order, in `memory` of pairs_places_bytes(). One set: *b becomes *a. */
static inline rung_status pairs_places(const rung_task *task, char *memory, pairs_set *a,
                                       pairs_set *b) {
  const pairs_problem *problem = (const pairs_problem *)task->problem;
  pairs_set *sets[2] = {a, b};
  for (int s = 0; s < (problem->cross ? 2 : 1); ++s) {
    const pairs_places_of set = pairs_lay_places(task, s, memory);
    RUNG_LAUNCH(task, pairs_places_kernel, pairs_blocks(task, set.n), PAIRS_SET_BLOCK, 0, *problem,
                set);
    *sets[s] = {set.n, set.x, set.y, set.z, NULL, NULL};
    memory += pairs_places_bytes(set.n);
  }
  if (!problem->cross) *b = *a;
  return RUNG_OK;
}

#endif
