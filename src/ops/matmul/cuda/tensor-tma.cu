/* Rung `tensor-tma`: the products of `tensor`, whose panels a warp of its own has brought by the
 * tensor memory accelerator. Warps that multiply issue no copies and meet at no barrier of all: a
 * stage's own barriers say that it has come, and that it has been read. So some read shared memory
 * while others multiply. Blocks stay, go from tile to tile, and share those that do not come out
 * even. */
#include "ops/matmul/cuda/feed.cuh"
#include "ops/matmul/cuda/ring.cuh"
#include "ops/matmul/cuda/share.cuh"
#include "ops/matmul/modes.h"
#include "ops/matmul/tiles.h"

extern "C" rung_status RUNG_ENTRY(matmul_tensor)(const rung_task *task);

/* ---- panels -----------------------------------------------------------------------------------
 *
 * 128 bytes a line, their 16-byte parts swizzled: of a line's 16 steps of k; or, where lines go on
 * in memory, of 16 lines at a step. Which lines the eight rows (or columns) of half a product of 16
 * are is free: they are those that four threads by four steps, half a warp, find in other banks. */
enum { DEPTH = 16, WIDTH = 128, BOX = DEPTH * WIDTH };

/* Row g of eight number `eight`: its line. */
template <matmul_way WAY>
static __device__ inline int line_of(int eight, int g) {
  return WAY == MATMUL_STEPS ? eight * 8 + g % 4 * 2 + g / 4
                             : eight / 2 * 16 + (g / 2 % 2 * 4 + g / 4 + eight % 2 * 2) * 2 + g % 2;
}

/* Where step q of row g lies, of the first eight and the first four steps: a lane's place. */
template <matmul_way WAY>
static __device__ inline uint32_t place_of(int g, int q) {
  const int line = line_of<WAY>(0, g);
  return WAY == MATMUL_STEPS ? (uint32_t)(line * WIDTH + ((q / 2) ^ line) * 16 + q % 2 * 8)
                             : (uint32_t)(q * WIDTH + ((line / 2) ^ q) * 16 + line % 2 * 8);
}

/* The same of another eight and other four steps, from a lane's place in a panel on: what the
 * swizzle makes of them are two bits that are turned over. */
template <matmul_way WAY>
static __device__ inline uint32_t moved(uint32_t place, int eight, int four) {
  return WAY == MATMUL_STEPS ? (place ^ (uint32_t)(four * 32)) + (uint32_t)(eight * 8 * WIDTH)
                             : (place ^ (uint32_t)(eight % 2 * 32 + four % 2 * 64)) +
                                   (uint32_t)(eight / 2 * BOX + four * 4 * WIDTH);
}

/* ---- a tile -----------------------------------------------------------------------------------
 */

/* Of warps HIGH by WIDE, which make DOWN by ACROSS products of 16 by 8, of SLICE steps at once. */
template <int HIGH_, int WIDE_, int DOWN_, int ACROSS_, int SLICE_, int STAGES_, int RESIDENT_,
          matmul_way WAY_A_, matmul_way WAY_B_>
struct tma_shape {
  static constexpr matmul_way WAY_A = WAY_A_, WAY_B = WAY_B_;
  static constexpr int HIGH = HIGH_, DOWN = DOWN_, ACROSS = ACROSS_, SLICE = SLICE_,
                       STAGES = STAGES_, RESIDENT = RESIDENT_, WARPS = HIGH * WIDE_,
                       ROWS = HIGH * DOWN * 16, COLUMNS = WIDE_ * ACROSS * 8,
                       A_BYTES = ROWS * WIDTH, BYTES = A_BYTES + COLUMNS * WIDTH,
                       SHARED = 1024 + STAGES * (BYTES + 16);
  /* Registers go from warpgroup to warpgroup, of products that take more than there are for all. */
  static constexpr bool GIVES = DOWN * ACROSS >= 16;
  static constexpr int THREADS = WARPS * 32 + (GIVES ? 128 : 32), TAKEN = WARPS == 8 ? 240 : 232;
  static constexpr int TAKEN_SHARED = TAKEN - 8; /* as those that bring have 32 instead of 24 */
  static constexpr int SUMS = DOWN * ACROSS * 4; /* of a lane */
};

template <int LINES, matmul_way WAY>
static __device__ inline void bring_panel(uint32_t to, const CUtensorMap *map, uint32_t full,
                                          int step, int line, int matrix) {
  if constexpr (WAY == MATMUL_STEPS) {
    rung_tile_copy(to, map, full, step, line, matrix);
  } else {
#pragma unroll
    for (int box = 0; box < LINES / 16; box++)
      rung_tile_copy(to + box * BOX, map, full, line + box * 16, step, matrix);
  }
}

