/* Both tiles in registers: a warp's lanes have a point of either, and pass one of them around. No
 * shared memory but for the tables, and no barrier. A block size is taken as whole warps, rounded
 * down, at least one. */
#include "ops/pairs/cuda/tables.cuh"
#include "ops/pairs/cuda/triangle.cuh"

enum { PAIRS_WARP = 32 };

/* Point i, or any where there is none. */
static __device__ __forceinline__ pairs_point pairs_at_or(const pairs_set &set, int64_t i) {
  return i < set.n ? pairs_at(set, i) : pairs_point{};
}

static __device__ __forceinline__ pairs_point pairs_pass(pairs_point p) {
  const int from = (int)(threadIdx.x + 1) % PAIRS_WARP;
  return {__shfl_sync(0xffffffffu, p.x, from), __shfl_sync(0xffffffffu, p.y, from),
          __shfl_sync(0xffffffffu, p.z, from)};
}

/* Tiles of a warp's size; r of a goes around, l of b stays. Of one set r <= l. */
template <int SPACE>
static __global__ void __launch_bounds__(1024, 1)
    pairs_shuffle_kernel(pairs_job job, pairs_plan plan) {
  RUNG_DYNAMIC_SHARED(char, memory);
  const pairs_shared shared = pairs_begin(job, plan, memory);
  rung_await_before();
  const bool cross = job.problem.cross;
  const int lane = (int)threadIdx.x % PAIRS_WARP, warps = (int)blockDim.x / PAIRS_WARP;
  const int64_t rs = (job.a.n + PAIRS_WARP - 1) / PAIRS_WARP,
                all = pairs_tiles(rs, (job.b.n + PAIRS_WARP - 1) / PAIRS_WARP, cross);
  const int64_t each = (int64_t)warps * PAIRS_WARP * PAIRS_WARP;
  int64_t counted = 0;
  for (int64_t first = (int64_t)blockIdx.x * warps; first < all;
       first += (int64_t)gridDim.x * warps) {
    if (counted > 0 && counted + each > job.problem.flush) {
      pairs_spill(job, plan, shared);
      counted = 0;
    }
    counted += each;
    const int64_t at = first + threadIdx.x / PAIRS_WARP;
    if (at >= all) continue;
    int64_t r, l;
    pairs_tile_at(at, rs, cross, &r, &l);
    const int64_t i = l * PAIRS_WARP + lane, left = job.a.n - r * PAIRS_WARP;
    const int end = i >= job.b.n             ? 0
                    : !cross && r == l       ? lane
                    : left < (int)PAIRS_WARP ? (int)left
                                             : (int)PAIRS_WARP;
    const pairs_point q = pairs_at_or(job.b, i);
    pairs_point p = pairs_at_or(job.a, r * PAIRS_WARP + lane);
#pragma unroll 4
    for (int k = 0; k < PAIRS_WARP; ++k) {
      if ((lane + k) % PAIRS_WARP < end)
        pairs_count<pairs_lane_tables, false>(job, plan, shared, 0,
                                              pairs_apart<SPACE>(job.problem.box, p, q), {}, {});
      p = pairs_pass(p);
    }
  }
  pairs_spill(job, plan, shared);
}

struct pairs_shuffle_rung {
  enum { EXTRAS = false };
  template <int SPACE, bool EXTRA>
  static rung_status launch(const rung_task *task, const pairs_job &job) {
    rung_task whole = *task;
    whole.block = pairs_block(task) < PAIRS_WARP ? (int)PAIRS_WARP
                                                 : pairs_block(task) / PAIRS_WARP * PAIRS_WARP;
    const pairs_plan plan = pairs_plan_of(&whole, {false, true, true});
    const int64_t warps = plan.threads / PAIRS_WARP;
    const int64_t rs = (job.a.n + PAIRS_WARP - 1) / PAIRS_WARP,
                  ls = (job.b.n + PAIRS_WARP - 1) / PAIRS_WARP;
    const int64_t all = pairs_tiles(rs, ls, job.problem.cross);
    PAIRS_LAUNCH(task, (pairs_shuffle_kernel<SPACE>), (all + warps - 1) / warps, plan, job, plan);
    return RUNG_OK;
  }
};

extern "C" rung_status RUNG_ENTRY(pairs_shuffle)(const rung_task *task) {
  return pairs_run<pairs_shuffle_rung>(task);
}
