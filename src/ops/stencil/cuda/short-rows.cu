/* Rung `short-rows`: a block has as many rows as its threads have elements, in shared memory twice,
 * and makes all steps of them there: the grid is read and written once, and threads of a warp are
 * neighbours whatever rows they are of. What stands beside a row lies beside it there: whoever
 * makes an element that an edge rule asks for puts it there as well. */
#include "ops/stencil/cuda/stencil.cuh"

enum { THREADS = STENCIL_SHORT_THREADS, EACH = STENCIL_SHORT_EACH };

template <typename T>
struct short_job {
  stencil_numbers<T> s;
  stencil_start start;
  int64_t steps;
  const T *in;
  T *out;
  int64_t in_stride, out_stride;
  int rows, pitch; /* of a block, in shared memory */
};

/* One of a thread's elements: where it is in the block's rows, and in shared memory. */
struct short_place {
  int row, column, at;
};

/* Where place h beside a row lies, from its first column: there are `radius` on its left, and then
 * as many on its right. */
static __device__ inline int short_beside(int h, int radius, int columns) {
  return h < radius ? -1 - h : columns + h - radius;
}

/* `from[h]`: the column that stands beside a row at place h; -1: the edge's constant. */
template <typename T>
static __device__ inline void short_put(T *grid, const short_place &place, int radius, int columns,
                                        const int *from, T value) {
  grid[place.at] = value;
  if (place.column > radius && place.column < columns - 1 - radius) return;
#pragma unroll 1
  for (int h = 0; h < 2 * radius; h++)
    if (from[h] == place.column)
      grid[place.at - place.column + short_beside(h, radius, columns)] = value;
}

/* R: the radius; 0: any. */
template <typename T, int R>
__global__ void __launch_bounds__(THREADS) stencil_short(const short_job<T> job) {
  RUNG_DYNAMIC_SHARED(T, shared);
  __shared__ int from[2 * RUNG_STENCIL_MAX_RADIUS];
  const int radius = R > 0 ? R : job.s.radius, columns = (int)job.s.columns;
  const int thread = (int)threadIdx.x, size = job.rows * job.pitch;
  if (thread < 2 * radius)
    from[thread] = (int)rung_edge_index(job.s.edge, short_beside(thread, radius, columns), columns);
  __syncthreads();
  for (int k = thread; k < job.rows * 2 * radius; k += THREADS) {
    const int row = k / (2 * radius), h = k - row * 2 * radius;
    if (from[h] >= 0) continue;
    T *beside = shared + row * job.pitch + radius + short_beside(h, radius, columns);
    beside[0] = beside[size] = job.s.edge_value;
  }
  short_place places[EACH];
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int k = e * THREADS + thread, row = k / columns, column = k - row * columns;
    places[e] = {row, column, row * job.pitch + radius + column};
  }
  for (int64_t first = (int64_t)blockIdx.x * job.rows; first < job.s.rows;
       first += (int64_t)gridDim.x * job.rows) {
    const int64_t left = job.s.rows - first;
    const int rows = left < job.rows ? (int)left : job.rows;
    T mine[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      if (places[e].row >= rows) continue;
      const int64_t row = first + places[e].row;
      mine[e] = job.start.own
                    ? (T)stencil_own_start(job.start, row, places[e].column, job.s.columns)
                    : job.in[row * job.in_stride + places[e].column];
    }
    T *old = shared, *fresh = shared + size;
    for (int64_t step = 0; step < job.steps; step++) {
      /* Both grids are free: a step reads one, and the other has been read in the step before. */
      if (step == 0) {
#pragma unroll
        for (int e = 0; e < EACH; e++)
          if (places[e].row < rows) short_put(old, places[e], radius, columns, from, mine[e]);
      }
      __syncthreads();
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        if (places[e].row >= rows) continue;
        const T *taps = old + places[e].at - radius;
        const T made = stencil_chain::sum(job.s, 2 * radius + 1, [&](int k) { return taps[k]; });
        if (places[e].column >= job.s.fixed) mine[e] = made;
        if (step + 1 < job.steps) short_put(fresh, places[e], radius, columns, from, mine[e]);
      }
      T *const other = old;
      old = fresh;
      fresh = other;
    }
    __syncthreads(); /* the last step's reads are done before the next rows come */
#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (places[e].row < rows)
        job.out[(first + places[e].row) * job.out_stride + places[e].column] = mine[e];
  }
}

template <typename T>
static rung_status run(const rung_task *task) {
  const stencil_problem *p = (const stencil_problem *)task->problem;
  auto job = stencil_job_of<short_job, T>(task);
  job.pitch = (int)p->columns + 2 * p->radius;
  job.rows = stencil_short_rows_of(p, task->device);
  const int64_t strips = (p->rows + job.rows - 1) / job.rows,
                most = (int64_t)task->device->processors * 32;
  const unsigned blocks = (unsigned)(strips < most ? strips : most);
  const size_t bytes = 2 * sizeof(T) * (size_t)job.rows * (size_t)job.pitch;
  if (p->radius == 1)
    RUNG_LAUNCH(task, (stencil_short<T, 1>), blocks, THREADS, bytes, job);
  else if (p->radius == 2)
    RUNG_LAUNCH(task, (stencil_short<T, 2>), blocks, THREADS, bytes, job);
  else
    RUNG_LAUNCH(task, (stencil_short<T, 0>), blocks, THREADS, bytes, job);
  return RUNG_OK;
}

extern "C" rung_status RUNG_ENTRY(stencil_short_rows)(const rung_task *task) {
  return ((const stencil_problem *)task->problem)->dtype == RUNG_F32 ? run<float>(task)
                                                                     : run<double>(task);
}
