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
 * 0 are `slack`; only warps that hold some pay for them.
 *
 * As many rows as every multiprocessor can have the same number of are taken so. What is left is
 * cut into tiles of a warp each, for all of them: where 12 of 132 had a row more, the others waited
 * for it. */
#include "ops/reduce/cuda/sum.cuh"
#include "ops/stencil/cuda/stencil.cuh"

/* A block's numbers, the same for all its threads. What a block takes at a time is called a row: it
 * is one, or a tile of one. */
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
  stencil_tiles tiles;
  int64_t rows;              /* that blocks take whole; the rest is cut into */
  stencil_tiles rest;        /* tiles of a warp */
  int columns, fixed, slack; /* slack = threads * C - columns */
  bool moving;               /* what stands outside is looked up at every step */
};

/* What a block takes as number i: where it begins in the grid, and which of its columns go out. */
struct onchip_place {
  int64_t row, column;
  int low, high;
};

template <typename T>
static __device__ inline onchip_place onchip_place_of(const onchip_job<T> &job, int64_t i) {
  const stencil_tiles &tiles = job.tiles;
  if (tiles.count == 0) return {i, 0, 0, job.columns};
  const int64_t row = i / tiles.count, wanted = tiles.first + (i - row * tiles.count) * tiles.apart,
                column = wanted < tiles.last ? wanted : tiles.last;
  return {row, column, (int)(wanted - column) + tiles.halo, job.columns - tiles.halo};
}

/* Tile i of the rest, `wide` columns. The first and the last know their end of the row. */
template <typename T>
static __device__ inline onchip_place onchip_rest_place(const onchip_job<T> &job, int64_t i,
                                                        int wide) {
  const stencil_tiles &tiles = job.rest;
  const int64_t row = i / tiles.count, wanted = (i - row * tiles.count) * tiles.apart,
                column = wanted < tiles.last ? wanted : tiles.last;
  return {job.rows + row, column, column > 0 ? (int)(wanted - column) + tiles.halo : 0,
          column < tiles.last ? wide - tiles.halo : wide};
}

/* What threads show their neighbours in a turn: their first and their last R columns, 2 R elements
 * a thread, cut into pieces of up to 16 bytes (32 for two doubles, which is faster). A piece of all
 * threads lies together, so that neither stores nor loads of a warp meet in a bank. */
template <typename T, int R>
struct onchip_shown {
  enum {
    piece = R == 2 || (sizeof(T) == 4 && R % 2 == 0) ? 4 : 2,
    part = R % piece ? R % 2 ? 1 : 2 : piece
  };
  T *memory;
  int threads; /* of the block, and one beyond either end */

  /* Where element e of a thread is; thread 0 is beyond the block's first. */
  __device__ inline T *at(int thread, int e) const {
    return memory + (e / piece * threads + thread) * piece + e % piece;
  }
};

/* So many elements as one access. */
template <typename T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) onchip_piece {
  T v[N];
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
                                              const onchip_shown<T, R> &even,
                                              const onchip_shown<T, R> &odd) {
  const int beyond = blockDim.x + 1;
  if (threadIdx.x < R && job.s.edge == RUNG_EDGE_CONSTANT)
    *even.at(beyond, threadIdx.x) = *odd.at(beyond, threadIdx.x) = job.s.edge_value;
  if (job.s.edge == RUNG_EDGE_CONSTANT || my.warp_base >= R) return;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int j = my.base + c;
    if (j >= 0 && j < R) *even.at(beyond, j) = *odd.at(beyond, j) = my.y[c + R];
  }
}

/* Trades halos with the neighbours. `shown` is this turn's: of the block, or of the warp where that
 * has a tile of its own. */
