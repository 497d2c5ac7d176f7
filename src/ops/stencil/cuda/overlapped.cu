/* Rung `overlapped`: rows of any length in tiles that overlap. A tile is read with as many columns
 * more on either side as the steps carry a value; these it makes as well, as far as they are known,
 * and writes only its own. So nobody waits for a neighbour, and memory is read and written once for
 * many steps.
 *
 * Few steps: a warp has a tile, a lane a few neighbouring columns, and between two steps it asks
 * its neighbours for theirs. Many: blocks of `onchip` take the inside of the rows, where no edge is
 * felt, and warps only what is left at their ends. */
#include "ops/stencil/cuda/stencil.cuh"

enum { OVERLAPPED_WARPS = 4 }; /* of a block */

/* `tiles` a row. Of the inside: tile t writes `useful` columns from t * useful on. Of the ends:
 * there are two, which write [left, left_end) and [right, columns). */
template <typename T>
struct overlapped_job {
  stencil_numbers<T> s;
  stencil_start start;
  int64_t steps;
  const T *in;
  T *out;
  int64_t in_stride, out_stride;
  int64_t tiles, useful, halo;
  bool ends;
  int64_t left, left_first, left_end, right;
};

/* A warp's tile: where it begins, and the columns that it writes. */
struct overlapped_tile {
  int64_t first, from, to;
};

template <typename T>
static __device__ inline overlapped_tile overlapped_tile_of(const overlapped_job<T> &job,
                                                            int64_t t) {
  if (job.ends)
    return t == 0 ? overlapped_tile{job.left_first, job.left, job.left_end}
                  : overlapped_tile{job.right - job.halo, job.right, job.s.columns};
  const int64_t from = t * job.useful, to = from + job.useful;
  return {from - job.halo, from, to < job.s.columns ? to : job.s.columns};
}

/* A lane's columns, and which of them no step changes, a bit each. */
template <typename T, int C>
struct overlapped_columns {
  T y[C];
  unsigned kept;
};

/* 16 bytes of shared memory at a time, from a lane's columns to those in the row and back. */
template <typename T>
struct overlapped_wide;
template <>
struct overlapped_wide<float> {
  typedef float4 type;
};
template <>
struct overlapped_wide<double> {
  typedef double2 type;
};

template <typename T, int C>
static __device__ inline void overlapped_show(const T (&y)[C], T *row) {
  typedef typename overlapped_wide<T>::type wide;
#pragma unroll
  for (int q = 0; q < (int)(C * sizeof(T) / 16); q++) {
    wide v;
    memcpy(&v, y + q * (16 / sizeof(T)), sizeof v);
    reinterpret_cast<wide *>(row)[q] = v;
  }
}

template <typename T, int C>
static __device__ inline void overlapped_see(T (&y)[C], const T *row) {
  typedef typename overlapped_wide<T>::type wide;
#pragma unroll
  for (int q = 0; q < (int)(C * sizeof(T) / 16); q++) {
    const wide v = reinterpret_cast<const wide *>(row)[q];
    memcpy(y + q * (16 / sizeof(T)), &v, sizeof v);
  }
}

/* Brings the tile into shared memory; what stands outside the row as the edge rule has it. */
template <typename T, int C>
static __device__ inline void overlapped_fetch(const overlapped_job<T> &job, int64_t i,
                                               const overlapped_tile &tile, T *row) {
  const T *from = job.in + i * job.in_stride;
  const int64_t m = job.s.columns;
  const int lane = (int)threadIdx.x % 32;
  if (tile.first >= 0 && tile.first + 32 * C <= m && !job.start.own) {
#pragma unroll 8
    for (int k = lane; k < 32 * C; k += 32) rung_copy_async(row + k, from + tile.first + k);
  } else {
#pragma unroll 1
    for (int k = lane; k < 32 * C; k += 32) {
      int64_t j = tile.first + k;
      if (j < 0 || j >= m) j = stencil_outside(job.s.edge, j, m);
      if (j < 0)
        row[k] = job.s.edge_value;
      else if (job.start.own)
        row[k] = (T)stencil_own_start(job.start, i, j, m);
      else
        rung_copy_async(row + k, from + j);
    }
  }
  rung_copy_async_commit();
  rung_copy_async_wait();
  __syncwarp();
}

