/* Rung `onchip`: a row lives in the registers of one block for all p steps; memory sees it once in
 * and once out. A thread owns C neighbouring columns. Between steps it gets the R columns on
 * either side from its neighbour lanes by shuffle, and across warps through shared memory: one
 * barrier a step, for the exchange area is doubled.
 *
 * Blocks stay and take row after row: while a row is being computed the next one is copied into
 * shared memory behind its back; then every warp trades its finished columns for the new ones
 * there, and the finished row leaves in whole sectors.
 *
 * The row is pushed to the right end of the block, so that its last column is the last thread's
 * last: what the edge rule brings in on the right is a halo like any other. Places left of column
 * 0 are `slack`; only warps that hold some pay for them. */
#include "ops/rowmeans/cuda/fold.cuh"
#include "ops/stencil/cuda/stencil.cuh"

/* A block's numbers, the same for all its threads. */
template <typename T>
struct onchip_job {
  stencil_numbers<T> s;
  stencil_start start;
  int64_t steps;
  const T *in;
  int64_t in_stride;
  T *out;
  int64_t out_stride;
  T *means; /* NULL: not wanted */
  int64_t means_stride;
  int columns, fixed, slack; /* slack = threads * C - columns */
  bool moving;               /* what stands outside changes with every step */
};

/* Elements of dynamic shared memory: the row, and the lanes of its sum. */
static inline size_t onchip_shared_elements(int threads, int C, bool means) {
  return (size_t)threads * C + (means ? RUNG_SUM_LANES : 0);
}

/* What warps show each other, twice, so that one barrier a step is enough. Warp w's first R columns
 * and then its last R are in edge[.][w + 1]; what stands left of the row is in the last R of
 * edge[.][0], what stands right of it in the first R of edge[.][warps + 1]. */
template <typename T, int R>
struct onchip_shown {
  T edge[2][32 + 2][2 * R];
  T ends[2][2 * (R + 1)]; /* the row's first R+1 columns, its last R+1 backwards */
  int places[2 * R];      /* which of `ends` stands at columns -1, -2 ..., m, m + 1 ...; -1: none */
};

template <typename T, int R, int C>
struct onchip_columns {
  T x[C], left[R], right[R]; /* the thread's columns, and its neighbours' nearest */
  int base;                  /* the column of x[0]; negative in the slack */
  int warp_base;             /* of the warp's first thread */
};

/* Edges whose outside changes with every step go by way of `ends`: everything an edge rule can ask
 * for is there. */
template <typename T, int R>
static __device__ inline void onchip_find_ends(const onchip_job<T> &job,
                                               onchip_shown<T, R> &shown) {
  const int k = threadIdx.x, m = job.columns;
  if (k >= 2 * R) return;
  const int from = (int)stencil_outside(job.s.edge, k < R ? -1 - k : m + k - R, m);
  shown.places[k] = from < 0 ? -1 : from <= R ? from : R + 1 + (m - 1 - from);
}

template <typename T, int R, int C>
static __device__ inline void onchip_show_ends(const onchip_job<T> &job,
                                               const onchip_columns<T, R, C> &my, T *ends) {
#pragma unroll
  for (int k = 0; k <= R; k++)
    if (threadIdx.x == blockDim.x - 1 && k < job.columns) ends[R + 1 + k] = my.x[C - 1 - k];
  if (my.warp_base > R) return;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j >= 0 && j <= R) ends[j] = my.x[c];
  }
}

/* Puts what stands outside into the halos of the first and last thread and into the slack next to
 * column 0; before the shuffles, so that they carry it like any column. */
template <typename T, int R, int C>
static __device__ inline void onchip_see_ends(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                              onchip_shown<T, R> &shown, int turn) {
  auto outside = [&](int k) {
    const int place = shown.places[k];
    return place < 0 ? job.s.edge_value : shown.ends[turn][place];
  };
  if (threadIdx.x % 32 == 0 && my.warp_base <= 0) {
#pragma unroll
    for (int k = 0; k < R; k++)
      if (k >= job.slack) shown.edge[turn][0][R + k] = outside(R - 1 - k + job.slack);
  }
  if (threadIdx.x == blockDim.x - 1) {
#pragma unroll
    for (int k = 0; k < R; k++) shown.edge[turn][blockDim.x / 32 + 1][k] = outside(R + k);
  }
  if (my.warp_base >= 0) return;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j < 0 && j >= -R) my.x[c] = outside(-1 - j);
  }
}

/* Edges whose outside stays what it is (a constant; a wrap onto fixed columns) are set once a
 * row. */
