/* Operands in fixed point: the planes of digits of fixed.h, in two passes, of which the first finds
 * the largest magnitude of every line. */
#ifndef RUNG_MATMUL_CUDA_QUANTISE_CUH
#define RUNG_MATMUL_CUDA_QUANTISE_CUH

#include "ops/matmul/cuda/panel.cuh"
#include "ops/matmul/fixed.h"

/* One operand: `matrices` of it, `apart` elements apart, each of source.lines lines. */
template <typename E>
struct matmul_operand {
  matmul_source<E> source;
  int64_t apart, matrices, k, pitch;
  int bits;
  bool bfloat;
  int8_t *planes;
  unsigned *largest; /* a line's; 0 before the first pass */
};

/* Of lines that go on in memory a warp takes a part of one, else a thread does, and its neighbours
 * those beside it. The largest of all parts is the same in any order. */
template <typename E>
__global__ void __launch_bounds__(256) matmul_find_largest(matmul_operand<E> of) {
  const matmul_source<E> source = of.source;
  const bool along = source.step == 1;
  const int width = along ? 32 : 1, lane = threadIdx.x % width;
  const int64_t each = along ? 2048 : 64, parts = (of.k + each - 1) / each;
  for (int64_t at = ((int64_t)blockIdx.x * 256 + threadIdx.x) / width;
       at < of.matrices * source.lines * parts; at += (int64_t)gridDim.x * (256 / width)) {
    const int64_t line = at % source.lines, part = at / source.lines % parts;
    const int64_t matrix = at / source.lines / parts, end = min(of.k, (part + 1) * each);
    const E *from = source.from + matrix * of.apart + line * source.line;
    unsigned largest = 0;
    for (int64_t l = part * each + lane; l < end; l += width)
      largest = max(largest, matmul_magnitude(matmul_load(from[l * source.step], of.bfloat)));
    for (int s = 16; s > 0 && along; s /= 2)
      largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, s));
    if (lane == 0) atomicMax(of.largest + matrix * source.lines + line, largest);
  }
}

/* Squares of 32 lines and 128 of k, four digits a thread at once. What goes on along its lines is
 * turned in shared memory. */
template <typename E>
__global__ void __launch_bounds__(256) matmul_make_digits(matmul_operand<E> of) {
  static constexpr int LINES = 32, K = MATMUL_FIXED_LINE;
  __shared__ float square[LINES][K + 1];
  const matmul_source<E> source = of.source;
  const bool along = source.step == 1;
  const int digits = matmul_digits_of(of.bits);
  const int64_t across = of.pitch / K, down = (source.lines + LINES - 1) / LINES;
  for (int64_t number = blockIdx.x; number < of.matrices * across * down; number += gridDim.x) {
    const int64_t matrix = number / (across * down), in = number % (across * down);
    const int64_t line = in / across * LINES, first = in % across * K;
    const E *from = source.from + matrix * of.apart;
    for (int at = threadIdx.x; at < LINES * K; at += 256) {
      const int i = along ? at / K : at % LINES, s = along ? at % K : at / LINES;
      const bool there = line + i < source.lines && first + s < of.k;
      const int64_t element = (line + i) * source.line + (first + s) * source.step;
      square[i][s] = there ? matmul_load(from[element], of.bfloat) : 0;
    }
    __syncthreads();
    for (int at = threadIdx.x; at < LINES * K / 4; at += 256) {
      const int i = at / (K / 4), s = at % (K / 4) * 4;
      if (line + i >= source.lines) continue;
      const matmul_scale scale =
          matmul_scale_of(of.largest[matrix * source.lines + line + i], of.bits);
      unsigned words[4];
      for (int e = 0; e < 4; e++)
        words[e] = matmul_digits(matmul_whole(square[i][s + e], scale), digits);
      for (int plane = 0; plane < digits; plane++) {
        const int64_t row = (matrix * digits + plane) * source.lines + line + i;
        unsigned four = 0;
        for (int e = 0; e < 4; e++)
          four |= (unsigned)(uint8_t)matmul_digit(words[e], digits, plane) << (8 * e);
        *reinterpret_cast<unsigned *>(of.planes + row * of.pitch + first + s) = four;
      }
    }
    __syncthreads();
  }
}

template <typename E>
static rung_status matmul_quantise_operand(const rung_task *task, const matmul_operand<E> &of) {
  const int64_t lines = of.matrices * of.source.lines;
  const unsigned most = (unsigned)task->device->processors * 8;
  const int64_t parts =
      of.source.step == 1 ? (of.k + 2047) / 2048 * 32 : (of.k + 63) / 64; /* threads a line */
  const int64_t blocks = (lines * parts + 255) / 256;
  const int64_t squares =
      of.matrices * ((of.source.lines + 31) / 32) * (of.pitch / MATMUL_FIXED_LINE);
  RUNG_FILL_ON_DEVICE(task, of.largest, 0, (size_t)lines * sizeof *of.largest);
  if (of.k == 0) return RUNG_OK;
  RUNG_LAUNCH(task, matmul_find_largest<E>, blocks < most ? (unsigned)blocks : most, 256, 0, of);
  RUNG_LAUNCH(task, matmul_make_digits<E>, squares < most ? (unsigned)squares : most, 256, 0, of);
  return RUNG_OK;
}

/* Planes as kernels read them. */
struct matmul_digit_planes {
  const int8_t *a, *b;
  const unsigned *a_largest, *b_largest;
  int64_t pitch, a_matrix, b_matrix; /* a_matrix: 1, or 0: A is the same for the whole batch */
  int digits;
};

/* Queues what makes both operands' planes, in the task's scratch. */
template <typename E>
static rung_status matmul_quantise(const rung_task *task,
                                   const matmul_job<E, typename matmul_sum<E>::type> &job,
                                   matmul_digit_planes *made) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const matmul_planes planes = matmul_planes_of(task);
  char *scratch = static_cast<char *>(task->scratch);
  const matmul_operand<E> a = {{job.a, job.as.row, job.as.column, job.m, false},
                               job.as.batch,
                               planes.a_matrices,
                               job.k,
                               planes.pitch,
                               p->bits,
                               job.bfloat,
                               reinterpret_cast<int8_t *>(scratch),
                               reinterpret_cast<unsigned *>(scratch + planes.a_largest)};
  const matmul_operand<E> b = {{job.b, job.bs.column, job.bs.row, job.n, false},
                               job.bs.batch,
                               planes.b_matrices,
                               job.k,
                               planes.pitch,
                               p->bits,
                               job.bfloat,
                               reinterpret_cast<int8_t *>(scratch + planes.b),
                               reinterpret_cast<unsigned *>(scratch + planes.b_largest)};
  *made = {a.planes,
           b.planes,
           a.largest,
           b.largest,
           planes.pitch,
           planes.a_matrices > 1,
           planes.b_matrices > 1,
           planes.digits};
  rung_status status = matmul_quantise_operand(task, a);
  if (status == RUNG_OK) status = matmul_quantise_operand(task, b);
  return status;
}

#endif
