/* A warp a tile. The 2048 lanes live in the registers of 32 threads, so folding needs neither
 * shared memory nor a barrier, and warps that are folding never hold up others that are loading.
 *
 * A block size is taken as whole warps, at least one and at most eight: more would leave a thread
 * too few registers for its sums. */
#include "ops/reduce/cuda/levels.cuh"
#include "ops/reduce/cuda/sum.cuh"

#define MOST_WARPS 8

template <typename S, bool ALIGNED>
static __global__ void __launch_bounds__(MOST_WARPS * 32) reduce_warp(reduce_level level) {
  typedef typename S::in T;
  typedef typename S::partial P;
  enum { LOADS = 64 / sizeof(P) };
  const int64_t warps = blockDim.x / 32, jobs = level.outer * level.parts;
  int64_t job = blockIdx.x * warps + threadIdx.x / 32;
  for (; job < jobs; job += gridDim.x * warps) {
    const reduce_part part = reduce_part_of(level, job, RUNG_SUM_TILE);
    const T *tile = (const T *)level.in + part.first;
    const P sum = reduce_tile_by_warp<S, S::wide, ALIGNED, LOADS>(tile, (int)part.count, level.key);
    if (threadIdx.x % 32 == 0) reduce_put(level.end, sum, level.out, part.at);
  }
}

static reduce_kernel pick_kernel(reduce_operator op, bool aligned) {
#define PICK(S) (aligned ? reduce_warp<S, true> : reduce_warp<S, false>)
  REDUCE_PICK_FLOAT(op, PICK)
#undef PICK
}

static rung_status launch(const rung_task *task, const reduce_level &level, reduce_operator op) {
  int warps = task->block == 0 ? 4 : task->block / 32;
  warps = warps < 1 ? 1 : warps > MOST_WARPS ? MOST_WARPS : warps;
  const reduce_kernel reduce_warp_kernel = pick_kernel(op, reduce_wide(level));
  RUNG_LAUNCH(task, reduce_warp_kernel,
              reduce_grid((level.outer * level.parts + warps - 1) / warps), warps * 32, 0, level);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(reduce_warp_per_row)(const rung_task *task) {
  return reduce_all_levels(task, RUNG_SUM_TILE, launch);
}
