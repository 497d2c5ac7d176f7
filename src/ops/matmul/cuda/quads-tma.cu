/* Rung `quads-tma`: the multiply-adds of `quads`, whose panels a warp of its own has brought by the
 * tensor memory accelerator. Warps that multiply issue no copies, and meet at no barrier of all.
 * Operands lie line beside line, or are copied so; small tiles take A also as its k goes on in
 * memory. Blocks stay, go from tile to tile, and share
 * those that do not come out even. */
#include "ops/matmul/cuda/ring.cuh"
#include "ops/matmul/cuda/share.cuh"
#include "ops/matmul/cuda/stream.cuh"
#include "ops/matmul/cuda/turn.cuh"
#include "ops/matmul/tiles.h"

extern "C" rung_status RUNG_ENTRY(matmul_quads)(const rung_task *task);

/* A tile of warps HIGH by WIDE, each four threads high and eight wide; a thread makes DOWN by
 * ACROSS. Panels are [l][line], without gaps: what a warp reads of one lies side by side. ALONG:
 * A's are [line][l], as its k goes on in memory; four steps of a line are read at once, and a
 * thread's rows lie HIGH apart, so that those of a warp's four are in different banks. Warps that
 * multiply have TAKEN registers, from those that bring; 0: as many as all have. */
template <int HIGH_, int WIDE_, int DOWN_, int ACROSS_, int STAGES_, int RESIDENT_, int TAKEN_,
          bool ALONG_>
struct quads_shape {
  static constexpr bool ALONG = ALONG_;
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
    rung_tile_copy(ring.a(), a, ring.full(), F::ALONG ? p * F::DEPTH : (int)tile.i,
                   F::ALONG ? (int)tile.i : p * F::DEPTH, a_batch ? (int)tile.batch : 0);
    rung_tile_copy(ring.b(), b, ring.full(), (int)tile.j, p * F::DEPTH,
                   b_batch ? (int)tile.batch : 0);
    ring.go_on();
  }
}

/* Row `r` of a thread's, behind its first. */
template <typename F>
static __device__ constexpr int quads_row(int r) {
  return F::ALONG ? r * F::HIGH : r / F::QUAD * F::HIGH * F::QUAD + r % F::QUAD;
}

/* A thread's chains, and its numbers: of a step and the next one; ALONG, of A those of four steps
 * and the next four. */
template <typename F>
struct quads_thread {
  const float *base; /* where the ring's tiles begin */
  int y, x;
  float rows[2][F::ALONG ? 1 : F::DOWN], columns[2][F::ACROSS];
  matmul_quad<float> along[2][F::ALONG ? F::DOWN : 1];
  float t[F::DOWN][F::ACROSS];

  __device__ inline quads_thread(const unsigned char *shared, const matmul_ring<F> &ring) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    base = reinterpret_cast<const float *>(shared + (ring.tiles - rung_shared_address(shared)));
    y = (warp % F::WARPS_HIGH * 4 + lane / 8) * (F::ALONG ? 1 : F::QUAD);
    x = (warp / F::WARPS_HIGH * 8 + lane % 8) * F::QUAD;
  }
  __device__ inline void clear() {
#pragma unroll
    for (int r = 0; r < F::DOWN; r++)
#pragma unroll
      for (int c = 0; c < F::ACROSS; c++) t[r][c] = 0;
  }
  __device__ inline const float *panel(const matmul_ring<F> &ring) const {
    return base + ring.stage * (F::BYTES / (int)sizeof(float));
  }
  __device__ inline void take_columns(const float *panel, int step, int which) {
    matmul_read<F::ACROSS, F::WIDE * F::QUAD>(
        panel + F::A_BYTES / (int)sizeof(float) + x + step * F::COLUMNS, columns[which]);
  }
  __device__ inline void take(const float *panel, int step, int which) {
    matmul_read<F::DOWN, F::HIGH * F::QUAD>(panel + y + step * F::ROWS, rows[which]);
    take_columns(panel, step, which);
  }
  __device__ inline void work(int which) {
    matmul_step<F::DOWN, F::ACROSS>(rows[which], columns[which], t);
  }

  /* Four steps of the thread's first row; a line's 16 bytes are swapped by pairs of lines
   * (CU_TENSOR_MAP_SWIZZLE_64B). */
  __device__ inline const float *quad_at(const float *panel, int quad) const {
    return panel + y * F::DEPTH + (quad ^ (y / 2 % 4)) * F::QUAD;
  }
  __device__ inline void take_quad(const float *at, int r, int set) {
    along[set][r] = *reinterpret_cast<const matmul_quad<float> *>(at + r * F::HIGH * F::DEPTH);
  }
  /* One of four steps, in which a quarter of the rows' next four come in. */
  template <int STEP>
  __device__ inline void work_along(int set, const float *next, bool more) {
    constexpr int PART = F::DOWN / F::QUAD;
    float a[F::DOWN];
#pragma unroll
    for (int r = STEP * PART; r < (STEP + 1) * PART; r++)
      if (more) take_quad(next, r, 1 - set);
#pragma unroll
    for (int r = 0; r < F::DOWN; r++) a[r] = along[set][r].at[STEP];
    matmul_step<F::DOWN, F::ACROSS>(a, columns[STEP % 2], t);
  }
  /* Four steps of a panel; the next four are those of quad `then` of panel `next`. */
  __device__ inline void work_four(const float *panel, int quad, const float *next, int then,
                                   bool more) {
    const float *at = quad_at(next, then);
    const int set = quad % 2, s = quad * F::QUAD;
    take_columns(panel, s + 1, 1);
    work_along<0>(set, at, more);
    take_columns(panel, s + 2, 0);
    work_along<1>(set, at, more);
    take_columns(panel, s + 3, 1);
    work_along<2>(set, at, more);
    if (more) take_columns(next, then * F::QUAD, 0);
    work_along<3>(set, at, more);
  }
};

