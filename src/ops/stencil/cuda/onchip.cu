/* Rung `onchip`: a row lives in the registers of one block for all p steps; memory sees it once in
 * and once out. A thread owns C neighbouring columns. Between steps it shows its
 * outermost R columns on either side to its neighbours in shared memory: one wide store, two loads
 * and one barrier a step, for the exchange area is doubled. (Shuffles between lanes and shared
 * memory only between warps took 45 instructions where this takes 4.)
 *
 * Blocks stay and take row after row: while a row is being computed the next one is copied into
 * shared memory behind its back; then every warp trades its finished columns for the new ones
 * there, and the finished row leaves in whole sectors.
 *
 * The row is pushed to the right end of the block, so that its last column is the last thread's
 * last: what the edge rule brings in on the right is a halo like any other. Places left of column
 * 0 are `slack`; only warps that hold some pay for them. */
#include "ops/reduce/cuda/sum.cuh"
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
  bool moving;               /* what stands outside is looked up at every step */
};

/* What a thread shows its neighbours: its first and its last R columns. */
template <typename T, int R>
struct alignas(R % 2 ? sizeof(T) : 2 * sizeof(T)) onchip_shown {
  T first[R], last[R];
};

/* Edges whose outside changes with every step go by way of `ends`, where everything is that an
 * edge rule can ask for: the row's first R+1 columns and its last R+1 backwards. places[k] says
 * which of them stands at columns -1, -2 ..., m, m + 1 ...; -1: the edge's constant. */
template <typename T, int R>
struct onchip_ends {
  T columns[2][2 * (R + 1)];
  int places[2 * R];
};

/* A thread's columns. A step moves them by R registers, so that a new value goes where the oldest
 * one is no longer needed and nothing is ever copied: before an even step (Shift = R) column c is
 * in y[c + R] and the left halo goes below it, before an odd one (Shift = 0) it is in y[c] and the
 * right halo goes above. The other halo is `halo`. */
template <typename T, int R, int C>
struct onchip_columns {
  T y[C + R], halo[R];
  int base;      /* the column of the thread's first; negative in the slack */
  int warp_base; /* of the warp's first thread */
};

template <typename T, int R>
static __device__ inline void onchip_find_ends(const onchip_job<T> &job, onchip_ends<T, R> &ends) {
  const int k = threadIdx.x, m = job.columns;
  if (k >= 2 * R) return;
  const int from = (int)rung_edge_index(job.s.edge, k < R ? -1 - k : m + k - R, m);
  ends.places[k] = from < 0 ? -1 : from <= R ? from : R + 1 + (m - 1 - from);
}

template <int Shift, typename T, int R, int C>
static __device__ inline void onchip_show_ends(const onchip_job<T> &job,
                                               const onchip_columns<T, R, C> &my, T *ends) {
#pragma unroll
  for (int k = 0; k <= R; k++)
    if (threadIdx.x == blockDim.x - 1 && k < job.columns) ends[R + 1 + k] = my.y[C - 1 - k + Shift];
  if (my.warp_base > R) return;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j >= 0 && j <= R) ends[j] = my.y[c + Shift];
  }
}

/* Puts what stands outside into the halos and into the slack next to column 0. */
template <int Shift, typename T, int R, int C>
static __device__ inline void onchip_see_ends(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                              const onchip_ends<T, R> &ends, T *left, T *right) {
  auto outside = [&](int k) {
    const int place = ends.places[k];
    return place < 0 ? job.s.edge_value : ends.columns[Shift == 0][place];
  };
#pragma unroll
  for (int k = 0; k < R; k++) {
    const int j = my.base - R + k;
    if (j < 0 && j >= -R) left[k] = outside(-1 - j);
    if (threadIdx.x == blockDim.x - 1) right[k] = outside(R + k);
  }
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j < 0 && j >= -R) my.y[c + Shift] = outside(-1 - j);
  }
}

/* An outside that stays what it is, a constant or fixed columns, is set once a row, in both turns.
 * What stands left of the row has no effect then. */
template <typename T, int R, int C>
static __device__ inline void onchip_set_ends(const onchip_job<T> &job,
                                              const onchip_columns<T, R, C> &my,
                                              onchip_shown<T, R> *shown) {
  onchip_shown<T, R> *other = shown + blockDim.x + 2;
  const int beyond = blockDim.x + 1;
  if (threadIdx.x < R && job.s.edge == RUNG_EDGE_CONSTANT)
    shown[beyond].first[threadIdx.x] = other[beyond].first[threadIdx.x] = job.s.edge_value;
  if (job.s.edge == RUNG_EDGE_CONSTANT || my.warp_base >= R) return;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j >= 0 && j < R) shown[beyond].first[j] = other[beyond].first[j] = my.y[c + R];
  }
}

