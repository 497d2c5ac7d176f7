/* What rungs of whole tiles share in fixed point: the job, the order in which planes are
 * multiplied, how digits come into shared memory, and sums that several blocks add to.
 *
 * Pairs of planes whose products weigh the same are a level; u + v is what its planes, most
 * significant first, add up to. Levels are multiplied from the lightest on, u + v = digits - 1, to
 * the heaviest, 0. */
#ifndef RUNG_MATMUL_CUDA_FIXED_CUH
#define RUNG_MATMUL_CUDA_FIXED_CUH

#include "ops/matmul/cuda/matmul.cuh"
#include "ops/matmul/pieces.h"

/* Queues what makes a task's planes (planes.cuh): of rung `mma`, compiled once. */
extern "C" rung_status RUNG_ENTRY(matmul_cut)(const rung_task *task);

/* 64 digits of a line at a time. */
enum { FIXED_DEPTH = 64 };

struct fixed_job {
  matmul_job<uint16_t, float> end; /* C and what becomes of a sum: of any types */
  const int8_t *a, *b;
  const uint32_t *a_largest, *b_largest;
  int64_t a_lines, b_lines; /* from a matrix to the next, of lines; 0: one for all */
  int64_t pitch;
  int digits;
  /* Where k is cut: so many pieces of so many digits; sums of 64 bits and counters that are zero,
   * and are left so. */
  int pieces;
  int64_t piece;
  unsigned long long *sums; /* [matrix][row][column] */
  unsigned *counters;       /* two a tile */
};

/* ---- planes, one after the other --------------------------------------------------------------
 */

/* Where the next DEPTH digits are: of every pair of planes of every level all `steps`. */
struct fixed_walk {
  int level, u;
  int64_t step, steps;

  __device__ inline void go_on() {
    if (++step < steps) return;
    step = 0;
    if (++u <= level) return;
    u = 0;
    level--;
  }
};

/* A tile's lines of an operand, by 16 digits: a thread's are the same ones in every step. Lines
 * beyond the last are the last: what becomes of them is not stored. */
template <int LINES, int PITCH, int THREADS>
struct fixed_feed {
  static constexpr int EACH = LINES * (FIXED_DEPTH / 16) / THREADS;
  const int8_t *from[EACH];
  int into;

  __device__ inline void begin(const int8_t *matrix, int64_t first, int64_t lines, int64_t pitch) {
    const int t = threadIdx.x;
    into = t / 4 * PITCH + t % 4 * 16;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int64_t line = first + t / 4 + e * (THREADS / 4);
      from[e] = matrix + (line < lines ? line : lines - 1) * pitch + t % 4 * 16;
    }
  }
  __device__ inline void bring(int8_t *to, int64_t at) {
#pragma unroll
    for (int e = 0; e < EACH; e++)
      rung_copy_async(reinterpret_cast<int4 *>(to + into + e * (THREADS / 4) * PITCH),
                      reinterpret_cast<const int4 *>(from[e] + at));
  }
};

/* Both operands of a tile, STAGES of shared memory ahead. F says shapes. */
template <typename F>
struct fixed_stream {
  static constexpr int OF_B = F::ROWS * F::A_PITCH, STAGE = OF_B + F::COLUMNS * F::B_PITCH,
                       BYTES = F::STAGES * STAGE;
  fixed_feed<F::ROWS, F::A_PITCH, F::THREADS> a;
  fixed_feed<F::COLUMNS, F::B_PITCH, F::THREADS> b;
  fixed_walk walk;
  int64_t a_plane, b_plane, first;
  int8_t *shared;
  int into, out;

  __device__ inline void begin(const fixed_job &job, const matmul_tile &tile, int64_t from,
                               int64_t steps, int8_t *stages) {
    a_plane = job.end.m * job.pitch;
    b_plane = job.end.n * job.pitch;
    a.begin(job.a + tile.batch * job.a_lines * job.digits * job.pitch, tile.i, job.end.m,
            job.pitch);
    b.begin(job.b + tile.batch * job.b_lines * job.digits * job.pitch, tile.j, job.end.n,
            job.pitch);
    walk = {steps > 0 ? job.digits - 1 : -1, 0, 0, steps};
    first = from;
    shared = stages;
    into = out = 0;
    for (int s = 0; s < F::STAGES - 1; s++) bring();
  }
  __device__ inline void bring() {
    if (walk.level >= 0) {
      const int64_t l = first + walk.step * FIXED_DEPTH;
      a.bring(shared + into, walk.u * a_plane + l);
      b.bring(shared + into + OF_B, (walk.level - walk.u) * b_plane + l);
      walk.go_on();
      into = into + STAGE == BYTES ? 0 : into + STAGE;
    }
    rung_copy_async_commit();
  }
  /* The next stage, when it is there; the one before has been read by all. */
  __device__ inline const int8_t *next() {
    rung_copy_async_wait<F::STAGES - 2>();
    __syncthreads();
    bring();
    const int8_t *at = shared + out;
    out = out + STAGE == BYTES ? 0 : out + STAGE;
    return at;
  }
};

