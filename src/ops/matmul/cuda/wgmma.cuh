/* Products of warpgroups (wgmma), for capability 9.0a. A cluster of two blocks makes 256 rows of C,
 * each block 128: A's tile is its own, of B's each brings one half for both. In a block one thread
 * queues the copies of tiles, STAGES of 128 bytes of k ahead; two warpgroups make 64 rows each. The
 * blocks stay, and go from tile to tile: the next one's operands come in while results are stored.
 */
#ifndef RUNG_MATMUL_CUDA_WGMMA_CUH
#define RUNG_MATMUL_CUDA_WGMMA_CUH

#include "ops/matmul/cuda/ring.cuh"
#include "ops/matmul/cuda/round.cuh"

/* A kind of product. FACTOR: what the cores take; SUM: what they add up in. COLUMNS of a tile.
 * OVER: how many stages are added up on the cores, which cut what they add to 25 digits, before
 * they are added to the sum in float; 0: all. */
template <typename FACTOR_, typename SUM_, int COLUMNS_, bool B_LINES_, int OVER_>
struct wgmma_shape {
  typedef FACTOR_ FACTOR;
  typedef SUM_ SUM;
  static constexpr int ROWS = 256, COLUMNS = COLUMNS_, OVER = OVER_, THREADS = 384,
                       SUMS = COLUMNS / 2, LINE = 128, DEPTH = LINE / (int)sizeof(FACTOR),
                       A_BYTES = 128 * LINE, B_BYTES = COLUMNS * LINE, BYTES = A_BYTES + B_BYTES,
                       STAGES = 4 * 48 * 1024 / BYTES,
                       /* The tiles, from a multiple of 1024 on, and two barriers a stage. */
      SHARED = 1024 + STAGES * BYTES + STAGES * 16;
  static constexpr bool B_LINES = B_LINES_;
};

template <int COLUMNS, int OVER>
struct wgmma_tf32 : wgmma_shape<float, float, COLUMNS, false, OVER> {
  static constexpr CUtensorMapDataType TYPE = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32; /* rounds */
  template <int N>
  static __device__ inline void multiply(float (&t)[N], uint64_t a, uint64_t b) {
    rung_product_tf32(t, a, b);
  }
};
template <bool B_LINES>
struct wgmma_bf16 : wgmma_shape<uint16_t, float, 256, B_LINES, 0> {
  static constexpr CUtensorMapDataType TYPE = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  static __device__ inline void multiply(float (&t)[128], uint64_t a, uint64_t b) {
    rung_product_bf16<B_LINES>(t, a, b);
  }
};
template <bool B_LINES>
struct wgmma_f16 : wgmma_shape<uint16_t, float, 256, B_LINES, 0> {
  static constexpr CUtensorMapDataType TYPE = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  static __device__ inline void multiply(float (&t)[128], uint64_t a, uint64_t b) {
    rung_product_f16<B_LINES>(t, a, b);
  }
};
struct wgmma_i8 : wgmma_shape<int8_t, uint32_t, 256, false, 0> {
  static constexpr CUtensorMapDataType TYPE = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  static __device__ inline void multiply(uint32_t (&t)[128], uint64_t a, uint64_t b) {
    rung_product_i8(t, a, b);
  }
};

/* Where k lies in both operands. Factors of two parts: parts (1, 0), (0, 1), (0, 0), the small
 * products first, so that each sum grows from small to large. */
struct wgmma_walk {
  int64_t stages;        /* of one pair of parts */
  int passes;            /* pairs of parts */
  int pitch;             /* from a part to the next */
  bool a_batch, b_batch; /* whether there is one for each matrix */

  __device__ inline int a_at(int pass) const {
    return passes == 3 && pass == 0 ? pitch : 0;
  }
  __device__ inline int b_at(int pass) const {
    return passes == 3 && pass == 1 ? pitch : 0;
  }
};

