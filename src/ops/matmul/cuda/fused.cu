/* Rung `fused`: fixed point without planes, for products of few tiles. One launch finds the largest
 * magnitudes of all lines; the next cuts the digits of what a block multiplies where it multiplies
 * them, in shared memory, all planes of four elements side by side: one load brings a product's
 * factors of every plane, and the ten or six products of planes that weigh something add up in
 * registers, a sum a level. Few tiles: k is cut, and blocks add their shares up in global memory.
 */
#include "ops/matmul/cuda/fixed.cuh"
#include "ops/matmul/cuda/planes.cuh"

/* Tiles of 64 by 64, 64 of k a step; eight warps, each with 16 rows and 32 columns. */
enum {
  FUSED_SIDE = MATMUL_FUSED_SIDE,
  FUSED_K = 64,
  FUSED_FOURS = FUSED_K / 4,
  FUSED_THREADS = 256,
  FUSED_EACH = FUSED_SIDE * FUSED_FOURS / FUSED_THREADS, /* fours of a thread and an operand */
  FUSED_ACROSS = 4                                       /* products of 8 columns a warp */
};

/* An operand of elements of any type. Steps are in elements. */
struct fused_operand {
  const void *from;
  int64_t line, step, apart; /* to the next line, its next element, the next matrix */
  int64_t matrices, lines;   /* lines of a matrix */
  uint32_t *largest;         /* of every line: 0 before the first launch */
  bool wide;                 /* four elements of a line can be read at once */
};

struct fused_job {
  fixed_job fixed; /* no planes */
  fused_operand a, b;
  int64_t k, look, looks; /* the first launch: so many of k a block, in so many blocks a strip */
  int bits, bytes;        /* of an element */
  unsigned *done;         /* counts blocks of the second launch */
};

static __device__ inline float fused_element(const fused_job &job, const void *from, int64_t at) {
  return job.bytes == 4
             ? static_cast<const float *>(from)[at]
             : matmul_load(static_cast<const uint16_t *>(from)[at], job.fixed.end.bfloat);
}

/* Elements l to l + 3 of the line that begins at element `line`; zeros for those from `end` on. */
static __device__ RUNG_ASIDE float4 fused_four(const fused_job &job, const fused_operand &of,
                                               int64_t line, int64_t l, int64_t end) {
  if (of.wide && l + 4 <= end) {
    if (job.bytes == 4)
      return *reinterpret_cast<const float4 *>(static_cast<const float *>(of.from) + line + l);
    const cut_four<uint16_t> four = *reinterpret_cast<const cut_four<uint16_t> *>(
        static_cast<const uint16_t *>(of.from) + line + l);
    const bool bfloat = job.fixed.end.bfloat;
    return make_float4(matmul_load(four.at[0], bfloat), matmul_load(four.at[1], bfloat),
                       matmul_load(four.at[2], bfloat), matmul_load(four.at[3], bfloat));
  }
  float x[4];
#pragma unroll
  for (int e = 0; e < 4; e++)
    x[e] = l + e < end ? fused_element(job, of.from, line + (l + e) * of.step) : 0;
  return make_float4(x[0], x[1], x[2], x[3]);
}

/* ---- the first launch -------------------------------------------------------------------------
 */

static __host__ __device__ inline int64_t fused_strips(const fused_operand &of) {
  return of.matrices * ((of.lines + 31) / 32);
}