/* ---- sums -------------------------------------------------------------------------------------
 */

/* An element's end, of its whole sum. */
static __device__ inline void fixed_store(const fixed_job &job, int64_t batch, int64_t i, int64_t j,
                                          int64_t sum) {
  matmul_store(job.end, batch, i, j,
               matmul_fixed_t(sum, job.a_largest[batch * job.a_lines + i],
                              job.b_largest[batch * job.b_lines + j], job.digits));
}

/* An element's end, or a piece's share of it. */
static __device__ inline void fixed_put(const fixed_job &job, int64_t batch, int64_t i, int64_t j,
                                        int64_t sum) {
  if (i >= job.end.m || j >= job.end.n) return;
  if (job.pieces == 1)
    fixed_store(job, batch, i, j, sum);
  else
    atomicAdd(job.sums + (batch * job.end.m + i) * job.end.n + j, (unsigned long long)sum);
}

/* After all of a block's shares, which it has waited for: the last block of a tile ends its
 * elements, from (i, j) on, and leaves zeros. `sync` waits for the `threads` that come. */
template <int ROWS, int COLUMNS, typename SYNC>
static __device__ inline void fixed_end_pieces(const fixed_job &job, int64_t batch, int64_t i,
                                               int64_t j, unsigned *counter, int threads,
                                               const SYNC &sync) {
  __shared__ bool last;
  const unsigned most = (unsigned)job.pieces - 1;
  if (threadIdx.x == 0) last = rung_count_in(counter, most) == most;
  sync();
  if (!last) return;
  for (int e = threadIdx.x; e < ROWS * COLUMNS; e += threads) {
    const int64_t row = i + e / COLUMNS, column = j + e % COLUMNS;
    if (row >= job.end.m || column >= job.end.n) continue;
    unsigned long long *at = job.sums + (batch * job.end.m + row) * job.end.n + column;
    fixed_store(job, batch, row, column, (int64_t)rung_load_relaxed(at));
    *at = 0;
  }
}

/* What a thread's N sums have carried: of every level but the heaviest the lowest bytes, and of
 * that all of it. In memory of its own, as elements are found at run time. */
template <int N>
struct fixed_carried {
  uint32_t low[MATMUL_DIGITS - 1][N / 4]; /* the lightest first */
  int high[N];

  /* A level's end: the lowest bytes stay here, and what is left is a part of the next level. */
  template <typename T>
  __device__ inline void keep(int level, T (&t)[N]) {
#pragma unroll
    for (int e = 0; e < N; e += 4)
      low[level][e / 4] =
          __byte_perm(__byte_perm((uint32_t)t[e], (uint32_t)t[e + 1], 0x0040),
                      __byte_perm((uint32_t)t[e + 2], (uint32_t)t[e + 3], 0x0040), 0x5410);
#pragma unroll
    for (int e = 0; e < N; e++) t[e] = (T)((int)t[e] >> 8);
  }
  template <typename T>
  __device__ inline void keep_all(const T (&t)[N]) {
#pragma unroll
    for (int e = 0; e < N; e++) high[e] = (int)t[e];
  }
  __device__ inline int64_t sum(int e, int digits) const {
    int64_t sum = high[e];
    for (int level = digits - 2; level >= 0; level--)
      sum = sum * 256 + (low[level][e / 4] >> e % 4 * 8 & 255);
    return sum;
  }
};

/* ---- launching --------------------------------------------------------------------------------
 */

static inline fixed_job fixed_job_of(const rung_task *task, const matmul_pieces &pieces) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const matmul_planes planes = matmul_planes_of(task);
  const char *scratch = static_cast<const char *>(task->scratch);
  fixed_job job = {};
  job.end = matmul_job_of<uint16_t>(task);
  job.a = reinterpret_cast<const int8_t *>(scratch);
  job.b = reinterpret_cast<const int8_t *>(scratch + planes.b);
  job.a_largest = reinterpret_cast<const uint32_t *>(scratch + planes.a_largest);
  job.b_largest = reinterpret_cast<const uint32_t *>(scratch + planes.b_largest);
  job.a_lines = planes.a_matrices > 1 ? p->m : 0;
  job.b_lines = planes.b_matrices > 1 ? p->n : 0;
  job.pitch = planes.pitch;
  job.digits = planes.digits;
  job.pieces = pieces.product;
  job.piece = pieces.length;
  job.sums = static_cast<unsigned long long *>(task->zeros);
  job.counters = reinterpret_cast<unsigned *>(static_cast<char *>(task->zeros) + pieces.counters);
  return job;
}

#endif
