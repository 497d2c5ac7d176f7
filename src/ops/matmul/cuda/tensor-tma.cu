/* Rung `tensor-tma`: the products of `tensor`, whose panels a warp of its own has brought by the
 * tensor memory accelerator. Warps that multiply issue no copies and meet at no barrier of all: a
 * stage's own barriers say that it has come, and that it has been read. So some read shared memory
 * while others multiply. Blocks stay, and go from tile to tile. */
#include "ops/matmul/cuda/feed.cuh"
#include "ops/matmul/cuda/ring.cuh"
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
};

struct tma_walk {
  int panels, whole;     /* of k; of which so many have DEPTH steps */
  bool a_batch, b_batch; /* whether there is one for each matrix */
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

/* One thread: brings all that the block's tiles need. */
template <typename F>
static __device__ inline void bring_all(matmul_ring<F> ring, const matmul_tiles &tiles,
                                        const tma_walk &walk, const CUtensorMap *a,
                                        const CUtensorMap *b) {
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    const int of_a = walk.a_batch ? (int)tile.batch : 0, of_b = walk.b_batch ? (int)tile.batch : 0;
    for (int p = 0; p < walk.panels; p++) {
      rung_barrier_wait(ring.empty(), ring.phase ^ 1);
      rung_barrier_expect(ring.full(), F::BYTES);
      bring_panel<F::ROWS, F::WAY_A>(ring.a(), a, ring.full(), p * DEPTH, (int)tile.i, of_a);
      bring_panel<F::COLUMNS, F::WAY_B>(ring.b(), b, ring.full(), p * DEPTH, (int)tile.j, of_b);
      ring.go_on();
    }
  }
}

template <typename F>
struct tma_lane {
  int g, q, y, x;      /* of the lane in a product; of its warp in the tile */
  uint32_t of_a, of_b; /* its places in panels */
  double rows[2][F::DOWN][F::SLICE / 2], columns[2][F::ACROSS][F::SLICE / 4];
  double t[F::DOWN][F::ACROSS][4];

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

/* All panels of a tile. */
template <typename F>
static __device__ inline void make(matmul_ring<F> &ring, const tma_walk &walk, int left,
                                   tma_lane<F> &lane) {
  static_assert(DEPTH / F::SLICE % 2 == 0, "slices by turns");
  rung_barrier_wait(ring.full(), ring.phase);
  if (walk.whole > 0) lane.take(ring, 0, 0);
#pragma unroll 1
  for (int p = 0; p < walk.whole; p++) {
#pragma unroll
    for (int s = 1; s < DEPTH / F::SLICE; s++) {
      lane.take(ring, s, s % 2);
      lane.work((s - 1) % 2);
    }
    const uint32_t read = ring.empty();
    ring.go_on();
    if (p + 1 < walk.panels) rung_barrier_wait(ring.full(), ring.phase);
    if (p + 1 < walk.whole) lane.take(ring, 0, 0);
    matmul_ring_release(read);
    lane.work(1);
  }
  if (walk.whole == walk.panels) return;
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

template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_tensor_tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                      matmul_job<double, double> job, matmul_tiles tiles, tma_walk walk) {
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  matmul_ring<F> ring(shared);
  const int warp = threadIdx.x / 32, of = threadIdx.x % 32;
  if (threadIdx.x == 0) ring.begin(F::WARPS);
  __syncthreads();
  if (warp >= F::WARPS) {
    if (F::GIVES) rung_registers_give<24>();
    if (threadIdx.x == F::WARPS * 32) bring_all<F>(ring, tiles, walk, &a, &b);
    return;
  }
  if (F::GIVES) rung_registers_take<F::TAKEN>();
  tma_lane<F> lane;
  lane.g = of / 4;
  lane.q = of % 4;
  lane.y = warp % F::HIGH * F::DOWN * 16;
  lane.x = warp / F::HIGH * F::ACROSS * 8;
  lane.of_a = (uint32_t)(lane.y * WIDTH) + place_of<F::WAY_A>(lane.g, lane.q);
  lane.of_b = (uint32_t)(lane.x * WIDTH) + place_of<F::WAY_B>(lane.g, lane.q);
  const int left = (int)(job.k - (int64_t)walk.whole * DEPTH);
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
#pragma unroll
    for (int r = 0; r < F::DOWN; r++)
#pragma unroll
      for (int c = 0; c < F::ACROSS; c++)
#pragma unroll
        for (int e = 0; e < 4; e++) lane.t[r][c][e] = 0;
    make(ring, walk, left, lane);
    store(job, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number), lane);
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
static rung_status run(const rung_task *task) {
  typedef tma_shape<HIGH, WIDE, DOWN, ACROSS, SLICE, STAGES, RESIDENT, WAY_A, WAY_B> F;
  const matmul_job<double, double> job = matmul_job_of<double>(task);
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t a_matrices = job.as.batch == 0 ? 1 : job.batch;
  const int64_t b_matrices = job.bs.batch == 0 ? 1 : job.batch;
  const int64_t blocks = (int64_t)task->device->processors * F::RESIDENT;
  const tma_walk walk = {(int)((job.k + DEPTH - 1) / DEPTH), (int)(job.k / DEPTH), a_matrices > 1,
                         b_matrices > 1};
  CUtensorMap a, b;
  rung_status status =
      map_of(task, job.a, WAY_A, job.k, job.m, WAY_A == MATMUL_STEPS ? job.as.row : job.as.column,
             a_matrices, job.as.batch, F::ROWS, &a);
  if (status == RUNG_OK)
    status =
        map_of(task, job.b, WAY_B, job.k, job.n, WAY_B == MATMUL_STEPS ? job.bs.column : job.bs.row,
               b_matrices, job.bs.batch, F::COLUMNS, &b);
  if (status != RUNG_OK) return status;
  RUNG_ALLOW_SHARED(task, (matmul_tensor_tma<F>), F::SHARED);
  RUNG_LAUNCH(task, (matmul_tensor_tma<F>), (unsigned)(tiles.all < blocks ? tiles.all : blocks),
              F::THREADS, F::SHARED, a, b, job, tiles, walk);
  return RUNG_OK;
}

/* The tiles of tiles.h, in their order. */
template <matmul_way WAY_A, matmul_way WAY_B>
static rung_status run_size(const rung_task *task) {
  double cost;
  switch (matmul_tma_tile(task, &cost)) {
    case 0:
      return run<2, 4, 4, 4, 8, 6, 1, WAY_A, WAY_B>(task);
    case 1:
      return run<2, 2, 4, 4, 8, 4, 2, WAY_A, WAY_B>(task);
    default:
      return run<2, 2, 2, 4, 4, 4, 3, WAY_A, WAY_B>(task);
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