/* Trades halos with the neighbours. `shown` is this thread's place for this turn. */
template <int Shift, bool Snug, typename T, int R, int C>
static __device__ inline void onchip_exchange(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                              onchip_shown<T, R> *shown, onchip_ends<T, R> *ends) {
  T *left = Shift ? my.y : my.halo, *right = Shift ? my.halo : my.y + C;
  onchip_shown<T, R> mine;
#pragma unroll
  for (int k = 0; k < R; k++) {
    mine.first[k] = my.y[k + Shift];
    mine.last[k] = my.y[C - R + k + Shift];
  }
  *shown = mine;
  if (!Snug && job.moving) onchip_show_ends<Shift>(job, my, ends->columns[Shift == 0]);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < R; k++) {
    left[k] = shown[-1].last[k];
    right[k] = shown[1].first[k];
  }
  if (!Snug && job.moving && (my.base < R || threadIdx.x == blockDim.x - 1))
    onchip_see_ends<Shift>(job, my, *ends, left, right);
}

/* One step, from left to right where Shift is R and from right to left where it is 0. With `Keep`
 * fixed columns and slack keep what they hold; without, at most a thread's first R columns do. */
template <int Shift, bool Keep, typename T, int R, int C>
static __device__ inline void onchip_step(const onchip_job<T> &job, onchip_columns<T, R, C> &my) {
#pragma unroll
  for (int i = 0; i < C; i++) {
    const int c = Shift ? i : C - 1 - i;
    const T old = my.y[c + Shift];
    T made = stencil_chain::sum(job.s, 2 * R + 1, [&](int k) {
      const int at = c + k - R; /* the column, from the thread's first */
      if (Shift) return at < C ? my.y[at + R] : my.halo[at < C ? 0 : at - C];
      return at < 0 ? my.halo[at < 0 ? at + R : 0] : my.y[at < 0 ? 0 : at];
    });
    if ((Keep || c < R) && my.base + c < job.fixed) made = old;
    my.y[Shift ? c : c + R] = made;
  }
}

template <int Shift, bool Snug, typename T, int R, int C>
static __device__ inline void onchip_advance(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                             onchip_shown<T, R> *shown, onchip_ends<T, R> *ends) {
  onchip_exchange<Shift, Snug>(job, my, shown, ends);
  if (!Snug && my.warp_base < job.fixed)
    onchip_step<Shift, true>(job, my);
  else
    onchip_step<Shift, false>(job, my);
}

/* All steps of a row; the columns end where they began. */
template <bool Snug, typename T, int R, int C>
static __device__ inline void onchip_steps(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                           onchip_shown<T, R> *shown, onchip_ends<T, R> *ends) {
  onchip_shown<T, R> *even = shown + 1 + threadIdx.x, *odd = even + blockDim.x + 2;
#pragma unroll 1
  for (int64_t left = job.steps; left > 0; left -= 2) {
    onchip_advance<R, Snug>(job, my, even, ends);
    if (left == 1) {
#pragma unroll
      for (int c = C - 1; c >= 0; c--) my.y[c + R] = my.y[c];
      return;
    }
    onchip_advance<0, Snug>(job, my, odd, ends);
  }
}

/* Starts bringing the warp's part of row i into shared memory. */
template <typename T, int C>
static __device__ inline void onchip_fetch(const onchip_job<T> &job, int64_t i, int warp_base,
                                           T *row) {
  const int first = warp_base + threadIdx.x % 32;
  const T *from = job.in + i * job.in_stride;
  if (job.start.own) {
#pragma unroll 1
    for (int c = 0; c < C; c++) {
      const int j = first + c * 32;
      if (j >= 0) row[j] = (T)stencil_own_start(job.start, i, j, job.columns);
    }
  } else {
#pragma unroll 6
    for (int c = 0; c < C; c++) {
      const int j = first + c * 32;
      if (j >= 0) rung_copy_async(row + j, from + j);
    }
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
    row[my.base + c] = my.y[c + R];
    my.y[c + R] = next;
  }
  __syncwarp();
}

