/* Copies of operands that lie line beside line: [l][line], with zeros behind the last line. */
#ifndef RUNG_MATMUL_CUDA_TURN_CUH
#define RUNG_MATMUL_CUDA_TURN_CUH

#include "ops/matmul/cuda/panel.cuh"
#include "ops/matmul/turned.h"

/* A copy to be made: of `matrices` that lie `apart`, each k by `lines`. */
template <typename T>
struct matmul_line_copy {
  matmul_source<T> source;
  int64_t apart, matrices, k, lines;
  T *to;
};

/* Blocks take 32 lines and DEEP of k. There are fewer than 2^31, as all memory has fewer than 2^43
 * elements: numbers of 32 bits are divided by in a tenth of the time that others take. */
enum { MATMUL_COPY_DEEP = 128 };
template <typename T>
RUNG_ANYWHERE uint32_t matmul_copy_blocks(const matmul_line_copy<T> &copy) {
  return (uint32_t)(copy.matrices * (copy.lines / 32) *
                    ((copy.k + MATMUL_COPY_DEEP - 1) / MATMUL_COPY_DEEP));
}

/* One block's part through shared memory, so that both sides are read and written along. */
template <typename T>
static __device__ inline void matmul_turn_part(const matmul_line_copy<T> &copy, uint32_t number,
                                               T (&part)[MATMUL_COPY_DEEP][33]) {
  const matmul_source<T> &source = copy.source;
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const bool turned = source.line != 1;
  const uint32_t across = (uint32_t)(copy.lines / 32);
  const uint32_t down = (uint32_t)((copy.k + MATMUL_COPY_DEEP - 1) / MATMUL_COPY_DEEP);
  const uint32_t in = number / across, matrix = in / down;
  const int64_t line = number % across * 32, l = (int64_t)(in % down) * MATMUL_COPY_DEEP;
  const int left = (int)(copy.k - l < MATMUL_COPY_DEEP ? copy.k - l : MATMUL_COPY_DEEP);
  const int lines = (int)(source.lines - line < 32 ? source.lines - line : 32);
  const T *from = source.from + matrix * copy.apart + line * source.line + l * source.step;
  T value[MATMUL_COPY_DEEP / 8]; /* all on their way before the first is waited for */
#pragma unroll
  for (int c = 0; c < MATMUL_COPY_DEEP; c += 8) {
    const int at_line = turned ? c % 32 + y : x, at_l = turned ? c / 32 * 32 + x : c + y;
    value[c / 8] =
        at_l < left && at_line < lines ? from[at_line * source.line + at_l * source.step] : T(0);
  }
#pragma unroll
  for (int c = 0; c < MATMUL_COPY_DEEP; c += 8) {
    const int at_line = turned ? c % 32 + y : x, at_l = turned ? c / 32 * 32 + x : c + y;
    part[at_l][at_line] = value[c / 8];
  }
  __syncthreads();
  T *to = copy.to + (matrix * copy.k + l) * copy.lines + line + x;
#pragma unroll
  for (int r = y; r < MATMUL_COPY_DEEP; r += 8)
    if (r < left) to[r * copy.lines] = part[r][x];
}

/* Both copies in one launch: of mid-sized products a launch more is a twentieth of their time. */
template <typename T>
__global__ void __launch_bounds__(256) matmul_turn(matmul_line_copy<T> a, matmul_line_copy<T> b) {
  __shared__ T part[MATMUL_COPY_DEEP][33];
  const uint32_t of_a = matmul_copy_blocks(a), number = blockIdx.x;
  if (number < of_a)
    matmul_turn_part(a, number, part);
  else
    matmul_turn_part(b, number - of_a, part);
}

/* The copy of an operand into `to`; the operand's steps become the copy's. */
template <typename T>
static matmul_line_copy<T> matmul_copy_of(const matmul_job<T, T> &job, bool of_a, int64_t lines,
                                          T *to, const T **from, matmul_steps *steps) {
  const int64_t line = of_a ? steps->row : steps->column, step = of_a ? steps->column : steps->row;
  const int64_t matrices = steps->batch == 0 ? 1 : job.batch;
  const matmul_line_copy<T> copy = {
      {*from, line, step, of_a ? job.m : job.n, false}, steps->batch, matrices, job.k, lines, to};
  *from = to;
  *steps = {matrices == 1 ? 0 : job.k * lines, of_a ? 1 : lines, of_a ? lines : 1};
  return copy;
}

/* A job of which those operands lie line beside line that are to be copied so. */
static rung_status matmul_turn_operands(const rung_task *task, const matmul_turned &turned,
                                        matmul_job<float, float> *job) {
  float *scratch = static_cast<float *>(task->scratch);
  matmul_line_copy<float> a = {}, b = {};
  if (turned.a) {
    a = matmul_copy_of(*job, true, turned.a_lines, scratch, &job->a, &job->as);
    job->a_lines = turned.a_lines;
    job->a_wide = true;
  }
  if (turned.b) {
    b = matmul_copy_of(*job, false, turned.b_lines, scratch + turned.a_bytes / sizeof(float),
                       &job->b, &job->bs);
    job->b_lines = turned.b_lines;
    job->b_wide = true;
  }
  const uint32_t blocks = matmul_copy_blocks(a) + matmul_copy_blocks(b);
  if (blocks > 0) RUNG_LAUNCH(task, matmul_turn<float>, blocks, 256, 0, a, b);
  return RUNG_OK;
}

#endif
