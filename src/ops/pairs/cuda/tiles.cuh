/* The rungs that go by tiles: a block's threads have a point of one tile each, in registers, and
 * the points of another tile are in shared memory, where all threads read the same one at a time.
 * Only where they count differs. */
#ifndef RUNG_PAIRS_CUDA_TILES_CUH
#define RUNG_PAIRS_CUDA_TILES_CUH

#include "ops/pairs/cuda/tables.cuh"
#include "ops/pairs/cuda/triangle.cuh"

/* A point in shared memory: one after the other, so that one address serves all of it. */
template <bool EXTRA>
struct __align__(16) pairs_held_point {
  pairs_point at;
  pairs_tag<EXTRA> tag;
};
static_assert(sizeof(pairs_held_point<false>) == PAIRS_HELD &&
                  sizeof(pairs_held_point<true>) == PAIRS_HELD_EXTRA,
              "the plan knows a point's size");

/* Tiles of as many points as a block has threads. r is the tile in shared memory, of a; l that in
 * registers, of b. Of one set r <= l, and of a tile with itself a thread takes the points before
 * its own. */
template <typename Table, int SPACE, bool EXTRA>
static __global__ void __launch_bounds__(1024, 1)
    pairs_tiles_kernel(pairs_job job, pairs_plan plan) {
  RUNG_DYNAMIC_SHARED(char, memory);
  const pairs_shared shared = pairs_begin(job, plan, memory);
  rung_await_before();
  pairs_held_point<EXTRA> *tile = (pairs_held_point<EXTRA> *)shared.points;
  const int exponent = EXTRA ? pairs_exponent_of(job) : 0;
  const bool cross = job.problem.cross;
  const int64_t size = blockDim.x, rs = (job.a.n + size - 1) / size,
                all = pairs_tiles(rs, (job.b.n + size - 1) / size, cross);
  int64_t counted = 0;
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    int64_t r, l;
    pairs_tile_at(at, rs, cross, &r, &l);
    const int64_t left = job.a.n - r * size, own = r * size + threadIdx.x,
                  i = l * size + threadIdx.x;
    if (Table::KEPT && counted > 0 && counted + size * size > job.problem.flush) {
      pairs_spill(job, plan, shared);
      counted = 0;
    }
    counted += size * size;
    if (own < job.a.n) tile[threadIdx.x] = {pairs_at(job.a, own), pairs_tag_of<EXTRA>(job, 0, own)};
    __syncthreads();
    if (i < job.b.n) {
      const pairs_point q = pairs_at(job.b, i);
      const pairs_tag<EXTRA> tag = pairs_tag_of<EXTRA>(job, 1, i);
      const int end = !cross && r == l ? (int)threadIdx.x : left < size ? (int)left : (int)size;
      const auto count = [&](int k) {
        pairs_count<Table, EXTRA>(job, plan, shared, exponent,
                                  pairs_apart<SPACE>(job.problem.box, tile[k].at, q), tile[k].tag,
                                  tag);
      };
      int k = 0;
      for (; k + 4 <= end; k += 4)
#pragma unroll
        for (int e = 0; e < 4; ++e) count(k + e);
#pragma unroll
      for (int e = 0; e < 3; ++e)
        if (k + e < end) count(k + e);
    }
    __syncthreads();
  }
  if (Table::KEPT) pairs_spill(job, plan, shared);
}

template <typename Table, bool ALL>
struct pairs_tiles_rung {
  enum { EXTRAS = ALL };
  template <int SPACE, bool EXTRA>
  static rung_status launch(const rung_task *task, const pairs_job &job) {
    const pairs_plan plan = pairs_plan_of(task, {true, Table::KEPT != 0, Table::COPIES != 0});
    const int64_t rs = (job.a.n + plan.threads - 1) / plan.threads,
                  ls = (job.b.n + plan.threads - 1) / plan.threads;
    PAIRS_LAUNCH(task, (pairs_tiles_kernel<Table, SPACE, EXTRA>),
                 pairs_tiles(rs, ls, job.problem.cross), plan, job, plan);
    return RUNG_OK;
  }
};

#endif