/* in, out: (rows, columns); means: (rows). The grid is any number of blocks, the block any whole
 * number of warps with 0 <= blockDim.x * C - columns. */
template <typename T, int R, bool Snug, int C, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks) onchip_rows(const onchip_job<T> job) {
  RUNG_DYNAMIC_SHARED(T, row);
  const int lane = threadIdx.x % 32;
  onchip_shown<T, R> *shown = reinterpret_cast<onchip_shown<T, R> *>(row + blockDim.x * C);
  T *fold = reinterpret_cast<T *>(shown + 2 * (blockDim.x + 2));
  __shared__ onchip_ends<T, R> ends;
  if (!Snug) onchip_find_ends(job, ends);

  onchip_columns<T, R, C> my;
  my.base = (int)threadIdx.x * C - job.slack;
  my.warp_base = my.base - lane * C;
#pragma unroll
  for (int c = 0; c < C + R; c++) my.y[c] = 0;

  int64_t i = blockIdx.x;
  onchip_fetch<T, C>(job, i, my.warp_base, row);
  onchip_trade(my, row);
  if (i + gridDim.x < job.s.rows) onchip_fetch<T, C>(job, i + gridDim.x, my.warp_base, row);
  for (; i < job.s.rows; i += gridDim.x) {
    __syncthreads(); /* the row before is done with what was shown */
    if (Snug || !job.moving) onchip_set_ends(job, my, shown);
    onchip_steps<Snug>(job, my, shown, &ends);
    onchip_trade(my, row);
    T *to = job.out + i * job.out_stride;
#pragma unroll 6
    for (int c = 0; c < C; c++) {
      const int j = my.warp_base + lane + c * 32;
      if (j >= 0) to[j] = row[j];
    }
    if (job.means != NULL) {
      __syncthreads();
      const T sum = reduce_block_sum<T>(row, job.columns, fold);
      if (threadIdx.x == 0) job.means[i * job.means_stride] = (T)((double)sum / job.columns);
      __syncthreads();
    }
    __syncwarp();
    if (i + 2 * (int64_t)gridDim.x < job.s.rows)
      onchip_fetch<T, C>(job, i + 2 * (int64_t)gridDim.x, my.warp_base, row);
  }
}

/* A block of `Threads` threads at most, `Blocks` of which a multiprocessor is to have registers
 * for. */
template <typename T, int R, bool Snug, int C, int Threads, int Blocks>
static rung_status launch_shape(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *in = &task->arrays[STENCIL_IN], *out = &task->arrays[STENCIL_OUT];
  const rung_view *means = &task->arrays[STENCIL_MEANS];
  const int threads = stencil_onchip_shape_of(p).threads;
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
  job.moving = stencil_onchip_moves(p);
  const size_t shared = stencil_onchip_shared(p, C, threads, means->count != 0);
  int resident = 0;
  RUNG_ALLOW_SHARED(task, (onchip_rows<T, R, Snug, C, Threads, Blocks>), shared);
  RUNG_RESIDENT_BLOCKS(task, (onchip_rows<T, R, Snug, C, Threads, Blocks>), threads, shared,
                       &resident);
  const int64_t most = (int64_t)task->device->processors * resident;
  const unsigned blocks = (unsigned)(p->rows < most ? p->rows : most);
  RUNG_LAUNCH(task, (onchip_rows<T, R, Snug, C, Threads, Blocks>), blocks, threads, shared, job);
  return RUNG_OK;
}

template <int R>
static rung_status run_f32(const rung_task *task, stencil_onchip_shape shape) {
  if (shape.columns == 8) return launch_shape<float, R, false, 8, 256, 4>(task);
  if (shape.snug) return launch_shape<float, R, true, 60, 256, 2>(task);
  if (shape.most_threads == 512) return launch_shape<float, R, false, 30, 512, 2>(task);
  return launch_shape<float, R, false, 30, 1024, 1>(task);
}

template <int R>
static rung_status run_f64(const rung_task *task, stencil_onchip_shape shape) {
  if (shape.columns == 8) return launch_shape<double, R, false, 8, 256, 4>(task);
  if (shape.snug) return launch_shape<double, R, true, 30, 512, 1>(task);
  return launch_shape<double, R, false, 16, 1024, 1>(task);
}

template <int R>
static rung_status run(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const stencil_onchip_shape shape = stencil_onchip_shape_of(p);
  return p->dtype == RUNG_F32 ? run_f32<R>(task, shape) : run_f64<R>(task, shape);
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