/* One thread: brings all that the block's tiles need. */
template <typename F, typename E>
static __device__ inline void wgmma_bring(matmul_ring<F> ring,
                                          const matmul_job<E, typename F::SUM> &,
                                          const matmul_tiles &tiles, const wgmma_walk &walk,
                                          const CUtensorMap *a, const CUtensorMap *b,
                                          uint32_t rank) {
  const int half = F::COLUMNS / 2;
  for (int64_t number = blockIdx.x / 2; number < tiles.all; number += gridDim.x / 2) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    const int row = (int)tile.i + (int)rank * 128, column = (int)tile.j + (int)rank * half;
    const int a_matrix = walk.a_batch ? (int)tile.batch : 0;
    const int b_matrix = walk.b_batch ? (int)tile.batch : 0;
    for (int pass = 0; pass < walk.passes; pass++) {
      int at_a = walk.a_at(pass), at_b = walk.b_at(pass);
      for (int64_t s = 0; s < walk.stages; s++, at_a += F::DEPTH, at_b += F::DEPTH) {
        rung_barrier_wait(ring.empty(), ring.phase ^ 1);
        rung_barrier_expect(ring.full(), F::BYTES);
        rung_tile_copy(ring.a(), a, ring.full(), at_a, row, a_matrix);
        if (F::B_LINES) {
          /* Boxes of 64 columns by 64 of k. */
#pragma unroll
          for (int box = 0; box < half / 64; box++)
            rung_tile_copy_to_all(ring.b() + (rank * (half / 64) + box) * 64 * F::LINE, b,
                                  ring.full(), column + box * 64, at_b, b_matrix, 3);
        } else {
          rung_tile_copy_to_all(ring.b() + rank * half * F::LINE, b, ring.full(), at_b, column,
                                b_matrix, 3);
        }
        ring.go_on();
      }
    }
  }
}

/* The stage that has been read may be filled again by both blocks. */
template <typename F>
static __device__ inline void wgmma_release(uint32_t empty) {
  if (threadIdx.x % 64 == 0) rung_barrier_arrive(empty, threadIdx.x / 64 % 2);
}

/* A warpgroup's 64 rows of a tile: so many stages. */
template <typename F>
static __device__ inline void wgmma_work(matmul_ring<F> &ring, int64_t stages,
                                         typename F::SUM (&t)[F::SUMS], uint32_t group) {
  static constexpr uint64_t FAR = F::B_LINES ? 64 * F::LINE : 16, /* between columns of groups */
      B_STEP = F::B_LINES ? 16 * F::LINE : 32;
  uint32_t before = 0;
  rung_products_begin();
  for (int64_t s = 0; s < stages; s++) {
    rung_barrier_wait(ring.full(), ring.phase);
    rung_products_begin();
    const uint64_t a = rung_operand(ring.a() + group * 64 * F::LINE, 16);
    const uint64_t b = rung_operand(ring.b(), FAR);
#pragma unroll
    for (int part = 0; part < F::LINE / 32; part++)
      F::multiply(t, a + part * (32 >> 4), b + part * (B_STEP >> 4));
    rung_products_commit();
    rung_products_wait<1>();
    if (s > 0) wgmma_release<F>(before);
    before = ring.empty();
    ring.go_on();
  }
  rung_products_wait<0>();
  if (stages > 0) wgmma_release<F>(before);
}

/* A thread's elements of row i, pairs from column j on that are eight columns apart: t[0], t[1],
 * t[4], t[5] ... Pointers are found once: the code would not fit the instruction cache else. */
