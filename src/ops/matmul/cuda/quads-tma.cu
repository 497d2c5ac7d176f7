/* Rung `quads-tma`: the multiply-adds of `quads`, whose panels a warp of its own has brought by the
 * tensor memory accelerator. Warps that multiply issue no copies, and meet at no barrier of all.
 * Operands lie line beside line, or are copied so. Blocks stay, go from tile to tile, and share
 * those that do not come out even. */
#include "ops/matmul/cuda/ring.cuh"
#include "ops/matmul/cuda/share.cuh"
#include "ops/matmul/cuda/stream.cuh"
#include "ops/matmul/cuda/turn.cuh"
#include "ops/matmul/tiles.h"

extern "C" rung_status RUNG_ENTRY(matmul_quads)(const rung_task *task);

/* A tile of warps HIGH by WIDE, each four threads high and eight wide; a thread makes DOWN by
 * ACROSS. Panels are [l][line], without gaps: what a warp reads of one lies side by side. Warps
 * that multiply have TAKEN registers, from those that bring; 0: as many as all have. */
template <int HIGH_, int WIDE_, int DOWN_, int ACROSS_, int STAGES_, int RESIDENT_, int TAKEN_>
struct quads_shape {
  static constexpr int WARPS_HIGH = HIGH_, WARPS = HIGH_ * WIDE_, DOWN = DOWN_, ACROSS = ACROSS_,
                       STAGES = STAGES_, RESIDENT = RESIDENT_, TAKEN = TAKEN_, /* registers */
      DEPTH = 16, QUAD = 4, HIGH = HIGH_ * 4, WIDE = WIDE_ * 8,                /* threads */
      ROWS = HIGH * DOWN, COLUMNS = WIDE * ACROSS, THREADS = WARPS * 32 + (TAKEN > 0 ? 128 : 32),
                       A_BYTES = ROWS * DEPTH * (int)sizeof(float),
                       BYTES = A_BYTES + COLUMNS * DEPTH * (int)sizeof(float),
                       SHARED = 1024 + STAGES * (BYTES + 16);
};

/* Panels `from` to `to` of a tile, by one thread. */
template <typename F>
static __device__ inline void bring(matmul_ring<F> &ring, const matmul_tile &tile, int from, int to,
                                    const CUtensorMap *a, const CUtensorMap *b, bool a_batch,
                                    bool b_batch) {
  for (int p = from; p < to; p++) {
    rung_barrier_wait(ring.empty(), ring.phase ^ 1);
    rung_barrier_expect(ring.full(), F::BYTES);
    rung_tile_copy(ring.a(), a, ring.full(), (int)tile.i, p * F::DEPTH,
                   a_batch ? (int)tile.batch : 0);
    rung_tile_copy(ring.b(), b, ring.full(), (int)tile.j, p * F::DEPTH,
                   b_batch ? (int)tile.batch : 0);
    ring.go_on();
  }
}

/* A thread's numbers of a step, and its chains. */
template <typename F>
struct quads_thread {
  const float *base; /* where the ring's tiles begin */
  int y, x;
  float rows[2][F::DOWN], columns[2][F::ACROSS];
  float t[F::DOWN][F::ACROSS];

  __device__ inline quads_thread(const unsigned char *shared, const matmul_ring<F> &ring) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    base = reinterpret_cast<const float *>(shared + (ring.tiles - rung_shared_address(shared)));
    y = (warp % F::WARPS_HIGH * 4 + lane / 8) * F::QUAD;
    x = (warp / F::WARPS_HIGH * 8 + lane % 8) * F::QUAD;
  }
  __device__ inline void clear() {
#pragma unroll
    for (int r = 0; r < F::DOWN; r++)
#pragma unroll
      for (int c = 0; c < F::ACROSS; c++) t[r][c] = 0;
  }
  __device__ inline void take(const matmul_ring<F> &ring, int step, int which) {
    const float *a = base + ring.stage * (F::BYTES / (int)sizeof(float)) + y;
    const float *b = a - y + F::A_BYTES / (int)sizeof(float) + x;
    matmul_read<F::DOWN, F::HIGH * F::QUAD>(a + step * F::ROWS, rows[which]);
    matmul_read<F::ACROSS, F::WIDE * F::QUAD>(b + step * F::COLUMNS, columns[which]);
  }
  __device__ inline void work(int which) {
    matmul_step<F::DOWN, F::ACROSS>(rows[which], columns[which], t);
  }
};

