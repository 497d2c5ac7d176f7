/* Copies of operands that lie line beside line: [l][line], with zeros behind the last line. */
#ifndef RUNG_MATMUL_CUDA_TURN_CUH
#define RUNG_MATMUL_CUDA_TURN_CUH

#include "ops/matmul/cuda/panel.cuh"
#include "ops/matmul/turned.h"

/* Through squares of 32 in shared memory, so that both sides are read and written along. */
template <typename T>
__global__ void __launch_bounds__(256)
    matmul_turn(matmul_source<T> source, int64_t apart, int64_t matrices, int64_t k, int64_t lines,
                T *to) {
  __shared__ T square[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const bool turned = source.line != 1;
  const int64_t across = lines / 32, down = (k + 31) / 32;
  for (int64_t number = blockIdx.x; number < matrices * across * down; number += gridDim.x) {
    const int64_t matrix = number / (across * down), in = number % (across * down);
    const int64_t line = in % across * 32, l = in / across * 32;
    const T *from = source.from + matrix * apart;
#pragma unroll
    for (int r = y; r < 32; r += 8) {
      const int64_t at_line = line + (turned ? r : x), at_l = l + (turned ? x : r);
      if (at_l < k)
        square[at_l - l][at_line - line] =
            at_line < source.lines ? from[at_line * source.line + at_l * source.step] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int r = y; r < 32; r += 8)
      if (l + r < k) to[(matrix * k + l + r) * lines + line + x] = square[r][x];
    __syncthreads();
  }
}

/* Queues the copy of one operand, and its steps become the copy's. */
template <typename T>
static rung_status matmul_run_turn(const rung_task *task, int64_t batch, int64_t k, int64_t lines,
                                   int64_t copied, bool of_a, T *to, const T **from,
                                   matmul_steps *steps) {
  const int64_t line = of_a ? steps->row : steps->column, step = of_a ? steps->column : steps->row;
  const matmul_source<T> source = {*from, line, step, lines, false};
  const int64_t matrices = steps->batch == 0 ? 1 : batch;
  const int64_t squares = matrices * (copied / 32) * ((k + 31) / 32);
  const int64_t most = (int64_t)task->device->processors * 8;
  RUNG_LAUNCH(task, matmul_turn<T>, (unsigned)(squares < most ? squares : most), 256, 0, source,
              steps->batch, matrices, k, copied, to);
  *from = to;
  *steps = {matrices == 1 ? 0 : k * copied, of_a ? 1 : copied, of_a ? copied : 1};
  return RUNG_OK;
}

/* A job whose operands lie line beside line where a copy pays. */
static rung_status matmul_turn_operands(const rung_task *task, matmul_job<float, float> *job) {
  const matmul_turned turned = matmul_turned_of(task);
  float *scratch = static_cast<float *>(task->scratch);
  rung_status status = RUNG_OK;
  if (turned.a) {
    status = matmul_run_turn(task, job->batch, job->k, job->m, turned.a_lines, true, scratch,
                             &job->a, &job->as);
    job->a_lines = turned.a_lines;
    job->a_wide = true;
  }
  if (turned.b && status == RUNG_OK) {
    status = matmul_run_turn(task, job->batch, job->k, job->n, turned.b_lines, false,
                             scratch + turned.a_bytes / sizeof(float), &job->b, &job->bs);
    job->b_lines = turned.b_lines;
    job->b_wide = true;
  }
  return status;
}

#endif