template <typename T, int R, int C>
static __device__ inline void onchip_set_ends(const onchip_job<T> &job,
                                              const onchip_columns<T, R, C> &my,
                                              onchip_shown<T, R> &shown) {
  const int beyond = blockDim.x / 32 + 1;
  if (threadIdx.x < 2 * R) {
    const int turn = threadIdx.x / R, k = threadIdx.x % R;
    shown.edge[turn][0][R + k] = job.s.edge_value;
    if (job.s.edge == RUNG_EDGE_CONSTANT) shown.edge[turn][beyond][k] = job.s.edge_value;
  }
  if (job.s.edge == RUNG_EDGE_CONSTANT || my.warp_base > R) return;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j >= 0 && j < R) shown.edge[0][beyond][j] = shown.edge[1][beyond][j] = my.x[c];
  }
}

/* Trades halos with the neighbour lanes and, at a warp's ends, the neighbour warps. */
template <typename T, int R, int C>
static __device__ inline void onchip_exchange(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                              onchip_shown<T, R> &shown, int turn) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool first = lane == 0, last = lane == 31;
  if (first || last) {
    T *show = &shown.edge[turn][warp + 1][first ? 0 : R];
#pragma unroll
    for (int k = 0; k < R; k++) show[k] = first ? my.x[k] : my.x[C - R + k];
  }
  if (job.moving) onchip_show_ends(job, my, shown.ends[turn]);
  __syncthreads();
  if (job.moving) onchip_see_ends(job, my, shown, turn);
#pragma unroll
  for (int k = 0; k < R; k++) {
    my.left[k] = __shfl_up_sync(0xffffffffu, my.x[C - R + k], 1);
    my.right[k] = __shfl_down_sync(0xffffffffu, my.x[k], 1);
  }
  if (first || last) {
    const T *see = first ? &shown.edge[turn][warp][R] : &shown.edge[turn][warp + 2][0];
#pragma unroll
    for (int k = 0; k < R; k++) {
      const T value = see[k];
      if (first)
        my.left[k] = value;
      else
        my.right[k] = value;
    }
  }
}

/* One step in place; `behind` holds the last R old values passed. With `Keep`, fixed columns and
 * slack keep what they hold. */
template <typename T, int R, int C, bool Keep>
static __device__ inline void onchip_step(const onchip_job<T> &job, onchip_columns<T, R, C> &my) {
  T behind[R];
#pragma unroll
  for (int k = 0; k < R; k++) behind[k] = my.left[k];
#pragma unroll
  for (int c = 0; c < C; c++) {
    const T old = my.x[c];
    T made = stencil_chain::sum(job.s, 2 * R + 1, [&](int k) {
      const int at = c + k - R;
      if (k < R) return behind[k];
      return at < C ? my.x[at < C ? at : 0] : my.right[at < C ? 0 : at - C];
    });
    if ((Keep || c < R) && my.base + c < job.fixed) made = old;
    my.x[c] = made;
#pragma unroll
    for (int k = 0; k + 1 < R; k++) behind[k] = behind[k + 1];
    behind[R - 1] = old;
  }
}

/* Starts bringing the warp's part of row i into shared memory. */
template <typename T, int C>
static __device__ inline void onchip_fetch(const onchip_job<T> &job, int64_t i, int warp_base,
                                           T *row) {
  const int first = warp_base + threadIdx.x % 32;
  const T *from = job.in + i * job.in_stride;
#pragma unroll 6
  for (int c = 0; c < C; c++) {
    const int j = first + c * 32;
    if (j < 0) continue;
    if (job.start.own)
      row[j] = (T)stencil_own_start(job.start, i, j, job.columns);
    else
      rung_copy_async(row + j, from + j);
  }
  rung_copy_async_commit();
}

/* Waits for the warp's part of the next row and trades the finished one for it. */
template <typename T, int R, int C>
static __device__ inline void onchip_trade(onchip_columns<T, R, C> &my, T *row) {
  rung_copy_async_wait();
  __syncwarp();
#pragma unroll
  for (int c = 0; c < C; c++) {
    if (my.base + c < 0) continue;
    const T next = row[my.base + c];
    row[my.base + c] = my.x[c];
    my.x[c] = next;
  }
  __syncwarp();
}

/* in, out: (rows, columns); means: (rows). The grid is any number of blocks, the block any whole
 * number of warps with 0 <= blockDim.x * C - columns. */