/* Panels of a tile: `whole` ones, and then `left` steps of another. */
template <typename F>
static __device__ inline void make(matmul_ring<F> &ring, int whole, int left,
                                   quads_thread<F> &thread) {
  rung_barrier_wait(ring.full(), ring.phase);
  thread.take(thread.panel(ring), 0, 0);
#pragma unroll 1
  for (int p = 0; p < whole; p++) {
#pragma unroll
    for (int s = 0; s < F::DEPTH; s++) {
      if (s + 1 < F::DEPTH) {
        thread.take(thread.panel(ring), s + 1, (s + 1) % 2);
      } else {
        const uint32_t read = ring.empty();
        ring.go_on();
        if (p + 1 < whole || left > 0) {
          rung_barrier_wait(ring.full(), ring.phase);
          thread.take(thread.panel(ring), 0, 0);
        }
        matmul_ring_release(read);
      }
      thread.work(s % 2);
    }
  }
  if (left == 0) return;
#pragma unroll 1
  for (int s = 0; s < left; s++) {
    thread.take(thread.panel(ring), s, 0);
    thread.work(0);
  }
  matmul_ring_release(ring.empty());
  ring.go_on();
}

/* The same where A's k goes on in memory. */
template <typename F>
static __device__ inline void make_along(matmul_ring<F> &ring, int whole, int left,
                                         quads_thread<F> &thread) {
  constexpr int QUADS = F::DEPTH / F::QUAD;
  static_assert(QUADS % 2 == 0 && F::QUAD == 4, "a panel begins with the first set of registers");
  rung_barrier_wait(ring.full(), ring.phase);
  if (whole > 0) {
    thread.take_columns(thread.panel(ring), 0, 0);
#pragma unroll
    for (int r = 0; r < F::DOWN; r++) thread.take_quad(thread.quad_at(thread.panel(ring), 0), r, 0);
  }
#pragma unroll 1
  for (int p = 0; p < whole; p++) {
    const float *panel = thread.panel(ring);
#pragma unroll
    for (int quad = 0; quad + 1 < QUADS; quad++)
      thread.work_four(panel, quad, panel, quad + 1, true);
    const uint32_t read = ring.empty();
    ring.go_on();
    if (p + 1 < whole || left > 0) rung_barrier_wait(ring.full(), ring.phase);
    thread.work_four(panel, QUADS - 1, thread.panel(ring), 0, p + 1 < whole);
    matmul_ring_release(read);
  }
  if (left == 0) return;
#pragma unroll 1
  for (int s = 0; s < left; s++) {
    const float *at = thread.quad_at(thread.panel(ring), s / F::QUAD) + s % F::QUAD;
    thread.take_columns(thread.panel(ring), s, 0);
#pragma unroll
    for (int r = 0; r < F::DOWN; r++) thread.along[0][r].at[0] = at[r * F::HIGH * F::DEPTH];
    thread.template work_along<0>(0, at, false);
  }
  matmul_ring_release(ring.empty());
  ring.go_on();
}