template <int SUMS, typename E, typename S>
static __device__ inline void wgmma_store(const matmul_job<E, S> &job, int64_t batch, int64_t i,
                                          int64_t j, const S *t) {
  struct __align__(8) two {
    S at[2];
  };
  if (i >= job.m) return;
  const int64_t at = batch * job.cs.batch + i * job.cs.row + j;
  const int64_t from = batch * job.ds.batch + i * job.ds.row + j;
  const int left = job.n - j < 256 ? (int)(job.n - j) : 256;
  if (job.c_wide && !job.narrow && job.added == nullptr && left % 2 == 0) {
    S *c = static_cast<S *>(job.c) + at;
#pragma unroll
    for (int e = 0; e < SUMS; e += 4)
      if (e * 2 < left)
        *reinterpret_cast<two *>(c + e * 2) = two{{job.alpha * t[e], job.alpha * t[e + 1]}};
    return;
  }
#pragma unroll
  for (int e = 0; e < SUMS; e += 4) {
    if (e * 2 < left) matmul_put(job, at + e * 2, from + e * 2, t[e]);
    if (e * 2 + 1 < left) matmul_put(job, at + e * 2 + 1, from + e * 2 + 1, t[e + 1]);
  }
}

template <typename F, typename E>
static __device__ inline void wgmma_make(matmul_ring<F> ring,
                                         const matmul_job<E, typename F::SUM> &job,
                                         const matmul_tiles &tiles, int64_t stages, uint32_t rank) {
  typedef typename F::SUM S;
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  for (int64_t number = blockIdx.x / 2; number < tiles.all; number += gridDim.x / 2) {
    const matmul_tile tile = matmul_tile_at<F::ROWS, F::COLUMNS>(tiles, number);
    S t[F::SUMS] = {};
    if constexpr (F::OVER == 0) {
      wgmma_work(ring, stages, t, (uint32_t)group);
    } else {
      S sum[F::SUMS] = {};
      for (int64_t s = 0; s < stages; s += F::OVER) {
        wgmma_work(ring, stages - s < F::OVER ? stages - s : F::OVER, t, (uint32_t)group);
#pragma unroll
        for (int e = 0; e < F::SUMS; e++) {
          sum[e] += t[e];
          t[e] = 0;
        }
      }
#pragma unroll
      for (int e = 0; e < F::SUMS; e++) t[e] = sum[e];
    }
    const int64_t i = tile.i + rank * 128 + group * 64 + warp * 16 + lane / 4;
    const int64_t j = tile.j + lane % 4 * 2;
    wgmma_store<F::SUMS>(job, tile.batch, i, j, t);
    wgmma_store<F::SUMS>(job, tile.batch, i + 8, j, t + 2);
  }
}

template <typename F, typename E>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(F::THREADS, 1)
    matmul_wgmma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 matmul_job<E, typename F::SUM> job, matmul_tiles tiles, wgmma_walk walk) {
  RUNG_DYNAMIC_SHARED(unsigned char, shared);
  const uint32_t rank = rung_cluster_rank();
  matmul_ring<F> ring(shared);
  if (threadIdx.x == 0) ring.begin(4); /* two warpgroups of two blocks */
  rung_await_before();
  rung_cluster_sync();
  if (threadIdx.x >= 256) {
    rung_registers_give<40>();
    if (threadIdx.x == 256 && walk.stages > 0)
      wgmma_bring<F, E>(ring, job, tiles, walk, &a, &b, rank);
  } else {
    rung_registers_take<232>();
    wgmma_make<F, E>(ring, job, tiles, walk.stages * walk.passes, rank);
  }
  rung_cluster_sync(); /* a block that is gone can not be told that its stage was read */
}

/* ---- launching --------------------------------------------------------------------------------
 */

/* `lines` of an operand, `line` elements apart, matrices `matrix` apart; `lines_first`: they go on
 * in memory, not k. */
