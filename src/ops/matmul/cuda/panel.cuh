/* Panels of A and B in shared memory, an l after the other: [l][row of A], [l][column of B]. */
#ifndef RUNG_MATMUL_CUDA_PANEL_CUH
#define RUNG_MATMUL_CUDA_PANEL_CUH

#include "ops/matmul/cuda/matmul.cuh"

/* What a block needs of an operand: `lines` rows of A or columns of B from `from` on, as far as the
 * matrix goes, `line` apart, with their l's `step` apart. */
template <typename E>
struct matmul_source {
  const E *from;
  int64_t line, step, lines;
  bool wide;
};

template <typename E, typename S>
static __device__ RUNG_ASIDE matmul_source<E> matmul_rows_of(const matmul_job<E, S> &job,
                                                             const matmul_tile &tile) {
  return {job.a + tile.batch * job.as.batch + tile.i * job.as.row, job.as.row, job.as.column,
          job.a_lines - tile.i, job.a_wide};
}
template <typename E, typename S>
static __device__ RUNG_ASIDE matmul_source<E> matmul_columns_of(const matmul_job<E, S> &job,
                                                                const matmul_tile &tile) {
  return {job.b + tile.batch * job.bs.batch + tile.j * job.bs.column, job.bs.column, job.bs.row,
          job.b_lines - tile.j, job.b_wide};
}

/* Elements [l, l + K) of all lines, of which `left` are there, by the block's threads. */
template <int THREADS, int LINES, int K, int PITCH, typename E, typename S>
static __device__ inline void matmul_load_panel(S (*to)[PITCH], const matmul_source<E> &source,
                                                int64_t l, int64_t left, bool bfloat) {
  const bool side_by_side = source.line == 1;
#pragma unroll
  for (int c = 0; c < LINES * K; c += THREADS) {
    const int at = c + threadIdx.x;
    const int line = side_by_side ? at % LINES : at / K, s = side_by_side ? at / LINES : at % K;
    if (at < LINES * K && line < source.lines && s < left)
      to[s][line] = matmul_load(source.from[line * source.line + (l + s) * source.step], bfloat);
  }
}

#endif