/* The lane's columns that stay: fixed ones, and those outside but where the row comes around. */
template <typename T, int C>
static __device__ inline unsigned overlapped_kept(const overlapped_job<T> &job, int64_t first) {
  const int64_t m = job.s.columns;
  unsigned kept = 0;
#pragma unroll 1
  for (int c = 0; c < C; c++) {
    int64_t j = first + c;
    if (j < 0 || j >= m) j = job.s.edge == RUNG_EDGE_WRAP ? stencil_outside(job.s.edge, j, m) : -1;
    kept |= j < job.s.fixed ? 1u << c : 0;
  }
  return kept;
}

/* Looks up what stands outside anew, after a step: columns up to R beside the row. */
template <typename T, int R, int C>
static __device__ inline void overlapped_look_up(const overlapped_job<T> &job, int64_t first,
                                                 overlapped_columns<T, C> &my, T *row) {
  const int lane = (int)threadIdx.x % 32;
  const int64_t m = job.s.columns;
  overlapped_show(my.y, row + lane * C);
  __syncwarp();
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int64_t j = first + lane * C + c;
    if (!((j < 0 && j >= -R) || (j >= m && j < m + R))) continue;
    const int64_t at = stencil_outside(job.s.edge, j, m) - first;
    if (at >= 0 && at < 32 * C) my.y[c] = row[at];
  }
  __syncwarp();
}

/* One step. The outermost R columns of the tile see what is not there. */
template <typename T, int R, int C>
static __device__ inline void overlapped_step(const overlapped_job<T> &job, bool keeping,
                                              overlapped_columns<T, C> &my) {
  T left[R], right[R], made[C];
#pragma unroll
  for (int k = 0; k < R; k++) {
    left[k] = __shfl_up_sync(0xffffffffu, my.y[C - R + k], 1);
    right[k] = __shfl_down_sync(0xffffffffu, my.y[k], 1);
  }
#pragma unroll
  for (int c = 0; c < C; c++)
    made[c] = stencil_chain::sum(job.s, 2 * R + 1, [&](int k) {
      const int at = c + k - R;
      return at < 0   ? left[at < 0 ? at + R : 0]
             : at < C ? my.y[at < 0 || at >= C ? 0 : at]
                      : right[at < C ? 0 : at - C];
    });
  if (keeping) {
#pragma unroll
    for (int c = 0; c < C; c++)
      if (my.kept >> c & 1) made[c] = my.y[c];
  }
#pragma unroll
  for (int c = 0; c < C; c++) my.y[c] = made[c];
}

template <typename T, int R, int C>
static __device__ inline void overlapped_make(const overlapped_job<T> &job, int64_t i,
                                              const overlapped_tile &tile, T *row) {
  const int lane = (int)threadIdx.x % 32;
  const bool beside = tile.first < 0 || tile.first + 32 * C > job.s.columns,
             keeping = beside || tile.first < job.s.fixed,
             moving = beside && job.s.edge != RUNG_EDGE_WRAP && job.s.edge != RUNG_EDGE_CONSTANT;
  overlapped_columns<T, C> my;
  overlapped_fetch<T, C>(job, i, tile, row);
  overlapped_see(my.y, row + lane * C);
  my.kept = keeping ? overlapped_kept<T, C>(job, tile.first + lane * C) : 0;
  __syncwarp();
#pragma unroll 1
  for (int64_t s = 0; s < job.steps; s++) {
    overlapped_step<T, R, C>(job, keeping, my);
    if (moving) overlapped_look_up<T, R, C>(job, tile.first, my, row);
  }
  overlapped_show(my.y, row + lane * C);
  __syncwarp();
  T *to = job.out + i * job.out_stride;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int k = c * 32 + lane;
    const int64_t j = tile.first + k;
    if (j >= tile.from && j < tile.to) to[j] = row[k];
  }
  __syncwarp();
}

/* in, out: (rows, columns). Blocks of OVERLAPPED_WARPS warps: `across` of them have neighbouring
 * tiles, the others those of the next rows. */
template <typename T, int R, int C>
static __global__ void __launch_bounds__(32 * OVERLAPPED_WARPS)
    overlapped_rows(const overlapped_job<T> job, int across) {
  __shared__ __align__(16) T memory[OVERLAPPED_WARPS][32 * C];
  const int warp = (int)threadIdx.x / 32, down = OVERLAPPED_WARPS / across;
  const int64_t t = (int64_t)blockIdx.x * across + warp % across;
  if (t >= job.tiles) return;
  const overlapped_tile tile = overlapped_tile_of(job, t);
  for (int64_t i = (int64_t)blockIdx.y * down + warp / across; i < job.s.rows;
       i += (int64_t)gridDim.y * down)
    overlapped_make<T, R, C>(job, i, tile, memory[warp]);
}