template <typename F>
static __device__ inline void make_panels(matmul_ring<F> &ring, int whole, int left,
                                          quads_thread<F> &thread) {
  if constexpr (F::ALONG)
    make_along(ring, whole, left, thread);
  else
    make(ring, whole, left, thread);
}

template <typename F>
static __device__ inline void store(const matmul_job<float, float> &job, const matmul_tile &tile,
                                    const quads_thread<F> &thread) {
  if (matmul_is_plain<F>(job, tile))
    return matmul_store_plain<F, F::ALONG>(job, tile, thread.y, thread.x, thread.t);
#pragma unroll
  for (int r = 0; r < F::DOWN; r++) {
    const int64_t i = tile.i + thread.y + quads_row<F>(r);
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
    make_panels(ring, whole, left, thread);
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
    make_panels(ring, (part.to < whole ? part.to : whole) - part.from,
                part.to == share.panels ? left : 0, thread);
    part = turns.at(share, turn);
    if (part.to == share.panels)
      store(job, matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, part.tile), thread);
    else
      matmul_leave_chains<F::WARPS, F::DOWN * F::ACROSS, float>(share, turns.number, warp, chain);
  }
}

/* ---- launching --------------------------------------------------------------------------------
 */

/* Of `lines` of an operand, a step or (along) a line `apart` from the next. */
template <typename F>
static rung_status map_of(const rung_task *task, const float *from, int64_t lines, int64_t k,
                          int64_t apart, int64_t matrices, int64_t matrix, bool along, int box,
                          CUtensorMap *map) {
  rung_tile_map of = {};
  of.base = from;
  of.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  of.swizzle = along ? F::DEPTH * (int)sizeof(float) : 0;
  of.extent[0] = along ? k : lines;
  of.extent[1] = along ? lines : k;
  of.extent[2] = matrices;
  of.apart[0] = apart * (int64_t)sizeof(float);
  of.apart[1] = matrices == 1 ? of.apart[0] * of.extent[1] : matrix * (int64_t)sizeof(float);
  of.box = (unsigned)(along ? F::DEPTH : box);
  of.rows = (unsigned)(along ? box : F::DEPTH);
  return rung_cuda_tile_map(task, &of, map);
}

template <bool ALONG, int HIGH, int WIDE, int DOWN, int ACROSS, int STAGES, int RESIDENT, int TAKEN>
static rung_status run(const rung_task *task, const matmul_tma_plan &plan,
                       const matmul_job<float, float> &job) {
  typedef quads_shape<HIGH, WIDE, DOWN, ACROSS, STAGES, RESIDENT, TAKEN, ALONG> F;
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t blocks = (int64_t)task->device->processors * F::RESIDENT;
  CUtensorMap a, b;
  rung_status status =
      map_of<F>(task, job.a, job.m, job.k, ALONG ? job.as.row : job.as.column,
                job.as.batch == 0 ? 1 : job.batch, job.as.batch, ALONG, F::ROWS, &a);
  if (status == RUNG_OK)
    status = map_of<F>(task, job.b, job.n, job.k, job.bs.row, job.bs.batch == 0 ? 1 : job.batch,
                       job.bs.batch, false, F::COLUMNS, &b);
  if (status != RUNG_OK) return status;
  const matmul_share share =
      matmul_share_of(task, matmul_group_cut(task, &matmul_quads_tma_f32[plan.tile]), F::DEPTH,
                      plan.turned.a_bytes + plan.turned.b_bytes);
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
  const matmul_tma_plan plan = matmul_tma_plan_of(task);
  auto job = matmul_job_of<float>(task);
  const rung_status status = matmul_turn_operands(task, plan.turned, &job);
  if (status != RUNG_OK) return status;
  switch (plan.tile) {
    case 0:
      return run<false, 4, 1, 16, 8, 4, 2, 232>(task, plan, job);
    case 1:
      return run<false, 2, 2, 8, 8, 4, 3, 136>(task, plan, job);
    case 2:
      return plan.along ? run<true, 2, 2, 8, 4, 8, 3, 0>(task, plan, job)
                        : run<false, 2, 2, 8, 4, 8, 3, 0>(task, plan, job);
    default:
      return plan.along ? run<true, 2, 2, 4, 4, 8, 3, 0>(task, plan, job)
                        : run<false, 2, 2, 4, 4, 8, 3, 0>(task, plan, job);
  }
}
