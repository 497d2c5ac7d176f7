/* Copies of operands as tensor cores take them: a line's k after another, rounded, with zeros
 * behind the last one. */
#ifndef RUNG_MATMUL_CUDA_ROUND_CUH
#define RUNG_MATMUL_CUDA_ROUND_CUH

#include "backend/hopper.h"
#include "ops/matmul/cuda/panel.cuh"
#include "ops/matmul/modes.h"

/* How an element becomes a factor. PARTS: of how many it is the sum. */
struct matmul_as_is {
  static constexpr int PARTS = 1;
  template <typename T>
  static __device__ inline T part(T x, int) {
    return x;
  }
};
/* What rounding left over, rounded: nothing of an infinity. */
struct matmul_as_two_tf32 {
  static constexpr int PARTS = 2;
  static __device__ inline float part(float x, int number) {
    const float first = rung_tf32(x);
    if (number == 0) return first;
    return isinf(first) ? 0 : rung_tf32(x - first);
  }
};
struct matmul_as_bf16 {
  static constexpr int PARTS = 1;
  static __device__ inline uint16_t part(float x, int) {
    return rung_f32_to_half(x, true);
  }
};
struct matmul_as_f16 {
  static constexpr int PARTS = 1;
  static __device__ inline uint16_t part(float x, int) {
    return rung_f32_to_half(x, false);
  }
};

template <typename T>
struct __align__(4 * sizeof(T)) matmul_four {
  T at[4];
};

/* Four elements `apart` elements from each other, of which `left` are there; zeros for the others.
 */
template <typename E>
static __device__ inline matmul_four<E> matmul_four_of(const E *from, int64_t apart, int64_t left,
                                                       bool wide) {
  matmul_four<E> four = {};
  if (wide && left >= 4) return *reinterpret_cast<const matmul_four<E> *>(from);
#pragma unroll
  for (int e = 0; e < 4; e++)
    if (e < left) four.at[e] = from[e * apart];
  return four;
}

template <typename AS, typename E, typename T>
static __device__ inline void matmul_put_four(const matmul_four<E> &four, int64_t pitch, T *to) {
#pragma unroll
  for (int part = 0; part < AS::PARTS; part++) {
    matmul_four<T> rounded;
#pragma unroll
    for (int e = 0; e < 4; e++) rounded.at[e] = AS::part(four.at[e], part);
    *reinterpret_cast<matmul_four<T> *>(to + part * pitch) = rounded;
  }
}

/* Squares of 64 lines and 64 of k, by fours. What goes on along its lines is turned in shared
 * memory; lines there are so far apart that two lanes meet in a bank at most. `wide`: fours of what
 * goes on can be read at once. */
template <typename E, typename T, typename AS>
__global__ void __launch_bounds__(256)
    matmul_round(matmul_source<E> source, int64_t apart, unsigned matrices, int64_t k,
                 int64_t pitch, T *to) {
  static constexpr int SIDE = 64, PAD = sizeof(E) >= 4 ? 1 : 4 / (int)sizeof(E);
  __shared__ E square[SIDE][SIDE + PAD]; /* [line][l] */
  const int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16;
  const bool along = source.step == 1;
  const unsigned down = (unsigned)((source.lines + SIDE - 1) / SIDE);
  const unsigned across = (unsigned)((pitch + SIDE - 1) / SIDE);
  for (unsigned number = blockIdx.x; number < matrices * across * down; number += gridDim.x) {
    const unsigned matrix = number / (across * down), in = number % (across * down);
    const int64_t line = (int64_t)(along ? in / across : in % down) * SIDE;
    const int64_t l = (int64_t)(along ? in % across : in / down) * SIDE;
    const E *from = source.from + matrix * apart + line * source.line + l * source.step;
    T *into = to + (matrix * source.lines + line) * AS::PARTS * pitch + l;
    const int64_t lines = source.lines - line, left = k - l;
    matmul_four<E> fours[4];
#pragma unroll
    for (int r = 0; r < 4; r++) {
      const int turn = y + r * 16; /* of the dimension that does not go on */
      fours[r] = along ? matmul_four_of(from + turn * source.line + x, 1,
                                        turn < lines ? left - x : 0, source.wide)
                       : matmul_four_of(from + turn * source.step + x * source.line, source.line,
                                        turn < left ? lines - x : 0, source.wide);
    }
    if (!along) {
#pragma unroll
      for (int r = 0; r < 4; r++)
#pragma unroll
        for (int e = 0; e < 4; e++) square[x + e][y + r * 16] = fours[r].at[e];
      __syncthreads();
#pragma unroll
      for (int r = 0; r < 4; r++)
#pragma unroll
        for (int e = 0; e < 4; e++) fours[r].at[e] = square[y + r * 16][x + e];
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
      if (y + r * 16 < lines && l + x < pitch)
        matmul_put_four<AS>(fours[r], pitch, into + (y + r * 16) * AS::PARTS * pitch + x);
  }
}

/* Queues the copy of one operand: `lines` of it, `line` apart, and their elements `step` apart. */
template <typename AS, typename E, typename T>
static rung_status matmul_run_round(const rung_task *task, matmul_source<E> source, int64_t apart,
                                    int64_t matrices, int64_t k, int64_t pitch, T *to) {
  const int64_t squares = matrices * ((source.lines + 63) / 64) * ((pitch + 63) / 64);
  const int64_t most = (int64_t)task->device->processors * 8;
  const int64_t other = source.step == 1 ? source.line : source.step;
  source.wide = (source.step == 1 || source.line == 1) && other % 4 == 0 && apart % 4 == 0 &&
                reinterpret_cast<uintptr_t>(source.from) % (4 * sizeof(E)) == 0;
  RUNG_LAUNCH(task, (matmul_round<E, T, AS>), (unsigned)(squares < most ? squares : most), 256, 0,
              source, apart, (unsigned)matrices, k, pitch, to);
  return RUNG_OK;
}

#endif