template <typename F>
static rung_status wgmma_map(const rung_task *task, const void *from, int64_t k, int64_t lines,
                             int64_t line, int64_t matrices, int64_t matrix, bool lines_first,
                             int rows, CUtensorMap *map) {
  static constexpr int64_t SIZE = (int64_t)sizeof(typename F::FACTOR);
  rung_tile_map of = {};
  of.base = from;
  of.type = F::TYPE;
  of.extent[0] = lines_first ? lines : k;
  of.extent[1] = lines_first ? k : lines;
  of.extent[2] = matrices;
  /* A single line, or matrix, may be any distance from the next. */
  of.apart[0] = of.extent[1] == 1 ? (of.extent[0] * SIZE + 15) / 16 * 16 : line * SIZE;
  of.apart[1] = matrices == 1 ? of.apart[0] * of.extent[1] : matrix * SIZE;
  of.box = (unsigned)(F::LINE / SIZE);
  of.swizzle = 128;
  of.rows = (unsigned)(lines_first ? F::DEPTH : rows);
  return rung_cuda_tile_map(task, &of, map);
}

/* Products of F, of elements E that become factors by AS. */
template <typename F, typename E, typename AS>
static rung_status wgmma_run(const rung_task *task, const matmul_mode *mode) {
  typedef typename F::FACTOR T;
  const matmul_job<E, typename F::SUM> job = matmul_job_of<E>(task);
  const matmul_operands of = matmul_operands_of(task, mode);
  const int64_t a_matrices = job.as.batch == 0 ? 1 : job.batch;
  const int64_t b_matrices = job.bs.batch == 0 ? 1 : job.batch;
  const int64_t copied = of.pitch * AS::PARTS;
  T *a_copy = static_cast<T *>(task->scratch);
  T *b_copy = reinterpret_cast<T *>(static_cast<char *>(task->scratch) + of.a_bytes);
  CUtensorMap a = {}, b = {};
  wgmma_walk walk = {};
  walk.stages = (job.k + F::DEPTH - 1) / F::DEPTH;
  walk.passes = AS::PARTS == 2 ? 3 : 1;
  walk.pitch = (int)of.pitch;
  walk.a_batch = a_matrices > 1;
  walk.b_batch = b_matrices > 1;
  rung_status status = RUNG_OK;
  if (of.a_copied)
    status =
        matmul_run_round<AS>(task, matmul_source<E>{job.a, job.as.row, job.as.column, job.m, false},
                             job.as.batch, a_matrices, job.k, of.pitch, a_copy);
  if (of.b_copied && status == RUNG_OK)
    status =
        matmul_run_round<AS>(task, matmul_source<E>{job.b, job.bs.column, job.bs.row, job.n, false},
                             job.bs.batch, b_matrices, job.k, of.pitch, b_copy);
  if (job.k > 0 && status == RUNG_OK)
    status = of.a_copied ? wgmma_map<F>(task, a_copy, copied, job.m, copied, a_matrices,
                                        job.m * copied, false, 128, &a)
                         : wgmma_map<F>(task, job.a, job.k, job.m, job.as.row, a_matrices,
                                        job.as.batch, false, 128, &a);
  if (job.k > 0 && status == RUNG_OK)
    status = of.b_copied
                 ? wgmma_map<F>(task, b_copy, copied, job.n, copied, b_matrices, job.n * copied,
                                false, F::COLUMNS / 2, &b)
                 : wgmma_map<F>(task, job.b, job.k, job.n, F::B_LINES ? job.bs.row : job.bs.column,
                                b_matrices, job.bs.batch, F::B_LINES, F::COLUMNS / 2, &b);
  if (status != RUNG_OK) return status;
  const matmul_tiles tiles = matmul_tiles_of(task, F::ROWS, F::COLUMNS);
  const int64_t clusters = task->device->processors / 2;
  RUNG_ALLOW_SHARED(task, (matmul_wgmma<F, E>), F::SHARED);
  RUNG_LAUNCH_NEXT(task, (matmul_wgmma<F, E>),
                   (unsigned)(tiles.all < clusters ? tiles.all : clusters) * 2, F::THREADS,
                   F::SHARED, a, b, job, tiles, walk);
  return RUNG_OK;
}

#endif