/* Panels `from` to `to` of a tile, by one thread. */
template <typename F>
static __device__ inline void bring(matmul_ring<F> &ring, const matmul_tile &tile, int from, int to,
                                    const CUtensorMap *a, const CUtensorMap *b, bool a_batch,
                                    bool b_batch) {
  const int of_a = a_batch ? (int)tile.batch : 0, of_b = b_batch ? (int)tile.batch : 0;
  for (int p = from; p < to; p++) {
    rung_barrier_wait(ring.empty(), ring.phase ^ 1);
    rung_barrier_expect(ring.full(), F::BYTES);
    bring_panel<F::ROWS, F::WAY_A>(ring.a(), a, ring.full(), p * DEPTH, (int)tile.i, of_a);
    bring_panel<F::COLUMNS, F::WAY_B>(ring.b(), b, ring.full(), p * DEPTH, (int)tile.j, of_b);
    ring.go_on();
  }
}

template <typename F>
struct tma_lane {
  int g, q, y, x;      /* of the lane in a product; of its warp in the tile */
  uint32_t of_a, of_b; /* its places in panels */
  double rows[2][F::DOWN][F::SLICE / 2], columns[2][F::ACROSS][F::SLICE / 4];
  double t[F::DOWN][F::ACROSS][4];

  __device__ inline tma_lane() {
    const int warp = threadIdx.x / 32, of = threadIdx.x % 32;
    g = of / 4;
    q = of % 4;
    y = warp % F::HIGH * F::DOWN * 16;
    x = warp / F::HIGH * F::ACROSS * 8;
    of_a = (uint32_t)(y * WIDTH) + place_of<F::WAY_A>(g, q);
    of_b = (uint32_t)(x * WIDTH) + place_of<F::WAY_B>(g, q);
  }
  __device__ inline double &sum(int e) {
    return t[e / 4 / F::ACROSS][e / 4 % F::ACROSS][e % 4];
  }
  __device__ inline void clear() {
#pragma unroll
    for (int e = 0; e < F::SUMS; e++) sum(e) = 0;
  }
  __device__ inline int row(int r, int half) const {
    return y + line_of<F::WAY_A>(r * 2 + half, g);
  }
  __device__ inline int column(int c, int of) const {
    return x + line_of<F::WAY_B>(c, of);
  }

  __device__ inline void take(const matmul_ring<F> &ring, int slice, int which) {
    const uint32_t a = ring.a() + of_a, b = ring.b() + of_b;
#pragma unroll
    for (int r = 0; r < F::DOWN; r++)
#pragma unroll
      for (int e = 0; e < F::SLICE / 2; e++)
        rows[which][r][e] =
            rung_load_f64(moved<F::WAY_A>(a, r * 2 + e % 2, slice * (F::SLICE / 4) + e / 2));
#pragma unroll
    for (int c = 0; c < F::ACROSS; c++)
#pragma unroll
      for (int e = 0; e < F::SLICE / 4; e++)
        columns[which][c][e] = rung_load_f64(moved<F::WAY_B>(b, c, slice * (F::SLICE / 4) + e));
  }
  __device__ inline void work(int which) {
#pragma unroll
    for (int c = 0; c < F::ACROSS; c++)
#pragma unroll
      for (int r = 0; r < F::DOWN; r++)
        rung_product_f64(t[r][c], rows[which][r], columns[which][c]);
  }
  /* A step that is left out is none, and one of zeros would be. */
  __device__ inline void work_steps(const matmul_ring<F> &ring, int left) {
#pragma unroll 1
    for (int l = 0; l < left; l++) {
      const uint32_t a = ring.a() + (uint32_t)(y * WIDTH) + place_of<F::WAY_A>(g, l % 4);
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const uint32_t b = ring.b() + (uint32_t)(x * WIDTH) + place_of<F::WAY_B>(q * 2 + e, l % 4);
#pragma unroll
        for (int r = 0; r < F::DOWN; r++)
#pragma unroll
          for (int c = 0; c < F::ACROSS; c++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
              double &sum = t[r][c][half * 2 + e];
              sum = fma(rung_load_f64(moved<F::WAY_A>(a, r * 2 + half, l / 4)),
                        rung_load_f64(moved<F::WAY_B>(b, c, l / 4)), sum);
            }
      }
    }
  }
};

