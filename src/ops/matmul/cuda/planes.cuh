/* Planes of digits (fixed.h), at the memory's speed. An operand whose k goes on in memory is cut in
 * one launch, a line by a few warps, which read it twice, the second time from the cache. Of any
 * other the first launch finds the largest magnitudes, strips of 32 lines by pieces of k, and a
 * second one cuts it, turned in shared memory. Both operands share both launches.
 */
#ifndef RUNG_MATMUL_CUDA_PLANES_CUH
#define RUNG_MATMUL_CUDA_PLANES_CUH

#include "ops/matmul/cuda/matmul.cuh"
#include "ops/matmul/pieces.h"

enum { CUT_THREADS = 512, CUT_WARPS = CUT_THREADS / 32, CUT_STRIP = 32, CUT_SQUARE = 128 };

/* An operand. Steps are in elements. */
template <typename E>
struct cut_operand {
  const E *from;
  int64_t line, step, apart; /* to the next line, its next element, the next matrix */
  int64_t matrices, lines;   /* lines of a matrix */
  int8_t *planes;
  uint32_t *largest, *partial; /* partial: of every piece of k, [piece][line of all matrices] */
  int pieces;                  /* of k */
  int threads;                 /* a line, where k goes on: a power of two from 32 on; else 0 */
  bool wide;                   /* four elements of a line can be read at once */
  int64_t first, second;       /* what blocks of the launches have to do */
};

struct cut_shape {
  int64_t k, pitch;
  int digits, bits;
  bool bfloat;
};

/* ---- elements ---------------------------------------------------------------------------------
 */

/* A factor of a line that is a power of two, in two steps, as it may be no float; and how many bits
 * the whole number goes to the left. */
struct cut_scale {
  float first, second;
  int left;
};
static __device__ inline cut_scale cut_scale_of(uint32_t largest, const cut_shape &shape) {
  const int power = shape.bits - 1 - matmul_exponent(largest), first = power < 100 ? power : 100;
  return {__int_as_float((first + 127) << 23), __int_as_float((power - first + 127) << 23),
          8 * shape.digits - 1 - shape.bits};
}

static __device__ inline uint32_t cut(float x, const cut_scale &scale, int digits) {
  return matmul_digits(
      (int32_t)((uint32_t)__float2int_rn(x * scale.first * scale.second) << scale.left), digits);
}

template <typename E>
struct __align__(4 * sizeof(E)) cut_four {
  E at[4];
};

/* Elements l to l + 3 of a line that goes on, read at once. */
template <typename E>
static __device__ inline void cut_read_four(const E *line, int64_t l, const cut_shape &shape,
                                            float (&x)[4]) {
  const cut_four<E> four = *reinterpret_cast<const cut_four<E> *>(line + l);
#pragma unroll
  for (int e = 0; e < 4; e++) x[e] = matmul_load(four.at[e], shape.bfloat);
}

/* One by one; zeros for those from k on. */
template <typename E>
static __device__ inline void cut_read_each(const E *line, int64_t l, const cut_shape &shape,
                                            float (&x)[4]) {
#pragma unroll
  for (int e = 0; e < 4; e++)
    x[e] = l + e < shape.k ? (float)matmul_load(line[l + e], shape.bfloat) : 0;
}

/* Four elements' digits, to a place in every plane. */
static __device__ inline void cut_put(const float (&x)[4], const cut_scale &scale, int digits,
                                      int64_t plane, int8_t *to) {
  uint32_t words[4];
#pragma unroll
  for (int e = 0; e < 4; e++) words[e] = cut(x[e], scale, digits);
  const uint32_t low[2] = {__byte_perm(words[0], words[1], 0x5140),
                           __byte_perm(words[2], words[3], 0x5140)},
                 high[2] = {__byte_perm(words[0], words[1], 0x7362),
                            __byte_perm(words[2], words[3], 0x7362)};
#pragma unroll
  for (int digit = 0; digit < MATMUL_DIGITS; digit++)
    if (digit < digits)
      *reinterpret_cast<uint32_t *>(to + (digits - 1 - digit) * plane) =
          __byte_perm(digit < 2 ? low[0] : high[0], digit < 2 ? low[1] : high[1],
                      digit % 2 == 0 ? 0x5410 : 0x7632);
}