/* Blocks of 32 lines and `look` of k. Neighbours in memory are read by neighbours. */
__global__ void __launch_bounds__(FUSED_THREADS) matmul_fused_look(fused_job job) {
  __shared__ unsigned most[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t all = (fused_strips(job.a) + fused_strips(job.b)) * job.looks;
  for (int64_t unit = blockIdx.x; unit < all; unit += gridDim.x) {
    const int64_t number = unit / job.looks, from = unit % job.looks * job.look;
    const int64_t end = from + job.look < job.k ? from + job.look : job.k;
    const bool of_a = number < fused_strips(job.a);
    const fused_operand &of = of_a ? job.a : job.b;
    const int64_t strip = of_a ? number : number - fused_strips(job.a);
    const int64_t down = (of.lines + 31) / 32, matrix = strip / down, first = strip % down * 32;
    if (warp == 0) most[lane] = 0;
    __syncthreads();
    if (of.step == 1) {
#pragma unroll
      for (int y = 0; y < 32; y += 8) {
        const int64_t line = first + y + warp;
        uint32_t largest = 0;
        for (int64_t l = from + lane * 4; line < of.lines && l < end; l += 128) {
          const float4 x = fused_four(job, of, matrix * of.apart + line * of.line, l, end);
          largest = max(max(largest, max(matmul_magnitude(x.x), matmul_magnitude(x.y))),
                        max(matmul_magnitude(x.z), matmul_magnitude(x.w)));
        }
        largest = cut_warp_largest(largest);
        if (lane == 0) most[y + warp] = largest;
      }
    } else if (first + lane < of.lines) {
      const int64_t line = matrix * of.apart + (first + lane) * of.line;
      uint32_t largest = 0;
#pragma unroll 16
      for (int64_t l = from + warp; l < end; l += 8)
        largest = max(largest, matmul_magnitude(fused_element(job, of.from, line + l * of.step)));
      atomicMax(&most[lane], largest);
    }
    __syncthreads();
    if (warp == 0 && first + lane < of.lines)
      atomicMax(of.largest + matrix * of.lines + first + lane, most[lane]);
  }
}

/* ---- the second launch ------------------------------------------------------------------------
 */

/* Where the digits of four elements of a line are: in one of 16 places, so that neither lines nor
 * fours that are read or written together meet in a bank. */
static __device__ inline int fused_place(int line, int four) {
  return line * FUSED_FOURS + (four ^ ((line & 1) << 2 | (line >> 1 & 3)));
}

/* Digits of four elements: those of one plane in each word, the most significant in w; words of
 * planes that the job has not are zero. */
static __device__ inline uint4 fused_digits(const float4 &x, float2 scale, int left, int digits) {
  const cut_scale by = {scale.x, scale.y, left};
  const int up = 8 * (MATMUL_DIGITS - digits);
  const uint32_t a = cut(x.x, by, digits) << up, b = cut(x.y, by, digits) << up,
                 c = cut(x.z, by, digits) << up, d = cut(x.w, by, digits) << up;
  const uint32_t low = __byte_perm(a, b, 0x5140), high = __byte_perm(a, b, 0x7362),
                 more = __byte_perm(c, d, 0x5140), most = __byte_perm(c, d, 0x7362);
  return make_uint4(__byte_perm(low, more, 0x5410), __byte_perm(low, more, 0x7632),
                    __byte_perm(high, most, 0x5410), __byte_perm(high, most, 0x7632));
}

/* A thread's fours of a tile's lines of an operand: as neighbours in memory, and the same ones when
 * their digits are put away. */
struct fused_part {
  float4 x[FUSED_EACH];

  static __device__ inline int line(bool along, int e) {
    const int at = threadIdx.x + e * FUSED_THREADS;
    return along ? at / FUSED_FOURS : at % FUSED_SIDE;
  }
  static __device__ inline int four(bool along, int e) {
    const int at = threadIdx.x + e * FUSED_THREADS;
    return along ? at % FUSED_FOURS : at / FUSED_SIDE;
  }
  /* Lines beyond the last are the last: what becomes of them is not stored. */
  __device__ inline void read(const fused_job &job, const fused_operand &of, int64_t matrix,
                              int64_t first, int64_t l, int64_t end) {
    const bool along = of.step == 1;
#pragma unroll
    for (int e = 0; e < FUSED_EACH; e++) {
      int64_t row = first + line(along, e);
      if (row >= of.lines) row = of.lines - 1;
      x[e] = fused_four(job, of, matrix * of.apart + row * of.line, l + four(along, e) * 4, end);
    }
  }
  __device__ inline void cut_into(uint4 *to, const float2 *scales, bool along, int left,
                                  int digits) const {
#pragma unroll
    for (int e = 0; e < FUSED_EACH; e++)
      to[fused_place(line(along, e), four(along, e))] =
          fused_digits(x[e], scales[line(along, e)], left, digits);
  }
};

static __device__ inline unsigned fused_word(const uint4 &words, int plane) {
  return plane == 0 ? words.w : plane == 1 ? words.z : plane == 2 ? words.y : words.x;
}

/* A warp's products of one step. a, b: its first row's and column's digits. */
static __device__ RUNG_ASIDE void fused_multiply(const uint4 *a, const uint4 *b, int y, int x,
                                                 int digits,
                                                 int (&t)[FUSED_ACROSS][MATMUL_DIGITS][4]) {
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
#pragma unroll 1
  for (int four = q; four < FUSED_FOURS; four += 8) {
    const uint4 up[2] = {a[fused_place(y + g, four)], a[fused_place(y + g, four + 4)]},
                down[2] = {a[fused_place(y + g + 8, four)], a[fused_place(y + g + 8, four + 4)]};
#pragma unroll
    for (int c = 0; c < FUSED_ACROSS; c++) {
      const int column = x + c * 8 + g;
      const uint4 by[2] = {b[fused_place(column, four)], b[fused_place(column, four + 4)]};
#pragma unroll
      for (int level = 0; level < MATMUL_DIGITS; level++)
        if (level < digits)
#pragma unroll
          for (int u = 0; u <= level; u++)
            rung_mma_s8(t[c][level], fused_word(up[0], u), fused_word(down[0], u),
                        fused_word(up[1], u), fused_word(down[1], u), fused_word(by[0], level - u),
                        fused_word(by[1], level - u));
    }
  }
}

/* A warp's sums of all levels, in rows of the tile, whose neighbours go on side by side. */
static __device__ inline void fused_sum_up(const int (&t)[FUSED_ACROSS][MATMUL_DIGITS][4], int y,
                                           int x, int digits, int64_t *whole) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < FUSED_ACROSS; c++)