template <typename T, int R, int C>
static rung_status launch_warps(const rung_task *task, const overlapped_job<T> &job) {
  const int across = job.tiles >= 3 ? 4 : job.tiles == 2 ? 2 : 1, down = OVERLAPPED_WARPS / across;
  const dim3 grid((unsigned)((job.tiles + across - 1) / across),
                  stencil_grid_rows((job.s.rows + down - 1) / down));
  RUNG_LAUNCH(task, (overlapped_rows<T, R, C>), grid, 32 * OVERLAPPED_WARPS, 0, job, across);
  return RUNG_OK;
}

/* Where warps' tiles lie: of whole rows, or beside those of blocks. */
template <typename T>
static void place_tiles(const stencil_problem *p, const stencil_overlap &plan,
                        overlapped_job<T> &job) {
  const int64_t r = p->radius, reach = p->steps * r, tile = 32 * plan.lane;
  const int64_t sector = 32 / (int64_t)sizeof(T);
  job.ends = plan.blocks.count > 0;
  job.halo = job.ends ? reach : (reach + 3) / 4 * 4;
  job.useful = (tile - job.halo - reach) / sector * sector;
  job.tiles = job.ends ? 2 : (p->columns + job.useful - 1) / job.useful;
  if (!job.ends) return;
  job.left = p->fixed > r ? p->fixed - r : 0;
  job.left_first = p->fixed < r ? -stencil_overlap_outside(p, p->steps) : job.left;
  /* What blocks leave out, also in a pass of fewer steps than the plan's. */
  job.left_end = p->fixed + plan.blocks.halo;
  job.right = p->columns - plan.blocks.halo;
}

/* What no step changes and no tile reads. */
template <typename T>
static rung_status copy_fixed(const rung_task *task, const overlapped_job<T> &job) {
  if (!job.ends || job.left == 0) return RUNG_OK;
  const dim3 grid((unsigned)((job.left + 255) / 256), stencil_grid_rows(job.s.rows));
  RUNG_LAUNCH(task, stencil_copy_rows<T>, grid, 256, 0, job.s.rows, job.left, job.in, job.in_stride,
              job.out, job.out_stride);
  return RUNG_OK;
}

/* One pass: all steps of the task's problem. */
template <typename T, int R>
static rung_status run_pass(const rung_task *task, const stencil_overlap &plan) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  auto job = stencil_job_of<overlapped_job, T>(task);
  place_tiles(p, plan, job);
  rung_status status = copy_fixed(task, job);
  if (status == RUNG_OK)
    status = plan.lane == STENCIL_LANE_FEW ? launch_warps<T, R, STENCIL_LANE_FEW>(task, job)
                                           : launch_warps<T, R, STENCIL_LANE_MANY>(task, job);
  if (status != RUNG_OK || !job.ends) return status;
  stencil_tiles tiles = plan.blocks;
  return RUNG_ENTRY(stencil_onchip_tiles)(task, &tiles);
}

/* Passes from one grid into the other, the last one into the output. */
template <typename T, int R>
static rung_status run(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const stencil_overlap plan = stencil_overlap_of(p, task->device);
  stencil_problem pass = *p;
  rung_task step = *task;
  step.problem = &pass;
  int64_t done = 0;
  for (int64_t n = 0; n < plan.passes; n++) {
    step.arrays[STENCIL_OUT] = task->arrays[STENCIL_OUT];
    if ((plan.passes - 1 - n) % 2 != 0) {
      step.arrays[STENCIL_OUT].data = (char *)task->scratch;
      step.arrays[STENCIL_OUT].stride[0] = p->columns;
    }
    pass.steps = p->steps - done < plan.steps ? p->steps - done : plan.steps;
    const rung_status status = run_pass<T, R>(&step, plan);
    if (status != RUNG_OK) return status;
    done += pass.steps;
    step.arrays[STENCIL_IN] = step.arrays[STENCIL_OUT];
    pass.start.own = false;
  }
  return RUNG_OK;
}

template <typename T>
static rung_status run_radius(const rung_task *task) {
#define RUN_RADIUS(r) return run<T, r>(task)
  STENCIL_BY_RADIUS(((const stencil_problem *)task->problem)->radius, RUN_RADIUS)
#undef RUN_RADIUS
}

extern "C" rung_status RUNG_ENTRY(stencil_overlapped)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run_radius<float>(task)
                                                                     : run_radius<double>(task);
}