static __device__ inline uint32_t cut_warp_largest(uint32_t x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, x, by);
    x = other > x ? other : x;
  }
  return x;
}

/* Where a line's digits begin, in plane 0. */
template <typename E>
static __device__ inline int8_t *cut_to(const cut_operand<E> &of, const cut_shape &shape,
                                        int64_t matrix, int64_t line) {
  return of.planes + (matrix * shape.digits * of.lines + line) * shape.pitch;
}

/* One of two operands, member by member, so that both stay where kernels' arguments are. */
template <typename E>
static __device__ inline cut_operand<E> cut_which(bool of_a, const cut_operand<E> &a,
                                                  const cut_operand<E> &b) {
#define CUT_OF(member) of_a ? a.member : b.member
  return {CUT_OF(from),    CUT_OF(line),   CUT_OF(step),    CUT_OF(apart),   CUT_OF(matrices),
          CUT_OF(lines),   CUT_OF(planes), CUT_OF(largest), CUT_OF(partial), CUT_OF(pieces),
          CUT_OF(threads), CUT_OF(wide),   CUT_OF(first),   CUT_OF(second)};
#undef CUT_OF
}

/* ---- the first launch -------------------------------------------------------------------------
 */

/* Lines that go on: CUT_THREADS / of.threads of them. All threads of the block come. */
template <typename E>
static __device__ inline void cut_lines(const cut_operand<E> &of, const cut_shape &shape,
                                        int64_t unit, uint32_t *part) {
  const int in = threadIdx.x % of.threads, own = threadIdx.x / of.threads;
  const int64_t line = unit * (CUT_THREADS / of.threads) + own;
  const int64_t matrix = line / of.lines, row = line % of.lines;
  const bool there = matrix < of.matrices;
  const E *from = of.from + matrix * of.apart + row * of.line;
  uint32_t largest = 0;
  const int64_t whole = of.wide ? shape.k / 4 * 4 : 0, step = of.threads * 4;
#pragma unroll 4
  for (int64_t l = in * 4; there && l < whole; l += step) {
    float x[4];
    cut_read_four(from, l, shape, x);
#pragma unroll
    for (int e = 0; e < 4; e++) largest = max(largest, matmul_magnitude(x[e]));
  }
  for (int64_t l = whole + in; there && l < shape.k; l += of.threads)
    largest = max(largest, matmul_magnitude(matmul_load(from[l], shape.bfloat)));
  largest = cut_warp_largest(largest);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < of.threads / 32; w++) largest = max(largest, part[own * of.threads / 32 + w]);
  __syncthreads();
  if (!there) return;
  if (in == 0) of.largest[line] = largest;
  const cut_scale scale = cut_scale_of(largest, shape);
  const int64_t plane = of.lines * shape.pitch;
  int8_t *to = cut_to(of, shape, matrix, row);
#pragma unroll 4
  for (int64_t l = in * 4; l < whole; l += step) {
    float x[4];
    cut_read_four(from, l, shape, x);
    cut_put(x, scale, shape.digits, plane, to + l);
  }
  for (int64_t l = whole + in * 4; l < shape.pitch; l += step) {
    float x[4];
    cut_read_each(from, l, shape, x);
    cut_put(x, scale, shape.digits, plane, to + l);
  }
}