#pragma unroll
    for (int e = 0; e < 4; e++) {
      int64_t sum = t[c][0][e];
#pragma unroll
      for (int level = 1; level < MATMUL_DIGITS; level++)
        if (level < digits) sum = sum * 256 + t[c][level][e];
      whole[(y + lane / 4 + e / 2 * 8) * FUSED_SIDE + x + c * 8 + lane % 4 * 2 + e % 2] = sum;
    }
}

/* ---- ends -------------------------------------------------------------------------------------
 */

/* Of a tile's lines, A's and then B's: the largest magnitude, and what a sum is multiplied by. */
struct fused_ends {
  double power[2 * FUSED_SIDE];
  uint32_t of[2 * FUSED_SIDE];
  bool all_have_read; /* all blocks, the magnitudes */
};

/* A tile's elements, a column a thread, so that neighbours are stored by neighbours. */
struct fused_elements {
  int64_t batch, i, j;

  __device__ inline void store(const fused_job &job, const fused_ends &ends,
                               const int64_t *sums) const {
    const fixed_job &fixed = job.fixed;
    const int column = threadIdx.x % FUSED_SIDE, b = FUSED_SIDE + column;
    if (j + column >= fixed.end.n) return;
#pragma unroll 4
    for (int e = threadIdx.x; e < FUSED_SIDE * FUSED_SIDE; e += FUSED_THREADS) {
      const int a = e / FUSED_SIDE;
      if (i + a >= fixed.end.m) break;
      matmul_store(fixed.end, batch, i + a, j + column,
                   job.k <= MATMUL_SHORT_K
                       ? matmul_short_t(sums[e], ends.power[a], ends.power[b])
                       : matmul_fixed_t(sums[e], ends.of[a], ends.of[b], fixed.digits));
    }
  }

