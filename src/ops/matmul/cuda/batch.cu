/* Rung `batch`: products of small matrices, a warp each. While one is worked on the next one's A
 * and B come in, so that nothing but the memory is waited for. Longer k comes in pieces, and one
 * product of few rows or columns is a batch of its pieces. */
#include "ops/matmul/cuda/feed.cuh"

/* Matrices of at most SIDE rows, columns and steps of k at once; of a lane's rows every eighth, of
 * its quads of columns every fourth. */
template <typename T_, int SIDE_>
struct small {
  typedef T_ T;
  static constexpr int SIDE = SIDE_, QUAD = matmul_quad<T>::WIDTH, PITCH = SIDE + QUAD,
                       PANEL = SIDE * PITCH, WARPS = 4, THREADS = WARPS * 32, DOWN = SIDE / 8,
                       ACROSS = SIDE / 4, BYTES = WARPS * 2 * 2 * PANEL * (int)sizeof(T);
};

/* `lines` runs of `count` elements that go on in memory, `apart`, to rows of shared memory; or,
 * what goes on being the other dimension, turned. By a warp. */
template <typename F, typename T>
static __device__ inline void bring(T *to, const T *from, int64_t apart, int lines, int count,
                                    bool wide, bool turned) {
  constexpr int QUADS = F::SIDE / F::QUAD;
  const int lane = threadIdx.x % 32;
  if (wide && !turned && count % F::QUAD == 0) {
#pragma unroll
    for (int at = 0; at < F::SIDE * QUADS; at += 32) {
      const int line = (at + lane) / QUADS, e = (at + lane) % QUADS * F::QUAD;
      if (line < lines && e < count)
        rung_copy_async(reinterpret_cast<matmul_quad<T> *>(to + line * F::PITCH + e),
                        reinterpret_cast<const matmul_quad<T> *>(from + line * apart + e));
    }
    return;
  }
  const int line_step = turned ? 1 : F::PITCH, step = turned ? F::PITCH : 1;
#pragma unroll 4
  for (int at = 0; at < F::SIDE * F::SIDE; at += 32) {
    const int line = (at + lane) / F::SIDE, e = (at + lane) % F::SIDE;
    if (line < lines && e < count)
      rung_copy_async(to + line * line_step + e * step, from + line * apart + e);
  }
}

/* Steps [l, l + SIDE) of k of matrix `number`: A to [row][l], B to [l][column], unless it is there.
 */
template <typename F, typename T>
static __device__ inline void bring_piece(const matmul_job<T, T> &job, int64_t number, int64_t l,
                                          bool has_b, T *to) {
  const T *a = job.a + number * job.as.batch + l * job.as.column;
  const T *b = job.b + number * job.bs.batch + l * job.bs.row;
  const int m = (int)job.m, n = (int)job.n;
  const int k = (int)(job.k - l < F::SIDE ? job.k - l : F::SIDE);
  if (job.as.column == 1)
    bring<F>(to, a, job.as.row, m, k, job.a_wide, false);
  else
    bring<F>(to, a, job.as.column, k, m, false, true);
  if (has_b) return;
  if (job.bs.column == 1)
    bring<F>(to + F::PANEL, b, job.bs.row, k, n, job.b_wide, false);
  else
    bring<F>(to + F::PANEL, b, job.bs.column, n, k, false, true);
}

template <typename F, typename T>
static __device__ inline void step(const T (&rows)[F::DOWN], const T *b,
                                   T (&t)[F::DOWN][F::ACROSS]) {
#pragma unroll
  for (int j = 0; j < F::ACROSS; j += F::QUAD) {
    const matmul_quad<T> quad = *reinterpret_cast<const matmul_quad<T> *>(b + 4 * j);
#pragma unroll
    for (int e = 0; e < F::QUAD; e++)
#pragma unroll
      for (int i = 0; i < F::DOWN; i++) t[i][j + e] = matmul_fma(rows[i], quad.at[e], t[i][j + e]);
  }
}

/* `steps` of k: `a` and `b` point to the lane's first row and quad. */
template <typename F, typename T>
static __device__ inline void work(const T *a, const T *b, int steps, T (&t)[F::DOWN][F::ACROSS]) {
  T rows[F::DOWN];
  int s = 0;
#pragma unroll 2
  for (; s + F::QUAD <= steps; s += F::QUAD) {
    matmul_quad<T> quads[F::DOWN];
#pragma unroll
    for (int i = 0; i < F::DOWN; i++)
      quads[i] = *reinterpret_cast<const matmul_quad<T> *>(a + i * 8 * F::PITCH + s);
#pragma unroll
    for (int e = 0; e < F::QUAD; e++) {
#pragma unroll
      for (int i = 0; i < F::DOWN; i++) rows[i] = quads[i].at[e];
      step<F>(rows, b + (s + e) * F::PITCH, t);
    }
  }
  for (; s < steps; s++) {
#pragma unroll
    for (int i = 0; i < F::DOWN; i++) rows[i] = a[i * 8 * F::PITCH + s];
    step<F>(rows, b + s * F::PITCH, t);
  }
}