/* A strip's largest magnitudes over a piece of k. */
template <typename E>
static __device__ inline void cut_look(const cut_operand<E> &of, const cut_shape &shape,
                                       int64_t unit, uint32_t *part) {
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const int64_t strips = (of.lines + CUT_STRIP - 1) / CUT_STRIP, strip = unit % strips;
  const int64_t piece = unit / strips % of.pieces, matrix = unit / strips / of.pieces;
  const int64_t line = strip * CUT_STRIP + x, each = (shape.k + of.pieces - 1) / of.pieces;
  const int64_t end = (piece + 1) * each < shape.k ? (piece + 1) * each : shape.k;
  const E *from = of.from + matrix * of.apart + line * of.line;
  uint32_t largest = 0;
#pragma unroll 8
  for (int64_t l = piece * each + y; line < of.lines && l < end; l += CUT_WARPS)
    largest = max(largest, matmul_magnitude(matmul_load(from[l * of.step], shape.bfloat)));
  part[y * 32 + x] = largest;
  __syncthreads();
  if (y == 0 && line < of.lines) {
    for (int w = 1; w < CUT_WARPS; w++) largest = max(largest, part[w * 32 + x]);
    const int64_t at = matrix * of.lines + line;
    if (of.pieces == 1)
      of.largest[at] = largest;
    else
      of.partial[piece * of.matrices * of.lines + at] = largest;
  }
  __syncthreads();
}

template <typename E>
__global__ void __launch_bounds__(CUT_THREADS)
    matmul_cut_first(cut_operand<E> a, cut_operand<E> b, cut_shape shape) {
  __shared__ uint32_t part[CUT_THREADS];
  for (int64_t unit = blockIdx.x; unit < a.first + b.first; unit += gridDim.x) {
    const bool of_a = unit < a.first;
    const cut_operand<E> of = cut_which(of_a, a, b);
    if (of.threads > 0)
      cut_lines(of, shape, of_a ? unit : unit - a.first, part);
    else
      cut_look(of, shape, of_a ? unit : unit - a.first, part);
  }
}

/* ---- the second launch ------------------------------------------------------------------------
 */

/* 32 lines by 128 of k. Element l of a line lies beside others so that neither side meets a bank
 * twice. */
template <typename E>
static __device__ inline void cut_square(const cut_operand<E> &of, const cut_shape &shape,
                                         int64_t unit, float *square, uint32_t *largest) {
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const int64_t strips = (of.lines + CUT_STRIP - 1) / CUT_STRIP, strip = unit % strips;
  const int64_t across = shape.pitch / CUT_SQUARE, l = unit / strips % across * CUT_SQUARE;
  const int64_t matrix = unit / strips / across, line = strip * CUT_STRIP + x;
  const E *from = of.from + matrix * of.apart + line * of.line + l * of.step;
  float read[CUT_SQUARE / CUT_WARPS];
#pragma unroll
  for (int r = 0; r < CUT_SQUARE; r += CUT_WARPS)
    read[r / CUT_WARPS] = line < of.lines && l + y + r < shape.k
                              ? (float)matmul_load(from[(y + r) * of.step], shape.bfloat)
                              : 0;
  if (y == 0 && line < of.lines) {
    const int64_t at = matrix * of.lines + line;
    uint32_t most = of.pieces == 1 ? of.largest[at] : 0;
    for (int p = 0; of.pieces > 1 && p < of.pieces; p++)
      most = max(most, of.partial[p * of.matrices * of.lines + at]);
    if (of.pieces > 1 && l == 0) of.largest[at] = most;
    largest[x] = most;
  }
#pragma unroll
  for (int r = 0; r < CUT_SQUARE; r += CUT_WARPS)
    square[x * CUT_SQUARE + ((y + r) ^ x)] = read[r / CUT_WARPS];
  __syncthreads();
#pragma unroll
  for (int r = y; r < CUT_STRIP; r += CUT_WARPS) {
    if (strip * CUT_STRIP + r >= of.lines) continue;
    const cut_scale scale = cut_scale_of(largest[r], shape);
    uint32_t planes[MATMUL_DIGITS] = {};
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int s = (e + x / 8) % 4;
      const uint32_t word = cut(square[r * CUT_SQUARE + ((x * 4 + s) ^ r)], scale, shape.digits);
#pragma unroll
      for (int digit = 0; digit < MATMUL_DIGITS; digit++)
        planes[digit] |= (word >> (8 * digit) & 0xff) << (8 * s);
    }
    int8_t *to = cut_to(of, shape, matrix, strip * CUT_STRIP + r) + l + x * 4;
#pragma unroll
    for (int digit = 0; digit < MATMUL_DIGITS; digit++)
      if (digit < shape.digits)
        *reinterpret_cast<uint32_t *>(to + (shape.digits - 1 - digit) * of.lines * shape.pitch) =
            planes[digit];
  }
  __syncthreads();
}