  /* A piece's share; the last block of the tile stores what all have added up, and leaves zeros. */
  __device__ inline void add_up(const fused_job &job, const fused_ends &ends, int64_t *share,
                                unsigned *counter) const {
    const fixed_job &fixed = job.fixed;
    const int column = threadIdx.x % FUSED_SIDE, row = threadIdx.x / FUSED_SIDE;
    enum { STEP = FUSED_THREADS / FUSED_SIDE, EACH = FUSED_SIDE / STEP };
    const int64_t here = (fixed.end.m - i - row + STEP - 1) / STEP;
    const int count = j + column >= fixed.end.n ? 0 : here < EACH ? (int)here : EACH;
    unsigned long long *at =
        fixed.sums + (batch * fixed.end.m + i + row) * fixed.end.n + j + column;
    const int64_t step = STEP * fixed.end.n;
#pragma unroll 4
    for (int e = 0; e < count; e++)
      atomicAdd(at + e * step, (unsigned long long)share[threadIdx.x + e * FUSED_THREADS]);
    if (!rung_is_last(counter, fixed.pieces)) return;
    unsigned long long sums[EACH]; /* all are on their way at once */
#pragma unroll
    for (int e = 0; e < EACH; e++) sums[e] = e < count ? rung_load_relaxed(at + e * step) : 0;
#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (e < count) {
        share[threadIdx.x + e * FUSED_THREADS] = (int64_t)sums[e];
        at[e * step] = 0;
      }
    store(job, ends, share);
  }
};

/* The largest magnitudes become what they were before the first launch. */
static __device__ inline void fused_leave_zeros(const fused_job &job) {
  for (int64_t l = threadIdx.x; l < job.a.matrices * job.a.lines; l += FUSED_THREADS)
    job.a.largest[l] = 0;
  for (int64_t l = threadIdx.x; l < job.b.matrices * job.b.lines; l += FUSED_THREADS)
    job.b.largest[l] = 0;
}

__global__ void __launch_bounds__(FUSED_THREADS, 2)
    matmul_fused(fused_job job, matmul_tiles tiles) {
  __shared__ uint4 digits_of[2 * FUSED_SIDE * FUSED_FOURS];
  __shared__ float2 scales[2 * FUSED_SIDE];
  __shared__ fused_ends ends;
  const fixed_job &fixed = job.fixed;
  const int64_t number = blockIdx.x / (unsigned)fixed.pieces;
  const int64_t from = blockIdx.x % (unsigned)fixed.pieces * fixed.piece;
  const int64_t end = from + fixed.piece < job.k ? from + fixed.piece : job.k;
  const matmul_tile tile = matmul_tile_at<FUSED_SIDE, FUSED_SIDE>(tiles, number);
  const int64_t a_matrix = job.a.matrices > 1 ? tile.batch : 0,
                b_matrix = job.b.matrices > 1 ? tile.batch : 0;
  const int t = threadIdx.x, warp = t / 32, digits = fixed.digits;
  const int left = 8 * digits - 1 - job.bits;
  const int y = warp % 4 * 16, x = warp / 4 * (FUSED_ACROSS * 8);
  rung_await_before();
  if (t < 2 * FUSED_SIDE) {
    const bool of_a = t < FUSED_SIDE;
    const int64_t lines = of_a ? job.a.lines : job.b.lines;
    const int64_t line = of_a ? tile.i + t : tile.j + t - FUSED_SIDE;
    const uint32_t *largest =
        of_a ? job.a.largest + a_matrix * lines : job.b.largest + b_matrix * lines;
    const uint32_t most = largest[line < lines ? line : lines - 1];
    const cut_shape shape = {0, 0, digits, job.bits, false};
    const cut_scale scale = cut_scale_of(most, shape);
    scales[t] = make_float2(scale.first, scale.second);
    ends.of[t] = most;
    ends.power[t] = matmul_line_power(most, of_a ? -8 * digits - 4 : 0);
  }
  __syncthreads();
  /* The block has read the largest magnitudes. Whether all have it asks at its end, which need not
   * wait for the answer then. */
  unsigned before = 0;
  if (t == 0) before = rung_count_in(job.done, gridDim.x - 1);
  int sums[FUSED_ACROSS][MATMUL_DIGITS][4] = {};
#pragma unroll 1
  for (int64_t l = from; l < end; l += FUSED_K) {
    fused_part a, b;
    a.read(job, job.a, a_matrix, tile.i, l, end);
    b.read(job, job.b, b_matrix, tile.j, l, end);
    __syncthreads();
    a.cut_into(digits_of, scales, job.a.step == 1, left, digits);
    b.cut_into(digits_of + FUSED_SIDE * FUSED_FOURS, scales + FUSED_SIDE, job.b.step == 1, left,
               digits);
    __syncthreads();
    fused_multiply(digits_of, digits_of + FUSED_SIDE * FUSED_FOURS, y, x, digits, sums);
  }
  __syncthreads();
  int64_t *whole = reinterpret_cast<int64_t *>(digits_of);
  fused_sum_up(sums, y, x, digits, whole);
  if (t == 0) ends.all_have_read = before == gridDim.x - 1;
  __syncthreads();
  const fused_elements elements = {tile.batch, tile.i, tile.j};
  if (fixed.pieces == 1)
    elements.store(job, ends, whole);
  else
    elements.add_up(job, ends, whole, fixed.counters + number);
  if (ends.all_have_read) fused_leave_zeros(job);
}