/* Panels of a tile: `whole` ones, and then `left` steps of another. */
template <typename F>
static __device__ inline void make(matmul_ring<F> &ring, int whole, int left,
                                   quads_thread<F> &thread) {
  rung_barrier_wait(ring.full(), ring.phase);
  thread.take(ring, 0, 0);
#pragma unroll 1
  for (int p = 0; p < whole; p++) {
#pragma unroll
    for (int s = 0; s < F::DEPTH; s++) {
      if (s + 1 < F::DEPTH) {
        thread.take(ring, s + 1, (s + 1) % 2);
      } else {
        const uint32_t read = ring.empty();
        ring.go_on();
        if (p + 1 < whole || left > 0) {
          rung_barrier_wait(ring.full(), ring.phase);
          thread.take(ring, 0, 0);
        }
        matmul_ring_release(read);
      }
      thread.work(s % 2);
    }
  }
  if (left == 0) return;
#pragma unroll 1
  for (int s = 0; s < left; s++) {
    thread.take(ring, s, 0);
    thread.work(0);
  }
  matmul_ring_release(ring.empty());
  ring.go_on();
}

template <typename F>
static __device__ inline void store(const matmul_job<float, float> &job, const matmul_tile &tile,
                                    const quads_thread<F> &thread) {
  if (matmul_is_plain<F>(job, tile))
    return matmul_store_plain<F>(job, tile, thread.y, thread.x, thread.t);
#pragma unroll
  for (int r = 0; r < F::DOWN; r++) {
    const int64_t i = tile.i + r / F::QUAD * F::HIGH * F::QUAD + thread.y + r % F::QUAD;
    if (i >= job.m) continue;
#pragma unroll
    for (int q = 0; q < F::ACROSS; q += F::QUAD)
      matmul_store_run<F::QUAD>(job, tile.batch, i, tile.j + q * F::WIDE + thread.x, tile.j,
                                &thread.t[r][q]);
  }
}

/* Whole tiles, where they come out even: without what sharing needs, a product that gives each
 * block one long tile (64 by 16384 by 16384) takes an eighth less. */
template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_quads_tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                     matmul_job<float, float> job, matmul_tiles tiles) {
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  matmul_ring<F> ring(shared);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) ring.begin(F::WARPS);
  __syncthreads();
  const int whole = (int)(job.k / F::DEPTH), left = (int)(job.k % F::DEPTH);
  if (warp >= F::WARPS) {
    if (F::TAKEN > 0) rung_registers_give<24>();
    rung_await_before();
    if (threadIdx.x != F::WARPS * 32) return;
    for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x)
      bring<F>(ring, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number), 0, whole + (left > 0), &a,
               &b, job.as.batch != 0, job.bs.batch != 0);
    return;
  }
  if constexpr (F::TAKEN > 0) rung_registers_take<F::TAKEN>();
  quads_thread<F> thread(shared, ring);
  for (int64_t number = blockIdx.x; number < tiles.all; number += gridDim.x) {
    thread.clear();
    make(ring, whole, left, thread);
    store(job, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number), thread);
  }
}

/* The same of blocks that share tiles. What a block does is asked for again behind each tile: kept
 * in registers meanwhile it would make chains spill. */
template <typename F>
__global__ void __launch_bounds__(F::THREADS, F::RESIDENT)
    matmul_quads_tma_shared(const __grid_constant__ CUtensorMap a,
                            const __grid_constant__ CUtensorMap b, matmul_job<float, float> job,
                            matmul_tiles tiles, matmul_share share) {
  static_assert(F::WARPS <= MATMUL_QUADS_TMA_WARPS, "a mark for each warp");
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  __shared__ matmul_turns turns;
  matmul_ring<F> ring(shared);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    ring.begin(F::WARPS);
    rung_await_before(); /* the tickets may be those of the launch before */
    turns.begin(share, matmul_ticket(share));
  }
  __syncthreads();
  const int whole = (int)(job.k / F::DEPTH), left = (int)(job.k % F::DEPTH);
  if (warp >= F::WARPS) {
    if (F::TAKEN > 0) rung_registers_give<32>();
    rung_await_before();
    if (threadIdx.x != F::WARPS * 32) return;
    for (int turn = 0;; turn++) {
      const matmul_part part = turns.at(share, turn);
      if (part.tile >= tiles.all) return;
      bring<F>(ring, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, part.tile), part.from, part.to, &a,
               &b, job.as.batch != 0, job.bs.batch != 0);
    }
  }
  /* Eight fewer, as those that bring have eight more. */
  if constexpr (F::TAKEN > 0) rung_registers_take<F::TAKEN - 8>();
  quads_thread<F> thread(shared, ring);
  const auto chain = [&](int e) -> float & { return thread.t[e / F::ACROSS][e % F::ACROSS]; };
  for (int turn = 0;; turn++) {
    matmul_part part = turns.at(share, turn);
    if (part.tile >= tiles.all) return;
    if (part.from > 0)
      matmul_take_chains<F::WARPS, F::DOWN * F::ACROSS, float>(share, turns.number, warp, chain);
    else
      thread.clear();
    make(ring, (part.to < whole ? part.to : whole) - part.from, part.to == share.panels ? left : 0,
         thread);
    part = turns.at(share, turn);
    if (part.to == share.panels)
      store(job, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, part.tile), thread);
    else
      matmul_leave_chains<F::WARPS, F::DOWN * F::ACROSS, float>(share, turns.number, warp, chain);
  }
}