template <typename E>
__global__ void __launch_bounds__(CUT_THREADS)
    matmul_cut_second(cut_operand<E> a, cut_operand<E> b, cut_shape shape) {
  __shared__ float square[CUT_STRIP * CUT_SQUARE];
  __shared__ uint32_t largest[CUT_STRIP];
  rung_await_before();
  for (int64_t unit = blockIdx.x; unit < a.second + b.second; unit += gridDim.x) {
    const bool of_a = unit < a.second;
    cut_square(cut_which(of_a, a, b), shape, of_a ? unit : unit - a.second, square, largest);
  }
}

/* ---- launching --------------------------------------------------------------------------------
 */

template <typename E>
static cut_operand<E> cut_operand_of(const E *from, int64_t line, int64_t step, int64_t apart,
                                     int64_t matrices, int64_t lines, const cut_shape &shape) {
  cut_operand<E> of = {};
  of.from = from;
  of.line = line;
  of.step = step;
  of.apart = apart;
  of.matrices = matrices;
  of.lines = lines;
  of.wide =
      line % 4 == 0 && apart % 4 == 0 && reinterpret_cast<uintptr_t>(from) % (4 * sizeof(E)) == 0;
  const int64_t strips = matrices * ((lines + CUT_STRIP - 1) / CUT_STRIP);
  if (step != 1) {
    of.first = strips;
    of.second = strips * (shape.pitch / CUT_SQUARE);
    return of;
  }
  /* Four times four elements a thread, or more. */
  for (of.threads = 32; of.threads < CUT_THREADS && of.threads * 16 < shape.k;) of.threads *= 2;
  of.first = (matrices * lines + CUT_THREADS / of.threads - 1) / (CUT_THREADS / of.threads);
  return of;
}

template <typename E>
static rung_status matmul_cut_as(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const matmul_job<E, float> job = matmul_job_of<E>(task);
  const matmul_planes planes = matmul_planes_of(task);
  const matmul_pieces pieces = matmul_pieces_of(task, 0, 0, 0);
  const cut_shape shape = {p->k, planes.pitch, planes.digits, p->bits, job.bfloat};
  char *scratch = static_cast<char *>(task->scratch);
  cut_operand<E> a = cut_operand_of(job.a, job.as.row, job.as.column, job.as.batch,
                                    planes.a_matrices, p->m, shape);
  cut_operand<E> b = cut_operand_of(job.b, job.bs.column, job.bs.row, job.bs.batch,
                                    planes.b_matrices, p->n, shape);
  a.planes = reinterpret_cast<int8_t *>(scratch);
  a.largest = reinterpret_cast<uint32_t *>(scratch + planes.a_largest);
  a.partial = reinterpret_cast<uint32_t *>(scratch + pieces.a_at);
  a.pieces = pieces.a;
  b.planes = reinterpret_cast<int8_t *>(scratch + planes.b);
  b.largest = reinterpret_cast<uint32_t *>(scratch + planes.b_largest);
  b.partial = reinterpret_cast<uint32_t *>(scratch + pieces.b_at);
  b.pieces = pieces.b;
  if (a.threads == 0) a.first *= a.pieces;
  if (b.threads == 0) b.first *= b.pieces;
  RUNG_LAUNCH(task, matmul_cut_first<E>, matmul_grid(a.first + b.first), CUT_THREADS, 0, a, b,
              shape);
  if (a.second + b.second > 0)
    RUNG_LAUNCH_NEXT(task, matmul_cut_second<E>, matmul_grid(a.second + b.second), CUT_THREADS, 0,
                     a, b, shape);
  return RUNG_OK;
}

#endif