template <int Shift, bool Snug, bool Tiled, typename T, int R, int C>
static __device__ inline void onchip_exchange(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                              const onchip_shown<T, R> &shown,
                                              onchip_ends<T, R> *ends) {
  constexpr int piece = onchip_shown<T, R>::piece, part = onchip_shown<T, R>::part;
  T *left = Shift ? my.y : my.halo, *right = Shift ? my.halo : my.y + C;
  const int me = (int)(Tiled ? threadIdx.x % 32 : threadIdx.x) + 1;
#pragma unroll
  for (int e = 0; e < 2 * R; e += piece) {
    onchip_piece<T, piece> mine;
#pragma unroll
    for (int k = 0; k < piece; k++)
      mine.v[k] = my.y[(e + k < R ? e + k : C - 2 * R + e + k) + Shift];
    *reinterpret_cast<onchip_piece<T, piece> *>(shown.at(me, e)) = mine;
  }
  if (!Snug && job.moving) onchip_show_ends<Shift>(job, my, ends->columns[Shift == 0]);
  if (Tiled)
    __syncwarp();
  else
    __syncthreads();
#pragma unroll
  for (int k = 0; k < R; k += part) {
    typedef onchip_piece<T, part> seen;
    const seen before = *reinterpret_cast<const seen *>(shown.at(me - 1, R + k)),
               after = *reinterpret_cast<const seen *>(shown.at(me + 1, k));
#pragma unroll
    for (int i = 0; i < part; i++) {
      left[k + i] = before.v[i];
      right[k + i] = after.v[i];
    }
  }
  if (!Snug && job.moving && (my.base < R || threadIdx.x == blockDim.x - 1))
    onchip_see_ends<Shift>(job, my, *ends, left, right);
}

/* One step, from left to right where Shift is R and from right to left where it is 0. With `Keep`
 * fixed columns and slack keep what they hold; without, at most a thread's first R columns do. */