/* ---- launching --------------------------------------------------------------------------------
 */

static fused_operand fused_operand_of(const void *from, int64_t line, int64_t step, int64_t apart,
                                      int64_t matrices, int64_t lines, bool wide) {
  return {from, line, step, apart, matrices, lines, NULL, wide && step == 1};
}

extern "C" rung_status RUNG_ENTRY(matmul_fused)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  const matmul_planes planes = matmul_planes_of(task);
  const matmul_fused_cut cut = matmul_fused_cut_of(task);
  const matmul_tiles tiles = matmul_tiles_of(task, FUSED_SIDE, FUSED_SIDE);
  char *zeros = static_cast<char *>(task->zeros);
  fused_job job = {};
  fixed_job &fixed = job.fixed;
  fixed.end = matmul_job_of<uint16_t>(task);
  const matmul_job<uint16_t, float> &of = fixed.end;
  job.a = fused_operand_of(task->arrays[MATMUL_A].data, of.as.row, of.as.column, of.as.batch,
                           planes.a_matrices, p->m, of.a_wide);
  job.b = fused_operand_of(task->arrays[MATMUL_B].data, of.bs.column, of.bs.row, of.bs.batch,
                           planes.b_matrices, p->n, of.b_wide);
  job.a.largest = reinterpret_cast<uint32_t *>(zeros + cut.largest);
  job.b.largest = job.a.largest + planes.a_matrices * p->m;
  fixed.a_largest = job.a.largest;
  fixed.b_largest = job.b.largest;
  fixed.a_lines = planes.a_matrices > 1 ? p->m : 0;
  fixed.b_lines = planes.b_matrices > 1 ? p->n : 0;
  fixed.digits = planes.digits;
  fixed.pieces = cut.pieces;
  fixed.piece = cut.length;
  fixed.sums = reinterpret_cast<unsigned long long *>(zeros);
  fixed.counters = reinterpret_cast<unsigned *>(zeros + cut.counters);
  job.done = fixed.counters + (cut.pieces > 1 ? tiles.all : 0);
  job.k = p->k;
  job.bits = p->bits;
  job.bytes = (int)rung_dtype_bytes(p->types.in);
  job.look = cut.look;
  job.looks = cut.looks;
  if (tiles.all == 0) return RUNG_OK;
  if (p->k > 0)
    RUNG_LAUNCH(task, matmul_fused_look,
                matmul_grid((fused_strips(job.a) + fused_strips(job.b)) * job.looks), FUSED_THREADS,
                0, job);
  RUNG_LAUNCH_NEXT(task, matmul_fused, (unsigned)(tiles.all * cut.pieces), FUSED_THREADS, 0, job,
                   tiles);
  return RUNG_OK;
}