/* ---- launching --------------------------------------------------------------------------------
 */

static rung_status map_of(const rung_task *task, const float *from, int64_t lines, int64_t k,
                          int64_t step, int64_t matrices, int64_t matrix, int box,
                          CUtensorMap *map) {
  rung_tile_map of = {};
  of.base = from;
  of.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  of.plain = true;
  of.extent[0] = lines;
  of.extent[1] = k;
  of.extent[2] = matrices;
  of.apart[0] = step * (int64_t)sizeof(float);
  of.apart[1] = matrices == 1 ? of.apart[0] * k : matrix * (int64_t)sizeof(float);
  of.box = (unsigned)box;
  of.rows = 16;
  return rung_cuda_tile_map(task, &of, map);
}

template <int HIGH, int WIDE, int DOWN, int ACROSS, int STAGES, int RESIDENT, int TAKEN>
static rung_status run(const rung_task *task, const matmul_job<float, float> &job) {
  typedef quads_shape<HIGH, WIDE, DOWN, ACROSS, STAGES, RESIDENT, TAKEN> F;
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t blocks = (int64_t)task->device->processors * F::RESIDENT;
  CUtensorMap a, b;
  rung_status status = map_of(task, job.a, job.m, job.k, job.as.column,
                              job.as.batch == 0 ? 1 : job.batch, job.as.batch, F::ROWS, &a);
  if (status == RUNG_OK)
    status = map_of(task, job.b, job.n, job.k, job.bs.row, job.bs.batch == 0 ? 1 : job.batch,
                    job.bs.batch, F::COLUMNS, &b);
  if (status != RUNG_OK) return status;
  const matmul_turned turned = matmul_tma_turned_of(task);
  const matmul_share share =
      matmul_share_of(task, tiles.all, blocks, F::DEPTH, turned.a_bytes + turned.b_bytes);
  const unsigned grid = (unsigned)(tiles.all < blocks ? tiles.all : blocks);
  if (share.cut == 0) {
    RUNG_ALLOW_SHARED(task, (matmul_quads_tma<F>), F::SHARED);
    RUNG_LAUNCH_NEXT(task, (matmul_quads_tma<F>), grid, F::THREADS, F::SHARED, a, b, job, tiles);
  } else {
    RUNG_ALLOW_SHARED(task, (matmul_quads_tma_shared<F>), F::SHARED);
    RUNG_LAUNCH_NEXT(task, (matmul_quads_tma_shared<F>), grid, F::THREADS, F::SHARED, a, b, job,
                     tiles, share);
  }
  return RUNG_OK;
}

/* The tiles of tiles.h, in their order. What the accelerator cannot bring is copied first; where
 * there is nothing to bring, `quads` ends chains of no steps. */
extern "C" rung_status RUNG_ENTRY(matmul_quads_tma)(const rung_task *task) {
  if (static_cast<const matmul_problem *>(task->problem)->k == 0)
    return RUNG_ENTRY(matmul_quads)(task);
  auto job = matmul_job_of<float>(task);
  double cost;
  const rung_status status = matmul_turn_operands(task, matmul_tma_turned_of(task), &job);
  if (status != RUNG_OK) return status;
  switch (matmul_quads_tma_tile(task, &cost)) {
    case 0:
      return run<4, 1, 16, 8, 4, 2, 232>(task, job);
    case 1:
      return run<2, 2, 8, 8, 4, 3, 136>(task, job);
    case 2:
      return run<2, 2, 8, 4, 8, 3, 0>(task, job);
    default:
      return run<2, 2, 4, 4, 8, 3, 0>(task, job);
  }
}