template <typename F, typename T>
__global__ void __launch_bounds__(F::THREADS) matmul_batch(matmul_job<T, T> job) {
  RUNG_DYNAMIC_SHARED(T, shared);
  const int lane = threadIdx.x % 32, row = lane / 4, quad = lane % 4 * F::QUAD;
  const int64_t warps = (int64_t)gridDim.x * F::WARPS;
  T *stage = shared + threadIdx.x / 32 * 2 * 2 * F::PANEL, *next = stage + 2 * F::PANEL;
  int64_t number = (int64_t)blockIdx.x * F::WARPS + threadIdx.x / 32, l = 0;
  /* A B that all matrices have, and that fits, comes into either stage once: asked for by all warps
   * each time it would be the one place of the level 2 cache that all of them wait for. */
  const int64_t kept = job.bs.batch == 0 && job.k <= F::SIDE ? number + 2 * warps : job.batch;
  if (number < job.batch && job.k > 0) bring_piece<F>(job, number, 0, false, stage);
  rung_copy_async_commit();
  T t[F::DOWN][F::ACROSS] = {};
  while (number < job.batch) {
    const bool last = l + F::SIDE >= job.k;
    const int64_t after = last ? number + warps : number, from = last ? 0 : l + F::SIDE;
    if (after < job.batch && job.k > 0) bring_piece<F>(job, after, from, after >= kept, next);
    rung_copy_async_commit();
    rung_copy_async_wait<1>();
    __syncwarp();
    const int64_t left = job.k - l;
    work<F>(stage + row * F::PITCH, stage + F::PANEL + quad, (int)(left < F::SIDE ? left : F::SIDE),
            t);
    if (last)
#pragma unroll
      for (int i = 0; i < F::DOWN; i++)
#pragma unroll
        for (int j = 0; j < F::ACROSS; j += F::QUAD) {
          if (row + i * 8 < job.m)
            matmul_store_run<F::QUAD>(job, number, row + i * 8, quad + 4 * j, 0, &t[i][j]);
#pragma unroll
          for (int e = 0; e < F::QUAD; e++) t[i][j + e] = 0;
        }
    __syncwarp(); /* all are done with the stage: it is filled next */
    T *const done = stage;
    stage = next;
    next = done;
    number = after;
    l = from;
  }
}

template <typename F, typename T>
static rung_status launch(const rung_task *task, const matmul_job<T, T> &job) {
  int resident;
  RUNG_ALLOW_SHARED(task, (matmul_batch<F, T>), F::BYTES);
  RUNG_RESIDENT_BLOCKS(task, (matmul_batch<F, T>), F::THREADS, F::BYTES, &resident);
  const int64_t all = (job.batch + F::WARPS - 1) / F::WARPS;
  const int64_t most = (int64_t)resident * task->device->processors;
  RUNG_LAUNCH(task, (matmul_batch<F, T>), (unsigned)(all < most ? all : most), F::THREADS, F::BYTES,
              job);
  return RUNG_OK;
}

/* A product of few columns as a batch of pieces of its rows, `high` of them each, that all have the
 * same B; and the rows that are left. */
template <typename F, typename T>
static rung_status pieces(const rung_task *task, const matmul_job<T, T> &job, int64_t high) {
  matmul_job<T, T> most = job, rest = job;
  most.m = high;
  most.batch = job.m / high;
  most.as.batch = high * job.as.row;
  most.bs.batch = 0;
  most.cs.batch = high * job.cs.row;
  most.ds.batch = high * job.ds.row;
  /* Of a batch that was cut, one small matrix may be left. */
  const rung_status status = most.batch > 0 ? launch<F>(task, most) : RUNG_OK;
  rest.m = job.m % high;
  if (status != RUNG_OK || rest.m == 0) return status;
  rest.a += most.batch * most.as.batch;
  rest.c = static_cast<T *>(rest.c) + most.batch * most.cs.batch;
  if (rest.added != nullptr)
    rest.added = static_cast<const T *>(rest.added) + most.batch * most.ds.batch;
  return launch<F>(task, rest);
}

template <typename F>
static rung_status run(const rung_task *task) {
  const auto job = matmul_job_of<typename F::T>(task);
  if (job.batch > 1) return launch<F>(task, job);
  return pieces<F>(task, job.m > job.n ? job : matmul_mirrored(job), F::SIDE);
}

extern "C" rung_status RUNG_ENTRY(matmul_batch)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const bool rows = p->batch == 1 && p->m > p->n, columns = p->batch == 1 && !rows;
  const bool tiny = (rows || p->m <= 16) && (columns || p->n <= 16) && p->k <= 16;
  if (p->types.in == RUNG_F32)
    return tiny ? run<small<float, 16>>(task) : run<small<float, 32>>(task);
  return tiny ? run<small<double, 16>>(task) : run<small<double, 32>>(task);
}