template <int Shift, bool Keep, typename T, int R, int C>
static __device__ RUNG_ASIDE void onchip_step(const onchip_job<T> &job,
                                              onchip_columns<T, R, C> &my) {
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

template <int Shift, bool Snug, bool Tiled, typename T, int R, int C>
static __device__ inline void onchip_advance(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                             const onchip_shown<T, R> &shown,
                                             onchip_ends<T, R> *ends) {
  onchip_exchange<Shift, Snug, Tiled>(job, my, shown, ends);
  if (!Snug && my.warp_base < job.fixed)
    onchip_step<Shift, true>(job, my);
  else
    onchip_step<Shift, false>(job, my);
}

/* All steps of a row; the columns end where they began. */
template <bool Snug, bool Tiled, typename T, int R, int C>
static __device__ inline void onchip_steps(const onchip_job<T> &job, onchip_columns<T, R, C> &my,
                                           const onchip_shown<T, R> &even,
                                           const onchip_shown<T, R> &odd, onchip_ends<T, R> *ends) {
  for (int64_t pair = job.steps / 2; pair > 0; pair--) {
    onchip_advance<R, Snug, Tiled>(job, my, even, ends);
    onchip_advance<0, Snug, Tiled>(job, my, odd, ends);
  }
  if (job.steps % 2 == 0) return;
  onchip_advance<R, Snug, Tiled>(job, my, even, ends);
#pragma unroll
  for (int c = C - 1; c >= 0; c--) my.y[c + R] = my.y[c];
}

/* The same number everywhere, as most rows that start themselves have it but for a few columns. */
template <typename T, int C>
static __device__ inline void onchip_fill(int first, T value, T *row) {
#pragma unroll 6
  for (int c = 0; c < C; c++)
    if (first + c * 32 >= 0) row[first + c * 32] = value;
}

/* The start of the warp's part of a row or a tile, where that is not in memory. */
template <typename T, int C>
static __device__ __noinline__ void onchip_begin(const onchip_job<T> &job, int64_t row,
                                                 int64_t column, int first, T *to) {
#pragma unroll 2
  for (int c = 0; c < C; c++) {
    const int j = first + c * 32;
    if (j >= 0) to[j] = (T)stencil_own_start(job.start, row, column + j, job.s.columns);
  }
}

/* Starts bringing the warp's part of a row or a tile into shared memory, where its columns begin
 * at `warp_base`; the place's column stands at row[0]. */
template <typename T, int C>
static __device__ RUNG_ASIDE void onchip_fetch(const onchip_job<T> &job, const onchip_place &place,
                                               int warp_base, T *row) {
  const int first = warp_base + threadIdx.x % 32;
  const T *from = job.in + place.row * job.in_stride + place.column;
  if (job.start.own && !job.start.falling && place.column + warp_base >= job.start.fixed) {
    onchip_fill<T, C>(first, (T)job.start.value, row);
    return;
  }
  if (job.start.own) {
    onchip_begin<T, C>(job, place.row, place.column, first, row);
    return;
  }
#pragma unroll 6
  for (int c = 0; c < C; c++) {
    const int j = first + c * 32;
    if (j >= 0) rung_copy_async(row + j, from + j);
  }
  rung_copy_async_commit();
}

/* Waits for the warp's part of the next row and trades the finished one for it. */
template <typename T, int R, int C>
static __device__ RUNG_ASIDE void onchip_trade(onchip_columns<T, R, C> &my, T *row) {
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

/* The warp's part of what is in shared memory goes out in whole sectors. */
template <typename T, int C>
static __device__ inline void onchip_put(const onchip_job<T> &job, const onchip_place &place,
                                         int warp_base, const T *row) {
  const int first = warp_base + threadIdx.x % 32;
  T *to = job.out + place.row * job.out_stride + place.column;
#pragma unroll 6
  for (int c = 0; c < C; c++) {
    const int j = first + c * 32;
    if (j >= place.low && j < place.high) to[j] = row[j];
  }
}

/* The warps' tiles: of one tile a block, of those first that have no row left, as far as that does.
 * `shown` has room for two turns of all warps. */
template <typename T, int R, int C>
static __device__ __noinline__ void onchip_do_rest(const onchip_job<T> &job, T *row, T *shown) {
  enum { WIDE = 32 * C, PLACES = 32 + 2 };
  const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  const int warps = (int)blockDim.x / 32;
  const int64_t tiles = (job.s.rows - job.rows) * job.rest.count;
  const unsigned behind = (blockIdx.x + gridDim.x - (unsigned)(job.rows % gridDim.x)) % gridDim.x;
  const onchip_shown<T, R> even = {shown + 2 * warp * PLACES * 2 * R, PLACES},
                           odd = {even.memory + PLACES * 2 * R, PLACES};
  onchip_columns<T, R, C> my;
  row += warp * WIDE;
  my.base = lane * C;
  my.warp_base = 0;
  for (int64_t i = behind + warp * (int64_t)gridDim.x; i < tiles; i += warps * (int64_t)gridDim.x) {
    const onchip_place place = onchip_rest_place(job, i, WIDE);
    onchip_fetch<T, C>(job, place, 0, row);
    /* Beyond the row's end; beyond a tile's end that is not it anything may stand. */
    if (lane < R)
      *even.at(PLACES - 1, lane) = *odd.at(PLACES - 1, lane) =
          job.s.edge == RUNG_EDGE_CONSTANT ? job.s.edge_value
          : job.start.own ? (T)stencil_own_start(job.start, place.row, lane, job.s.columns)
                          : job.in[place.row * job.in_stride + lane];
    onchip_trade(my, row);
    my.base += (int)place.column;
    onchip_steps<true, true>(job, my, even, odd, (onchip_ends<T, R> *)NULL);
    my.base = lane * C;
    onchip_trade(my, row);
    onchip_put<T, C>(job, place, 0, row);
    __syncwarp();
  }
}

/* in, out: (rows, columns); means: (rows). The grid is any number of blocks, the block any whole
 * number of warps with 0 <= blockDim.x * C - columns. `count`: rows, or tiles of them in all, that
 * blocks take. */
template <typename T, int R, bool Snug, int C, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks)
    onchip_rows(const __grid_constant__ onchip_job<T> job, const int64_t count) {
  RUNG_DYNAMIC_SHARED(T, row);
  const int lane = threadIdx.x % 32;
  const int around = (int)blockDim.x + 2;
  const onchip_shown<T, R> even = {row + blockDim.x * C, around},
                           odd = {even.memory + 2 * R * around, around};
  T *fold = odd.memory + 2 * R * around;
  __shared__ onchip_ends<T, R> ends;
  if (!Snug) onchip_find_ends(job, ends);

  onchip_columns<T, R, C> my;
  my.base = (int)threadIdx.x * C - job.slack;
  my.warp_base = my.base - lane * C;
#pragma unroll
  for (int c = 0; c < C + R; c++) my.y[c] = 0;

  auto fetch = [&](int64_t k) {
    if (k < count) onchip_fetch<T, C>(job, onchip_place_of(job, k), my.warp_base, row);
  };
  fetch(blockIdx.x);
  /* The first turn has no row yet: it takes the first for none. */
  const int64_t none = blockIdx.x < count ? (int64_t)blockIdx.x - gridDim.x : count;
#pragma unroll 1
  for (int64_t i = none; i < count; i += gridDim.x) {
    if (i >= 0) {
      __syncthreads(); /* the row before is done with what was shown */
      if (Snug || !job.moving) onchip_set_ends(job, my, even, odd);
      onchip_steps<Snug, false>(job, my, even, odd, &ends);
    }
    onchip_trade(my, row);
    if (i >= 0) {
      onchip_put<T, C>(job, onchip_place_of(job, i), my.warp_base, row);
      if (job.means != NULL) {
        __syncthreads();
        const T sum = reduce_block_sum<T>(row, job.columns, fold);
        if (threadIdx.x == 0) job.means[i * job.means_stride] = (T)((double)sum / job.columns);
        __syncthreads();
      }
      __syncwarp();
    }
    fetch(i + 2 * (int64_t)gridDim.x);
  }
  if constexpr (Snug && R <= STENCIL_ONCHIP_RADIUS) {
    if (job.rest.count == 0) return;
    __syncthreads(); /* what was shown has been seen */
    onchip_do_rest<T, R, C>(job, row, even.memory);
  }
}

/* How many blocks of at most `Threads` threads a multiprocessor holds, which is to have registers
 * for `Blocks`. */
template <typename T, int R, bool Snug, int C, int Threads, int Blocks>
static rung_status make_ready(const rung_task *task, int threads, size_t shared, int *resident) {
  RUNG_ALLOW_SHARED(task, (onchip_rows<T, R, Snug, C, Threads, Blocks>), shared);
  RUNG_RESIDENT_BLOCKS(task, (onchip_rows<T, R, Snug, C, Threads, Blocks>), threads, shared,
                       resident);
  return RUNG_OK;
}

/* Queues the kernel; blocks take `count` rows or tiles of them. */
template <typename T, int R, bool Snug, int C, int Threads, int Blocks>
static rung_status launch(const rung_task *task, const onchip_job<T> &job, int64_t count,
                          size_t shared, int resident) {
  const int threads = (job.columns + job.slack) / C;
  const int64_t most = (int64_t)task->device->processors * resident,
                rest = (job.s.rows - job.rows) * job.rest.count,
                wanted = count > rest ? count : rest;
  const unsigned blocks = (unsigned)(wanted < most ? wanted : most);
  RUNG_LAUNCH(task, (onchip_rows<T, R, Snug, C, Threads, Blocks>), blocks, threads, shared, job,
              count);
  return RUNG_OK;
}

template <typename T>
static onchip_job<T> job_of(const rung_task *task, int columns) {
  auto job = stencil_job_of<onchip_job, T>(task);
  job.columns = columns;
  job.rows = job.s.rows;
  return job;
}

/* ---- whole rows ----------------------------------------------------------------------------- */

template <typename T, int R, bool Snug, int C, int Threads, int Blocks>
static rung_status launch_rows(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const rung_view *means = &task->arrays[STENCIL_MEANS];
  const stencil_onchip_shape shape = stencil_onchip_shape_of(p);
  const int threads = shape.threads;
  const size_t shared = stencil_onchip_shared(p, C, threads, means->count != 0);
  int resident = 0;
  onchip_job<T> job = job_of<T>(task, (int)p->columns);
  job.means = means->count ? (T *)means->data : NULL;
  job.means_stride = means->stride[0];
  job.fixed = (int)p->fixed;
  job.slack = threads * C - job.columns;
  job.moving = stencil_onchip_moves(p);
  /* Means are blocks'; and of a tile that is written others may still need what it was. */
  const bool apart =
      p->start.own || task->arrays[STENCIL_IN].data != task->arrays[STENCIL_OUT].data;
  const rung_status status =
      make_ready<T, R, Snug, C, Threads, Blocks>(task, threads, shared, &resident);
  if (status != RUNG_OK) return status;
  if (Snug && means->count == 0 && apart)
    job.rows -= stencil_onchip_rest(p, &shape, task->device, resident, &job.rest);
  return launch<T, R, Snug, C, Threads, Blocks>(task, job, job.rows, shared, resident);
}

template <int R>
static rung_status rows_f32(const rung_task *task, stencil_onchip_shape shape) {
  if (shape.columns == 8) return launch_rows<float, R, false, 8, 256, 4>(task);
  if (shape.snug) return launch_rows<float, R, true, 60, 256, 2>(task);
  return launch_rows<float, R, false, 30, 1024, 1>(task);
}

template <int R>
static rung_status rows_f64(const rung_task *task, stencil_onchip_shape shape) {
  if (shape.columns == 8) return launch_rows<double, R, false, 8, 256, 4>(task);
  if (shape.snug) return launch_rows<double, R, true, 30, 512, 1>(task);
  return launch_rows<double, R, false, 16, 1024, 1>(task);
}

template <int R>
static rung_status rows(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  const stencil_onchip_shape shape = stencil_onchip_shape_of(p);
  return p->dtype == RUNG_F32 ? rows_f32<R>(task, shape) : rows_f64<R>(task, shape);
}

extern "C" rung_status RUNG_ENTRY(stencil_onchip)(const rung_task *task) {
  switch (((const stencil_problem *)task->problem)->radius) {
    case 1:
      return rows<1>(task);
    case 2:
      return rows<2>(task);
    case 3:
      return rows<3>(task);
    default:
      return rows<4>(task);
  }
}

/* ---- tiles of rows -------------------------------------------------------------------------- */

/* Nothing stands beyond a tile: what a step spoils there is in its halos. */
template <typename T, int R, int C, int Threads, int Blocks>
static rung_status launch_tiles(const rung_task *task, const stencil_tiles &tiles) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  onchip_job<T> job = job_of<T>(task, tiles.threads * C);
  job.tiles = tiles;
  const size_t shared = stencil_onchip_shared(p, C, tiles.threads, false);
  int resident = 0;
  const rung_status status =
      make_ready<T, R, true, C, Threads, Blocks>(task, tiles.threads, shared, &resident);
  if (status != RUNG_OK) return status;
  return launch<T, R, true, C, Threads, Blocks>(task, job, p->rows * tiles.count, shared, resident);
}

template <int R>
static rung_status tiles_of(const rung_task *task, const stencil_tiles &tiles) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  if (p->dtype == RUNG_F64) return launch_tiles<double, R, 30, 512, 1>(task, tiles);
  if constexpr (R <= STENCIL_ONCHIP_RADIUS)
    return launch_tiles<float, R, 60, 256, 2>(task, tiles);
  else
    return launch_tiles<float, R, 30, 512, 2>(task, tiles);
}

extern "C" rung_status RUNG_ENTRY(stencil_onchip_tiles)(const rung_task *task,
                                                        const stencil_tiles *tiles) {
#define TILES_OF(r) return tiles_of<r>(task, *tiles)
  STENCIL_BY_RADIUS(((const stencil_problem *)task->problem)->radius, TILES_OF)
#undef TILES_OF
}