template <typename T, int R, int C, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks) onchip_rows(const onchip_job<T> job) {
  RUNG_DYNAMIC_SHARED(T, row);
  const int lane = threadIdx.x % 32;
  T *fold = row + blockDim.x * C;
  __shared__ onchip_shown<T, R> shown;
  onchip_find_ends(job, shown);

  onchip_columns<T, R, C> my;
  my.base = (int)threadIdx.x * C - job.slack;
  my.warp_base = my.base - lane * C;
#pragma unroll
  for (int c = 0; c < C; c++) my.x[c] = 0;

  int turn = 0;
  int64_t i = blockIdx.x;
  onchip_fetch<T, C>(job, i, my.warp_base, row);
  onchip_trade(my, row);
  if (i + gridDim.x < job.s.rows) onchip_fetch<T, C>(job, i + gridDim.x, my.warp_base, row);
  for (; i < job.s.rows; i += gridDim.x) {
    __syncthreads(); /* the row before is done with what was shown */
    if (!job.moving) onchip_set_ends(job, my, shown);
    for (int64_t step = 0; step < job.steps; step++) {
      onchip_exchange(job, my, shown, turn);
      if (my.warp_base < job.fixed && (job.slack > 0 || job.fixed > R))
        onchip_step<T, R, C, true>(job, my);
      else
        onchip_step<T, R, C, false>(job, my);
      turn ^= 1;
    }
    onchip_trade(my, row);
    T *to = job.out + i * job.out_stride;
#pragma unroll 6
    for (int c = 0; c < C; c++) {
      const int j = my.warp_base + lane + c * 32;
      if (j >= 0) to[j] = row[j];
    }
    if (job.means != NULL) {
      __syncthreads();
      const T sum = rowmeans_block_sum<T>(row, job.columns, fold);
      if (threadIdx.x == 0) job.means[i * job.means_stride] = (T)((double)sum / job.columns);
      __syncthreads();
    }
    __syncwarp();
    if (i + 2 * (int64_t)gridDim.x < job.s.rows)
      onchip_fetch<T, C>(job, i + 2 * (int64_t)gridDim.x, my.warp_base, row);
  }
}

/* The shapes of a block: columns a thread, threads at most, blocks a multiprocessor to leave
 * registers for. Few columns for short rows; many, so that halos and barriers cost little, for
 * long ones. */
template <typename T, int R, int C, int Threads, int Blocks>
static rung_status launch_shape(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN], *out = &task->arrays[STENCIL_OUT];
  const rung_view *means = &task->arrays[STENCIL_MEANS];
  const int threads = (int)((p->columns + 32 * C - 1) / (32 * C) * 32);
  onchip_job<T> job = {};
  job.s = stencil_numbers_of<T>(p, true);
  job.start = p->start;
  job.steps = p->steps;
  job.in = (const T *)in->data;
  job.in_stride = in->stride[0];
  job.out = (T *)out->data;
  job.out_stride = out->stride[0];
  job.means = means->count ? (T *)means->data : NULL;
  job.means_stride = means->stride[0];
  job.columns = (int)p->columns;
  job.fixed = (int)p->fixed;
  job.slack = threads * C - job.columns;
  job.moving = p->edge != RUNG_EDGE_CONSTANT && !(p->edge == RUNG_EDGE_WRAP && p->fixed >= R);
  const size_t shared = sizeof(T) * onchip_shared_elements(threads, C, means->count != 0);
  int resident = 0;
  RUNG_ALLOW_SHARED(task, (onchip_rows<T, R, C, Threads, Blocks>), shared);
  RUNG_RESIDENT_BLOCKS(task, (onchip_rows<T, R, C, Threads, Blocks>), threads, shared, &resident);
  const int64_t most = (int64_t)task->device->processors * resident;
  const unsigned blocks = (unsigned)(p->rows < most ? p->rows : most);
  RUNG_LAUNCH(task, (onchip_rows<T, R, C, Threads, Blocks>), blocks, threads, shared, job);
  return RUNG_OK;
}

template <int R>
static rung_status run_f32(const rung_task *task, int64_t columns) {
  if (columns <= 8 * 256) return launch_shape<float, R, 8, 256, 4>(task);
  if (columns <= 30 * 512) return launch_shape<float, R, 30, 512, 2>(task);
  return launch_shape<float, R, 30, 1024, 1>(task);
}

template <int R>
static rung_status run_f64(const rung_task *task, int64_t columns) {
  if (columns <= 8 * 256) return launch_shape<double, R, 8, 256, 4>(task);
  if (columns <= 30 * 512) return launch_shape<double, R, 30, 512, 1>(task);
  return launch_shape<double, R, 16, 1024, 1>(task);
}

template <int R>
static rung_status run(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  return p->dtype == RUNG_F32 ? run_f32<R>(task, p->columns) : run_f64<R>(task, p->columns);
}

extern "C" rung_status RUNG_ENTRY(stencil_onchip)(const rung_task *task) {
  switch (((const stencil_problem *)task->problem)->radius) {
    case 1:
      return run<1>(task);
    case 2:
      return run<2>(task);
    case 3:
      return run<3>(task);
    default:
      return run<4>(task);
  }
}