/* Panels of a tile: `whole` ones, and then `left` steps of another. */
template <typename F>
static __device__ inline void make(matmul_ring<F> &ring, int whole, int left, tma_lane<F> &lane) {
  static_assert(DEPTH / F::SLICE % 2 == 0, "slices by turns");
  rung_barrier_wait(ring.full(), ring.phase);
  if (whole > 0) lane.take(ring, 0, 0);
#pragma unroll 1
  for (int p = 0; p < whole; p++) {
#pragma unroll
    for (int s = 1; s < DEPTH / F::SLICE; s++) {
      lane.take(ring, s, s % 2);
      lane.work((s - 1) % 2);
    }
    const uint32_t read = ring.empty();
    ring.go_on();
    if (p + 1 < whole || left > 0) rung_barrier_wait(ring.full(), ring.phase);
    if (p + 1 < whole) lane.take(ring, 0, 0);
    matmul_ring_release(read);
    lane.work(1);
  }
  if (left == 0) return;
  lane.work_steps(ring, left);
  matmul_ring_release(ring.empty());
  ring.go_on();
}

template <typename F>
static __device__ inline void store(const matmul_job<double, double> &job, const matmul_tile &tile,
                                    const tma_lane<F> &lane) {
#pragma unroll
  for (int r = 0; r < F::DOWN; r++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int64_t i = tile.i + lane.row(r, half);
      if (i >= job.m) continue;
#pragma unroll
      for (int c = 0; c < F::ACROSS; c++) {
        const int64_t j = tile.j + lane.column(c, lane.q * 2);
        if constexpr (F::WAY_B == MATMUL_LINES) {
          matmul_store_run<2>(job, tile.batch, i, j, tile.j, &lane.t[r][c][half * 2]);
        } else {
          const int64_t other = tile.j + lane.column(c, lane.q * 2 + 1);
          if (j < job.n) matmul_store(job, tile.batch, i, j, lane.t[r][c][half * 2]);
          if (other < job.n) matmul_store(job, tile.batch, i, other, lane.t[r][c][half * 2 + 1]);
        }
      }
    }
}

/* Whole tiles, where they come out even: without what sharing needs. */
template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_tensor_tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      matmul_job<double, double> job, matmul_tiles tiles) {
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  matmul_ring<F> ring(shared);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) ring.begin(F::WARPS);
  __syncthreads();
  const int whole = (int)(job.k / DEPTH), left = (int)(job.k % DEPTH);
  if (warp >= F::WARPS) {
    if (F::GIVES) rung_registers_give<24>();
    if (threadIdx.x != F::WARPS * 32) return;
    for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x)
      bring<F>(ring, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number), 0, whole + (left > 0), &a,
               &b, job.as.batch != 0, job.bs.batch != 0);
    return;
  }
  if (F::GIVES) rung_registers_take<F::TAKEN>();
  tma_lane<F> lane;
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    lane.clear();
    make(ring, whole, left, lane);
    store(job, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number), lane);
  }
}

/* The same of blocks that share tiles. What a block does is asked for again behind each tile: kept
 * in registers meanwhile it would make sums spill. */
template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_tensor_tma_shared(const __grid_constant__ CUtensorMap a,
                             const __grid_constant__ CUtensorMap b, matmul_job<double, double> job,
                             matmul_tiles tiles, matmul_share share) {
  static_assert(F::WARPS <= MATMUL_TMA_WARPS, "a mark for each warp");
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  __shared__ matmul_turns turns;
  matmul_ring<F> ring(shared);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    ring.begin(F::WARPS);
    turns.begin(share, matmul_ticket(share));
  }
  __syncthreads();
  const int whole = (int)(job.k / DEPTH), left = (int)(job.k % DEPTH);
  if (warp >= F::WARPS) {
    if (F::GIVES) rung_registers_give<32>();
    if (threadIdx.x != F::WARPS * 32) return;
    for (int turn = 0;; turn++) {
      const matmul_part part = turns.at(share, turn);
      if (part.tile >= tiles.all) return;
      bring<F>(ring, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, part.tile), part.from, part.to, &a,
               &b, job.as.batch != 0, job.bs.batch != 0);
    }
  }
  if (F::GIVES) rung_registers_take<F::TAKEN_SHARED>();
  tma_lane<F> lane;
  const auto sum = [&](int e) -> double & { return lane.sum(e); };
  for (int turn = 0;; turn++) {
    matmul_part part = turns.at(share, turn);
    if (part.tile >= tiles.all) return;
    if (part.from > 0)
      matmul_take_chains<F::WARPS, F::SUMS, double>(share, turns.number, warp, sum);
    else
      lane.clear();
    make(ring, (part.to < whole ? part.to : whole) - part.from, part.to == share.panels ? left : 0,
         lane);
    part = turns.at(share, turn);
    if (part.to == share.panels)
      store(job, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, part.tile), lane);
    else
      matmul_leave_chains<F::WARPS, F::SUMS, double>(share, turns.number, warp, sum);
  }
}

/* ---- launching --------------------------------------------------------------------------------
 */

/* `lines` of k steps, of which either goes on in memory. */
static rung_status map_of(const rung_task *task, const double *from, matmul_way way, int64_t k,
                          int64_t lines, int64_t line, int64_t matrices, int64_t matrix, int box,
                          CUtensorMap *map) {
  rung_tile_map of = {};
  of.base = from;
  of.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  of.extent[0] = way == MATMUL_STEPS ? k : lines;
  of.extent[1] = way == MATMUL_STEPS ? lines : k;
  of.extent[2] = matrices;
  of.apart[0] = line * (int64_t)sizeof(double);
  /* A single matrix may be any distance from the next. */
  of.apart[1] = matrices == 1 ? of.apart[0] * of.extent[1] : matrix * (int64_t)sizeof(double);
  of.box = WIDTH / sizeof(double);
  of.swizzle = 128;
  of.rows = (unsigned)(way == MATMUL_STEPS ? box : DEPTH);
  return rung_cuda_tile_map(task, &of, map);
}

template <int HIGH, int WIDE, int DOWN, int ACROSS, int SLICE, int STAGES, int RESIDENT,
          matmul_way WAY_A, matmul_way WAY_B>
static rung_status run(const rung_task *task, const matmul_group *tile) {
  typedef tma_shape<HIGH, WIDE, DOWN, ACROSS, SLICE, STAGES, RESIDENT, WAY_A, WAY_B> F;
  const matmul_job<double, double> job = matmul_job_of<double>(task);
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t a_matrices = job.as.batch == 0 ? 1 : job.batch;
  const int64_t b_matrices = job.bs.batch == 0 ? 1 : job.batch;
  const int64_t blocks = (int64_t)task->device->processors * F::RESIDENT;
  CUtensorMap a, b;
  rung_status status =
      map_of(task, job.a, WAY_A, job.k, job.m, WAY_A == MATMUL_STEPS ? job.as.row : job.as.column,
             a_matrices, job.as.batch, F::ROWS, &a);
  if (status == RUNG_OK)
    status =
        map_of(task, job.b, WAY_B, job.k, job.n, WAY_B == MATMUL_STEPS ? job.bs.column : job.bs.row,
               b_matrices, job.bs.batch, F::COLUMNS, &b);
  if (status != RUNG_OK) return status;
  const matmul_share share = matmul_share_of(task, matmul_group_cut(task, tile), DEPTH, 0);
  const unsigned grid = (unsigned)(tiles.all < blocks ? tiles.all : blocks);
  if (share.cut == 0) {
    RUNG_ALLOW_SHARED(task, (matmul_tensor_tma<F>), F::SHARED);
    RUNG_LAUNCH(task, (matmul_tensor_tma<F>), grid, F::THREADS, F::SHARED, a, b, job, tiles);
  } else {
    RUNG_ALLOW_SHARED(task, (matmul_tensor_tma_shared<F>), F::SHARED);
    RUNG_LAUNCH(task, (matmul_tensor_tma_shared<F>), grid, F::THREADS, F::SHARED, a, b, job, tiles,
                share);
  }
  return RUNG_OK;
}

/* The tiles of tiles.h, in their order. */
template <matmul_way WAY_A, matmul_way WAY_B>
static rung_status run_size(const rung_task *task) {
  double cost;
  const int number = matmul_tma_tile(task, &cost);
  const matmul_group *tile = &matmul_tma_f64[number];
  switch (number) {
    case 0:
      return run<2, 4, 4, 4, 8, 6, 1, WAY_A, WAY_B>(task, tile);
    case 1:
      return run<2, 2, 4, 4, 8, 4, 2, WAY_A, WAY_B>(task, tile);
    default:
      return run<2, 2, 2, 4, 4, 4, 3, WAY_A, WAY_B>(task, tile);
  }
}

/* What the accelerator cannot bring from where it lies, `tensor` does. */
extern "C" rung_status RUNG_ENTRY(matmul_tensor_tma)(const rung_task *task) {
  const matmul_problem *p = static_cast<const matmul_problem *>(task->problem);
  if (!matmul_tma_may(task)) return RUNG_ENTRY(matmul_tensor)(task);
  if (p->a_turned)
    return p->b_turned ? run_size<MATMUL_LINES, MATMUL_STEPS>(task)
                       : run_size<MATMUL_LINES, MATMUL_LINES>(task);
  return p->b_turned ? run_size<MATMUL_STEPS, MATMUL_STEPS>(task)
                     : run_size<MATMUL_STEPS, MATMUL_LINES>(task);
}
